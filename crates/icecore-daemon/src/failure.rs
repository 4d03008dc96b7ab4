//! Answers that report an error.

use crate::threads::Refused;
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
    pub closes: bool,
    pub said: Box<Said>,
}

/// Content of the error body.
#[derive(Debug, Default, Serialize)]
pub struct Said {
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
    pub errors: Vec<Wrong>,
}

/// One of several errors.
#[derive(Debug, Serialize)]
pub struct Wrong {
    pub path: String,
    pub message: String,
}

impl Failure {
    pub fn new(code: StatusCode, kind: &str, message: impl Into<String>) -> Failure {
        let said = Box::new(Said { kind: kind.to_owned(), message: message.into(), ..Said::default() });
        Failure { code, retry_after: None, closes: false, said }
    }

    /// Creates a failure for an invalid request.
    pub fn input(kind: &str, message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, kind, message)
    }

    pub fn missing(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::NOT_FOUND, "missing", message)
    }

    /// Creates a failure for a request that may succeed later.
    pub fn later(kind: &str, message: impl Into<String>) -> Failure {
        Failure { retry_after: Some(1), ..Failure::new(StatusCode::SERVICE_UNAVAILABLE, kind, message) }
    }

    /// Creates a failure from the engine's error for a payload.
    pub fn decoding(error: &icecore::Error) -> Failure {
        let mut failure = Failure::input(error.kind().as_str(), message_for_clients(error));
        let said = &mut failure.said;
        said.path = Some(error.path().unwrap_or("$").to_owned());
        said.offset = error.offset();
        said.expected = error.expected().map(str::to_owned);
        said.found = error.found().map(str::to_owned);
        said.help = help_for_clients(error);
        failure
    }

    /// Makes the failure close the connection after the answer.
    pub fn closing(mut self) -> Failure {
        self.closes = true;
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
            ErrorKind::Missing => Failure::missing(message),
            ErrorKind::Taken => Failure::new(StatusCode::CONFLICT, "taken", message),
            ErrorKind::Paused => Failure::new(StatusCode::CONFLICT, "paused", message),
            ErrorKind::Limited => {
                Failure { retry_after: Some(1), ..Failure::new(StatusCode::TOO_MANY_REQUESTS, "limited", message) }
            }
            ErrorKind::Lease => Failure::new(StatusCode::CONFLICT, "lease", message),
            ErrorKind::Input => Failure::input("input", message),
            ErrorKind::Full => Failure::new(StatusCode::INSUFFICIENT_STORAGE, "full", message),
            ErrorKind::Away => Failure::later("away", message),
            ErrorKind::Moved => Failure::later("moved", message),
            ErrorKind::Busy => Failure::later("busy", message),
            ErrorKind::Schema => Failure::new(StatusCode::SERVICE_UNAVAILABLE, "tables", message),
            ErrorKind::Address => Failure::new(StatusCode::SERVICE_UNAVAILABLE, "address", message),
            // A broken connection can show up as many different errors.
            _ => Failure::later("database", message),
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        match refused {
            Refused::Full => Failure::later("busy", "too much waits already; try again a little later"),
            Refused::Stopping => Failure::later("stopping", "the daemon is about to end"),
            Refused::Late => Failure::later("busy", "it takes too long; whether it was done is not known"),
            Refused::Broken => {
                Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "a defect of the daemon; it goes on")
            }
        }
    }
}
