//! Finds the strings of a text of `var_export()`.

use super::leaf_text::push_string;
use super::text::is_class_in_code;
use super::{ReadOptions, detect};
use crate::document::{Document, Kind, Span};
use crate::edit::StringRole;
use crate::error::Error;
use crate::format::strings::{
    FoundString, SingleQuoted, StringPlace, StringPlaces, StringRequest, Strings, TokenRewriter,
};
use crate::format::{Reader as _, Request};
use crate::options::Settings;

pub(super) static STRINGS: Strings = Strings {
    is_candidate: detect::is_literal,
    find: find_strings,
    repair: None,
    is_class_name: Some(is_class_in_code),
    is_embedded: false,
};

/// Index of the escaping for nearly all strings.
const MAIN_ESCAPING: usize = 0;

fn find_strings<'t>(text: &'t [u8], _: &Settings, wanted: &StringRequest<'_>) -> Result<StringPlaces<'t>, Error> {
    let outcome = ReadOptions::default().read(text, Request::new(wanted.limits).detailed());
    if let Some(error) = outcome.error {
        return Err(error);
    }
    let mut places =
        StringPlaces { consumed: outcome.consumed, escapings: vec![Box::new(SingleQuoted)], ..StringPlaces::default() };
    let document = &outcome.document;
    for span in document.trace().map_or(&[][..], |trace| &trace.spans) {
        let token = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        if !(wanted.is_wanted)(span.start as usize, span.end as usize) {
            continue;
        }
        match span.name {
            "value" => add_value(&mut places, document, span, token),
            "key" if wanted.wants_keys => {
                add_single_quoted(&mut places, span, token, StringRole::Key);
            }
            "head" if wanted.wants_classes => add_class(&mut places, span, token),
            _ => {}
        }
    }
    Ok(places)
}

fn add_value(places: &mut StringPlaces, document: &Document<'_>, span: &Span, token: &[u8]) {
    let node = document.node(span.node);
    if node.kind != Kind::Bytes || add_single_quoted(places, span, token, StringRole::Value) {
        return;
    }
    let anew = TokenRewriter {
        text: document.bytes(&node).to_vec(),
        write: Box::new(|text, out| {
            push_string(text, false, out);
            true
        }),
    };
    places.escapings.push(Box::new(anew));
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

/// Adds the class in `\Some\Name::__set_state(array(`.
fn add_class(places: &mut StringPlaces, span: &Span, token: &[u8]) {
    let Some(end) = token.windows(2).position(|pair| pair == b"::") else { return };
    let (token_start, start) = (span.start as usize, usize::from(token.starts_with(b"\\")));
    places.strings.push(FoundString::Text(StringPlace {
        role: StringRole::Class,
        ..StringPlace::without_escapes(token_start + start, token_start + end, None)
    }));
}
