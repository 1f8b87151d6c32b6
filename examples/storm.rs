//! scratch storm harness
use std::collections::{BTreeMap, BinaryHeap};
use std::cmp::Reverse;
use std::time::Duration;
use forbear::core::dice::{Dice, SeededDice};
use forbear::core::gate::{Admission, Gate, Look, Pass};
use forbear::core::moment::Moment;
use forbear::core::signal::*;
use forbear::emulator::limits::*;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Ev { Arrive(u32), Wake(u32), Ok(u32), No(u32) }

struct Cell { n: u32, q: u64, alg: Algorithm, burst: Option<Duration>, headers: bool, counted: bool, service: (f64, f64), procs: u32 }
struct Proc { gate: Gate, queue: BTreeMap<(Moment, u32), ()>, wake: Moment }
#[derive(Clone, Copy)]
struct Caller { arrived: Moment, sent: Moment, sends: u32, told: Option<Duration>, quotas: Quotas, done: Option<Moment> }

fn limits(c: &Cell) -> Limits {
    let mut l = Limits::new().requests_per_minute(c.q).algorithm(c.alg).throttled_attempts_count(c.counted);
    if let Some(b) = c.burst { l = l.burst(b); }
    l
}

fn run(c: &Cell, seed: u64) -> (f64, f64, f64, u32, bool) {
    let mut dice = SeededDice::new(seed);
    let phase = dice.within(Duration::from_secs(60));
    let start = Moment::START.after(phase);
    let mut meter = Meter::new(limits(c)).unwrap();
    let mut ideal = meter.clone();
    let s = |d: f64| Duration::from_secs_f64(d);
    let mut callers: Vec<Caller> = (0..c.n).map(|_| Caller { arrived: start.after(dice.within(s(2.0))), sent: Moment::START, sends: 0, told: None, quotas: Quotas::default(), done: None }).collect();
    callers.sort_by_key(|c| c.arrived);
    // ideal
    let mut t = start;
    let mut ideal_last = start;
    for k in &callers {
        t = t.max(k.arrived);
        loop { let w = ideal.fits_in(t, Cost::request()).unwrap(); if w.is_zero() { break } t = t.after(w); }
        let _ = ideal.admit(t, Cost::request(), &mut dice);
        ideal.finished();
        ideal_last = t;
    }
    let mut procs: Vec<Proc> = (0..c.procs).map(|_| { let mut gate = Gate::new(Duration::from_secs(1)); gate.replicas(c.procs); Proc { gate, queue: BTreeMap::new(), wake: Moment::NEVER } }).collect();
    let mut heap: BinaryHeap<Reverse<(Moment, u64, Ev)>> = BinaryHeap::new();
    let mut seq = 0u64;
    macro_rules! push { ($t:expr, $e:expr) => {{ seq += 1; heap.push(Reverse(($t, seq, $e))); }} }
    for i in 0..c.n { push!(callers[i as usize].arrived, Ev::Arrive(i)); }
    let mut first_known: Vec<Option<Moment>> = vec![None; c.procs as usize];
    let mut floor = 0u32; let mut sends = 0u64; let mut last = start; let mut done = 0u32;
    let mut sent_times: Vec<Moment> = Vec::new();
    let mut events = 0u64;
    let trace = std::env::var("TRACE").is_ok();
    while let Some(Reverse((now, _, ev))) = heap.pop() {
        events += 1;
        if events > 30_000_000 || start.until(now) > Duration::from_secs(6 * 3600) { break; }
        let p;
        match ev {
            Ev::Arrive(i) => { p = i % c.procs; procs[p as usize].queue.insert((callers[i as usize].arrived, i), ()); }
            Ev::Wake(q) => { p = q; if procs[p as usize].wake != now { continue } }
            Ev::Ok(i) => {
                p = i % c.procs; meter.finished();
                let k = &mut callers[i as usize]; k.done = Some(now); done += 1; last = last.max(k.sent);
                let (q, sent) = (k.quotas, k.sent);
                let g = &mut procs[p as usize].gate;
                g.note(&q, None, sent, now);
                g.succeeded(Pass { at: sent, probe: false }, now, &mut dice);
            }
            Ev::No(i) => {
                p = i % c.procs;
                let k = callers[i as usize];
                first_known[p as usize].get_or_insert(now);
                let mut sig = Signal::throttle(LimitClass::RequestRate);
                if let Some(d) = k.told { sig = sig.stating(StatedDelay::new(d, Part::Header, "retry-after")); }
                let g = &mut procs[p as usize].gate;
                g.note(&k.quotas, Some(&sig), k.sent, now);
                let shut = g.throttled(Pass { at: k.sent, probe: false }, &sig, now, &mut dice);
                if trace { println!("{:8.3} p{} throttled {} told {:?} -> {:?}", start.until(now).as_secs_f64(), p, i, k.told, shut.map(|x| start.until(x.until).as_secs_f64())); }
                procs[p as usize].queue.insert((k.arrived, i), ());
            }
        }
        // serve head(s)
        loop {
            let pr = &mut procs[p as usize];
            let Some((&key, _)) = pr.queue.first_key_value() else { pr.wake = Moment::NEVER; break };
            match pr.gate.take(now, &mut dice) {
                Admission::Pass(_) => {
                    pr.queue.remove(&key);
                    let i = key.1; let k = &mut callers[i as usize];
                    k.sent = now; k.sends += 1; sends += 1; sent_times.push(now);
                    let v = meter.admit(now, Cost::request(), &mut dice);
                    let quotas = if c.headers { meter.quotas(now) } else { Quotas::default() };
                    k.quotas = quotas;
                    match v {
                        Verdict::Admitted => { let d = s(c.service.0) + dice.within(s(c.service.1 - c.service.0)); push!(now.after(d), Ev::Ok(i)); }
                        Verdict::Throttled(t) => {
                            if k.sends == 1 && first_known[p as usize].is_none() { floor += 1; }
                            k.told = if c.headers { RetryAfter::WholeSeconds.tell(&t, true).wait } else { None };
                            let d = s(0.05) + dice.within(s(0.1)); push!(now.after(d), Ev::No(i));
                        }
                        Verdict::Failed(_) => unreachable!(),
                    }
                    if trace { println!("{:8.3} p{} send {} {}", start.until(now).as_secs_f64(), p, i, matches!(v, Verdict::Admitted)); }
                }
                Admission::Hold(h) => {
                    let ms = h.ask_again.elapsed_since_start().as_nanos().div_ceil(1_000_000) as u64;
                    let at = Moment::since_start(Duration::from_millis(ms)).max(now.after(Duration::from_nanos(1)));
                    pr.wake = at; push!(at, Ev::Wake(p)); break;
                }
                _ => unreachable!(),
            }
        }
    }
    let base = f64::from(c.n);
    // largest 100 ms after the first second of the storm+1
    sent_times.sort();
    let after: Vec<_> = sent_times.iter().filter(|t| start.until(**t) > s(2.2)).collect();
    let mut big = 0u32; let mut j = 0;
    for i in 0..after.len() { while after[j].until(*after[i]) > s(0.1) { j += 1 } big = big.max((i - j + 1) as u32); }
    let drain = start.until(last).as_secs_f64() / start.until(ideal_last).as_secs_f64();
    (sends as f64 / base, f64::from(floor) / base, drain, big, done == c.n)
}

fn main() {
    let only: Option<String> = std::env::args().nth(1);
    let seeds: u64 = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(4);
    let mut bad = 0; let mut total = 0;
    for procs in [1u32, 10] { for headers in [true, false] { for n in [100u32, 1000, 10000] { for (name, alg, burst) in [("fixed", Algorithm::FixedWindow, None), ("sliding", Algorithm::SlidingWindow, None), ("full", Algorithm::TokenBucket, None), ("1s", Algorithm::TokenBucket, Some(Duration::from_secs(1)))] {
        for counted in [false, true] { for service in [(1.0, 3.0), (20.0, 40.0)] {
            let label = format!("R{procs} {} N{n} {name} {} {}s", if headers {"hdr"} else {"none"}, if counted {"counted"} else {"free"}, (service.0+service.1)/2.0);
            if let Some(o) = &only { if !o.split(',').all(|w| label.split(' ').any(|x| x == w)) { continue } }
            if procs == 10 && !headers { if only.is_none() { continue } }
            let c = Cell { n, q: u64::from(n / 5), alg, burst, headers, counted, service, procs };
            let rows: Vec<_> = (0..seeds).map(|k| run(&c, k * 7919 + 13)).collect();
            let mean = |f: &dyn Fn(&(f64, f64, f64, u32, bool)) -> f64| rows.iter().map(|r| f(r)).sum::<f64>() / seeds as f64;
            let waste = mean(&|r| r.0 - 1.0 - r.1); let drain = mean(&|r| r.2);
            let worst_d = rows.iter().map(|r| r.2).fold(0.0, f64::max);
            let (w_t, d_t) = match (procs, headers) { (1, true) => (0.03, 1.05), (_, true) => (0.15, 1.10), _ => (0.15, 1.25) };
            let ok = waste <= w_t && drain <= d_t && rows.iter().all(|r| r.4);
            total += 1; if !ok { bad += 1 }
            println!("{} {label:40} req {:.3} floor {:.3} over {:+.3} drain {:.3} (max {:.3}) big {} all {}", if ok {"ok  "} else {"MISS"}, mean(&|r| r.0), mean(&|r| r.1), waste, drain, worst_d, mean(&|r| r.3 as f64), rows.iter().all(|r| r.4));
        } }
    } } } }
    println!("{bad} of {total} miss");
}
