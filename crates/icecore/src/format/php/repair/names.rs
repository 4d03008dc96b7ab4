//! Names of properties that lost the NUL bytes of their visibility.
//!
//! PHP writes a protected property as `\0*\0name` and a private one as `\0Class\0name`. Some programs remove the NUL
//! bytes, or take them for the end of a text. When a charset is converted or a text is displayed, the NUL bytes may
//! become other characters.

use super::reversal::NUL_SPELLINGS;
use crate::format::php_text::is_class_name;
use std::collections::BTreeSet;

/// Maximum length of a name that is searched without its stated length.
const MAX_NAME_LEN: usize = 512;

/// Maximum length of a class that is guessed.
const MAX_GUESSED_CLASS_LEN: usize = 128;

/// The state of the NUL bytes of a name in the damaged text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nuls {
    /// They are gone.
    Lost,
    /// They are gone, and the class that the name begins with is a guess.
    LostWithClass,
    /// They are blanks or question marks.
    Blank,
    /// They are other characters.
    Spelled,
}

/// A repaired name.
pub(super) struct RestoredName {
    pub(super) name: Vec<u8>,
    /// Its current number of bytes.
    pub(super) len: usize,
    /// Number of these bytes that are `*` or the class.
    pub(super) owner: usize,
    pub(super) nuls: Nuls,
}

/// The classes in a text, used to separate a class from the property after it.
pub(super) struct Classes {
    names: BTreeSet<Vec<u8>>,
    /// Properties whose class is known. A parent class may have a private property of the same name.
    properties: BTreeSet<Vec<u8>>,
}

impl Classes {
    /// Returns the classes of all objects in the text.
    pub(super) fn from_text(text: &[u8]) -> Classes {
        let mut names = BTreeSet::new();
        for head in [b"O:", b"C:"] {
            for offset in memchr::memmem::find_iter(text, head) {
                let rest = &text[offset + 2..];
                let digits = rest.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
                let Some(name) = rest.get(digits..).and_then(|rest| rest.strip_prefix(b":\"")) else { continue };
                let Some(end) = memchr::memchr(b'"', &name[..name.len().min(MAX_NAME_LEN)]) else { continue };
                if digits > 0 && is_class_name(&name[..end]) && !names.contains(&name[..end]) {
                    names.insert(name[..end].to_vec());
                }
            }
        }
        let mut classes = Classes { names, properties: BTreeSet::new() };
        if !classes.names.is_empty() {
            classes.find_properties(text);
        }
        classes
    }

    fn find_properties(&mut self, text: &[u8]) {
        for offset in memchr::memmem::find_iter(text, b"s:") {
            let rest = &text[offset + 2..];
            let digits = rest.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
            let Some(name) = rest[digits..].strip_prefix(b":\"") else { continue };
            let Some(end) = memchr::memchr(b'"', &name[..name.len().min(MAX_NAME_LEN)]) else { continue };
            let stated = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse().ok());
            if stated != Some(end + 2) {
                continue;
            }
            let name = &name[..end];
            let property = match name.strip_prefix(b"*") {
                Some(property) => Some(property),
                None => self.find_class_end(None, name).map(|split| &name[split..]),
            };
            if let Some(property) = property.filter(|property| is_property(property)) {
                self.properties.insert(property.to_vec());
            }
        }
    }

    /// Returns `true` if the name begins with a class that occurs in the text.
    fn has_class_prefix(&self, name: &[u8]) -> bool {
        (1..=name.len().min(MAX_NAME_LEN)).any(|len| self.names.contains(&name[..len]))
    }

    /// Returns the end of a class that does not occur in the text, before a known property.
    fn guess_class_end(&self, name: &[u8]) -> Option<usize> {
        let is_property = |split: &usize| self.properties.contains(&name[*split..]);
        let mut splits = (1..name.len().min(MAX_GUESSED_CLASS_LEN))
            .filter(|split| is_class_name(&name[..*split]))
            .filter(is_property);
        splits.next().filter(|_| splits.next().is_none())
    }

    /// Returns the end of the class at the start of a private name without NUL bytes.
    fn find_class_end(&self, class: Option<&[u8]>, name: &[u8]) -> Option<usize> {
        let fits = |class: &&[u8]| name.starts_with(class) && is_property(&name[class.len()..]);
        let begins_small = |len: usize| name.get(len).is_some_and(|first| !first.is_ascii_uppercase());
        let own = class.filter(fits).map(<[u8]>::len);
        // The names are sorted, so all classes with the first letter of `name` follow each other. Only these can be
        // at its start.
        let first = name.get(..1)?.to_vec();
        let from = self.names.range(first..).map(Vec::as_slice).take_while(|known| known[0] == name[0]);
        let mut others = from.take(MAX_NAME_LEN).filter(fits).map(<[u8]>::len).filter(|len| Some(*len) != own);
        match (own, others.next(), others.next()) {
            (own, None, None) => own,
            (None, Some(other), None) => Some(other),
            (Some(own), Some(other), None) if begins_small(own) && !begins_small(other) => Some(own),
            (Some(own), Some(other), None) if begins_small(other) && !begins_small(own) => Some(other),
            _ => None,
        }
    }
}

/// Returns `true` if programs use names like this for properties.
fn is_property(name: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    !name.is_empty() && name.iter().all(is_letter)
}

/// Returns `true` if this can be the owner in a name with NUL bytes: `*`, or a class.
fn is_owner(owner: &[u8]) -> bool {
    owner == b"*" || is_class_name(owner)
}

/// Repairs a key that lost its two NUL bytes. `units` is the length that it has without them, and `len` is the length
/// in the text.
pub(super) fn restore_lost(
    key: &[u8],
    units: u64,
    len: u64,
    class: Option<&[u8]>,
    classes: &Classes,
) -> Option<RestoredName> {
    if units.checked_add(2) != Some(len) {
        return None;
    }
    let (split, nuls) = match key {
        [b'*', name @ ..] if is_property(name) => (1, Nuls::Lost),
        _ => match classes.find_class_end(class, key) {
            Some(split) => (split, Nuls::Lost),
            // The key begins with a class of the text, but the end of the class is not certain.
            None if classes.has_class_prefix(key) => return None,
            None => (classes.guess_class_end(key)?, Nuls::LostWithClass),
        },
    };
    let name = mangle_name(&key[..split], &key[split..]);
    Some(RestoredName { name, len: key.len(), owner: split, nuls })
}

/// Repairs a key whose NUL bytes are blanks or question marks; `key` is the whole key.
pub(super) fn restore_blank(key: &[u8]) -> Option<RestoredName> {
    let mark = *key.first().filter(|mark| matches!(mark, b' ' | b'?'))?;
    let rest = &key[1..];
    let offset = memchr::memchr(mark, rest)?;
    let (owner, name) = (&rest[..offset], &rest[offset + 1..]);
    (is_owner(owner) && is_property(name)).then(|| RestoredName {
        name: mangle_name(owner, name),
        len: key.len(),
        owner: owner.len(),
        nuls: Nuls::Blank,
    })
}

/// Repairs a key that starts with another spelling of a NUL byte, up to the next quote.
pub(super) fn restore_spelled(text: &[u8]) -> Option<RestoredName> {
    let spelling = NUL_SPELLINGS.into_iter().find(|spelling| text.starts_with(spelling))?;
    let end = memchr::memchr(b'"', &text[..text.len().min(MAX_NAME_LEN)])?;
    let rest = &text[spelling.len()..end];
    let offset = memchr::memmem::find(rest, spelling)?;
    let (owner, name) = (&rest[..offset], &rest[offset + spelling.len()..]);
    (is_owner(owner) && is_property(name)).then(|| RestoredName {
        name: mangle_name(owner, name),
        len: end,
        owner: owner.len(),
        nuls: Nuls::Spelled,
    })
}

/// Returns the name of a property with the owner that its visibility needs.
pub(super) fn mangle_name(owner: &[u8], name: &[u8]) -> Vec<u8> {
    [b"\0", owner, b"\0", name].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_told_apart_from_its_property() {
        let classes = Classes::from_text(br#"O:3:"App":1:{O:7:"AppUser":0:{}O:4:"Base":0:{}"#);
        let restored = |key: &[u8], class: &[u8]| {
            let restored = restore_lost(key, key.len() as u64, key.len() as u64 + 2, Some(class), &classes)?;
            Some(String::from_utf8(restored.name).unwrap().replace('\0', "|"))
        };
        assert_eq!(restored(b"*name", b"App").as_deref(), Some("|*|name"));
        assert_eq!(restored(b"Appname", b"App").as_deref(), Some("|App|name"));
        assert_eq!(restored(b"Basename", b"App").as_deref(), Some("|Base|name"));
        assert_eq!(restored(b"AppUsername", b"AppUser").as_deref(), Some("|AppUser|name"));
        // It may be either of two classes.
        assert_eq!(restored(b"AppUserName", b"AppUser"), None);
        assert_eq!(restored(b"Othername", b"App"), None);
        // The parent is not in the text, but a property of the same name is known.
        let classes = Classes::from_text(br#"O:3:"App":2:{s:9:"Appname";i:1;s:10:"Basename";i:2;}"#);
        let guessed = restore_lost(b"Basename", 8, 10, Some(b"App"), &classes).unwrap();
        assert_eq!((&guessed.name[..], guessed.nuls), (&b"\0Base\0name"[..], Nuls::LostWithClass));
        assert_eq!(restored(b"*", b"App"), None);
        assert!(restore_lost(b"*name", 5, 8, None, &classes).is_none());
        assert!(restore_blank(b" * name").is_some() && restore_blank(b"? what?").is_none());
        assert!(restore_blank(b" A\\B name").is_some_and(|restored| restored.name == b"\0A\\B\0name"));
    }
}
