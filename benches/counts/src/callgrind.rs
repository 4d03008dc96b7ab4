//! Runs a program under callgrind, and reads how many instructions it took.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// A program with its arguments.
#[derive(Clone, Debug)]
pub struct Program {
    /// The words of its command line.
    pub words: Vec<OsString>,
    /// Variables of its environment, in addition to those that every program gets.
    pub variables: Vec<(OsString, OsString)>,
}

impl Program {
    /// A program without arguments.
    pub fn new(program: impl Into<OsString>) -> Program {
        Program { words: vec![program.into()], variables: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, word: impl Into<OsString>) -> Program {
        self.words.push(word.into());
        self
    }

    /// Adds a variable to its environment.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Program {
        self.variables.push((name.into(), value.into()));
        self
    }
}

/// The environment of every program. It has no variable of the user, and the hash seeds are fixed, because both could
/// change the counts.
const VARIABLES: [(&str, &str); 6] = [
    ("LC_ALL", "C.UTF-8"),
    ("HOME", "/"),
    ("PERL_HASH_SEED", "0"),
    ("PERL_PERTURB_KEYS", "0"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
];

/// Counts the instructions of a run. If a function is given, only those from its entry to its end are counted.
///
/// # Errors
/// Contains the program's messages if it failed, or reports that callgrind wrote no count.
pub fn count(program: &Program, function: Option<&str>, file: &Path) -> Result<u64, String> {
    count_accepting(program, function, file, |code| code == 0)
}

/// Counts the instructions of a run of the command that may refuse its input: an exit code below 6.
///
/// # Errors
/// As for [`count`]. A signal or a panic is an error as well: its exit code is higher.
pub fn count_refusal(program: &Program, file: &Path) -> Result<u64, String> {
    count_accepting(program, None, file, |code| code < 6)
}

fn count_accepting(
    program: &Program,
    function: Option<&str>,
    file: &Path,
    accepts: impl Fn(i32) -> bool,
) -> Result<u64, String> {
    let mut command = Command::new("valgrind");
    command.env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs(VARIABLES);
    command.envs(program.variables.iter().map(|(name, value)| (name, value)));
    command.args(["-q", "--tool=callgrind"]);
    let mut out = OsString::from("--callgrind-out-file=");
    out.push(file);
    command.arg(out);
    if let Some(function) = function {
        command.arg(format!("--toggle-collect={function}"));
    }
    command.args(&program.words);
    let output = command.output().map_err(|error| format!("valgrind can't be run: {error}"))?;
    if !output.status.code().is_some_and(accepts) {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", output.status, said.lines().last().unwrap_or_default()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| format!("callgrind wrote nothing: {error}"))?;
    // The file of a language's runtime has some megabytes, so the files of all benchmarks would fill the disk.
    _ = std::fs::remove_file(file);
    read_total(&text).ok_or_else(|| "callgrind wrote no count".to_owned())
}

/// Reads the total of a callgrind file.
fn read_total(text: &str) -> Option<u64> {
    let mut lines = text.lines().rev();
    lines.find_map(|line| line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: ")))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_total_finds_the_line_with_totals() {
        assert_eq!(read_total("version: 1\nevents: Ir\n\nfn=(1) main\n3 17\n\ntotals: 17\n"), Some(17));
        assert_eq!(read_total("version: 1\n"), None);
    }
}
