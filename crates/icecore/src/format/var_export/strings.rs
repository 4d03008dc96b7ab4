//! Finds the strings of a text of `var_export()`.

use super::leaf_text::push_string;
use super::text::is_class_in_code;
use super::{FORMAT, ReadOptions};
use crate::document::{Document, Kind, Span};
use crate::edit::Part;
use crate::error::Error;
use crate::format::strings::{Anew, Found, Place, Places, SingleQuoted, Strings, Wanted};
use crate::format::{Reader as _, Request};
use crate::options::Settings;

pub(super) static STRINGS: Strings = Strings {
    inside: |text| FORMAT.is_likely(text),
    find,
    mend: None,
    takes_class: Some(is_class_in_code),
    embeds: false,
};

/// Index of the escaping for nearly all strings.
const USUAL: usize = 0;

fn find<'t>(text: &'t [u8], _: &Settings, wanted: &Wanted<'_>) -> Result<Places<'t>, Error> {
    let outcome = ReadOptions::default().read(text, Request::new(wanted.limits).detailed());
    if let Some(error) = outcome.error {
        return Err(error);
    }
    let mut places =
        Places { consumed: outcome.consumed, escapings: vec![Box::new(SingleQuoted)], ..Places::default() };
    let document = &outcome.document;
    for span in document.trace().map_or(&[][..], |trace| &trace.spans) {
        let token = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        if !(wanted.may)(span.start as usize, span.end as usize) {
            continue;
        }
        match span.what {
            "value" => value(&mut places, document, span, token),
            "key" if wanted.keys => {
                usual(&mut places, span, token, Part::Key);
            }
            "head" if wanted.classes => class(&mut places, span, token),
            _ => {}
        }
    }
    Ok(places)
}

fn value(places: &mut Places, document: &Document<'_>, span: &Span, token: &[u8]) {
    let node = document.node(span.node);
    if node.kind != Kind::Bytes || usual(places, span, token, Part::Value) {
        return;
    }
    let anew = Anew {
        text: document.bytes(&node).to_vec(),
        write: Box::new(|text, out| {
            push_string(text, false, out);
            true
        }),
    };
    places.escapings.push(Box::new(anew));
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

/// Notes the class in `\Some\Name::__set_state(array(`.
fn class(places: &mut Places, span: &Span, token: &[u8]) {
    let Some(end) = token.windows(2).position(|pair| pair == b"::") else { return };
    let (at, start) = (span.start as usize, usize::from(token.starts_with(b"\\")));
    places.list.push(Found::Text(Place { part: Part::Class, ..Place::plain(at + start, at + end, None) }));
}
