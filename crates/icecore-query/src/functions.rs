//! Functions that are not part of the standard library, because they depend on the kind of a value.

use crate::events::StreamEvents;
use crate::matching::{MatchOutput, find_matches};
use crate::memory;
use crate::query_thread::{self, Stop};
use crate::run::FilterTypes;
use crate::value::{
    Error, Members, OpenDocument, ValR, Value, check_length, contains_value, find_indices, key_from_name,
};
use icecore::{Document, ErrorKind, Limits, Stage};
use jaq_core::RunPtr;
use jaq_core::load::parse::Def;
use jaq_core::native::{Filter, Fun, bome, run, unary, v};
use jaq_std::ValT as _;
use std::collections::BTreeSet;

/// Functions of the standard library that are replaced here.
const REPLACED: [&str; 11] = [
    "debug_empty",
    "stderr_empty",
    "matches",
    "split_matches",
    "split_",
    "escape_html",
    "escape_sh",
    "encode_uri",
    "encode_base64",
    "ascii_downcase",
    "ascii_upcase",
];

/// Returns all functions that filters can call.
pub fn all_functions() -> impl Iterator<Item = Fun<FilterTypes>> {
    let standard = jaq_std::funs::<FilterTypes>().filter(|(name, _, _)| !REPLACED.contains(name));
    let inputs = jaq_std::input::funs::<FilterTypes>().into_vec().into_iter().map(run::<FilterTypes>);
    let core = jaq_core::funs::<FilterTypes>();
    core.chain(standard).chain(inputs).chain(own_functions().into_iter().map(run::<FilterTypes>))
}

type FilterFunction = Filter<RunPtr<FilterTypes>>;

/// Returns the functions that this crate adds to jaq's, or that replace jaq's.
fn own_functions() -> Vec<FilterFunction> {
    vec![
        ("length", v(0), |cv| bome(cv.1.jq_length())),
        ("has", v(1), |cv| unary(cv, |value, key| Ok(value.find_entry(&key)?.is_some().into()))),
        ("contains", v(1), |cv| {
            unary(cv, |all, part| require_same_kind(&all, &part).map(|()| contains_value(&all, &part).into()))
        }),
        ("indices", v(1), |cv| unary(cv, |all, part| if is_null(&all) { Ok(all) } else { find_indices(&all, &part) })),
        ("bsearch", v(1), |cv| unary(cv, |list, value| binary_search(&list, &value))),
        ("tojson", v(0), |cv| bome(Ok(Value::from_text(cv.1.to_json())))),
        ("fromjson", v(0), |cv| bome(from_json(&cv.1))),
        ("tostream", v(0), |cv| Box::new(StreamEvents::new(cv.1).map(Ok))),
        ("matches", v(2), |cv| bome(find_matches(MatchOutput::Matches, cv))),
        ("split_matches", v(2), |cv| bome(find_matches(MatchOutput::Both, cv))),
        ("split_", v(2), |cv| bome(find_matches(MatchOutput::Rest, cv))),
        ("escape_html", v(0), |cv| bome(escape_bytes(&cv.1, escape_html))),
        ("escape_sh", v(0), |cv| {
            bome(escape_bytes(&cv.1, |byte| if byte == b'\'' { b"'\\''".into() } else { byte.into() }))
        }),
        ("encode_uri", v(0), |cv| bome(escape_bytes(&cv.1, encode_uri))),
        ("encode_base64", v(0), |cv| bome(encode_base64(&cv.1))),
        ("ascii_downcase", v(0), |cv| bome(change_letters(&cv.1, <[u8]>::make_ascii_lowercase))),
        ("ascii_upcase", v(0), |cv| bome(change_letters(&cv.1, <[u8]>::make_ascii_uppercase))),
        ("class", v(0), |cv| bome(Ok(cv.1.class_name().map_or(Value::Null, Value::from_text)))),
        ("fields", v(0), |cv| bome(object_fields(&cv.1))),
        ("spreadsheet_text", v(0), |cv| bome(Ok(spreadsheet_text(cv.1)))),
        ("builtins", v(0), |_| bome(Ok(list_functions()))),
        ("input_filename", v(0), |cv| bome(Ok(cv.0.data().input_name()))),
        ("debug_empty", v(0), |cv| {
            cv.0.data().pass_message(&format!("debug: {}", String::from_utf8_lossy(&cv.1.to_json())));
            Box::new(std::iter::empty())
        }),
        ("stderr_empty", v(0), |cv| {
            let text = cv.1.as_bytes().map_or_else(|| cv.1.to_json(), <[u8]>::to_vec);
            cv.0.data().pass_message(&String::from_utf8_lossy(&text));
            Box::new(std::iter::empty())
        }),
    ]
}

/// Returns `name/arity` of each function. Names that begin with `_`, and those of jaq's helpers, are left out.
fn list_functions() -> Value {
    /// Helpers of jaq that filters are not meant to call.
    const HELPERS: [&str; 8] = [
        "debug_empty",
        "stderr_empty",
        "matches",
        "split_matches",
        "split_",
        "scan_",
        "key_values",
        "capture_of_match",
    ];
    let natives = all_functions().map(|(name, arguments, _)| (name, arguments.len()));
    let definitions = library_definitions(TableTarget::Any).into_iter().map(|def| (def.name, def.args.len()));
    let names: BTreeSet<(&str, usize)> = natives
        .chain(definitions)
        .filter(|(name, _)| !name.starts_with(['_', '@']) && !HELPERS.contains(name))
        .collect();
    names.into_iter().map(|(name, arity)| Value::from_text(format!("{name}/{arity}"))).collect()
}

/// Returns a string as a cell that no spreadsheet interprets as a formula.
fn spreadsheet_text(cell: Value) -> Value {
    match cell.as_bytes() {
        Some(bytes) if icecore::text::is_formula(bytes) => cell.as_sub_str(&[b"'", bytes].concat()),
        _ => cell,
    }
}

fn is_null(value: &Value) -> bool {
    matches!(value.visible_value(), Value::Null)
}

/// Returns an error if the two values have different kinds, because then neither can contain the other.
fn require_same_kind(all: &Value, part: &Value) -> Result<(), Error> {
    let is_same = std::mem::discriminant(all.visible_value()) == std::mem::discriminant(part.visible_value());
    let fail = || Error::str(format_args!("{all} and {part} cannot have their containment checked"));
    if is_same { Ok(()) } else { Err(fail()) }
}

/// Returns the index of the value in a sorted list, or a negative number for the place where it would be inserted.
fn binary_search(list: &Value, value: &Value) -> ValR {
    match list.visible_value() {
        Value::List(list) => Ok(match list.get().binary_search(value) {
            Ok(index) => Value::from(index as isize),
            Err(index) => Value::from(-1 - index as isize),
        }),
        other => Err(Error::typ(other.clone(), "array")),
    }
}

/// The escaped form of a byte.
struct Escape {
    bytes: [u8; 6],
    len: u8,
}

impl From<u8> for Escape {
    fn from(byte: u8) -> Escape {
        Escape { bytes: [byte; 6], len: 1 }
    }
}

impl From<&[u8]> for Escape {
    fn from(text: &[u8]) -> Escape {
        let mut escape = Escape { bytes: [0; 6], len: 0 };
        for (target, byte) in escape.bytes.iter_mut().zip(text) {
            *target = *byte;
            escape.len += 1;
        }
        escape
    }
}

impl<const N: usize> From<&[u8; N]> for Escape {
    fn from(text: &[u8; N]) -> Escape {
        text.as_slice().into()
    }
}

fn escape_html(byte: u8) -> Escape {
    match byte {
        b'<' => b"&lt;".into(),
        b'>' => b"&gt;".into(),
        b'&' => b"&amp;".into(),
        b'\'' => b"&apos;".into(),
        b'"' => b"&quot;".into(),
        other => other.into(),
    }
}

fn encode_uri(byte: u8) -> Escape {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return byte.into();
    }
    let digit = |digit: u8| DIGITS.get(usize::from(digit)).copied().unwrap_or_default();
    (&[b'%', digit(byte >> 4), digit(byte & 15)]).into()
}

/// Returns a string with escaped bytes. It may become several times as long, so its length is computed and checked
/// first.
fn escape_bytes(value: &Value, escape: impl Fn(u8) -> Escape) -> ValR {
    let bytes = value.try_as_utf8_bytes()?;
    let len = bytes.iter().map(|byte| u64::from(escape(*byte).len)).sum();
    check_length(len);
    let mut out = Vec::with_capacity(usize::try_from(len).unwrap_or_default());
    for byte in bytes {
        let escape = escape(*byte);
        out.extend_from_slice(escape.bytes.get(..usize::from(escape.len)).unwrap_or_default());
    }
    Ok(value.as_sub_str(&out))
}

/// Returns a string in Base64. Its bytes are encoded, not the characters that filters see of them.
fn encode_base64(value: &Value) -> ValR {
    let Value::Text(text) = value.visible_value() else { return Err(Error::typ(value.clone(), "string")) };
    check_length(text.bytes.len() as u64 / 3 * 4 + 4);
    Ok(Value::from_text(icecore::text::to_base64(&text.stored_bytes())))
}

/// Returns a string with other letters of ASCII.
fn change_letters(value: &Value, change: impl FnOnce(&mut [u8])) -> ValR {
    let mut bytes = value.try_as_utf8_bytes()?.to_vec();
    change(&mut bytes);
    Ok(value.as_sub_str(&bytes))
}

/// Memory for a value of a document while it is read.
const BYTES_PER_READ_VALUE: u64 = 32;

fn from_json(text: &Value) -> ValR {
    let bytes = text.as_bytes().ok_or_else(|| Error::typ(text.clone(), "string"))?;
    query_thread::count_steps(bytes.len() as u64 / 64);
    let mut limits = Limits::default();
    let max_values = memory::remaining_bytes().saturating_sub(bytes.len() as u64) / BYTES_PER_READ_VALUE;
    limits.nodes = limits.nodes.min(u32::try_from(max_values).unwrap_or(u32::MAX));
    let is_reduced = limits.nodes < Limits::default().nodes;
    let read = || -> Result<Document<'static>, icecore::Error> {
        let stage = Stage::parse("json:typed=no")?;
        icecore::read_as(bytes, &stage, &limits).map(Document::into_owned)
    };
    match read() {
        Ok(document) => Ok(OpenDocument::charged_to_filter(document).root_value()),
        // The limit of values was lowered to the remaining memory. If the text may have more values than the limit,
        // the filter lacks memory. Any other error would also occur with a higher limit.
        Err(error) if error.kind() == ErrorKind::Limit && is_reduced && bytes.len() as u64 > max_values => {
            query_thread::stop_filter(Stop::Memory)
        }
        Err(error) => Err(Error::str(format_args!("{text} is not JSON: {error}"))),
    }
}

/// Returns the members of an object without its class. For an object that is not a map, returns its content.
fn object_fields(value: &Value) -> ValR {
    if value.class_name().is_none() && !matches!(value.visible_value(), Value::Map(_)) {
        return Err(Error::str(format_args!("{value} is not an object: it has no fields")));
    }
    match value.visible_value() {
        Value::Map(map) => Ok(Value::from_members(map.get().clone())),
        Value::List(list) => Ok(single_member("value", Value::from_items(list.get().clone()))),
        other => Ok(single_member("value", other.clone())),
    }
}

fn single_member(name: &str, value: Value) -> Value {
    Value::from_members(Members::from_iter([(key_from_name(name), value)]))
}

/// Who reads the tables that `@csv` and `@tsv` make.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TableTarget {
    Any,
    /// A program that would interpret some texts as formulas.
    Spreadsheet,
}

/// Returns the functions that are written in the language itself, with those of its standard library.
pub fn library_definitions(target: TableTarget) -> Vec<Def<&'static str>> {
    let parsed = |text| jaq_core::load::parse(text, |parser| parser.defs()).unwrap_or_default();
    let spreadsheet_definitions = match target {
        TableTarget::Any => Vec::new(),
        TableTarget::Spreadsheet => parsed(include_str!("spreadsheet.jq")),
    };
    jaq_core::defs()
        .chain(jaq_std::defs())
        .chain(parsed(include_str!("functions.jq")))
        .chain(spreadsheet_definitions)
        .collect()
}
