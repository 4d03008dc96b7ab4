//! The expiry and the purpose that Rails puts around a signed or encrypted message. The envelope is JSON:
//!
//! | since | envelope |
//! |---|---|
//! | Rails 5.2 | `{"_rails":{"message":"Base64","exp":…,"pur":…}}`, whatever the message is |
//! | Rails 7.1 | `{"_rails":{"data":…,"exp":…,"pur":…}}`, if the message is JSON |
//!
//! Source: `ActiveSupport::Messages::Metadata` of Rails.

#[cfg(feature = "signatures")]
use crate::base64;
#[cfg(feature = "signatures")]
use crate::document::Builder;
use crate::error::Error;
use crate::format::{self, Format, Request};
use crate::limits::Limits;
use crate::options::Settings;

/// An envelope without its content.
#[derive(Default)]
pub(super) struct MessageEnvelope {
    /// Whether the content is the JSON value `data`, as Rails 7.1 and later write it.
    pub(super) has_data: bool,
    pub(super) expires: Option<String>,
    pub(super) purpose: Option<String>,
}

/// Returns the format of envelopes.
fn json() -> Result<&'static Format, Error> {
    format::require_format("json")
}

/// Returns the content of an envelope, and the envelope; `None` if the bytes are not an envelope. `decode` decodes the
/// Base64 of a message.
pub(super) fn open_envelope(
    bytes: &[u8],
    limits: &Limits,
    decode: impl Fn(&[u8]) -> Result<Vec<u8>, Error>,
) -> Option<(Vec<u8>, MessageEnvelope)> {
    if !bytes.starts_with(b"{\"_rails\":{\"") {
        return None;
    }
    let json = json().ok()?;
    let request = Request::new(limits).detailed();
    let document = json.read(bytes, &Settings::new(), request).into_whole_document(bytes, json).ok()?;
    let rails = document.root().get("_rails")?;
    let text = |name| rails.get(name).and_then(|value| value.as_str().map(str::to_owned));
    let (expires, purpose) = (text("exp"), text("pur"));
    if let Some(message) = rails.get("message") {
        let content = decode(message.as_str()?.as_bytes()).ok()?;
        return Some((content, MessageEnvelope { has_data: false, expires, purpose }));
    }
    let extent = document.trace()?.extents.get(rails.get("data")?.index() as usize)?;
    let content = bytes.get(extent.start as usize..extent.end as usize)?.to_vec();
    Some((content, MessageEnvelope { has_data: true, expires, purpose }))
}

/// Returns an envelope with this content.
///
/// # Errors
/// Of kind `Malformed`, if the content should be JSON and is something else.
#[cfg(feature = "signatures")]
pub(super) fn make_envelope(content: &[u8], envelope: &MessageEnvelope) -> Result<Vec<u8>, Error> {
    let json = json()?;
    let mut builder = Builder::new();
    builder.begin_map();
    let properties = [("exp", &envelope.expires), ("pur", &envelope.purpose)];
    if envelope.has_data {
        json.read(content, &Settings::new(), Request::new(&Limits::default())).into_whole_document(content, json)?;
    } else {
        let mut message = Vec::new();
        base64::encode_base64(content, &mut message);
        builder.text_key("message").text(&String::from_utf8_lossy(&message));
    }
    for (name, value) in properties {
        match value {
            Some(value) => drop(builder.text_key(name).text(value)),
            // Rails 7.1 omits what is not there.
            None if envelope.has_data => {}
            None => drop(builder.text_key(name).null()),
        }
    }
    builder.end();
    let mut members = Vec::new();
    json.write(&builder.finish()?, &Settings::new(), &Limits::default(), &mut members)?;
    let mut out = b"{\"_rails\":".to_vec();
    match envelope.has_data {
        true => {
            out.extend_from_slice(b"{\"data\":");
            out.extend_from_slice(content);
            let rest = members.get(1..).unwrap_or_default();
            out.extend_from_slice(if rest == b"}" { b"" } else { b"," });
            out.extend_from_slice(rest);
        }
        false => out.extend_from_slice(&members),
    }
    out.push(b'}');
    Ok(out)
}
