//! A permit taken and given back where nobody has to wait.

use std::rc::Rc;

use forbear::InvalidSetting;
use tokio::runtime::Runtime;

use crate::bench::{Bench, Target};
use crate::gate::ours::Ours;
use crate::gate::peers::{LimiterAndSemaphore, unlimited};
use crate::operation::ready;
use crate::report::Report;

/// Measures it. Our row is a whole call with its deadline: there is no way to a permit but a call.
///
/// # Errors
/// A setting out of its range.
///
/// # Panics
/// When a call fails.
pub fn run(runtime: &Rc<Runtime>) -> Result<Report, InvalidSetting> {
    const BOTH: &str = "governor check + Semaphore acquire";
    let (governor, both) = (unlimited(), LimiterAndSemaphore::unlimited());
    let (ungated, gated) = (Ours::ungated()?, Ours::flowing()?);
    let mut grant = Bench::new("a permit, taken and given back, where nobody has to wait", runtime);
    grant.row("governor check", || async { governor.check().map(|()| 1) });
    grant.row("Semaphore acquire", || async {
        both.semaphore.acquire().await.map(|permit| u64::from(std::hint::black_box(permit).num_permits() == 1))
    });
    grant.row(BOTH, || both.grant());
    grant.row("forbear, a call without a gate", || ungated.call(ready));
    grant.row_with(
        "forbear, a call at a flowing gate",
        &[Target::Time { than: BOTH, at_most: 0.9 }, Target::NoAllocation],
        || gated.call(ready),
    );
    Ok(grant.run())
}
