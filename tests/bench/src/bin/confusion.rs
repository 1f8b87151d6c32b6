//! Truth by verdict, over random scenarios each re-run with every change that might mend it.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use forbear_bench::confusion::{Case, draw_all, matrix};

const HELP: &str = "\
Labels random scenarios by re-running them with every change that might mend them, and counts what the verdict says.

  cargo run --release -p forbear-bench --bin confusion -- --seed 1 --per-cause 200

  --seed N        other scenarios [1]
  --per-cause N   cases of each cause at least [200]
  --most N        rounds of sixteen draws at most [1000]
  --keep FILE     write every case, a line of JSON each: number, truth, verdict, scenario

Rules were tuned on seeds 1 to 99; report others. Exit status 1 when a target is missed.";

fn main() -> ExitCode {
    match measure() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(refusal) => {
            eprintln!("confusion: {refusal}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn measure() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let (mut seed, mut per_cause, mut most, mut keep) = (1u64, 200usize, 1_000u64, None);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{name} wants a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{name} {text}: not a number"));
        match name.as_str() {
            "--seed" => seed = number(value()?)?,
            "--per-cause" => per_cause = number(value()?)? as usize,
            "--most" => most = number(value()?)?,
            "--keep" => keep = Some(value()?),
            "--help" => {
                println!("{HELP}");
                return Ok(true);
            }
            _ => return Err(format!("{name} is no option")),
        }
    }
    let shown = std::io::stderr().is_terminal();
    let mut drawn = 0u64;
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let cases = draw_all(seed, per_cause, most, workers, |_| {
        drawn += 1;
        if shown && drawn.is_multiple_of(10) {
            eprint!("\r{drawn} scenarios");
        }
    });
    if shown {
        eprintln!();
    }
    if let Some(path) = keep {
        write(&path, &cases).map_err(|error| format!("{path} cannot be written: {error}"))?;
    }
    Ok(report(seed, &cases))
}

/// Prints the tables and figures; whether every target is reached.
fn report(seed: u64, cases: &[Case]) -> bool {
    let (known, unknown): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.limit_known());
    let mut reached = true;
    for (title, cases, figures) in
        [("limit known", &known, matrix::known(&known)), ("limit unknown", &unknown, matrix::unknown(&unknown))]
    {
        println!("{title}: {} scenarios, seed {seed}\n\n{}", cases.len(), matrix::table(cases));
        figures.iter().for_each(|figure| println!("{figure}"));
        reached &= figures.iter().all(matrix::Figure::is_met);
        println!();
    }
    println!("advice followed, and the objective met, where one thing is wrong and the limit known");
    matrix::helped(&known).iter().for_each(|figure| println!("{figure}"));
    if let Some(error) = matrix::quota_error(&known) {
        let met = if error <= 0.25 { "" } else { "  MISSED" };
        println!(
            "\nquota asked for, beside the smallest that is enough: {error:.2} off in the median, at most 0.25{met}"
        );
        reached &= error <= 0.25;
    }
    reached
}

fn write(path: &str, cases: &[Case]) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for case in cases {
        let line = serde_json::json!({
            "number": case.number,
            "family": format!("{:?}", case.family),
            "truth": case.truth.fault.as_str(),
            "fixes": case.truth.fixes,
            "ideal": case.truth.ideal,
            "multiple": case.truth.multiple,
            "helped": case.helped,
            "outcome": case.truth.outcome,
            "scenario": case.scenario,
        });
        writeln!(file, "{line}")?;
    }
    file.flush()
}
