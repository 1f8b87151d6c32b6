//! Is it working, what is wrong, what do I do now.

use forbear::event::catalogue::Metric;

use crate::board::{Board, Row, traces};
use crate::panel::Panel;
use crate::shared::{NO_CALLS, NO_LIMIT, headroom, pools, risen, shut_until, store_relied_on};
use crate::verdict::verdict;

pub(crate) fn board() -> Board {
    Board {
        name: "overview",
        title: "Overview",
        description: "Is it working, what is wrong, what do I do now.",
        rows: vec![
            Row {
                title: None,
                panels: vec![verdict(), success(), throttled(), worst_headroom(), stacked(), store(), shut_until(9)],
            },
            Row { title: Some("Traffic"), panels: calls() },
            Row { title: Some("What stands in the way"), panels: causes() },
            Row { title: Some("Policies, pools, versions"), panels: policies() },
        ],
    }
}

fn success() -> Panel {
    Panel::stat("Success", 3)
        .says(
            "Calls that succeeded in the time shown, of all that ended; left out are those whose caller went away or whose
             request was wrong. Below 99 % the objective is missed: the verdict says why.",
        )
        .unit("percentunit")
        .decimals(1)
        .empty(NO_CALLS)
        .steps("red", &[(0.95, "orange"), (0.99, "green")])
        .now(
            r#"(sum(increase(forbear_call_duration_seconds_count{<raw>, outcome=~"ok|ok_by_fallback"}[$__range])) or vector(0))
               / (sum(increase(forbear_call_duration_seconds_count{<raw>, outcome!~"cancelled|not_retryable"}[$__range])) > 0)"#,
            "Success",
        )
}

fn throttled() -> Panel {
    Panel::stat("Throttled share", 3)
        .says(
            "Attempts that a limit refused in the time shown. A tenth is a pool that works at its limit; a third is a fight
             over it. High here and good at Success: the retries do their work, and cost the provider's patience.",
        )
        .unit("percentunit")
        .decimals(1)
        .empty(NO_CALLS)
        .steps("green", &[(0.1, "orange"), (0.33, "red")])
        .now(
            r#"(sum(increase(forbear_attempts_total{<raw>, outcome="throttled"}[$__range])) or vector(0))
               / (sum(increase(forbear_attempts_total{<raw>}[$__range])) > 0)"#,
            "Throttled",
        )
}

fn worst_headroom() -> Panel {
    Panel::stat("Worst headroom", 3)
        .says(
            "What is left of the tightest quota now: by the answers' headers, or, where they say nothing, by what was
             served within the last minute. Near 0 is where throttles begin; Headroom below shows which quota it is.",
        )
        .unit("percentunit")
        .decimals(0)
        .empty(NO_LIMIT)
        .steps("red", &[(0.05, "orange"), (0.2, "green")])
        .now(&format!("min({})", headroom()), "Headroom")
}

fn stacked() -> Panel {
    Panel::stat("Stacked retries", 3)
        .says(
            "Calls in the time shown at which a second retry layer was noticed. Anything above 0 multiplies attempts: turn
             the other layer off; the guide names the setting of the usual clients.",
        )
        .unit("short")
        .decimals(0)
        .empty(NO_CALLS)
        .steps("green", &[(0.5, "red")])
        .now("sum(increase(forbear_stacked_retries_total{<raw>}[$__range]))", "Stacked")
}

/// What no verdict says, because calls go on without it.
fn store() -> Panel {
    store_relied_on("Shared store", 3)
        .says(
            "Replicas that rely on the store their gates share. Below 100 % some pace alone: calls go on, a little less evenly,
             and one replica's throttle is no news to the others. A click leads to since when and why.",
        )
        .empty("No shared store")
        .leads_to(
            "Replicas",
            "/d/forbear-replicas?${__url_time_range}&${datasource:queryparam}&${job:queryparam}&${instance:queryparam}\
             &${cluster:queryparam}&${namespace:queryparam}&${provider:queryparam}&${pool:queryparam}\
             &${tempo_datasource:queryparam}",
        )
}

fn calls() -> Vec<Panel> {
    vec![
        Panel::lines("Calls", 8)
            .says("Calls offered a minute, those refused at the gate among them. A step up is new demand: compare with the limit on the diagnosis board.")
            .unit("cpm")
            .empty(NO_CALLS)
            .query("60 * sum by (<by>) (rate(forbear_calls_total{<raw>}[$__rate_interval]))", "{{provider}} {{pool}}"),
        Panel::lines("How calls end", 8)
            .says("Calls that ended a minute, by how. Green is success; every other colour is somebody who got an error. The largest other colour is what to look at first.")
            .unit("cpm")
            .empty(NO_CALLS)
            .stacked()
            .words_of(Metric::CallDuration, "outcome")
            .leads_to("Traces of calls that did not succeed", &traces())
            .query("60 * sum by (outcome) (rate(forbear_call_duration_seconds_count{<raw>}[$__rate_interval]))", "{{outcome}}"),
        Panel::lines("How long calls take", 8)
            .says("What 50 % and 95 % of the calls took, waits included, against what an attempt takes at the provider. A wide gap is waiting: see Backoff and Waits. Both high: the provider is slow.")
            .unit("s")
            .empty(NO_CALLS)
            .leads_to("Traces of calls that did not succeed", &traces())
            .query("histogram_quantile(0.95, sum by (le) (rate(forbear_call_duration_seconds_bucket{<raw>}[$__rate_interval]))) >= 0", "call, 95 %")
            .query("histogram_quantile(0.5, sum by (le) (rate(forbear_call_duration_seconds_bucket{<raw>}[$__rate_interval]))) >= 0", "call, 50 %")
            .query("histogram_quantile(0.95, sum by (le) (rate(forbear_attempt_duration_seconds_bucket{<raw>}[$__rate_interval]))) >= 0", "attempt, 95 %"),
        Panel::lines("In flight", 8)
            .says("Calls that have not ended, by what they do: green works, purple sleeps between attempts, yellow waits at the gate. Growing without end: more comes than is served, or a runtime does not run.")
            .unit("short")
            .empty(NO_CALLS)
            .stacked()
            .words_of(Metric::CallsInFlight, "state")
            .query("sum by (state) (forbear_calls_in_flight{<raw>})", "{{state}}"),
        Panel::lines("Attempts by outcome", 8)
            .says("Attempts a minute, by how they ended. Orange: a limit refused them. Red: they failed, and no limit is the reason; then it is the provider's or the network's. Pink: requests that are wrong.")
            .unit("cpm")
            .empty(NO_CALLS)
            .stacked()
            .words_of(Metric::Attempts, "outcome")
            .leads_to("Traces of calls that did not succeed", &traces())
            .query("60 * sum by (outcome) (rate(forbear_attempts_total{<raw>}[$__rate_interval]))", "{{outcome}}"),
        Panel::lines("Attempts a call", 8)
            .says("How many attempts a call needs. 1 is none wasted; above 1.5 the objective is missed. The dashed line is the requests on the wire for an attempt, where a tap is put: above 1 something below retries as well.")
            .unit("short")
            .decimals(2)
            .empty(NO_CALLS)
            .up_to(2.0)
            .query("sum by (<by>) (rate(forbear_attempts_total{<raw>}[$__rate_interval])) / (sum by (<by>) (rate(forbear_calls_total{<raw>}[$__rate_interval])) > 0)", "{{provider}} {{pool}}")
            .query("sum by (<by>) (rate(forbear_wire_requests_total{<raw>}[$__rate_interval])) / (sum by (<by>) (rate(forbear_attempts_total{<raw>}[$__rate_interval])) > 0)", "{{provider}} {{pool}} on the wire")
            .dashed("/on the wire/"),
    ]
}

fn causes() -> Vec<Panel> {
    vec![
        Panel::lines("Throttles by limit", 8)
            .says("Attempts refused a minute, by the limit that refused them. Orange: a limit of a minute, the retries' business. Brown: the day's quota; retrying is no use. Pink: money. Teal: the provider itself is short.")
            .unit("cpm")
            .empty("No attempt was throttled in the time shown: nothing to do.")
            .stacked()
            .words_of(Metric::Attempts, "limit_class")
            .query(r#"60 * sum by (limit_class) (rate(forbear_attempts_total{<raw>, outcome="throttled"}[$__rate_interval])) > 0"#, "{{limit_class}}"),
        Panel::lines("Why calls are given up", 8)
            .says("Calls given up a minute, by the reason. deadline_exceeded: no time was left to wait. attempts_exhausted: the curve ended too soon. gate_refused: the opening lies past the deadline. stated_delay_too_long: the provider asked for more patience than the policy has.")
            .unit("cpm")
            .empty("No call was given up in the time shown: nothing to do.")
            .stacked()
            .words_of(Metric::Giveups, "outcome")
            .leads_to("Traces of calls that did not succeed", &traces())
            .query("60 * sum by (outcome) (rate(forbear_giveups_total{<raw>}[$__rate_interval])) > 0", "{{outcome}}"),
        Panel::lines("Headroom", 8)
            .says("What is left of each quota. A saw between 0 and 100 % is a window that is used up; a day's quota that falls faster than the day passes will run out: hold back what can wait.")
            .unit("percentunit")
            .up_to(1.0)
            .empty(NO_LIMIT)
            .query(&headroom(), "{{pool}} {{dimension}} a {{window}}"),
    ]
}

fn policies() -> Vec<Panel> {
    vec![
        Panel::table("Policies", 10)
            .says("What each policy sets, as the processes say. Two values for one number: replicas run with different settings. The diagnosis board says what to change them to.")
            .empty("No policy is known: no process of forbear was scraped in the time shown.")
            .now("max by (<by>, policy, parameter) (forbear_policy_parameter{<raw>})", "")
            .now("max by (<by>, policy, parameter) (forbear_policy_parameter{<raw>}) != min by (<by>, policy, parameter) (forbear_policy_parameter{<raw>})", "")
            .columns(&[
                ("provider", "Provider"), ("pool", "Pool"), ("policy", "Policy"), ("parameter", "Number"),
                ("Value #A", "Value"), ("Value #B", "Differs between replicas"),
            ]),
        Panel::lines("Calls by policy", 7)
            .says("Which kinds of calls come. Those with a short deadline lose first when a pool is short: give what can wait a policy of its own.")
            .unit("cpm")
            .empty(NO_CALLS)
            .stacked()
            .query("60 * sum by (policy) (rate(forbear_calls_total{<raw>}[$__rate_interval]))", "{{policy}}"),
        Panel::lines("Tokens", 7)
            .says("Tokens a minute: what calls were expected to use when they came, and what was used. Far apart: the estimates are wrong, and a gate that reckons with them lets too much or too little through.")
            .unit("short")
            .empty("No tokens are counted: calls say no estimate, and answers no usage.")
            .query("60 * sum by (token_kind) (rate(forbear_offered_tokens_total{<raw>}[$__rate_interval]))", "expected, {{token_kind}}")
            .query("60 * sum by (token_kind) (rate(forbear_used_tokens_total{<raw>}[$__rate_interval]))", "used, {{token_kind}}"),
        pools(),
        Panel::lines("Names that overflowed", 8)
            .says("Calls and pools counted under _OTHER within an hour, because more are named than are told apart. Anything here hides a pool: a name that is made of something per request is the usual reason.")
            .unit("short")
            .empty("Every pool and policy has its own name: nothing to do.")
            .query(&risen("job, label", "forbear_label_overflows_total{<raw>}", "1h"), "{{job}} {{label}}"),
        Panel::table("Versions", 8)
            .says("How many processes run which version of forbear. Two schemas at once: labels differ between processes, and sums over both are wrong until the roll-out ends.")
            .unit("short")
            .empty("No process of forbear was scraped in the time shown: see the alert ForbearMetricsGone.")
            .now("count by (job, version, schema) (forbear_build_info{<process>})", "")
            .columns(&[("job", "Job"), ("version", "Version"), ("schema", "Schema"), ("Value", "Processes")]),
    ]
}
