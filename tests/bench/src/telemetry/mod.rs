//! What one call tells, written by hand: the floor of each road.

mod collector;
mod floor;
mod spans;

pub use collector::quick_collector;
pub use floor::{Instruments, Meters};
pub use spans::by_hand;
