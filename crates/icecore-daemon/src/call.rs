//! A request on its way to its handler.

use crate::answer::RequestedParts;
use crate::app::App;
use crate::body::ReceivedBody;
use crate::connections::ConnectionHandle;
use crate::failure::Failure;
use crate::query::Query;
use axum::body::Body;
use axum::http::{HeaderMap, header};
use icecore_store::{Id, InvalidId};
use serde::de::DeserializeOwned;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// A request.
pub struct Call {
    pub app: Arc<App>,
    /// Parameters in the path, such as the id of a job or the name of a queue.
    pub path_parameters: Vec<(String, String)>,
    pub query: Query,
    pub headers: HeaderMap,
    pub body: Body,
    /// Address of the client.
    pub client_address: IpAddr,
    /// Connection of the request.
    pub connection: Option<ConnectionHandle>,
}

/// Marks the connection of an authorized request as known.
pub fn mark_connection_known(connection: Option<&ConnectionHandle>) -> Result<(), Failure> {
    match connection.is_none_or(ConnectionHandle::mark_known) {
        true => Ok(()),
        false => Err(Failure::retry_later("busy", "the maximum number of connections is in use").closing_connection()),
    }
}

impl Call {
    fn path_parameter(&self, parameter: &str) -> &str {
        self.path_parameters.iter().find(|(name, _)| name == parameter).map_or("", |(_, value)| value)
    }

    /// Returns the id in the path.
    pub fn parse_id(&self) -> Result<Id, Failure> {
        // No job or object has an id of another form, so this is the same as an unknown id.
        self.path_parameter("id").parse().map_err(|error| Failure::not_found(format!("{error}")))
    }

    /// Returns the queue in the path.
    pub fn queue_name(&self) -> String {
        self.path_parameter("queue").to_owned()
    }

    /// Returns the schedule in the path.
    pub fn schedule_name(&self) -> String {
        self.path_parameter("name").to_owned()
    }

    /// Returns the name of the client for audit entries.
    pub fn client_name(&self) -> String {
        format!("http:{}", self.client_address)
    }

    /// Returns whether the content type says that the body is JSON.
    pub fn declares_json(&self) -> bool {
        let Some(media) = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
            return false;
        };
        let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        media == "application/json" || media.ends_with("+json")
    }

    /// Reads the body.
    pub async fn read_body(&mut self) -> Result<ReceivedBody, Failure> {
        let body = std::mem::take(&mut self.body);
        let received = self.app.bodies.read_body(&self.headers, body).await?;
        mark_connection_known(self.connection.as_ref())?;
        Ok(received)
    }

    /// Reads the body as JSON. An empty body gives default values.
    pub async fn read_json<T: DeserializeOwned + Default>(&mut self) -> Result<T, Failure> {
        let received = self.read_body().await?;
        if received.bytes.trim_ascii().is_empty() {
            return Ok(T::default());
        }
        serde_json::from_slice(&received.bytes)
            .map_err(|error| Failure::invalid_request("body", format!("the body: {error}")))
    }

    /// Returns a parameter that limits a number of results, between 1 and `max`.
    pub fn limit_parameter(&self, name: &str, default: usize, max: usize) -> Result<usize, Failure> {
        Ok(self.query.parse_number::<usize>(name)?.unwrap_or(default).clamp(1, max))
    }

    /// Returns an id from a query parameter.
    pub fn id_parameter(&self, name: &str) -> Result<Option<Id>, Failure> {
        let id = self.query.get(name).map(str::parse).transpose();
        id.map_err(|error: InvalidId| Failure::invalid_request("parameter", format!("{name}: {error}")))
    }

    /// Returns which parts of a blob are requested.
    pub fn requested_parts(&self) -> Result<RequestedParts, Failure> {
        let is_brief = self.flag_parameter("brief")?.unwrap_or(false);
        Ok(RequestedParts { is_brief, with_bytes: self.flag_parameter("bytes")?.unwrap_or(false) })
    }

    /// Returns a boolean parameter, or `None` if it is not given.
    pub fn flag_parameter(&self, name: &str) -> Result<Option<bool>, Failure> {
        match self.query.get(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(Failure::invalid_request("parameter", format!("{name} must be true or false"))),
        }
    }

    /// Returns a duration parameter, at most `max`.
    pub fn duration_parameter(&self, name: &str, default: Duration, max: Duration) -> Result<Duration, Failure> {
        Ok(self.query.parse_duration(name)?.unwrap_or(default).min(max))
    }
}

/// The address of the client.
#[derive(Clone, Copy)]
pub struct ClientAddress(pub IpAddr);
