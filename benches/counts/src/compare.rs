//! Compares the counts of this build with those of the table.

use crate::table::{Entry, NOISE, SHOWN, TOLERANCE, Table, grouped, percent_more};
use std::collections::BTreeMap;

/// The result of measuring a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// This number of instructions.
    Count(u64),
    /// It was not measured here, for this reason.
    LeftOut(String),
    /// It should have been measured, but the run failed.
    Failed(String),
}

/// Counts of all benchmarks that the code has.
pub type Counts = BTreeMap<String, Measured>;

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Lines to print: benchmarks whose counts changed, and errors.
    pub lines: Vec<String>,
    /// Number of benchmarks whose count is not above the accepted increase.
    pub passed: usize,
    /// Number of benchmarks above it, of failed runs, and of benchmarks that only the table or only the code has.
    pub failed: usize,
}

/// Compares the counts with the table. A benchmark without a line in the table fails, and so does a line without a
/// benchmark.
pub fn compare(table: &Table, counts: &Counts) -> Comparison {
    let mut found = Comparison::default();
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, measured) in counts {
        match (measured, table.entries.get(name)) {
            (Measured::Failed(reason), _) => found.fail(format!("{name}: {reason}")),
            (Measured::LeftOut(reason), _) => reasons.entry(reason).or_default().push(name),
            (Measured::Count(_), None) => found.fail(format!("{name}: not in the table; run `make counts`")),
            (Measured::Count(count), Some(entry)) => found.add(name, entry, *count),
        }
    }
    for name in table.entries.keys().filter(|name| !counts.contains_key(*name)) {
        found.fail(format!("{name}: in the table, but not in the code; run `make counts`"));
    }
    for (reason, names) in reasons {
        found.lines.push(format!("left out: {} ({reason})", names.join(", ")));
    }
    found
}

impl Comparison {
    fn fail(&mut self, line: String) {
        self.failed += 1;
        self.lines.push(format!("FAILED {line}"));
    }

    fn add(&mut self, name: &str, entry: &Entry, count: u64) {
        let change = percent_more(entry.instructions, count);
        let line = change_line(name, entry.instructions, count);
        let tolerance = entry.tolerance.unwrap_or(TOLERANCE);
        if change > tolerance {
            self.fail(format!("{line}, and {tolerance} % are accepted"));
            return;
        }
        self.passed += 1;
        if change < -tolerance {
            self.lines.push(format!("faster {line}; `make counts` keeps it"));
        } else if change.abs() > SHOWN {
            self.lines.push(format!("moved  {line}"));
        }
    }
}

/// A benchmark with its old and its new count.
fn change_line(name: &str, old: u64, new: u64) -> String {
    format!("{name:40} {:>13} -> {:>13}  {:+.2} %", grouped(old), grouped(new), percent_more(old, new))
}

/// Returns the table with these counts, and a line for each benchmark that changed. Benchmarks that were not
/// measured keep their lines, and so do counts that changed by less than noise.
///
/// # Errors
/// If the run of a benchmark failed.
pub fn accept(table: &Table, counts: &Counts, tools: BTreeMap<String, String>) -> Result<(Table, Vec<String>), String> {
    let (mut new, mut lines) = (Table { tools, ..Table::default() }, Vec::new());
    for (name, measured) in counts {
        let old = table.entries.get(name).copied();
        match (measured, old) {
            (Measured::Failed(reason), _) => return Err(format!("{name}: {reason}")),
            (Measured::LeftOut(reason), Some(old)) => {
                lines.push(format!("kept   {name}: {reason}"));
                new.entries.insert(name.clone(), old);
            }
            (Measured::LeftOut(reason), None) => lines.push(format!("left out: {name} ({reason})")),
            (Measured::Count(count), None) => {
                lines.push(format!("new    {name:40} {:>30}", grouped(*count)));
                new.entries.insert(name.clone(), Entry { instructions: *count, tolerance: None });
            }
            (Measured::Count(count), Some(old)) => {
                let is_noise = percent_more(old.instructions, *count).abs() < NOISE;
                let instructions = if is_noise { old.instructions } else { *count };
                if !is_noise {
                    lines.push(format!("moved  {}", change_line(name, old.instructions, *count)));
                }
                new.entries.insert(name.clone(), Entry { instructions, ..old });
            }
        }
    }
    let gone = table.entries.keys().filter(|name| !counts.contains_key(*name));
    lines.extend(gone.map(|name| format!("gone   {name}")));
    Ok((new, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(benchmarks: &[(&str, u64, Option<f64>)]) -> Table {
        let mut table = Table::default();
        for &(name, instructions, tolerance) in benchmarks {
            table.entries.insert(name.to_owned(), Entry { instructions, tolerance });
        }
        table
    }

    fn counts(benchmarks: &[(&str, u64)]) -> Counts {
        benchmarks.iter().map(|&(name, count)| (name.to_owned(), Measured::Count(count))).collect()
    }

    #[test]
    fn an_increase_of_four_percent_fails_and_of_two_passes() {
        let table = table(&[("a", 1_000_000, None), ("b", 1_000_000, None), ("c", 1_000_000, None)]);
        let found = compare(&table, &counts(&[("a", 1_040_000), ("b", 1_020_000), ("c", 1_000_100)]));
        assert_eq!((found.passed, found.failed), (2, 1));
        assert!(found.lines[0].starts_with("FAILED a ") && found.lines[0].contains("+4.00 %"), "{:?}", found.lines);
        assert!(found.lines[1].starts_with("moved  b"), "{:?}", found.lines);
        assert_eq!(found.lines.len(), 2, "what moved by less than 1 % is not shown");
    }

    #[test]
    fn a_benchmark_may_have_its_own_tolerance() {
        let table = table(&[("wide", 1_000, Some(5.0)), ("narrow", 1_000, Some(0.5))]);
        let found = compare(&table, &counts(&[("wide", 1_040), ("narrow", 1_010)]));
        assert_eq!((found.passed, found.failed), (1, 1));
        assert!(found.lines[0].starts_with("FAILED narrow"), "{:?}", found.lines);
    }

    #[test]
    fn a_decrease_passes() {
        let found = compare(&table(&[("a", 1_000, None)]), &counts(&[("a", 500)]));
        assert_eq!((found.passed, found.failed), (1, 0));
        assert!(found.lines[0].starts_with("faster a") && found.lines[0].contains("-50.00 %"), "{:?}", found.lines);
    }

    #[test]
    fn benchmarks_that_are_missing_on_one_side_fail() {
        let found = compare(&table(&[("old", 1, None), ("both", 1, None)]), &counts(&[("new", 1), ("both", 1)]));
        assert_eq!((found.passed, found.failed), (1, 2));
        assert!(found.lines.iter().all(|line| line.contains("run `make counts`")), "{:?}", found.lines);
    }

    #[test]
    fn skipped_benchmarks_are_listed_and_failed_benchmarks_fail() {
        let mut counts = counts(&[("a", 1)]);
        counts.insert("perl/a".into(), Measured::LeftOut("perl is missing".into()));
        counts.insert("perl/b".into(), Measured::LeftOut("perl is missing".into()));
        counts.insert("php/a".into(), Measured::Failed("exit code 1".into()));
        let table = table(&[("a", 1, None), ("perl/a", 1, None), ("perl/b", 1, None), ("php/a", 1, None)]);
        let found = compare(&table, &counts);
        assert_eq!((found.passed, found.failed), (1, 1));
        assert_eq!(found.lines, ["FAILED php/a: exit code 1", "left out: perl/a, perl/b (perl is missing)"]);
        assert!(accept(&table, &counts, BTreeMap::new()).is_err());
    }

    #[test]
    fn accepting_keeps_tolerances_and_unmeasured_benchmarks() {
        let old =
            table(&[("a", 1_000_000, Some(5.0)), ("b", 1_000_000, Some(4.0)), ("gone", 1, None), ("perl", 7, None)]);
        let mut counts = counts(&[("a", 1_001_000), ("b", 1_010_000), ("new", 3)]);
        counts.insert("perl".into(), Measured::LeftOut("no perl".into()));
        let (new, lines) = accept(&old, &counts, BTreeMap::new()).unwrap();
        let expected =
            table(&[("a", 1_000_000, Some(5.0)), ("b", 1_010_000, Some(4.0)), ("new", 3, None), ("perl", 7, None)]);
        assert_eq!(new, expected);
        assert_eq!(lines.iter().map(|line| &line[..6]).collect::<Vec<_>>(), ["moved ", "new   ", "kept  ", "gone  "]);
    }
}
