//! The history of the table, from git: the counts of each commit that changed it.

use crate::table::Table;
use std::process::Command;

/// The table of a commit.
pub struct Version {
    /// The short name of the commit.
    pub commit: String,
    /// Its date, as `2026-11-28`.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// The counts.
    pub table: Table,
}

/// One count of a benchmark, and the first version of the table that contains it.
pub struct Step<'v> {
    /// Where it was counted.
    pub version: &'v Version,
    /// The number of that version.
    pub index: usize,
    /// The instructions.
    pub count: u64,
}

/// The versions of a file, the oldest first.
///
/// # Errors
/// If git fails, or some version of the file is not a table.
pub fn read(file: &str) -> Result<Vec<Version>, String> {
    let log = git(&["log", "--reverse", "--date=short", "--format=%H%x09%h%x09%ad%x09%s", "--", file])?;
    log.lines().filter_map(|line| version(line, file).transpose()).collect()
}

/// Returns the version that a line of the log names; none if the commit removed the file.
fn version(line: &str, file: &str) -> Result<Option<Version>, String> {
    let mut fields = line.splitn(4, '\t');
    let mut next = || fields.next().unwrap_or_default().to_owned();
    let (hash, commit, date, subject) = (next(), next(), next(), next());
    let Ok(text) = git(&["show", &format!("{hash}:{file}")]) else { return Ok(None) };
    let table = Table::parse(&text).map_err(|error| format!("{commit}: {error}"))?;
    Ok(Some(Version { commit, date, subject, table }))
}

fn git(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).output().map_err(|error| format!("git can't be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the counts of a benchmark at which it changed.
pub fn steps<'v>(versions: &'v [Version], benchmark: &str) -> Vec<Step<'v>> {
    let mut steps: Vec<Step<'v>> = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let Some(entry) = version.table.entries.get(benchmark) else { continue };
        if steps.last().is_none_or(|last| last.count != entry.instructions) {
            steps.push(Step { version, index, count: entry.instructions });
        }
    }
    steps
}

/// Returns the versions in which a tool changed: counts before and after can't be compared.
pub fn tool_changes(versions: &[Version]) -> Vec<usize> {
    let pairs = versions.windows(2).enumerate();
    let differ = |pair: &[Version]| {
        // A runtime that was added does not change existing counts.
        let (old, new) = (&pair[0].table.tools, &pair[1].table.tools);
        old.iter().any(|(name, version)| new.get(name).is_some_and(|other| other != version))
    };
    pairs.filter(|(_, pair)| differ(pair)).map(|(index, _)| index + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Entry;

    fn version(tool: &str, count: Option<u64>) -> Version {
        let mut table = Table::default();
        table.tools.insert("rustc".into(), tool.into());
        if let Some(instructions) = count {
            table.entries.insert("a".into(), Entry { instructions, tolerance: None });
        }
        Version { commit: "c".into(), date: "2026-11-28".into(), subject: "s".into(), table }
    }

    #[test]
    fn steps_are_where_a_count_changed() {
        let versions = [version("1", None), version("1", Some(5)), version("1", Some(5)), version("2", Some(6))];
        let steps: Vec<_> = steps(&versions, "a").iter().map(|step| (step.index, step.count)).collect();
        assert_eq!(steps, [(1, 5), (3, 6)]);
        assert_eq!(tool_changes(&versions), [3]);
    }
}
