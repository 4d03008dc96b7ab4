//! The table of counts: a text file with a line for each benchmark, so that the history of the file is
//! the history of the counts.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts of benchmarks, with the tools for which they are valid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The versions of the tools, by their names.
    pub tools: BTreeMap<String, String>,
    /// The benchmarks, by their names.
    pub entries: BTreeMap<String, Entry>,
}

/// The line of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// How many instructions its work took.
    pub instructions: u64,
    /// Accepted increase in percent, if it is not the default.
    pub tolerance: Option<f64>,
}

/// Accepted increase of a benchmark, in percent.
pub const TOLERANCE: f64 = 3.0;

/// Changes above this are shown, in percent.
pub const SHOWN: f64 = 1.0;

/// Changes below this don't change the table, in percent, because they would only be noise in its history. The next
/// comparison is with the old number again, so several small changes add up and are noticed.
pub const NOISE: f64 = 0.3;

const HEAD: &str = "\
# Instructions of the work in each cell, counted by callgrind. `make counts` writes this file;
# docs/counts.md explains it. Columns: cell, instructions, accepted increase in percent if it is not 3.
";

/// Prefix of the lines of tools.
const TOOL: &str = "# tool ";

impl Table {
    /// Reads the text of a table.
    ///
    /// # Errors
    /// Contains the first line that does not belong to a table.
    pub fn parse(text: &str) -> Result<Table, String> {
        let mut table = Table::default();
        for (number, line) in text.lines().enumerate() {
            let error = || format!("line {} of the table is not a cell: {line}", number + 1);
            if let Some(tool) = line.strip_prefix(TOOL) {
                let (name, version) = tool.split_once(": ").ok_or_else(error)?;
                table.tools.insert(name.to_owned(), version.to_owned());
            } else if !line.starts_with('#') && !line.is_empty() {
                let (name, entry) = parse_entry(line).ok_or_else(error)?;
                table.entries.insert(name.to_owned(), entry);
            }
        }
        Ok(table)
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (name, version) in &self.tools {
            _ = writeln!(text, "{TOOL}{name}: {version}");
        }
        for (name, entry) in &self.entries {
            _ = write!(text, "{name}\t{}", entry.instructions);
            if let Some(tolerance) = entry.tolerance {
                _ = write!(text, "\t{tolerance}");
            }
            text.push('\n');
        }
        text
    }
}

fn parse_entry(line: &str) -> Option<(&str, Entry)> {
    let mut fields = line.split('\t');
    let name = fields.next()?;
    let instructions = fields.next()?.parse().ok()?;
    let tolerance = match fields.next() {
        Some(text) => Some(text.parse().ok()?),
        None => None,
    };
    fields.next().is_none().then_some((name, Entry { instructions, tolerance }))
}

/// Returns by how many percent the new count is higher.
pub fn percent_more(old: u64, new: u64) -> f64 {
    (new as f64 / (old as f64).max(1.0) - 1.0) * 100.0
}

/// A number with a blank between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_round_trips_through_its_text() {
        let mut table = Table::default();
        table.tools.insert("rustc".into(), "1.95.0 (5980 2026)".into());
        table.entries.insert("read/php".into(), Entry { instructions: 123, tolerance: None });
        table.entries.insert("perl/thaw".into(), Entry { instructions: 9, tolerance: Some(5.5) });
        let text = table.to_text();
        assert!(text.ends_with("# tool rustc: 1.95.0 (5980 2026)\nperl/thaw\t9\t5.5\nread/php\t123\n"), "{text}");
        assert_eq!(Table::parse(&text), Ok(table));
    }

    #[test]
    fn a_line_that_is_not_an_entry_is_an_error() {
        for line in ["read/php", "read/php\tmany", "read/php\t1\twide", "read/php\t1\t2\t3", "# tool rustc"] {
            let error = Table::parse(&format!("# a comment\n{line}\n")).unwrap_err();
            assert!(error.starts_with("line 2 of the table"), "{error}");
        }
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([7, 123, 1234, 1_234_567].map(grouped), ["7", "123", "1 234", "1 234 567"]);
    }
}
