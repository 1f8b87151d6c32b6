//! The retry layers.
//!
//! | file | job |
//! |---|---|
//! | `tower`, `reqwest` | the layer for a family of clients |
//! | `carry` | what they have in common: one request per attempt, its answer observed and handed on |
//! | `replay`, `kept_body` | how a request is kept for another attempt |
//! | `answer`, `answer_body` | answers that can be looked into, counted and read on their way |
//! | `gave_up` | what is told where a call ended without success |

mod answer;
mod answer_body;
mod carry;
mod gave_up;
mod kept_body;
mod replay;
#[cfg(feature = "reqwest-middleware")]
mod reqwest;
#[cfg(feature = "tower")]
mod tower;

pub use self::answer::Answer;
pub use self::answer_body::AnswerBody;
pub use self::gave_up::{GaveUp, Once};
pub use self::kept_body::KeptBody;
#[cfg(feature = "reqwest")]
pub use self::replay::KeptByReqwest;
pub use self::replay::{Chosen, Cloned, Kept, KeptRequest, Replay};
#[cfg(feature = "reqwest-middleware")]
pub use self::reqwest::ReqwestRetry;
#[cfg(feature = "tower")]
pub use self::tower::{Retry, RetryLayer};
