//! What is refused, by the name of its option, with its value and what is allowed.

use crate::typed::{forbear, text};

#[test]
fn what_cannot_be_written_is_refused_by_its_option_and_nothing_is_written() {
    let out = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("export-refused");
    let _ = std::fs::remove_dir_all(&out);
    for (options, refusal) in [
        (&["--group-by", "pool"][..], "--group-by is \"pool\"; allowed: names of labels"),
        (&["--group-by", "provider,pool,outcome"], "--group-by is \"provider,pool,outcome\"; allowed: "),
        (&["--group-by", "provider,pool,a b"], "--group-by is \"provider,pool,a b\"; allowed: "),
        (&["--selector", "job=api"], "--selector is \"job=api\"; allowed: matchers, as in job="),
        (&["--selector", "a=\"b\"} or up{a=\"b\""], "--selector is "),
        (&["--selector", "a=~\"b(\""], "--selector has \"b(\"; allowed: regular expressions (unclosed group)"),
        (&["--scrape-interval", "2m"], "--scrape-interval is 120s; allowed: 5s to 60s, whole seconds"),
        (&["--scrape-interval", "7.5s"], "--scrape-interval is 7.5s; allowed: 5s to 60s, whole seconds"),
        (
            &["--slo", "93"],
            "--slo is 93; allowed: 94 to 99.99 percent, as in 99.9 or 99.9%, or 0.94 to 0.9999 as a share",
        ),
        (&["--slo", "1"], "--slo is 1; allowed: 94 to 99.99 percent"),
        (&["--slo", "100"], "--slo is 100; allowed: 94 to 99.99 percent"),
        (&["--slo", "NaN"], "--slo is NaN; allowed: 94 to 99.99 percent"),
        (&["--slo", "-1"], "--slo is -1; allowed: 94 to 99.99 percent"),
        (&["--slo", "three nines"], "--slo is three nines; allowed: 94 to 99.99 percent"),
        (&["--labels", "severity=x"], "--labels is \"severity\"; allowed: the name of a label that neither"),
        (&["--labels", "team={{ $value }}"], "--labels is \"{{ $value }}\"; allowed: some text on one line"),
        (&["--labels", "cluster=x"], "--labels is \"cluster\"; allowed: labels that --group-by does not have"),
        (&["--severity", "urgent=page"], "--severity is \"urgent\"; allowed: critical, warning, info"),
        (&["--severity", "info=a b"], "--severity is \"a b\"; allowed: letters, digits, - and _"),
        (&["--runbook-base", "wiki"], "--runbook-base is \"wiki\"; allowed: http:// or https://"),
        (&["--grafana-url", "https://a/?b=c"], "--grafana-url is \"https://a/?b=c\"; allowed: "),
        (&["--datasource", "a b"], "--datasource is \"a b\"; allowed: letters, digits"),
        (&["--metadata-labels", "a=b"], "--metadata-labels is for --format prometheusrule and configmap"),
        (&["--format", "configmap", "--metadata-labels", "a=b'c"], "--metadata-labels is \"a\"=\"b'c\"; allowed: "),
    ] {
        let output = forbear(&[&["export", "--out", out.to_str().expect("a plain path")], options].concat(), "");
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {told}");
        assert!(told.starts_with(&format!("forbear export: {refusal}")), "{options:?}: {told}");
        assert!(!out.exists(), "{options:?} wrote something");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let output = forbear(&["export", "--out", "/dev/null/here"], "");
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.starts_with("forbear export: /dev/null/here/rules cannot be written: "), "{told}");
    assert!(told.ends_with("; 0 of 12 files were\n"), "{told}");
}
