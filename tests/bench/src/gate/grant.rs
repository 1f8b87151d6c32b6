//! A permit taken and given back where nobody has to wait.

use std::rc::Rc;

use forbear::InvalidSetting;
use tokio::runtime::Runtime;

use crate::bench::{Bench, Target};
use crate::gate::ours::Ours;
use crate::gate::peers::{LimiterAndSemaphore, unlimited};
use crate::operation::ready;
use crate::report::Report;

/// Measures it. There is no way to a permit but a call: what the gate takes is what a call takes more with it than without.
/// The whole call, with the clock it reads for its deadline, is held against the peers, too.
///
/// # Errors
/// A setting out of its range.
///
/// # Panics
/// When a call fails.
pub fn run(runtime: &Rc<Runtime>) -> Result<Report, InvalidSetting> {
    const NOTHING: &str = "nothing";
    const BOTH: &str = "governor check + Semaphore acquire";
    const UNGATED: &str = "forbear, a call without a gate";
    let (governor, both) = (unlimited(), LimiterAndSemaphore::unlimited());
    let (ungated, gated) = (Ours::ungated()?, Ours::flowing()?);
    let mut grant = Bench::new("a permit, taken and given back, where nobody has to wait", runtime);
    grant.row(NOTHING, || async { Ok::<_, ()>(std::hint::black_box(1)) });
    grant.row("governor check", || async { governor.check().map(|()| 1) });
    grant.row("Semaphore acquire", || async {
        both.semaphore.acquire().await.map(|permit| u64::from(std::hint::black_box(permit).num_permits() == 1))
    });
    grant.row(BOTH, || both.grant());
    grant.row(UNGATED, || ungated.call(ready));
    grant.row_with(
        "forbear, a call at a flowing gate",
        &[
            Target::Added { beyond: UNGATED, floor: BOTH, bare: NOTHING, at_most: 0.9 },
            Target::Time { than: BOTH, at_most: 1.25 },
            Target::NoAllocation,
        ],
        || gated.call(ready),
    );
    Ok(grant.run())
}
