//! The scripts do what [`Entry`] does: the same generated steps on both, on a real server.

#[path = "../../../tests/support/server.rs"]
mod server;

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::Connection;

use crate::core::gate::{LONGEST_DAILY, LONGEST_SHUT, STRIKES_FADE_AFTER, longest_shut};
use crate::core::merge::End;
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::store::Want;
use crate::store::entry::{Entry, Told};
use crate::store::news::{KEPT_AFTER_END, Line, OLDEST_REPORT, end_word};
use crate::store::redis::hub::Scripts;
use crate::store::redis::permit;
use crate::store::redis::stored::{FIELDS, Stored};

const KEY: &str = "fb:1:{abcdefghij234567}:gate";
const CHANNEL: &str = "fb:1:{abcdefghij234567}:news";
const TAG: &str = "abcdefghij234567";

/// One thing that happens to an entry.
#[derive(Clone, Debug)]
enum Step {
    /// A report, `behind` rounds after the entry's, of a throttle seen so long ago.
    Report { behind: u64, wait: Duration, seen_ago: Option<Duration>, end: End, class: LimitClass },
    /// A probe of `behind` rounds ago went well.
    Probe { behind: u64 },
    /// An operator's order, for so long, at one call per so many milliseconds; perhaps one that is told again.
    Order { left: Duration, every: u64, again: bool },
    /// An operator reopens.
    Reopen,
    /// Somebody asks for slots, so many microseconds apart, or for leave to probe.
    Permit(Want),
    /// Time passes.
    Pass(Duration),
    /// The server forgets.
    Lose,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let end = prop_oneof![Just(End::Guessed), Just(End::Stated), Just(End::Assumed)];
    let class = prop_oneof![
        Just(LimitClass::RequestRate),
        Just(LimitClass::Overload),
        Just(LimitClass::Daily),
        Just(LimitClass::Spend)
    ];
    let wait = prop_oneof![0_u64..120_000, Just(86_400_000), Just(31_536_000_000)].prop_map(Duration::from_millis);
    let seen_ago = prop_oneof![Just(None), (0_u64..60_000).prop_map(|ago| Some(Duration::from_millis(ago)))];
    let report = (0_u64..3, wait, seen_ago, end, class).prop_map(|(behind, wait, seen_ago, end, class)| Step::Report {
        behind,
        wait,
        seen_ago,
        end,
        class,
    });
    let step = prop_oneof![
        6 => report,
        1 => (0_u64..3).prop_map(|behind| Step::Probe { behind }),
        1 => (1_u64..200_000, 0_u64..1_000, any::<bool>())
            .prop_map(|(left, every, again)| Step::Order { left: Duration::from_millis(left), every, again }),
        1 => Just(Step::Reopen),
        1 => Just(Step::Permit(Want::Probe)),
        5 => (0_u32..5, 1_u64..400_000, proptest::bool::weighted(0.2))
            .prop_map(|(slots, every, known)| Want::Slots { slots, every: Duration::from_micros(every), known })
            .prop_map(Step::Permit),
        2 => (1_u64..150_000).prop_map(|passed| Step::Pass(Duration::from_millis(passed))),
        1 => Just(Step::Lose),
    ];
    proptest::collection::vec(step, 1..24)
}

/// The server, and the entry it should hold. Time is made to pass by moving what the entry remembers into the past.
struct Both {
    connection: Connection,
    scripts: Scripts,
    expected: Option<Entry>,
    told: redis::PubSub<'static>,
}

fn millis(moment: Moment) -> u64 {
    moment.elapsed_since_start().as_millis() as u64
}

fn earlier(moment: Moment, by: Duration) -> Moment {
    Moment::since_start(moment.elapsed_since_start().saturating_sub(by))
}

impl Both {
    fn server_ms(&mut self) -> u64 {
        let time: Vec<Option<String>> = redis::cmd("TIME").query(&mut self.connection).expect("the time");
        Stored::server_ms(&time).expect("a time")
    }

    fn round(&self) -> u64 {
        self.expected.map_or(0, |entry| entry.round)
    }

    /// The moment the server acted at, as its line says; for one that said "stale", any moment of that trip does.
    fn acted_at(line: &str, before: u64) -> Moment {
        let server_ms = Line::parse(line.as_bytes()).map_or(before, |line| line.news.server_ms);
        Moment::since_start(Duration::from_millis(server_ms))
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        let before = self.server_ms();
        match *step {
            Step::Report { behind, wait, seen_ago, end, class } => {
                let admitted = self.round().saturating_sub(behind);
                let seen_ms = seen_ago.map(|ago| before - ago.as_millis() as u64);
                let longest = longest_shut(class);
                let line: String = self
                    .scripts
                    .report
                    .key(KEY)
                    .arg(admitted)
                    .arg(wait.as_millis() as u64)
                    .arg(seen_ms.unwrap_or(0))
                    .arg(end_word(end))
                    .arg(class.as_str())
                    .arg(longest.as_millis() as u64)
                    .arg(OLDEST_REPORT.as_millis() as u64)
                    .arg(STRIKES_FADE_AFTER.as_millis() as u64)
                    .arg(KEPT_AFTER_END.as_millis() as u64)
                    .arg(CHANNEL)
                    .arg(TAG)
                    .arg("r-1")
                    .arg("openai/pool")
                    .invoke(&mut self.connection)
                    .expect("an answer");
                let now = Self::acted_at(&line, before);
                let seen_at = seen_ms.map(|ms| Moment::since_start(Duration::from_millis(ms)));
                let told = Told { admitted, wait, seen_at, end, class };
                let after = Entry::after_report(self.expected, &told, now);
                prop_assert_eq!(after.is_none(), line == "stale", "{}", line);
                let moved = after.is_some_and(|(_, moved)| moved);
                self.expected = after.map(|(entry, _)| entry).or(self.expected);
                self.compare()?;
                self.was_told(moved.then_some(line))?;
            }
            Step::Probe { behind } => {
                let admitted = self.round().saturating_sub(behind);
                let line: String = self
                    .scripts
                    .reopen
                    .key(KEY)
                    .arg(admitted)
                    .arg(KEPT_AFTER_END.as_millis() as u64)
                    .arg(CHANNEL)
                    .arg(TAG)
                    .arg("r-1")
                    .arg("openai/pool")
                    .invoke(&mut self.connection)
                    .expect("an answer");
                let now = Self::acted_at(&line, before);
                let after = Entry::after_probe(self.expected, admitted, now);
                prop_assert_eq!(after.is_none(), line == "stale", "{}", line);
                self.expected = after.or(self.expected);
                self.compare()?;
                self.was_told(after.map(|_| line))?;
            }
            Step::Order { left, every, again } => {
                let given_at = if again { before } else { 0 };
                let (now, line) = self.order("hold", given_at, left, every);
                let times = (left, Duration::from_millis(every));
                let given_at = again.then(|| Moment::since_start(Duration::from_millis(given_at)));
                let after = Entry::after_order(self.expected, times, given_at, now.unwrap_or(Moment::START));
                prop_assert_eq!(after.is_some(), now.is_some());
                self.expected = after.or(self.expected);
                self.compare()?;
                self.was_told(after.map(line))?;
            }
            Step::Reopen => {
                let (now, line) = self.order("reopen", 0, Duration::ZERO, 0);
                let now = now.expect("an operator always does");
                let after = Entry::after_reopening(self.expected, now).expect("an operator always does");
                self.expected = Some(after);
                self.compare()?;
                let (kind, class) = (end_word(after.end), after.class.as_str());
                let Entry { stamp, round, .. } = after;
                let (born, version, now) = (stamp.born_ms, stamp.version, millis(now));
                let way_back = format!("1 {TAG} {born} {version} {round} 0 ramp {kind} {class} 0 {now} alice");
                self.was_told(Some(way_back))?;
                self.was_told(Some(line(after)))?;
            }
            Step::Permit(want) => {
                let mut call = self.scripts.permit.key(KEY);
                permit::arguments(&mut call, want);
                let answer: Vec<String> = call.invoke(&mut self.connection).expect("an answer");
                let now = Moment::since_start(Duration::from_micros(answer[0].parse().expect("a time")));
                let (after, grant) = Entry::after_permit(self.expected, want, permit::HORIZON, now);
                self.expected = Some(after);
                self.compare()?;
                prop_assert_eq!(permit::read(&answer), Some(grant), "{:?}", answer);
                self.was_told(None)?;
            }
            Step::Pass(passed) => self.pass(passed),
            Step::Lose => {
                redis::cmd("FLUSHALL").exec(&mut self.connection).expect("done");
                self.expected = None;
            }
        }
        Ok(())
    }

    /// Gives an order; the moment the server acted at unless it was stale, and the line it should have told.
    fn order(
        &mut self,
        what: &str,
        given_at: u64,
        left: Duration,
        every: u64,
    ) -> (Option<Moment>, impl Fn(Entry) -> String + use<>) {
        let left = left.as_millis() as u64;
        let mut call = self.scripts.order.key(KEY);
        call.arg(what).arg(left).arg(every).arg(given_at).arg(KEPT_AFTER_END.as_millis() as u64);
        call.arg(CHANNEL).arg(TAG).arg("alice").arg("why not").arg("openai/pool");
        let (acted_at, _told): (String, u64) = call.invoke(&mut self.connection).expect("an answer");
        let acted_at = acted_at.parse().ok().map(|ms| Moment::since_start(Duration::from_millis(ms)));
        let given = |entry: Entry| entry.held.map(|held| millis(held.given_at)).expect("an order");
        (acted_at, move |entry| format!("held 1 {TAG} {} {left} {every} alice why not", given(entry)))
    }

    fn pass(&mut self, passed: Duration) {
        let Some(entry) = &mut self.expected else { return };
        entry.until = earlier(entry.until, passed);
        entry.last_throttle = earlier(entry.last_throttle, passed);
        redis::cmd("HSET")
            .arg(KEY)
            .arg("until")
            .arg(millis(entry.until))
            .arg("last")
            .arg(millis(entry.last_throttle))
            .exec(&mut self.connection)
            .expect("moved");
        let micros = |moment: Moment| moment.elapsed_since_start().as_micros() as u64;
        entry.slot_at = earlier(entry.slot_at, passed);
        let mut moved = redis::cmd("HSET");
        moved.arg(KEY).arg("slot_at").arg(micros(entry.slot_at));
        if let Some((probed_at, _)) = &mut entry.probed {
            *probed_at = earlier(*probed_at, passed);
            moved.arg("probed_at").arg(micros(*probed_at));
        }
        moved.exec(&mut self.connection).expect("moved");
        if let Some(held) = &mut entry.held {
            held.until = earlier(held.until, passed);
            let until = millis(held.until);
            redis::cmd("HSET").arg(KEY).arg("held_until").arg(until).exec(&mut self.connection).expect("moved");
        }
    }

    /// The server holds what is expected, and will forget it.
    fn compare(&mut self) -> Result<(), TestCaseError> {
        let fields: Vec<Option<String>> =
            redis::cmd("HMGET").arg(KEY).arg(FIELDS).query(&mut self.connection).expect("fields");
        let stored = Stored::parse(&fields, 0);
        let Some(expected) = self.expected else {
            prop_assert_eq!(stored, None);
            return Ok(());
        };
        let stored = stored.expect("an entry").news;
        let until: u64 = fields[7].as_deref().and_then(|field| field.parse().ok()).expect("an end");
        prop_assert_eq!(stored.stamp, expected.stamp);
        prop_assert_eq!((stored.round, stored.strikes), (expected.round, expected.strikes));
        prop_assert_eq!((stored.phase, stored.end, stored.class), (expected.phase, expected.end, expected.class));
        prop_assert_eq!(until, millis(expected.until));
        let number = |at: usize| fields[at].as_deref().and_then(|field| field.parse::<u64>().ok());
        let held = expected.held.map(|held| [millis(held.given_at), millis(held.until), held.every.as_millis() as u64]);
        prop_assert_eq!([9, 10, 11].map(number), held.map_or([None; 3], |held| held.map(Some)));
        let times: Vec<Option<u64>> =
            redis::cmd("HMGET").arg(KEY).arg(&["slot_at", "probed_at"]).query(&mut self.connection).expect("fields");
        let micros = |moment: Moment| moment.elapsed_since_start().as_micros() as u64;
        prop_assert_eq!(times[0].unwrap_or(0), micros(expected.slot_at));
        prop_assert_eq!(times[1].unwrap_or(0), expected.probed.map_or(0, |(at, _)| micros(at)));
        let expires: i64 = redis::cmd("PTTL").arg(KEY).query(&mut self.connection).expect("a time to live");
        // Time was only made to pass in the fields, not for the server's own clock.
        let most = (LONGEST_DAILY + KEPT_AFTER_END).as_millis();
        prop_assert!(expires > 0 && expires as u128 <= most, "{} ms", expires);
        Ok(())
    }

    /// The channel was told this line, or nothing.
    fn was_told(&mut self, line: Option<String>) -> Result<(), TestCaseError> {
        // What comes next shows that nothing came before it.
        const NOTHING: &str = "nothing";
        if line.is_none() {
            redis::cmd("PUBLISH").arg(CHANNEL).arg(NOTHING).exec(&mut self.connection).expect("told");
        }
        let told: String = self.told.get_message().expect("a message").get_payload().expect("text");
        prop_assert_eq!(told, line.as_deref().unwrap_or(NOTHING));
        Ok(())
    }
}

#[test]
fn the_scripts_and_the_rules_in_rust_agree_on_every_sequence() {
    let server = server::Server::redis(&[]);
    let client = redis::Client::open(format!("redis://{}", server.addr())).expect("a client");
    let listening: &'static mut Connection = Box::leak(Box::new(client.get_connection().expect("a connection")));
    let mut told = listening.as_pubsub();
    told.subscribe(CHANNEL).expect("subscribed");
    told.set_read_timeout(Some(Duration::from_secs(5))).expect("set");
    let connection = client.get_connection().expect("a connection");
    let both = std::cell::RefCell::new(Both { connection, scripts: Scripts::default(), expected: None, told });
    let mut runner = TestRunner::new(Config { cases: 1_000, failure_persistence: None, ..Config::default() });
    runner
        .run(&steps(), |steps| {
            let both = &mut *both.borrow_mut();
            both.step(&Step::Lose)?;
            steps.iter().try_for_each(|step| both.step(step))
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn sixty_four_reports_of_one_burst_are_one_strike_in_any_order() {
    const BURSTS: u64 = 1_000;
    let server = server::Server::redis(&[]);
    let client = redis::Client::open(format!("redis://{}", server.addr())).expect("a client");
    // All eight begin each burst together; how their reports come to lie among each other the machine decides.
    let together = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (together, mut connection) = (&together, client.get_connection().expect("a connection"));
            scope.spawn(move || {
                let script = Scripts::default().report;
                for burst in 1..=BURSTS {
                    together.wait();
                    for report in 0..8_u64 {
                        let wait = 60_000 + (thread * 8 + report) * (burst % 7);
                        let _: String = told(&script, burst - 1, wait).invoke(&mut connection).expect("an answer");
                    }
                    if together.wait().is_leader() {
                        let news = read(&mut connection).expect("an entry").news;
                        assert_eq!((news.round, u64::from(news.strikes)), (burst, burst));
                    }
                }
            });
        }
    });
}

/// A report of a stated wait.
fn told(script: &redis::Script, admitted: u64, wait_ms: u64) -> redis::ScriptInvocation<'_> {
    let mut call = script.key(KEY);
    call.arg(admitted).arg(wait_ms).arg(0).arg("stated").arg("request_rate").arg(3_600_000);
    call.arg(30_000).arg(120_000).arg(600_000).arg(CHANNEL).arg(TAG).arg("r").arg("name");
    call
}

fn read(connection: &mut Connection) -> Option<Stored> {
    let fields: Vec<Option<String>> = redis::cmd("HMGET").arg(KEY).arg(FIELDS).query(connection).expect("fields");
    Stored::parse(&fields, 0)
}

/// What nobody wrote who keeps to the rules: in any field, before any script.
#[test]
fn an_entry_somebody_spoiled_stops_no_script_holds_nobody_for_longer_and_is_whole_after_the_next_report() {
    let fields = FIELDS.iter().chain(&["last", "name", "slot_at", "probed_at", "probed_round", "slot_every"]);
    let values: [&[u8]; 15] = [
        b"",
        b"x",
        b"-1",
        b"-",
        b"nan",
        b"inf",
        b"-inf",
        b"1e308",
        b"0x10",
        b" 1",
        b"1.5",
        b"99999999999999",
        b"9999999999999999",
        b"99999999999999999999",
        b"\xff\xfe\x00\r\n",
    ];
    let server = server::Server::redis(&[]);
    let client = redis::Client::open(format!("redis://{}", server.addr())).expect("a client");
    let connection = &mut client.get_connection().expect("a connection");
    let scripts = Scripts::default();
    for field in fields {
        for value in values {
            for by in ["report", "slots", "ramp", "probe", "order", "reopen"] {
                let why = format!("{field} = {:?}, then {by}", String::from_utf8_lossy(value));
                redis::cmd("FLUSHALL").exec(connection).expect("done");
                let _: String = told(&scripts.report, 0, 30_000).invoke(connection).expect("an answer");
                if by == "ramp" {
                    redis::cmd("HSET").arg(KEY).arg(&["phase", "ramp", "until", "0"]).exec(connection).expect("done");
                }
                redis::cmd("HSET").arg(KEY).arg(field).arg(value).exec(connection).expect("spoiled");
                match by {
                    "report" => {}
                    "slots" | "ramp" | "probe" => {
                        let (slots, every) = (1, Duration::from_millis(50));
                        let slots = Want::Slots { slots, every, known: true };
                        let mut call = scripts.permit.key(KEY);
                        permit::arguments(&mut call, if by == "probe" { Want::Probe } else { slots });
                        let answer: Vec<String> =
                            call.invoke(connection).unwrap_or_else(|error| panic!("{why}: {error}"));
                        let grant = permit::read(&answer).unwrap_or_else(|| panic!("{why}: {answer:?}"));
                        let longest = Duration::from_secs(if by == "probe" { 300 } else { 30 });
                        assert!(grant.again_in <= longest, "{why}: {answer:?}");
                        let soon = !grant.slots.is_empty() || grant.again_in <= permit::HORIZON + every;
                        assert!(by != "ramp" || soon, "{why}: {answer:?}");
                    }
                    "order" => {
                        let mut call = scripts.order.key(KEY);
                        call.arg("hold").arg(60_000).arg(0).arg(0).arg(600_000).arg(CHANNEL).arg(TAG);
                        call.arg("alice").arg("why not").arg("");
                        let told: redis::RedisResult<(String, u64)> = call.invoke(connection);
                        assert!(told.is_ok(), "{why}: {told:?}");
                    }
                    _ => {
                        let mut call = scripts.reopen.key(KEY);
                        call.arg(1).arg(600_000).arg(CHANNEL).arg(TAG).arg("r").arg("name");
                        let told: redis::RedisResult<String> = call.invoke(connection);
                        assert!(told.is_ok(), "{why}: {told:?}");
                    }
                }
                let line: Vec<u8> = told(&scripts.report, 0, 60_000)
                    .invoke(connection)
                    .unwrap_or_else(|error| panic!("{why}: {error}"));
                let news = Line::parse(&line).unwrap_or_else(|| panic!("{why}: {line:?}")).news;
                let left = news.left.as_millis();
                assert!((59_000..=60_000).contains(&left), "{why}: {left} ms");
                let expires: u128 = redis::cmd("PTTL").arg(KEY).query(connection).expect("a time to live");
                assert!(expires <= (LONGEST_DAILY + KEPT_AFTER_END).as_millis(), "{why}: {expires} ms");
            }
        }
    }
}

#[test]
fn the_scripts_know_every_class_and_how_long_it_may_last() {
    let script = include_str!("entry.lua");
    let classes = LimitClass::ALL.iter().filter(|class| **class != LimitClass::None);
    assert!(classes.map(|class| format!("'{}'", class.as_str())).all(|class| script.contains(&class)));
    let longest = format!("{}, {}", LONGEST_SHUT.as_millis(), LONGEST_DAILY.as_millis());
    assert!(script.contains(&longest), "{longest}");
}
