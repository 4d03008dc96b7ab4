//! Answers that report an error.

use crate::threads::WorkError;
use axum::http::StatusCode;
use icecore_store::{Error, ErrorKind};
use serde::Serialize;

/// Why a request failed: a status code, and the body of the answer.
#[derive(Debug)]
pub struct Failure {
    pub code: StatusCode,
    /// Number of seconds after which the request may be repeated.
    pub retry_after: Option<u64>,
    /// Whether the connection is closed after the answer.
    pub closes_connection: bool,
    pub body: Box<ErrorBody>,
}

/// Content of the error body.
#[derive(Debug, Default, Serialize)]
pub struct ErrorBody {
    /// One word, for programs.
    pub kind: String,
    /// Message for people.
    pub message: String,
    /// Path in the payload: `$.user.id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Byte offset in the payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// How to solve the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// All errors, if there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorDetail>,
}

/// One of several errors.
#[derive(Debug, Serialize)]
pub struct ErrorDetail {
    pub path: String,
    pub message: String,
}

impl Failure {
    pub fn new(code: StatusCode, kind: &str, message: impl Into<String>) -> Failure {
        let body = Box::new(ErrorBody { kind: kind.to_owned(), message: message.into(), ..ErrorBody::default() });
        Failure { code, retry_after: None, closes_connection: false, body }
    }

    /// Creates a failure for an invalid request.
    pub fn invalid_request(kind: &str, message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, kind, message)
    }

    pub fn not_found(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::NOT_FOUND, "missing", message)
    }

    /// Creates a failure for a request that may succeed later.
    pub fn retry_later(kind: &str, message: impl Into<String>) -> Failure {
        Failure { retry_after: Some(1), ..Failure::new(StatusCode::SERVICE_UNAVAILABLE, kind, message) }
    }

    /// Creates a failure from the engine's error for a payload.
    pub fn from_decode_error(error: &icecore::Error) -> Failure {
        let mut failure = Failure::invalid_request(error.kind().as_str(), message_for_clients(error));
        let body = &mut failure.body;
        body.path = Some(error.path().unwrap_or("$").to_owned());
        body.offset = error.offset();
        body.expected = error.expected().map(str::to_owned);
        body.found = error.found().map(str::to_owned);
        body.help = help_for_clients(error);
        failure
    }

    /// Makes the failure close the connection after the answer.
    pub fn closing_connection(mut self) -> Failure {
        self.closes_connection = true;
        self
    }
}

/// Returns the message of an error of the engine, with a remedy that a client has.
pub fn message_for_clients(error: &icecore::Error) -> String {
    match (error.help(), help_for_clients(error)) {
        (Some(engine), Some(own)) if engine != own => error.to_string().replace(engine, &own),
        _ => error.to_string(),
    }
}

/// Returns the remedy of an error. A client can't raise the limits of the server, and sends one document per request.
fn help_for_clients(error: &icecore::Error) -> Option<String> {
    match error.kind() {
        icecore::ErrorKind::Limit => Some("this is a limit of the server".to_owned()),
        icecore::ErrorKind::Trailing => Some("send each document in a request of its own".to_owned()),
        _ => error.help().map(str::to_owned),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let message = error.to_string();
        match error.kind() {
            ErrorKind::Missing => Failure::not_found(message),
            ErrorKind::Taken => Failure::new(StatusCode::CONFLICT, "taken", message),
            ErrorKind::Paused => Failure::new(StatusCode::CONFLICT, "paused", message),
            ErrorKind::Limited => {
                Failure { retry_after: Some(1), ..Failure::new(StatusCode::TOO_MANY_REQUESTS, "limited", message) }
            }
            ErrorKind::Lease => Failure::new(StatusCode::CONFLICT, "lease", message),
            ErrorKind::Input => Failure::invalid_request("input", message),
            ErrorKind::Full => Failure::new(StatusCode::INSUFFICIENT_STORAGE, "full", message),
            ErrorKind::Away => Failure::retry_later("away", message),
            ErrorKind::Moved => Failure::retry_later("moved", message),
            ErrorKind::Busy => Failure::retry_later("busy", message),
            ErrorKind::Schema => Failure::new(StatusCode::SERVICE_UNAVAILABLE, "tables", message),
            ErrorKind::Address => Failure::new(StatusCode::SERVICE_UNAVAILABLE, "address", message),
            // A broken connection can show up as many different errors.
            _ => Failure::retry_later("database", message),
        }
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Failure {
        match error {
            WorkError::Full => Failure::retry_later("busy", "too many requests are waiting; try again a little later"),
            WorkError::Stopping => Failure::retry_later("stopping", "the daemon is shutting down"),
            WorkError::Late => {
                Failure::retry_later("busy", "the request takes too long; it may or may not have succeeded")
            }
            WorkError::Broken => {
                Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "a bug in the daemon, which keeps running")
            }
        }
    }
}
