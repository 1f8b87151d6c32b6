//! From what an answer shows to the limit that was hit, whether waiting can help, and the level it belongs to.

use crate::core::rule::Table;
use crate::core::rule::claim::{Claims, Named};
use crate::core::rule::fact::{Facts, Summary};
use crate::core::rule::header::Axis;
use crate::core::rule::seen::Seen;
use crate::core::rule::verdict::{INSIDE_A_SUCCESS, Opinion, Rule, Shown};
use crate::core::signal::{LimitClass, Scope, TokenKind};

/// The judgement on a failed answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judgement {
    pub(crate) class: LimitClass,
    pub(crate) token_kind: Option<TokenKind>,
    pub(crate) retryable: bool,
    pub(crate) ambiguous: bool,
    pub(crate) larger_than_limit: bool,
    pub(crate) scope: Option<Scope>,
    /// Whether the axis was named, by body or by a header that names it: then an axis of that name counts as exhausted
    /// even where no header says how much is left on it. A class that a rule gave names no axis: a ramp limiter and a
    /// secondary limit count requests, too, but not those of the header.
    pub(crate) named: bool,
    /// Whether texts or names of the body name a limit per day.
    pub(crate) names_a_day: bool,
    /// Whether nothing told the limit.
    pub(crate) unresolved: bool,
}

/// Not implemented, version not supported: the same request meets the same answer for ever.
const NEVER_PASSES: [u16; 2] = [501, 505];

/// The opinions heard so far.
struct State {
    limit: Opinion,
    retry: Option<bool>,
    scope: Option<Scope>,
}

/// What the status alone says.
#[inline]
fn by_status(status: u16) -> State {
    let limit = match status {
        429 => Opinion::SomeLimit,
        // 529 and 498 are overload by the custom of several providers.
        503 | 529 | 498 => Opinion::Limit(LimitClass::Overload, None),
        402 => Opinion::Limit(LimitClass::Spend, None),
        _ => Opinion::Limit(LimitClass::None, None),
    };
    State { limit, retry: None, scope: None }
}

/// Judges an answer that failed.
pub(crate) fn judge(table: &Table, http_status: u16, seen: &Seen, facts: &Facts) -> Judgement {
    let told = facts.summary();
    let status = match http_status {
        ..400 => told.status.or(told.original_status).unwrap_or(INSIDE_A_SUCCESS),
        // A failed dependency: the status of what failed says more.
        424 => told.original_status.unwrap_or(http_status),
        _ => http_status,
    };
    let is_status = |asked: &u16| *asked == status || http_status >= 400 && *asked == http_status;
    let mut state = by_status(status);

    let run = |state: &mut State, otherwise: bool| {
        let table_rules = table.rules.possible(told.words.0 | seen.words.0, told.phrases.0, otherwise);
        let user_rules = table.user_rules.possible(told.words.1 | seen.words.1, told.phrases.1, otherwise);
        for rule in table_rules.chain(user_rules) {
            let holds = (rule.statuses.is_empty() || rule.statuses.iter().any(is_status))
                && rule.shown.iter().all(|shown| shows(*shown, seen));
            if holds {
                state.hear(rule);
            }
        }
    };

    run(&mut state, false);
    let mut named = false;
    if state.limit == Opinion::SomeLimit {
        (state.limit, named) = name_the_limit(table, seen, facts, &told);
    }
    if state.limit == Opinion::SomeLimit {
        run(&mut state, true);
    }
    let (class, token_kind) = match state.limit {
        Opinion::Limit(class, kind) => (class, kind),
        Opinion::SomeLimit | Opinion::NoOpinion => (LimitClass::Unknown, None),
    };
    let throttled = class != LimitClass::None;
    let larger_than_limit = throttled && told.larger_than_limit;
    let nothing_granted = throttled && (told.limit_is_zero || seen.grants_nothing());
    if throttled {
        state.scope = state.scope.or_else(|| level_of_exhausted(table, seen, (class, token_kind)));
    }
    let beside = Beside { verdict: seen.verdict(), larger_than_limit, nothing_granted };
    let judgement = conclude(status, (class, token_kind, named), &state, beside);
    Judgement { names_a_day: class == LimitClass::Daily && told.claims.names_a_day(), ..judgement }
}

/// [`judge`] for an answer of which nothing is known but its status, an error: only rules that ask for nothing else hold.
#[inline]
pub(crate) fn judge_status(table: &Table, status: u16) -> Judgement {
    let mut state = by_status(status);
    if table.rules.ask_for_status_alone() || table.user_rules.ask_for_status_alone() {
        hear_of_status(table, status, &mut state);
    }
    let limit = match state.limit {
        Opinion::Limit(class, kind) => (class, kind, false),
        Opinion::SomeLimit | Opinion::NoOpinion => (LimitClass::Unknown, None, false),
    };
    conclude(status, limit, &state, Beside::default())
}

/// Hears the rules that ask for nothing but a status.
fn hear_of_status(table: &Table, status: u16, state: &mut State) {
    for otherwise in [false, true] {
        if otherwise && state.limit != Opinion::SomeLimit {
            break;
        }
        for rules in [table.rules, table.user_rules] {
            for rule in rules.by_status_alone() {
                if rule.otherwise == otherwise && (rule.statuses.is_empty() || rule.statuses.contains(&status)) {
                    state.hear(rule);
                }
            }
        }
    }
}

impl State {
    /// Hears a rule that holds: on what it has an opinion, it replaces the one before.
    fn hear(&mut self, rule: &Rule) {
        if rule.limit != Opinion::NoOpinion {
            self.limit = rule.limit;
            // An opinion on the limit makes earlier verdicts on retrying stale.
            self.retry = None;
        }
        self.retry = rule.retry.or(self.retry);
        self.scope = rule.scope.or(self.scope);
    }
}

/// Whether an answer shows what a rule asks for beside status, words and phrases.
fn shows(shown: Shown, seen: &Seen) -> bool {
    match shown {
        Shown::Exhausted => seen.is_any_exhausted(),
        Shown::WaitInHeader => seen.wait.is_some() || seen.finer_wait.is_some(),
        Shown::RateLimitField => seen.listed().next().is_some(),
    }
}

/// Asks, in this order: the texts and names of the body, its word for the unit, the headers that name an axis, the axes
/// and policies that are exhausted. The flag tells whether it was named.
fn name_the_limit(table: &Table, seen: &Seen, facts: &Facts, told: &Summary) -> (Opinion, bool) {
    // The unit may stand beside a window that is named alone: "daily" beside the word `tokens`.
    let unit_beside = if told.claims.names_a_day() { told.unit } else { Claims::NONE };
    if let Some(opinion) = opinion(told.claims.and(unit_beside).verdict()) {
        return (opinion, true);
    }
    let exhausted = exhausted_limit(table, seen, facts);
    if let Some(Opinion::Limit(class, kind)) = opinion(told.unit.verdict()) {
        // The unit without a window: an exhausted axis of a day that counts the same tells the window.
        return match exhausted {
            Some((LimitClass::Daily, day_kind)) if kind.is_some() == day_kind.is_some() => {
                (Opinion::Limit(LimitClass::Daily, day_kind), true)
            }
            _ => (Opinion::Limit(class, kind), true),
        };
    }
    if let Some(opinion) = opinion(seen.names.verdict()) {
        return (opinion, true);
    }
    match exhausted {
        Some((class, kind)) if class != LimitClass::Unknown => (Opinion::Limit(class, kind), false),
        _ => (Opinion::SomeLimit, false),
    }
}

/// What names in a text amount to. Several that differ are a limit nobody can tell.
fn opinion(named: Named) -> Option<Opinion> {
    match named {
        Named::Nothing => None,
        Named::Limit(class, kind) => Some(Opinion::Limit(class, kind)),
        Named::Several => Some(Opinion::Limit(LimitClass::Unknown, None)),
    }
}

/// The limit that exhausted axes and violated policies show together: a day before what passes sooner; of others that differ
/// nobody can tell which was hit.
fn exhausted_limit(table: &Table, seen: &Seen, facts: &Facts) -> Option<Limit> {
    let axes = seen.exhausted(table.headers).map(|axis| (axis.class, axis.token_kind));
    let listed = seen.listed_exhausted().chain(facts.violated.iter());
    let listed = listed.map(|quota| (quota.class.unwrap_or(LimitClass::Unknown), quota.token_kind));
    let (mut day, mut sooner) = (Exhausted::default(), Exhausted::default());
    for (class, kind) in axes.chain(listed) {
        let exhausted = if class == LimitClass::Daily { &mut day } else { &mut sooner };
        exhausted.add(class, kind);
    }
    day.limit().or_else(|| sooner.limit())
}

/// What is exhausted in windows that live equally long.
#[derive(Default)]
struct Exhausted {
    class: Option<LimitClass>,
    /// Whether there are several classes.
    differs: bool,
    input: bool,
    output: bool,
    total: bool,
    other: bool,
}

impl Exhausted {
    fn add(&mut self, class: LimitClass, kind: Option<TokenKind>) {
        self.differs |= self.class.is_some_and(|known| known != class);
        self.class = Some(class);
        match kind {
            Some(TokenKind::Input) => self.input = true,
            Some(TokenKind::Output) => self.output = true,
            Some(TokenKind::Total) => self.total = true,
            None => self.other = true,
        }
    }

    /// Two sides of the tokens are the total. The axis of both sides mirrors the one that is nearest to its end: beside one
    /// side it is that side.
    fn limit(&self) -> Option<Limit> {
        let kind = match (self.other, self.input, self.output, self.total) {
            (false, true, false, _) => Some(TokenKind::Input),
            (false, false, true, _) => Some(TokenKind::Output),
            (false, true, true, _) | (false, false, false, true) => Some(TokenKind::Total),
            _ => None,
        };
        let class = self.class?;
        Some(if self.differs { (LimitClass::Unknown, None) } else { (class, kind) })
    }
}

/// The level of the exhausted axes that count this limit, where all of them name the same one: the tokens of a project
/// may be used up while those of its organisation are not.
fn level_of_exhausted(table: &Table, seen: &Seen, (class, kind): Limit) -> Option<Scope> {
    let counts = |axis: &&Axis| axis.class == class && axis.token_kind.is_some() == kind.is_some();
    let mut levels = seen.exhausted(table.headers).filter(counts).map(|axis| axis.scope);
    let first = levels.next()??;
    levels.all(|level| level == Some(first)).then_some(first)
}

type Limit = (LimitClass, Option<TokenKind>);

/// What headers and body say of retrying, beside the limit.
#[derive(Default)]
struct Beside {
    /// The provider's own word.
    verdict: Option<bool>,
    larger_than_limit: bool,
    nothing_granted: bool,
}

/// Whether waiting can help, and what else follows from the limit.
#[inline]
fn conclude(
    status: u16,
    (class, token_kind, named): (LimitClass, Option<TokenKind>, bool),
    state: &State,
    Beside { verdict, larger_than_limit, nothing_granted }: Beside,
) -> Judgement {
    let throttled = class != LimitClass::None;
    let plain_server_error = !throttled && status >= 500;
    let by_limit = match class {
        LimitClass::Spend => false,
        LimitClass::None => status == 408 || plain_server_error && !NEVER_PASSES.contains(&status),
        _ => true,
    };
    let by_rules = state.retry.unwrap_or(by_limit) && !larger_than_limit && !nothing_granted;
    // Neither a rule nor a header that some proxy added makes an empty balance retryable.
    let retryable = class != LimitClass::Spend && verdict.unwrap_or(by_rules);
    let ambiguous = retryable && !throttled && status != 408 && (status >= 500 || status == INSIDE_A_SUCCESS);
    let unresolved = state.limit == Opinion::SomeLimit;
    let scope = state.scope;
    let names_a_day = false;
    Judgement { class, token_kind, retryable, ambiguous, larger_than_limit, scope, named, names_a_day, unresolved }
}
