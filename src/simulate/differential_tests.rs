//! The simulated world against the engine itself: a real `Forbear` under paused time, with real tasks and timers, whose
//! operation asks the same provider. Every event has to be the same, at the same instant and in the same order: so every
//! metric is.
//!
//! The runtime's timers go by whole milliseconds, so the world does here, too. Things that fall on the same millisecond are
//! done in the order in which their timers were set, in both.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Response;

use crate::clock::Clock;
use crate::core::dice::{Dice, SeededDice};
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::emulator::limits::Cost;
use crate::event::PoolLabels;
use crate::event::recorder::Recorder;
use crate::event::sink::Sink;
use crate::simulate::arrivals::Arrivals;
use crate::simulate::chance::Purpose;
use crate::simulate::plan::Plan;
use crate::simulate::provider::{Provider, tenant_dice};
use crate::simulate::scenario::{GateMode, Scenario};
use crate::simulate::sizes::Sizes;
use crate::simulate::tally::Outcome;
use crate::simulate::world::{World, estimate};
use crate::{Forbear, Gate, Pool, provider};

const TICK: Duration = Duration::from_millis(1);
const SCENARIOS: u64 = 50;

/// What the replicas of the world tell, each as lines of text.
fn simulated(plan: &Plan) -> (Vec<String>, Outcome) {
    let told = recorders(plan);
    let ears = told.iter().map(|recorder| recorder.listen(&PoolLabels::new("generic", "pool"))).collect();
    let mut world = World::new(plan, TICK, ears, None).expect("in range");
    world.advance(Moment::NEVER).expect("there is room");
    (told.iter().map(Recorder::to_string).collect(), world.outcome())
}

/// What as many engines tell.
fn real(plan: &Plan) -> Vec<String> {
    let told = recorders(plan);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(drive(plan, &told));
    told.iter().map(Recorder::to_string).collect()
}

fn recorders(plan: &Plan) -> Vec<Recorder> {
    (0..plan.callers.replicas).map(|_| Recorder::new()).collect()
}

async fn drive(plan: &Plan, told: &[Recorder]) {
    let pools: Vec<_> = told.iter().enumerate().map(|(number, recorder)| pool(plan, number, recorder)).collect();
    let desk = Arc::new(Desk {
        clock: Clock::new(),
        provider: Mutex::new(Provider::new(plan, plan.provider.limits.clone()).expect("in range")),
    });
    let mut sizes = Sizes::of(plan.callers.sizes);
    let mut dice = plan.chance.dice(Purpose::Calls, 0);
    let arrivals = plan.chance.dice(Purpose::Arrivals, 0);
    let arrivals = Arrivals::of_callers(plan.callers.pattern, plan.measured_from, plan.measured_until, arrivals);
    let calls: Vec<_> = arrivals
        .map(|at| {
            let cost = sizes.draw(&mut dice);
            let policy = plan.callers.classes[plan.callers.class(&mut dice)].policy.clone();
            let replica = (dice.unit() * f64::from(plan.callers.replicas)).ceil() as usize - 1;
            let (desk, pool) = (Arc::clone(&desk), pools[replica].clone());
            let bias = plan.callers.sizes.bias;
            tokio::spawn(async move {
                desk.clock.sleep_until(at).await;
                let told =
                    [(crate::TokenKind::Input, cost.input_tokens), (crate::TokenKind::Output, cost.output_tokens)];
                let mut call = pool.call(&policy);
                if let Some(bias) = bias {
                    call = call.tokens(estimate(cost, bias));
                }
                let call = call.run(|attempt| {
                    let answer = desk.answer(cost);
                    async move {
                        let answer = answer.await;
                        if answer.status().is_success() {
                            told.into_iter().for_each(|(kind, tokens)| attempt.used_tokens(kind, tokens));
                        }
                        answer
                    }
                });
                let _ = call.await;
            })
        })
        .collect();
    let tenants: Vec<_> = (0..plan.others.len())
        .map(|place| {
            let (arrivals, mut dice) = tenant_dice(plan.chance, place);
            let arrivals = Arrivals::of_tenant(plan.others[place], arrivals);
            let (mut sizes, desk) = (Sizes::of(plan.callers.sizes), Arc::clone(&desk));
            tokio::spawn(async move {
                for at in arrivals {
                    desk.clock.sleep_until(at).await;
                    let cost = sizes.draw(&mut dice);
                    let takes = desk.provider().ask_for_other(desk.clock.now(), cost);
                    if let Some(takes) = takes {
                        let desk = Arc::clone(&desk);
                        tokio::spawn(async move {
                            desk.clock.sleep_until(desk.clock.now().after(takes)).await;
                            desk.provider().finished();
                        });
                    }
                }
            })
        })
        .collect();
    for call in calls {
        call.await.expect("no call panics");
    }
    tenants.into_iter().for_each(|tenant| tenant.abort());
}

fn pool(plan: &Plan, number: usize, recorder: &Recorder) -> Pool {
    let gate = if plan.gate == GateMode::None { Gate::off() } else { Gate::local() };
    let mut builder = Forbear::builder().gate(gate).sink(recorder.clone());
    builder = builder.seed(plan.chance.seed(Purpose::Engine, number as u64));
    if plan.fleet_known {
        builder = builder.replicas(plan.callers.replicas);
    }
    let forbear = builder.build().expect("in range");
    let pool = forbear.pool(provider::generic(), ["pool"]);
    let pool = plan.configured.iter().fold(pool, |pool, limit| pool.limit(*limit));
    if plan.cold_start { pool.cold_start() } else { pool }.build().expect("in range")
}

/// The provider behind one lock.
struct Desk {
    clock: Clock,
    provider: Mutex<Provider>,
}

impl Desk {
    fn provider(&self) -> std::sync::MutexGuard<'_, Provider> {
        self.provider.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The HTTP answer that is read as the world reads it.
    fn answer(self: &Arc<Self>, cost: Cost) -> impl Future<Output = Response<String>> + use<> {
        let desk = Arc::clone(self);
        async move {
            let asked_at = desk.clock.now();
            let answer = desk.provider().ask(asked_at, cost);
            let in_flight = answer.in_flight.then(|| InFlight(&desk));
            let Some(signal) = answer.signal else { return std::future::pending().await };
            desk.clock.sleep_until(asked_at.after(answer.takes)).await;
            drop(in_flight);
            let quotas = if signal.is_throttle() { answer.quotas } else { desk.provider().quotas(desk.clock.now()) };
            let mut response = Response::builder().status(signal.status.expect("always said"));
            if let Some(stated) = signal.stated {
                response = response.header("retry-after", stated.delay.as_secs());
            }
            for reading in quotas.iter().flat_map(|quotas| quotas.iter()) {
                let reset = reading.reset.expect("always told");
                let fields = [
                    ("limit", reading.limit.expect("always told").to_string()),
                    ("remaining", reading.remaining.expect("always told").to_string()),
                    ("reset", format!("{}.{:09}s", reset.as_secs(), reset.subsec_nanos())),
                ];
                for (field, value) in fields {
                    response = response.header(format!("x-ratelimit-{field}-{}", reading.dimension), value);
                }
            }
            response.body(message(signal.class).to_owned()).expect("a response")
        }
    }
}

/// What the generic table reads this class from.
fn message(class: LimitClass) -> &'static str {
    match class {
        LimitClass::RequestRate => r#"{"error":{"message":"Limit of 60 requests per minute reached."}}"#,
        LimitClass::TokenThroughput => r#"{"error":{"message":"Limit of 60 tokens per minute reached."}}"#,
        LimitClass::Daily => r#"{"error":{"message":"Limit of 60 requests per day reached."}}"#,
        LimitClass::Concurrency => r#"{"error":{"message":"Too many concurrent requests."}}"#,
        _ => "",
    }
}

struct InFlight<'a>(&'a Desk);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.provider().finished();
    }
}

/// A scenario of many kinds of trouble.
fn scenario(seed: u64) -> Scenario {
    let mut dice = SeededDice::new(seed);
    let mut one_of = |choices: &[&str]| choices[(dice.roll() % choices.len() as u64) as usize].to_owned();
    let arrivals = one_of(&[
        r#"{"poisson": {"per_minute": 40}}"#,
        r#"{"poisson": {"per_minute": 120}}"#,
        r#"{"on_off": {"per_minute": 150, "on_s": 20, "off_s": 70}}"#,
        r#"{"batch": {"size": 60, "every_s": 120}}"#,
        r#"{"burst": {"size": 300, "within_s": 3}}"#,
        r#"{"diurnal": {"per_minute": 60, "period_s": 600}}"#,
    ]);
    let quota = one_of(&["30", "60", "100"]);
    let algorithm =
        one_of(&[r#""token_bucket""#, r#""token_bucket", "burst_s": 1"#, r#""fixed_window""#, r#""sliding_window""#]);
    let retry_after = one_of(&[r#""none""#, r#""whole_seconds""#, r#"{"fixed_s": 7}"#, r#"{"fixed_s": 0}"#]);
    let trouble = one_of(&[
        "",
        r#", "throttled_attempts_count": true"#,
        r#", "concurrency": 3"#,
        r#", "tokens_per_minute": 40000"#,
        r#", "failures": [{"share": 0.1, "kind": "server_error"}, {"share": 0.02, "kind": "auth"}]"#,
        r#", "failures": [{"share": 0.05, "kind": "timeout", "from_s": 100, "until_s": 400}]"#,
        r#", "overload": [{"share": 0.7, "from_s": 150, "until_s": 300}]"#,
        r#", "spend": [{"from_s": 200, "until_s": 350}]"#,
        r#", "requests_per_day": 150, "day_ends_at_s": 500"#,
    ]);
    let others =
        one_of(&["[]", "[]", r#"[{"requests_per_minute": 20}, {"requests_per_minute": 30, "on_s": 50, "off_s": 90}]"#]);
    let deadline = one_of(&[
        "8",
        "60",
        "400",
        r#"[{"share": 3, "deadline_s": 15, "policy": {"name": "chat", "base_s": 0.5, "cap_s": 8, "attempts": 4}},
            {"share": 1, "deadline_s": 600, "policy": "batch"}]"#,
    ]);
    let policy = one_of(&[
        "{}",
        r#"{"base_s": 0.2, "cap_s": 20, "attempts": 30}"#,
        r#"{"jitter_on_header": "1s", "jitter": "equal"}"#,
        r#"{"attempt_timeout_s": 2.5, "jitter": "none"}"#,
        r#"{"header_cap_s": 5, "on_over_cap": "clamp"}"#,
    ]);
    let (gate, replicas) = (one_of(&["local", "local", "none"]), one_of(&["1", "1", "4"]));
    let (configured, known) = (one_of(&["true", "false"]), one_of(&["true", "false"]));
    let (cold_start, estimated) = (one_of(&["false", "false", "true"]), one_of(&["false", "true"]));
    // The table reads a class from what is left of the quotas, takes their resets for waits where none is stated, and tells a spent account by another status.
    let always_stated = retry_after != r#""none""#
        && (trouble.is_empty() || trouble.contains("attempts_count") || trouble.contains("tokens"));
    let headers = always_stated && one_of(&["false", "true", "true"]) == "true";
    let readable = headers || !trouble.contains("spend") && one_of(&["false", "true"]) == "true";
    let json = format!(
        r#"{{"seed": {seed}, "measured_s": 600, "others": {others}, "policy": {policy}, "gate": "{gate}",
        "provider": {{"requests_per_minute": {quota}, "algorithm": {algorithm}, "retry_after": {retry_after},
            "quota_headers": {headers}, "class_readable": {readable} {trouble}}},
        "callers": {{"arrivals": {arrivals}, "replicas": {replicas}, "tokens": {{"estimated": {estimated}, "estimate_bias": 1.5}},
            "deadline_s": {deadline}}},
        "limit_configured": {configured}, "cold_start": {cold_start}, "fleet_known": {known}}}"#
    );
    json.parse().unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// The first line in which two texts differ, with what came before it.
///
/// What falls into one millisecond is compared as a set: a deadline and a slot that fall together are woken by one timer in
/// the world and by two in the engine, in no promised order.
fn first_difference(simulated: &str, real: &str) -> Option<String> {
    let lines = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        let time = |line: &String| line.split(' ').next().map(str::to_owned);
        for same_time in lines.chunk_by_mut(|a, b| time(a) == time(b)) {
            same_time.sort();
        }
        lines
    };
    let (simulated, real) = (lines(simulated), lines(real));
    let place = (0..simulated.len().max(real.len())).find(|place| simulated.get(*place) != real.get(*place))?;
    let before = simulated[place.saturating_sub(3)..place].join("\n  ");
    Some(format!("  {before}\nsimulated {:?}\nreal      {:?}", simulated.get(place), real.get(place)))
}

#[test]
fn the_world_tells_what_the_engine_tells() {
    let (mut kinds, mut events) = (std::collections::BTreeSet::new(), 0);
    for seed in 0..SCENARIOS {
        let plan = Plan::of(&scenario(seed)).expect("in range");
        let ((simulated, outcome), real) = (simulated(&plan), real(&plan));
        for (replica, (simulated, real)) in simulated.iter().zip(&real).enumerate() {
            if let Some(difference) = first_difference(simulated, real) {
                panic!("seed {seed}, replica {replica} of {}:\n{difference}", plan.callers.replicas);
            }
            events += simulated.lines().count();
        }
        assert!(outcome.calls > 0, "seed {seed}");
        kinds.extend(outcome.gave_up.into_keys());
    }
    assert!(events > 50_000, "{events}");
    let expected =
        ["attempts_exhausted", "deadline_exceeded", "gate_refused", "not_retryable", "stated_delay_too_long"];
    assert!(expected.iter().all(|kind| kinds.contains(kind)), "too tame: {kinds:?}");
}

#[test]
fn an_unknown_class_is_what_the_generic_table_reads() {
    let read = |status| {
        let observation = crate::Observation::status(status);
        provider::generic().read(&observation, crate::core::moment::WallTime::default()).signal
    };
    assert_eq!(read(429).class, LimitClass::Unknown);
    assert!(read(500).retryable && read(500).ambiguous && !read(401).retryable);
}
