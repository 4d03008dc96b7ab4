//! Errors of the driver and the server.

use crate::error::{Error, ErrorKind};
use mongodb::error::{ErrorKind as Kind, WriteFailure};

/// Error codes for a duplicate of a unique value.
const DUPLICATE: [i32; 3] = [11000, 11001, 12582];

fn error_kind_of_code(code: i32) -> ErrorKind {
    match code {
        // No primary, a server that shuts down, the network, or a write that other servers did not confirm.
        6 | 7 | 64 | 79 | 89 | 91 | 100 | 189 | 262 | 9001 | 10058 | 10107 | 11600 | 11602 | 13435 | 13436 => {
            ErrorKind::Away
        }
        // The user does not have permission, or is not authenticated.
        13 | 18 | 8000 => ErrorKind::Address,
        // Locks, time limits, a conflict with another change.
        24 | 46 | 50 | 112 => ErrorKind::Busy,
        // The document is too large.
        10334 | 17280 | 17419 | 17420 => ErrorKind::Input,
        14031 => ErrorKind::Full,
        code if DUPLICATE.contains(&code) => ErrorKind::Taken,
        _ => ErrorKind::Database,
    }
}

/// Shortens a server's message, because it may contain text of documents.
fn shorten_message(message: &str) -> String {
    icecore::text::shortened(&icecore::text::printable(message), 400).into_owned()
}

/// Returns whether the server dropped a cursor that was not read for long.
pub(super) fn is_cursor_lost(error: &mongodb::error::Error) -> bool {
    matches!(&*error.kind, Kind::Command(error) if error.code == 43)
}

pub(super) fn store_error_of_code(code: i32, message: &str) -> Error {
    Error::new(error_kind_of_code(code), format!("MongoDB: {} ({code})", shorten_message(message)))
}

pub(super) fn store_error(error: mongodb::error::Error) -> Error {
    let kind = match &*error.kind {
        Kind::Command(error) => return store_error_of_code(error.code, &error.message),
        Kind::Write(WriteFailure::WriteError(error)) => return store_error_of_code(error.code, &error.message),
        Kind::Write(WriteFailure::WriteConcernError(error)) => return store_error_of_code(error.code, &error.message),
        Kind::InsertMany(many) => {
            if let Some(error) = &many.write_concern_error {
                return store_error_of_code(error.code, &error.message);
            }
            if let Some(error) = many.write_errors.iter().flatten().next() {
                return store_error_of_code(error.code, &error.message);
            }
            ErrorKind::Database
        }
        Kind::Io(_) | Kind::ConnectionPoolCleared { .. } | Kind::ServerSelection { .. } | Kind::DnsResolve { .. } => {
            ErrorKind::Away
        }
        Kind::Authentication { .. } | Kind::InvalidTlsConfig { .. } | Kind::IncompatibleServer { .. } => {
            ErrorKind::Address
        }
        // The driver reports documents that are too large this way.
        Kind::InvalidArgument { .. } => ErrorKind::Input,
        _ => ErrorKind::Database,
    };
    Error::new(kind, format!("MongoDB: {}", shorten_message(&error.kind.to_string())))
}

/// Returns whether a unique value already exists.
pub(super) fn is_duplicate(error: &mongodb::error::Error) -> bool {
    matches!(&*error.kind, Kind::Write(WriteFailure::WriteError(error)) if DUPLICATE.contains(&error.code))
        || matches!(&*error.kind, Kind::Command(error) if DUPLICATE.contains(&error.code))
}

/// Returns which of many documents were not inserted because a unique value already exists.
///
/// # Errors
/// If any other error occurred.
pub(super) fn find_duplicates(error: mongodb::error::Error) -> crate::error::Result<Vec<usize>> {
    let Kind::InsertMany(many) = &*error.kind else { return Err(store_error(error)) };
    if let Some(error) = &many.write_concern_error {
        return Err(store_error_of_code(error.code, &error.message));
    }
    let errors = many.write_errors.iter().flatten();
    if let Some(error) = errors.clone().find(|error| !DUPLICATE.contains(&error.code)) {
        return Err(store_error_of_code(error.code, &error.message));
    }
    Ok(errors.map(|error| error.index).collect())
}
