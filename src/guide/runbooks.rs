#![doc = include_str!("../../dashboards/runbooks.md")]
