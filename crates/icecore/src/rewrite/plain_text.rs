//! A quick check for texts that can't be frozen data. Most names, addresses and phrases pass it.

/// Bytes without a meaning in formats and wrappers: a text of only these bytes can't have a container, a string with
/// quotes, or an escape.
const BARE: [bool; 256] = {
    let mut bare = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        bare[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b" -._/:?=&,+#~";
    let mut index = 0;
    while index < marks.len() {
        bare[marks[index] as usize] = true;
        index += 1;
    }
    bare
};

/// Returns `true` if no format accepts this text, and no wrapper except Base64 and similar encodings. After `false`,
/// the text may still be plain, and each format and wrapper must be tried. The tests compare both answers.
pub(super) fn is_certainly_text(text: &[u8]) -> bool {
    // A number is a value in some formats. A letter and a colon are the beginning of a value in PHP's format; a
    // damaged text with such a beginning must be counted, so it is not certainly text.
    let has_plain_start = matches!(text, [first, second, ..] if first.is_ascii_alphabetic() && *second != b':');
    // These words begin the output of `var_export()`, and PHP files that return it.
    let is_word = |word: &[u8]| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    let is_php = || is_word(b"array") || is_word(b"return");
    // Signed data has two dashes before the signature.
    let has_dashes = || memchr::memchr_iter(b'-', text).any(|offset| text.get(offset + 1) == Some(&b'-'));
    has_plain_start && are_text_bytes(text) && !is_php() && !has_dashes()
}

/// Checks several bytes before each branch, because a branch for each byte takes longer than looking it up.
fn are_text_bytes(text: &[u8]) -> bool {
    const PIECE: usize = 8;
    let (pieces, rest) = text.as_chunks::<PIECE>();
    let is_bare = |bare: bool, byte: &u8| bare & BARE[usize::from(*byte)];
    pieces.iter().all(|piece| piece.iter().fold(true, is_bare)) && rest.iter().fold(true, is_bare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Edits, StringRole};
    use crate::rewrite::string_rewriter::{ProbeResult, StringRewriter};
    use crate::rewrite::{Change, Rewriting, Tally};

    struct Nothing;

    impl Change for Nothing {
        fn change_text(&mut self, _: &[u8], _: StringRole, _: &mut Edits) {}
    }

    /// The texts are random combinations of pieces. The pieces include the beginnings and words of all formats.
    #[test]
    fn no_format_reads_bare_text() {
        const PIECES: [&str; 48] = [
            "a:1:",
            "O:1:",
            "s:3:",
            "i:5",
            "N",
            "b:1",
            "d:0.5",
            "E:3:",
            "true",
            "TRUE",
            "false",
            "null",
            "NULL",
            "undef",
            "INF",
            "NAN",
            "array",
            "Array",
            "stdClass",
            "A::B",
            "my ",
            "our ",
            "use utf8",
            "VAR1 = ",
            "name=",
            "&b=",
            "?a=",
            "+",
            "--",
            "-",
            "BAhJ",
            "eyJ",
            "deadbeef",
            "x",
            "pst0",
            "perl-store",
            "=srl",
            "old",
            " ",
            "https://old.example",
            "/",
            "1",
            "0",
            "return ",
            "1700000000",
            ",",
            "#!",
            "~",
        ];
        let options = Rewriting::default();
        let (mut state, mut bare) = (7u64, 0);
        for _ in 0..200_000 {
            let mut text = String::new();
            for _ in 0..1 + (state >> 61) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(PIECES[(state >> 33) as usize % PIECES.len()]);
            }
            if !is_certainly_text(text.as_bytes()) {
                continue;
            }
            bare += 1;
            let (mut nothing, mut tally) = (Nothing, Tally::default());
            let mut rewriter = StringRewriter::new(&mut nothing, &options, &mut tally);
            assert!(matches!(rewriter.probe_with_trimming(text.as_bytes(), 0), ProbeResult::Plain(None)), "{text}");
            assert!(!tally.is_notable(), "{text}");
        }
        assert!(bare > 10_000, "{bare}");
    }
}
