//! The variables by which an operator sets OTLP up without a new build.

use std::time::Duration;

use crate::telemetry::otlp::InstallError;

/// Where variables are read: the process's environment, or a made-up one.
#[derive(Clone, Copy)]
pub(super) struct Environment<'a>(pub(super) &'a dyn Fn(&str) -> Option<String>);

impl Environment<'_> {
    /// A variable that is set to something: the specification takes an empty one for unset
    /// (OpenTelemetry, "Environment Variable Specification").
    pub(super) fn text(&self, variable: &str) -> Option<String> {
        (self.0)(variable).filter(|value| !value.is_empty())
    }

    /// The first of these variables that is set, as `read` understands it.
    ///
    /// # Errors
    /// It is set to something that `read` does not understand; `allowed` says what it would.
    pub(super) fn first<T>(
        &self,
        variables: &[&str],
        allowed: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, InstallError> {
        let set = variables.iter().find_map(|variable| Some((*variable, self.text(variable)?)));
        let Some((variable, value)) = set else { return Ok(None) };
        let refused = || InstallError::Environment { variable: variable.to_owned(), value: value.clone(), allowed };
        read(&value).map(Some).ok_or_else(refused)
    }

    /// The first of these variables that is set, as milliseconds; none is none.
    pub(super) fn millis(&self, variables: &[&str]) -> Result<Option<Duration>, InstallError> {
        let read = |value: &str| value.trim().parse().ok().filter(|millis| *millis > 0).map(Duration::from_millis);
        self.first(variables, "milliseconds, a whole number above 0", read)
    }

    /// A variable that is `true` or `false`, whatever the case; anything else is false, as the specification has it.
    pub(super) fn says_yes(&self, variable: &str) -> bool {
        self.text(variable).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_up(name: &str) -> Option<String> {
        let set = [("EMPTY", ""), ("OFTEN", " 250 "), ("NEVER", "0"), ("WORD", "soon"), ("YES", "TRUE")];
        set.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn the_first_variable_that_says_something_counts_and_must_be_readable() {
        let environment = Environment(&made_up);
        let millis = |variables: &[&str]| environment.millis(variables).map_err(|error| error.to_string());
        assert_eq!(millis(&["UNSET", "EMPTY"]), Ok(None));
        assert_eq!(millis(&["EMPTY", "OFTEN", "WORD"]), Ok(Some(Duration::from_millis(250))));
        let allowed = "allowed: milliseconds, a whole number above 0; nothing was installed";
        assert_eq!(millis(&["WORD", "OFTEN"]), Err(format!("WORD is \"soon\"; {allowed}")));
        assert_eq!(millis(&["NEVER"]), Err(format!("NEVER is \"0\"; {allowed}")));
        assert!(environment.says_yes("YES") && !environment.says_yes("WORD") && !environment.says_yes("UNSET"));
    }
}
