//! Infers the settings that a text was written with.

use super::super::spelling as code;
use super::heap::Root;
use super::lex::{Lexer, is_word_byte, is_word_start};
use crate::document::{Detail, Kind};
use memchr::{memchr, memchr2, memchr3, memchr3_iter};

/// Evidence so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// `None` if no container had an item. Otherwise: whether all first items were where `Indent=1` puts them.
    lines: Option<bool>,
    has_container: bool,
    has_indexes: bool,
    has_bare_key: bool,
    has_double_quotes: bool,
    has_trailing_comma: bool,
    has_result: bool,
    pair: Option<Vec<u8>>,
    bless: Option<Vec<u8>>,
}

impl Layout {
    /// Examines the first item of a container at this level.
    pub(super) fn observe_first_item(&mut self, lexer: &Lexer<'_>, levels: usize) {
        self.has_container = true;
        let before = lexer.slice(0, lexer.position);
        let blanks = before.iter().rev().take_while(|byte| **byte == b' ').count();
        let line = &before[..before.len() - blanks];
        let line = line.strip_suffix(lexer.pad).unwrap_or(line);
        if line.last() == Some(&b'\n') {
            self.lines = Some(self.lines.unwrap_or(true) && blanks == 2 * levels);
            let above = &line[..line.len() - 1];
            self.has_indexes |= above.ends_with(b"#0");
        }
    }

    pub(super) fn observe_key(&mut self, first: Option<u8>, kind: Kind) {
        match first {
            Some(b'\'') => {}
            Some(b'"') => self.has_double_quotes |= kind == Kind::Bytes,
            _ => self.has_bare_key = true,
        }
    }

    /// Examines a string that begins here. Data::Dumper always writes a string with `\x{` in double quotes, so such a
    /// string does not show a setting.
    pub(super) fn observe_quote(&mut self, lexer: &Lexer<'_>) {
        if lexer.peek() == Some(b'"') && !self.has_double_quotes {
            let rest = &lexer.rest()[1..];
            let text = &rest[..rest.iter().position(|byte| *byte == b'"').unwrap_or(rest.len()).min(1024)];
            self.has_double_quotes = !text.windows(3).any(|window| window == b"\\x{");
        }
    }

    pub(super) fn observe_trailing_comma(&mut self) {
        self.has_trailing_comma = true;
    }

    pub(super) fn observe_result(&mut self) {
        self.has_result = true;
    }

    pub(super) fn observe_pair(&mut self, lexer: &Lexer<'_>, start: usize, end: usize) {
        let pair = lexer.slice(start, end);
        if self.pair.is_none() && pair != b" => " && pair.len() <= 64 {
            self.pair = Some(pair.to_vec());
        }
    }

    pub(super) fn observe_bless_name(&mut self, name: &[u8]) {
        self.bless.get_or_insert_with(|| name.to_vec());
    }

    /// Records the settings that the text showed.
    pub(super) fn record_settings(&self, detail: &mut Detail, pad: &[u8], roots: &[Root<'_>], has_repairs: bool) {
        let indent = match self.lines {
            _ if self.has_indexes => Some(3),
            Some(true) => Some(1),
            Some(false) => Some(2),
            None if self.has_container => Some(0),
            None => None,
        };
        if let Some(indent) = indent {
            detail.record_header_note(code::INDENT, indent);
        }
        let flags = [
            (code::TERSE, roots.first().is_some_and(|root| root.sigil == 0), 1),
            (code::USEQQ, self.has_double_quotes, 1),
            (code::QUOTEKEYS, self.has_bare_key, 0),
            (code::TRAILINGCOMMA, self.has_trailing_comma, 1),
            (code::PURITY, has_repairs, 1),
            (code::LIST, roots.len() > 1, 1),
            (code::RESULT, self.has_result, 1),
        ];
        for (code, _, value) in flags.into_iter().filter(|(_, is_set, _)| *is_set) {
            detail.record_header_note(code, value);
        }
        let pair = self.pair.as_deref().unwrap_or(&[]);
        for (code, bytes) in [(code::PAD, pad), (code::PAIR, pair), (code::BLESS, self.bless.as_deref().unwrap_or(&[]))]
        {
            if !bytes.is_empty() {
                let stored_range = detail.store_bytes(bytes);
                detail.record_header_note(code, stored_range);
            }
        }
        let is_usual = |(index, root): (usize, &Root<'_>)| {
            root.sigil == 0 || name_with_sigil(root) == format!("$VAR{}", index + 1).as_bytes()
        };
        if !roots.iter().enumerate().all(is_usual) {
            for root in roots {
                let stored_range = detail.store_bytes(&name_with_sigil(root));
                detail.record_header_note(code::NAME, stored_range);
            }
        }
    }
}

/// Returns the name of a value with its sigil.
fn name_with_sigil(root: &Root<'_>) -> Vec<u8> {
    let mut name = root.name.to_vec();
    name.insert(0, root.sigil);
    name
}

/// Returns the text before `$VAR1 = ` in the first line, if the second line begins with
/// it too: the setting `Pad`.
pub(in crate::format::dumper) fn find_pad(input: &[u8]) -> &[u8] {
    let limit = input.len().min(4096);
    let end = memchr(b'\n', &input[..limit]).unwrap_or(limit);
    let (line, rest) = (&input[..end], &input[end..]);
    // The pad is before the variable. After `=` or `;` a variable is part of a statement.
    let code = memchr2(b'=', b';', line).unwrap_or(end);
    let mut signs = memchr3_iter(b'$', b'@', b'%', &line[..code]).filter(|index| *index > 0);
    let Some(pad) = signs.find(|index| begins_assignment(&line[*index..])).map(|index| &line[..index]) else {
        return &[];
    };
    let is_statement =
        matches!(pad.trim_ascii(), b"" | b"my" | b"our" | b"local") || pad.contains(&b'=') || pad.contains(&b';');
    let second = rest.get(1..).unwrap_or(&[]);
    let is_alone = second.is_empty() && !pad.trim_ascii_end().last().is_some_and(|byte| is_word_byte(*byte));
    if !is_statement && (is_alone || second.starts_with(pad)) { pad } else { &[] }
}

/// Returns `true` if the text begins with `$name = `, `@name = ` or `%name = `.
fn begins_assignment(text: &[u8]) -> bool {
    let [b'$' | b'@' | b'%', rest @ ..] = text else { return false };
    let len = rest.iter().take_while(|byte| is_word_byte(**byte) || **byte == b':').count();
    rest.first().is_some_and(|byte| is_word_start(*byte) || *byte == b':') && rest[len..].starts_with(b" = ")
}

/// Returns `true` if a text may begin like this: with an assignment, after blanks, comments, `my`
/// and the like, or after a pad.
pub(in crate::format::dumper) fn may_begin_document(input: &[u8]) -> bool {
    // Most texts of other formats do not contain a variable, so this quick check is first.
    if memchr3(b'$', b'@', b'%', input).is_none() && memchr(b'*', input).is_none() {
        return false;
    }
    if !find_pad(input).is_empty() {
        return true;
    }
    let mut lexer = Lexer::new(input, b"");
    lexer.skip_blanks();
    while matches!(
        lexer.word_at(lexer.position),
        b"my" | b"our" | b"local" | b"use" | b"strict" | b"warnings" | b"utf8"
    ) {
        lexer.position += lexer.word_at(lexer.position).len();
        lexer.skip_blanks();
        lexer.position += usize::from(lexer.peek() == Some(b';'));
        lexer.skip_blanks();
    }
    let [b'$' | b'@' | b'%' | b'*', ..] = lexer.rest() else { return false };
    lexer.position += 1;
    let name = lexer.name_at(lexer.position);
    lexer.position += name.len();
    lexer.skip_blanks();
    !name.is_empty() && matches!(lexer.rest(), [b'=', next, ..] if !matches!(next, b'=' | b'~' | b'>'))
}
