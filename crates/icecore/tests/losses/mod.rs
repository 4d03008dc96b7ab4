//! Nothing changes silently: what a target can't represent is reported as a loss at the path where
//! it happened, and every reported loss is real.

mod faithful;
mod languages;
mod tree;

use faithful::{Language, compare};
use icecore::{ErrorKind, Limits, Stage};
use std::collections::BTreeMap;
use tree::Tree;

const TARGETS: &[(&str, Language)] = &[
    ("json:typed", Language::All),
    ("storable", Language::Perl),
    ("storable:netorder", Language::Perl),
    ("storable:version=2.12", Language::Perl),
    ("sereal", Language::Perl),
    ("sereal:protocol=4", Language::Perl),
    ("sereal:protocol=3", Language::Perl),
    ("sereal:protocol=2", Language::Perl),
    ("sereal:protocol=1", Language::Perl),
    ("dumper", Language::Perl),
    ("dumper:indent=0", Language::Perl),
    ("dumper:indent=1,useqq", Language::Perl),
    ("dumper:purity,useperl", Language::Perl),
    ("json", Language::Json),
    ("ndjson", Language::Json),
    ("php", Language::Php),
    ("php-session:handler=php", Language::Php),
    ("php-session:handler=php_serialize", Language::Php),
    ("var-export", Language::Php),
    ("igbinary", Language::Php),
    ("marshal", Language::Ruby),
];

/// Returns what is wrong with a document that is written to this target and read again.
fn findings(tree: &Tree, target: &str, language: Language) -> Vec<String> {
    let document = tree.document();
    let stage = Stage::parse(target).unwrap();
    if target == "ndjson" && !matches!(tree, Tree::Array(items) if items.len() > 1) {
        // Several items give a line each; any other document is a single line.
        return Vec::new();
    }
    let mut limits = Limits::default();
    limits.loss_paths = 10_000;
    let mut bytes = Vec::new();
    let losses = match icecore::write_to(&document, &stage, &limits, &mut bytes) {
        Ok(losses) => losses,
        Err(error) if error.kind() == ErrorKind::Unrepresentable => return Vec::new(),
        Err(error) => return vec![format!("can't be written: {error}")],
    };
    match icecore::read_as(&bytes, &stage, &limits) {
        Ok(after) => compare(language, &document, &after, &losses),
        Err(error) => vec![format!("can't be read: {error}: {}", bytes.escape_ascii())],
    }
}

/// Returns a finding without the parts that differ from document to document.
fn class_of(finding: &str) -> String {
    let (_, what) = finding.split_once(": ").unwrap_or(("", finding));
    what.chars().filter(|c| !c.is_ascii_digit()).take(60).collect()
}

#[test]
fn every_difference_is_reported_and_every_report_is_a_difference() {
    let seeds: u64 = std::env::var("ICECORE_LOSSES").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(600);
    let first: u64 = std::env::var("ICECORE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let only = std::env::var("ICECORE_TARGET").unwrap_or_default();
    let mut failures: BTreeMap<String, String> = BTreeMap::new();
    for (target, language) in TARGETS.iter().filter(|(target, _)| only.is_empty() || *target == only) {
        for seed in first..first + seeds {
            let tree = tree::random(seed, 1 + (seed % 4) as u32);
            let found = findings(&tree, target, *language);
            for finding in &found {
                let class = class_of(finding);
                let name = format!("{target}: {class}");
                if failures.contains_key(&name) || failures.len() > 60 {
                    continue;
                }
                let small = tree
                    .clone()
                    .shrink(|tree| findings(tree, target, *language).iter().any(|other| class_of(other) == class));
                let first = findings(&small, target, *language).join("\n    ");
                failures.insert(name, format!("seed {seed}: {small:?}\n    {first}"));
            }
        }
    }
    for (name, failure) in &failures {
        println!("{name}\n  {failure}");
    }
    assert!(failures.is_empty(), "{} kinds of findings", failures.len());
}

/// Each language sees what we read from our output. The other test shows that this is the document
/// except for the reported losses.
#[test]
fn languages_see_the_same_values_as_our_reader() {
    let seeds: u64 = std::env::var("ICECORE_LOSSES").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1500);
    let first: u64 = std::env::var("ICECORE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let limits = Limits::default();
    let mut failures = Vec::new();
    for (program, script, language, formats) in languages::LANGUAGES {
        let (mut questions, mut expected) = (Vec::new(), Vec::new());
        for (target, name) in *formats {
            let stage = Stage::parse(target).unwrap();
            for seed in first..first + seeds {
                let document = tree::random(seed, 1 + (seed % 3) as u32).document();
                let mut bytes = Vec::new();
                if icecore::write_to(&document, &stage, &limits, &mut bytes).is_err() {
                    continue;
                }
                let after = icecore::read_as(&bytes, &stage, &limits).unwrap();
                if let Some(said) = languages::expected(*language, &after) {
                    questions.push((*name, bytes));
                    expected.push((format!("{target}, seed {seed}"), said));
                }
            }
        }
        let Some(answers) = languages::ask(program, script, &questions) else { continue };
        assert!(answers.len() > seeds as usize / 4, "{program}: hardly anything is compared");
        for (((name, said), answer), (_, bytes)) in expected.iter().zip(&answers).zip(&questions) {
            if said != answer {
                failures.push(format!("{name}:\n  {said}\n  {answer}\n  {}", bytes.escape_ascii()));
            }
        }
        println!("{program}: {} documents", answers.len());
    }
    failures.truncate(40);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
