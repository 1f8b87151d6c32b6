//! The server over real connections.

use std::time::Duration;

use forbear::core::signal::LimitClass;
use forbear::emulator::limits::{Algorithm, FailureKind, Limits, Period, RetryAfter, Spread, Verdict};
use forbear::emulator::{Emulator, INPUT_TOKENS, StartError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const SECOND: Duration = Duration::from_secs(1);

/// One request on a connection of its own; all that comes back.
async fn ask_with(emulator: &Emulator, headers: &str, body: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(emulator.addr()).await?;
    let length = body.len();
    let request = format!(
        "POST /v1/chat HTTP/1.1\r\nhost: emulator\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

async fn ask(emulator: &Emulator) -> String {
    ask_with(emulator, "", "").await.unwrap()
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[tokio::test(start_paused = true)]
async fn a_spent_quota_is_refused_until_the_wait_it_stated_is_over() {
    let emulator = Emulator::builder().requests_per_minute(2).start().await.unwrap();
    assert_eq!(status(&ask(&emulator).await), 200);
    assert_eq!(status(&ask(&emulator).await), 200);
    let refused = ask(&emulator).await;
    assert_eq!((status(&refused), header(&refused, "retry-after")), (429, Some("30")));
    tokio::time::advance(30 * SECOND).await;
    assert_eq!(status(&ask(&emulator).await), 200);
    let counts = emulator.counts();
    assert_eq!((counts.requests, counts.admitted, counts.throttled, counts.answered), (4, 3, 1, 4));
    assert!(matches!(emulator.arrivals()[2].verdict, Verdict::Throttled(t) if t.class == LimitClass::RequestRate));
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_by_header_or_else_by_size() {
    let emulator = Emulator::builder().tokens_per_minute(100).start().await.unwrap();
    assert_eq!(status(&ask_with(&emulator, &format!("{INPUT_TOKENS}: 60\r\n"), "").await.unwrap()), 200);
    assert_eq!(status(&ask_with(&emulator, "", &"x".repeat(160)).await.unwrap()), 200);
    assert_eq!(status(&ask_with(&emulator, "", "x").await.unwrap()), 429);
    assert_eq!(emulator.arrivals().iter().map(|arrival| arrival.cost.input_tokens).collect::<Vec<_>>(), [60, 40, 1]);
}

#[tokio::test(start_paused = true)]
async fn concurrency_is_freed_by_the_answer_and_by_a_caller_who_hangs_up() {
    let builder = Emulator::builder().concurrency(1).service_time(10 * SECOND);
    let emulator = builder.start().await.unwrap();
    let (first, second) = tokio::join!(ask(&emulator), async {
        tokio::time::sleep(SECOND).await;
        ask(&emulator).await
    });
    assert_eq!((status(&first), status(&second)), (200, 429));
    assert!(tokio::time::timeout(SECOND, ask(&emulator)).await.is_err());
    tokio::time::sleep(SECOND).await;
    assert_eq!(status(&ask(&emulator).await), 200);
    assert_eq!(emulator.counts().peak_in_flight, 1);
}

#[tokio::test(start_paused = true)]
async fn connections_are_cut_and_hung_as_set() {
    let hour = 3_600 * SECOND;
    let builder = Emulator::builder()
        .failure(FailureKind::Broken, Period::new(Duration::ZERO, hour), 1.0)
        .failure(FailureKind::Timeout, Period::new(hour, 2 * hour), 1.0)
        .failure(FailureKind::ErrorInSuccess, Period::new(2 * hour, 3 * hour), 1.0)
        .failure(FailureKind::ServerError, Period::new(3 * hour, 4 * hour), 1.0)
        .failure(FailureKind::Auth, Period::new(4 * hour, 5 * hour), 1.0)
        .failure(FailureKind::ErrorInStream, Period::new(5 * hour, 6 * hour), 1.0);
    let emulator = builder.start().await.unwrap();
    assert_eq!(ask_with(&emulator, "", "").await.unwrap_or_default(), "");
    tokio::time::advance(hour).await;
    assert!(tokio::time::timeout(60 * SECOND, ask(&emulator)).await.is_err());
    tokio::time::advance(hour).await;
    let in_success = ask(&emulator).await;
    assert_eq!((status(&in_success), in_success.contains("\"error\"")), (200, true));
    tokio::time::advance(hour).await;
    assert_eq!(status(&ask(&emulator).await), 500);
    tokio::time::advance(hour).await;
    assert_eq!(status(&ask(&emulator).await), 401);
    tokio::time::advance(hour).await;
    let in_stream = ask(&emulator).await;
    assert_eq!(header(&in_stream, "content-type"), Some("text/event-stream"));
    assert!(status(&in_stream) == 200 && in_stream.contains("\nevent: error\n"));
    assert_eq!((emulator.counts().failed, emulator.counts().answered), (6, 4));
}

#[tokio::test(start_paused = true)]
async fn the_switches_work_while_it_runs() {
    let emulator = Emulator::builder().requests_per_day(2).retry_after(RetryAfter::Exact).start().await.unwrap();
    emulator.shut_for(5 * SECOND);
    assert_eq!(header(&ask(&emulator).await, "retry-after"), Some("5"));
    tokio::time::advance(5 * SECOND).await;
    emulator.overload(1.0).unwrap();
    assert_eq!(status(&ask(&emulator).await), 503);
    emulator.overload(0.0).unwrap();
    emulator.spend(true);
    assert_eq!(status(&ask(&emulator).await), 402);
    emulator.spend(false);
    assert_eq!([status(&ask(&emulator).await), status(&ask(&emulator).await)], [200, 200]);
    assert!(matches!(ask(&emulator).await, answer if status(&answer) == 429));
    emulator.day_ends_in(Duration::ZERO);
    assert_eq!(status(&ask(&emulator).await), 200);
    emulator.set_limits(Limits::new().requests_per_day(1)).unwrap();
    assert_eq!(status(&ask(&emulator).await), 429);
    assert_eq!(emulator.overload(2.0).unwrap_err().field, "limits.overload.share");
}

#[tokio::test]
async fn a_dropped_emulator_closes_its_port_and_its_connections() {
    let emulator = Emulator::builder().service_time(3_600 * SECOND).start().await.unwrap();
    let addr = emulator.addr();
    let mut waiting = TcpStream::connect(addr).await.unwrap();
    waiting.write_all(b"GET / HTTP/1.1\r\nhost: emulator\r\n\r\n").await.unwrap();
    while emulator.counts().requests == 0 {
        tokio::task::yield_now().await;
    }
    drop(emulator);
    let mut answer = String::new();
    let _ = waiting.read_to_string(&mut answer).await;
    assert_eq!(answer, "");
    assert!(TcpStream::connect(addr).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_run() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let builder = Emulator::builder().overload(Period::ALWAYS, 0.5).seed(11);
        let emulator = builder.throttle_time(Spread::between(SECOND, 2 * SECOND)).start().await.unwrap();
        let mut statuses = Vec::new();
        for _ in 0..40 {
            statuses.push(status(&ask(&emulator).await));
        }
        let turned_away = statuses.iter().filter(|status| **status == 503).count();
        assert!((5..=35).contains(&turned_away), "{turned_away}");
        runs.push(statuses);
    }
    assert_eq!(runs[0], runs[1]);
}

#[tokio::test]
async fn a_bad_setting_and_a_taken_port_are_refused_with_what_to_do() {
    let refused = Emulator::builder().window(Duration::ZERO).start().await.unwrap_err();
    assert_eq!(refused.to_string(), "the emulator did not start: limits.window is 0ns; allowed: 1ms to 31 days");
    let emulator = Emulator::builder().algorithm(Algorithm::SlidingWindow).start().await.unwrap();
    let taken = Emulator::builder().port(emulator.addr().port()).start().await.unwrap_err();
    assert!(matches!(&taken, StartError::Listen { .. }) && taken.to_string().contains("choose another port"));
}
