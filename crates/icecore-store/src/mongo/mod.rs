//! The store on MongoDB, and on servers that speak its protocol.
//!
//! It uses no transactions, because a standalone server does not support them. Changes that belong together are in one
//! document, or become visible together ([`batch`]).

mod audit;
mod batch;
mod chains;
mod claims;
mod connect;
mod fields;
mod indexes;
mod jobs;
mod limits;
mod objects;
mod pushes;
mod queues;
mod rows;
mod schedules;
mod schema;
mod store_error;

use crate::backend::Backend;
use crate::claim_request::ExpiryChecks;
use crate::error::{Error, ErrorKind, Result};
use mongodb::bson::{Bson, Document, doc};
use mongodb::sync::{Client, Collection, Database};
use store_error::{store_error, store_error_of_code};

pub(crate) use connect::open_backend;
pub(crate) use rows::read_documents;

/// Commands whose answer contains the time. Older servers know only `isMaster`.
const TIME_COMMANDS: [&str; 2] = ["hello", "isMaster"];
/// Maximum number of changes in one command.
const MAX_CHANGES: usize = 500;
/// Maximum number of bytes in one command, if it has more than one change.
const MAX_CHANGES_SIZE: usize = 8 << 20;

/// A store in one database of a server.
pub(crate) struct MongoBackend {
    /// Kept because its connections are closed when it is dropped.
    _client: Client,
    database: Database,
    objects: Collection<Document>,
    jobs: Collection<Document>,
    queues: Collection<Document>,
    batches: Collection<Document>,
    schedules: Collection<Document>,
    audit: Collection<Document>,
    meta: Collection<Document>,
    expiry_checks: ExpiryChecks,
    /// The command whose answer contains the time.
    time_command: &'static str,
}

impl MongoBackend {
    fn from_client(client: Client, name: &str) -> MongoBackend {
        let database = client.database(name);
        let collection = |name: &str| database.collection::<Document>(name);
        MongoBackend {
            objects: collection("icecore_objects"),
            jobs: collection("icecore_jobs"),
            queues: collection("icecore_queues"),
            batches: collection("icecore_batches"),
            schedules: collection("icecore_schedules"),
            audit: collection("icecore_audit"),
            meta: collection("icecore_meta"),
            expiry_checks: ExpiryChecks::default(),
            time_command: TIME_COMMANDS[0],
            _client: client,
            database,
        }
    }

    /// Finds the command whose answer contains the time.
    fn find_time_command(&mut self) -> Result<()> {
        let mut result = Ok(());
        for command in TIME_COMMANDS {
            self.time_command = command;
            result = self.read_time().map(drop);
            if !matches!(&result, Err(error) if error.kind() == ErrorKind::Database) {
                break;
            }
        }
        result
    }

    /// Returns the time of the server. Later operations happen after it, so no lease lasts longer than requested, and
    /// none is ended early.
    fn read_time(&self) -> Result<i64> {
        let answer = self.database.run_command(doc! { self.time_command: 1 }).run().map_err(store_error)?;
        match answer.get("localTime") {
            Some(Bson::DateTime(time)) => Ok(time.timestamp_millis()),
            _ => Err(Error::new(ErrorKind::Database, "MongoDB: the server does not report its time")),
        }
    }

    /// Makes these changes, each of the form `{q, u}`, independently. Returns how many documents matched.
    fn change_each(&self, collection: &Collection<Document>, changes: Vec<Document>) -> Result<u64> {
        let (mut group, mut group_size, mut matched) = (Vec::new(), 0, 0);
        for change in changes {
            let size = fields::estimate_size(&change);
            if group.len() == MAX_CHANGES || (group_size + size > MAX_CHANGES_SIZE && !group.is_empty()) {
                matched += self.change_group(collection, std::mem::take(&mut group))?;
                group_size = 0;
            }
            group_size += size;
            group.push(change);
        }
        if !group.is_empty() {
            matched += self.change_group(collection, group)?;
        }
        Ok(matched)
    }

    fn change_group(&self, collection: &Collection<Document>, changes: Vec<Document>) -> Result<u64> {
        let command = doc! {
            "update": collection.name(),
            "updates": changes,
            "ordered": false,
            "writeConcern": { "w": "majority", "j": true },
        };
        let answer = self.database.run_command(command).run().map_err(store_error)?;
        let write_error = answer.get_array("writeErrors").ok().and_then(|errors| errors.first()?.as_document());
        let error = write_error.or_else(|| answer.get_document("writeConcernError").ok());
        if let Some(error) = error {
            let code = error.get_i32("code").unwrap_or(0);
            return Err(store_error_of_code(code, error.get_str("errmsg").unwrap_or_default()));
        }
        let matched = fields::to_whole_number(answer.get("n")).unwrap_or(0);
        Ok(u64::try_from(matched).unwrap_or(0))
    }
}

impl Backend for MongoBackend {
    fn now(&mut self) -> Result<i64> {
        self.read_time()
    }
}
