//! Damage that is common in serialized texts is explained, and repaired or refused. PHP makes the
//! texts, the damage, and the expected results.

use crate::common::usual_or_full;
use crate::fixtures::folder;
use icecore::text::from_base64;
use icecore::{Document, Limits, Stage};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Results for the texts of one kind.
#[derive(Debug, Default)]
struct Counts {
    total: u32,
    repaired: u32,
    /// Refused, although one explanation should be found.
    refused: u32,
    /// Refused, because several explanations lead to different texts.
    ambiguous: u32,
    /// Wrong, and the report says that it is a guess.
    guessed: u32,
    /// Wrong, and not reported as a guess.
    wrong: u32,
    /// Wrong or refused, but the text does not determine the right result: PHP reads the damaged text
    /// as another value, a text can happen to be a serialized value, or nothing names the class of a private
    /// property.
    unknowable: u32,
}

impl Counts {
    /// Returns the number of texts with one explanation.
    fn count_explainable(&self) -> u32 {
        self.total - self.ambiguous - self.unknowable
    }
}

/// Texts of errors that report several explanations.
const SEVERAL: [&str; 2] = ["explanations with different results", "counted again in one way only"];

fn repair(text: &[u8], format: &str) -> Result<(Vec<u8>, Document<'static>), icecore::Error> {
    let separator = if format.contains(':') { "," } else { ":" };
    let stage = Stage::parse(&format!("{format}{separator}repair=lengths"))?;
    let document = icecore::read_as(text, &stage, &Limits::default())?.into_owned();
    Ok((icecore::write(&document, format)?, document))
}

#[test]
fn damaged_php_texts_are_repaired_right_or_refused() {
    if !Command::new("php").arg("-v").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        println!("skipped: php is not installed");
        return;
    }
    let number = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let rounds = usual_or_full("20", "1000");
    let is_verbose = std::env::var_os("ICECORE_SHOW").is_some();
    let mut child = Command::new("php")
        .arg(folder().join("php/damage.php"))
        .args([number("ICECORE_SEED", "1"), number("ICECORE_ROUNDS", rounds)])
        .args(number("ICECORE_KINDS", "").split_whitespace())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut kinds: BTreeMap<String, Counts> = BTreeMap::new();
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        let line = line.expect("a line");
        let parts: Vec<_> = line.split('\t').collect();
        let [kind, format, damaged, expected, note] = parts[..] else { panic!("not five parts: {line}") };
        let [damaged, expected] = [damaged, expected].map(|part| from_base64(part.as_bytes()).expect("Base64"));
        let counts = kinds.entry(kind.to_owned()).or_default();
        counts.total += 1;
        let print = |text: &[u8]| icecore::text::printable(&String::from_utf8_lossy(text)).into_owned();
        let is_readable = note == "readable";
        let is_frozen = note == "frozen";
        let is_unknowable = is_readable || is_frozen || note == "classless";
        let count = match repair(&damaged, format) {
            Ok((made, _)) if made == expected => &mut counts.repaired,
            Ok((made, document)) => {
                let explanation = document.repairs().first().and_then(|repair| repair.explanation.clone());
                let is_guess = explanation.as_ref().is_some_and(|explanation| explanation.is_guess);
                // Without a report, the text was read as PHP reads it.
                let is_as_php = is_readable && explanation.is_none() && made == damaged;
                if !is_as_php && (!is_guess || is_verbose) {
                    let [damaged, made, expected] = [&damaged, &made, &expected].map(|text| print(text));
                    eprintln!(
                        "{kind}: {explanation:?}\n  damaged  {damaged}\n  made     {made}\n  expected {expected}\n"
                    );
                }
                match is_guess {
                    _ if is_as_php => &mut counts.unknowable,
                    true if is_unknowable => &mut counts.unknowable,
                    false if is_frozen => &mut counts.unknowable,
                    true => &mut counts.guessed,
                    false => &mut counts.wrong,
                }
            }
            Err(error) => {
                if is_verbose {
                    eprintln!("{kind}: {error}\n  damaged  {}\n", print(&damaged));
                }
                let error = error.to_string();
                match SEVERAL.iter().any(|words| error.contains(words)) {
                    _ if is_unknowable => &mut counts.unknowable,
                    true => &mut counts.ambiguous,
                    false => &mut counts.refused,
                }
            }
        };
        *count += 1;
    }
    assert!(child.wait().expect("it ends").success());
    for (kind, counts) in &kinds {
        let Counts { total, repaired, refused, ambiguous, guessed, wrong, unknowable } = counts;
        println!(
            "{kind:32} {total:6} texts {repaired:6} repaired {refused:4} refused {ambiguous:4} ambiguous {guessed:4} guessed \
             {wrong:4} wrong {unknowable:4} unknowable"
        );
    }
    for (kind, counts) in &kinds {
        assert!(counts.wrong == 0, "{kind}: {counts:?}");
        // With fewer texts, a single one proves nothing.
        let enough = counts.count_explainable() * 98 / 100;
        assert!(
            counts.total < 100 || counts.repaired >= enough && counts.ambiguous * 25 <= counts.total,
            "{kind}: {counts:?}"
        );
    }
}
