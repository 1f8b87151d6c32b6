//! The samples of many scenarios as one text, family by family, as OpenMetrics wants them.

use std::fmt::Write;
use std::path::Path;

use super::take_in;

/// The pool that every simulated scenario has.
const SIMULATED: &str = "pool=\"pool\"";

/// Families of series, each with its head and its samples.
#[derive(Debug, Default)]
pub(super) struct Families(Vec<(String, String)>);

impl Families {
    /// Adds the scrapes of one scenario under a pool's name of its own.
    pub(super) fn add(&mut self, text: &str, pool: &str) {
        let named = format!("pool=\"{pool}\"");
        let mut family = None;
        for line in text.lines().filter(|line| *line != "# EOF") {
            if line.starts_with('#') {
                let name = line.split(' ').nth(2).unwrap_or_default();
                family = Some(self.of(name, line));
            } else if let Some(family) = family {
                // What belongs to the process instead of a pool stands for all of them, once is enough.
                if line.contains(SIMULATED) {
                    writeln!(self.0[family].1, "{}", line.replacen(SIMULATED, &named, 1))
                        .expect("a string takes everything");
                }
            }
        }
    }

    /// The place of a family; a head line is kept once.
    fn of(&mut self, name: &str, head: &str) -> usize {
        let place = self.0.iter().position(|(heads, _)| heads.split(' ').nth(2) == Some(name));
        let place = place.unwrap_or_else(|| {
            self.0.push((String::new(), String::new()));
            self.0.len() - 1
        });
        let heads = &mut self.0[place].0;
        if !heads.lines().any(|known| known == head) {
            writeln!(heads, "{head}").expect("a string takes everything");
        }
        place
    }

    /// Takes all of them in.
    pub(super) fn load(&self, folder: &Path) {
        let mut text = String::new();
        for (heads, samples) in self.0.iter().filter(|(_, samples)| !samples.is_empty()) {
            text.push_str(heads);
            text.push_str(samples);
        }
        text.push_str("# EOF\n");
        take_in(&text, folder);
    }
}
