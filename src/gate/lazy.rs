//! The state machine of a level, made when something happens to it.
//!
//! Most levels of a service with many customers never hear of a limit: they flow, and flowing takes no memory.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::core::gate::Gate as Core;

/// What a level is of which nothing was ever heard.
static FLOWING: Core = Core::new(Duration::ZERO);

/// A gate's state machine. To read it takes nothing; the first who may change it makes it.
#[derive(Debug)]
pub(crate) struct LazyCore {
    /// The least time a throttle shuts it.
    floor: Duration,
    core: Option<Box<Core>>,
}

impl LazyCore {
    /// A flowing one.
    pub(crate) const fn new(floor: Duration) -> Self {
        Self { floor, core: None }
    }

    /// Whether anything ever happened to it: if not, it flows.
    pub(super) const fn is_made(&self) -> bool {
        self.core.is_some()
    }
}

impl Deref for LazyCore {
    type Target = Core;

    fn deref(&self) -> &Core {
        self.core.as_deref().unwrap_or(&FLOWING)
    }
}

impl DerefMut for LazyCore {
    fn deref_mut(&mut self) -> &mut Core {
        self.core.get_or_insert_with(|| Box::new(Core::new(self.floor)))
    }
}
