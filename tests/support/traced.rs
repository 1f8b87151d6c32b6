//! A subscriber that remembers spans and log events as text: for tests.
#![allow(dead_code, reason = "each of its users needs a part of it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// Everything that was traced.
#[derive(Clone, Default)]
pub(crate) struct Traced(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    spans: Vec<Span>,
    places: BTreeMap<u64, usize>,
    levels: Vec<(String, Level)>,
    log: String,
    declared: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

struct Span {
    name: &'static str,
    parent: Option<usize>,
    fields: Fields,
    events: Vec<String>,
    closed: bool,
}

#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push((field.name(), format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), value.to_owned()));
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

impl Traced {
    /// Remembers what this thread traces until the guard is dropped.
    pub(crate) fn here() -> (Self, tracing::subscriber::DefaultGuard) {
        let traced = Self::default();
        let guard = tracing::subscriber::set_default(Registry::default().with(traced.clone()));
        (traced, guard)
    }

    /// The same without spans.
    pub(crate) fn events_only() -> (Self, tracing::subscriber::DefaultGuard) {
        let traced = Self::default();
        let filter = tracing_subscriber::filter::filter_fn(|metadata| metadata.is_event());
        let subscriber = Registry::default().with(filter).with(traced.clone());
        (traced, tracing::subscriber::set_default(subscriber))
    }

    /// The spans as a tree, with their fields, then their events.
    pub(crate) fn tree(&self) -> String {
        let kept = self.0.lock().unwrap();
        let mut text = String::new();
        kept.write(&mut text, None, 0);
        text
    }

    /// The spans as a tree, with their names and how they ended.
    pub(crate) fn outline(&self) -> String {
        const ENDINGS: [&str; 4] = ["number=", "outcome=", "result=", "source="];
        let tree = self.tree();
        let outline = tree.lines().filter(|line| !line.trim_start().starts_with('-')).map(|line| {
            let indent = line.len() - line.trim_start().len();
            let words = line.split_whitespace();
            let kept =
                words.enumerate().filter(|(place, word)| *place == 0 || ENDINGS.iter().any(|e| word.contains(e)));
            format!("{:indent$}{}\n", "", kept.map(|(_, word)| word).collect::<Vec<_>>().join(" "))
        });
        outline.collect()
    }

    /// All log events with their fields, a line each.
    pub(crate) fn log(&self) -> String {
        self.0.lock().unwrap().log.clone()
    }

    /// The fields each span can have, by its name.
    pub(crate) fn declared(&self) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        self.0.lock().unwrap().declared.clone()
    }

    /// Names and levels of all log events.
    pub(crate) fn levels(&self) -> Vec<(String, Level)> {
        self.0.lock().unwrap().levels.clone()
    }
}

impl Kept {
    fn write(&self, text: &mut String, parent: Option<usize>, depth: usize) {
        for (place, span) in self.spans.iter().enumerate().filter(|(_, span)| span.parent == parent) {
            let open = if span.closed { "" } else { " (open)" };
            writeln!(text, "{:indent$}{}{}{open}", "", span.name, span.fields, indent = depth * 2).unwrap();
            for event in &span.events {
                writeln!(text, "{:indent$}- {event}", "", indent = depth * 2 + 2).unwrap();
            }
            self.write(text, Some(place), depth + 1);
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Traced {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let parent = context.span(id).and_then(|span| span.parent()).map(|parent| parent.id().into_u64());
        let mut kept = self.0.lock().unwrap();
        let parent = parent.map(|parent| kept.places[&parent]);
        let metadata = attributes.metadata();
        let declared = metadata.fields().iter().map(|field| field.name());
        kept.declared.entry(metadata.name()).or_default().extend(declared);
        let place = kept.spans.len();
        kept.places.insert(id.into_u64(), place);
        kept.spans.push(Span { name: attributes.metadata().name(), parent, fields, events: Vec::new(), closed: false });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut kept = self.0.lock().unwrap();
        let place = kept.places[&id.into_u64()];
        values.record(&mut kept.spans[place].fields);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let (name, level) = (event.metadata().name(), *event.metadata().level());
        let mut kept = self.0.lock().unwrap();
        kept.levels.push((name.to_owned(), level));
        writeln!(kept.log, "{level} {name}{fields}").unwrap();
        if let Some(span) = context.event_span(event) {
            let place = kept.places[&span.id().into_u64()];
            kept.spans[place].events.push(format!("{level} {name}{fields}"));
        }
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let mut kept = self.0.lock().unwrap();
        let place = kept.places[&id.into_u64()];
        kept.spans[place].closed = true;
    }
}
