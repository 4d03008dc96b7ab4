//! Runs the transcripts in `tests/cmd`: the command, its output, its stderr, and the exit code.
//!
//! A line that starts with `$ ` is given to the shell, in a folder that holds a copy of `tests/cmd/data`. Its output
//! follows; lines of stderr start with `! `, and `? N` is an exit code that is not 0. `== ` begins a remark. With
//! `ICECORE_TRANSCRIPTS=write` in the environment the files are written again.

use crate::run;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd")
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Runs a command; returns its transcript.
fn run(command: &str, folder: &Path) -> String {
    let mut shell = run::shell(folder, command);
    let output = shell.env_remove("NO_COLOR").env("COLUMNS", "100").env("LC_ALL", "C").output().expect("a shell");
    let mut text = String::new();
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let stdout = lines(&output.stdout);
    text.push_str(&stdout);
    if !stdout.is_empty() && !stdout.ends_with('\n') {
        text.push_str("(no newline)\n");
    }
    for line in lines(&output.stderr).lines() {
        writeln!(text, "! {line}").unwrap();
    }
    match output.status.code() {
        Some(0) => {}
        Some(code) => writeln!(text, "? {code}").unwrap(),
        None => text.push_str("? killed\n"),
    }
    text
}

#[test]
fn commands_print_what_their_transcripts_show() {
    let write = std::env::var_os("ICECORE_TRANSCRIPTS").is_some();
    let mut wrong = String::new();
    let mut count = 0;
    let mut paths: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    for path in &paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let scratch = std::env::temp_dir().join(format!("icecore-transcript-{}-{name}", std::process::id()));
        copy(&folder().join("data"), &scratch);
        let text = fs::read_to_string(path).unwrap();
        let mut fresh = String::new();
        for block in text.split_inclusive('\n').fold(Vec::<String>::new(), |mut blocks, line| {
            if line.starts_with("$ ") || line.starts_with("== ") || blocks.is_empty() {
                blocks.push(String::new());
            }
            blocks.last_mut().unwrap().push_str(line);
            blocks
        }) {
            let Some(command) = block.lines().next().and_then(|line| line.strip_prefix("$ ")) else {
                fresh.push_str(&block);
                continue;
            };
            count += 1;
            let found = format!("$ {command}\n{}\n", run(command, &scratch));
            if found.trim_end() != block.trim_end() && !write {
                write!(wrong, "--- {name}, expected:\n{}\n--- found:\n{}\n", block.trim_end(), found.trim_end())
                    .unwrap();
            }
            fresh.push_str(&found);
        }
        let _ = fs::remove_dir_all(&scratch);
        if write {
            fs::write(path, format!("{}\n", fresh.trim_end())).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 80, "only {count} commands");
}
