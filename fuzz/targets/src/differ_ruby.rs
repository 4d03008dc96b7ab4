//! Allowed differences from Ruby's Marshal.

use crate::differ::Verdict;
use crate::oracle::OracleAnswer;
use crate::roundtrip::OurReading;
use icecore::{Cursor, Error, Key, Kind, value::Form};
use std::collections::{HashMap, HashSet};
use std::process::Command;
use std::sync::OnceLock;

/// Returns why ruby is not run at all.
pub fn skip_reason(data: &[u8]) -> Option<&'static str> {
    OurReading::read("marshal", data).skip_reason()
}

/// Compares our result for a dump with that of ruby.
pub fn compare_with_ruby(data: &[u8], answer: &OracleAnswer) -> Verdict {
    let ours = OurReading::read("marshal", data);
    match (&ours.error, answer) {
        (_, OracleAnswer::Died) => Verdict::Allowed("ruby died"),
        (Some(_), OracleAnswer::Refused(_)) => Verdict::BothRefuse,
        (Some(error), OracleAnswer::Wrote(..) | OracleAnswer::Kept(_)) => {
            ours.refusal_verdict(explain_our_refusal(&ours), error)
        }
        (None, OracleAnswer::Refused(reason)) => ours.acceptance_verdict(explain_ruby_refusal(&ours, reason), reason),
        (None, OracleAnswer::Kept(_)) => Verdict::Allowed("ruby loads it and can't dump it"),
        (None, OracleAnswer::Wrote(theirs, _)) => ours.compare_output(theirs, explain_other_bytes),
    }
}

/// Returns the name for input that we refuse on purpose.
fn explain_our_refusal(ours: &OurReading<'_>) -> Option<&'static str> {
    let expected = ours.expected();
    let found = ours.error.as_ref().and_then(Error::found).unwrap_or_default();
    match () {
        () if expected.starts_with("the sign of an integer") => {
            Some("a sign that is neither + nor -: Ruby takes it for +")
        }
        () if expected.starts_with("the encoding of a symbol") => {
            Some("a symbol with other variables than its encoding")
        }
        () if expected.starts_with("the instance variable of a value that has no encoding") => {
            Some("an encoding of what was read before")
        }
        () if expected.starts_with("a value that has instance variables") && found == ";" => {
            Some("a symbol with other variables than its encoding")
        }
        () if links_to_unfinished_object(expected, found) => {
            Some("a string that is its own encoding: Ruby finds none of that name")
        }
        () if expected.starts_with("the name of an encoding") && found == "I" => {
            Some("the name of an encoding that has variables of its own")
        }
        () if found.starts_with('-') => Some("a negative count: Ruby takes it for 0"),
        () => None,
    }
}

/// Returns true if a link refers to an object that is still being read.
fn links_to_unfinished_object(expected: &str, found: &str) -> bool {
    let last_number = expected.strip_prefix("the number of an object before this one, 0 to ");
    last_number
        .zip(Some(found))
        .and_then(|(last_number, found)| Some(found.parse::<u64>().ok()? <= last_number.parse().ok()?))
        .unwrap_or(false)
}

/// Returns the name for input that ruby refuses and we read.
fn explain_ruby_refusal(ours: &OurReading<'_>, reason: &str) -> Option<&'static str> {
    let contains_any = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    match () {
        () if contains_any(&["RegexpError"]) => Some("it compiles regular expressions"),
        () if contains_any(&[
            "undefined class/module",
            "does not refer to",
            "can't retrieve anonymous",
            "prepended class",
            "not a struct",
            "dump format error (user class)",
        ]) =>
        {
            Some("a class that ruby does not know, or another kind of class")
        }
        () if reason.ends_with("dump format error") => {
            Some("a class that ruby does not know, or another kind of class")
        }
        () if contains_any(&["needs to have method", "no _load_data", "can't alloc", "allocator undefined"]) => {
            Some("a class that lacks the method or that makes no such objects")
        }
        () if contains_any(&["not compatible (", "struct size differs"]) => Some("a Struct with other members"),
        () if contains_any(&[
            "FrozenError",
            "can't define singleton",
            "ruby2_keywords",
            "not enc_capable",
            "can't override instance variable",
        ]) =>
        {
            Some("instance variables or modules of what can't have them")
        }
        () if contains_any(&["string contains null byte"]) => {
            Some("an encoding that Ruby does not know, or by another name")
        }
        () if is_of_known_class(ours) => Some("a class that looks at what it loads"),
        () if contains_any(&["invalid byte sequence in"]) => Some("a symbol in an encoding that only Ruby can check"),
        () if contains_any(&["(bad link)"]) && ours.has_value(|cursor| cursor.kind() == Kind::Regexp) => {
            Some("a variable of a regexp that refers to it")
        }
        () => None,
    }
}

/// Returns the name for dumps that may differ.
fn explain_other_bytes(ours: &OurReading<'_>) -> Option<&'static str> {
    match () {
        () if ours.has_value(|cursor| cursor.kind() == Kind::Regexp) => {
            Some("a regexp: Ruby works out its encoding and its options from the pattern")
        }
        () if ours
            .has_value(|cursor| is_subclass(cursor) && cursor.children().next().is_some_and(is_subclass_or_link)) =>
        {
            Some("a subclass of a subclass, or of a link: Ruby's objects have one class")
        }
        () if has_different_orders(ours) => {
            Some("objects of a class with other variables: Ruby 3.1 has one order for all of them")
        }
        () if links_to_key(ours) => Some("a value that is a link to a key: in Ruby a string of its own"),
        () if ours.has_value(|cursor| {
            is_variable_wrapper(cursor) && cursor.children().next().is_some_and(is_variable_wrapper)
        }) =>
        {
            Some("instance variables around instance variables: Ruby has one of a name")
        }
        () if ours
            .has_value(|cursor| cursor.kind() == Kind::Symbol && cursor.node().encoding() != 0 && is_ascii(cursor)) =>
        {
            Some("a symbol in ASCII that says another encoding: Ruby drops it")
        }
        () if ours.has_value(|cursor| cursor.kind() == Kind::Module && cursor.node().form() == Form::OldModule) => {
            Some("a class or module in the old form: Ruby writes which it is")
        }
        () if ours.has_value(|cursor| {
            is_variable_wrapper(cursor) && cursor.entries().any(|(key, _)| key.bytes() == b"K")
        }) =>
        {
            Some("a K that is not true: to Ruby it is the flag, too")
        }
        () if ours.has_value(|map| map.default_value().is_some_and(|value| value.kind() == Kind::Null)) => {
            Some("a default value that is nil: Ruby does not write it")
        }
        () if ours.repeats_key() => Some("a key twice: in Ruby the last value counts"),
        () if is_of_known_class(ours) => Some("a class that looks at what it loads"),
        () if ours.has_value(has_variables_on_key) => {
            Some("instance variables of a string that is a key: Ruby drops them")
        }
        () if ours
            .has_value(|attrs| attrs.kind() == Kind::Attrs && attrs.entries().any(|(key, _)| key.bytes() == b"E")) =>
        {
            Some("an E that is neither true nor false: Ruby drops it")
        }
        () if ours.document.tape().encodings().iter().any(|name| !is_encoding(name.bytes)) => {
            Some("an encoding that Ruby does not know, or by another name")
        }
        () => None,
    }
}

/// Returns true if a value belongs to a class with `_load` or `marshal_load`, or has a layout that Ruby writes in
/// another order.
fn is_of_known_class(ours: &OurReading<'_>) -> bool {
    const KNOWN: &[&[u8]] = &[
        b"BigDecimal",
        b"Complex",
        b"Date",
        b"DateTime",
        b"Dumped",
        b"Frozen",
        b"Range",
        b"Rational",
        b"Set",
        b"SortedSet",
        b"Time",
    ];
    ours.has_class(|name| KNOWN.contains(&name) || name.ends_with(b"Error") || name.ends_with(b"Exception"))
}

/// Returns true if two objects of a class differ in the names of their variables, or in their order.
fn has_different_orders(ours: &OurReading<'_>) -> bool {
    let mut orders: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
    ours.all_cursors().any(|object| {
        let names: Vec<&[u8]> = object.body().entries().map(|(key, _)| key.bytes()).collect();
        object.kind() == Kind::Object && *orders.entry(object.class()).or_insert_with(|| names.clone()) != names
    })
}

/// Returns true if a link that is not a key refers to a key.
fn links_to_key(ours: &OurReading<'_>) -> bool {
    /// Value of the field `key` in a node that is a key itself.
    const IS_KEY: u16 = 0xFFFE;
    let is_key = |cursor: Cursor<'_>| cursor.node().key == IS_KEY;
    ours.has_value(|link| link.kind() == Kind::Link && !is_key(link) && is_key(link.target()))
}

fn is_variable_wrapper(cursor: Cursor<'_>) -> bool {
    cursor.kind() == Kind::Attrs && !is_subclass(cursor)
}

fn is_ascii(cursor: Cursor<'_>) -> bool {
    cursor.as_bytes().is_some_and(<[u8]>::is_ascii)
}

fn is_subclass(cursor: Cursor<'_>) -> bool {
    cursor.kind() == Kind::Attrs && cursor.node().form() == Form::Subclass
}

/// Returns true if Ruby can't add one more class to the value.
fn is_subclass_or_link(inner: Cursor<'_>) -> bool {
    is_subclass(inner) || inner.kind() == Kind::Link
}

/// Returns true if a key is a string with instance variables, or a link to one.
fn has_variables_on_key(map: Cursor<'_>) -> bool {
    let previous_node = |value: Cursor<'_>| value.index().checked_sub(1).and_then(|index| map.document().at(index));
    let has_variables = |value: Cursor<'_>| {
        let value = value.target();
        value.kind() == Kind::Attrs || previous_node(value).is_some_and(|previous| previous.kind() == Kind::Attrs)
    };
    map.kind() == Kind::Map && map.entries().any(|(key, _)| matches!(key, Key::Value(value) if has_variables(value)))
}

/// Returns true if Ruby itself uses this name for an encoding.
fn is_encoding(name: &[u8]) -> bool {
    static NAMES: OnceLock<HashSet<Vec<u8>>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let output = Command::new("ruby").args(["-e", "puts Encoding.list.map(&:name)"]).output();
        let names = output.map(|output| output.stdout).unwrap_or_default();
        names.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    });
    names.contains(name)
}
