//! Makes the options of the writer from the settings of a text that was read.

use super::super::options::WriteOptions;
use super::super::{NAME as FORMAT_NAME, spelling as code};
use super::quote::is_identifier;
use crate::document::{Document, Spelling};

impl WriteOptions {
    /// Returns Data::Dumper's defaults with the settings of the text that the document was read from. If `is_trusted`,
    /// includes settings that perl would run as code, and variables of perl that the output would set.
    pub(in crate::format::dumper) fn from_document(document: &Document<'_>, is_trusted: bool) -> WriteOptions {
        let mut options = WriteOptions::default();
        let Some(spelling) = document.spelling_of(FORMAT_NAME) else { return options };
        let flag = |setting| spelling.get(setting) == Some(1);
        options.indent = spelling.get(code::INDENT).map_or(options.indent, |indent| indent.min(3) as u8);
        options.terse = flag(code::TERSE);
        options.useqq = flag(code::USEQQ);
        options.quotekeys = spelling.get(code::QUOTEKEYS) != Some(0);
        options.trailingcomma = flag(code::TRAILINGCOMMA);
        options.purity = flag(code::PURITY);
        options.list = flag(code::LIST);
        options.result = flag(code::RESULT);
        // These are written without quotes, so perl runs them as code when it evaluates the output. A text that is
        // not trusted must not choose such code.
        for (setting, option, is_safe) in [
            (code::PAD, &mut options.pad, is_safe_pad as fn(&str) -> bool),
            (code::PAIR, &mut options.pair, is_safe_pair),
            (code::BLESS, &mut options.bless, is_default_bless),
        ] {
            let text = spelling.get(setting).and_then(|location| read_stored_text(spelling, location));
            if let Some(text) = text.filter(|text| is_trusted || is_safe(text)) {
                *option = text;
            }
        }
        let names = spelling.header.iter().filter(|(setting, _)| *setting == code::NAME);
        let names: Vec<_> = names.filter_map(|(_, location)| read_stored_text(spelling, *location)).collect();
        if is_trusted || names.iter().all(|name| is_safe_name(name)) {
            options.names = names.iter().map(|name| name_as_given(name)).collect();
        }
        options
    }
}

fn read_stored_text(spelling: &Spelling, location: u64) -> Option<String> {
    std::str::from_utf8(spelling.stored_bytes(location)).ok().map(str::to_owned)
}

/// Returns `true` if this is `bless`, the default. With another name, perl would call that function.
fn is_default_bless(name: &str) -> bool {
    name == "bless"
}

/// Returns `true` if a pad is blanks, or the start of a comment.
fn is_safe_pad(pad: &str) -> bool {
    !pad.contains(['\n', '\r']) && matches!(pad.trim_start().as_bytes(), [] | [b'#', ..])
}

/// Returns `true` if a pair is an arrow, a comma or a colon between blanks.
fn is_safe_pair(pair: &str) -> bool {
    matches!(pair.trim_matches([' ', '\t', '\n']), "=>" | "," | ":")
}

/// Returns `true` if this name has no package and is not one of perl's own variables. Those, such as
/// `%SIG` and `@ISA`, are several capitals.
fn is_safe_name(name: &str) -> bool {
    let name = name.strip_prefix(['$', '@', '%']).unwrap_or(name);
    is_identifier(name.as_bytes())
        && (name.len() == 1 || name.bytes().any(|byte| byte.is_ascii_lowercase()) || is_numbered(name))
}

/// Returns `true` if this is a name like `VAR1`, Data::Dumper's default.
fn is_numbered(name: &str) -> bool {
    let digits = name.strip_prefix("VAR").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the name as it is given to Data::Dumper: a star stands for the sigil of the
/// value.
fn name_as_given(name: &str) -> String {
    match name.strip_prefix(['@', '%']) {
        Some(name) => format!("*{name}"),
        None => name.to_owned(),
    }
}
