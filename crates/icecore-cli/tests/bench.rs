//! `icecore bench` at the command line. Its measurements are tested in icecore-lab; these tests cover its arguments,
//! its files, its exit codes, and how it is stopped.

use icecore_lab::model::{Fidelity, Report};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::time::{Duration, Instant};

fn icecore(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icecore"));
    command.args(["-q", "bench"]).args(args).stdin(Stdio::null());
    command
}

/// Returns stdout, stderr and the exit code.
fn output(args: &[&str]) -> (String, String, i32) {
    let done = icecore(args).output().expect("icecore runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(done.stdout), text(done.stderr), done.status.code().expect("it ends by itself"))
}

/// Runners are programs of third parties: none of them gets a secret of this process.
#[cfg(unix)]
#[test]
fn runners_get_no_secrets() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let seen = folder.path().join("seen");
    // Replaces each language's interpreter.
    for language in ["perl", "php", "ruby", "python3"] {
        let program = folder.path().join(language);
        fs::write(&program, format!("#!/bin/sh\nenv >>'{}'\nexit 1\n", text(&seen))).expect("a file");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    }
    let path = format!("{}:{}", text(folder.path()), std::env::var("PATH").unwrap_or_default());
    let data = folder.path().join("data");
    fs::write(&data, "a:1:{i:0;i:1;}").expect("a file");
    let mut bench = icecore(&["--small", "--data", text(&data)]);
    for name in ["ICECORE_TOKEN", "ICECORE_DB", "ICECORE_DB_PASSWORD", "ICECORE_DB_PASSWORD_FILE", "APP_PASSWORD"] {
        bench.env(name, "5ecret");
    }
    bench.env("PATH", path).env("KEPT", "kept").output().expect("icecore runs");
    let seen = fs::read_to_string(seen).expect("a runner was started");
    assert!(seen.contains("KEPT=kept"), "{seen}");
    assert!(!seen.contains("5ecret"), "{seen}");
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cookbook/samples").join(name)
}

fn report(path: &Path) -> Report {
    serde_json::from_slice(&fs::read(path).expect("it was written")).expect("a report")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path as text")
}

fn has_perl() -> bool {
    let is_installed = Command::new("perl").arg("-v").stdout(Stdio::null()).status().is_ok();
    if !is_installed {
        eprintln!("skipped: perl is not installed");
    }
    is_installed
}

#[test]
fn wrong_arguments_get_a_suggestion() {
    for (args, message) in [
        (
            &["perl-mux"][..],
            "there is no scenario perl-mux; did you mean perl-mix? The scenarios are columns, employees, ",
        ),
        (&["--weight", "raed:1"], "`raed` can't be weighted"),
        (&["--fail-on", "10%"], "--compare"),
        (&["--data", "x", "perl-mix"], "cannot be used with"),
        (&["--data", "/nowhere/at/all"], "/nowhere/at/all: "),
        (&["--show", "/nowhere/at/all"], "/nowhere/at/all: "),
        (&["--rounds", "0"], "--rounds"),
    ] {
        let (stdout, stderr, code) = output(args);
        assert_eq!((stdout.as_str(), code), ("", 2), "{args:?}: {stderr}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
}

#[test]
fn the_list_names_scenarios_and_competitors() {
    let (stdout, stderr, code) = output(&["--list"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    for word in [
        "perl-mix",
        "ruby-base64",
        "pending-store",
        "ruby/pending-store/sqlite-base64",
        "perl/storable",
        "php/serialize",
    ] {
        assert!(stdout.contains(word), "{word} in {stdout}");
    }
}

/// The databases, with the variable that names the server, and whether this build has the driver.
const DATABASES: [(&str, Option<&str>, bool); 4] = [
    ("sqlite", None, true),
    ("postgres", Some("ICECORE_TEST_POSTGRES"), cfg!(feature = "postgres")),
    ("mariadb", Some("ICECORE_TEST_MYSQL"), cfg!(feature = "mysql")),
    ("mongodb", Some("ICECORE_TEST_MONGODB"), cfg!(feature = "mongodb")),
];

/// The command stores the objects of a Ruby program and returns them, in every available database.
#[test]
fn pending_objects_are_kept_by_the_store() {
    if Command::new("ruby").arg("-v").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: ruby is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("x.json");
    let only = "ruby/pending-bulk/sqlite,ruby/pending-store";
    let (_, stderr, code) =
        output(&["pending-store", "--small", "--rounds", "1", "--only", only, "--json", text(&json)]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let found = report(&json);
    let scenario = &found.scenarios[0];
    for ((database, variable, has_driver), form) in
        DATABASES.iter().flat_map(|database| ["", "-base64"].map(|form| (database, form)))
    {
        let id = format!("ruby/pending-store/{database}{form}");
        if let Some(absent) = scenario.absent.iter().find(|one| one.competitor == id) {
            let is_here = variable.is_none_or(|name| std::env::var_os(name).is_some());
            assert!(absent.install.is_some() || is_here && !has_driver, "{id}: {}", absent.why);
            eprintln!("skipped: {id}: {}", absent.why);
            continue;
        }
        let entry = scenario.points[0].entries.iter().find(|entry| entry.id == id).expect("it is there or absent");
        assert_eq!(entry.fidelity, Fidelity::Exact, "{id}");
        assert_eq!(entry.size, Some(if form.is_empty() { 3_104 } else { 4_184 }), "{id}: the bytes in the column");
        assert_eq!(entry.cells.len(), 2, "{id}");
    }
}

#[test]
fn own_data_is_ranked_and_written_to_files() {
    if !has_perl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["x.json", "x.csv", "x.md", "x.html"].map(|name| folder.path().join(name));
    let [json, csv, md, html] = files.each_ref().map(|path| text(path));
    let data = sample("session.storable");
    let (stdout, stderr, code) = output(&[
        "--data",
        text(&data),
        "--small",
        "--only",
        "perl/storable,perl/sereal,perl/json-xs,engine",
        "--weight",
        "write:1,read:100,size:0.1",
        "--explain",
        "--json",
        json,
        "--csv",
        csv,
        "--markdown",
        md,
        "--html",
        html,
    ]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("write:1,read:100,size:0.1"), "{stdout}");
    let found = report(&files[0]);
    let point = &found.scenarios[0].points[0];
    assert!(point.entries.iter().any(|entry| entry.id == "perl/storable"));
    // The session contains an object, which JSON can't express.
    assert!(found.scenarios[0].absent.iter().any(|absent| absent.competitor == "perl/json-xs"));
    assert!(fs::read_to_string(&files[1]).expect("CSV").lines().count() > 4);
    assert!(fs::read_to_string(&files[2]).expect("Markdown").contains("| competitor |"));
    assert!(fs::read_to_string(&files[3]).expect("HTML").contains("<svg"));

    // `--show` reads the report, and writes it again.
    let second_report = folder.path().join("again.json");
    let (_, stderr, code) = output(&["--show", json, "--json", text(&second_report)]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(report(&second_report).scenarios[0].points[0].entries.len(), point.entries.len());

    // Nothing is worse than itself; something twice as large is.
    let compare = |old: &str| output(&["--show", json, "--compare", old, "--fail-on", "10%"]).2;
    assert_eq!(compare(json), 0);
    let mut smaller = found;
    for entry in &mut smaller.scenarios[0].points[0].entries {
        entry.size = entry.size.map(|size| size / 2);
    }
    fs::write(&second_report, serde_json::to_vec(&smaller).expect("a report")).expect("a file");
    assert_eq!(compare(text(&second_report)), 1);
    assert_eq!(output(&["--show", json, "--compare", text(&second_report)]).2, 0, "without --fail-on it only tells");
}

#[test]
fn data_is_read_from_pipes_and_columns() {
    if !has_perl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("x.json");
    let only = ["--small", "--only", "perl/storable,perl/json-xs", "--force", "--json", text(&json)];

    let mut child = icecore(&[&["--data", "-"][..], &only].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("icecore runs");
    child.stdin.take().expect("a pipe").write_all(br#"{"a":[1,2,3],"b":"text"}"#).expect("it reads");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(report(&json).scenarios[0].baseline.as_deref(), Some("perl/json-xs"));

    let table = folder.path().join("table.csv");
    fs::write(&table, "id,meta\n1,\"a:1:{i:0;i:5;}\"\n2,\"a:2:{i:0;i:6;i:1;s:1:\"\"x\"\";}\"\n").expect("a file");
    let (_, stderr, code) = output(&[&["--data", text(&table), "--column", "meta=php"][..], &only].concat());
    assert_eq!((code, stderr.as_str()), (0, ""));
    let found = report(&json);
    let sizes: Vec<_> = found.scenarios[0].points[0]
        .entries
        .iter()
        .filter(|one| one.id == "perl/json-xs")
        .map(|one| one.size)
        .collect();
    assert_eq!(sizes[0], Some("[[5],[6,\"x\"]]".len() as u64));
    let (_, stderr, code) = output(&["--data", text(&table), "--column", "mata=php"]);
    assert!(code != 0 && stderr.contains("mata"), "{code} {stderr}");
}

/// Timeout after which a test is given up; it only ends what would never finish.
#[cfg(unix)]
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// A runner that takes part in some rounds. Then it notes this in a file, and does not answer any more.
#[cfg(unix)]
const STOPS: &str = r#"#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use FindBin;
use Lab;

sub mark {
    my ($name) = @_;
    open my $file, '>>', "$FindBin::Bin/../$name" or die "$name: $!";
    print {$file} '.';
    close $file or die "$name: $!";
    return -s "$FindBin::Bin/../$name";
}

# One process says who it is, one or two are tried, and each round starts one.
if (mark('starts') > 6) {
    mark('here');
    sleep 1 while 1;
}

Lab::run(
    name  => 'stops',
    needs => ['Storable'],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'Storable::thaw($bytes)',
);
"#;

#[cfg(unix)]
#[test]
fn a_stopped_run_keeps_its_results() {
    if !has_perl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("x.json");
    let runners = folder.path().join("runners");
    fs::create_dir_all(runners.join("perl")).expect("a folder");
    fs::write(runners.join("perl/stops.pl"), STOPS).expect("a runner");
    let only = "perl/storable,perl/stops";
    let mut args = vec!["flat-strings", "int-list", "--rounds", "1000", "--only", only, "--json", text(&json)];
    args.extend(["--runners", text(&runners)]);
    let mut child = icecore(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("icecore runs");
    let end = Instant::now() + TIME_LIMIT;
    while !runners.join("here").exists() {
        assert!(child.try_wait().expect("it is there").is_none(), "it ended by itself");
        assert!(Instant::now() < end, "the runner never came so far");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The process that starts the tests may ignore INT, as a shell does for background jobs.
    let status = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill is there");
    assert!(status.success());
    // If it waited for the runner, it would continue to measure, and not report that it was stopped.
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stopped"));
    let found = report(&json);
    assert_eq!(found.scenarios.len(), 1, "the second scenario has not begun");
    assert!(found.scenarios[0].stopped);
    let samples: usize =
        found.scenarios[0].points[0].entries.iter().flat_map(|one| &one.cells).map(|cell| cell.samples.len()).sum();
    assert!(samples > 0);
}
