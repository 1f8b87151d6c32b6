//! A provider that notes when requests came.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::Response;

/// Answers after this long.
pub(super) const ANSWERS_AFTER: Duration = Duration::from_millis(150);

/// What came, and when.
#[derive(Clone, Debug, Default)]
pub(super) struct Provider(Arc<Mutex<Vec<Instant>>>);

impl Provider {
    pub(super) fn arrivals(&self) -> Vec<Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) async fn answer(&self) -> Response<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        tokio::time::sleep(ANSWERS_AFTER).await;
        Response::new(())
    }
}

/// The most arrivals in any second.
pub(super) fn most_in_a_second(arrivals: &[Instant]) -> usize {
    let within = |(at, first): (usize, &Instant)| {
        arrivals[at..].iter().take_while(|later| **later - *first < Duration::from_secs(1)).count()
    };
    arrivals.iter().enumerate().map(within).max().unwrap_or(0)
}
