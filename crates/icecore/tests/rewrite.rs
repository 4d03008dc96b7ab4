//! Strings are changed in place, at any depth, and every other byte stays.

use crate::replacing::{Pair, document, value, with};
use icecore::rewrite::{Change, Edits, Rewriting, StringRole, Tally};

/// Returns the value with `old.org` replaced by `new.example`.
fn replace_host(bytes: &[u8]) -> String {
    let (new, _) = value(bytes, &mut Pair::new(b"old.org", b"new.example"));
    String::from_utf8_lossy(&new).into_owned()
}

#[test]
fn lengths_in_every_layer_are_updated() {
    for (old, new) in [
        ("See old.org!", "See new.example!"),
        (r#"s:7:"old.org";"#, r#"s:11:"new.example";"#),
        (r#"a:1:{s:3:"url";s:15:"http://old.org/";}"#, r#"a:1:{s:3:"url";s:19:"http://new.example/";}"#),
        // Serialized twice.
        (r#"s:33:"a:1:{i:0;s:15:"http://old.org/";}";"#, r#"s:37:"a:1:{i:0;s:19:"http://new.example/";}";"#),
        // JSON in PHP, slashes escaped; PHP in JSON.
        (r#"a:1:{i:0;s:26:"{"u":"http:\/\/old.org\/"}";}"#, r#"a:1:{i:0;s:30:"{"u":"http:\/\/new.example\/"}";}"#),
        (r#"{"a":"a:1:{i:0;s:7:\"old.org\";}"}"#, r#"{"a":"a:1:{i:0;s:11:\"new.example\";}"}"#),
        (r#""http:\/\/old.org""#, r#""http:\/\/new.example""#),
        // With slashes added, once and twice.
        (r#"a:1:{i:0;s:7:\"old.org\";}"#, r#"a:1:{i:0;s:11:\"new.example\";}"#),
        (r#"a:1:{i:0;s:7:\\\"old.org\\\";}"#, r#"a:1:{i:0;s:11:\\\"new.example\\\";}"#),
        (r#"{\"a\":\"http:\\/\\/old.org\"}"#, r#"{\"a\":\"http:\\/\\/new.example\"}"#),
        // Sessions, and formats that contain their own length.
        (r#"user|s:7:"old.org";n|i:5;"#, r#"user|s:11:"new.example";n|i:5;"#),
        (
            r#"C:11:"ArrayObject":43:{x:i:0;a:1:{s:1:"a";s:7:"old.org";};m:a:0:{}}"#,
            r#"C:11:"ArrayObject":48:{x:i:0;a:1:{s:1:"a";s:11:"new.example";};m:a:0:{}}"#,
        ),
        (r#"S:9:"old.org\2f\00";"#, r#"S:13:"new.example\2f\00";"#),
        ("1770000000s:7:\"old.org\";", "1770000000s:11:\"new.example\";"),
        // Keys, classes and names of cases are not values.
        (
            r#"O:7:"old_org":1:{s:7:"old.org";E:12:"Suit:old_org";}"#,
            r#"O:7:"old_org":1:{s:7:"old.org";E:12:"Suit:old_org";}"#,
        ),
    ] {
        assert_eq!(replace_host(old.as_bytes()), new, "{old}");
    }
}

/// The length of the outer string gets one more digit.
#[test]
fn a_length_may_gain_digits() {
    let frozen = |site: &str| {
        let page = format!("{site}{}", "x".repeat(68));
        let inner = format!("a:1:{{i:0;s:{}:\"{page}\";}}", page.len());
        format!("a:1:{{i:0;s:{}:\"{inner}\";}}", inner.len())
    };
    assert!(frozen("old.org").contains("s:93:") && frozen("new.example.com").contains("s:101:"));
    let (new, _) = value(frozen("old.org").as_bytes(), &mut Pair::new(b"old.org", b"new.example.com"));
    assert_eq!(String::from_utf8_lossy(&new), frozen("new.example.com"));
}

#[test]
fn invalid_frozen_data_is_changed_as_text() {
    for (old, new) in [
        (r#"a:1:{s:3:"url";s:14:"http://old.org/";}"#, r#"a:1:{s:3:"url";s:14:"http://new.example/";}"#),
        ("{\"a\": old.org", "{\"a\": new.example"),
        ("[gallery url=\"old.org\"]", "[gallery url=\"new.example\"]"),
        ("a:old.org", "a:new.example"),
    ] {
        let (text, tally) = value(old.as_bytes(), &mut Pair::new(b"old.org", b"new.example"));
        assert_eq!(String::from_utf8_lossy(&text), new);
        assert_eq!(tally.broken, u64::from(!old.starts_with("[g") && !old.starts_with("a:o")), "{old}: {tally:?}");
    }
}

#[test]
fn wrong_lengths_are_repaired_on_request() {
    let mut options = Rewriting::default();
    options.repair = true;
    let text = br#"a:1:{s:3:"url";s:14:"http://old.org/";}"#;
    let (new, tally) = with(text, &mut Pair::new(b"old.org", b"new.example"), &options);
    assert_eq!(String::from_utf8_lossy(&new), r#"a:1:{s:3:"url";s:19:"http://new.example/";}"#);
    assert_eq!((tally.repaired, tally.broken), (1, 0));
}

#[test]
fn damage_is_explained_and_repaired() {
    let mut options = Rewriting::default();
    options.repair = true;
    for (name, damaged, right) in [
        ("latin1", "a:1:{i:0;s:5:\"Grüße\";}", "a:1:{i:0;s:7:\"Grüße\";}"),
        ("latin1", "name|s:5:\"Grüße\";n|i:1;", "name|s:7:\"Grüße\";n|i:1;"),
        ("line-ends", "a:1:{i:0;s:4:\"a\nb\";}", "a:1:{i:0;s:3:\"a\nb\";}"),
        ("nul-lost", "O:1:\"A\":1:{s:4:\"*p\";i:1;}", "O:1:\"A\":1:{s:4:\"\0*\0p\";i:1;}"),
        ("nul-blank", "O:1:\"A\":1:{s:4:\" * p\";i:1;}", "O:1:\"A\":1:{s:4:\"\0*\0p\";i:1;}"),
        ("slashed", "a:1:{i:0;s:1:\\\"x\\\";}", "a:1:{i:0;s:1:\"x\";}"),
        ("doubled-quotes", "a:1:{i:0;s:1:\"\"x\"\";}", "a:1:{i:0;s:1:\"x\";}"),
        ("entities", "a:1:{i:0;s:1:&quot;x&quot;;}", "a:1:{i:0;s:1:\"x\";}"),
    ] {
        let (new, tally) = with(damaged.as_bytes(), &mut Pair::new(b"zz", b"yy"), &options);
        assert_eq!(String::from_utf8_lossy(&new), right, "{name}");
        assert_eq!((tally.repaired, tally.broken, tally.explanations.get(name)), (1, 0, Some(&1)), "{name}: {tally:?}");
    }
    // A lost NUL byte, or a byte that was not UTF-8: it is not known which.
    let (new, tally) = with("s:3:\"a\u{FFFD}b\";".as_bytes(), &mut Pair::new(b"zz", b"yy"), &options);
    assert_eq!((new.as_slice(), tally.repaired, tally.broken), ("s:3:\"a\u{FFFD}b\";".as_bytes(), 0, 1));
    assert!(tally.first_broken[0].reason.contains("2 explanations"), "{:?}", tally.first_broken);
}

#[test]
fn keys_and_classes_are_changed_only_on_request() {
    let text = b"O:7:\"old_org\":2:{s:7:\"old_org\";i:1;s:16:\"\0old_org\0old_org\";E:12:\"old_org:Case\";}";
    let mut options = Rewriting::default();
    options.keys = true;
    let (new, _) = with(text, &mut Pair::new(b"old_org", b"new"), &options);
    let keys = b"O:7:\"old_org\":2:{s:3:\"new\";i:1;s:12:\"\0old_org\0new\";E:12:\"old_org:Case\";}";
    assert_eq!(String::from_utf8_lossy(&new), String::from_utf8_lossy(keys));
    let mut options = Rewriting::default();
    options.classes = true;
    let (new, _) = with(text, &mut Pair::new(b"old_org", b"new"), &options);
    let classes = b"O:3:\"new\":2:{s:7:\"old_org\";i:1;s:12:\"\0new\0old_org\";E:8:\"new:Case\";}";
    assert_eq!(String::from_utf8_lossy(&new), String::from_utf8_lossy(classes));
}

#[test]
fn invalid_class_names_are_not_written() {
    let text =
        b"O:7:\"old_org\":2:{s:7:\"old_org\";s:7:\"old_org\";s:16:\"\0old_org\0old_org\";E:12:\"old_org:Case\";}";
    let mut options = Rewriting::default();
    options.classes = true;
    // PHP accepts none of these names.
    for new in ["old org", "old-org", "\\Org", "old:org", ""] {
        let (changed, tally) = with(text, &mut Pair::new(b"old_org", new.as_bytes()), &options);
        let value = format!("s:{}:\"{new}\";", new.len());
        let expected = String::from_utf8_lossy(text).replacen("s:7:\"old_org\";s:16", &format!("{value}s:16"), 1);
        assert_eq!(String::from_utf8_lossy(&changed), expected);
        assert_eq!(tally.unrepresentable, 3, "{new}");
    }
    // A leading digit is accepted in serialized names, but not in code.
    let (changed, _) = with(text, &mut Pair::new(b"old_org", b"1Org"), &options);
    assert!(changed.starts_with(b"O:4:\"1Org\""));
    let code = b"\\old_org::__set_state(array('a' => 'old_org'))";
    let (changed, tally) = with(code, &mut Pair::new(b"old_org", b"1Org"), &options);
    assert_eq!(String::from_utf8_lossy(&changed), "\\old_org::__set_state(array('a' => '1Org'))");
    assert_eq!(tally.unrepresentable, 1);
}

#[test]
fn json_keeps_its_style_of_escapes() {
    let json = |text: &str, old: &str, new: &str| {
        let (new, _) = document(text.as_bytes(), "json", &mut Pair::new(old.as_bytes(), new.as_bytes())).unwrap();
        String::from_utf8(new).unwrap()
    };
    assert_eq!(json(r#"["http://old.org"]"#, "old", "a/b"), r#"["http://a/b.org"]"#);
    assert_eq!(json(r#"["http:\/\/old.org"]"#, "old", "a/b"), r#"["http:\/\/a\/b.org"]"#);
    assert_eq!(json(r#"["\u00e9", "old"]"#, "old", "ö\u{1F600}\"\\\n"), r#"["\u00e9", "\u00f6\ud83d\ude00\"\\\n"]"#);
    assert_eq!(json(r#"["\u00E9", "old"]"#, "old", "ö"), r#"["\u00E9", "\u00F6"]"#);
    assert_eq!(json(r#"["é", "old"]"#, "old", "ö"), r#"["é", "ö"]"#);
    assert_eq!(json(r#"["\u003C", "old"]"#, "old", "<b>"), r#"["\u003C", "\u003Cb>"]"#);
    assert_eq!(json(r#"{"old": [1.50, "old" , -0]}"#, "old", "new"), r#"{"old": [1.50, "new" , -0]}"#);
}

#[test]
fn base64_is_changed_only_on_request() {
    use icecore::text::{from_base64, to_base64};
    let inside = br#"a:1:{i:0;s:7:"old.org";}"#;
    let text = [&br#"a:1:{i:0;s:32:""#[..], to_base64(inside).as_bytes(), b"\";}"].concat();
    let (same, _) = value(&text, &mut Pair::new(b"old.org", b"new.example"));
    assert_eq!(same, text);
    let mut options = Rewriting::default();
    options.base64 = true;
    let (new, _) = with(&text, &mut Pair::new(b"old.org", b"new.example"), &options);
    let new = String::from_utf8(new).unwrap();
    let encoded = new.split('"').nth(1).unwrap();
    assert_eq!(new, format!("a:1:{{i:0;s:{}:\"{encoded}\";}}", encoded.len()));
    assert_eq!(from_base64(encoded.as_bytes()).unwrap(), br#"a:1:{i:0;s:11:"new.example";}"#);
}

#[test]
fn lines_of_base64_keep_their_line_ends() {
    use icecore::text::to_base64;
    let list = |text: &str| format!("a:3:{{i:0;s:{}:\"{text}\";i:1;s:60:\"{:60}\";i:2;i:7;}}", text.len(), 8);
    let lines = |text: &str, width: usize, end: &str, has_last_end: bool| {
        let encoded = to_base64(text.as_bytes());
        let lines: Vec<&str> =
            encoded.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
        lines.join(end) + if has_last_end { end } else { "" }
    };
    let mut options = Rewriting::default();
    options.base64 = true;
    for (width, end, has_last_end) in
        [(60, "\n", true), (60, "\n", false), (76, "\r\n", true), (76, "\r\n", false), (1000, "\r\n", true)]
    {
        let old = lines(&list("old.org"), width, end, has_last_end);
        let (new, tally) = with(old.as_bytes(), &mut Pair::new(b"old.org", b"new.example"), &options);
        // A single line does not show how long lines are.
        let width = if width == 1000 { old.len() - 2 } else { width };
        assert_eq!(String::from_utf8(new).unwrap(), lines(&list("new.example"), width, end, has_last_end));
        assert_eq!((tally.changed, tally.unrepresentable), (1, 0));
        let mut pair = Pair::new(b"old.org", b"new.example");
        let stage = icecore::Stage::parse("base64/php").unwrap();
        let edits = icecore::rewrite::document(old.as_bytes(), &stage, &mut pair, &options, &mut Tally::default());
        assert!(!edits.unwrap().is_empty());
    }
}

#[test]
fn opaque_data_is_counted_only_if_it_has_a_match() {
    // `may_change` of these rules is true for each text, as it is for a text with escapes.
    struct Cautious(Pair);
    impl Change for Cautious {
        fn change_text(&mut self, text: &[u8], role: StringRole, edits: &mut Edits) {
            self.0.change_text(text, role, edits);
        }
    }
    for (payload, expected) in [("x:old.org", 1), ("x:other\\u0041", 0)] {
        let text = format!("a:2:{{i:0;C:1:\"A\":{}:{{{payload}}}i:1;s:3:\"old\";}}", payload.len());
        let mut tally = Tally::default();
        let mut change = Cautious(Pair::new(b"old.org", b"new.org"));
        icecore::rewrite::value(text.as_bytes(), &mut change, &Rewriting::default(), &mut tally);
        assert_eq!(tally.opaque, expected, "{payload}");
    }
}
