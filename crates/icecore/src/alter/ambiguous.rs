//! Paths that name two keys: a hash of Ruby may have a symbol and a string of one name.

use super::Alteration;
use super::refusal::Refusal;
use crate::document::{Cursor, Document, Key, Kind, Step};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::select::Pattern;
use std::collections::HashSet;

/// Refuses an alteration whose path ends in a name that a map has as a symbol and as a string: only one of the two
/// would change.
pub(super) fn refuse_ambiguous_paths(
    document: &Document<'_>,
    alterations: &[Alteration],
    limits: &Limits,
) -> Result<(), Refusal> {
    let names = names_of_both_kinds(document);
    if names.is_empty() {
        return Ok(());
    }
    for alteration in alterations {
        let (Alteration::Set(path, _)
        | Alteration::Delete(path)
        | Alteration::Append(path, _)
        | Alteration::RenameEntry(path, _)) = alteration
        else {
            continue;
        };
        if let Some((before, Step::Key(name))) = path.split_last()
            && names.contains(name.as_bytes())
        {
            refuse_ambiguous_key(document, &before, name, limits)?;
        }
    }
    Ok(())
}

/// Returns the names that occur as symbols and as strings. Keys without an id, in documents with very many different
/// keys, are not examined.
fn names_of_both_kinds<'d>(document: &'d Document<'_>) -> HashSet<&'d [u8]> {
    let keys = document.tape().keys();
    let names_of = |is_wanted: fn(Kind) -> bool| -> HashSet<&'d [u8]> {
        let keys = (1..=keys.len() as u32).filter_map(|id| keys.get(id));
        keys.filter(|key| is_wanted(key.node.kind)).map(|key| key.bytes).collect()
    };
    let mut symbols = names_of(|kind| kind == Kind::Symbol);
    // Only Ruby's documents have symbols.
    if !symbols.is_empty() {
        let strings = names_of(|kind| kind.is_string() && kind != Kind::Symbol);
        symbols.retain(|name| strings.contains(name));
    }
    symbols
}

fn refuse_ambiguous_key(document: &Document<'_>, before: &Pattern, name: &str, limits: &Limits) -> Result<(), Refusal> {
    let matches = before.find(document, limits).map_err(Refusal::Unfit)?;
    for (path, container) in matches.iter() {
        let (symbol, string) = (find_key(container, name, true), find_key(container, name, false));
        if let (Some(_), Some(position)) = (symbol, string) {
            let symbol_step = Step::Symbol(name.to_owned()).to_text();
            let error = Error::new(ErrorKind::Usage)
                .expecting(format!("one key `{name}`"))
                .finding("a symbol and a string")
                .helping(format!("`{symbol_step}` is the symbol, `{{{position}}}` the string"));
            return Err(Refusal::Unfit(error.on_path(path)));
        }
    }
    Ok(())
}

/// Returns the position of the last entry whose key is this symbol, or this string.
fn find_key(container: Cursor<'_>, name: &str, is_symbol: bool) -> Option<usize> {
    let is_it = |key: &Key<'_>| {
        let kind = key.node().kind;
        kind.is_string() && (kind == Kind::Symbol) == is_symbol && key.bytes() == name.as_bytes()
    };
    container.body().entries().enumerate().filter(|(_, (key, _))| is_it(key)).map(|(position, _)| position).last()
}
