//! Allowed differences from PHP and igbinary.

use crate::differ::Verdict;
use crate::oracle::OracleAnswer;
use crate::roundtrip::OurReading;
use icecore::{Cursor, ErrorKind, Kind};
use std::collections::HashSet;

/// Returns why php is not run at all.
pub fn skip_reason(format: &'static str, data: &[u8]) -> Option<&'static str> {
    OurReading::read(format, data).skip_reason()
}

/// Compares our result for a text with that of `unserialize()`.
pub fn compare_with_php(data: &[u8], answer: &OracleAnswer) -> Verdict {
    let ours = OurReading::read("php", data);
    match (&ours.error, answer) {
        (_, OracleAnswer::Died) => Verdict::Allowed("php died"),
        (Some(error), OracleAnswer::Refused(reason)) => {
            let offset = reason.find("Error at offset").map(|start| &reason[start..]);
            let is_same_offset = offset.is_some_and(|offset| error.help().is_some_and(|help| help.contains(offset)));
            if is_same_offset { Verdict::BothRefuse } else { Verdict::Allowed("both refuse, at another offset") }
        }
        (Some(error), OracleAnswer::Wrote(_, warning)) => {
            ours.refusal_verdict(explain_our_refusal(&ours, warning), error)
        }
        (Some(error), OracleAnswer::Kept(_)) => ours.refusal_verdict(explain_our_refusal(&ours, ""), error),
        (None, OracleAnswer::Refused(reason)) => ours.acceptance_verdict(explain_php_refusal(&ours, reason), reason),
        (None, OracleAnswer::Kept(_)) => Verdict::Allowed("php reads it and can't write it"),
        (None, OracleAnswer::Wrote(theirs, _)) => ours.compare_output(theirs, explain_other_bytes),
    }
}

/// Returns the name for input that we refuse on purpose.
fn explain_our_refusal(ours: &OurReading<'_>, warning: &str) -> Option<&'static str> {
    let is_link = ours.error.as_ref().is_some_and(|error| error.kind() == ErrorKind::BadLink);
    match ours.expected() {
        _ if is_link && ours.repeats_key() => Some("a key twice, and a link to the value that was replaced"),
        _ if warning.contains("Numerical result out of range") => Some("an integer beyond 64 bits: PHP clamps it"),
        _ if ours.data.windows(2).any(|pair| pair == b"C:") => Some("the payload of one of PHP's own C: classes"),
        expected if expected.starts_with("18446744073709551615 bytes") => {
            Some("a length beyond 64 bits: PHP's wraps around")
        }
        "digits" if stops_after_bad_count(ours) => {
            Some("an object's number of properties without digits: PHP takes it for 0")
        }
        _ => None,
    }
}

/// Returns true if we stopped at the `:` after a count that is a sign or empty.
fn stops_after_bad_count(ours: &OurReading<'_>) -> bool {
    let offset = ours.error.as_ref().and_then(icecore::Error::offset).unwrap_or_default() as usize;
    let before = ours.data.get(..offset).unwrap_or_default();
    let before = before.strip_suffix(b"+").or(before.strip_suffix(b"-")).unwrap_or(before);
    ours.data.get(offset) == Some(&b':') && before.ends_with(b"\":")
}

/// Returns the name for input that PHP refuses and we read.
fn explain_php_refusal(ours: &OurReading<'_>, reason: &str) -> Option<&'static str> {
    let has_alias = || ours.has_value(|cursor| matches!(cursor.kind(), Kind::Alias | Kind::Link));
    match () {
        () if ours.has_value(|cursor| cursor.kind() == Kind::EnumCase) => {
            Some("an enum case whose class PHP does not know")
        }
        () if ours.has_value(|cursor| cursor.kind() == Kind::Opaque) => Some("a payload that needs its class"),
        () if reason.contains("has no unserializer") => Some("a payload that needs its class"),
        () if has_alias() && ours.repeats_key() => Some("a key twice, and a link to the value that was replaced"),
        () => None,
    }
}

/// Returns the name for output that may differ.
fn explain_other_bytes(ours: &OurReading<'_>) -> Option<&'static str> {
    match () {
        () if ours.has_value(|cursor| cursor.kind() == Kind::Opaque) => {
            Some("C: without its class: PHP drops the payload")
        }
        () if ours.repeats_key() => Some("a key twice: in PHP the last value counts"),
        () if names_property_by_number(ours) => Some("a property named by an integer: PHP makes it a string"),
        () if ours.has_value(|cursor| cursor.kind() == Kind::Alias && cursor.target().index() == 0) => {
            Some("an alias to the whole: what PHP returns is a copy")
        }
        () if ours.has_value(|cursor| cursor.kind() == Kind::Alias && cursor.target().kind() == Kind::Object) => {
            Some("an object by value, and later as a shared variable: PHP writes R:")
        }
        () => None,
    }
}

/// Returns true if an object has a property whose name is an integer.
fn names_property_by_number(ours: &OurReading<'_>) -> bool {
    ours.has_value(|object| {
        object.kind() == Kind::Object && object.body().entries().any(|(key, _)| key.node().kind == Kind::Int)
    })
}

/// Compares our result for a document with that of igbinary.
pub fn compare_with_igbinary(data: &[u8], answer: &OracleAnswer, classes: &HashSet<Vec<u8>>) -> Verdict {
    let ours = OurReading::read("igbinary", data);
    let names_class = || ours.has_class(|name| classes.contains(&name.to_ascii_lowercase()));
    match (&ours.error, answer) {
        (_, OracleAnswer::Died) => Verdict::Allowed("php died"),
        (Some(_), OracleAnswer::Refused(_)) => Verdict::BothRefuse,
        (_, OracleAnswer::Kept(_)) => Verdict::Allowed("php reads it and can't write it"),
        _ if names_class() => Verdict::Allowed("a class that PHP has"),
        (Some(error), OracleAnswer::Wrote(..)) => ours.refusal_verdict(explain_igbinary_refusal(&ours), error),
        (None, OracleAnswer::Refused(reason)) => ours.acceptance_verdict(explain_php_refusal(&ours, reason), reason),
        (None, OracleAnswer::Wrote(theirs, _)) => ours.compare_output(theirs, explain_other_igbinary),
    }
}

/// Returns the name for input that we refuse on purpose.
fn explain_igbinary_refusal(ours: &OurReading<'_>) -> Option<&'static str> {
    let found = ours.error.as_ref().and_then(icecore::Error::found).unwrap_or_default();
    match ours.expected() {
        "a value after the reference" => Some("a reference after a reference"),
        _ if found.contains("a variable that holds a scalar") => {
            Some("an array again, which is a scalar: igbinary gives it")
        }
        _ => None,
    }
}

/// Returns the name for output that may differ.
fn explain_other_igbinary(ours: &OurReading<'_>) -> Option<&'static str> {
    let is_shared = |cursor: Cursor<'_>| cursor.kind() == Kind::Alias && cursor.target().kind().is_container();
    let targets_of = |kind: Kind| -> HashSet<u32> {
        ours.all_cursors().filter(|cursor| cursor.kind() == kind).map(|cursor| cursor.target().index()).collect()
    };
    match () {
        () if ours.repeats_key() => Some("a key twice: in PHP the last value counts"),
        () if names_property_by_number(ours) => Some("a property named by an integer: PHP makes it a string"),
        () if ours.contains_itself() => Some("an array in itself: PHP makes a copy of it"),
        () if !targets_of(Kind::Alias).is_disjoint(&targets_of(Kind::Link)) => {
            Some("an array by value that is a shared variable elsewhere: PHP makes a copy of it")
        }
        () if ours.all_cursors().filter(|cursor| cursor.kind() == Kind::Array && cursor.is_empty()).count() > 1 => {
            Some("several empty arrays: in PHP they are one")
        }
        () if ours.has_value(is_shared) => Some("an object or an array by value, and later as a shared variable"),
        () if ours
            .has_value(|map| map.kind() == Kind::Map && map.entries().any(|(key, _)| is_integer_text(key.bytes()))) =>
        {
            Some("a key that is the text of an integer: igbinary leaves it text")
        }
        () => None,
    }
}

/// Returns true if the text is spelled like an integer.
fn is_integer_text(text: &[u8]) -> bool {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse::<i64>().ok())
        .is_some_and(|number| number.to_string().as_bytes() == text)
}
