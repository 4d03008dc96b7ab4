//! Strings in named encodings become the same characters as in Ruby.

use crate::fixtures;

use crate::common::Random;
use crate::fixtures::checker;
use std::process::Command;

const NAMES: &[&str] = &[
    "Shift_JIS",
    "Windows-31J",
    "EUC-JP",
    "CP51932",
    "eucJP-ms",
    "EUC-KR",
    "CP949",
    "GB2312",
    "GBK",
    "GB18030",
    "Big5",
    "Big5-HKSCS",
    "UTF-16LE",
    "UTF-16BE",
    "UTF-32LE",
    "UTF-32BE",
    "ISO-8859-1",
    "ISO-8859-9",
    "ISO-8859-15",
    "KOI8-U",
    "Windows-1252",
    "Windows-1251",
    "IBM437",
    "CP850",
    "macRoman",
    "TIS-620",
    "US-ASCII",
    "UTF-8",
    "ISO-2022-JP",
];

/// Returns `true` if our text may differ from Ruby's; ours is `None` if the encoding is not known. The Web's
/// tables have characters that Ruby refuses; where Ruby has private-use characters, they have public ones or none.
fn may_differ(name: &str, ours: Option<&str>, ruby: Option<&str>) -> bool {
    let is_private = |text: &str| text.chars().any(|c| matches!(c, '\u{e000}'..='\u{f8ff}'));
    match (ours, ruby) {
        (_, None) => !name.starts_with("UTF"),
        (None, Some(ruby)) => is_private(ruby),
        (Some(ours), Some(ruby)) => {
            matches!(name, "GB18030" | "Big5" | "eucJP-ms")
                && (is_private(ruby) || is_private(ours) || ruby.contains('\u{2593}'))
        }
    }
}

fn strings(name: &str, random: &mut Random) -> Vec<Vec<u8>> {
    let mut strings: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    if name.starts_with("UTF") {
        strings.extend((0..2000).map(|_| (0..4 * (1 + random.below(3))).map(|_| random.bits() as u8).collect()));
        strings.extend((0..2000).map(|_| vec![random.bits() as u8, random.below(16) as u8, 0, 0]));
    } else {
        for first in 0x80..=255 {
            strings.extend((0..=255).map(|second| vec![first, second]));
        }
        strings.extend((0..2000).map(|_| {
            (0..random.below(8)).map(|_| if random.one_in(3) { b'a' } else { random.bits() as u8 }).collect()
        }));
    }
    strings
}

#[test]
fn strings_have_the_same_characters_as_in_ruby() {
    if !checker::has("ruby 3.1", Command::new("ruby").args(["-e", "exit RUBY_VERSION >= '3.1'"])) {
        return;
    }
    let mut random = Random::new(7);
    let questions: Vec<_> =
        NAMES.iter().flat_map(|name| strings(name, &mut random).into_iter().map(move |one| (*name, one))).collect();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let lines: Vec<_> = questions.iter().map(|(name, bytes)| format!("{name} {}", hex(bytes))).collect();
    let mut ruby = Command::new("ruby");
    ruby.arg(fixtures::folder().join("ruby/encodings.rb"));
    let answers = checker::ask(&mut ruby, &lines);
    let mut failures = Vec::new();
    let mut same = 0;
    for ((name, bytes), answer) in questions.iter().zip(&answers) {
        let ours = icecore::encoding::decoded(name, bytes).map_or("no".to_owned(), |text| hex(text.as_bytes()));
        let text = |hex: &str| -> String {
            let bytes: Vec<_> = (0..hex.len())
                .step_by(2)
                .map(|index| u8::from_str_radix(&hex[index..index + 2], 16).unwrap())
                .collect();
            String::from_utf8(bytes).unwrap()
        };
        same += usize::from(ours == *answer && ours != "no");
        let known = |hex: &str| (hex != "no").then(|| text(hex));
        if ours != *answer && !may_differ(name, known(&ours).as_deref(), known(answer).as_deref()) {
            failures.push(format!("{name} {}: Ruby {answer}, ours {ours}", hex(bytes)));
        }
    }
    assert!(same > 60_000, "{same} of {} are text", questions.len());
    fixtures::report("decoding", answers.len(), &failures);
}

#[test]
fn json_contains_the_decoded_characters() {
    let dump =
        b"\x04\x08{\x08I\"\x09\x93\xfa\x96\x7b\x06:\x0dencoding\"\x0eShift_JISI\"\x06\xa4\x06;\0\"\x10ISO-8859-15\
                 I:\x07\xa4\xa2\x06;\0\"\x0bEUC-JPi\x06I\"\x06\x81\x06;\0\"\x0fEmacs-MuleI\"\x06\xff\x06;\0@\x06";
    let document = icecore::read(dump).unwrap();
    let mut out = Vec::new();
    let json = icecore::Stage::parse("json").unwrap();
    let losses = icecore::write_to(&document, &json, &icecore::Limits::default(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "{\"日本\":\"€\",\"あ\":1,\"\u{81}\":\"\u{ff}\"}");
    let losses: Vec<_> = losses.iter().map(|loss| (loss.kind.as_str(), loss.count)).collect();
    assert_eq!(losses, [("encoding", 4), ("symbol", 1), ("undecoded", 2), ("bytes", 2)]);
}
