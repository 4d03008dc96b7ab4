//! Translates names of classes and members between languages.

use super::{Document, Form, IS_KEY, KEY_NODE, Kind, Node, Tape};
use crate::losses::{LossKind, Losses};
use std::borrow::Cow;
use std::collections::HashMap;

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

/// The name of a property without the prefix for its visibility; `None` if it has
/// none.
pub(crate) fn unmangled(name: &[u8]) -> Option<&[u8]> {
    Visibility::of(name).map(|(_, name)| name)
}

/// The document with the names that the target has, and what that loses too. An
/// error if it has them already. Nodes keep their places.
pub(crate) fn renamed<'d>(
    document: &'d Document<'_>,
    naming: Naming,
    losses: Losses,
) -> Result<(Document<'d>, Losses), Losses> {
    let tape = document.tape();
    let has_members =
        naming.drops_sigils() && tape.keys().any_symbol() || naming.drops_visibility() && tape.keys().any_mangled();
    let has_classes = tape.classes().any_qualified() && matches!(naming, Naming::Php | Naming::Ruby);
    // A struct's members have no sigil, so the writer must not give them one.
    let may_have_structs = naming == Naming::Ruby && !tape.classes().is_empty();
    if !has_members && !has_classes && !may_have_structs {
        return Err(losses);
    }
    let mut renamer = Renamer { document, naming, tape: Cow::Borrowed(tape), losses };
    for at in 0..tape.len() {
        let node = &tape.nodes[at as usize];
        if has_classes && matches!(node.kind, Kind::Object | Kind::Opaque | Kind::Attrs) {
            renamer.class(at, node);
        }
        let is_struct = may_have_structs && node.form() == Form::Struct && !begins_with_symbol(tape, at + 2);
        if (has_members || is_struct) && node.kind == Kind::Object {
            renamer.members(at + 1, is_struct);
        }
    }
    match renamer.tape {
        Cow::Borrowed(_) => Err(renamer.losses),
        Cow::Owned(tape) => Ok((Document::from_tape(Cow::Borrowed(document.input()), tape), renamer.losses)),
    }
}

/// Whether the member at `at` is called by a symbol, as all are in Ruby.
fn begins_with_symbol(tape: &Tape, at: u32) -> bool {
    let id = tape.nodes().get(at as usize).map_or(0, |node| u32::from(node.key));
    tape.keys().get(id).is_some_and(|name| name.node.kind == Kind::Symbol)
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
        let Some(map) = document.nodes().get(body as usize).filter(|node| node.kind == Kind::Map) else { return };
        let end = if map.end() == 0 { document.tape().len() } else { map.end() };
        let members = members_of(document, body + 1, end);
        // Whose a name without marks is: another member may not get it. Where all have a
        // sigil, as is usual in Ruby, they are as different as before.
        let has_sigil = |member: &Member<'_>| member.key.kind == Kind::Symbol && member.name.starts_with(b"@");
        let is_mixed = !members.iter().all(has_sigil);
        let is_marked = |member: &Member<'_>| has_sigil(member) || unmangled(member.name).is_some();
        let mut taken: HashMap<&[u8], &[u8]> = HashMap::new();
        if is_mixed {
            taken.extend(members.iter().filter(|member| !is_marked(member)).map(|member| (member.name, member.name)));
        }
        for member in &members {
            if is_struct && matches!(member.key.kind, Kind::Bytes | Kind::Text) {
                self.rename(member, Kind::Symbol, member.name);
            } else if let Some((bare, had_visibility)) = self.bare(member)
                && (!is_mixed || !is_marked(member) || *taken.entry(bare).or_insert(member.name) == member.name)
            {
                let is_bytes = bare.is_ascii() || std::str::from_utf8(bare).is_err();
                let kind = match member.key.kind {
                    Kind::Symbol if is_bytes => Kind::Bytes,
                    Kind::Symbol => Kind::Text,
                    kind => kind,
                };
                self.rename(member, kind, bare);
                if had_visibility {
                    self.losses.add(LossKind::Visibility, || document.path(member.value));
                }
            }
        }
    }

    /// The name of a member without the marks that the target lacks, and whether
    /// one of them was a visibility.
    fn bare<'n>(&self, member: &Member<'n>) -> Option<(&'n [u8], bool)> {
        let name = member.name;
        match member.key.kind {
            Kind::Symbol if self.naming.drops_sigils() => Some((name.strip_prefix(b"@").unwrap_or(name), false)),
            Kind::Bytes | Kind::Text if self.naming.drops_visibility() => unmangled(name).map(|bare| (bare, true)),
            _ => None,
        }
    }

    /// Gives a member another name.
    fn rename(&mut self, member: &Member<'_>, kind: Kind, name: &[u8]) {
        let tape = self.tape.to_mut();
        if member.at == member.value {
            if let Some(id) = tape.intern_key(Node::leaf(kind, 0), name)
                && id != KEY_NODE
            {
                tape.set_key(member.at, id);
            }
            return;
        }
        let mut node = tape.owned(kind, name);
        let old = tape.nodes[member.at as usize];
        (node.key, node.flags) = (old.key, old.flags);
        tape.replace(member.at, node);
    }
}

/// A member of an object: its key, which stands at `at` or has an id in the value.
struct Member<'d> {
    key: Node,
    name: &'d [u8],
    at: u32,
    value: u32,
}

/// The members from `at` to `end`.
fn members_of<'d>(document: &'d Document<'_>, mut at: u32, end: u32) -> Vec<Member<'d>> {
    let (tape, nodes) = (document.tape(), document.nodes());
    let mut members = Vec::new();
    while at < end {
        let node = &nodes[at as usize];
        let (key, name, value) = if node.key == IS_KEY {
            (*node, if node.kind.has_bytes() { document.bytes(node) } else { &[][..] }, tape.next(at))
        } else {
            let Some(name) = tape.keys().get(u32::from(node.key)) else { break };
            (name.node, name.bytes, at)
        };
        members.push(Member { key, name, at, value });
        at = tape.next(value);
    }
    members
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
