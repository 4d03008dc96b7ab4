//! The names of classes and of objects' members as another language has them.

use super::{Document, Form, IS_KEY, KEY_NODE, Kind, Node, Tape};
use crate::output::{LossKind, Losses};
use std::borrow::Cow;
use std::collections::HashSet;

/// How a target names classes and members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Classes `A::B`; members are any strings.
    Perl,
    /// Classes `A\B`; members are strings, and those that are not public are
    /// mangled: `\0*\0name`, `\0Class\0name`.
    Php,
    /// Classes `A::B`; members have no visibility. The writer itself makes
    /// instance variables of strings.
    Ruby,
    /// Members are strings without marks; a class is written as it is.
    Plain,
}

impl Naming {
    /// Ruby's `@name` is `name` here.
    fn drops_sigils(self) -> bool {
        self != Naming::Ruby
    }

    /// PHP's mangled names are bare here. In Perl they are names like others.
    fn drops_visibility(self) -> bool {
        matches!(self, Naming::Ruby | Naming::Plain)
    }

    fn class(self, name: &[u8]) -> Option<Vec<u8>> {
        match self {
            Naming::Php => replaced(name, b"::", b"\\"),
            Naming::Ruby => replaced(name, b"\\", b"::"),
            Naming::Perl | Naming::Plain => None,
        }
    }
}

/// Who may see a property of PHP's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility<'n> {
    /// Its class and those below.
    Protected,
    /// This class alone.
    Private(&'n [u8]),
}

impl<'n> Visibility<'n> {
    /// What the name of a property says in front of the name itself; `None` if it
    /// is public.
    ///
    /// ```
    /// use icecore::Visibility;
    /// assert_eq!(Visibility::of(b"\0*\0name"), Some((Visibility::Protected, &b"name"[..])));
    /// assert_eq!(Visibility::of(b"\0User\0name"), Some((Visibility::Private(b"User"), &b"name"[..])));
    /// assert_eq!(Visibility::of(b"name"), None);
    /// ```
    ///
    /// Source: `zend_unmangle_property_name_ex` in PHP's `Zend/zend_compile.c`.
    pub fn of(name: &'n [u8]) -> Option<(Visibility<'n>, &'n [u8])> {
        let rest = name.strip_prefix(b"\0")?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        match &rest[..end] {
            b"" => None,
            b"*" => Some((Visibility::Protected, &rest[end + 1..])),
            class => Some((Visibility::Private(class), &rest[end + 1..])),
        }
    }
}

/// The name of a property without what says who may see it; `None` if it says
/// nothing.
pub(crate) fn unmangled(name: &[u8]) -> Option<&[u8]> {
    Visibility::of(name).map(|(_, name)| name)
}

/// The document with the names that the target has, and what that loses. `None`
/// if it has them already. Nodes keep their places.
pub(crate) fn renamed<'d>(document: &'d Document<'_>, naming: Naming) -> Option<(Document<'d>, Losses)> {
    let tape = document.tape();
    let has_members = tape.keys().any_member();
    let has_classes = tape.classes().any_qualified() && matches!(naming, Naming::Php | Naming::Ruby);
    // A struct's members have no sigil, so the writer must not give them one.
    let may_have_structs = naming == Naming::Ruby && !tape.classes().is_empty();
    if !has_members && !has_classes && !may_have_structs {
        return None;
    }
    let mut renamer = Renamer { document, naming, tape: Cow::Borrowed(tape), losses: Losses::default() };
    for at in 0..tape.len() {
        let node = &tape.nodes[at as usize];
        if has_classes && matches!(node.kind, Kind::Object | Kind::Opaque | Kind::Attrs) {
            renamer.class(at, node);
        }
        let is_struct = may_have_structs && node.form() == Form::Struct;
        if (has_members || is_struct) && node.kind == Kind::Object {
            renamer.members(at + 1, is_struct);
        }
    }
    match renamer.tape {
        Cow::Borrowed(_) => None,
        Cow::Owned(tape) => Some((Document::from_tape(Cow::Borrowed(document.input()), tape), renamer.losses)),
    }
}

struct Renamer<'d> {
    document: &'d Document<'d>,
    naming: Naming,
    tape: Cow<'d, Tape>,
    losses: Losses,
}

impl Renamer<'_> {
    fn class(&mut self, at: u32, node: &Node) {
        let Some(name) = self.document.class(node.class()) else { return };
        let Some(new) = self.naming.class(name.bytes) else { return };
        if let Ok(id) = self.tape.to_mut().intern_class(name.node.kind, &new) {
            self.tape.to_mut().set_class(at, id);
        }
    }

    /// The members of an object whose body is at `body`.
    fn members(&mut self, body: u32, is_struct: bool) {
        let document = self.document;
        let (tape, nodes) = (document.tape(), document.nodes());
        let Some(map) = nodes.get(body as usize).filter(|node| node.kind == Kind::Map) else { return };
        let mut taken: Option<HashSet<Vec<u8>>> = None;
        let end = if map.end() == 0 { tape.len() } else { map.end() };
        let mut at = body + 1;
        while at < end {
            let node = &nodes[at as usize];
            let (key, bytes, value) = if node.key == IS_KEY {
                (*node, if node.kind.has_bytes() { document.bytes(node) } else { &[] }, tape.next(at))
            } else {
                let Some(name) = tape.keys().get(u32::from(node.key)) else { return };
                (name.node, name.bytes, at)
            };
            if is_struct && matches!(key.kind, Kind::Bytes | Kind::Text) {
                self.rename(at, value, Kind::Symbol, bytes);
            } else if let Some((bare, had_visibility)) = self.bare(&key, bytes) {
                let taken = taken.get_or_insert_with(|| names_in(document, body + 1, end));
                // Two private properties of one name: the second keeps its mark.
                if !had_visibility || taken.insert(bare.to_vec()) {
                    let kind =
                        if bare.is_ascii() || std::str::from_utf8(bare).is_err() { Kind::Bytes } else { Kind::Text };
                    let kind = if key.kind == Kind::Symbol { kind } else { key.kind };
                    self.rename(at, value, kind, bare);
                    if had_visibility {
                        self.losses.add(LossKind::Visibility, || document.path(value));
                    }
                }
            }
            at = tape.next(value);
        }
    }

    /// The name of a member without the marks that the target lacks, and whether
    /// one of them was a visibility.
    fn bare<'n>(&self, key: &Node, bytes: &'n [u8]) -> Option<(&'n [u8], bool)> {
        match key.kind {
            Kind::Symbol if self.naming.drops_sigils() => Some((bytes.strip_prefix(b"@").unwrap_or(bytes), false)),
            Kind::Bytes | Kind::Text if self.naming.drops_visibility() => unmangled(bytes).map(|bare| (bare, true)),
            _ => None,
        }
    }

    /// Gives the key that stands at `at`, or has an id in the value, a name.
    fn rename(&mut self, at: u32, value: u32, kind: Kind, name: &[u8]) {
        let tape = self.tape.to_mut();
        if at == value {
            if let Some(id) = tape.intern_key(Node::leaf(kind, 0), name)
                && id != KEY_NODE
            {
                tape.set_key(at, id);
            }
            return;
        }
        let mut node = tape.owned(kind, name);
        let old = tape.nodes[at as usize];
        (node.key, node.flags) = (old.key, old.flags);
        tape.replace(at, node);
    }
}

/// The names of members that have no marks.
fn names_in(document: &Document<'_>, mut at: u32, end: u32) -> HashSet<Vec<u8>> {
    let (tape, nodes) = (document.tape(), document.nodes());
    let mut names = HashSet::new();
    while at < end {
        let node = &nodes[at as usize];
        let mut value = at;
        let mut bytes: &[u8] = &[];
        if node.key == IS_KEY {
            value = tape.next(at);
            if node.kind.has_bytes() {
                bytes = document.bytes(node);
            }
        } else if let Some(name) = tape.keys().get(u32::from(node.key)) {
            bytes = name.bytes;
        }
        names.insert(bytes.to_vec());
        at = tape.next(value);
    }
    names
}

fn replaced(name: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, behind)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(from) {
            out.extend_from_slice(to);
            rest = behind;
        } else {
            out.push(*first);
            rest = behind;
        }
    }
    (out != name).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_properties() {
        assert_eq!(unmangled(b"\0*\0name"), Some(&b"name"[..]));
        assert_eq!(unmangled(b"\0A\\B\0name"), Some(&b"name"[..]));
        assert_eq!(unmangled(b"name"), None);
        assert_eq!(unmangled(b"\0name"), None);
        assert_eq!(unmangled(b"\0\0name"), None);
    }

    #[test]
    fn separators_of_classes() {
        assert_eq!(Naming::Ruby.class(b"A\\B\\C"), Some(b"A::B::C".to_vec()));
        assert_eq!(Naming::Php.class(b"A::B"), Some(b"A\\B".to_vec()));
        assert_eq!(Naming::Php.class(b"A:B"), None);
        assert_eq!(Naming::Perl.class(b"A\\B"), None);
    }
}
