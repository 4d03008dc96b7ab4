//! Files that the command writes: it never overwrites an input, never leaves half a file, and never makes data readable
//! for users who could not read it before.
#![cfg(unix)]

use crate::run;

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a shell command in a folder. Returns stdout, stderr and the exit code.
fn sh(folder: &Path, command: &str) -> (String, String, Option<i32>) {
    let output = run::shell(folder, command).output().expect("a shell");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn an_output_that_is_an_input_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    for command in [
        "icecore convert a.json -o a.json",
        "icecore convert a.json -o \"$PWD/./a.json\"",
        "icecore convert a.json -o soft",
        "icecore convert a.json -o hard",
        "icecore convert soft -o a.json",
        "icecore convert hard -o soft",
        "icecore convert - < a.json -o a.json",
        "icecore convert < a.json -o hard",
        "icecore convert /dev/stdin < a.json -o a.json",
        "icecore convert b.json a.json -o a.json",
        "icecore convert . -o a.json",
        "icecore convert a.json >> a.json",
        "icecore convert a.json -o /dev/stdout >> a.json",
        "icecore convert --each a.json --summary a.json",
        "icecore convert --out-dir . a.json",
        "icecore convert --out-dir . soft.json",
        "icecore convert --out-dir . b.srl a.json",
        "icecore rows --in ndjson -c n=php a.json -o a.json",
        "icecore rows --in ndjson -c n=php a.json --summary soft",
        "icecore bench --show a.json --json a.json",
        "icecore bench --show a.json --html soft",
    ] {
        for force in ["", " --force"] {
            fs::write(top.join("a.json"), "{\"n\":\"i:5;\"}\n").unwrap();
            fs::write(top.join("b.json"), "{\"n\":\"i:6;\"}\n").unwrap();
            let _ = symlink("a.json", top.join("soft"));
            let _ = symlink("soft", top.join("soft.json"));
            let _ = fs::hard_link(top.join("a.json"), top.join("hard"));
            fs::write(top.join("b.srl"), icecore::convert(b"1", "json", "sereal").unwrap()).unwrap();
            let (stdout, stderr, code) = sh(top, &format!("{command}{force}"));
            assert_eq!((stdout.as_str(), code), ("", Some(2)), "{command}{force}: {stderr}");
            assert!(
                stderr.contains("this is an input") || force.is_empty() && stderr.contains("this file exists"),
                "{stderr}"
            );
            let text = fs::read_to_string(top.join("a.json")).unwrap();
            assert_eq!(text, "{\"n\":\"i:5;\"}\n", "{command}{force}: {stderr}");
            assert!(!names(top).iter().any(|name| name.contains("part")), "{command}{force}");
        }
    }
}

#[test]
fn existing_files_are_overwritten_only_with_force() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    fs::write(top.join("a.srl"), icecore::convert(b"[1]", "json", "sereal").unwrap()).unwrap();
    fs::write(top.join("a.php"), "a:0:{}").unwrap();
    fs::write(top.join("t.csv"), "x\ni:5;\n").unwrap();
    fs::write(top.join("r.json"), include_str!("../../../docs/bench/report.json")).unwrap();
    for command in [
        "icecore convert a.srl -o there",
        "icecore convert a.srl --each -o new --summary there; code=$?; [ ! -e new ] || exit 99; exit $code",
        "icecore rows --in csv -c x=php t.csv -o there",
        "icecore rows --in csv -c x=php t.csv --summary there",
        "icecore convert -t json --out-dir . a.srl; code=$?; mv a.json there; exit $code",
        "icecore bench --show r.json --csv there",
        "icecore man --out-dir man; echo old > man/icecore.1; icecore man --out-dir man; code=$?; cp man/icecore.1 there; exit $code",
    ] {
        fs::write(top.join("there"), "old\n").unwrap();
        fs::write(top.join("a.json"), "old\n").unwrap();
        let (_, stderr, code) = sh(top, command);
        assert_eq!(code, Some(2), "{command}: {stderr}");
        assert!(stderr.contains("this file exists: --force overwrites it"), "{command}: {stderr}");
        assert_eq!(fs::read_to_string(top.join("there")).unwrap(), "old\n", "{command}");
        if !command.contains(';') {
            let (_, stderr, code) = sh(top, &format!("{command} --force"));
            assert_eq!(code, Some(0), "{command}: {stderr}");
            assert_ne!(fs::read_to_string(top.join("there")).unwrap(), "old\n", "{command}");
        }
    }
    // Two inputs that differ only in the extension keep it; two with the same name are an error.
    let (_, stderr, code) = sh(top, "icecore convert --out-dir new -t json a.srl a.php");
    assert!(code == Some(0) && names(&top.join("new")) == ["a.php.json", "a.srl.json"], "{stderr}");
    let (_, stderr, code) = sh(top, "mkdir in; cp a.srl in; icecore convert --force --out-dir new -t json a.srl in");
    assert!(code == Some(2) && stderr.contains("another output has this name already"), "{stderr}");
    let (_, stderr, code) = sh(top, "icecore convert --each a.srl -o same --summary ./same");
    assert!(code == Some(2) && stderr.contains("another output has this name already"), "{stderr}");
    assert!(!top.join("same").exists());
}

#[test]
fn open_descriptors_and_devices_need_no_force() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    for (command, file, text) in [
        ("echo '[1]' | icecore convert -o /dev/stdout | cat > f", "f", "[1]\n"),
        ("echo '[2]' | icecore convert -o /dev/stdout > f", "f", "[2]\n"),
        ("echo '[3]' | icecore convert -o /proc/self/fd/1 >> f", "f", "[2]\n[3]\n"),
        ("echo '[4]' | icecore convert -o /dev/fd/3 3>> f", "f", "[2]\n[3]\n[4]\n"),
        ("ln -s /dev/stdout l; echo '[5]' | icecore convert -o l >> f", "f", "[2]\n[3]\n[4]\n[5]\n"),
        ("echo '[6]' | icecore convert -o /dev/null", "f", "[2]\n[3]\n[4]\n[5]\n"),
        ("mkfifo p; cat p > g & echo '[7]' | icecore convert -o p; wait", "g", "[7]\n"),
    ] {
        let (_, stderr, code) = sh(top, command);
        assert_eq!((stderr.as_str(), code), ("", Some(0)), "{command}");
        assert_eq!(fs::read_to_string(top.join(file)).unwrap(), text, "{command}");
    }
}

#[test]
fn outputs_keep_the_permissions_of_their_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let file = |name: &str, text: &str, mode: u32| {
        let _ = fs::remove_file(top.join(name));
        fs::write(top.join(name), text).unwrap();
        fs::set_permissions(top.join(name), Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir(top.join("out")).unwrap();
    let run = |command: &str, name: &str| {
        let (_, stderr, code) = sh(top, &format!("umask 022; {command}"));
        assert_eq!(code, Some(0), "{command}: {stderr}");
        mode(&top.join(name))
    };
    for bits in [0o600, 0o640, 0o644, 0o660, 0o755, 0o400] {
        file("in.json", "{\"x\":\"i:5;\"}", bits);
        assert_eq!(run("rm -f o; icecore convert in.json -o o", "o"), bits);
        assert_eq!(run("rm -f o; icecore convert < in.json -o o", "o"), bits);
        assert_eq!(run("rm -f o; icecore convert --each in.json --summary o", "o"), bits);
        assert_eq!(run("rm -rf out/*; icecore convert --out-dir out in.json -t php", "out/in.ser"), bits);
        assert_eq!(run("rm -f o; icecore rows --in ndjson -c x=php in.json -o o", "o"), bits);
        // An existing file keeps its own mode, whatever that of the input is.
        file("o", "old", 0o604);
        assert_eq!(run("icecore convert --force in.json -o o", "o"), 0o604);
        file("o", "old", 0o444);
        assert_eq!(run("icecore convert --force in.json -o o", "o"), 0o444);
    }
    // For several inputs, the permissions common to all; for none, the default.
    file("a.json", "1", 0o640);
    file("b.json", "2", 0o604);
    assert_eq!(run("rm -f o; icecore convert a.json b.json -o o", "o"), 0o600);
    assert_eq!(run("rm -f o; echo 1 | icecore convert -o o", "o"), 0o644);
    // A link stays a link, and may lead to a file that does not exist yet.
    file("o", "old", 0o600);
    fs::create_dir(top.join("links")).unwrap();
    symlink("../o", top.join("links/o")).unwrap();
    symlink("links/o", top.join("link")).unwrap();
    assert_eq!(run("icecore convert --force a.json -o link", "o"), 0o600);
    assert_eq!(fs::read_to_string(top.join("o")).unwrap(), "1\n");
    assert!(top.join("link").is_symlink() && top.join("links/o").is_symlink());
    assert_eq!(run("rm o; icecore convert b.json -o link", "o"), 0o604);
    assert!(top.join("links/o").is_symlink());
    symlink("round", top.join("round")).unwrap();
    assert_eq!(sh(top, "icecore convert a.json -o round").2, Some(2));
    assert!(!names(top).iter().any(|name| name.contains("part")));
}

/// The owner of a replaced file remains its owner: only root can test that.
#[test]
fn a_replaced_file_keeps_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o");
    fs::write(&path, "old").unwrap();
    let known = fs::metadata(&path).unwrap();
    let owner = if known.uid() == 0 { (12345, 54321) } else { (known.uid(), known.gid()) };
    std::os::unix::fs::chown(&path, Some(owner.0), Some(owner.1)).unwrap();
    let (_, stderr, code) = sh(folder.path(), "echo 1 | icecore convert --force -o o");
    assert_eq!(code, Some(0), "{stderr}");
    let known = fs::metadata(&path).unwrap();
    assert_eq!(((known.uid(), known.gid()), mode(&path)), (owner, 0o644));
}

/// Waits until a condition holds, which depends on the other process.
fn until(condition: impl Fn() -> bool) {
    for _ in 0..6000 {
        if condition() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it did not come");
}

#[test]
fn a_signal_leaves_no_partial_file() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        for args in [
            &["convert", "in", "-o", "out/o"][..],
            &["convert", "--each", "in", "-o", "out/o"],
            &["convert", "--each", "--out-dir", "out", "in"],
            &["rows", "--in", "ndjson", "-c", "x", "in", "-o", "out/o"],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path();
            let out = top.join("out");
            fs::create_dir(&out).unwrap();
            fs::write(out.join("old"), "old").unwrap();
            assert!(Command::new("mkfifo").arg(top.join("in")).status().unwrap().success());
            // The process that starts the tests may ignore INT and QUIT.
            let mut child = Command::new("env")
                .args(["--default-signal=INT,QUIT,HUP,TERM", env!("CARGO_BIN_EXE_icecore")])
                .args(args)
                .current_dir(top)
                .stdin(Stdio::null())
                .spawn()
                .expect("icecore runs");
            let mut writer = File::options().write(true).open(top.join("in")).unwrap();
            writer.write_all(b"{\"x\":\"i:5;\"}\n").unwrap();
            until(|| names(&out).len() == 2);
            let kill_status = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
            assert!(kill_status.unwrap().success());
            let status = child.wait().unwrap();
            assert_eq!(status.signal(), Some(number), "{args:?}");
            assert_eq!(names(&out), ["old"], "{args:?} {signal}");
        }
    }
}

/// With `nohup`, the command continues when the terminal closes.
#[test]
fn an_ignored_signal_stays_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let command = "mkfifo in; (trap '' HUP; exec icecore convert in -o o) & exec 3> in; printf '[1' >&3
        while ! ls .icecore-* >ls 2>/dev/null; do :; done; kill -HUP $!; printf ',2]' >&3; exec 3>&-; wait $!";
    let (_, stderr, code) = sh(top, command);
    assert_eq!((stderr.as_str(), code), ("", Some(0)));
    assert_eq!(fs::read_to_string(top.join("o")).unwrap(), "[1,2]\n");
}

#[test]
fn a_full_disk_leaves_no_partial_file() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let items: Vec<String> = (0..100_000).map(|item| format!("{{\"x\":\"i:{item};\"}}")).collect();
    fs::write(top.join("in"), items.join("\n")).unwrap();
    fs::write(top.join("o"), "old").unwrap();
    let before = names(top);
    for command in [
        "ulimit -f 64; icecore convert -f ndjson in --force -o o",
        "ulimit -f 64; icecore convert -f ndjson -t php in -o new",
        "ulimit -f 64; icecore convert --each in -o new",
        "ulimit -f 64; icecore convert --strict --each in -o new",
        "ulimit -f 64; icecore convert --each -t php --out-dir . in",
        "ulimit -f 64; icecore rows --in ndjson -c x in --force -o o",
        "ulimit -f 0; icecore rows --in ndjson -c x in --summary new > /dev/null",
    ] {
        let (_, stderr, code) = sh(top, command);
        assert!(code == Some(2) && stderr.contains("too large"), "{command}: {code:?} {stderr}");
        assert_eq!(names(top), before, "{command}");
        assert_eq!(fs::read_to_string(top.join("o")).unwrap(), "old", "{command}");
    }
    let (_, stderr, code) = sh(top, "icecore convert --each in -o /dev/full");
    assert!(code == Some(2) && stderr.contains("No space left"), "{stderr}");
}

/// The file is truncated after a part of it was read; a reader of the output controls the moment.
#[test]
fn an_input_that_shrinks_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in");
    let lines = "{\"x\":\"i:5;\"}\n".repeat(1_000_000);
    for (args, is_whole) in [
        (&["convert", "-f", "ndjson"][..], true),
        (&["convert", "-f", "ndjson", "-t", "php"], true),
        (&["convert", "--each"], false),
        (&["rows", "--in", "ndjson", "-c", "x"], false),
    ] {
        fs::write(&path, &lines).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_icecore"))
            .args(args)
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("icecore runs");
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 10]).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(10 << 20).unwrap();
        let mut rest = Vec::new();
        stdout.read_to_end(&mut rest).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        if is_whole {
            assert_eq!((stderr.as_str(), output.status.code()), ("", Some(0)), "{args:?}");
        } else {
            assert!(stderr.contains("became shorter"), "{args:?}: {stderr}");
            assert_eq!(output.status.code(), Some(2), "{args:?}");
        }
    }
}
