//! What an answer says that is no success.

use crate::threads::Refused;
use axum::http::StatusCode;
use icecore_store::{Error, ErrorKind};
use serde::Serialize;

/// Why a request was not done: a code, and what stands in the body.
#[derive(Debug)]
pub struct Failure {
    pub code: StatusCode,
    /// In how many seconds it may be tried again.
    pub retry_after: Option<u64>,
    /// Whether the connection is closed behind the answer.
    pub closes: bool,
    pub said: Box<Said>,
}

/// What stands in the body.
#[derive(Debug, Default, Serialize)]
pub struct Said {
    /// For programs: one word.
    pub kind: String,
    /// For people.
    pub message: String,
    /// Where in the payload: `$.user.id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// At which byte of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// All that is wrong, where it is more than one thing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Wrong>,
}

/// One of several things that are wrong.
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

    /// The request makes no sense.
    pub fn input(kind: &str, message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, kind, message)
    }

    pub fn missing(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::NOT_FOUND, "missing", message)
    }

    /// It is not possible now.
    pub fn later(kind: &str, message: impl Into<String>) -> Failure {
        Failure { retry_after: Some(1), ..Failure::new(StatusCode::SERVICE_UNAVAILABLE, kind, message) }
    }

    /// What the engine says of a payload.
    pub fn decoding(error: &icecore::Error) -> Failure {
        let mut failure = Failure::input(error.kind().as_str(), error.to_string());
        let said = &mut failure.said;
        said.path = Some(error.path().unwrap_or("$").to_owned());
        said.offset = error.offset();
        said.expected = error.expected().map(str::to_owned);
        said.found = error.found().map(str::to_owned);
        said.help = error.help().map(str::to_owned);
        failure
    }

    /// Closes the connection behind the answer.
    pub fn closing(mut self) -> Failure {
        self.closes = true;
        self
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
            // A connection that breaks says it in many ways.
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
