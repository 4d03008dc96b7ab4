//! Finds the strings of a text of Data::Dumper.

use super::write::quote::{push_double, push_single};
use super::{FORMAT, ReadOptions};
use crate::document::{Document, Kind, Span};
use crate::edit::StringRole;
use crate::error::Error;
use crate::format::strings::{
    FoundString, SingleQuoted, StringPlace, StringPlaces, StringRequest, Strings, TokenRewriter,
};
use crate::format::{Reader as _, Request};
use crate::options::Settings;

pub(super) static STRINGS: Strings = Strings {
    is_candidate: |text| FORMAT.is_likely(text),
    find: find_strings,
    repair: None,
    is_class_name: None,
    is_embedded: false,
};

/// Index of the escaping for most strings.
const MAIN_ESCAPING: usize = 0;

fn find_strings<'t>(
    text: &'t [u8],
    settings: &Settings,
    wanted: &StringRequest<'_>,
) -> Result<StringPlaces<'t>, Error> {
    let outcome = ReadOptions::from_settings(settings).read(text, Request::new(wanted.limits).detailed());
    if let Some(error) = outcome.error {
        return Err(error);
    }
    let mut places =
        StringPlaces { consumed: outcome.consumed, escapings: vec![Box::new(SingleQuoted)], ..StringPlaces::default() };
    let document = &outcome.document;
    // A path contains the keys on its way.
    let keys = wanted.wants_keys && !document.nodes().iter().any(|node| node.kind.is_again());
    for span in document.trace().map_or(&[][..], |trace| &trace.spans) {
        let token = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        if !(wanted.is_wanted)(span.start as usize, span.end as usize) {
            continue;
        }
        match span.name {
            "value" => add_value_string(&mut places, document, span, token),
            "key" if keys => {
                add_single_quoted(&mut places, span, token, StringRole::Key);
            }
            "class" if wanted.wants_classes => add_class_name(&mut places, span, token),
            _ => {}
        }
    }
    Ok(places)
}

fn add_value_string(places: &mut StringPlaces, document: &Document<'_>, span: &Span, token: &[u8]) {
    let node = document.node(span.node);
    let is_string = matches!(node.kind, Kind::Bytes | Kind::Text) && matches!(token, [b'\'' | b'"' | b'q', ..]);
    if !is_string || add_single_quoted(places, span, token, StringRole::Value) {
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
    places.escapings.push(Box::new(TokenRewriter { text: document.bytes(&node).to_vec(), write: Box::new(write) }));
    let escaping = Some(places.escapings.len() - 1);
    let place = StringPlace::without_escapes(span.start as usize, span.end as usize, None);
    places.strings.push(FoundString::Text(StringPlace { escaping, ..place }));
}

/// Adds a string in single quotes, and nothing else.
fn add_single_quoted(places: &mut StringPlaces, span: &Span, token: &[u8], role: StringRole) -> bool {
    let Some((start, end)) = SingleQuoted::find_body(token) else { return false };
    let token_start = span.start as usize;
    let place = StringPlace {
        role,
        escaping: Some(MAIN_ESCAPING),
        ..StringPlace::without_escapes(token_start + start, token_start + end, None)
    };
    places.strings.push(FoundString::Text(place));
    true
}

/// Adds the class, which is in quotes after a comma.
fn add_class_name(places: &mut StringPlaces, span: &Span, token: &[u8]) {
    let Some(quote) = token.iter().position(|byte| *byte == b'\'') else { return };
    let Some(len) = token[quote + 1..].iter().position(|byte| *byte == b'\'') else { return };
    let start = span.start as usize + quote + 1;
    let place = StringPlace {
        role: StringRole::Class,
        escaping: Some(MAIN_ESCAPING),
        ..StringPlace::without_escapes(start, start + len, None)
    };
    places.strings.push(FoundString::Text(place));
}
