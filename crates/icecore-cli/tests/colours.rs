//! Colour where it is wanted, and nowhere else, for every command.
#![cfg(target_os = "linux")]

use crate::pty;
use crate::run;

use std::fs;
use std::path::Path;

/// Commands that print text for reading, or an error.
const COMMANDS: &[&str] = &[
    "inspect a.json",
    "inspect --json a.json",
    "inspect --all --deep deep.json",
    "inspect broken.php",
    "inspect --path '$.missing' a.json",
    "detect a.json user.php missing",
    "detect --json a.json",
    "classes user.php",
    "classes --json user.php",
    "classes --as php user.php",
    "convert a.json",
    "convert -t php a.json",
    "convert --strict -t pack:template=C a.json",
    "query . a.json",
    "query '.[' a.json",
    "query -r '.é' a.json",
    "query --depth 1 --items 1 . a.json",
    "get '$' a.json",
    "get '$.k' -p a.json user.php",
    "get '$.é' -r a.json",
    "get --depth 1 --items 1 '$' a.json",
    "paths a.json user.php",
    "paths --depth 1 --items 1 a.json",
    "rows --in csv -c v t.csv",
    "rows t.csv",
    "replace one two a.json",
    "replace --dry-run one two a.json",
    "edit --set '$.k[0]=2' a.json",
    "edit --set '$.missing.x=2' a.json",
    "diff a.json b.json",
    "diff --view columns a.json b.json",
    "diff --json a.json b.json",
    "diff --depth 1 --items 1 a.json b.json",
    "patch a.json change.json",
    "patch b.json change.json",
    "bench --show report.json",
    "formats",
    "formats php",
    "formats --json",
    "formats missing",
    "completions bash",
    "man get",
    "help get",
    "get -h",
    "--wrong",
    "get",
];

/// The same for the store.
const STORE: &[&str] = &[
    "store --db sqlite:s.db each",
    "store --db sqlite:s.db each --json",
    "store --db sqlite:s.db find --class App\\\\User",
    "store --db sqlite:s.db stats",
    "store --db sqlite:s.db stats --json",
    "store --db sqlite:s.db get user",
    "store --db sqlite:s.db get user -t json",
    "store --db sqlite:s.db get missing",
    "queue --db sqlite:s.db list",
    "queue --db sqlite:s.db list --json",
    "queue --db sqlite:s.db schedules",
];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.json", "{\"k\":[1,{\"x\":[]},null],\"é\":\"one é\",\"d\":-2.5e3}\n");
    write("b.json", "{\"k\":[1,{\"x\":[true]}],\"é\":\"two\"}\n");
    write("deep.json", "{\"s\":\"a:1:{i:0;i:1;}\"}\n");
    write("user.php", "O:8:\"App\\User\":1:{s:1:\"k\";R:1;}");
    write("broken.php", "a:2:{i:0;i:1;");
    write("t.csv", "id,v\n1,i:5;\n");
    let make = "icecore diff --json a.json b.json >change.json; icecore store --db sqlite:s.db put --key user user.php; \
                icecore store --db sqlite:s.db put broken.php; icecore queue --db sqlite:s.db push user.php a.json";
    run::shell(folder.path(), make).output().unwrap();
    let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bench/report.json");
    let mut report: serde_json::Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    // One of them is enough.
    report["scenarios"].as_array_mut().unwrap().truncate(1);
    write("report.json", &report.to_string());
    folder
}

fn commands() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().chain(if cfg!(feature = "store") { STORE } else { &[] }).copied()
}

/// Returns what a command writes to pipes, and its exit code.
fn run_with_pipes(folder: &Path, command: &str) -> (String, String, Option<i32>) {
    let output = run::shell(folder, command).env("COLUMNS", "80").env_remove("NO_COLOR").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn colour_changes_only_the_colour_of_the_output() {
    let folder = folder();
    let mut painted = 0;
    for command in commands() {
        let (plain, plain_stderr, plain_code) =
            run_with_pipes(folder.path(), &format!("icecore --color never {command}"));
        assert!(!plain.contains('\x1b') && !plain_stderr.contains('\x1b'), "{command}: {plain} {plain_stderr}");
        let (stdout, stderr, code) = run_with_pipes(folder.path(), &format!("icecore --color always {command}"));
        painted += usize::from((&stdout, &stderr) != (&plain, &plain_stderr));
        let (stdout, stderr) = (pty::without_colours(&stdout), pty::without_colours(&stderr));
        assert_eq!((stdout, stderr, code), (plain, plain_stderr, plain_code), "{command}");
    }
    assert!(painted > commands().count() / 2, "{painted}");
}

#[test]
fn no_color_and_color_never_disable_colour() {
    let folder = folder();
    for command in commands() {
        let show =
            |how: &str| pty::run_on_terminal(folder.path(), &how.replace("ICECORE", "icecore --paging never -q"));
        let Some((plain, code)) = show(&format!("ICECORE --color never {command}")) else { return };
        let without_colour = show(&format!("NO_COLOR=1 ICECORE --color auto {command}")).unwrap();
        let (coloured, coloured_code) = show(&format!("ICECORE --color always {command}")).unwrap();
        assert!(!plain.contains('\x1b'), "{command}: {plain}");
        assert_eq!(without_colour, (plain.clone(), code), "{command}");
        assert_eq!((pty::without_colours(&coloured), coloured_code), (plain, code), "{command}");
        let empty = show(&format!("NO_COLOR= ICECORE --color auto {command}")).unwrap();
        assert_eq!(empty, (coloured, coloured_code), "{command}: an empty NO_COLOR says nothing");
    }
}
