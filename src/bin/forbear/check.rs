//! `forbear check`: what a retry layer's numbers do in a window.

mod like;
mod moving;
mod object;
mod plot;
mod report;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use forbear::core::rule::Table;
use forbear::core::tune::{Check as Checked, Jitter, RetryLayer, StatedWaits};

use crate::duration;
use crate::known::{by_option, table, window_or};
use like::Library;

/// Check a retry layer's numbers against the window a limit counts in and the deadline its callers have.
///
/// Tells what a throttled call does with these numbers where no wait is stated: the requests it wastes, the chance that it
/// gives up before the window resets, how long it can take; and what is wrong with that, with the numbers to set. With
/// --from and --to it tells what changes between two providers.
#[derive(Args)]
#[command(after_help = "\
Examples:
  forbear check --base 1s --factor 2 --retries 5 --window 60s --deadline 120s
  forbear check --like openai-python --window 60s --deadline 120s --json
  forbear check --from openai --to groq

Exit status: 0 when nothing is wrong, 1 with findings, 2 when the arguments are refused.")]
pub(crate) struct Check {
    #[command(flatten)]
    numbers: Numbers,

    /// The window the limit counts in, 10ms to 24h; with --provider or --to the provider's, unless given.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    window: Option<Duration>,

    /// How long the caller waits, 1ms to 7d.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    deadline: Option<Duration>,

    /// The provider the window is taken from.
    #[arg(long, value_name = "ID", conflicts_with = "to")]
    provider: Option<String>,

    /// The provider the numbers were made for: tells what changes on the way to another.
    #[arg(long, value_name = "ID", requires = "to")]
    from: Option<String>,

    /// The provider they are to be used with.
    #[arg(long, value_name = "ID", requires = "from")]
    to: Option<String>,

    /// Draw how many of the throttled calls have succeeded over time into this file, as SVG: with the numbers checked, with
    /// suggested ones, and at best.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Print one JSON object; times are seconds, shares 0 to 1.
    #[arg(long)]
    json: bool,
}

/// The numbers of the layer, given or a library's.
#[derive(Args)]
#[group(id = "numbers_of_a_layer", multiple = true)]
struct Numbers {
    /// A library's defaults, to which the other numbers are exceptions: openai-python, openai-node, anthropic, async-openai,
    /// backon, tokio-retry, litellm, aws-standard.
    #[arg(long, value_name = "LIBRARY", value_parser = like::library)]
    like: Option<&'static Library>,

    /// The bound of the first wait, 1ms to 24h.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    base: Option<Duration>,

    /// By how much the bound grows with each attempt, 1 to 100. [default: 2]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    factor: Option<f64>,

    /// The bound of every wait, the base to 24h. [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    cap: Option<Duration>,

    /// The most attempts of one call, 1 to 1000.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    attempts: Option<u32>,

    /// The same without the first one, 0 to 999.
    #[arg(long, value_name = "N", conflicts_with = "attempts", allow_negative_numbers = true, value_parser = value_parser!(u32).range(0..=999))]
    retries: Option<u32>,

    /// How a wait is drawn from its bound. [default: full]
    #[arg(long, value_enum)]
    jitter: Option<JitterWord>,

    /// How long one request may take, 1ms to 24h. [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    timeout: Option<Duration>,

    /// The longest stated wait that is waited for, or `none` where stated waits are not read. [default: not known]
    #[arg(long, value_name = "TIME", value_parser = stated_waits)]
    header_cap: Option<StatedWaits>,

    /// A person waits for the answer: retries that could save one throttled call in four at most are a finding.
    #[arg(long)]
    interactive: bool,

    /// How often the client below repeats each request by itself, 0 to 100.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = value_parser!(u32).range(0..=100))]
    sdk_retries: u32,
}

/// How waits are drawn.
#[derive(Clone, Copy, ValueEnum)]
enum JitterWord {
    /// Anything up to the bound.
    Full,
    /// Half the bound, and anything up to the other half.
    Equal,
    /// The bound itself.
    None,
}

impl From<JitterWord> for Jitter {
    fn from(word: JitterWord) -> Self {
        match word {
            JitterWord::Full => Self::FULL,
            JitterWord::Equal => Self::EQUAL,
            JitterWord::None => Self::NONE,
        }
    }
}

/// What a layer does with stated waits, as the option spells it.
fn stated_waits(text: &str) -> Result<StatedWaits, String> {
    match text {
        "none" => Ok(StatedWaits::Ignored),
        _ => duration::parse(text).map(StatedWaits::UpTo),
    }
}

/// A layer, what was found out about it, and whose defaults it has.
struct Layer {
    layer: RetryLayer,
    checked: Checked,
    like: Option<&'static Library>,
}

/// Prints what the numbers do and what is wrong with them. The exit code is 1 where something is, so that a CI can ask.
pub(crate) fn run(options: &Check) -> ExitCode {
    match options.check() {
        Ok((text, findings)) => {
            // Whoever reads our output may stop reading it.
            let _ = io::stdout().lock().write_all(text.as_bytes());
            ExitCode::from(u8::from(findings))
        }
        Err(refused) => {
            eprintln!("forbear check: {refused}");
            ExitCode::from(2)
        }
    }
}

impl Check {
    /// What is printed, and whether anything was found.
    fn check(&self) -> Result<(String, bool), String> {
        let tables = self.from.as_deref().zip(self.to.as_deref());
        let tables = tables.map(|(from, to)| Ok::<_, String>((table(from)?, table(to)?))).transpose()?;
        let target = self.provider.as_deref().map(table).transpose()?.or(tables.map(|(_, to)| to));
        let layer = match self.numbers.layer()? {
            Some(layer) => Some(self.checked(layer, target.as_ref())?),
            None if tables.is_some() => None,
            None => return Err(format!("{NO_NUMBERS}, or --from and --to")),
        };
        if self.plot.is_some() && layer.is_none() {
            return Err(format!("--plot draws what numbers do: {NO_NUMBERS}"));
        }
        if let (Some(path), Some(layer)) = (&self.plot, &layer) {
            fs::write(path, plot::svg(layer))
                .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        }
        let found = layer.as_ref().is_some_and(|layer| !layer.checked.findings.is_empty());
        let text = if self.json {
            object::of(tables.as_ref(), layer.as_ref()).to_string() + "\n"
        } else {
            let moved = tables.map(|(from, to)| moving::report(&from, &to));
            let checked = layer.as_ref().map(report::of);
            moved.into_iter().chain(checked).collect::<Vec<_>>().join("\n")
        };
        Ok((text, found))
    }

    /// Checks one layer, against the table of the provider it moves to if one is named.
    fn checked(&self, layer: RetryLayer, target: Option<&Table>) -> Result<Layer, String> {
        let window = window_or(self.window, target)?;
        let deadline = self.deadline.ok_or("give --deadline: how long the caller waits")?;
        let checked = layer.check(window, deadline).map_err(|refused| by_option(&refused))?;
        Ok(Layer { layer, checked, like: self.numbers.like })
    }
}

/// What to give for a layer.
const NO_NUMBERS: &str = "give --base and --retries (or --attempts), or --like";

impl Numbers {
    /// Whether nothing is asked about a layer.
    const fn none_given(&self) -> bool {
        let Self { factor, cap, jitter, timeout, header_cap, interactive, sdk_retries, .. } = self;
        factor.is_none()
            && cap.is_none()
            && jitter.is_none()
            && timeout.is_none()
            && header_cap.is_none()
            && !*interactive
            && *sdk_retries == 0
    }

    /// The layer, if any of its numbers was given.
    fn layer(&self) -> Result<Option<RetryLayer>, String> {
        let attempts = self.attempts.or(self.retries.map(|retries| retries + 1));
        let mut layer = match (self.like, self.base, attempts) {
            (Some(library), _, _) => (library.layer)(),
            (None, Some(base), Some(attempts)) => RetryLayer::new(base, attempts),
            (None, None, None) if self.none_given() => return Ok(None),
            (None, None, None) => return Err(NO_NUMBERS.to_owned()),
            (None, None, _) => return Err("give --base: the bound of the first wait".to_owned()),
            (None, _, None) => return Err("give --retries or --attempts".to_owned()),
        };
        layer.base = self.base.unwrap_or(layer.base);
        layer.factor = self.factor.unwrap_or(layer.factor);
        layer.cap = self.cap.unwrap_or(layer.cap);
        layer.attempts = attempts.unwrap_or(layer.attempts);
        layer.jitter = self.jitter.map_or(layer.jitter, Jitter::from);
        layer.timeout = self.timeout.or(layer.timeout);
        layer.stated_waits = self.header_cap.unwrap_or(layer.stated_waits);
        layer.interactive = self.interactive;
        let below = (self.sdk_retries > 0).then(|| RetryLayer::sdk(self.sdk_retries));
        Ok(Some(below.map_or(layer.clone(), |below| layer.over(below))))
    }
}
