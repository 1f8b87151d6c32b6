//! Questions as they are asked, and answers as they come.

use super::*;
use crate::diagnose::cause::Cause;

fn enquiry(scrape: u64) -> Enquiry {
    let at = WallTime::since_epoch(Duration::from_secs(10_000));
    Enquiry::new(at, Duration::from_secs(3_600), Duration::from_secs(scrape), r#"job="api""#)
}

fn asked<'q>(questions: &'q [Question], part: &str) -> Vec<&'q Question> {
    questions.iter().filter(|question| question.promql.contains(part)).collect()
}

#[test]
fn every_number_is_asked_for_with_the_labels_it_is_told_apart_by() {
    let questions = enquiry(15).questions();
    let attempts = r#"sum by (provider,pool,attempt,outcome,limit_class,delay_source) (increase(forbear_attempts_total{job="api",}[3600000ms]))"#;
    assert_eq!(asked(&questions, attempts).len(), 1, "{questions:#?}");
    let calls = r#"sum by (provider,pool,policy) (increase(forbear_calls_total{job="api",}[3600000ms]))"#;
    let asked_calls = asked(&questions, calls);
    assert_eq!((asked_calls.len(), asked_calls[0].range, asked_calls[0].at), (1, None, 10_000.0));
    assert_eq!(asked(&questions, "forbear_call_deadline_seconds_sum").len(), 1);
    assert_eq!(asked(&questions, "forbear_call_duration_seconds_count").len(), 2, "the window, and its parts");
}

#[test]
fn no_stretch_is_shorter_than_four_scrapes() {
    for (scrape, shortest, horizons) in [(5_u32, 30, 6), (15, 60, 5), (30, 120, 4), (60, 240, 3)] {
        let questions = enquiry(scrape.into()).questions();
        let calls = asked(&questions, "forbear_calls_total");
        let each_step =
            calls.iter().filter(|question| question.range.is_some_and(|(_, step)| step == f64::from(scrape)));
        assert_eq!(each_step.count(), horizons, "{scrape}");
        for question in questions.iter().filter(|question| question.promql.contains("increase")) {
            let over = question.promql.rsplit_once('[').and_then(|(_, over)| over.split_once("ms]"));
            let over: f64 = over.expect("a stretch").0.parse().expect("milliseconds");
            assert!(over >= f64::from(shortest) * 1_000.0, "{}", question.promql);
        }
    }
}

#[test]
fn answers_are_put_together_by_pool_and_time() {
    let mut enquiry = enquiry(60);
    let vector = |labels: &str, value: f64| {
        format!(
            r#"{{"status":"success","data":{{"result":[{{"metric":{{"provider":"openai","pool":"chat",{labels}}},"value":[10000,"{value}"]}}]}}}}"#
        )
    };
    let matrix = |labels: &str, value: f64| {
        let values = (0..=60).map(|step| format!(r#"[{},"{value}"]"#, 6_400 + step * 60)).collect::<Vec<_>>().join(",");
        format!(
            r#"{{"status":"success","data":{{"result":[{{"metric":{{"provider":"openai","pool":"chat"{labels}}},"values":[{values}]}}]}}}}"#
        )
    };
    for question in enquiry.questions() {
        let answer = match question.about {
            About::Total(Metric::Calls, _) => vector(r#""policy":"chat""#, 7_200.0),
            About::Total(Metric::CallDeadline, _) => vector(r#""policy":"chat""#, 7_200.0 * 30.0),
            About::Total(Metric::CallDuration, _) => vector(r#""outcome":"ok""#, 3_600.0),
            About::Total(Metric::Giveups, _) => {
                vector(r#""outcome":"attempts_exhausted","limit_class":"request_rate","early":"no""#, 3_600.0)
            }
            About::Gauge(Metric::QuotaLimit) => {
                vector(r#""dimension":"requests","window":"minute","origin":"header""#, 60.0)
            }
            About::Asked(0) if question.promql.contains("calls") => matrix("", 480.0),
            _ => r#"{"status":"success","data":{"result":[]}}"#.to_owned(),
        };
        enquiry.hear(&question, answer.as_bytes()).expect("an answer");
    }
    // The calls that did not succeed are missing among those that ended: as after a restart. The load needs none of them.
    let found = enquiry.diagnose();
    assert_eq!((found[0].provider.as_str(), found[0].pool.as_str()), ("openai", "chat"));
    let load = found[0].verdict.horizon_load.expect("a limit");
    // The shortest stretch is five minutes, callers wait half a minute, and 60 a minute are granted.
    assert!((load - 480.0 / (60.0 * 5.5)).abs() < 0.01, "{load}");
    assert_ne!(found[0].verdict.cause, Cause::NotEnoughData);
}

#[test]
fn how_often_it_is_scraped_is_counted() {
    let answer = |samples: &str| {
        format!(r#"{{"status":"success","data":{{"result":[{{"metric":{{}},"value":[1,"{samples}"]}}]}}}}"#)
    };
    let interval = |samples: &str| Enquiry::scrape_interval(answer(samples).as_bytes()).expect("an answer");
    assert_eq!([interval("20"), interval("5")], [15, 60].map(|seconds| Some(Duration::from_secs(seconds))));
    assert_eq!(interval("0"), None);
    let nothing = Enquiry::scrape_interval(br#"{"status":"success","data":{"result":[]}}"#);
    assert_eq!(nothing, Ok(None));
}

#[test]
fn an_answer_cannot_name_a_time_that_takes_all_memory() {
    let mut enquiry = enquiry(15);
    let questions = enquiry.questions();
    let question = questions.iter().find(|question| question.about == About::Asked(0)).expect("asked");
    let answer = br#"{"status":"success","data":{"result":[{"metric":{"provider":"a","pool":"b"},"values":[[1e300,"1"],[-5,"1"]]}]}}"#;
    enquiry.hear(question, answer).expect("an answer");
    assert_eq!(enquiry.pools[0].steps.len(), 1);
}
