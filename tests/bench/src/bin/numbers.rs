//! Do the suggested numbers keep up with the best, and does the check foretell what happens? Exit status 1 if not.
//!
//! ```sh
//! cargo run --release -p forbear-bench --bin numbers
//! cargo run --release -p forbear-bench --bin numbers -- steady 200 1 50
//! ```
//!
//! The arguments are a part (`steady`, `bursts`, `predictions`, or `all`), CASES, SEED and FROM. Without them all three parts,
//! 200 cases each: some ten minutes on two cores. FROM leaves the first cases out, so that a run can be made in parts, or
//! of one case: `bursts 36 2027 35` is case 35 of the seed 2027.

use std::io::{IsTerminal, stderr};
use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use forbear::InvalidSetting;
use forbear::core::dice::{Dice, SeededDice};
use forbear_bench::fit::Sorted;
use forbear_bench::fit::cases::Shape;
use forbear_bench::fit::{predicted, suggested};

/// The share of the best policy's successes that the suggested one has to reach.
const TARGET: f64 = 0.98;
/// How far a prediction may be off.
const APART: f64 = 0.05;
/// Throttled calls for each prediction: two standard errors of a chance are at most 1.6 points.
const CALLS: u32 = 4_000;

fn main() -> Result<ExitCode, InvalidSetting> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let part = arguments.first().map_or("all", String::as_str);
    let number = |place: usize, default| arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (cases, seed, from) = (number(1, 200), number(2, 2_026), number(3, 0));
    let wanted = |name: &str| part == "all" || part == name;
    let mut kept = true;
    if wanted("steady") || wanted("bursts") {
        println!(
            "suggested policy beside the best of a sweep of base, cap and attempts; no gate; random cases {from} to {cases}, \
             seed {seed}"
        );
    }
    if wanted("steady") {
        kept &= successes("steady traffic", Shape::Steady, from..cases, seed)?;
    }
    if wanted("bursts") {
        kept &= successes("bursts", Shape::Bursts, from..cases, seed)?;
    }
    if wanted("predictions") {
        println!("check beside simulation; {cases} random policies, {CALLS} throttled calls each, seed {seed}");
        kept &= predictions(from..cases, seed)?;
    }
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Does `what` for each case, on all cores, each with dice of its own; the results are in the order of the cases.
fn each<T: Send>(
    name: &str,
    cases: Range<u64>,
    seed: u64,
    what: impl Fn(&mut SeededDice) -> Result<T, InvalidSetting> + Sync,
) -> Result<Vec<T>, InvalidSetting> {
    let mut seeds = SeededDice::new(seed);
    let seeds: Vec<_> = (0..cases.end).map(|_| seeds.roll()).skip(cases.start as usize).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let case = next.fetch_add(1, Ordering::Relaxed);
            let Some(seed) = seeds.get(case) else { return Ok(done) };
            progress(name, case, seeds.len());
            done.push((case, what(&mut SeededDice::new(*seed))?));
        }
    };
    let mut all = Vec::new();
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..thread::available_parallelism().map_or(1, usize::from)).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            all.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok::<_, InvalidSetting>(())
    })?;
    progress(name, seeds.len(), seeds.len());
    all.sort_by_key(|(case, _)| *case);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

/// Prints how the suggested policies did, and each case that missed the target with its numbers and the best ones. Returns
/// whether none did.
fn successes(name: &str, shape: Shape, cases: Range<u64>, seed: u64) -> Result<bool, InvalidSetting> {
    let first = cases.start;
    let compared = each(name, cases, seed, |dice| suggested::compare(shape, suggested::CALLS, dice))?;
    let ratios = Sorted::of(compared.iter().map(suggested::Compared::ratio));
    let mean =
        |number: fn(&suggested::Compared) -> f64| compared.iter().map(number).sum::<f64>() / compared.len() as f64;
    println!(
        "{name:<16} median ratio {:.4}, 5 % below {:.4}, least {:.4}; {:.1} % of the cases reach {TARGET}; requests a call {:.2}, \
         best policies' {:.2}",
        ratios.quantile(0.5),
        ratios.quantile(0.05),
        ratios.quantile(0.0),
        ratios.at_least(TARGET) * 100.0,
        mean(|case| case.ours.per_call()),
        mean(|case| case.of_best.per_call()),
    );
    let few = || compared.iter().filter(|case| case.suggestion.saves_few());
    for (what, of) in [
        ("deadline of a quarter of the window or less", Sorted::of(few().map(suggested::Compared::ratio))),
        ("the same where a person waits: no retry", Sorted::of(few().map(suggested::Compared::ratio_of_person))),
    ] {
        if few().next().is_none() {
            continue;
        }
        println!(
            "  {what:<43} {:>4} cases, median {:.4}, least {:.4}, {:.1} % reach {TARGET}",
            few().count(),
            of.quantile(0.5),
            of.quantile(0.0),
            of.at_least(TARGET) * 100.0
        );
    }
    let mut missed: Vec<_> = (first..).zip(&compared).filter(|(_, case)| case.ratio() < TARGET).collect();
    missed.sort_by(|(_, a), (_, b)| a.ratio().total_cmp(&b.ratio()));
    for (number, compared) in missed {
        let suggested::Compared { case, suggestion, best, .. } = compared;
        println!(
            "    {:.4}: case {number}: window {:.0?}, deadline {:.0?}, load {:.2}, {} a window, {:?}, wait stated: {}, {:?}",
            compared.ratio(),
            case.window,
            case.deadline,
            case.load,
            case.quota,
            case.algorithm,
            case.states_delay,
            case.arrivals,
        );
        let numbers = [suggested::Numbers::from(suggestion), *best];
        for (numbers, sum) in numbers.into_iter().zip([compared.ours, compared.of_best]) {
            println!(
                "            base {:.1?}, cap {:.1?}, attempts {}: success {:.4}, requests a call {:.2}, exhausted {:.4}",
                numbers.base,
                numbers.cap,
                numbers.attempts,
                sum.success(),
                sum.per_call(),
                sum.exhausted as f64 / sum.calls as f64
            );
        }
    }
    Ok(compared.iter().all(|case| case.ratio() >= TARGET))
}

/// Prints how far predictions were off. Returns whether none was further off than allowed.
fn predictions(cases: Range<u64>, seed: u64) -> Result<bool, InvalidSetting> {
    let compared = each("predictions", cases, seed, |dice| predicted::compare(CALLS, dice))?;
    let gives_up = Sorted::of(compared.iter().map(predicted::Compared::gives_up_apart));
    let wasted = Sorted::of(compared.iter().map(predicted::Compared::wasted_apart));
    for (name, apart) in [("chance of giving up", &gives_up), ("wasted requests", &wasted)] {
        println!(
            "{name:<20} apart: median {:.4}, 95 % within {:.4}, most {:.4} (allowed {APART})",
            apart.quantile(0.5),
            apart.quantile(0.95),
            apart.quantile(1.0)
        );
    }
    Ok(gives_up.quantile(1.0) <= APART && wasted.quantile(1.0) <= APART)
}

/// Says how far it has come, on a terminal.
fn progress(what: &str, done: usize, all: usize) {
    if stderr().is_terminal() {
        eprint!("\r{what}: {done} of {all}{}", if done == all { "\r\x1b[K" } else { "" });
    }
}
