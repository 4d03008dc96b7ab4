//! `icecore classes --files-with`: the files in which a class occurs.

use crate::output_writer::OutputWriter;
use crate::report::{Abort, Report, code};
use crate::terminal;
use icecore::text::printable;

/// The files of a search for a class.
pub struct FilesWithClass<'p> {
    pattern: &'p str,
    found_files: Vec<String>,
}

impl<'p> FilesWithClass<'p> {
    /// Starts a search. In the pattern, `*` stands for any text.
    pub fn new(pattern: &'p str) -> FilesWithClass<'p> {
        FilesWithClass { pattern, found_files: Vec::new() }
    }

    /// Adds the file if the class has a name that matches.
    pub fn examine(&mut self, class: &[u8], file: &str) {
        let is_new = self.found_files.last().is_none_or(|last| last != file);
        if is_new && matches_pattern(&String::from_utf8_lossy(class), self.pattern) {
            self.found_files.push(file.to_owned());
        }
    }

    /// Writes the names, one per line. No file is a finding.
    pub fn write(&self, writer: &mut OutputWriter, report: &mut Report) -> Result<(), Abort> {
        if terminal::is_stdout_terminal() {
            writer.escape_controls();
        }
        for file in &self.found_files {
            writer.write_text(&format!("{file}\n"))?;
        }
        if self.found_files.is_empty() {
            report.raise_exit_code(code::FINDING);
            report.report_command_note("absent", format!("no input has the class {}", printable(self.pattern)));
        }
        Ok(())
    }
}

/// Returns true if the name matches a pattern in which `*` stands for any text.
fn matches_pattern(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut remaining) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    // The first place of each part leaves the most text for the following ones.
    for part in parts {
        let Some(position) = remaining.find(part) else { return false };
        remaining = &remaining[position + part.len()..];
    }
    remaining.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_stands_for_any_text() {
        for (name, pattern, is_match) in [
            ("Cart", "Cart", true),
            ("Carton", "Cart", false),
            ("Shop\\Cart", "Shop\\*", true),
            ("Shop\\Cart", "*Cart", true),
            ("ab", "a*b*b", false),
            ("abcb", "a*b*b", true),
            ("a", "*", true),
            ("aXbXc", "a*b*c", true),
            ("aba", "ab*ba", false),
        ] {
            assert_eq!(matches_pattern(name, pattern), is_match, "{name} {pattern}");
        }
    }
}
