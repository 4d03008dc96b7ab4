//! Which places of a value change together: values that perl, PHP and Ruby share are converted, and
//! a program of the target language changes one place after the other and looks at the rest. It
//! must see what a program of the source language would have seen, or the loss is reported.
//!
//! `ICECORE_ROUNDS` sets the number of values, `ICECORE_SEED` the first of them.

use crate::fixtures::{base64, perl, report};
use icecore::{Limits, LossKind, Stage};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running program of one language, and its pipes.
struct Language {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Language {
    fn start(program: &str, script: &str) -> Option<Language> {
        let path = format!("{}/tests/sharing/{script}", env!("CARGO_MANIFEST_DIR"));
        let mut process = Command::new(program)
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .ok()?;
        let (to, from) = (process.stdin.take()?, BufReader::new(process.stdout.take()?));
        Some(Language { process, to, from })
    }

    fn ask(&mut self, question: &str) -> String {
        writeln!(self.to, "{question}").expect("it listens");
        let mut answer = String::new();
        self.from.read_line(&mut answer).expect("it answers");
        assert!(answer.ends_with('\n'), "it broke off at {question}");
        answer.trim_end().to_owned()
    }

    fn look(&mut self, format: &str, blob: &[u8]) -> Result<StringLocations, String> {
        let answer = self.ask(&format!("look {format} {}", perl::base64(blob)));
        match answer.strip_prefix("error") {
            Some(error) => Err(error.trim().to_owned()),
            None => Ok(StringLocations::parse(&answer)),
        }
    }
}

impl Drop for Language {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The places of a value, and the places that change with each. `None` means a literal of a
/// program, which can't be changed.
#[derive(Debug)]
struct StringLocations(BTreeMap<String, Option<BTreeSet<String>>>);

impl StringLocations {
    fn parse(text: &str) -> StringLocations {
        let place = |item: &str| {
            let (path, changed) = item.trim_start_matches(['+', '?']).split_once('=').expect("path=paths");
            let changed = changed.split(',').map(str::to_owned).collect();
            (path.to_owned(), (!item.starts_with('?')).then_some(changed))
        };
        StringLocations(text.split(' ').filter(|item| !item.is_empty()).map(place).collect())
    }

    /// Returns the source's place that contains a place of the target: a single value here may be
    /// several there.
    fn find_enclosing_path<'p>(&self, mut path: &'p str) -> &'p str {
        while !self.0.contains_key(path) && !path.is_empty() {
            path = &path[..path.rfind('/').unwrap_or(0)];
        }
        path
    }
}

/// Returns `true` if something is not shared any more, and a place that is shared but was not.
fn difference(source: &StringLocations, target: &StringLocations) -> (bool, Option<String>) {
    let (mut is_lost, mut surplus) = (false, None);
    for (path, changed) in &target.0 {
        let Some(changed) = changed else { continue };
        let place = source.find_enclosing_path(path);
        let mut expected = source.0.get(place).cloned().flatten().unwrap_or_default();
        let seen: BTreeSet<_> = changed.iter().map(|path| source.find_enclosing_path(path).to_owned()).collect();
        if place == path && !expected.is_subset(&seen) {
            is_lost = true;
        }
        expected.insert(place.to_owned());
        if !seen.is_subset(&expected) {
            surplus = surplus.or(Some(format!("{path} changes {changed:?} and not only {expected:?}")));
        }
    }
    (is_lost, surplus)
}

/// Stages to write, the language that reads each, and that language's name for the format.
const TARGETS: &[(&str, usize, &str)] = &[
    ("storable:memory", 0, "storable"),
    ("storable:memory,netorder", 0, "nstorable"),
    ("sereal", 0, "sereal"),
    ("dumper:purity,useqq", 0, "dumper"),
    ("json", 1, "json"),
    ("php", 1, "php"),
    ("igbinary", 1, "igbinary"),
    ("var-export", 1, "var-export"),
    ("php-session", 1, "php-session"),
    ("marshal", 2, "marshal"),
];

fn read_as(format: &str) -> &str {
    if format == "nstorable" { "storable" } else { format }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn shared_values_stay_shared_in_every_language() {
    let started = [("perl", "perl.pl"), ("php", "php.php"), ("ruby", "ruby.rb")]
        .map(|(name, script)| Language::start(name, script));
    let [Some(perl), Some(php), Some(ruby)] = started else {
        return eprintln!("perl, php or ruby is missing");
    };
    let mut languages = [perl, php, ruby];
    let limits = Limits::default();
    let (first, rounds) = (number("ICECORE_SEED", 1), number("ICECORE_ROUNDS", 40));
    let (mut failures, mut all, mut lost) = (Vec::new(), 0, 0);
    for seed in first..first + rounds {
        for from in 0..languages.len() {
            let value = languages[from].ask(&format!("make {seed}"));
            let original =
                value.split(' ').find_map(|item| item.strip_prefix("storable=")).map(base64).unwrap_or_default();
            for (format, blob) in value.split(' ').map(|item| item.split_once('=').expect("name=blob")) {
                let blob = base64(blob);
                // A text of Data::Dumper represents what was dumped; perl's eval makes copies of
                // variables that are the same in the text.
                let source = if format == "dumper" {
                    languages[from].look("storable", &original)
                } else {
                    languages[from].look(format, &blob)
                };
                let source = source.unwrap_or_else(|error| panic!("{format}: {error}"));
                let document = icecore::read_as(&blob, &Stage::parse(read_as(format)).unwrap(), &limits)
                    .unwrap_or_else(|error| panic!("{format}, seed {seed}: {error}"));
                for (stage, to, name) in TARGETS {
                    let mut out = Vec::new();
                    let Ok(losses) = icecore::write_to(&document, &Stage::parse(stage).unwrap(), &limits, &mut out)
                    else {
                        continue;
                    };
                    all += 1;
                    let mut fail = |what: &str| {
                        let typed = icecore::write(&document, "json:typed").unwrap_or_default();
                        let typed = String::from_utf8_lossy(&typed).into_owned();
                        failures
                            .push(format!("{format} to {stage}, seed {seed}: {what}\n{typed}\n{}", out.escape_ascii()));
                    };
                    let target = match languages[*to].look(name, &out) {
                        Ok(target) => target,
                        Err(error) => {
                            fail(&error);
                            continue;
                        }
                    };
                    let is_reported = |loss: &icecore::Loss| matches!(loss.kind, LossKind::Sharing | LossKind::Cycle);
                    let (is_lost, surplus) = difference(&source, &target);
                    lost += usize::from(is_lost);
                    if let Some(surplus) = surplus {
                        fail(&surplus);
                    } else if is_lost && !losses.iter().any(is_reported) {
                        fail("sharing was lost, and this is not reported");
                    }
                }
            }
        }
    }
    eprintln!("{all} conversions, in {lost} sharing was lost and reported");
    assert!(all > rounds as usize * 40, "only {all} conversions");
    report("sharing", all, &failures);
}
