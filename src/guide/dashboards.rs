//! Boards for Grafana: what each answers, how to load them, how to read the first row.
//!
//! `forbear export --out forbear` writes them, beside the rules that their verdicts are made of; as they are kept they lie in
//! the package's `dashboards/`:
//!
//! | board | the question it answers |
//! |---|---|
//! | Forbear / Overview | Is it working, what is wrong, what do I do now? |
//! | Forbear / Diagnosis | Quota, backoff or pacing: which is wrong, and which number to change? Did the change help? |
//! | Forbear / Gate | Who is held back, for how long, and how do calls come back? |
//! | Forbear / Replicas | Do replicas share what they know, and what happens without the store? |
//!
//! # Loading them
//!
//! First the rules: `rule_files: [rules/evidence.yml, rules/verdict.yml, rules/alerts.yml]` in Prometheus. Without them calls,
//! attempts and gates are shown, and the verdict is not; its panel says so. Then the boards: by hand under *Dashboards / New /
//! Import*, or with the files in `provisioning/`. They are classic JSON, read by Grafana from 10.4 on, have fixed
//! `uid`s and name no data source: the first field of each board chooses one. Set the data source's *Scrape interval* to
//! yours, for rates rest on it. `dashboards/README.md` says the rest, and shows every board in every state below.
//!
//! # Reading them
//!
//! **The first row answers.** The verdict of each pool in words, how sure it is, and what to do; a click leads to the runbook
//! of that cause, the pool's name to its diagnosis. Beneath it, over the time shown: calls that succeeded, attempts that were
//! throttled, what is left of the tightest quota, calls that two layers retry, and who is shut until when and why. The words
//! are those of [`verdict`](crate::guide::verdict).
//!
//! **One word, one colour.** Green is as it should be, orange a limit that said no, red failed; blue was stated by the
//! provider, purple is the backoff's curve, yellow the gate; brown is the day's quota, pink money, teal the provider's own
//! capacity. Colours of pools only tell them apart.
//!
//! **Marks across panels** are alerts that began (red), processes that started (blue), policies that changed (purple). Where
//! there is nothing to show the panel says why: no rules, no gate, no limit known, or nothing to do. Links between boards keep
//! time and variables; lines of failing calls lead to their traces.
//!
//! # The first row in six states
//!
//! Simulated days in a real Prometheus, one pool that is in the state and one beside it that is well; `tests/preview/run`
//! draws them.
//!
#![doc = include_str!("dashboards.md")]
