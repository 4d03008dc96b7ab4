//! A pseudo terminal, created by util-linux's `script`.
#![allow(dead_code, reason = "each test uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Timeout for expected output: long enough for any machine.
const AT_MOST: Duration = Duration::from_secs(120);

/// A command on a terminal.
pub struct Running {
    child: Child,
    out: PathBuf,
}

/// Starts a command on a terminal of 10 rows and 80 columns; `None` without `script`.
pub fn start(folder: &Path, command: &str) -> Option<Running> {
    let out = folder.join("typescript");
    let _ = fs::remove_file(&out);
    let programs = Path::new(super::run::ICECORE).parent().expect("a folder").display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let mut script = Command::new("script");
    for name in ["NO_COLOR", "ICECORE_PAGER", "PAGER", "LESS", "COLUMNS", "LINES"] {
        script.env_remove(name);
    }
    let child = script
        .args(["-q", "-e", "-f", "-c", &format!("stty rows 10 cols 80; {command}")])
        .arg(&out)
        .current_dir(folder)
        .env("TERM", "xterm")
        .env("LC_ALL", "C.UTF-8")
        .env("PATH", path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    match child {
        Ok(child) => Some(Running { child, out }),
        Err(_) => {
            eprintln!("skipped: there is no `script` here");
            None
        }
    }
}

impl Running {
    /// Returns the text so far, of both streams.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&fs::read(&self.out).unwrap_or_default()).replace("\r\n", "\n");
        // `script` notes when it began and ended.
        let lines = text.split_inclusive('\n').filter(|line| !line.starts_with("Script "));
        lines.collect()
    }

    /// Waits until this text was written.
    pub fn wait_for(&mut self, text: &str) {
        let begin = Instant::now();
        while !self.text().contains(text) {
            assert!(begin.elapsed() < AT_MOST, "{text:?} never came: {:?}", self.text());
            if let Ok(Some(_)) = self.child.try_wait() {
                let all = self.text();
                assert!(all.contains(text), "it ended without {text:?}: {all:?}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end; returns all text and the exit code.
    pub fn end(mut self) -> (String, i32) {
        let code = self.child.wait().expect("it ends").code().expect("a code");
        let text = self.text();
        // `script` adds a line end of its own.
        (format!("{}\n", text.trim_end()), code)
    }
}

/// Returns what a command writes to a terminal, both streams, and its exit code; `None` without `script`.
pub fn run_on_terminal(folder: &Path, command: &str) -> Option<(String, i32)> {
    start(folder, command).map(Running::end)
}

/// Returns the text without colour codes.
pub fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let (code, rest) = part.split_once('m').expect("a code of a colour");
        assert!(code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{code:?} in {text:?}");
        all + rest
    })
}
