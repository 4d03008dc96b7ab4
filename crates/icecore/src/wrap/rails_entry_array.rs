//! The array in a cache entry of Rails 7.0: the value, the time at which it expires, and its version. Rails omits nils
//! at the end.

use crate::document::{Document, Kind, Node, Value};
use crate::error::{Error, ErrorKind};
use crate::format::{self, Format, Request};
use crate::limits::Limits;
use crate::options::Settings;

/// The properties of an entry that options write again.
#[derive(Default)]
pub(super) struct EntryProperties {
    /// When it expires, in seconds since 1970.
    pub(super) expires: Option<f64>,
    pub(super) version: Option<String>,
}

/// Returns the format in which Rails freezes entries.
pub(super) fn marshal() -> Result<&'static Format, Error> {
    format::require_format("marshal")
}

/// Returns the dump of the value in the dump of such an array, and its properties; `None` if it is something else.
///
/// # Errors
/// Those of reading and writing a dump.
pub(super) fn open_array(dump: &[u8], limits: &Limits) -> Result<Option<(Vec<u8>, EntryProperties)>, Error> {
    let (marshal, settings) = (marshal()?, Settings::new());
    let document = marshal.read(dump, &settings, Request::new(limits)).into_whole_document(dump, marshal)?;
    let root = document.root();
    let mut members = root.children();
    let (Kind::Array, 1..=3, Some(value)) = (root.kind(), root.len(), members.next()) else { return Ok(None) };
    let expires = match members.next().map(|member| member.target().value()) {
        None | Some(Value::Null) => None,
        Some(Value::Float(seconds)) => Some(seconds),
        Some(_) => return Ok(None),
    };
    let version = match members.next().map(|member| member.target().value()) {
        None | Some(Value::Null) => None,
        Some(Value::Text(text)) => match str::from_utf8(text) {
            Ok(text) => Some(text.to_owned()),
            Err(_) => return Ok(None),
        },
        Some(_) => return Ok(None),
    };
    let mut tape = document.tape().clone();
    tape.root = value.index();
    let mut value = Vec::new();
    marshal.write(&Document::from_tape(dump, tape), &settings, limits, &mut value)?;
    Ok(Some((value, EntryProperties { expires, version })))
}

/// Returns the beginning of the dump of the value. Links in it are not adjusted, so it serves only for detection.
pub(super) fn open_array_head(dump: &[u8]) -> Vec<u8> {
    match dump {
        // The numbers 1 to 3 are the bytes 6 to 8.
        [major, minor, b'[', 6..=8, value @ ..] => [&[*major, *minor], value].concat(),
        _ => dump.to_vec(),
    }
}

/// Writes the array with the value of this dump.
///
/// # Errors
/// Of kind `Unsupported`, if the content is not one dump of Ruby; those of writing.
pub(super) fn write_array(content: &[u8], properties: &EntryProperties, out: &mut Vec<u8>) -> Result<(), Error> {
    let (marshal, settings, limits) = (marshal()?, Settings::new(), Limits::default());
    let document = marshal.read(content, &settings, Request::new(&limits)).into_whole_document(content, marshal)?;
    if document.root().index() != 0 {
        return Err(Error::new(ErrorKind::Unsupported).expecting("one dump of Ruby").finding("data before its value"));
    }
    let mut tape = document.tape().clone();
    let shifted = document.nodes().iter().map(|node| {
        let mut node = *node;
        if node.kind.is_again() {
            node.payload += 1;
        } else if node.kind.is_container() && node.end() != 0 {
            node.set_end(node.end() + 1);
        }
        node
    });
    let mut nodes = vec![Node::open(Kind::Array, 0)];
    nodes.extend(shifted);
    let expires = properties.expires.map(Node::float);
    let version = properties.version.as_ref().map(|version| tape.new_owned_string(Kind::Text, version.as_bytes()));
    match (expires, version) {
        (None, None) => {}
        (Some(expires), None) => nodes.push(expires),
        (expires, Some(version)) => nodes.extend([expires.unwrap_or(Node::leaf(Kind::Null, 0)), version]),
    }
    let end = nodes.len() as u32;
    if let Some(array) = nodes.first_mut() {
        array.aux = 1 + u32::from(expires.is_some() || version.is_some()) + u32::from(version.is_some());
        array.set_end(end);
    }
    let tape = tape.with_nodes(nodes, 0, None, tape.has_copies());
    marshal.write(&Document::from_tape(content, tape), &settings, &limits, out)?;
    Ok(())
}
