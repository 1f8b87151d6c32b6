//! What happened when, in few enough spans to be drawn.
//!
//! Nobody knows before a run how long it will take to its last call. So spans begin short, and whenever there are too many
//! of them two neighbours become one: memory stays where it is, however long the run.

use std::time::Duration;

use crate::core::moment::Moment;

/// The most spans kept; when there would be more, two become one.
const MOST_SPANS: usize = 480;

/// Arrivals, requests served, requests throttled and the quota left, in spans of equal length from the start of the world.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    /// How long each span is.
    pub(crate) span: Duration,
    /// The spans, the first at the start of the world.
    pub(crate) spans: Vec<Span>,
    /// Every request, where that is wanted.
    pub(crate) requests: Option<Vec<Request>>,
}

/// One request that reached the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// When, from the start of the world.
    pub at: Duration,
    /// Whether it was served, or is about to be.
    pub served: bool,
}

/// What happened in one span.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    /// Calls that arrived.
    pub(crate) arrivals: u32,
    /// Requests that were served.
    pub(crate) served: u32,
    /// Requests that a limit refused.
    pub(crate) throttled: u32,
    /// Calls that ended without success.
    pub(crate) gave_up: u32,
    /// The least that was left of the quota of which least was left, as a share; if anybody asked.
    pub(crate) quota_left: Option<f64>,
}

impl Timeline {
    /// An empty timeline; spans are of a second until there are too many.
    pub(crate) fn new() -> Self {
        Self { span: Duration::from_secs(1), spans: Vec::new(), requests: None }
    }

    /// A call arrived.
    pub(super) fn arrived(&mut self, now: Moment) {
        self.at(now).arrivals += 1;
    }

    /// A request came and was served, or throttled, or failed in another way.
    pub(super) fn asked(&mut self, now: Moment, served: bool, throttled: bool) {
        if let Some(requests) = &mut self.requests {
            requests.push(Request { at: now.elapsed_since_start(), served });
        }
        let span = self.at(now);
        span.served += u32::from(served);
        span.throttled += u32::from(throttled);
    }

    /// A call ended without success.
    pub(super) fn gave_up(&mut self, now: Moment) {
        self.at(now).gave_up += 1;
    }

    /// So much was left of the quota.
    pub(super) fn quota(&mut self, now: Moment, left: Option<f64>) {
        let span = self.at(now);
        span.quota_left = least(span.quota_left, left);
    }

    /// The span of a moment, made if it is not there.
    fn at(&mut self, now: Moment) -> &mut Span {
        loop {
            let place = (now.elapsed_since_start().as_nanos() / self.span.as_nanos()) as usize;
            if place < MOST_SPANS {
                if self.spans.len() <= place {
                    self.spans.resize(place + 1, Span::default());
                }
                return &mut self.spans[place];
            }
            self.coarsen();
        }
    }

    /// Makes two spans one.
    fn coarsen(&mut self) {
        self.span *= 2;
        self.spans = self.spans.chunks(2).map(Span::together).collect();
    }

    /// Gives several timelines spans of one length, and as many of them.
    pub(super) fn align(timelines: &mut [Self]) {
        let span = timelines.iter().map(|timeline| timeline.span).max().unwrap_or_default();
        for timeline in &mut *timelines {
            while timeline.span < span {
                timeline.coarsen();
            }
        }
        let longest = timelines.iter().map(|timeline| timeline.spans.len()).max().unwrap_or_default();
        timelines.iter_mut().for_each(|timeline| timeline.spans.resize(longest, Span::default()));
    }
}

impl Span {
    /// Neighbouring spans as one.
    fn together(spans: &[Self]) -> Self {
        spans.iter().fold(Self::default(), |sum, span| Self {
            arrivals: sum.arrivals + span.arrivals,
            served: sum.served + span.served,
            throttled: sum.throttled + span.throttled,
            gave_up: sum.gave_up + span.gave_up,
            quota_left: least(sum.quota_left, span.quota_left),
        })
    }
}

/// The smaller of what is known.
fn least(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_timeline_has_coarse_spans_and_loses_nothing() {
        let mut timeline = Timeline::new();
        for second in 0..10_000 {
            let now = Moment::since_start(Duration::from_secs(second));
            timeline.arrived(now);
            timeline.asked(now, second % 2 == 0, second % 2 == 1);
            timeline.quota(now, Some(second as f64));
        }
        assert_eq!(timeline.span, Duration::from_secs(32));
        assert!(timeline.spans.len() <= MOST_SPANS);
        let sum = Span::together(&timeline.spans);
        assert_eq!((sum.arrivals, sum.served, sum.throttled, sum.quota_left), (10_000, 5_000, 5_000, Some(0.0)));
    }

    #[test]
    fn timelines_of_different_lengths_are_aligned() {
        let mut both = [Timeline::new(), Timeline::new()];
        both[0].arrived(Moment::since_start(Duration::from_secs(10)));
        both[1].gave_up(Moment::since_start(Duration::from_secs(1_000)));
        Timeline::align(&mut both);
        assert_eq!((both[0].span, both[0].spans.len()), (both[1].span, both[1].spans.len()));
        assert_eq!((both[0].spans[2].arrivals, both[1].spans[250].gave_up), (1, 1));
    }
}
