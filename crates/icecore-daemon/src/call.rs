//! A request on its way to who answers it.

use crate::answer::Shown;
use crate::app::App;
use crate::body::Read;
use crate::connections::Visit;
use crate::failure::Failure;
use crate::query::Query;
use axum::body::Body;
use axum::http::{HeaderMap, header};
use icecore_store::{Id, NoId};
use serde::de::DeserializeOwned;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// A request.
pub struct Call {
    pub app: Arc<App>,
    /// What stands in the path: the id of a job, the name of a queue.
    pub names: Vec<(String, String)>,
    pub query: Query,
    pub headers: HeaderMap,
    pub body: Body,
    pub from: IpAddr,
    pub visit: Option<Visit>,
}

/// Gives the connection of a request that may be asked a place among the known ones.
pub fn make_known(visit: Option<&Visit>) -> Result<(), Failure> {
    match visit.is_none_or(Visit::make_known) {
        true => Ok(()),
        false => Err(Failure::later("busy", "as many connections are served as may be").closing()),
    }
}

impl Call {
    fn name(&self, wanted: &str) -> &str {
        self.names.iter().find(|(name, _)| name == wanted).map_or("", |(_, value)| value)
    }

    /// The id in the path.
    pub fn id(&self) -> Result<Id, Failure> {
        // What can be no id is the id of nothing.
        self.name("id").parse().map_err(|error| Failure::missing(format!("{error}")))
    }

    /// The queue in the path.
    pub fn queue(&self) -> String {
        self.name("queue").to_owned()
    }

    /// The schedule in the path.
    pub fn schedule(&self) -> String {
        self.name("name").to_owned()
    }

    /// Who asks, for the notes of the database.
    pub fn by(&self) -> String {
        format!("http:{}", self.from)
    }

    /// Whether the body is said to be JSON.
    pub fn says_json(&self) -> bool {
        let Some(media) = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
            return false;
        };
        let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        media == "application/json" || media.ends_with("+json")
    }

    /// Takes the body.
    pub async fn body(&mut self) -> Result<Read, Failure> {
        let body = std::mem::take(&mut self.body);
        let read = self.app.bodies.read(&self.headers, body).await?;
        make_known(self.visit.as_ref())?;
        Ok(read)
    }

    /// Takes the body as JSON; an empty one is empty settings.
    pub async fn json<T: DeserializeOwned + Default>(&mut self) -> Result<T, Failure> {
        let read = self.body().await?;
        if read.bytes.trim_ascii().is_empty() {
            return Ok(T::default());
        }
        serde_json::from_slice(&read.bytes).map_err(|error| Failure::input("body", format!("the body: {error}")))
    }

    /// A number of things that are wanted at once, from 1 to so many.
    pub fn most(&self, name: &str, usual: usize, most: usize) -> Result<usize, Failure> {
        Ok(self.query.number::<usize>(name)?.unwrap_or(usual).clamp(1, most))
    }

    /// The id in a parameter.
    pub fn given_id(&self, name: &str) -> Result<Option<Id>, Failure> {
        let id = self.query.get(name).map(str::parse).transpose();
        id.map_err(|error: NoId| Failure::input("parameter", format!("{name}: {error}")))
    }

    /// How much of a blob is asked for.
    pub fn shown(&self) -> Result<Shown, Failure> {
        let is_brief = self.flag("brief")?.unwrap_or(false);
        Ok(Shown { is_brief, with_bytes: self.flag("bytes")?.unwrap_or(false) })
    }

    /// Something that is so, or not; `None`, if nothing is said of it.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Failure> {
        match self.query.get(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(Failure::input("parameter", format!("{name} is true or false"))),
        }
    }

    /// A duration, of at most so long.
    pub fn duration(&self, name: &str, usual: Duration, longest: Duration) -> Result<Duration, Failure> {
        Ok(self.query.duration(name)?.unwrap_or(usual).min(longest))
    }
}

/// The address of the client.
#[derive(Clone, Copy)]
pub struct ClientAddress(pub IpAddr);
