//! What happens to serialized texts in the wild is explained, and taken back or refused: PHP
//! makes the texts, the damage, and what is right.

use crate::fixtures::folder;
use icecore::text::from_base64;
use icecore::{Document, Limits, Stage};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// What came of the texts of one kind.
#[derive(Debug, Default)]
struct Counts {
    right: u32,
    refused: u32,
    /// Not right, and the report says that it is a guess.
    guessed: u32,
    /// Not right.
    wrong: u32,
    total: u32,
}

fn mended(text: &[u8], format: &str) -> Result<(Vec<u8>, Document<'static>), icecore::Error> {
    let separator = if format.contains(':') { "," } else { ":" };
    let stage = Stage::parse(&format!("{format}{separator}repair=lengths"))?;
    let document = icecore::read_as(text, &stage, &Limits::default())?.into_owned();
    Ok((icecore::write(&document, format)?, document))
}

#[test]
fn what_php_serialized_is_repaired_right_or_refused() {
    if !Command::new("php").arg("-v").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        println!("skipped: php is not installed");
        return;
    }
    let number = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.to_owned());
    let mut child = Command::new("php")
        .arg(folder().join("php/damage.php"))
        .args([number("ICECORE_SEED", "1"), number("ICECORE_ROUNDS", "20")])
        .args(number("ICECORE_KINDS", "").split_whitespace())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut kinds: BTreeMap<String, Counts> = BTreeMap::new();
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        let line = line.expect("a line");
        let parts: Vec<_> = line.split('\t').collect();
        let [kind, format, damaged, expected] = parts[..] else { panic!("not four parts: {line}") };
        let [damaged, expected] = [damaged, expected].map(|part| from_base64(part.as_bytes()).expect("Base64"));
        let counts = kinds.entry(kind.to_owned()).or_default();
        counts.total += 1;
        let shown = |text: &[u8]| icecore::text::printable(&String::from_utf8_lossy(text)).into_owned();
        match mended(&damaged, format) {
            Ok((made, _)) if made == expected => counts.right += 1,
            Ok((made, document)) => {
                let why = document.repairs().first().and_then(|repair| repair.explanation.clone());
                let is_guess = why.as_ref().is_some_and(|why| why.is_guess);
                *if is_guess { &mut counts.guessed } else { &mut counts.wrong } += 1;
                if !is_guess {
                    let [damaged, made, expected] = [&damaged, &made, &expected].map(|text| shown(text));
                    eprintln!("{kind}: {why:?}\n  damaged  {damaged}\n  made     {made}\n  expected {expected}\n");
                }
            }
            Err(error) => {
                counts.refused += 1;
                if std::env::var_os("ICECORE_SHOW").is_some() {
                    eprintln!("{kind}: {error}\n  damaged  {}\n", shown(&damaged));
                }
            }
        }
    }
    assert!(child.wait().expect("it ends").success());
    for (kind, Counts { right, refused, guessed, wrong, total }) in &kinds {
        println!("{kind:32} {total:6} texts {right:6} right {refused:4} refused {guessed:4} guessed {wrong:4} wrong");
    }
    for (kind, counts) in &kinds {
        assert!(counts.wrong == 0, "{kind}: {counts:?}");
    }
}
