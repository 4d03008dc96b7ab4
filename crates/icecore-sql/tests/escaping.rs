//! Decoded text is encoded again: with the same meaning, and unchanged parts keep their bytes.

use crate::random;

use crate::common::to_readable_text;
use crate::random::Random;
use icecore::rewrite::{Edits, Escaping, ReplacedRange, raw_edits};
use icecore_sql::{Frame, Next, Options, Quote, Quoting, Reader};

/// Pieces of bodies: escapes of all kinds, complete and cut.
const PIECES: &[&str] = &[
    "\\",
    "\\\\",
    "'",
    "''",
    "\\'",
    "\"",
    "\"\"",
    "\\\"",
    "\\n",
    "\n",
    "\\r",
    "\\0",
    "\\Z",
    "\\%",
    "\\_",
    "%",
    "\\b",
    "\\t",
    "\t",
    "\\v",
    "\\f",
    "\\1",
    "\\12",
    "\\123",
    "\\377",
    "\\x",
    "\\x4",
    "\\x41",
    "\\u",
    "\\u0041",
    "\\ud83d\\ude00",
    "\\U0001F600",
    "\\+01F600",
    "\\0041",
    "0",
    "7",
    "9",
    "a",
    "f",
    "A",
    "F",
    "x",
    "é",
    "text",
    "$",
    "$a",
    "a$",
    "(\\n0)",
    "(\\n",
    "\\012",
    "\\015",
    "4142",
    "\u{1}",
    "\u{7f}",
];

const REPLACEMENTS: &[&str] = &[
    "", "'", "\"", "\\", "\n", "\r", "\t", "\0", "\u{1a}", "\u{8}", "1", "41", "n", "x", "new", "é", "$", "a", "\\n",
    "(\\n0)", "012)", "%", "_",
];

fn text_of(random: &mut Random, pieces: &[&str], max_pieces: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..random.below(max_pieces) {
        text.extend_from_slice(pieces[random.below(pieces.len())].as_bytes());
    }
    text
}

/// Makes a random quoting, and a body that may be valid in it.
fn random_body(random: &mut Random) -> (Quoting, Vec<u8>) {
    let frames = [Frame::Standard, Frame::Escape, Frame::Copy];
    let digits = |random: &mut Random, prefix: &[u8]| {
        let mut body = prefix.to_vec();
        let pool: &[u8] = if random.one_in(2) { b"0123456789abcdef" } else { b"0123456789ABCDEF" };
        for _ in 0..random.below(12) {
            body.push(*random.pick(pool));
        }
        body
    };
    let quoting = match random.below(10) {
        0 => Quoting::Backslash(Quote::Single),
        1 => Quoting::Backslash(Quote::Double),
        2 => Quoting::Standard(Quote::Single),
        3 => Quoting::Escape,
        4 => Quoting::Copy,
        5 => return (Quoting::Hex, digits(random, b"")),
        6 => {
            let frame = *random.pick(&frames);
            return (Quoting::Bytea(frame), digits(random, if frame == Frame::Standard { b"\\x" } else { b"\\\\x" }));
        }
        7 => Quoting::ByteaEscape(*random.pick(&frames)),
        8 => Quoting::Dollar,
        _ if random.one_in(2) => Quoting::Unistr,
        _ => random_shell_quoting(random),
    };
    (quoting, text_of(random, PIECES, 12))
}

/// Returns what the reader reports for a call of SQLite's shell.
fn random_shell_quoting(random: &mut Random) -> Quoting {
    let dump: &[u8] = match random.below(4) {
        0 => b"PRAGMA x;INSERT INTO t VALUES(replace('','\\n',char(10)));",
        1 => b"PRAGMA x;INSERT INTO t VALUES(replace('','\\012',char(10)));",
        2 => b"PRAGMA x;INSERT INTO t VALUES(replace(replace('','(\\r1)',char(13)),'(\\n0)',char(10)));",
        _ => b"PRAGMA x;INSERT INTO t VALUES(replace(replace('','\\015',char(13)),'\\n',char(10)));",
    };
    match Reader::with_options(Options::default()).next(dump, true) {
        Ok(Next::Literal(literal)) => literal.quoting,
        other => panic!("{other:?}"),
    }
}

#[test]
fn changed_texts_are_encoded_and_the_rest_keeps_its_bytes() {
    let (seed, count) = random::seed_and_count(20_000);
    let (mut decoded_bodies, mut refused) = (0, 0);
    for seed in seed..seed + count {
        let mut random = Random::new(seed);
        let (quoting, raw) = random_body(&mut random);
        let Some(decoded) = quoting.decode(&raw) else { continue };
        decoded_bodies += 1;
        let text = decoded.text();
        let mut edits = Edits::new();
        let mut offset = 0;
        for _ in 0..1 + random.below(3) {
            if offset > text.len() {
                break;
            }
            let start = offset + random.below(text.len() - offset + 1);
            let end = start + random.below((text.len() - start).min(5) + 1);
            edits.push(start, end, &text_of(&mut random, REPLACEMENTS, 4));
            // Two adjacent edits would be one.
            offset = end + 1;
        }
        let context = || format!("seed {seed}: {quoting:?} {} with {edits:?}", to_readable_text(&raw));
        let Some(changes) = raw_edits(&raw, &decoded, &edits, &quoting) else {
            refused += 1;
            continue;
        };
        let new = changes.apply(&raw);
        let redecoded =
            quoting.decode(&new).unwrap_or_else(|| panic!("{} gives {}", context(), to_readable_text(&new)));
        assert_eq!(
            to_readable_text(redecoded.text()),
            to_readable_text(&edits.apply(text)),
            "{} gives {}",
            context(),
            to_readable_text(&new)
        );
        assert_eq!(redecoded.text(), edits.apply(text), "{}", context());
        // Only bytes of changed characters are removed.
        let removed: usize = changes.iter().map(|edit| edit.end - edit.start).sum();
        let max_growth: usize = edits.iter().map(|edit| (edit.end - edit.start + 2) * 16).sum();
        assert!(removed <= max_growth, "{}: {removed} bytes go", context());
    }
    assert!(decoded_bodies > count / 4 && refused < count / 3, "{decoded_bodies} {refused} of {count}");
}

/// Encodes new text after `before` and before `behind`.
fn encode_between(quoting: Quoting, before: &str, after: &str, text: &str) -> Option<String> {
    let raw = [before, after].concat();
    let range = ReplacedRange { raw: raw.as_bytes(), start: before.len(), end: before.len() };
    let mut out = Vec::new();
    quoting.encode(text.as_bytes(), &range, &mut out).then(|| to_readable_text(&out))
}

#[test]
fn new_text_is_escaped_like_its_neighbours() {
    let backslash = Quoting::Backslash(Quote::Single);
    let context = |before, text| encode_between(backslash, before, "", text).unwrap();
    assert_eq!(context("", "'\"\n\r\0\u{1a}\\\t"), "\\'\\\"\\n\\r\\0\\Z\\\\\\t");
    assert_eq!(context("a\"b", "\""), "\"");
    assert_eq!(context("a\\\"b", "\""), "\\\"");
    assert_eq!(context("it''s", "'"), "''");
    assert_eq!(context("it\\'s", "'"), "\\'");
    assert_eq!(encode_between(Quoting::Hex, "ab", "", "\u{1f}").unwrap(), "1f");
    assert_eq!(encode_between(Quoting::Hex, "AB", "", "\u{1f}").unwrap(), "1F");
    assert_eq!(
        encode_between(Quoting::Copy, "", "", "\u{8}\t\n\u{b}\u{c}\r\\'\"").unwrap(),
        "\\b\\t\\n\\v\\f\\r\\\\'\""
    );
    assert_eq!(encode_between(Quoting::Escape, "", "", "\\'").unwrap(), "\\\\''");
    assert_eq!(encode_between(Quoting::Escape, "\\'", "", "'").unwrap(), "\\'");
    assert_eq!(encode_between(Quoting::Standard(Quote::Single), "", "", "\\'\"").unwrap(), "\\''\"");
}

#[test]
fn texts_that_a_literal_cannot_contain_are_refused() {
    for quoting in [Quoting::Standard(Quote::Single), Quoting::Escape, Quoting::Copy, Quoting::Dollar, Quoting::Unistr]
    {
        assert_eq!(encode_between(quoting, "", "", "a\0"), None);
    }
    assert_eq!(encode_between(Quoting::Dollar, "", "", "$"), None);
    assert_eq!(encode_between(Quoting::Dollar, "a $f", "o$", "o"), None);
    assert_eq!(encode_between(Quoting::Copy, "\\1", "2", ""), None);
    assert_eq!(encode_between(Quoting::Copy, "\\1", "", "2").unwrap(), "\\062");
}
