//! The documentation is correct: every command in its `console` blocks is run, and must print the output on the page.
//!
//! The commands of a page run one after the other in one shell, in a copy of `docs/cookbook/samples`. The stderr of a
//! command is shown with its output. `make pages` writes the output of all commands again; review the difference.
//!
//! A command that uses php, ruby, curl, git or a perl module that is not installed is skipped, and so is one that needs
//! the feature `columns` in a build without it; the test reports this.

// They show the command as it is built by default.
#![cfg(feature = "serve")]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Pages outside the cookbook whose commands work in its samples.
const PAGES: &[&str] = &[
    "README.md",
    "docs/edit.md",
    "docs/deep.md",
    "docs/cli.md",
    "docs/query.md",
    "docs/diff.md",
    "docs/reports.md",
    "docs/streams.md",
    "docs/rows.md",
    "docs/replace.md",
    "docs/wrappers.md",
    "docs/perl-text.md",
    "docs/faq.md",
];

/// The folder of the cookbook.
const COOKBOOK: &str = "docs/cookbook";
/// The page that lists the others.
const INDEX: &str = "README.md";

/// Returns the pages of the cookbook, by name.
fn cookbook() -> Vec<String> {
    let files = fs::read_dir(workspace().join(COOKBOOK)).expect("the cookbook is there");
    let names = files.map(|file| file.expect("it can be listed").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md") && name != INDEX).collect();
    names.sort();
    names
}

/// Returns the folder of the samples in which the commands of a page work.
fn samples(page: &str) -> &str {
    match page {
        "php.md" => "php",
        "ruby.md" => "ruby",
        _ => "",
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

/// A page: its lines, and the places of commands and their outputs.
struct Page {
    lines: Vec<String>,
    commands: Vec<Step>,
}

struct Step {
    command: String,
    /// The lines of the output.
    from: usize,
    to: usize,
}

impl Page {
    fn parse(text: &str) -> Page {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut commands: Vec<Step> = Vec::new();
        let (mut inside, mut index) = (false, 0);
        while index < lines.len() {
            let line = &lines[index];
            index += 1;
            if line.starts_with("```") {
                inside = line == "```console";
            } else if inside {
                if let Some(command) = line.strip_prefix("$ ") {
                    let mut command = command.to_owned();
                    // A command continues after a backslash.
                    while command.ends_with('\\') && index < lines.len() {
                        command = format!("{command}\n{}", lines[index].trim_start_matches("> "));
                        index += 1;
                    }
                    commands.push(Step { command, from: index, to: index });
                } else if let Some(step) = commands.last_mut() {
                    step.to = index;
                }
            }
        }
        Page { lines, commands }
    }

    fn shown_output(&self, step: &Step) -> String {
        self.lines[step.from..step.to].iter().map(|line| format!("{line}\n")).collect()
    }

    /// Returns the page with these outputs; `None` keeps the existing one.
    fn with_outputs(&self, outputs: &[Option<String>]) -> String {
        let mut text = String::new();
        let mut index = 0;
        for (step, output) in self.commands.iter().zip(outputs) {
            text.extend(self.lines[index..step.from].iter().map(|line| format!("{line}\n")));
            text += output.as_deref().unwrap_or(&self.shown_output(step));
            index = step.to;
        }
        text.extend(self.lines[index..].iter().map(|line| format!("{line}\n")));
        text
    }
}

/// Returns what a command needs from other programs and this machine lacks.
fn find_missing_program(command: &str) -> Option<String> {
    let needs_columns = ["parquet", "arrow", "--schema"].iter().any(|word| command.contains(word));
    if needs_columns && !cfg!(feature = "columns") {
        return Some("the feature `columns`".to_owned());
    }
    let programs = command.split(['|', ';', '&']).filter_map(|part| part.split_whitespace().next());
    let works = |program: &str| {
        let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let mut others = programs.filter(|program| matches!(*program, "php" | "ruby" | "curl" | "git"));
    if let Some(program) = others.find(|program| !works(program)) {
        return Some(program.to_owned());
    }
    let needs: Vec<&str> =
        command.split_whitespace().filter(|word| *word == "perl" || word.starts_with("-M")).collect();
    let modules = needs.iter().filter(|word| **word != "perl").map(|module| module.split('=').next().unwrap_or(module));
    if needs.is_empty() {
        return None;
    }
    let found = Command::new("perl").args(modules).args(["-e", "1"]).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) { None } else { Some(needs.join(" ")) }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("the samples are there") {
        let path = entry.expect("the samples can be listed").path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &to);
        } else if !["make.pl", "make.php", "make.rb", "shop.sql"].iter().any(|script| path.ends_with(script)) {
            fs::copy(path, to).expect("a sample can be copied");
        }
    }
}

/// The shell prints this before the output of each command.
const MARK: &str = "\u{1}--\u{1}\n";

/// Runs the commands; `None` for one that was skipped.
fn run(commands: &[Step], folder: &Path) -> Vec<Option<String>> {
    // `$?` is that of the previous command, in spite of the mark between them.
    let mut script = String::from("exec 2>&1\nback() { return \"$1\"; }\nended=0\n");
    let mut is_run = Vec::new();
    for step in commands {
        let lacking = find_missing_program(&step.command);
        is_run.push(lacking.is_none());
        match lacking {
            Some(lacking) => {
                // Not with `println!`, which a passing test does not show.
                let note = format!("left out, as {lacking} does not work here: {}\n", step.command);
                std::io::stderr().write_all(note.as_bytes()).expect("stderr is open");
            }
            None => {
                let _ = write!(script, "printf '\\001--\\001\\n'\nback $ended\n{}\nended=$?\n", step.command);
            }
        }
    }
    let bin = Path::new(env!("CARGO_BIN_EXE_icecore")).parent().expect("the command is in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path)));
    let done = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder)
        .env("PATH", path.expect("no folder has a colon in its name"))
        .env("PERL_HASH_SEED", "0")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("NO_COLOR")
        .env_remove("ICECORE_DB")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let text = String::from_utf8(done.stdout).expect("the commands print UTF-8");
    let mut outputs = text.split(MARK).skip(1).map(|output| match output {
        "" => String::new(),
        output if output.ends_with('\n') => output.to_owned(),
        output => format!("{output}\n"),
    });
    is_run.into_iter().map(|is_run| if is_run { outputs.next() } else { None }).collect()
}

fn check_page(name: &str, samples: &str) {
    let path = workspace().join(name);
    let page = Page::parse(&fs::read_to_string(&path).expect("the page is there"));
    assert!(!page.commands.is_empty(), "{name} shows no command");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.replace('/', "-"));
    let _ = fs::remove_dir_all(&folder);
    copy(&workspace().join("docs/cookbook/samples"), &folder);
    let outputs = run(&page.commands, &folder.join(samples));
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(&path, page.with_outputs(&outputs)).expect("the page can be written");
        return;
    }
    for (step, output) in page.commands.iter().zip(&outputs) {
        let shown_output = page.shown_output(step);
        assert!(
            output.as_ref().is_none_or(|output| *output == shown_output),
            "{name} is out of date; `make pages` updates it.\n$ {}\n--- it says\n{shown_output}--- it is\n{}",
            step.command,
            output.as_deref().unwrap_or_default()
        );
    }
}

#[test]
fn commands_on_the_pages_print_the_shown_output() {
    PAGES.iter().for_each(|page| check_page(page, ""));
    cookbook().iter().for_each(|page| check_page(&format!("{COOKBOOK}/{page}"), samples(page)));
}

/// Every command has a page, and the index leads to each.
#[test]
fn every_command_has_a_page() {
    let pages = cookbook();
    let index = fs::read_to_string(workspace().join(COOKBOOK).join(INDEX)).expect("the index is there");
    for page in &pages {
        assert!(index.contains(&format!("({page})")), "{page} is not in {COOKBOOK}/{INDEX}");
    }
    let help = Command::new(env!("CARGO_BIN_EXE_icecore")).arg("-h").output().expect("it runs");
    let help = String::from_utf8(help.stdout).expect("text");
    let (_, commands) = help.split_once("Commands:\n").expect("a list of commands");
    // These two are for the shell.
    let of_shell = ["completions", "man"];
    for command in commands.lines().map_while(|line| line.split_whitespace().next()) {
        let page = if of_shell.contains(&command) { "terminal.md".to_owned() } else { format!("{command}.md") };
        assert!(pages.contains(&page), "there is no page for `icecore {command}`");
    }
}
