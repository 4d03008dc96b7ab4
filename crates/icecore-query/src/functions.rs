//! Functions that are not in the standard library, as they need to know what a value is.

use crate::run::Values;
use crate::value::{Error, Members, Opened, ValR, Value, contains, indices, key};
use icecore::{Document, Limits, Stage};
use jaq_core::RunPtr;
use jaq_core::native::{Filter, Fun, bome, run, unary, v};
use jaq_std::ValT as _;

/// Functions of the standard library that stand here in another form.
const OWN: [&str; 2] = ["debug_empty", "stderr_empty"];

/// All functions that filters can call.
pub fn all() -> impl Iterator<Item = Fun<Values>> {
    let standard = jaq_std::funs::<Values>().filter(|(name, _, _)| !OWN.contains(name));
    let inputs = jaq_std::input::funs::<Values>().into_vec().into_iter().map(run::<Values>);
    let core = jaq_core::funs::<Values>();
    core.chain(standard).chain(inputs).chain(own().into_iter().map(run::<Values>))
}

type Function = Filter<RunPtr<Values>>;

fn own() -> Vec<Function> {
    vec![
        ("length", v(0), |cv| bome(cv.1.length())),
        ("has", v(1), |cv| unary(cv, |value, key| Ok(value.find(&key)?.is_some().into()))),
        ("contains", v(1), |cv| unary(cv, |all, part| both_alike(&all, &part).map(|()| contains(&all, &part).into()))),
        ("indices", v(1), |cv| unary(cv, |all, part| if is_null(&all) { Ok(all) } else { indices(&all, &part) })),
        ("bsearch", v(1), |cv| unary(cv, |list, value| search(&list, &value))),
        ("tojson", v(0), |cv| bome(Ok(Value::text(cv.1.to_json())))),
        ("fromjson", v(0), |cv| bome(from_json(&cv.1))),
        ("class", v(0), |cv| bome(Ok(cv.1.class().map_or(Value::Null, Value::text)))),
        ("fields", v(0), |cv| bome(fields(&cv.1))),
        ("spreadsheet_text", v(0), |cv| bome(Ok(spreadsheet_text(cv.1)))),
        ("input_filename", v(0), |cv| bome(Ok(cv.0.data().name()))),
        ("debug_empty", v(0), |cv| {
            cv.0.data().say(&format!("debug: {}", String::from_utf8_lossy(&cv.1.to_json())));
            Box::new(std::iter::empty())
        }),
        ("stderr_empty", v(0), |cv| {
            let text = cv.1.as_bytes().map_or_else(|| cv.1.to_json(), <[u8]>::to_vec);
            cv.0.data().say(&String::from_utf8_lossy(&text));
            Box::new(std::iter::empty())
        }),
    ]
}

/// A string as a cell that no spreadsheet takes for a formula.
fn spreadsheet_text(cell: Value) -> Value {
    match cell.as_bytes() {
        Some(bytes) if icecore::text::is_formula(bytes) => Value::text([b"'", bytes].concat()),
        _ => cell,
    }
}

fn is_null(value: &Value) -> bool {
    matches!(value.plain(), Value::Null)
}

/// A string is in no number, and says so.
fn both_alike(all: &Value, part: &Value) -> Result<(), Error> {
    let is_same = std::mem::discriminant(all.plain()) == std::mem::discriminant(part.plain());
    let fail = || Error::str(format_args!("{all} and {part} cannot have their containment checked"));
    if is_same { Ok(()) } else { Err(fail()) }
}

/// Where the value stands in a sorted list, or, below zero, where it would.
fn search(list: &Value, value: &Value) -> ValR {
    match list.plain() {
        Value::List(list) => Ok(match list.get().binary_search(value) {
            Ok(at) => Value::from(at as isize),
            Err(at) => Value::from(-1 - at as isize),
        }),
        other => Err(Error::typ(other.clone(), "array")),
    }
}

fn from_json(text: &Value) -> ValR {
    let bytes = text.as_bytes().ok_or_else(|| Error::typ(text.clone(), "string"))?;
    let read = || -> Result<Document<'static>, icecore::Error> {
        let stage = Stage::parse("json:typed=no")?;
        icecore::read_as(bytes, &stage, &Limits::default()).map(Document::into_owned)
    };
    match read() {
        Ok(document) => Ok(Opened::made(document).root()),
        Err(error) => Err(Error::str(format_args!("{text} is no JSON: {error}"))),
    }
}

/// The members of an object, without its class; of one that is no map, what it holds.
fn fields(value: &Value) -> ValR {
    if value.class().is_none() && !matches!(value.plain(), Value::Map(_)) {
        return Err(Error::str(format_args!("{value} is no object: it has no fields")));
    }
    match value.plain() {
        Value::Map(map) => Ok(Value::map(map.get().clone())),
        Value::List(list) => Ok(one("value", Value::list(list.get().clone()))),
        other => Ok(one("value", other.clone())),
    }
}

fn one(name: &str, value: Value) -> Value {
    Value::map(Members::from_iter([(key(name), value)]))
}

/// What is written in the language itself, beside what its standard library has.
pub fn definitions(for_spreadsheets: bool) -> Vec<jaq_core::load::parse::Def<&'static str>> {
    let parsed = |text| jaq_core::load::parse(text, |parser| parser.defs()).unwrap_or_default();
    let more = if for_spreadsheets { parsed(include_str!("spreadsheet.jq")) } else { Vec::new() };
    jaq_core::defs().chain(jaq_std::defs()).chain(parsed(include_str!("functions.jq"))).chain(more).collect()
}
