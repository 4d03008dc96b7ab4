//! What the command says to wrong invocations: `advice.txt` has a line with the command and a line with the advice.
//!
//! The advice is the tip, if there is one, or else the error. Each command ends with exit code 2. With
//! `ICECORE_TRANSCRIPTS=write` in the environment the file is written again.

use crate::run;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Minimum number of wrong invocations.
const LEAST: usize = 300;
/// Texts that many lines contain, and their short forms in the table.
const SHORTENED_TEXTS: [(&str, &str); 1] = [(
    "The formats are storable, sereal, dumper, php, php-session, var-export, igbinary, marshal, ndjson, json, pack, join",
    "The formats are …",
)];

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/advice.txt")
}

/// Returns what stderr says to do: the tip, or else the error with the lines that belong to it.
fn advice(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let tip = stderr.lines().find_map(|line| line.trim_start().strip_prefix("tip: "));
    let is_error = |line: &&str| line.starts_with("icecore: ") || line.starts_with("error: ");
    let error = || {
        let mut lines = stderr.lines().skip_while(|line| !is_error(line));
        let first = lines.next()?.split_once(": ")?.1;
        let more = lines.take_while(|line| line.starts_with("  ")).map(str::trim);
        Some([first].into_iter().chain(more).collect::<Vec<_>>().join(" "))
    };
    let text = tip.map(str::to_owned).or_else(error).unwrap_or_default();
    SHORTENED_TEXTS.iter().fold(text, |text, (long, short)| text.replace(long, short))
}

/// Creates a folder with a document `f`, the data of the transcripts, an empty file and an empty folder.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd/data");
    for name in ["staff.srl", "option.ser"] {
        fs::copy(data.join(name), folder.path().join(name)).unwrap();
    }
    fs::copy(data.join("option.ser"), folder.path().join("f")).unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    folder
}

#[test]
fn wrong_invocations_get_the_right_advice() {
    let write = std::env::var_os("ICECORE_TRANSCRIPTS").is_some();
    let (folder, text) = (folder(), fs::read_to_string(table()).unwrap());
    let (mut fresh, mut wrong, mut count) = (String::new(), String::new(), 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with("icecore ") {
            fresh.push_str(&format!("{line}\n"));
            continue;
        }
        let expected = lines.next_if(|next| next.starts_with("    ")).unwrap_or_default().trim_start();
        let mut shell = run::shell(folder.path(), line);
        let output =
            shell.env_remove("ICECORE_DB").env("NO_COLOR", "1").env("COLUMNS", "100").output().expect("a shell");
        let found = advice(&output);
        if output.status.code() != Some(2) {
            writeln!(wrong, "{line}\n    ends with {:?}, not 2", output.status.code()).unwrap();
        } else if found != expected && !write {
            writeln!(wrong, "{line}\n    expected: {expected}\n    found:    {found}").unwrap();
        }
        writeln!(fresh, "{line}\n    {found}").unwrap();
        count += 1;
    }
    if write {
        fs::write(table(), fresh).unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= LEAST, "only {count} wrong invocations");
}
