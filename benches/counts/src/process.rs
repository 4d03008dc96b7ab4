//! Benchmarks that are processes: the command, and the modules in their languages. Each runs twice, with work and
//! without. The difference of both counts is the work, without the start of the program.

use crate::callgrind::Program;
use crate::shape::Shape;
use icecore::{Limits, Stage};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A benchmark that is a process.
pub struct ProcessBenchmark {
    /// The name in the table.
    pub name: String,
    /// The language whose version decides if the benchmark can be compared.
    pub language: Option<&'static str>,
    /// The program with its work, and the program without it. If they can't run here, the reason.
    pub programs: Result<[Program; 2], String>,
}

/// The programs of this build.
pub struct Built {
    /// The folder with the modules, as `scripts/counts.sh` builds them.
    pub modules: PathBuf,
    /// The command.
    pub command: PathBuf,
    /// A folder for inputs.
    pub work: PathBuf,
}

/// Every benchmark that is a process.
///
/// # Errors
/// If the inputs can't be written.
pub fn benchmarks(built: &Built) -> std::io::Result<Vec<ProcessBenchmark>> {
    let mut benchmarks = command_benchmarks(built)?;
    for language in LANGUAGES {
        benchmarks.extend(module_benchmarks(language, built));
    }
    Ok(benchmarks)
}

/// The languages that have modules.
pub fn languages() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().map(|language| language.name)
}

// -- Modules -----------------------------------------------------------------

struct Language {
    name: &'static str,
    /// A file that exists if the module was built.
    module: &'static str,
    /// A command that prints the path of the interpreter. The program of this name in PATH may be a script that
    /// starts the interpreter, and valgrind must run the interpreter itself.
    executable: &'static [&'static str],
    /// The jobs, and how often each runs with 100 records.
    jobs: &'static [(&'static str, u32)],
}

const LANGUAGES: [&Language; 4] = [
    &Language {
        name: "perl",
        module: "bindings/perl/blib/arch/auto/Icecore/Icecore.so",
        executable: &["perl", "-e", "print $^X"],
        jobs: &[("storable-freeze", 300), ("storable-thaw", 100), ("sereal-encode", 300), ("sereal-decode", 100)],
    },
    &Language {
        name: "php",
        module: "bindings/php/modules/icecore.so",
        executable: &["php", "-n", "-r", "echo PHP_BINARY;"],
        jobs: &[("serialize", 200), ("unserialize", 200), ("igbinary-serialize", 60), ("igbinary-unserialize", 120)],
    },
    &Language {
        name: "ruby",
        module: "bindings/ruby/lib/icecore/icecore.so",
        executable: &["ruby", "--disable=gems", "-e", "require %q(rbconfig); print RbConfig.ruby"],
        jobs: &[("marshal-dump", 200), ("marshal-load", 200)],
    },
    &Language {
        name: "python",
        module: "python/icecore/_icecore.abi3.so",
        executable: &["python3", "-c", "import sys; print(sys.executable, end='')"],
        jobs: &[("loads-php", 80), ("loads-marshal", 80), ("dumps-php", 80), ("dumps-json", 80)],
    },
];

fn module_benchmarks(language: &'static Language, built: &Built) -> Vec<ProcessBenchmark> {
    let starter = start_language(language, built);
    let benchmarks = language.jobs.iter().map(|(job, rounds)| ProcessBenchmark {
        name: format!("{}/{job}", language.name),
        language: Some(language.name),
        programs: starter.clone().map(|start| {
            let with = |rounds: u32| start.clone().arg(*job).arg(rounds.to_string());
            [with(*rounds), with(0)]
        }),
    });
    benchmarks.collect()
}

/// Returns the interpreter with the module and the script of the benchmarks, or the reason why that
/// fails.
fn start_language(language: &Language, built: &Built) -> Result<Program, String> {
    let is_built = built.modules.join(language.module).exists();
    if !is_built {
        return Err(format!("no module for {} was built", language.name));
    }
    let (program, arguments) = language.executable.split_first().expect("a command has words");
    let output = Command::new(program).args(arguments).output();
    let output = output.ok().filter(|output| output.status.success()).ok_or_else(|| format!("{program} is missing"))?;
    let start = Program::new(String::from_utf8_lossy(&output.stdout).into_owned());
    let below = |path: &str| built.modules.join(path).into_os_string();
    let script = |name: &str| Path::new("benches/counts/modules").join(name).into_os_string();
    Ok(match language.name {
        "perl" => start
            .arg("-I")
            .arg(below("bindings/perl/blib/lib"))
            .arg("-I")
            .arg(below("bindings/perl/blib/arch"))
            .arg(script("counts.pl")),
        "php" => {
            let mut extension = std::ffi::OsString::from("extension=");
            extension.push(below(language.module));
            start.arg("-n").arg("-d").arg(extension).arg("-d").arg("memory_limit=-1").arg(script("counts.php"))
        }
        "ruby" => start.arg("--disable=all").arg("-I").arg(below("bindings/ruby/lib")).arg(script("counts.rb")),
        _ => start.arg("-S").arg("-s").arg(script("counts.py")).variable("PYTHONPATH", below("python")),
    })
}

// -- The command -------------------------------------------------------------

fn command_benchmarks(built: &Built) -> std::io::Result<Vec<ProcessBenchmark>> {
    let write = |name: &str, text: Vec<u8>| -> std::io::Result<PathBuf> {
        let file = built.work.join(name);
        std::fs::write(&file, text)?;
        Ok(file)
    };
    let mut benchmarks = Vec::new();
    let mut add = |name: &str, arguments: &[&str], inputs: [PathBuf; 2]| {
        let programs = if built.command.exists() {
            Ok(inputs.map(|input| {
                let start = Program::new(built.command.clone());
                let program = arguments.iter().fold(start, |program, argument| program.arg(*argument));
                program.arg(input)
            }))
        } else {
            Err("the command was not built".to_owned())
        };
        benchmarks.push(ProcessBenchmark { name: format!("command/{name}"), language: None, programs });
    };
    let lists = [write("many.ser", list(12_000))?, write("one.ser", list(1))?];
    add("convert", &["convert", "-f", "php", "-t", "json"], lists.clone());
    let short = [write("some.ser", list(1_500))?, lists[1].clone()];
    add("get", &["get", "$[*].name"], short);
    let rows = [write("many.ndjson", rows(1_500))?, write("one.ndjson", rows(1))?];
    add("rows", &["rows", "--in", "ndjson", "--column", "data=php"], rows);
    let dumps = [write("many.sql", dump(1_500))?, write("one.sql", dump(1))?];
    add("replace", &["replace", "--url", "https://old.example", "https://brand-new.example"], dumps);
    Ok(benchmarks)
}

fn to_php(document: &icecore::Document<'_>) -> Vec<u8> {
    let (mut bytes, stage) = (Vec::new(), Stage::parse("php").expect("there is a format php"));
    icecore::write_to(document, &stage, &Limits::default(), &mut bytes).expect("records can be written");
    bytes
}

/// A list of records in PHP's text.
fn list(items: usize) -> Vec<u8> {
    to_php(&Shape::Records.build("php", items))
}

/// Rows as lines of JSON, with a frozen record in each.
fn rows(items: usize) -> Vec<u8> {
    let mut text = String::new();
    for id in 0..items {
        let record = String::from_utf8(to_php(&Shape::Records.build_item(id))).expect("records are ASCII");
        _ = writeln!(text, "{{\"id\":{id},\"data\":\"{}\"}}", record.replace('"', "\\\""));
    }
    text.into_bytes()
}

/// A dump of a table of options, with an address in each.
fn dump(items: usize) -> Vec<u8> {
    let mut text = String::from("INSERT INTO wp_options (option_id, option_name, option_value) VALUES\n");
    for id in 0..items {
        let logo = format!("https://old.example/logo-{id}.png");
        let value = format!("a:1:{{s:4:\\\"logo\\\";s:{}:\\\"{logo}\\\";}}", logo.len());
        let end = if id + 1 == items { ';' } else { ',' };
        _ = writeln!(text, "({id},'option_{id}','{value}'){end}");
    }
    text.into_bytes()
}
