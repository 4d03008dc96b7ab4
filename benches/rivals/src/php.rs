//! Crates that read PHP's serialize.

use crate::{NoWriter, Rival, Times, timed};
use icecore::{Limits, Request, format::php};
use phpserz::{PhpDeserializer, PhpParser, PhpToken};
use std::collections::BTreeMap;

pub const RIVALS: &[Rival] = &[
    Rival { name: "phpserz", into: "tokens in a vector", records_only: false, run: phpserz_tokens },
    Rival { name: "phpserz", into: "typed, borrowed", records_only: true, run: phpserz_typed },
    Rival { name: "php_serde", into: "typed", records_only: true, run: php_serde_typed },
    Rival { name: "deser-php", into: "typed", records_only: true, run: deser_typed },
    Rival { name: "deser-php", into: "deser_value::Value", records_only: false, run: deser_value },
];

fn shown(error: impl std::fmt::Display) -> String {
    error.to_string()
}

pub fn icecore(blob: &[u8]) -> Result<Times, String> {
    let limits = Limits::default();
    timed(
        blob,
        || php::read(blob, &php::ReadOptions::default(), &limits).map_err(shown),
        Some(|document: &icecore::Document<'_>| {
            let mut out = Vec::new();
            php::write(document, &php::WriteOptions::default(), &limits, &mut out).map_err(shown)?;
            Ok(out)
        }),
    )
}

pub fn icecore_again(blob: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let limits = Limits::default();
    let stage = icecore::Stage::parse("php").map_err(shown)?;
    let document = icecore::read_with(blob, &stage, Request::new(&limits).detailed()).map_err(shown)?;
    let mut out = Vec::new();
    php::write(&document, &php::WriteOptions::default(), &limits, &mut out).map_err(shown)?;
    Ok(Some(out))
}

fn tokens(blob: &[u8]) -> Result<Vec<PhpToken<'_>>, String> {
    let mut parser = PhpParser::new(blob);
    let mut tokens = Vec::new();
    while parser.position() < blob.len() {
        tokens.push(parser.read_token().map_err(shown)?);
    }
    Ok(tokens)
}

fn phpserz_tokens(blob: &[u8]) -> Result<Times, String> {
    timed(blob, || tokens(blob), None::<NoWriter<Vec<PhpToken<'_>>>>)
}

pub fn phpserz_again(blob: &[u8]) -> Result<Option<Vec<u8>>, String> {
    tokens(blob).map(|_| None)
}

#[derive(serde::Deserialize)]
#[allow(dead_code, reason = "only filled")]
struct Borrowed<'a> {
    id: i64,
    #[serde(borrow)]
    name: &'a [u8],
    age: i64,
}

fn phpserz_typed(blob: &[u8]) -> Result<Times, String> {
    // It has lists only as maps.
    let read = || serde::Deserialize::deserialize(&mut PhpDeserializer::new(blob)).map_err(shown);
    timed(blob, read, None::<NoWriter<BTreeMap<i64, Borrowed<'_>>>>)
}

#[derive(serde::Deserialize, serde::Serialize)]
struct Employee {
    id: i64,
    name: String,
    age: i64,
}

fn php_serde_typed(blob: &[u8]) -> Result<Times, String> {
    let read = || php_serde::from_bytes::<Vec<Employee>>(blob).map_err(shown);
    timed(blob, read, Some(|value: &Vec<Employee>| php_serde::to_vec(value).map_err(shown)))
}

#[derive(deser::Deserialize, deser::Serialize)]
struct Typed {
    id: i64,
    name: String,
    age: i64,
}

fn deser_typed(blob: &[u8]) -> Result<Times, String> {
    let read = || deser_php::from_slice::<Vec<Typed>>(blob).map_err(shown);
    timed(blob, read, Some(|value: &Vec<Typed>| deser_php::to_vec(value).map_err(shown)))
}

fn deser_value(blob: &[u8]) -> Result<Times, String> {
    let read = || deser_php::from_slice::<deser_value::Value>(blob).map_err(shown);
    timed(blob, read, Some(|value: &deser_value::Value| deser_php::to_vec(value).map_err(shown)))
}

pub fn deser_again(blob: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let value: deser_value::Value = deser_php::from_slice(blob).map_err(shown)?;
    // Data that can't be written counts as different.
    Ok(Some(deser_php::to_vec(&value).unwrap_or_default()))
}
