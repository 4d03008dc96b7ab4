//! Frozen values with blanks or text around them, and signed values.

use crate::replacing::{Pair, value};
use icecore::rewrite::Tally;

/// Returns the text with `old` replaced by `newer`, and the counts.
fn replace_in_text(text: &str) -> (String, Tally) {
    let (new, tally) = value(text.as_bytes(), &mut Pair::new(b"old", b"newer"));
    (String::from_utf8(new).unwrap(), tally)
}

fn assert_changes(cases: &[(&str, &str)]) {
    for (old, new) in cases {
        let (text, tally) = replace_in_text(old);
        assert_eq!(text, *new, "{old}: {tally:?}");
        assert!(!tally.is_notable(), "{old}: {tally:?}");
    }
}

#[test]
fn blanks_around_a_value_are_kept() {
    let php = |word: &str| format!("a:1:{{i:0;s:{}:\"{word}\";}}", word.len());
    let values = [
        (php("old"), php("newer")),
        ("{\"a\":\"s:3:\\\"old\\\";\"}".to_owned(), "{\"a\":\"s:5:\\\"newer\\\";\"}".to_owned()),
        ("u|s:3:\"old\";".to_owned(), "u|s:5:\"newer\";".to_owned()),
        ("array (\n  0 => 's:3:\"old\";',\n)".to_owned(), "array (\n  0 => 's:5:\"newer\";',\n)".to_owned()),
        ("$VAR1 = [ 's:3:\"old\";' ];".to_owned(), "$VAR1 = [ 's:5:\"newer\";' ];".to_owned()),
        ("s:3:\\\"old\\\";".to_owned(), "s:5:\\\"newer\\\";".to_owned()),
        (
            "a%3A1%3A%7Bi%3A0%3Bs%3A3%3A%22old%22%3B%7D".to_owned(),
            "a%3A1%3A%7Bi%3A0%3Bs%3A5%3A%22newer%22%3B%7D".to_owned(),
        ),
        ("1770000000s:3:\"old\";".to_owned(), "1770000000s:5:\"newer\";".to_owned()),
    ];
    for (front, back) in
        [(" ", ""), ("\u{feff}", ""), ("", "\n"), ("", "\0"), ("\n\t", " \r\n"), ("\0", "\0\0"), (" \u{feff}", "\x0b")]
    {
        for (old, new) in &values {
            let (old, new) = (format!("{front}{old}{back}"), format!("{front}{new}{back}"));
            assert_changes(&[(&old, &new)]);
            // The same inside another value.
            let outer = |text: &str| format!("a:1:{{i:0;s:{}:\"{text}\";}}", text.len());
            assert_changes(&[(&outer(&old), &outer(&new))]);
        }
    }
}

#[test]
fn blanks_around_binary_data_are_kept() {
    let frozen = |word: &str, stage: &str| icecore::convert(format!("[\"{word}\"]").as_bytes(), "json", stage).unwrap();
    for stage in ["igbinary", "storable:file", "sereal", "marshal", "gzip/php"] {
        for (front, back) in [("\n", ""), (" ", "\n"), ("", "\0"), ("\u{feff}", " \n")] {
            let around = |inner: Vec<u8>| [front.as_bytes(), &inner, back.as_bytes()].concat();
            let (changed, tally) = value(&around(frozen("old", stage)), &mut Pair::new(b"old", b"newer"));
            if stage == "gzip/php" {
                continue;
            }
            assert!(changed == around(frozen("newer", stage)), "{stage} {front:?} {back:?}: {tally:?}");
        }
    }
}

#[test]
fn documents_inside_text_are_changed_as_documents() {
    assert_changes(&[
        ("[x d='a:1:{i:0;s:3:\"old\";}'] old", "[x d='a:1:{i:0;s:5:\"newer\";}'] newer"),
        (
            "s:3:\"old\";s:3:\"old\";,O:1:\"A\":1:{s:1:\"a\";s:3:\"old\";}",
            "s:5:\"newer\";s:5:\"newer\";,O:1:\"A\":1:{s:1:\"a\";s:5:\"newer\";}",
        ),
        ("old\n205\na:1:{s:1:\"k\";s:3:\"old\";}", "newer\n205\na:1:{s:1:\"k\";s:5:\"newer\";}"),
        ("a:1:{i:0;s:3:\"old\";} and old", "a:1:{i:0;s:5:\"newer\";} and newer"),
        ("x s:19:\"s:11:\"old 's' old\";\"; y", "x s:23:\"s:15:\"newer 's' newer\";\"; y"),
        ("a:1:{i:0;s:21:\"<!-- s:5:\"a old\"; -->\";}", "a:1:{i:0;s:23:\"<!-- s:7:\"a newer\"; -->\";}"),
        ("{\"a\":\"<i d='s:3:\\\"old\\\";'>old\"}", "{\"a\":\"<i d='s:5:\\\"newer\\\";'>newer\"}"),
        ("[x d='a:1:{i:0;s:3:\"abc\";}'] old", "[x d='a:1:{i:0;s:3:\"abc\";}'] newer"),
        ("yes:3:\"older\";", "yes:3:\"newerer\";"),
        // A class without an object, an array without entries: nothing is serialized here.
        ("old O:3:\"old\": a:1:{} a:1:{i:0: old", "newer O:3:\"newer\": a:1:{} a:1:{i:0: newer"),
        ("p { a:1:{color: old} }", "p { a:1:{color: newer} }"),
    ]);
    // In the frozen value, only the string is changed.
    let (new, _) = value(b"[x a:1:{i:1;s:3:\"a 1\";} 1]", &mut Pair::new(b"1", b"22"));
    assert_eq!(String::from_utf8_lossy(&new), "[x a:1:{i:1;s:4:\"a 22\";} 22]");
}

/// Broken JSON is treated as text, and counted: serialized values in it are changed as in any other text.
#[test]
fn broken_json_with_documents_in_it_is_counted() {
    let (new, tally) = replace_in_text("{\"a\": 's:3:\"old\";'");
    assert_eq!((&*new, tally.broken), ("{\"a\": 's:5:\"newer\";'", 1));
}

/// A length in these texts would become wrong, or it is not certain what they are.
#[test]
fn unclear_texts_are_kept_and_counted() {
    for text in [
        "<p d=\"s:3:&quot;old&quot;;\">",
        "# a:1:{i:0;s:3:\\\"old\\\";}",
        "1,\"s:3:\"\"old\"\";\",2",
        "?d=s%3a3%3a%22old%22%3b&e=old",
        "[x d='s:3:\"old\";'] [y d='s:9:\"old\";']",
        "x a:2:{i:0;s:3:\"old\";i:1;s:99:\"old",
        "xs:18:\"s:3:\"old\"; and old\";",
        // PHP reads a value at the start, whatever follows.
        "a:1:{i:0;s:3:\"old\";} and s:9:\"old",
        // Broken JSON has no lengths, but the value in it has one.
        r#"{"a": "s:3:\"old\";" old"#,
        "old|s:3:\\\"old\\\";|old",
        // Inside a longer value: the first string ends too early.
        r#"x s:18:\"s:3:\"abc\"; old abc\"; y"#,
    ] {
        let (same, tally) = replace_in_text(text);
        assert_eq!((&*same, tally.embedded, tally.changed), (text, 1, 0), "{text}");
    }
    // The replacement looks serialized.
    let (same, tally) = value(b"old [s:3:\"old\";]", &mut Pair::new(b"old", b"s:9:\"x"));
    assert_eq!((&same[..], tally.embedded), (&b"old [s:3:\"old\";]"[..], 1));
    // A match across the edge of a document.
    let text = b"[x d='s:3:\"old\";']";
    let (same, tally) = value(text, &mut Pair::new(b"\";']", b"'"));
    assert_eq!((&same[..], tally.embedded), (&text[..], 1));
}

/// PHP can't read these values either: they are treated as text, and counted.
#[test]
fn broken_values_are_counted() {
    for text in ["a:1:{i:0;s:99:\"old\";}", "s:9:\"old", "a:2:{i:0;s:3:\"old\";", "user|s:9:\"old\";", "a:1: old"] {
        let (new, tally) = replace_in_text(text);
        assert_eq!((&*new, tally.embedded, tally.broken), (&*text.replace("old", "newer"), 0, 1), "{text}");
    }
}

/// Returns a closure as Laravel signs it.
fn sign_closure(class: &str, digest: &str) -> String {
    let inner = "O:1:\"N\":1:{s:8:\"function\";s:15:\"fn() => 'old';x\";}";
    format!(
        "O:{}:\"{class}\":2:{{s:12:\"serializable\";s:{}:\"{inner}\";s:4:\"hash\";s:{}:\"{digest}\";}}",
        class.len(),
        inner.len(),
        digest.len()
    )
}

#[test]
fn signed_values_are_kept_and_counted() {
    let base64 = "N6b0lYh1ijm6R6q7Yw0E6iD0h+7iA8QPpZJbS/ZDUvY=";
    let hex = "0123456789abcdef0123456789abcdef01234567";
    let closure = sign_closure("Laravel\\SerializableClosure\\Serializers\\Signed", base64);
    let json =
        |text: &str| format!("{{\"data\":{{\"command\":\"{}\"}}}}", text.replace('\\', "\\\\").replace('"', "\\\""));
    let opis = format!("@{base64}.a:1:{{i:0;s:3:\"old\";}}");
    for text in [
        closure.clone(),
        format!(" {closure}\n"),
        json(&closure),
        format!("a:1:{{i:0;{}}}", sign_closure("Any", hex)),
        format!("{{\"payload\":\"old\",\"signature\":\"{hex}\"}}"),
        format!("C:32:\"Opis\\Closure\\SerializableClosure\":{}:{{{opis}}}", opis.len()),
        format!("{{\"iv\":\"old\",\"value\":\"x\",\"mac\":\"{hex}\"}}"),
    ] {
        let (same, tally) = replace_in_text(&text);
        assert_eq!((same == text, tally.signed, tally.broken), (true, 1, 0), "{text}: {tally:?}");
    }
    // The same in binary data.
    let document = icecore::read(closure.as_bytes()).unwrap();
    let binary = icecore::write(&document, "igbinary").unwrap();
    let (same, tally) = value(&binary, &mut Pair::new(b"old", b"newer"));
    assert!(same == binary && tally.signed == 1, "{tally:?}");
    // A file with its checksum, and a digest in a text.
    let (text, tally) = replace_in_text(&format!("{{\"file\":\"old.zip\",\"hash\":\"{hex}\"}}"));
    assert!(text.contains("newer.zip") && tally.signed == 0);
}
