//! What is wrong with a pool, and which number to change: how to read a verdict, and where to get one.
//!
//! # The question
//!
//! Calls are throttled, retried, given up. The changes that would mend it are opposites: raise the quota, wait longer, wait
//! less, pace the calls, wait a storm out, stop sending, pay, repair a request. The ratios one looks at first do not tell
//! which. The share of throttled retries, attempts a call and `remaining` near zero are alike where the quota is short and
//! where the retries are bad.
//!
//! What tells them apart is **horizon load**: what is asked for within a stretch of time, over what the limit can serve
//! within that stretch and the callers' patience after it. Above 1 somebody goes without, however calls are paced. It is
//! counted for stretches from half a minute to a quarter of an hour, and the load that counts is the one a twentieth of the
//! calls met.
//!
//! # A verdict, line by line
//!
//! ```sh
//! forbear diagnose --prometheus http://127.0.0.1:9090
//! ```
//!
//! prints for each pool the cause, how sure it is, the change with its numbers, what to do at once, and when to look again;
//! `--json` gives the same as data, as every result of `forbear simulate` has it under `"verdict"`.
//!
//! | cause | the change | the number |
//! |---|---|---|
//! | `healthy` | none | |
//! | `quota_too_small` | raise the quota | requests, tokens a minute to ask for |
//! | `backoff_too_fast`, `backoff_too_slow` | change the backoff | base, cap, attempts, from and to |
//! | `unpaced` | pace the calls | the next rung: local gate, shared news, one pace, a queue |
//! | `daily_spent` | stop until the day ends, or ask for more a day | |
//! | `spend_limit` | pay, or raise the account's limit | |
//! | `overloaded` | wait it out, or go elsewhere | |
//! | `concurrency` | run fewer at a time | |
//! | `provider_errors` | wait, or go elsewhere | |
//! | `caller_errors` | repair the requests | |
//! | `unclear` | look at the failures: the numbers blame nobody | |
//! | `not_enough_data` | wait for 200 calls, or 20 failures whose answers name their cause | |
//!
//! **How sure.** *Firm*: everything it rests on was seen. *Likely*: no limit is known, or the load lies between 0.9 and 1.25
//! where either side may be right, or the answers did not name their limit, or one process speaks for an unknown fleet.
//! *Provisional*: the trouble is younger than a quarter of an hour. A shortage looks like bad retries until the stretches
//! have filled, so nobody who retries is blamed for good before.
//!
//! **One cause, and again after the change.** Where two things are wrong the verdict names the one that dominates. Mend it,
//! wait for as long as `look_again_s` says, and ask again.
//!
//! **What makes it better.** A limit: from headers, or set with [`PoolBuilder::limit`](crate::PoolBuilder::limit). The number
//! of processes: [`ForbearBuilder::replicas`](crate::ForbearBuilder::replicas), or a Prometheus that scrapes them all. One
//! policy name for each kind of patience. Estimates of tokens help less than one would think: what is really used corrects
//! them, and stands in where there are none.
//!
//! **What no number shows.** Others who use the same quota. Where a limit refuses while less than half of it is used here, a
//! note says that it may be they.
//!
//! # Where to get one
//!
//! In the process, with [`ForbearBuilder::diagnosable`](crate::ForbearBuilder::diagnosable) and
//! [`Forbear::diagnose`](crate::Forbear::diagnose): what this process has seen in the last hour. From a Prometheus, on the
//! whole fleet: `forbear diagnose --prometheus`, for any hour it still has, and `--slo 99.9` where more than 99 % is
//! promised. And standing, as series and alerts, with the rules that `forbear export` writes:
//!
//! ```yaml
//! # prometheus.yml
//! rule_files: [rules/evidence.yml, rules/verdict.yml, rules/alerts.yml]
//! ```
//!
//! `pool:forbear_verdict:1h` has the labels `cause` and `certainty` for each pool. Pages carry it in their text; tickets are
//! named after it, so a pool has one at a time; [`runbooks`](crate::guide::runbooks) says what to do about each alert, and
//! `alertmanager.yml` beside them is an example of routes in which nothing silences a page but another page. The same for other
//! labels, matchers or objectives comes from `forbear export`, or from [`RuleBook`](crate::diagnose::RuleBook).
//!
//! The rules take every scrape interval up to a minute: stretches shorter than four scrapes are left out while they run. A
//! total that first appears with a value, instead of rising from 0, loses that value to `increase`, in every Prometheus.
//!
//! # How good it is
//!
//! `cargo run --release -p forbear-bench --bin confusion` draws pools at random, with gates, several policies, missing
//! estimates, wrong limits, other tenants and failures of every kind, and re-runs each with one change after another until one
//! mends it: that is the truth. Of rare causes it can draw more than come by themselves (`--per-cause`); these count for how
//! many of a cause are recognised, and not for how often a verdict is right. Rules were set on seeds 1 to 99 and 301, and tried
//! on 401.
//!
#![doc = include_str!("verdict.md")]
