//! Keys of plain objects, in which a leading `$` is escaped.

use super::PlainStringKind;
use super::form::Name;
use crate::document::{Kind, Node, flag};
use std::borrow::Cow;

/// Returns the JSON key for a key of a map; `None` if it can't be one.
pub(super) fn encode_key<'b>(strings: PlainStringKind, node: &Node, bytes: &'b [u8]) -> Option<Cow<'b, [u8]>> {
    if node.flags & (flag::LOCKED | flag::PLACEHOLDER) != 0 {
        return None;
    }
    let with = |prefix: &[u8]| Some(Cow::Owned([prefix, bytes].concat()));
    match (node.kind, std::str::from_utf8(bytes).is_ok()) {
        (Kind::Text | Kind::Bytes, true) if node.kind == strings.kind() => {
            if bytes.starts_with(b"$") {
                with(b"$")
            } else {
                Some(Cow::Borrowed(bytes))
            }
        }
        (Kind::Text, true) => with(b"$t:"),
        (Kind::Bytes, true) => with(b"$b:"),
        (Kind::Bytes, false) => {
            let latin1: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            Some(Cow::Owned([b"$l:", latin1.as_bytes()].concat()))
        }
        _ => None,
    }
}

/// Meaning of a JSON key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyMeaning {
    /// A key of this kind: the text after this many bytes.
    Plain(Kind, usize),
    /// A byte key, with a character for each byte: the text after `$l:`.
    Latin1,
    /// A key of the form itself.
    Special(Name),
    /// It starts with `$`, but is unknown.
    Unknown,
}

/// Returns the meaning of a JSON key.
pub(super) fn decode_key(strings: PlainStringKind, key: &[u8]) -> KeyMeaning {
    if !key.starts_with(b"$") {
        return KeyMeaning::Plain(strings.kind(), 0);
    }
    match key.get(1..3) {
        Some(b"t:") => KeyMeaning::Plain(Kind::Text, 3),
        Some(b"b:") => KeyMeaning::Plain(Kind::Bytes, 3),
        Some(b"l:") => KeyMeaning::Latin1,
        _ if key.get(1) == Some(&b'$') => KeyMeaning::Plain(strings.kind(), 1),
        _ => Name::from_text(key).map_or(KeyMeaning::Unknown, KeyMeaning::Special),
    }
}

/// Returns the bytes of a text that has a character for each byte; `None` if a
/// character is above U+00FF.
pub(super) fn bytes_from_latin1(text: &[u8]) -> Option<Vec<u8>> {
    std::str::from_utf8(text).ok()?.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_keys_are_decoded_again() {
        let keys: [&[u8]; 10] =
            [b"a", b"", b"$", b"$$", b"$x", b"$t:", b"$class", "\u{e9}".as_bytes(), b"\xff", b"$\xff"];
        for strings in [PlainStringKind::Text, PlainStringKind::Bytes] {
            for kind in [Kind::Text, Kind::Bytes] {
                for key in keys {
                    let Some(written) = encode_key(strings, &Node::leaf(kind, 0), key) else {
                        assert!(kind == Kind::Text && std::str::from_utf8(key).is_err());
                        continue;
                    };
                    match decode_key(strings, &written) {
                        KeyMeaning::Plain(known, skip) => assert_eq!((known, &written[skip..]), (kind, key)),
                        KeyMeaning::Latin1 => {
                            assert_eq!(kind, Kind::Bytes);
                            assert_eq!(bytes_from_latin1(&written[3..]).unwrap(), key);
                        }
                        other => panic!("{other:?} for {key:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn special_keys_are_distinguished_from_unknown_ones() {
        assert_eq!(decode_key(PlainStringKind::Text, b"$class"), KeyMeaning::Special(Name::Class));
        assert_eq!(decode_key(PlainStringKind::Text, b"$clas"), KeyMeaning::Unknown);
        assert_eq!(decode_key(PlainStringKind::Text, b"$"), KeyMeaning::Unknown);
    }
}
