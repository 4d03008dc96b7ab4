//! The same for a server that speaks MongoDB's protocol.

use super::TextRow;
use super::table::{Cell, Cells};
use icecore_store::Address;
use mongodb::bson::{Bson, Document, doc};
use mongodb::sync::{Client, Collection, Database};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);
/// One connection for all tests of a program.
static CLIENTS: Mutex<Option<HashMap<String, Client>>> = Mutex::new(None);

/// Returns the address of a database that does not exist yet.
pub fn new_database(server: &str) -> Address {
    let (place, _) = server.rsplit_once('/').expect("mongodb://HOST:PORT/NAME");
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{place}/icecore_test_{}_{number}", std::process::id()).parse().expect("an address")
}

fn database(address: &Address) -> Database {
    let text = address.to_string();
    let (place, name) = text.rsplit_once('/').expect("mongodb://HOST:PORT/NAME");
    let mut clients = CLIENTS.lock().expect("no panic here");
    let connect = || Client::with_uri_str(place).expect("a client");
    clients.get_or_insert_default().entry(place.to_owned()).or_insert_with(connect).database(name)
}

fn collection(address: &Address, table: &str) -> Collection<Document> {
    database(address).collection(table)
}

/// Returns the name of a column in a document. The id of a row is the id of its document.
fn field(column: &str) -> &str {
    // Documents other than jobs and objects are identified by a name.
    if column == "id" || column == "name" { "_id" } else { column }
}

fn value(cell: Cell<'_>, document: &Document) -> Bson {
    match cell {
        Cell::Int(number) => number.into(),
        Cell::Text(text) => text.into(),
        Cell::Bytes(bytes) => Bson::Binary(mongodb::bson::Binary {
            subtype: mongodb::bson::spec::BinarySubtype::Generic,
            bytes: bytes.to_vec(),
        }),
        Cell::Column(name) => document.get(name).cloned().unwrap_or(Bson::Null),
    }
}

fn document(cells: Cells<'_>, of: &Document) -> Document {
    cells.iter().map(|(name, cell)| (field(name).to_owned(), value(*cell, of))).collect()
}

fn found(address: &Address, table: &str, conditions: Cells<'_>) -> Vec<Document> {
    let found = collection(address, table).find(document(conditions, &doc! {})).sort(doc! { "seq": 1 }).run();
    found.expect("found").collect::<Result<Vec<Document>, _>>().expect("documents")
}

fn text(value: Option<&Bson>) -> Option<String> {
    match value? {
        Bson::Null => None,
        Bson::String(text) => Some(text.clone()),
        Bson::Binary(binary) => Some(String::from_utf8_lossy(&binary.bytes).into_owned()),
        other => Some(other.to_string()),
    }
}

pub fn select(address: &Address, table: &str, columns: &[&str], conditions: Cells<'_>) -> Vec<TextRow> {
    // Data that has its own tables in SQL is in the object's document here.
    let list = match table {
        "icecore_object_classes" => Some("classes"),
        "icecore_index_values" => Some("indexed"),
        _ => None,
    };
    let Some(list) = list else {
        let row = |document: &Document| columns.iter().map(|column| text(document.get(field(column)))).collect();
        return found(address, table, conditions).iter().map(row).collect();
    };
    let objects = found(address, "icecore_objects", conditions);
    let items = objects.iter().flat_map(|object| object.get_array(list).into_iter().flatten());
    items.map(|item| vec![text(Some(item))]).collect()
}

pub fn change(address: &Address, table: &str, values: Cells<'_>, conditions: Cells<'_>) {
    for known in found(address, table, conditions) {
        let change = doc! { "$set": document(values, &known) };
        let filter = doc! { "_id": known.get("_id") };
        collection(address, table).update_one(filter, change).run().expect("changed");
    }
}

pub fn insert(address: &Address, table: &str, values: Cells<'_>) {
    collection(address, table).insert_one(document(values, &doc! {})).run().expect("inserted");
}

pub fn clear(address: &Address, table: &str) {
    collection(address, table).delete_many(doc! {}).run().expect("emptied");
}

pub fn unfinish_indexes(address: &Address, after: i64) {
    let change = doc! { "$set": { "kept": 0_i64 }, "$unset": { "indexed": "" } };
    collection(address, "icecore_objects")
        .update_many(doc! { "seq": { "$gt": after } }, change)
        .run()
        .expect("changed");
}
