//! Finds the strings of a PHP session.

use super::handler::find_first_name;
use super::{FORMAT, HANDLER, Handler, ReadOptions, handler_for, possible_starts, read_unrepaired};
use crate::document::Document;
use crate::error::Error;
use crate::format::php::repair;
use crate::format::php::strings::{NamePlacement, collect_strings};
use crate::format::php_text::is_class_name;
use crate::format::strings::{Damage, StringPlaces, StringRequest, Strings, TextRepair};
use crate::format::{Reader as _, Request};
use crate::limits::Limits;
use crate::options::Settings;

pub(super) static STRINGS: Strings = Strings {
    is_candidate,
    find: find_strings,
    repair: Some(repair_text),
    is_class_name: Some(is_class_name),
    is_embedded: false,
};

/// Returns `true` if a text may be a session: it begins like one, or with a name without control characters, a `|`
/// and the start of a value. This accepts texts that are not sessions; for these, `find_strings` returns an error,
/// because a session must be valid to its end.
fn is_candidate(text: &[u8]) -> bool {
    let named = |name: &[u8]| !name.is_empty() && !name.iter().any(u8::is_ascii_control);
    FORMAT.is_likely(text) || find_first_name(text.get(..512).unwrap_or(text)).is_some_and(named)
}

fn find_strings<'t>(
    text: &'t [u8],
    settings: &Settings,
    wanted: &StringRequest<'_>,
) -> Result<StringPlaces<'t>, Error> {
    let options = ReadOptions { accept_unknown_links: true, ..ReadOptions::from_settings(settings) };
    let mut outcome = options.read(text, Request::new(wanted.limits).detailed());
    if options.handler.is_none() && is_ordinary_text(text, &outcome.document) {
        let options = ReadOptions { handler: Some(Handler::Php), ..options };
        outcome = options.read(text, Request::new(wanted.limits).detailed());
    }
    if let Some(error) = outcome.error {
        return Err(error);
    }
    let handler = outcome.document.spelling().and_then(|spelling| spelling.get(HANDLER));
    let names = if handler == Some(Handler::PhpBinary as u64) {
        NamePlacement::LengthPrefixed
    } else {
        NamePlacement::BarTerminated
    };
    Ok(collect_strings(text, &outcome.document, outcome.consumed, names, wanted))
}

/// Returns `true` if ordinary text was read as `php_binary`: its first letter as the length of a name, and the words
/// after it as the name.
fn is_ordinary_text(text: &[u8], document: &Document) -> bool {
    let is_binary = document.spelling().and_then(|spelling| spelling.get(HANDLER)) == Some(Handler::PhpBinary as u64);
    let is_word = |byte: &u8| byte.is_ascii_graphic() || !byte.is_ascii();
    is_binary
        && text.first().is_some_and(|first| !first.is_ascii_control())
        && !document.root().entries().all(|(name, _)| name.bytes().iter().all(is_word))
}

fn repair_text(text: &[u8], damage: Damage, limits: &Limits) -> Result<Option<TextRepair>, Error> {
    let options = ReadOptions { accept_unknown_links: true, ..ReadOptions::default() };
    let read = |text: &[u8], start: repair::Start| {
        let outcome = read_unrepaired(text, handler_for(start), &options, Request::new(limits));
        outcome.error.is_none().then_some(outcome.consumed)
    };
    repair::repair_text(text, damage, possible_starts(None), &read)
}
