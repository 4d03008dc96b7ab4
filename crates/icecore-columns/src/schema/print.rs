//! Prints fields as text.

use super::words;
use crate::{FILLED_WITH, PATH_METADATA};
use arrow_schema::{DataType, Field, Fields};
use std::fmt::Write;

/// Returns the type of a field as text that [`parse`](super::parse) accepts. For a struct, returns its fields. A row
/// may always be null. Types without a name in the schema language are printed as Arrow shows them, which `parse`
/// does not accept.
///
/// ```
/// use icecore_columns::schema;
/// let field = schema::parse(r#"id: BIGINT not null, "two words" text[]"#)?;
/// let text = schema::print(&field);
/// assert_eq!(text, r#"id int64 not null, "two words" list<utf8>"#);
/// assert_eq!(schema::parse(&text)?, field);
/// # Ok::<(), icecore_columns::Error>(())
/// ```
pub fn print(field: &Field) -> String {
    let mut out = String::new();
    match field.data_type() {
        DataType::Struct(fields) if !fields.is_empty() => print_fields(fields, &mut out),
        _ => print_value(&field.clone().with_nullable(true), &mut out),
    }
    out
}

fn print_fields(fields: &Fields, out: &mut String) {
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        print_name(field.name(), out);
        out.push(' ');
        print_value(field, out);
        if let Some(path) = field.metadata().get(PATH_METADATA) {
            out.push_str(" at ");
            print_quoted(path, out);
        }
    }
}

/// Prints the type, and `not null` if it may not be null.
fn print_value(field: &Field, out: &mut String) {
    match field.metadata().get(FILLED_WITH) {
        Some(filled) => out.push_str(filled),
        None => print_type(field.data_type(), out),
    }
    if !field.is_nullable() {
        out.push_str(" not null");
    }
}

/// Prints a type in the syntax that `parse` reads.
fn print_type(data_type: &DataType, out: &mut String) {
    match data_type {
        DataType::Timestamp(unit, zone) => {
            let _ = write!(out, "timestamp[{}", words::unit_name(*unit));
            if let Some(zone) = zone {
                let _ = write!(out, ", {zone}");
            }
            out.push(']');
        }
        DataType::Decimal128(digits, scale) => {
            let _ = write!(out, "decimal({digits}, {scale})");
        }
        DataType::List(item) => print_list("list", item, out),
        DataType::LargeList(item) => print_list("large_list", item, out),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(parts) if parts.len() == 2 => {
                out.push_str("map<");
                print_type(parts[0].data_type(), out);
                out.push_str(", ");
                print_value(&parts[1], out);
                out.push('>');
            }
            _ => out.push_str("map"),
        },
        DataType::Struct(fields) => {
            out.push_str("struct<");
            print_fields(fields, out);
            out.push('>');
        }
        other => match words::find_type_name(other) {
            Some(name) => out.push_str(name),
            None => {
                let _ = write!(out, "{other}");
            }
        },
    }
}

fn print_list(name: &str, item: &Field, out: &mut String) {
    out.push_str(name);
    out.push('<');
    print_value(item, out);
    out.push('>');
}

fn print_name(name: &str, out: &mut String) {
    match is_bare_name(name) {
        true => out.push_str(name),
        false => print_quoted(name, out),
    }
}

fn print_quoted(text: &str, out: &mut String) {
    out.push('"');
    out.push_str(&text.replace('"', "\"\""));
    out.push('"');
}

/// Returns `true` if a name needs no quotes. `--` would begin a comment if the text is pasted into SQL.
fn is_bare_name(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '$' | '@');
    !text.is_empty() && text.chars().all(is_plain) && !text.contains("--")
}
