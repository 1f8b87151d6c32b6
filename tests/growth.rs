//! The memory that reading takes, against the size of what is read. Alone in its binary, where allocations are counted.
//! The time it takes is measured by the benchmark `growth`.

#[path = "support/tempting.rs"]
mod tempting;

use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::provider::{self, StreamReader};
use tempting::{PATTERNS, Tempting};

const SMALL: usize = 10 * 1024;
const LARGE: usize = 10 * SMALL;

/// The most bytes held at once, and all that were asked for, while an answer full of one pattern is read.
fn bytes_to_read(pattern: &str, size: usize) -> (u64, u64) {
    let Tempting { headers, body } = Tempting::of(pattern, size);
    let counted = allocation_counter::measure(|| {
        let mut observation = Observation::status(429).headers(&headers);
        // Past the bound of an excerpt: here the parsers themselves are asked.
        observation.body = Some(&body);
        let _ = std::hint::black_box(provider::openai().read(&observation, WallTime::default()));
        let _ = std::hint::black_box(StreamReader::new(provider::openai()).feed(&body, WallTime::default()));
        let _ = std::hint::black_box((provider::openai().measure(&body), provider::openai().usage(&body)));
        let _ = std::hint::black_box(provider::grpc().read(&Observation::grpc(8).body(&body), WallTime::default()));
    });
    (counted.bytes_max, counted.bytes_total)
}

#[test]
fn what_is_held_while_an_answer_is_read_grows_with_its_size_and_no_faster() {
    for pattern in PATTERNS {
        let (small, large) = (bytes_to_read(pattern, SMALL), bytes_to_read(pattern, LARGE));
        let held = |(most, _)| most;
        // A kibibyte for what does not depend on the size; twice, since what grows doubles.
        let at_most = |small: u64| (small + 1024) * (LARGE / SMALL) as u64 * 2;
        assert!(held(large) <= at_most(held(small)), "{pattern:?}: {small:?} for 10 KiB, {large:?} for 100 KiB");
        assert!(large.1 <= at_most(small.1), "{pattern:?}: {small:?} for 10 KiB, {large:?} for 100 KiB");
        // Beside the texts themselves, once unescaped.
        assert!(held(large) <= 8 * LARGE as u64, "{pattern:?}: {large:?}");
    }
}
