//! Documents of any collection as rows, read only.
//!
//! Documents may have any fields, so they are read twice. The first pass finds the names of the columns, and the
//! second one reads the values.

use super::connect::connect_client;
use super::store_error::store_error;
use crate::address::Address;
use crate::backend::Flow;
use crate::error::{Error, ErrorKind, Result};
use crate::query::{ColumnValue, EachLine, Line};
use mongodb::bson::{Bson, Document, doc};
use mongodb::sync::{Collection, Cursor};
use std::collections::{HashMap, HashSet};

/// Maximum number of columns.
const MAX_COLUMNS: usize = 4_096;
/// Maximum total length of the column names, in bytes.
const MAX_NAMES_LEN: usize = 1 << 20;

/// Passes the documents of a collection that match a filter to `each`, as rows.
pub(crate) fn read_documents(
    address: &Address,
    collection: &str,
    filter: Option<&str>,
    each: EachLine<'_>,
) -> Result<()> {
    let filter = filter.map_or(Ok(doc! {}), parse_filter)?;
    let (client, name) = connect_client(address)?;
    let collection = client.database(&name).collection::<Document>(collection);
    let names = list_field_names(&collection, &filter)?;
    if each(Line::Names(&names))? == Flow::Stop {
        return Ok(());
    }
    let columns: HashMap<&str, usize> = names.iter().enumerate().map(|(column, name)| (&**name, column)).collect();
    for document in find_documents(&collection, &filter)? {
        let mut row = vec![ColumnValue::Null; names.len()];
        for (name, value) in document.map_err(store_error)? {
            let Some(column) = columns.get(&*name) else {
                let text = format!("the field {name:?} was added while the documents were read: read them again");
                return Err(Error::new(ErrorKind::Busy, text));
            };
            row[*column] = column_value(value);
        }
        if each(Line::Values(&row))? == Flow::Stop {
            break;
        }
    }
    Ok(())
}

fn parse_filter(json: &str) -> Result<Document> {
    let filter_error = |reason: String| {
        Error::new(ErrorKind::Input, format!("the filter for documents must be a JSON object: {reason}"))
    };
    let value: serde_json::Value = serde_json::from_str(json).map_err(|error| filter_error(error.to_string()))?;
    match Bson::try_from(value) {
        Ok(Bson::Document(document)) => Ok(document),
        Ok(_) => Err(filter_error("it is another value".to_owned())),
        Err(error) => Err(filter_error(error.to_string())),
    }
}

fn find_documents(collection: &Collection<Document>, filter: &Document) -> Result<Cursor<Document>> {
    collection.find(filter.clone()).sort(doc! { "_id": 1 }).run().map_err(store_error)
}

/// Returns the names of all fields, in the order of their first occurrence.
fn list_field_names(collection: &Collection<Document>, filter: &Document) -> Result<Vec<String>> {
    let (mut names, mut seen, mut bytes) = (Vec::new(), HashSet::new(), 0);
    for document in find_documents(collection, filter)? {
        for name in document.map_err(store_error)?.keys() {
            if seen.contains(name) {
                continue;
            }
            bytes += name.len();
            if names.len() == MAX_COLUMNS || bytes > MAX_NAMES_LEN {
                let text =
                    format!("the documents have more than {MAX_COLUMNS} different fields: select fewer documents");
                return Err(Error::new(ErrorKind::Input, text));
            }
            seen.insert(name.clone());
            names.push(name.clone());
        }
    }
    Ok(names)
}

/// Returns bytes and texts unchanged, numbers and booleans with their type, everything else as extended JSON.
fn column_value(value: Bson) -> ColumnValue<'static> {
    let text = match value {
        Bson::Null | Bson::Undefined => return ColumnValue::Null,
        Bson::Boolean(is_true) => return ColumnValue::Boolean(is_true),
        Bson::Int32(number) => return ColumnValue::from_integer(number.into()),
        Bson::Int64(number) => return ColumnValue::from_integer(number),
        Bson::Double(number) => return ColumnValue::from_float(number),
        Bson::Decimal128(number) => return ColumnValue::Number(number.to_string().into()),
        Bson::Binary(binary) => return ColumnValue::Bytes(binary.bytes.into()),
        Bson::String(text) | Bson::Symbol(text) => text,
        Bson::ObjectId(id) => id.to_hex(),
        Bson::DateTime(time) => match time.try_to_rfc3339_string() {
            Ok(text) => text,
            Err(_) => time.timestamp_millis().to_string(),
        },
        other => other.into_relaxed_extjson().to_string(),
    };
    ColumnValue::from_text(text)
}
