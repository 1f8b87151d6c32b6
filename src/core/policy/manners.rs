//! Ways of other retry layers, which only the simulator takes.

/// What other retry layers do differently. Nothing a service can set: the simulator does, to show what comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manners {
    /// Whether the stated wait is looked at.
    pub(crate) honour_header: bool,
    /// What is added to a stated wait where no gate paces the pool.
    pub(crate) jitter_on_header: HeaderJitter,
    /// How the curve is drawn.
    pub(crate) jitter: Jitter,
}

/// What is added to a stated wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "simulate"), expect(dead_code, reason = "only the simulator departs from the default"))]
pub(crate) enum HeaderJitter {
    /// Nothing.
    None,
    /// Uniform up to a second.
    Second,
    /// Uniform up to the curve's bound.
    Curve,
}

/// How a wait is drawn from the curve's bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "simulate"), expect(dead_code, reason = "only the simulator departs from the default"))]
pub(crate) enum Jitter {
    /// Uniform up to the bound.
    Full,
    /// Half the bound, and uniform up to the other half.
    Equal,
    /// The bound.
    None,
}

impl Default for Manners {
    fn default() -> Self {
        Self { honour_header: true, jitter_on_header: HeaderJitter::Curve, jitter: Jitter::Full }
    }
}
