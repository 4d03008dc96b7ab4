//! Rules in a charset change bytes as the rules in UTF-8 change the decoded text.

use icecore::rewrite::{Change, Edits, StringRole};
use icecore_replace::{Charset, CharsetEvidence, Rules};
use proptest::prelude::*;

fn changed(rules: &Rules, text: &[u8]) -> Vec<u8> {
    let mut edits = Edits::new();
    rules.replacing().change_text(text, StringRole::Value, &mut edits);
    edits.apply(text)
}

proptest! {
    #[test]
    fn bytes_in_a_charset_change_like_their_text(
        old in "[a-cäöüß€]{1,3}",
        new in "[a-dÄÖé€]{0,4}",
        text in "[a-cäöüßÄÖ€ ]{0,30}",
        is_regex in any::<bool>(),
        ignores_case in any::<bool>(),
    ) {
        let builder = Rules::builder().regex(is_regex).ignore_case(ignores_case);
        let old = if is_regex { old.replacen('a', ".", 1) } else { old };
        let rules = builder.pair(old.as_str(), new.as_str()).build().unwrap();
        let charset = Charset::from_name("windows-1252").unwrap();
        let bytes = charset.encode(&text).unwrap();
        let expected = charset.encode(std::str::from_utf8(&rules.apply(text.as_bytes())).unwrap()).unwrap();
        let in_charset = rules.in_charset(&charset, CharsetEvidence::Sure).unwrap();
        prop_assert_eq!(changed(&in_charset, &bytes), &expected[..]);
        // A text that may match is never skipped.
        prop_assert!(in_charset.may_match(&bytes) || expected == bytes);
        // If no match crosses its edges, a part of a text changes as it does alone.
        if let Some(cut) = bytes.iter().position(|byte| *byte == b' ') {
            let mut edits = Edits::new();
            in_charset.replacing().change_part(&bytes, cut..bytes.len(), &mut edits);
            if !is_regex {
                let tail = changed(&in_charset, &bytes[cut..]);
                prop_assert_eq!(edits.apply(&bytes), [&bytes[..cut], &tail].concat());
            }
        }
        let declared = rules.in_charset(&charset, CharsetEvidence::Declared).unwrap();
        if std::str::from_utf8(&bytes).is_err() {
            prop_assert_eq!(changed(&declared, &bytes), &expected[..]);
        }
        // UTF-8 text stays UTF-8.
        if !text.is_ascii() {
            prop_assert_eq!(changed(&declared, text.as_bytes()), rules.apply(text.as_bytes()));
        }
    }
}

#[test]
fn groups_keep_bytes_that_are_not_characters() {
    let charset = Charset::from_name("windows-1252").unwrap();
    let rules = Rules::builder().pair("(.)b", "$1é").regex(true).build().unwrap();
    let rules = rules.in_charset(&charset, CharsetEvidence::Sure).unwrap();
    assert_eq!(changed(&rules, b"\x81b \xffb"), b"\x81\xe9 \xff\xe9");
}

#[test]
fn unrepresentable_texts_are_refused_or_never_found() {
    let charset = Charset::from_name("latin1").unwrap();
    let rules = |old: &str, new: &str| Rules::builder().pair(old, new).build().unwrap();
    let error = rules("a", "Ł").in_charset(&charset, CharsetEvidence::Declared).unwrap_err().to_string();
    assert!(error.contains("`Ł`") && error.contains("Windows-1252"), "{error}");
    let odd = rules("Ł", "ß");
    assert_eq!(odd.unrepresentable_in(&charset).count(), 1);
    assert_eq!(changed(&odd.in_charset(&charset, CharsetEvidence::Sure).unwrap(), b"L\xdf"), b"L\xdf");
    // A rule that is not UTF-8 means bytes in any charset.
    let bytes = Rules::builder().pair(&b"\xfc"[..], &b"\xf6"[..]).build().unwrap();
    assert!(!bytes.depends_on_charset());
    assert_eq!(changed(&bytes.in_charset(&charset, CharsetEvidence::Sure).unwrap(), b"M\xfcller"), b"M\xf6ller");
}
