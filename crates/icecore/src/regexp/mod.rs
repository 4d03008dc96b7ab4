//! Translates regular expressions between Perl and Ruby.
//!
//! What is the same in both is copied. What is not known to be the same is reported; and what the other engine can't
//! load never matches there, and has its source in a comment.

mod document;
mod escapes;
mod folds;
mod measure;
mod parse;
mod perl_classes;
mod properties;
mod ruby_classes;
#[cfg(test)]
mod tests;
mod to_perl;
mod to_ruby;
mod tree;

pub(crate) use document::translate_regexps;

use crate::losses::LossKind;
use parse::{Untranslatable, parse_pattern};
use std::borrow::Cow;
use to_perl::PerlPatternWriter;
use to_ruby::RubyWriter;
use tree::{CharacterRules, DOT_ALL, EXTENDED, EXTENDED_MORE, IGNORE_CASE, MULTI_LINE, Modifiers, NO_CAPTURES};

/// A pattern that never matches, for what can't be translated. A pattern that the other engine can't load would make the
/// whole document unloadable; and a string in its place would fail where it is matched, or match itself.
const NEVER: &str = "(?!)";

/// A language whose regular expressions are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Perl,
    Ruby,
}

/// A regular expression in another dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Translation<'p> {
    pattern: Cow<'p, str>,
    /// The modifiers as documents have them: Perl's letters, so Ruby's `m` is `s`.
    flags: Vec<u8>,
    /// Whether it may match other texts or captures otherwise, or never matches.
    loss: Option<LossKind>,
}

/// Translates a regular expression. `flags` are as documents have them.
fn translate<'p>(pattern: &'p str, flags: &[u8], from: Dialect) -> Translation<'p> {
    let translated = match from {
        Dialect::Perl => translate_for_ruby(pattern, flags),
        Dialect::Ruby => translate_for_perl(pattern, flags),
    };
    translated.unwrap_or_else(|_| never_matching(pattern, from))
}

/// Returns a translation that never matches, with the source in a comment, where a person finds it.
fn never_matching(pattern: &str, from: Dialect) -> Translation<'static> {
    let mut text = NEVER.to_owned();
    let mut flags = Vec::new();
    match from {
        Dialect::Perl => {
            text.push_str("(?#");
            for next in pattern.chars() {
                // In Ruby a backslash escapes the end of the comment.
                if matches!(next, '\\' | ')') {
                    text.push('\\');
                }
                text.push(next);
            }
            text.push(')');
        }
        Dialect::Ruby => {
            // In Perl nothing escapes the end of `(?#…)`; this comment ends at a line end.
            text.push('#');
            let source = pattern.replace('\n', "\\n").replace('\r', "\\r");
            // Perl takes these for code even in a comment, and refuses to load it.
            text.push_str(&source.replace("(?{", "(? {").replace("(??{", "(? ?{").replace("(*{", "(* {"));
            flags.push(b'x');
        }
    }
    if from == Dialect::Perl && needs_unicode(&text) {
        flags.push(b'u');
    }
    Translation { pattern: Cow::Owned(text), flags, loss: Some(LossKind::RegexpNever) }
}

fn translate_for_ruby<'p>(pattern: &'p str, flags: &[u8]) -> Result<Translation<'p>, Untranslatable> {
    let mut modifiers = Modifiers::default();
    let mut is_changed = false;
    for flag in flags {
        match flag {
            b'i' => modifiers.bits |= IGNORE_CASE,
            b'm' => modifiers.bits |= MULTI_LINE,
            b's' => modifiers.bits |= DOT_ALL,
            b'x' if modifiers.has(EXTENDED) => modifiers.bits |= EXTENDED_MORE,
            b'x' => modifiers.bits |= EXTENDED,
            b'n' => modifiers.bits |= NO_CAPTURES,
            b'a' if modifiers.charset == CharacterRules::Ascii => modifiers.charset = CharacterRules::AsciiOnly,
            b'a' => modifiers.charset = CharacterRules::Ascii,
            b'l' => modifiers.charset = CharacterRules::Locale,
            b'u' | b'd' | b'p' => {}
            _ => is_changed = true,
        }
    }
    let parsed = parse_pattern(pattern, Dialect::Perl, modifiers)?;
    let mut writer = RubyWriter::new(&parsed);
    writer.write_pattern()?;
    is_changed |= writer.is_changed || folds::has_folded_seam(&parsed.branches) || measure::may_leak_captures(&parsed);
    let text = writer.out;
    let mut own: Vec<u8> = Vec::new();
    own.extend(
        [(DOT_ALL, b's'), (IGNORE_CASE, b'i'), (EXTENDED, b'x')]
            .iter()
            .filter(|(bit, _)| modifiers.has(*bit))
            .map(|(_, letter)| letter),
    );
    if needs_unicode(&text) {
        own.push(b'u');
    }
    let pattern = if text == pattern { Cow::Borrowed(pattern) } else { Cow::Owned(text) };
    Ok(Translation { pattern, flags: own, loss: is_changed.then_some(LossKind::RegexpMeaning) })
}

/// Returns `true` if Ruby gives a literal with this pattern the encoding UTF-8.
pub(crate) fn needs_unicode(pattern: &str) -> bool {
    !pattern.is_ascii() || ["\\p", "\\P", "\\u"].iter().any(|escape| pattern.contains(escape))
}

fn translate_for_perl<'p>(pattern: &'p str, flags: &[u8]) -> Result<Translation<'p>, Untranslatable> {
    // In Ruby, `^` and `$` always match at lines.
    let mut modifiers = Modifiers { bits: MULTI_LINE, ..Modifiers::default() };
    for flag in flags {
        match flag {
            b'i' => modifiers.bits |= IGNORE_CASE,
            b's' => modifiers.bits |= DOT_ALL,
            b'x' => modifiers.bits |= EXTENDED,
            // FIXEDENCODING and NOENCODING do not change what matches.
            _ => {}
        }
    }
    let parsed = parse_pattern(pattern, Dialect::Ruby, modifiers)?;
    if measure::has_keep_in_look_around(&parsed) {
        return Err(Untranslatable);
    }
    let mut writer = PerlPatternWriter::new(&parsed);
    writer.write_pattern()?;
    let is_changed =
        writer.is_changed || folds::has_folded_seam(&parsed.branches) || measure::may_leak_captures(&parsed);
    let (text, has_lines) = (writer.out, writer.has_lines);
    let mut own: Vec<u8> = Vec::new();
    if has_lines {
        own.push(b'm');
    }
    own.extend(
        [(DOT_ALL, b's'), (IGNORE_CASE, b'i'), (EXTENDED, b'x')]
            .iter()
            .filter(|(bit, _)| modifiers.has(*bit))
            .map(|(_, letter)| letter),
    );
    let pattern = if text == pattern { Cow::Borrowed(pattern) } else { Cow::Owned(text) };
    Ok(Translation { pattern, flags: own, loss: is_changed.then_some(LossKind::RegexpMeaning) })
}
