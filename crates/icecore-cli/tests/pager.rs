//! Long output on a terminal goes to a pager.
#![cfg(target_os = "linux")]

use crate::pty::run_on_terminal;
use std::fs;

/// Returns a folder with a file of this number of items, and one that breaks off.
fn folder(items: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let list: Vec<String> = (0..items).map(|item| item.to_string()).collect();
    fs::write(folder.path().join("a.json"), format!("[{}]", list.join(","))).unwrap();
    fs::write(folder.path().join("b.json"), "[0]").unwrap();
    fs::write(folder.path().join("broken.php"), format!("a:{items}:{{{}", "i:1;i:2;".repeat(items - 1))).unwrap();
    folder
}

/// A pager that marks the text it was given.
const MARKS: &str = "ICECORE_PAGER='sed s/^/p:/'";

#[test]
fn output_longer_than_the_screen_is_paged() {
    let folder = folder(20);
    let is_paged = |command: &str| {
        let (text, code) = run_on_terminal(folder.path(), command)?;
        let marked = text.lines().filter(|line| line.starts_with("p:")).count();
        assert!(marked == 0 || marked == text.lines().count(), "{command}: {text}");
        Some((marked > 0, code))
    };
    for (command, expected) in [
        ("icecore paths a.json", (true, 0)),
        ("icecore inspect a.json", (true, 0)),
        ("icecore query '.[]' a.json", (true, 0)),
        ("icecore get '$[*]' a.json", (true, 0)),
        ("icecore formats", (true, 0)),
        ("icecore help convert", (true, 0)),
        ("icecore get -h --paging never", (false, 0)),
        // The exit code is that of the command, and errors are shown in order.
        ("icecore diff --view lines a.json b.json", (true, 1)),
        ("icecore inspect broken.php", (true, 4)),
        ("icecore diff --items 2 --view lines a.json b.json", (false, 1)),
        ("icecore --paging always diff b.json a.json --items 1", (true, 1)),
        ("icecore paths b.json", (false, 0)),
        ("icecore paths --paging always b.json", (true, 0)),
        ("icecore paths --paging never a.json", (false, 0)),
        ("TERM=dumb icecore paths a.json", (false, 0)),
        // Data is not paged.
        ("icecore convert a.json", (false, 0)),
        ("icecore --paging always convert a.json", (true, 0)),
        ("icecore paths a.json | cat", (false, 0)),
    ] {
        let Some(found) = is_paged(&format!("export {MARKS}; {command}")) else { return };
        assert_eq!(found, expected, "{command}");
    }
    for (setting, expected) in [
        ("PAGER='sed s/^/p:/'", true),
        ("ICECORE_PAGER='sed s/^/p:/' PAGER=true", true),
        ("ICECORE_PAGER=cat PAGER='sed s/^/p:/'", false),
        ("ICECORE_PAGER= PAGER='sed s/^/p:/'", false),
    ] {
        assert_eq!(is_paged(&format!("{setting} icecore paths a.json")), Some((expected, 0)), "{setting}");
    }
}

#[test]
fn messages_are_shown_in_order_in_the_pager() {
    let folder = folder(20);
    let Some((text, _)) = run_on_terminal(folder.path(), &format!("{MARKS} icecore paths broken.php b.json")) else {
        return;
    };
    let lines: Vec<&str> = text.lines().collect();
    let position_of =
        |part: &str| lines.iter().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(position_of("broken.php:$[1]") < position_of("broken.php: the input ends too early"), "{text}");
    assert!(position_of("broken.php: the input ends too early") < position_of("b.json:$[0]"), "{text}");
    assert!(text.contains("\x1b[1m"), "colours stay: {text}");
}

#[test]
fn a_missing_or_closed_pager_is_no_error() {
    let folder = folder(20_000);
    let Some((text, code)) = run_on_terminal(folder.path(), "ICECORE_PAGER=no-such-pager icecore -q paths a.json")
    else {
        return;
    };
    assert!(code == 0 && text.contains("\x1b[1m$[19999]"), "{code}: {}", text.len());
    // As with `head`: the command ends without a message.
    let (text, code) =
        run_on_terminal(folder.path(), "ICECORE_PAGER='head -n 1' icecore --color never paths a.json").unwrap();
    assert_eq!((text.as_str(), code), ("$[0]\t0\n", 0));
}

/// A Ctrl-C goes to both; the pager decides what it means.
#[test]
fn keyboard_signals_are_left_to_the_pager() {
    let folder = folder(20_000);
    let command = "ICECORE_PAGER='kill -INT $PPID; kill -QUIT $PPID; tail -n 1' icecore --color never --paging always";
    for (rest, expected) in [("paths a.json", ("$[19999]\t19999\n", 0)), ("diff b.json b.json --items 1", ("", 0))] {
        let Some((text, code)) = run_on_terminal(folder.path(), &format!("{command} {rest}")) else { return };
        assert_eq!((text.trim_start(), code), expected, "{rest}");
    }
    let (text, code) = run_on_terminal(folder.path(), &format!("{command} diff a.json b.json --items 1")).unwrap();
    assert_eq!((text.contains("more"), code), (true, 1), "{text}");
}

#[test]
fn less_ends_by_itself_if_the_output_fits() {
    let folder = folder(20);
    if std::process::Command::new("less").arg("-V").output().is_err() {
        eprintln!("skipped: there is no `less` here");
        return;
    }
    let Some((text, code)) = run_on_terminal(folder.path(), "icecore --color never --paging always paths b.json")
    else {
        return;
    };
    assert!(code == 0 && text.contains("$[0] "), "{code}: {text:?}");
}

#[test]
fn the_pager_gets_no_secrets() {
    let folder = folder(20);
    let secrets = "ICECORE_DB=5ecret ICECORE_DB_PASSWORD=5ecret ICECORE_DB_PASSWORD_FILE=5ecret ICECORE_TOKEN=5ecret";
    let command = format!("{secrets} ICECORE_PAGER='cat >all; env' HINT=kept icecore paths a.json");
    let Some((text, code)) = run_on_terminal(folder.path(), &command) else { return };
    assert_eq!(code, 0);
    assert!(text.contains("HINT=kept") && !text.contains("5ecret"), "{text}");
}
