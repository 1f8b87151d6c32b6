//! What the tables know of a provider that numbers depend on.

use std::time::Duration;

use forbear::InvalidSetting;
use forbear::core::rule::Table;
use forbear::core::signal::QuotaWindow;
use forbear::provider;

/// The table of a provider, or what to type instead.
pub(crate) fn table(id: &str) -> Result<Table, String> {
    provider::by_id(id).ok_or_else(|| {
        format!("no provider is called {id:?}; known, closest first: {}", provider::closest(id).join(", "))
    })
}

/// The window that retries have to outlive: a minute, where the provider counts in minutes.
pub(crate) fn window(table: &Table) -> Option<Duration> {
    let windows = table.headers.iter().filter_map(|header| Some(header.axis()?.quota?.1));
    windows.into_iter().find(|window| *window == QuotaWindow::Minute).map(|_| Duration::from_secs(60))
}

/// The window that was given, or the provider's.
pub(crate) fn window_or(given: Option<Duration>, table: Option<&Table>) -> Result<Duration, String> {
    let of_table = |table: &Table| {
        window(table).ok_or_else(|| {
            format!("the headers of {} name no window per minute: give --window (see {})", table.id, table.page)
        })
    };
    given.map_or_else(|| table.map_or_else(|| Err("give --window, or --provider".to_owned()), of_table), Ok)
}

/// A refused setting by the name of its option: `--base is 0ns; allowed: 1ms to 24h`.
pub(crate) fn by_option(refused: &InvalidSetting) -> String {
    let InvalidSetting { field, value, allowed, .. } = refused;
    match ["layer.", "rules."].iter().find_map(|of| field.strip_prefix(of)).unwrap_or(field) {
        "requests" => format!("--attempts and --sdk-retries make {value} requests; allowed: {allowed}"),
        field => format!("--{} is {value}; allowed: {allowed}", field.replace('_', "-")),
    }
}
