//! Translates the regular expressions of a document.

use super::{Dialect, NEVER, Translation, needs_unicode, translate};
use crate::document::{Cursor, Document, Kind, Naming, Node, Tape, flag};
use crate::encoding::decoded;
use crate::losses::{LossKind, Losses};
use std::borrow::Cow;

/// Returns the document with its regular expressions in the dialect of the target; `None` if nothing changes. Losses
/// are added. Nodes keep their places.
///
/// PHP has regular expressions only as strings, which get the modifiers: `(?^i:a)`.
///
/// If `has_byte_patterns`, the target only has patterns of bytes, so other characters become escapes.
pub(crate) fn translate_regexps<'d>(
    document: &'d Document<'_>,
    target: Naming,
    has_byte_patterns: bool,
    losses: &mut Losses,
) -> Option<Document<'d>> {
    let source = document.tape().naming;
    let dialects = match (source, target) {
        (Naming::Perl | Naming::Plain, Naming::Ruby) => Some((Dialect::Perl, Dialect::Ruby)),
        (Naming::Ruby, Naming::Perl | Naming::Php) => Some((Dialect::Ruby, Dialect::Perl)),
        (_, Naming::Php) => None,
        _ => return None,
    };
    let mut tape = Cow::Borrowed(document.tape());
    // Values of a running perl have a source that is unknown, and regular expressions with a mark.
    let regexps = (0u32..)
        .zip(document.nodes())
        .filter(|(_, node)| node.kind == Kind::Regexp)
        .filter(|(_, node)| source != Naming::Plain || target == Naming::Php || node.has(flag::PERL));
    for (index, _) in regexps {
        let mut lose = |kind| losses.add(kind, || document.path(index));
        let parts: Vec<Cursor<'_>> = Cursor::new(document, index).children().collect();
        let [pattern, flags] = &*parts else { continue };
        let Some((from, to)) = dialects else {
            move_modifiers(&mut tape, (pattern, flags));
            continue;
        };
        let flag_letters = flags.target().as_bytes().unwrap_or(&[]).to_vec();
        let text = read_pattern(document, pattern, &flag_letters, from, &mut lose);
        let translated = match &text {
            Some(text) => translate(text, &flag_letters, from),
            None => Translation { pattern: Cow::Borrowed(NEVER), flags: Vec::new(), loss: Some(LossKind::RegexpNever) },
        };
        if let Some(kind) = translated.loss {
            lose(kind);
        }
        let translated = if target == Naming::Php { with_modifiers_inside(translated) } else { translated };
        replace_parts(tape.to_mut(), (pattern, flags), translated, to, has_byte_patterns);
    }
    match tape {
        Cow::Borrowed(_) => None,
        Cow::Owned(tape) => Some(document.with_tape(tape)),
    }
}

/// Modifiers that PCRE has inside of a pattern as well.
const MOVABLE: &[u8] = b"msixn";

/// Returns the pattern as Perl shows it, with these modifiers, and the other modifiers; `None` if there is none to move.
fn move_into_pattern(pattern: &[u8], flags: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (moved, others): (Vec<u8>, Vec<u8>) = flags.iter().partition(|flag| MOVABLE.contains(flag));
    if moved.is_empty() {
        return None;
    }
    // A comment in the last line would contain the end of the group.
    let last_line = pattern.rsplit(|byte| *byte == b'\n').next().unwrap_or(pattern);
    let end: &[u8] = if moved.contains(&b'x') && last_line.contains(&b'#') { b"\n)" } else { b")" };
    Some(([b"(?^", &*moved, b":", pattern, end].concat(), others))
}

/// Moves the modifiers of a regular expression into its pattern.
fn move_modifiers(tape: &mut Cow<'_, Tape>, parts: (&Cursor<'_>, &Cursor<'_>)) {
    let (pattern, flags) = (parts.0.target(), parts.1.target());
    let moved = pattern.as_bytes().zip(flags.as_bytes()).and_then(|(text, flags)| move_into_pattern(text, flags));
    let Some((text, others)) = moved else { return };
    let old = *pattern.node();
    let tape = tape.to_mut();
    let mut node = tape.new_owned_string(old.kind, &text);
    if old.kind == Kind::Encoded {
        node.set_encoding(old.encoding());
    }
    set_parts(tape, parts, node, &others);
}

/// Returns the translation with its modifiers inside of the pattern.
fn with_modifiers_inside(translated: Translation<'_>) -> Translation<'_> {
    match move_into_pattern(translated.pattern.as_bytes(), &translated.flags) {
        Some((text, flags)) => Translation {
            pattern: Cow::Owned(String::from_utf8_lossy(&text).into_owned()),
            flags,
            loss: translated.loss,
        },
        None => translated,
    }
}

/// Replaces the nodes of a pattern and its flags.
fn replace_parts(
    tape: &mut Tape,
    (pattern, flags): (&Cursor<'_>, &Cursor<'_>),
    translated: Translation<'_>,
    to: Dialect,
    has_byte_patterns: bool,
) {
    let Translation { pattern: mut text, flags: mut letters, .. } = translated;
    if has_byte_patterns && !text.is_ascii() {
        text = Cow::Owned(escape_characters(&text));
        letters.push(b'u');
    }
    let node = match to {
        Dialect::Perl if text.is_ascii() => tape.new_owned_string(Kind::Bytes, text.as_bytes()),
        Dialect::Ruby if !needs_unicode(&text) => match tape.intern_encoding(b"US-ASCII") {
            Ok(encoding) => {
                let mut node = tape.new_owned_string(Kind::Encoded, text.as_bytes());
                node.set_encoding(encoding);
                node
            }
            Err(_) => tape.new_owned_string(Kind::Text, text.as_bytes()),
        },
        _ => tape.new_owned_string(Kind::Text, text.as_bytes()),
    };
    set_parts(tape, (pattern, flags), node, &letters);
}

/// Sets the nodes of a pattern and its flags.
fn set_parts(tape: &mut Tape, (pattern, flags): (&Cursor<'_>, &Cursor<'_>), mut node: Node, letters: &[u8]) {
    let keep_key = |node: &mut Node, old: &Cursor<'_>| node.key = old.node().key;
    keep_key(&mut node, pattern);
    tape.replace_node(pattern.index(), node);
    let mut node = tape.new_owned_string(Kind::Bytes, letters);
    keep_key(&mut node, flags);
    tape.replace_node(flags.index(), node);
}

/// Returns the pattern with an escape of Perl for each character that is not ASCII.
fn escape_characters(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for next in text.chars() {
        match next.is_ascii() {
            true => escaped.push(next),
            false => escaped.push_str(&format!("\\x{{{:x}}}", next as u32)),
        }
    }
    escaped
}

/// Returns the characters of a pattern; `None` if they are unknown.
fn read_pattern<'b>(
    document: &'b Document<'_>,
    pattern: &Cursor<'b>,
    flags: &[u8],
    from: Dialect,
    lose: &mut impl FnMut(LossKind),
) -> Option<Cow<'b, str>> {
    let target = pattern.target();
    let node = *target.node();
    if !node.kind.is_string() {
        return None;
    }
    let bytes = document.bytes(&node);
    if bytes.is_ascii() && node.kind != Kind::Encoded {
        return std::str::from_utf8(bytes).ok().map(Cow::Borrowed);
    }
    match node.kind {
        Kind::Text => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Kind::Encoded => {
            let name = document.tape().encodings().get(u32::from(node.encoding()))?;
            let name = std::str::from_utf8(name.bytes).ok()?;
            if bytes.is_ascii() && !has_byte_escapes(bytes) {
                return std::str::from_utf8(bytes).ok().map(Cow::Borrowed);
            }
            let text = match name {
                "UTF-8" | "US-ASCII" => decoded(name, bytes),
                // Escapes of bytes are parts of characters.
                _ => decoded(name, &resolve_byte_escapes(bytes)).map(|text| Cow::Owned(text.into_owned())),
            };
            if text.is_none() {
                lose(LossKind::Undecoded);
            }
            text
        }
        _ if from == Dialect::Ruby => None,
        _ => {
            // Perl gives patterns of text one of these flags.
            let text = std::str::from_utf8(bytes).ok().filter(|_| flags.contains(&b'u') || flags.contains(&b'a'));
            match text {
                // Storable does not store whether the pattern was text.
                Some(text) => {
                    lose(LossKind::Text);
                    Some(Cow::Borrowed(text))
                }
                None => Some(Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect())),
            }
        }
    }
}

/// Returns `true` if the pattern may have an escape of a byte that is not ASCII.
fn has_byte_escapes(bytes: &[u8]) -> bool {
    bytes
        .windows(3)
        .any(|window| window.starts_with(b"\\x") && matches!(window[2], b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F'))
}

/// Replaces escapes such as `\x93` by the bytes.
fn resolve_byte_escapes(bytes: &[u8]) -> Vec<u8> {
    let mut resolved = Vec::with_capacity(bytes.len());
    let mut offset = 0;
    while let Some(byte) = bytes.get(offset) {
        let rest = &bytes[offset..];
        let digits = rest.get(2..4).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match value {
            Some(value) if rest.starts_with(b"\\x") && !value.is_ascii() => {
                resolved.push(value);
                offset += 4;
            }
            _ => {
                resolved.push(*byte);
                offset += 1;
                if *byte == b'\\'
                    && let Some(next) = bytes.get(offset)
                {
                    resolved.push(*next);
                    offset += 1;
                }
            }
        }
    }
    resolved
}
