//! What no sequence of news may make a gate do: pass a call before an end it was told, pass two probes, or never reopen.

use std::time::Duration;

use forbear::core::dice::SeededDice;
use forbear::core::gate::{Admission, Gate, Look, Pass};
use forbear::core::merge::{End, Shut, merge};
use forbear::core::moment::Moment;
use forbear::core::pace::Pace;
use forbear::core::signal::{Dimension, Part, StatedDelay};
use forbear::{LimitClass, Signal};
use proptest::prelude::*;

const S: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);
const PROBE_GOOD_AFTER: Duration = Duration::from_millis(1_500);

/// One thing that happens to a gate.
#[derive(Clone, Debug)]
enum Step {
    Passes(Duration),
    Asks,
    Peeks,
    /// A request comes back throttled: which of those under way, and what it says.
    Throttled(usize, LimitClass, Option<Duration>),
    Succeeded(usize),
    Lost(usize),
    /// A limit is told: how much, in what window, shared by how many.
    Limit(Dimension, u64, Duration, u32),
    /// So many requests in a row are cut after this time.
    Cut(u16, Duration),
}

/// The slots of so long are made up for, where a process or its machine is late.
const LATE: Duration = Duration::from_millis(100);

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (0u64..3_000).prop_map(Duration::from_millis),
        (0u64..100).prop_map(Duration::from_secs),
        (0u64..100_000).prop_map(Duration::from_secs),
        Just(Duration::from_secs(u64::MAX)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let class = proptest::sample::select(LimitClass::ALL);
    let step = prop_oneof![
        6 => prop_oneof![
            4 => (1u64..2_000).prop_map(Duration::from_millis),
            2 => (1u64..400).prop_map(Duration::from_secs),
            1 => (1u64..30).prop_map(|hours| Duration::from_secs(hours * 3_600)),
        ].prop_map(Step::Passes),
        8 => Just(Step::Asks),
        1 => Just(Step::Peeks),
        5 => (any::<usize>(), class, proptest::option::weighted(0.7, durations())).prop_map(|(n, c, d)| Step::Throttled(n, c, d)),
        3 => any::<usize>().prop_map(Step::Succeeded),
        1 => any::<usize>().prop_map(Step::Lost),
        1 => (proptest::sample::select(Dimension::ALL), any::<u64>(), durations(), any::<u32>())
            .prop_map(|(dimension, amount, window, replicas)| Step::Limit(dimension, amount, window, replicas)),
        1 => (0u16..1_000, durations()).prop_map(|(times, after)| Step::Cut(times, after)),
    ];
    prop::collection::vec(step, 1..80)
}

/// What was told so far, kept apart from the engine's own merging: nobody may pass before it.
#[derive(Default)]
struct Told {
    stated: Option<Moment>,
    /// A daily or spend limit whose end nobody stated; only a stated end of its class shortens it.
    assumed: Option<(Moment, LimitClass)>,
    probe: Option<Moment>,
}

impl Told {
    fn hear(&mut self, class: LimitClass, stated: Option<Duration>, now: Moment, floor: Duration) {
        let longest = if class == LimitClass::Daily { 26 * HOUR } else { HOUR };
        match stated {
            Some(stated) => {
                let until = now.after(stated.max(floor).min(longest));
                self.stated = Some(self.stated.map_or(until, |known| known.max(until)));
                self.assumed = self.assumed.filter(|(_, assumed)| *assumed != class);
            }
            // What is assumed matters only as long as nothing was said that lasts longer.
            None if matches!(class, LimitClass::Daily | LimitClass::Spend) && self.end() <= now.after(longest) => {
                self.assumed = Some((now.after(longest), class));
            }
            None => {}
        }
    }

    fn end(&self) -> Moment {
        let assumed = self.assumed.map(|(until, _)| until);
        self.stated.max(assumed).unwrap_or(Moment::START)
    }

    /// A probe that was not throttled in time reopened the pool.
    fn catch_up(&mut self, now: Moment) {
        if self.probe.is_some_and(|sent| now >= sent.after(PROBE_GOOD_AFTER)) {
            *self = Self::default();
        }
    }
}

fn signal(class: LimitClass, stated: Option<Duration>) -> Signal {
    let signal = Signal::throttle(class);
    stated.map_or(signal, |delay| signal.stating(StatedDelay::new(delay, Part::Header, "retry-after")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn no_call_but_a_probe_passes_before_a_told_end_and_every_hold_ends(
        steps in steps(), seed in any::<u64>(), floor in prop_oneof![Just(Duration::ZERO), Just(S)],
    ) {
        let mut dice = SeededDice::new(seed);
        let mut gate = Gate::new(floor);
        let mut now = Moment::since_start(S);
        let (mut told, mut under_way) = (Told::default(), Vec::<Pass>::new());
        for step in steps {
            told.catch_up(now);
            match step {
                Step::Passes(time) => now = now.after(time),
                Step::Peeks => {
                    let before = gate.peek(now, &mut dice);
                    prop_assert_eq!(before, gate.peek(now, &mut dice), "a look changes nothing");
                }
                Step::Asks => match gate.take(now, &mut dice) {
                    Admission::Pass(pass) => {
                        prop_assert_eq!(pass.at, now);
                        if pass.probe {
                            prop_assert!(told.probe.is_none(), "two probes are out");
                            told.probe = Some(now);
                        } else {
                            prop_assert!(now >= told.end(), "passed at {now:?}, told {:?}", told.end());
                        }
                        under_way.push(pass);
                    }
                    Admission::Hold(hold) => {
                        prop_assert!(hold.ask_again > now, "asked again at once, for ever");
                        if let Some(shut) = hold.shut {
                            prop_assert!(shut.until > now && shut.until >= told.end());
                            prop_assert!(hold.ask_again <= shut.until);
                            prop_assert!(shut.until <= now.after(26 * HOUR), "shut for {:?}", now.until(shut.until));
                        }
                    }
                    _ => panic!("an admission this test does not know"),
                },
                Step::Limit(dimension, amount, window, replicas) => gate.know_limit(dimension, amount, window, replicas),
                Step::Cut(times, after) => {
                    (0..times).for_each(|_| gate.was_cut(after));
                    let deadline = now.after(S * 15);
                    prop_assert!(gate.latest_start(now, deadline) >= now.after(S * 7), "half of the time is always enough");
                }
                Step::Throttled(which, class, stated) if !under_way.is_empty() => {
                    let pass = under_way.swap_remove(which % under_way.len());
                    let before = gate.look(now, &mut dice);
                    let news = gate.throttled(pass, &signal(class, stated), now, &mut dice);
                    if matches!(class, LimitClass::None | LimitClass::Concurrency) {
                        prop_assert_eq!(news, None);
                        // A probe that met too many says nothing of what it was a probe of.
                        let is_out = told.probe.is_some_and(|sent| pass.at >= sent);
                        if class == LimitClass::Concurrency && pass.probe && is_out {
                            told.probe = None;
                        }
                        continue;
                    }
                    if told.probe.is_some_and(|sent| pass.at >= sent) {
                        told.probe = None;
                    }
                    if stated.is_some_and(|stated| !stated.max(floor).is_zero()) || stated.is_none() {
                        told.hear(class, stated, now, floor);
                        prop_assert!(matches!(gate.look(now, &mut dice), Look::Shut(_)), "a throttle that shuts nothing");
                    }
                    if let (Look::Shut(before), Some(Shut { until, end: End::Guessed, .. })) = (before, news) {
                        prop_assert!(before.end == End::Guessed && until > before.until, "a guess shortened a shut");
                    }
                }
                Step::Succeeded(which) if !under_way.is_empty() => {
                    let pass = under_way.swap_remove(which % under_way.len());
                    let reopened = gate.succeeded(pass, now, &mut dice);
                    let is_probe = told.probe.is_some_and(|sent| pass.probe && pass.at >= sent);
                    prop_assert!(!reopened || is_probe, "only the probe that is out reopens");
                    if reopened {
                        told = Told::default();
                    }
                }
                Step::Lost(which) if !under_way.is_empty() => {
                    let pass = under_way.swap_remove(which % under_way.len());
                    gate.unknown(pass, now);
                    if pass.probe && told.probe.is_some_and(|sent| pass.at >= sent) {
                        told.probe = None;
                    }
                }
                _ => {}
            }
            told.catch_up(now);
            // A shut that ended by time alone took its probe with it.
            if !matches!(gate.look(now, &mut dice), Look::Shut(_)) {
                told.probe = None;
            }
        }
        // Left alone, it lets calls through again within the longest shut there is.
        let later = now.after(27 * HOUR);
        let passes = matches!(gate.take(later, &mut dice), Admission::Pass(Pass { probe: false, .. }));
        prop_assert!(passes, "shut for good");
    }

    #[test]
    fn a_paced_gate_gives_one_slot_after_another(
        seed in any::<u64>(), known in proptest::option::of(1u64..2_000), asks in prop::collection::vec(0u64..400, 1..200),
    ) {
        let mut dice = SeededDice::new(seed);
        let mut pace = Pace::from(Moment::START, known.map(Duration::from_millis), &mut dice);
        let (mut now, mut taken) = (Moment::START, Vec::new());
        for millis in asks {
            now = now.after(Duration::from_millis(millis));
            let interval = pace.interval();
            if pace.take(now, &mut dice) {
                let earliest = Moment::since_start(now.elapsed_since_start().saturating_sub(LATE));
                prop_assert!(pace.next_slot() >= earliest, "more is made up for than a busy machine is late by");
                taken.push((now, pace.interval()));
            }
            prop_assert!(pace.interval() <= interval, "slower without news");
        }
        // A slot that is taken late does not move the next one, but no more than that one is made up for, or as many as fall
        // into what a busy machine is late by.
        for three in taken.windows(3).filter(|three| three[2].1 >= LATE * 2) {
            prop_assert!(three[0].0.until(three[2].0) >= three[2].1 / 2, "{three:?}");
        }
    }

    #[test]
    fn merging_news_never_shortens_what_was_stated_and_its_order_does_not_matter_among_equals(
        ends in prop::collection::vec(1u64..10_000, 1..12), guesses in prop::collection::vec(1u64..10_000, 0..12),
        now in 0u64..100,
    ) {
        let at = |seconds| Moment::since_start(Duration::from_secs(seconds));
        let now = at(now);
        let class = LimitClass::RequestRate;
        let stated = |seconds: &u64| Shut { until: at(*seconds), class, end: End::Stated };
        let guessed = |seconds: &u64| Shut { until: at(*seconds), class, end: End::Guessed };
        let fold = |news: Vec<Shut>| news.into_iter().fold(None, |running, incoming| merge(running, incoming, now));
        let expected = ends.iter().map(stated).filter(|shut| shut.until > now).max_by_key(|shut| shut.until);
        let forth = fold(ends.iter().map(stated).chain(guesses.iter().map(guessed)).collect());
        let back = fold(guesses.iter().map(guessed).chain(ends.iter().rev().map(stated)).collect());
        prop_assert_eq!(forth, back);
        if let Some(expected) = expected {
            prop_assert_eq!(forth, Some(expected));
        }
    }
}
