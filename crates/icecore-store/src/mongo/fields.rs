//! Fields of documents, which other programs may have written.

use crate::error::{Error, ErrorKind, Result};
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Bson, Document};

/// Maximum size of a document's fields. BSON allows 16 MB including their names.
pub(super) const MAX_FIELDS_SIZE: usize = (16 << 20) - (64 << 10);

fn wrong_type_error(name: &str, kind: &str) -> Error {
    Error::new(ErrorKind::Database, format!("the field {name} is not a {kind}: another program changed the document"))
}

fn take_field(document: &mut Document, name: &str) -> Option<Bson> {
    document.remove(name).filter(|value| *value != Bson::Null)
}

/// Removes a text field from the document and returns its value.
pub(super) fn take_text(document: &mut Document, name: &str) -> Result<Option<String>> {
    match take_field(document, name) {
        None => Ok(None),
        Some(Bson::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong_type_error(name, "text")),
    }
}

/// Removes a binary field from the document and returns its value.
pub(super) fn take_bytes(document: &mut Document, name: &str) -> Result<Option<Vec<u8>>> {
    match take_field(document, name) {
        None => Ok(None),
        Some(Bson::Binary(binary)) => Ok(Some(binary.bytes)),
        Some(_) => Err(wrong_type_error(name, "binary value")),
    }
}

/// Returns a whole number of any BSON type. Programs in JavaScript write all numbers as floats.
pub(super) fn to_whole_number(value: Option<&Bson>) -> Option<i64> {
    match value? {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        Bson::Double(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
        _ => None,
    }
}

/// Returns the whole number of a field.
pub(super) fn get_int(document: &Document, name: &str) -> Result<Option<i64>> {
    match document.get(name) {
        None | Some(Bson::Null) => Ok(None),
        value => to_whole_number(value).map(Some).ok_or_else(|| wrong_type_error(name, "whole number")),
    }
}

/// Returns bytes as a BSON value.
pub(super) fn to_binary(bytes: &[u8]) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() })
}

/// Adds a field, if it has a value.
pub(super) fn insert_if_some<T: Into<Bson>>(document: &mut Document, name: &str, value: Option<T>) {
    if let Some(value) = value {
        document.insert(name, value);
    }
}

/// Estimates the size of a document. Adds its texts and bytes, and a constant for each value.
pub(super) fn estimate_size(document: &Document) -> usize {
    let mut bytes = 0;
    let mut pending: Vec<&Bson> = document.values().collect();
    while let Some(value) = pending.pop() {
        bytes += 16;
        match value {
            Bson::String(text) => bytes += text.len(),
            Bson::Binary(binary) => bytes += binary.bytes.len(),
            Bson::Document(inner) => pending.extend(inner.values()),
            Bson::Array(inner) => pending.extend(inner),
            _ => {}
        }
    }
    bytes
}

/// Checks that a document is not too large.
pub(super) fn check_size(subject: &str, document: &Document) -> Result<()> {
    let size = estimate_size(document);
    if size <= MAX_FIELDS_SIZE {
        return Ok(());
    }
    let text = format!("{subject} has {size} bytes with its readable copy: a document of MongoDB has at most 16 MB");
    Err(Error::new(ErrorKind::Input, text))
}
