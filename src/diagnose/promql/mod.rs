//! The diagnosis as rules of a Prometheus: the same numbers, the same lines, the same order, and alerts on what they say.
//!
//! A Prometheus that loads them keeps a series `pool:forbear_verdict:1h` for each pool, whose labels `cause` and `certainty`
//! say what the diagnosis of the last hour would say. Nothing in it is written twice: what a number is made of comes from the
//! table the process itself reads, and every line from the constant the process itself compares with.
//!
//! | file | what | rests on |
//! |---|---|---|
//! | evidence | what a pool's series come to: totals of an hour, shares, loads | the metrics of the [catalogue](crate::event::catalogue) |
//! | verdict | the cause, and how sure it is | evidence |
//! | alerts | pages, tickets, and what is worth knowing | verdict, evidence, a few metrics |
//!
//! ```
//! let rules = forbear::diagnose::RuleBook::new().matching(r#"env="prod""#)?;
//! assert!(rules.evidence().contains(r#"increase(forbear_calls_total{env="prod",}[1h])"#));
//! assert!(rules.verdict().contains("record: pool:forbear_verdict:1h"));
//! assert!(rules.alerts().contains("alert: ForbearQuotaTooSmall"));
//! # Ok::<_, forbear::InvalidSetting>(())
//! ```

mod alerts;
mod book;
mod burn;
mod causes;
mod checks;
mod demand;
mod notes;
mod pages;
mod ratios;
mod steps;
mod supply;
mod tickets;
mod totals;
mod words;
mod yaml;

pub use book::RuleBook;

/// `part` of `whole`, and 0 where there is no whole.
fn share(part: &str, whole: &str) -> String {
    format!("({part}) / (({whole}) > 0) or ({whole}) * 0")
}
