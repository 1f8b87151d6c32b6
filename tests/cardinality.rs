//! How many series there are: bounded whatever names an application makes up, and few where it does not.
//!
//! `cargo test -p forbear --test cardinality -- --nocapture series` prints them for a pool and a replica, typical and
//! worst; the guide's numbers are held against it, to a tenth.
#![allow(clippy::disallowed_methods, reason = "the script notes when requests came; callers go away")]

#[path = "support/scene.rs"]
mod scene;

use std::collections::BTreeMap;
use std::io::ErrorKind;

use forbear::event::totals::Totals;
use forbear::{Forbear, ForbearBuilder, Gate, Limit, Observation, OnOverCap, Policy, PolicyBuilder, Pool, provider};
use scene::{Provider, S, Step, answer, daily, rate_limited, spent, throttle, with_body, with_header};
use tokio::time::timeout;

fn engine(totals: &Totals) -> ForbearBuilder {
    Forbear::builder().gate(Gate::local()).seed(7).sink(totals.clone())
}

fn built(builder: PolicyBuilder, name: &str) -> Policy {
    builder.named(name).build().expect("a valid policy")
}

/// The series of a text of metrics, by family; a histogram's are its buckets, sum and count.
fn series(text: &str) -> BTreeMap<String, usize> {
    let family = |line: &str| {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        let name = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
        name.to_owned()
    };
    let mut counted = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        *counted.entry(family(line)).or_default() += 1;
    }
    counted
}

/// One call at a provider with this script; how it ends does not matter.
async fn call<T: Into<Step>>(pool: &Pool, policy: &Policy, steps: impl IntoIterator<Item = T>) {
    let provider = Provider::new(steps);
    let _ = pool.call(policy).run(|_| provider.ask()).await;
}

/// A minute of a service's life: two call sites, quotas in headers, a throttle now and then, a fault, an impatient caller.
async fn typical(pool: &Pool) {
    let chat = built(Policy::interactive(15 * S), "chat");
    let nightly = built(Policy::background(600 * S), "nightly");
    let told = |remaining: &str| {
        let said = with_header(answer(200), "x-ratelimit-limit-requests", "60");
        let said = with_header(said, "x-ratelimit-remaining-requests", remaining);
        let said = with_header(said, "x-ratelimit-limit-tokens", "40000");
        let said = with_header(said, "x-ratelimit-remaining-tokens", "39000");
        with_header(said, "x-ratelimit-reset-requests", "12s")
    };
    for policy in [&chat, &nightly] {
        call(pool, policy, [told("59")]).await;
        call(pool, policy, [rate_limited(2, "in organization org-AAAA")]).await;
        call(pool, policy, [answer(503)]).await;
    }
    call(pool, &chat, [rate_limited(40, "in organization org-AAAA")]).await;
    call(pool, &nightly, [told("1")]).await;
}

/// Everything a pool can meet, in every order: four call sites, every class, told in header, in body and not at all.
async fn worst(pool: &Pool, totals: &Totals) {
    let policies = [
        built(Policy::interactive(15 * S), "chat"),
        built(Policy::background(600 * S), "nightly"),
        built(Policy::interactive(5 * S).attempts(2), "title"),
        built(Policy::background(3_600 * S).on_over_cap(OnOverCap::Clamp).header_cap(60 * S), "backfill"),
    ];
    let scripts: Vec<Vec<Step>> = every_failure()
        .iter()
        .flat_map(|first| {
            every_failure().into_iter().map(move |second| {
                let repeated = [first.clone(), second.clone(), second.clone(), second];
                repeated.to_vec()
            })
        })
        .collect();
    let before = series(&totals.to_prometheus()).len();
    for (n, script) in scripts.iter().enumerate() {
        for policy in &policies {
            // Some callers go away in between.
            let patience = if n % 7 == 3 { 1 } else { 10_000 };
            let _ = timeout(patience * S, call(pool, policy, script.clone())).await;
            // Twice as soon as it is over, while the pool is shut or paced, then when all is forgotten.
            call(pool, policy, script.clone()).await;
            tokio::time::sleep(5_400 * S).await;
        }
    }
    assert!(series(&totals.to_prometheus()).len() > before);
}

/// The answers whose text or headers the provider's table tells apart, and the faults there are without one.
fn every_failure() -> Vec<Step> {
    let tokens = "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.";
    let error = |message: &str, kind: &str| {
        format!(r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":"rate_limit_exceeded"}}}}"#)
    };
    vec![
        rate_limited(2, "in organization org-AAAA").into(),
        with_body(throttle(2), &error(tokens, "tokens")).into(),
        with_body(answer(429), &error("Rate limit reached. Please try again in 3s.", "requests")).into(),
        answer(429).into(),
        with_body(answer(503), &error("The engine is currently overloaded, please try again later", "overloaded"))
            .into(),
        daily(2).into(),
        spent().into(),
        throttle(400).into(),
        answer(500).into(),
        answer(404).into(),
        with_header(with_header(answer(200), "x-ratelimit-limit-tokens", "9"), "x-ratelimit-reset-tokens", "2s").into(),
        ErrorKind::ConnectionReset.into(),
        ErrorKind::TimedOut.into(),
        Step::Hangs,
    ]
}

/// How many series one pool has in one replica, the process's own left out, and by family.
async fn measured(way: &str) -> (usize, BTreeMap<String, usize>) {
    let totals = Totals::new();
    let forbear = engine(&totals).build().expect("valid settings");
    let process = series(&totals.to_prometheus());
    let pool = forbear.pool(provider::openai(), ["gpt"]).limit(Limit::requests_per_minute(60)).build().expect("valid");
    if way == "typical" {
        typical(&pool).await
    } else {
        worst(&pool, &totals).await
    }
    let mut counted = series(&totals.to_prometheus());
    counted.retain(|family, _| !process.contains_key(family));
    (counted.values().sum(), counted)
}

#[tokio::test(start_paused = true)]
async fn the_guide_says_how_many_series_a_pool_and_replica_has() {
    let guide = include_str!("../src/guide/events_and_metrics.rs");
    for way in ["typical", "worst"] {
        let (sum, families) = measured(way).await;
        println!("{way}: {sum} series per pool and replica");
        for (family, count) in families {
            println!("  {count:>5} {family}");
        }
        let said = guide.split(&format!("| {way} | ")).nth(1).and_then(|rest| rest.split(" |").next());
        let said: usize = said.and_then(|number| number.parse().ok()).expect("a row of the guide's table");
        // What a gate does between two calls decides which series there are; a tenth is its due.
        assert!(sum.abs_diff(said) * 10 <= said, "the guide says {said} for {way}, and there are {sum}");
    }
}

/// Names that are long, split lines, end strings, or are made up for each customer.
fn hostile(n: usize) -> String {
    match n % 4 {
        0 => format!("customer-{n}"),
        1 => format!("\n{n}\"}} forbear_calls_total{{x=\"\u{1F980}"),
        2 => format!("{n}{}", "x".repeat(10_000)),
        _ => format!("{n}\u{0}\u{7f}\u{202e}\\"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_hostile_names_make_a_bounded_number_of_series() {
    let totals = Totals::new();
    let forbear = engine(&totals).build().expect("valid settings");
    let mut kept = Vec::new();
    for n in 0..100_000 {
        let pool = forbear.pool(provider::generic(), [hostile(n)]).build().expect("a valid pool");
        let name: String = hostile(n).chars().take(64).collect();
        let policy = built(Policy::interactive(15 * S), &name);
        let call = pool.call(&policy).classify(|_: &Result<(), ()>| Observation::ok());
        call.run(|_| async { Ok(()) }).await.expect("a success");
        // Most pools go as they came; some stay, so that their gauges are sampled.
        if n % 1_000 == 0 {
            kept.push(pool);
        }
    }
    let text = totals.to_prometheus();
    let counted = series(&text);
    // 64 pools and what is left, each with 16 policies and what is left.
    assert!(counted["forbear_calls_total"] <= 65 * 17, "{counted:?}");
    assert!(counted["forbear_policy_parameter"] <= 64 * 16 * 7, "{counted:?}");
    assert!(counted.values().sum::<usize>() <= 65 * 200, "{counted:?}");
    let overflows = |label: &str| {
        let lines = text.lines().filter(|line| line.starts_with("forbear_label_overflows_total"));
        let counts = lines.filter(|line| line.contains(&format!("label=\"{label}\"")));
        counts.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>()
    };
    assert_eq!(overflows("pool"), 100_000 - 64);
    assert_eq!(overflows("policy"), 100_000 - 16);
    let mut seen = std::collections::HashSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (labels, value) = line.rsplit_once(' ').expect("a value");
        assert!(value.parse::<f64>().is_ok() && seen.insert(labels.to_owned()), "twice or broken: {line}");
        for value in labels.split('"').skip(1).step_by(2) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._:/-+".contains(c);
            assert!(value.chars().all(plain) && (1..=64).contains(&value.len()), "{line}");
        }
    }
}

#[test]
fn names_that_are_empty_are_refused() {
    let forbear = Forbear::builder().build().expect("valid settings");
    assert!(forbear.pool(provider::generic(), [""]).build().is_err());
    assert!(forbear.pool(provider::generic(), ["a", ""]).build().is_err());
    assert!(Policy::interactive(S).named("").build().is_err());
    let table = forbear::core::rule::Table::new("my provider\n");
    let refused = forbear.pool(table, ["a"]).build().expect_err("refused").to_string();
    assert_eq!(refused, r#"table.id is "my provider\n"; allowed: 1 to 64 of A-Z, a-z, 0-9, . _ : / - (pool "a")"#);
}
