//! Request bodies, with limits on size, memory and time.

use crate::failure::Failure;
use crate::settings::Settings;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Memory is counted in units of this many bytes.
const MEMORY_UNIT: usize = 1 << 10;

/// Reads bodies within limits.
pub struct BodyReader {
    max_len: usize,
    timeout: Duration,
    memory: Arc<Semaphore>,
}

/// A body, and its share of the memory for all bodies.
pub struct ReceivedBody {
    pub bytes: Vec<u8>,
    pub memory: MemoryPermit,
}

/// Share of the memory for all bodies. It is returned when the permit is dropped.
pub type MemoryPermit = Option<OwnedSemaphorePermit>;

impl BodyReader {
    pub fn new(settings: &Settings) -> BodyReader {
        let units = (settings.max_body_memory / MEMORY_UNIT).clamp(1, Semaphore::MAX_PERMITS);
        BodyReader {
            max_len: settings.max_body_len,
            timeout: settings.body_timeout,
            memory: Arc::new(Semaphore::new(units)),
        }
    }

    fn too_long_failure(&self) -> Failure {
        let message = format!("the body must not be larger than {} bytes", self.max_len);
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too-long", message).closing_connection()
    }

    /// Reads a body. A declared length is not trusted, so memory is reserved only when bytes arrive.
    pub async fn read_body(&self, headers: &HeaderMap, mut body: Body) -> Result<ReceivedBody, Failure> {
        let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if declared.is_some_and(|length| length > self.max_len as u64) {
            if !headers.contains_key(header::EXPECT) {
                discard_body(body, MAX_DISCARDED, DISCARD_TIMEOUT).await;
            }
            return Err(self.too_long_failure());
        }
        let deadline = Instant::now() + self.timeout;
        let (mut bytes, mut memory): (Vec<u8>, MemoryPermit) = (Vec::new(), None);
        loop {
            let frame = match timeout_at(deadline, body.frame()).await {
                Err(_) => {
                    let message = "the body did not arrive in time";
                    return Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "timeout", message).closing_connection());
                }
                Ok(None) => return Ok(ReceivedBody { bytes, memory }),
                Ok(Some(Err(_))) => {
                    return Err(Failure::invalid_request("body", "the body ends too early or is not valid HTTP")
                        .closing_connection());
                }
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > self.max_len {
                discard_body(body, MAX_DISCARDED, DISCARD_TIMEOUT).await;
                return Err(self.too_long_failure());
            }
            let units = (bytes.len() + data.len()).div_ceil(MEMORY_UNIT) - bytes.len().div_ceil(MEMORY_UNIT);
            if units > 0 {
                let Ok(permit) = Arc::clone(&self.memory).try_acquire_many_owned(units as u32) else {
                    return Err(Failure::retry_later("busy", "too many bytes are being received at the same time")
                        .closing_connection());
                };
                match &mut memory {
                    Some(memory) => memory.merge(permit),
                    None => memory = Some(permit),
                }
            }
            bytes.extend_from_slice(&data);
        }
    }
}

/// Maximum number of bytes of a body that is too long that are read and dropped.
const MAX_DISCARDED: usize = 64 << 20;
/// Maximum time for that.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads and drops up to `max_bytes` bytes of a body, because many clients read the answer only after they have sent
/// the whole body.
pub async fn discard_body(mut body: Body, max_bytes: usize, timeout: Duration) {
    let deadline = Instant::now() + timeout;
    let mut remaining = max_bytes;
    while let Ok(Some(Ok(frame))) = timeout_at(deadline, body.frame()).await {
        let length = frame.data_ref().map_or(0, |data| data.len());
        if length > remaining {
            return;
        }
        remaining -= length;
    }
}
