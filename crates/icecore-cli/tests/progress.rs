//! Long work shows its progress, which is removed when the work is done.
#![cfg(target_os = "linux")]

use crate::pty;
use crate::run;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The sequence that removes the line.
const CLEAR: &str = "\r\x1b[2K";

/// Returns a folder with a pipe whose writing end the test holds open.
fn folder() -> (tempfile::TempDir, File) {
    let folder = tempfile::tempdir().unwrap();
    let slow = folder.path().join("slow");
    assert!(Command::new("mkfifo").arg(&slow).status().unwrap().success());
    fs::write(folder.path().join("a.json"), "{\"a\":2}\n").unwrap();
    let change = "icecore diff --json a.json b.json > change.json";
    fs::write(folder.path().join("b.json"), "{\"a\":1}\n").unwrap();
    run::shell(folder.path(), change).status().unwrap();
    // Opening it in both directions does not wait for the other end.
    let file = File::options().read(true).write(true).open(slow).unwrap();
    (folder, file)
}

/// Runs a command; its input arrives once it shows progress.
fn run_with_slow_input(command: &str) -> Option<String> {
    let (folder, mut slow) = folder();
    let mut running = pty::start(folder.path(), command)?;
    running.wait_for(" slow");
    slow.write_all(b"{\"a\":1}\n").unwrap();
    drop(slow);
    let (text, code) = running.end();
    assert!(code < 2, "{command}: {code}: {text:?}");
    let (screen, rest) = text.rsplit_once(CLEAR).unwrap_or_else(|| panic!("{command}: it is not taken away: {text:?}"));
    assert!(screen.contains(" slow") && !rest.contains('\r'), "{command}: {text:?}");
    Some(rest.to_owned())
}

#[test]
fn every_command_with_inputs_shows_progress() {
    for command in [
        "icecore inspect slow",
        "icecore detect slow",
        "icecore classes slow",
        "icecore query . slow",
        "icecore get '$.a' slow",
        "icecore paths slow",
        "icecore convert slow",
        "icecore convert slow >out",
        "icecore convert --partial slow >out",
        "icecore convert --each=lines slow >out",
        "icecore convert --each=lines --keep-going slow >out",
        "icecore rows --in lines -c x slow >out",
        "icecore replace --in text a b slow >out",
        "icecore edit --set '$.a=1' slow >out",
        "icecore diff slow a.json",
        "icecore patch slow change.json >out",
    ] {
        if run_with_slow_input(command).is_none() {
            return;
        }
    }
}

#[cfg(feature = "store")]
#[test]
fn commands_of_the_store_show_progress() {
    for command in ["icecore store --db sqlite:s.db put slow", "icecore queue --db sqlite:s.db push slow"] {
        if run_with_slow_input(command).is_none() {
            return;
        }
    }
}

#[test]
fn progress_is_removed_before_output_is_printed() {
    let Some(screen) = run_with_slow_input("icecore --color never paths slow") else { return };
    assert_eq!(screen, "$.a\t1\n");
    let screen = run_with_slow_input("icecore --color never get '$.a' slow a.json").unwrap();
    assert_eq!(screen, "1\n2\n");
}

#[test]
fn quiet_mode_and_pipes_show_no_progress() {
    for command in ["icecore -q paths slow", "TERM=dumb icecore paths slow", "icecore paths slow 2>&1 | cat"] {
        let (folder, mut slow) = folder();
        let Some(running) = pty::start(folder.path(), command) else { return };
        // A slow machine would show less, but never more.
        std::thread::sleep(Duration::from_millis(1200));
        slow.write_all(b"{\"a\":1}\n").unwrap();
        drop(slow);
        let (text, code) = running.end();
        assert!(code == 0 && !text.contains(['\r', '⠁']) && !text.contains("slow"), "{command}: {text:?}");
    }
}

/// For an input with a size, a bar shows how much was read.
#[test]
fn inputs_of_known_size_show_a_bar() {
    let (folder, mut slow) = folder();
    let folder: &Path = folder.path();
    let Some(mut running) = pty::start(folder, "icecore convert a.json slow b.json >out") else { return };
    running.wait_for("2/3  slow");
    slow.write_all(b"{\"a\":1}\n").unwrap();
    drop(slow);
    let (text, code) = running.end();
    assert!(code == 0 && text.contains('█'), "{text:?}");
}
