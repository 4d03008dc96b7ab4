//! Finds the strings of a text of Data::Dumper.

use super::write::quote::{push_double, push_single};
use super::{FORMAT, ReadOptions};
use crate::document::{Document, Kind, Span};
use crate::edit::Part;
use crate::error::Error;
use crate::format::strings::{Anew, Found, Place, Places, SingleQuoted, Strings, Wanted};
use crate::format::{Reader as _, Request};
use crate::options::Settings;

pub(super) static STRINGS: Strings =
    Strings { inside: |text| FORMAT.is_likely(text), find, mend: None, takes_class: None, embeds: false };

/// Index of the escaping for most strings.
const USUAL: usize = 0;

fn find<'t>(text: &'t [u8], settings: &Settings, wanted: &Wanted<'_>) -> Result<Places<'t>, Error> {
    let outcome = ReadOptions::from_settings(settings).read(text, Request::new(wanted.limits).detailed());
    if let Some(error) = outcome.error {
        return Err(error);
    }
    let mut places =
        Places { consumed: outcome.consumed, escapings: vec![Box::new(SingleQuoted)], ..Places::default() };
    let document = &outcome.document;
    // A path contains the keys on its way.
    let keys = wanted.keys && !document.nodes().iter().any(|node| node.kind.is_again());
    for span in document.trace().map_or(&[][..], |trace| &trace.spans) {
        let token = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        if !(wanted.may)(span.start as usize, span.end as usize) {
            continue;
        }
        match span.what {
            "value" => value(&mut places, document, span, token),
            "key" if keys => {
                usual(&mut places, span, token, Part::Key);
            }
            "class" if wanted.classes => class(&mut places, span, token),
            _ => {}
        }
    }
    Ok(places)
}

fn value(places: &mut Places, document: &Document<'_>, span: &Span, token: &[u8]) {
    let node = document.node(span.node);
    let is_string = matches!(node.kind, Kind::Bytes | Kind::Text) && matches!(token, [b'\'' | b'"' | b'q', ..]);
    if !is_string || usual(places, span, token, Part::Value) {
        return;
    }
    let is_text = node.kind == Kind::Text;
    let is_double = token.starts_with(b"\"") || token.starts_with(b"qq");
    let has_controls = token.iter().any(u8::is_ascii_control);
    let write = move |text: &[u8], out: &mut Vec<u8>| {
        match is_double {
            true => push_double(text, is_text, !has_controls, out),
            false => push_single(text, out),
        }
        !is_text || std::str::from_utf8(text).is_ok()
    };
    places.escapings.push(Box::new(Anew { text: document.bytes(&node).to_vec(), write: Box::new(write) }));
    let escaping = Some(places.escapings.len() - 1);
    let place = Place::plain(span.start as usize, span.end as usize, None);
    places.list.push(Found::Text(Place { escaping, ..place }));
}

/// Notes a string in single quotes, and nothing else.
fn usual(places: &mut Places, span: &Span, token: &[u8], part: Part) -> bool {
    let Some((start, end)) = SingleQuoted::body(token) else { return false };
    let at = span.start as usize;
    let place = Place { part, escaping: Some(USUAL), ..Place::plain(at + start, at + end, None) };
    places.list.push(Found::Text(place));
    true
}

/// Notes the class, which is in quotes after a comma.
fn class(places: &mut Places, span: &Span, token: &[u8]) {
    let Some(quote) = token.iter().position(|byte| *byte == b'\'') else { return };
    let Some(len) = token[quote + 1..].iter().position(|byte| *byte == b'\'') else { return };
    let start = span.start as usize + quote + 1;
    let place = Place { part: Part::Class, escaping: Some(USUAL), ..Place::plain(start, start + len, None) };
    places.list.push(Found::Text(place));
}
