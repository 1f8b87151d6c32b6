//! What a row of the [catalogue](crate::event::catalogue) is.

/// What a metric measures with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a sink that misses a kind is to fail to compile")]
pub enum Kind {
    /// It only rises; read as a rate.
    Counter,
    /// It is what it is now; sampled when asked for.
    Gauge,
    /// A distribution of seconds over fixed buckets.
    Histogram,
}

/// How fine the histograms are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a sink that misses one is to fail to compile")]
pub enum Resolution {
    /// Few buckets: enough to tell a quick answer from a slow one, and a delay of seconds from one of minutes. Each bucket
    /// costs a series per outcome, source or result, pool and replica.
    #[default]
    Lean,
    /// About twice as many, the lean ones among them, so that rules and dashboards read either.
    Fine,
}

/// A label beside those of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The key, the same in every sink.
    pub key: &'static str,
    /// The values it may take.
    pub words: Words,
}

/// The values a label may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a reader that misses one would let a label grow without bound")]
pub enum Words {
    /// These and no others.
    Closed(&'static [&'static str]),
    /// The names of the application's policies: at most [`Policies::CAPACITY`](crate::event::names::Policies::CAPACITY),
    /// then `_OTHER`.
    Policies,
    /// One value per process.
    OfBuild,
}

impl Label {
    /// A label whose values are closed: a new word is a new schema.
    pub(crate) const fn closed(key: &'static str, words: &'static [&'static str]) -> Self {
        Self { key, words: Words::Closed(words) }
    }

    /// How many values there can be at the same time.
    #[must_use]
    pub const fn values(&self) -> usize {
        match self.words {
            Words::Closed(words) => words.len(),
            Words::Policies => crate::event::names::Policies::CAPACITY + 1,
            Words::OfBuild => 1,
        }
    }
}

/// One metric, in the words of both roads.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The final Prometheus name, unit and `_total` included.
    pub prometheus: &'static str,
    /// The OpenTelemetry name; by the specification's rules it becomes [`Row::prometheus`].
    pub otel: &'static str,
    /// The unit in UCUM: `s`, or the counted thing in braces, or empty for a number without one.
    pub unit: &'static str,
    /// What it measures with.
    pub kind: Kind,
    /// What it answers, in one sentence.
    pub help: &'static str,
    /// Whether each pool has its own; then `provider` and `pool` come before [`Row::labels`].
    pub per_pool: bool,
    /// The labels beside those of the pool, in order.
    pub labels: &'static [Label],
    /// The upper bounds in seconds, without the infinite one; empty unless a histogram.
    pub buckets: &'static [f64],
    /// The bounds where finer histograms were asked for; [`Row::buckets`] are among them.
    pub finer_buckets: &'static [f64],
    /// Whether its series exist from a pool's first event on, so that the first rise is seen. Only where they are few.
    pub from_zero: bool,
}

impl Row {
    /// A counter.
    pub(crate) const fn counter(
        prometheus: &'static str,
        otel: &'static str,
        unit: &'static str,
        labels: &'static [Label],
    ) -> Self {
        Self {
            prometheus,
            otel,
            unit,
            kind: Kind::Counter,
            help: "",
            per_pool: true,
            labels,
            buckets: &[],
            finer_buckets: &[],
            from_zero: false,
        }
    }

    /// A gauge.
    pub(crate) const fn gauge(
        prometheus: &'static str,
        otel: &'static str,
        unit: &'static str,
        labels: &'static [Label],
    ) -> Self {
        Self { kind: Kind::Gauge, ..Self::counter(prometheus, otel, unit, labels) }
    }

    /// A histogram of seconds.
    pub(crate) const fn histogram(
        prometheus: &'static str,
        otel: &'static str,
        labels: &'static [Label],
        [buckets, finer_buckets]: [&'static [f64]; 2],
    ) -> Self {
        Self { kind: Kind::Histogram, buckets, finer_buckets, ..Self::counter(prometheus, otel, "s", labels) }
    }

    /// The same for the process instead of for each pool.
    pub(crate) const fn of_process(self) -> Self {
        Self { per_pool: false, ..self }
    }

    /// The same with its series there from the start.
    pub(crate) const fn starting_at_zero(self) -> Self {
        Self { from_zero: true, ..self }
    }

    /// The upper bounds in seconds at this resolution, without the infinite one.
    #[must_use]
    pub const fn bounds(&self, resolution: Resolution) -> &'static [f64] {
        match resolution {
            Resolution::Lean => self.buckets,
            Resolution::Fine => self.finer_buckets,
        }
    }

    /// How many of its series have the same policy, if that is a label of it; it is the first wherever it is one.
    pub(crate) const fn series_of_one_policy(&self) -> Option<usize> {
        match self.labels {
            [Label { words: Words::Policies, .. }, ..] => Some(self.series_per_pool() / self.labels[0].values()),
            _ => None,
        }
    }

    /// How many series one pool can have of it.
    #[must_use]
    pub const fn series_per_pool(&self) -> usize {
        let mut product = 1;
        let mut place = 0;
        while place < self.labels.len() {
            product *= self.labels[place].values();
            place += 1;
        }
        product
    }
}
