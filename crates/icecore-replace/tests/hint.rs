//! The quick check never misses a match, however a text is escaped.

use icecore_replace::Rules;
use proptest::prelude::*;

/// A way to write a text inside of another one. `pick` decides if there is a choice.
type Escape = fn(&[u8], &mut dyn FnMut(u32) -> bool) -> Vec<u8>;

fn write_each_byte(text: &[u8], mut write: impl FnMut(u8, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in text {
        write(*byte, &mut out);
    }
    out
}

fn escape_json(text: &[u8], pick: &mut dyn FnMut(u32) -> bool) -> Vec<u8> {
    write_each_byte(text, |byte, out| match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'/' if pick(2) => out.extend_from_slice(b"\\/"),
        0..=31 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        byte if byte.is_ascii() && pick(30) => out.extend_from_slice(format!("\\u{byte:04X}").as_bytes()),
        byte => out.push(byte),
    })
}

fn add_slashes(text: &[u8], _: &mut dyn FnMut(u32) -> bool) -> Vec<u8> {
    write_each_byte(text, |byte, out| match byte {
        b'"' | b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        0 => out.extend_from_slice(b"\\0"),
        byte => out.push(byte),
    })
}

/// Escapes text as MySQL accepts it, where a backslash may precede any letter.
fn escape_mysql(text: &[u8], pick: &mut dyn FnMut(u32) -> bool) -> Vec<u8> {
    write_each_byte(text, |byte, out| match byte {
        b'\'' if pick(2) => out.extend_from_slice(b"''"),
        b'"' | b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        0 => out.extend_from_slice(b"\\0"),
        0x1a => out.extend_from_slice(b"\\Z"),
        byte if !b"0abnrtZ%_".contains(&byte) && pick(30) => out.extend_from_slice(&[b'\\', byte]),
        byte => out.push(byte),
    })
}

fn double_quotes(text: &[u8], _: &mut dyn FnMut(u32) -> bool) -> Vec<u8> {
    write_each_byte(text, |byte, out| {
        out.extend(std::iter::repeat_n(byte, if byte == b'\'' || byte == b'"' { 2 } else { 1 }))
    })
}

/// Escapes text as PostgreSQL's `E''` and COPY accept it, where octal or hexadecimal digits may stand for any byte.
fn escape_postgres(text: &[u8], pick: &mut dyn FnMut(u32) -> bool) -> Vec<u8> {
    write_each_byte(text, |byte, out| match byte {
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\t' => out.extend_from_slice(b"\\t"),
        byte if byte != 0 && pick(40) => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        byte if byte != 0 && pick(40) => out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
        byte => out.push(byte),
    })
}

/// Escapes text as in PHP's `S:`.
fn escape_php(text: &[u8], pick: &mut dyn FnMut(u32) -> bool) -> Vec<u8> {
    write_each_byte(text, |byte, out| match byte {
        byte if byte == b'\\' || !byte.is_ascii_graphic() || pick(20) => {
            out.extend_from_slice(format!("\\{byte:02x}").as_bytes())
        }
        byte => out.push(byte),
    })
}

const ESCAPES: [Escape; 6] = [escape_json, add_slashes, escape_mysql, double_quotes, escape_postgres, escape_php];

fn any_text(max_pieces: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => prop::sample::select(b"abn.:-old".to_vec()),
        2 => prop::sample::select(b"/\\\"' \n\0\t".to_vec()),
        1 => any::<u8>(),
    ];
    proptest::collection::vec(byte, 1..max_pieces)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn may_match_never_misses_an_escaped_match(
        olds in proptest::collection::vec(any_text(8), 1..4),
        (before, after) in (any_text(10), any_text(10)),
        escapes in proptest::collection::vec(0..ESCAPES.len(), 0..4),
        chances in proptest::collection::vec(any::<u32>(), 64),
        ignore_case in any::<bool>(),
    ) {
        let add = |builder: icecore_replace::Builder, old: &Vec<u8>| builder.pair(old.clone(), "");
        let rules = olds.iter().fold(Rules::builder(), add).ignore_case(ignore_case).build().unwrap();
        let mut turn = 0;
        let mut pick = |one_of: u32| {
            turn += 1;
            chances[turn % chances.len()].is_multiple_of(one_of)
        };
        let middle = if ignore_case { olds[0].to_ascii_uppercase() } else { olds[0].clone() };
        let mut raw = [before, middle, after].concat();
        prop_assert!(rules.may_match(&raw));
        for escape in escapes {
            raw = ESCAPES[escape](&raw, &mut pick);
            prop_assert!(rules.may_match(&raw), "{:?}", String::from_utf8_lossy(&raw));
        }
    }
}

proptest! {
    #[test]
    fn hints_for_many_ranges_equal_those_for_each(
        olds in proptest::collection::vec(any_text(5), 1..4),
        texts in proptest::collection::vec((any_text(40), 0usize..900), 0..8),
        mut cuts in proptest::collection::vec(0usize..4000, 0..60),
    ) {
        // Far apart, so that the lookahead ends somewhere between them.
        let raw: Vec<u8> = texts.into_iter().flat_map(|(text, behind)| [text, vec![b'.'; behind]].concat()).collect();
        let add = |builder: icecore_replace::Builder, old: &Vec<u8>| builder.pair(old.clone(), "");
        let rules = olds.iter().fold(Rules::builder(), add).build().unwrap();
        cuts.sort_unstable();
        cuts.iter_mut().for_each(|cut| *cut = (*cut).min(raw.len()));
        let mut hints = rules.hints(&raw);
        for cut in cuts.windows(2).filter(|cut| cut[0] < cut[1]) {
            let is_hinted = hints.may_match_within(cut[0]..cut[1]);
            prop_assert!(is_hinted || !rules.may_match(&raw[cut[0]..cut[1]]));
        }
    }
}

#[test]
fn texts_without_a_plain_core_are_examined_closely() {
    let rules = |old: &str| Rules::builder().pair(old, "x").build().unwrap();
    assert!(rules("/").may_match(b"anything"));
    assert!(!rules("//old").may_match(br#"a:1:{s:1:\"a\";s:3:\"b\n\0*\0c\";}"#));
    assert!(rules("//old").may_match(br"\/\/old"));
    assert!(Rules::builder().pair("o+", "x").regex(true).build().unwrap().may_match(b"anything"));
    // Pairs that change nothing need no check.
    assert!(!Rules::builder().pair("a", "a").pair("b", "c").build().unwrap().may_match(b"aaa"));
}
