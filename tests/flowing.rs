//! What a call at a flowing gate leaves on the heap: nothing. Alone in its binary, where allocations are counted.

use std::time::Duration;

use forbear::{Forbear, Gate, Observation, Policy, provider};

#[test]
fn a_call_at_a_flowing_gate_allocates_nothing_also_below_a_level_that_was_shut_and_flows_again() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    let forbear = Forbear::builder().gate(Gate::local()).build().expect("valid");
    let pool = forbear.pool(provider::openai(), ["prod", "gpt"]).build().expect("valid");
    let policy = Policy::interactive(Duration::from_secs(60)).build().expect("valid");
    let calls = |number: u32| {
        runtime.block_on(async {
            for _ in 0..number {
                let call = pool.call(&policy).classify(|_: &Result<u32, ()>| Observation::ok());
                assert_eq!(call.run(|attempt| async move { Ok::<_, ()>(attempt.number()) }).await.expect("served"), 1);
            }
        });
    };
    let allocated = |number| allocation_counter::measure(|| calls(number)).count_total;
    calls(1);
    assert_eq!(allocated(1_000), allocated(1), "what it takes to enter the runtime, and nothing for a call");
    pool.shut(Duration::from_secs(5), "to see it flow again").expect("valid");
    runtime.block_on(async { tokio::time::advance(Duration::from_secs(30)).await });
    calls(1);
    runtime.block_on(async { tokio::time::advance(Duration::from_secs(30)).await });
    calls(1);
    assert_eq!(allocated(1_000), allocated(1));
}
