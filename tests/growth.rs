//! The time that reading takes, against the size of what is read. Alone in its binary: nothing else of ours runs meanwhile.

#![allow(clippy::disallowed_methods, reason = "time itself is what is measured here")]

use std::time::{Duration, Instant};

use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::provider::{self, StreamReader};
use http::{HeaderMap, HeaderValue};

fn time(work: &dyn Fn()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The least times of several runs in turns: what the work itself takes, whatever else the machine does. The small work is
/// done as often as makes it last as long as the large.
fn least(small: &dyn Fn(), large: &dyn Fn(), times: u32) -> (Duration, Duration) {
    let often = || (0..times).for_each(|_| small());
    (0..9)
        .map(|_| (time(&often), time(large)))
        .fold((Duration::MAX, Duration::MAX), |(a, b), (small, large)| (a.min(small), b.min(large)))
}

/// Work on 1 MiB takes at most 200 times as long as on 10 KiB: about twice what the sizes are apart. Quadratic work would
/// take 10,000 times as long. A debug build, where the same takes a minute, is held to the same at a tenth of the size.
#[test]
fn time_grows_with_the_size_and_no_faster() {
    const SMALL: usize = 10 * 1024;
    let (large, at_most) = if cfg!(debug_assertions) { (10 * SMALL, 50) } else { (1024 * 1024, 200) };
    let times = u32::try_from(large / SMALL).expect("a small number");
    let patterns = [
        "0",
        "9",
        ",",
        "1,",
        "Mon, ",
        "1h",
        "\"a\";r=0,",
        "{\"error\":",
        "[",
        "please try again in 1s ",
        "a",
        "\"\\u0041",
    ];
    for pattern in patterns {
        let of_size = |size: usize| pattern.repeat(size / pattern.len() + 1).into_bytes();
        let read = |bytes: &[u8]| {
            let mut map = HeaderMap::new();
            for name in ["retry-after", "ratelimit", "x-ratelimit-reset-requests"] {
                map.append(name, HeaderValue::from_bytes(bytes).expect("printable"));
            }
            let mut observation = Observation::status(429).headers(&map);
            observation.body = Some(bytes);
            let _ = std::hint::black_box(provider::openai().read(&observation, WallTime::default()));
            let _ = std::hint::black_box(StreamReader::new(provider::openai()).feed(bytes, WallTime::default()));
            let _ = std::hint::black_box((provider::openai().measure(bytes), provider::openai().usage(bytes)));
            let _ = std::hint::black_box(provider::grpc().read(&Observation::grpc(8).body(bytes), WallTime::default()));
        };
        let (small, large) = (of_size(SMALL), of_size(large));
        let (small, large) = least(&|| read(&small), &|| read(&large), times);
        assert!(
            large * times <= small * at_most,
            "{pattern:?}: {small:?} for {times} of 10 KiB, {large:?} for the large one"
        );
    }
}
