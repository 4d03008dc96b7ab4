//! Texts of PHP that fuzzing found, each with what went wrong.

use icecore::{ErrorKind, Limits, format::php};

fn write_document(text: &[u8]) -> Vec<u8> {
    let limits = Limits::default();
    let document = php::read(text, &php::ReadOptions::default(), &limits).expect("read");
    let mut out = Vec::new();
    php::write(&document, &php::WriteOptions::default(), &limits, &mut out).expect("written");
    out
}

/// Halfway between .2 and .3: PHP chooses the even digit.
#[test]
fn floats_halfway_between_two_texts_get_the_even_digit() {
    assert_eq!(write_document(b"d:-2.2483716200475643E15;"), b"d:-2248371620047564.2;");
    assert_eq!(write_document(b"d:9007199254740993;"), b"d:9007199254740992;");
    assert_eq!(write_document(b"d:5e-324;"), b"d:5.0E-324;");
    assert_eq!(write_document(b"d:1e22;"), b"d:1.0E+22;");
    assert_eq!(write_document(b"d:0.00012;"), b"d:0.00012;");
    assert_eq!(write_document(b"d:100000000000000000;"), b"d:1.0E+17;");
}

#[test]
fn class_names_with_del_are_refused() {
    let error = php::read(b"O:1:\"\x7f\":0:{}", &php::ReadOptions::default(), &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(error.help().is_some_and(|help| help.contains("Error at offset 0 of 12 bytes")), "{error}");
    assert_eq!(write_document(b"O:1:\"\x80\":0:{}"), b"O:1:\"\x80\":0:{}");
}

/// Offsets at which PHP 8.2 reports these errors. The texts are common in logs, but not in the
/// damaged values of the fixtures.
#[test]
fn errors_quote_the_offset_that_php_reports() {
    for (text, php) in [
        (&br#"O:1:"K":"#[..], 6),
        (br#"O:1:"K"::{"#, 10),
        (br#"O:1:"K":-"#, 9),
        (br#"O:1:"K":x"#, 8),
        (br#"O:1:"K":1:"#, 10),
        (br#"O:1:"K":1:x"#, 10),
        (br#"O:1:"K":3:{"#, 9),
        (br#"O:1:"K":3:{x"#, 11),
        (br#"O:1:"K":8:{xxxxxxxxxx"#, 9),
        (br#"O:1:"K":8:{xxxxxxxxxxx"#, 11),
        (br#"O:0:"K":0:{}"#, 2),
        (br#"E:0:"K:A";"#, 2),
        (br#"C:1:"K":"#, 8),
        (br#"C:1:"K"::{"#, 10),
        (br#"C:1:"K":2:{ab"#, 11),
        (br#"C:1:"K":2:{abc"#, 13),
        (br#"C:1:"K":-1:{}"#, 12),
        (br#"C:1:"K":1:"#, 9),
        (br"a:1:{R:1;i:1;}", 9),
        (br"a:1:{R:;", 5),
        (br"a:1:{a:1:{i:0;i:0;}i:1;}", 10),
        (br"a:2:{i:0;i:5;i:1;r:2;}", 21),
    ] {
        let error = php::read(text, &php::ReadOptions::default(), &Limits::default());
        let help = error.err().and_then(|error| error.help().map(str::to_owned)).unwrap_or_default();
        let says = format!("Error at offset {php} of {} bytes", text.len());
        assert!(help.contains(&says), "{}: {help}", text.escape_ascii());
    }
}

#[test]
fn a_member_count_without_digits_is_zero() {
    for text in [&br#"O:8:"stdClass"::{}"#[..], br#"O:8:"stdClass":-0:{}"#, br#"O:8:"stdClass":+1:{s:1:"a";i:1;}"#] {
        assert_eq!(icecore::convert(text, "php", "php").unwrap(), text);
    }
}

/// Hosts build PHP's own messages from these details, not from a message of ours.
#[test]
fn error_details_tell_which_warning_php_gives() {
    use icecore::raw::ErrorDetail::*;
    for (text, detail, php) in [
        (&b"a:1:{i:0;i:99999999999999999999;}"[..], Some(WideInteger), None),
        (b"a:99999999999999999999:{}", Some(WideCount), Some(24)),
        (br#"O:1:"K":99999999999999999999:{}"#, Some(WideCount), Some(28)),
        (br#"O:1:"K":-99999999999999999999:{}"#, Some(WideCount), Some(29)),
        (br#"O:1:"K":-1:{}"#, None, Some(10)),
        (br#"O:1:"K":"#, Some(NoCount), Some(6)),
        (br#"C:1:"K":"#, None, Some(8)),
        (br#"C:1:"K":-1:{}"#, Some(ShortPayload), Some(12)),
        (br#"C:1:"K":2:{a"#, Some(ShortPayload), Some(11)),
        (br#"C:1:"K":1:{ab}"#, None, Some(12)),
        (br#"a:1:{E:3:"K:A";i:1;}"#, Some(NoKey), Some(5)),
        (br#"a:1:{i:0;E:1:"K";}"#, Some(NoCase), Some(9)),
        (b"a:1:{i:0;}", Some(NoValue), Some(9)),
        (br#"a:2:{i:0;C:1:"K":1:{x}i:1;r:9;}"#, Some(OpaqueLink), Some(30)),
        (b"a:1:{i:0;r:9;}", None, Some(13)),
    ] {
        let error = php::read(text, &php::ReadOptions::default(), &Limits::default()).unwrap_err();
        assert_eq!((error.detail(), error.original_offset()), (detail, php), "{}: {error}", text.escape_ascii());
    }
}

/// PHP counts levels of values; a payload that a class wrote itself is not a level.
#[test]
fn payloads_do_not_count_as_levels_of_depth() {
    let mut limits = Limits::default();
    let depth_of = |text: &[u8], depth: u32, limits: &mut Limits| {
        limits.depth = depth;
        php::read(text, &php::ReadOptions::default(), limits).map(|_| ()).map_err(|error| error.detail())
    };
    let too_deep = Err(Some(icecore::raw::ErrorDetail::Depth));
    let frozen = br#"a:1:{i:0;C:1:"K":1:{x}}"#;
    assert_eq!(depth_of(frozen, 1, &mut limits), Ok(()));
    assert_eq!(depth_of(frozen, 0, &mut limits), too_deep);
    let opened = br#"a:1:{i:0;C:11:"ArrayObject":29:{x:i:0;a:1:{i:0;i:1;};m:a:0:{}}}"#;
    assert_eq!(depth_of(opened, 1, &mut limits), too_deep);
    assert_eq!(depth_of(opened, 2, &mut limits), Ok(()));
    // Payloads inside payloads are limited too.
    let mut nested = String::from("a:0:{}");
    for _ in 0..3000 {
        let inner = format!("x:i:0;{nested};m:a:0:{{}}");
        nested = format!("C:11:\"ArrayObject\":{}:{{{inner}}}", inner.len());
    }
    assert_eq!(depth_of(nested.as_bytes(), 5, &mut limits), too_deep);
}
