//! A hundred thousand pools, as of customers who bring keys of their own.

use std::num::NonZeroU32;
use std::time::Duration;

use forbear::{Forbear, InvalidSetting, provider};
use governor::{Quota, RateLimiter};

use crate::bench::thread_cpu_time;
use crate::gate::verdict::Verdict;

/// How many there are.
pub const POOLS: u32 = 100_000;
/// What an idle one may take: a hundred thousand of them are no reason to think about it.
const MOST_BYTES: f64 = 2_048.0;

/// What one costs.
struct Cost {
    bytes: f64,
    made: Duration,
    found: Duration,
}

impl Cost {
    fn of(mut make: impl FnMut(&str), mut find: impl FnMut(&str)) -> Self {
        let names: Vec<String> = (0..POOLS).map(|number| format!("customer-{number}")).collect();
        let started = thread_cpu_time();
        let counted = allocation_counter::measure(|| names.iter().for_each(|name| make(name)));
        let made = thread_cpu_time();
        names.iter().for_each(|name| find(name));
        let found = thread_cpu_time().saturating_sub(made);
        let made = made.saturating_sub(started);
        Self { bytes: counted.bytes_current as f64 / f64::from(POOLS), made: made / POOLS, found: found / POOLS }
    }

    fn line(&self, who: &str) -> String {
        let Self { bytes, made, found } = self;
        format!("  {who:28} {bytes:>6.0} bytes each, made in {made:>8.0?}, found in {found:>8.0?}\n")
    }
}

/// Measures idle pools without handles, and governor's keys beside them: a rate for each, and nothing else.
///
/// # Errors
/// A setting out of its range.
///
/// # Panics
/// When a pool cannot be made.
pub fn run() -> Result<(String, Vec<Verdict>), InvalidSetting> {
    let forbear = Forbear::builder().build()?;
    let pool = |name: &str| {
        let built = forbear.pool(provider::openai(), [name, "gpt"]).build();
        drop(std::hint::black_box(built).unwrap_or_else(|error| panic!("{error}")));
    };
    let ours = Cost::of(pool, pool);
    let governor = RateLimiter::hashmap(Quota::per_second(NonZeroU32::MIN));
    let key = |name: &str| drop(std::hint::black_box(governor.check_key(&name.to_owned())));
    let theirs = Cost::of(key, key);
    let shown = ours.line("forbear, account and model") + &theirs.line("governor, keyed");
    Ok((shown, vec![Verdict::at_most(ours.bytes, MOST_BYTES, "bytes an idle pool of two levels")]))
}
