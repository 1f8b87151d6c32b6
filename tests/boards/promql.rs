//! Queries taken apart.

use promql_parser::label::{MatchOp, Matcher};
use promql_parser::parser::{Expr, VectorSelector, parse};

/// A selector in a query: the metric, its matchers, whether it has a range, and the functions around it, innermost first.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    pub(crate) name: String,
    pub(crate) matchers: Vec<Matcher>,
    pub(crate) within: Vec<String>,
}

impl Selected {
    /// Whether it selects by this label and variable, as in `job=~"$job"`.
    pub(crate) fn selects_by(&self, label: &str) -> bool {
        let is_it = |matcher: &Matcher| {
            matcher.name == label && matches!(&matcher.op, MatchOp::Re(_)) && matcher.value == format!("${label}")
        };
        self.matchers.iter().any(is_it)
    }
}

/// Grafana's own words in a query, as something PromQL knows.
fn known(query: &str) -> String {
    query.replace("$__rate_interval", "5m").replace("$__range", "3h").replace("$__interval", "1m")
}

/// All selectors of a query.
///
/// # Errors
/// What the parser has against it.
pub(crate) fn selectors(query: &str) -> Result<Vec<Selected>, String> {
    let mut found = Vec::new();
    visit(&parse(&known(query))?, &mut Vec::new(), &mut found);
    Ok(found)
}

fn visit(expr: &Expr, within: &mut Vec<String>, found: &mut Vec<Selected>) {
    match expr {
        Expr::Aggregate(aggregate) => {
            within.push(aggregate.op.to_string());
            visit(&aggregate.expr, within, found);
            within.pop();
        }
        Expr::Unary(unary) => visit(&unary.expr, within, found),
        Expr::Binary(binary) => {
            visit(&binary.lhs, within, found);
            visit(&binary.rhs, within, found);
        }
        Expr::Paren(paren) => visit(&paren.expr, within, found),
        Expr::Subquery(subquery) => visit(&subquery.expr, within, found),
        Expr::VectorSelector(selector) => found.push(selected(selector, within)),
        Expr::MatrixSelector(matrix) => found.push(selected(&matrix.vs, within)),
        Expr::Call(call) => {
            within.push(call.func.name.to_owned());
            call.args.args.iter().for_each(|argument| visit(argument, within, found));
            within.pop();
        }
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) | Expr::Extension(_) => {}
    }
}

fn selected(selector: &VectorSelector, within: &[String]) -> Selected {
    Selected {
        name: selector.name.clone().unwrap_or_default(),
        matchers: selector.matchers.matchers.clone(),
        within: within.iter().rev().cloned().collect(),
    }
}

/// The metric of the catalogue that a series belongs to: without the suffix of a histogram's parts.
pub(crate) fn metric_of(series: &str) -> &str {
    ["_bucket", "_sum", "_count"].iter().find_map(|suffix| series.strip_suffix(suffix)).unwrap_or(series)
}
