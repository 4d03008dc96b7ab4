//! Translates names of classes and members between languages.

use super::{Document, Form, IS_KEY, KEY_NODE, Kind, Name, Node, Tape};
use crate::class_map::reserved::{self, Language};
use crate::losses::{LossKind, Losses};
use std::borrow::Cow;
use std::collections::HashMap;

/// How a language, or a format that belongs to no language, names classes and members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Classes `A::B`; members are any strings.
    Perl,
    /// Classes `A\B`; members are strings, and those that are not public are
    /// mangled: `\0*\0name`, `\0Class\0name`.
    Php,
    /// Classes `A::B`; members have no visibility. The writer itself makes
    /// instance variables of strings.
    Ruby,
    /// Members are strings without marks; class names are written unchanged. If a source has this naming, its
    /// language is unknown.
    #[default]
    Plain,
}

impl Naming {
    /// Returns `true` if Ruby's `@name` becomes `name`.
    fn drops_sigils(self) -> bool {
        self != Naming::Ruby
    }

    /// Returns `true` if PHP's mangled names lose their marks. In Perl they are ordinary names.
    fn drops_visibility(self) -> bool {
        matches!(self, Naming::Ruby | Naming::Plain)
    }

    /// Returns the language whose built-in classes have names that other classes must not get.
    fn class_language(self) -> Option<Language> {
        match self {
            Naming::Php => Some(Language::Php),
            Naming::Ruby => Some(Language::Ruby),
            Naming::Perl | Naming::Plain => None,
        }
    }

    /// Returns the name of the language whose classes the format has.
    pub(crate) fn language_name(self) -> Option<&'static str> {
        match self {
            Naming::Perl => Some("Perl"),
            Naming::Php => Some("PHP"),
            Naming::Ruby => Some("Ruby"),
            Naming::Plain => None,
        }
    }

    /// Returns the name of a class with the separators of the language, if that differs.
    pub(super) fn translate_separators(self, name: &[u8]) -> Option<Vec<u8>> {
        match self {
            Naming::Php => replace_separators(name, b"::", b"\\"),
            Naming::Ruby => replace_separators(name, b"\\", b"::"),
            Naming::Perl | Naming::Plain => None,
        }
    }
}

/// Marks the name of a class that the user gave: it is written unchanged.
pub(super) const GIVEN: u8 = super::flag::HINT;

/// Visibility of a PHP property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility<'n> {
    /// Its class and subclasses.
    Protected,
    /// Only this class.
    Private(&'n [u8]),
}

impl<'n> Visibility<'n> {
    /// Splits the name of a property into its visibility and the bare name; `None` if it is public.
    ///
    /// ```
    /// use icecore::value::Visibility;
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

/// Returns the name of a property without its visibility prefix; `None` if it has none.
pub(crate) fn strip_visibility(name: &[u8]) -> Option<&[u8]> {
    Visibility::of(name).map(|(_, name)| name)
}

/// Returns the document with the names that the target uses, and the losses including those of renaming. Returns `Err`
/// with the losses if nothing has to be renamed. Nodes keep their places.
pub(crate) fn rename_for_target<'d>(
    document: &'d Document<'_>,
    naming: Naming,
    losses: Losses,
) -> Result<(Document<'d>, Losses), Losses> {
    let tape = document.tape();
    let has_members = naming.drops_sigils() && tape.keys().may_have_symbol()
        || naming.drops_visibility() && tape.keys().may_have_mangled();
    let is_foreign = tape.naming != naming;
    let has_separators = tape.classes().has_qualified() && matches!(naming, Naming::Php | Naming::Ruby);
    let has_classes = has_separators || is_foreign && tape.classes().iter().any(|name| may_be_renamed(naming, name));
    // Members of a struct have no sigil, so the writer must not add one.
    let may_have_structs = naming == Naming::Ruby && !tape.classes().is_empty();
    if !has_members && !has_classes && !may_have_structs {
        return Err(losses);
    }
    let mut renamer = Renamer { document, naming, tape: Cow::Borrowed(tape), losses };
    for index in 0..tape.len() {
        let node = &tape.nodes[index as usize];
        if has_classes && matches!(node.kind, Kind::Object | Kind::Opaque | Kind::Attrs) {
            renamer.rename_class(index, node);
        }
        let is_struct = may_have_structs && node.form() == Form::Struct && !begins_with_symbol(tape, index + 2);
        if (has_members || is_struct) && node.kind == Kind::Object {
            renamer.rename_members(index + 1, is_struct);
        }
    }
    renamer.finish()
}

/// Does the same for a Ruby document into which values of PHP were put. Its own members are symbols, so only the new ones
/// have names of PHP. Spelling stays.
pub(crate) fn rename_foreign_members<'d>(document: &'d Document<'_>) -> Option<(Document<'d>, Losses)> {
    let tape = document.tape();
    if !tape.keys().may_have_mangled() {
        return None;
    }
    let mut renamer = Renamer { document, naming: Naming::Ruby, tape: Cow::Borrowed(tape), losses: Losses::default() };
    for index in 0..tape.len() {
        if tape.nodes[index as usize].kind == Kind::Object {
            renamer.rename_members(index + 1, false);
        }
    }
    let (mut renamed, losses) = renamer.finish().ok()?;
    renamed.set_spelling(document.spelling()?.clone());
    Some((renamed, losses))
}

impl Document<'_> {
    /// Returns the name of a class of another language with the separators of this document's language: `A\B` of PHP is
    /// `A::B` in a document of Ruby.
    pub fn class_in_own_language<'n>(&self, name: &'n [u8]) -> Cow<'n, [u8]> {
        self.tape().naming.translate_separators(name).map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// Returns `true` if a class has a name made by [`reserved::away`].
    pub(crate) fn has_moved_classes(&self) -> bool {
        let classes = self.tape().classes();
        classes.has_qualified() && classes.iter().any(|name| reserved::is_foreign_name(name.bytes))
    }
}

/// Returns `true` if this class of another language may get a new name that is more than a change of separators.
fn may_be_renamed(naming: Naming, name: Name<'_>) -> bool {
    let is_taken = |language| reserved::find_reserved(language, name.bytes).is_some();
    reserved::is_foreign_name(name.bytes) || naming.class_language().is_some_and(is_taken)
}

/// Returns `true` if the name of the member at `index` is a symbol, as all are in Ruby.
fn begins_with_symbol(tape: &Tape, index: u32) -> bool {
    let id = tape.nodes().get(index as usize).map_or(0, |node| u32::from(node.key));
    tape.keys().get(id).is_some_and(|name| name.node.kind == Kind::Symbol)
}

struct Renamer<'d> {
    document: &'d Document<'d>,
    naming: Naming,
    tape: Cow<'d, Tape>,
    losses: Losses,
}

impl<'d> Renamer<'d> {
    /// Returns the renamed document and the losses, or `Err` if nothing was renamed.
    fn finish(self) -> Result<(Document<'d>, Losses), Losses> {
        match self.tape {
            Cow::Borrowed(_) => Err(self.losses),
            Cow::Owned(tape) => Ok((Document::from_tape(Cow::Borrowed(self.document.input()), tape), self.losses)),
        }
    }

    fn rename_class(&mut self, index: u32, node: &Node) {
        let Some(name) = self.document.class_name(node.class()).filter(|name| !name.node.has(GIVEN)) else { return };
        let is_foreign = self.document.tape().naming != self.naming;
        let home = if is_foreign { reserved::from_foreign_name(name.bytes) } else { None };
        let mut new = home.map_or(Cow::Borrowed(name.bytes), |home| match self.naming {
            // No class of PHP itself has such a name, so `\` is only how PHP wrote the separators of another language.
            Naming::Perl | Naming::Plain => Cow::Owned(replace_separators(home, b"\\", b"::").unwrap_or(home.to_vec())),
            Naming::Php | Naming::Ruby => Cow::Borrowed(home),
        });
        if let Some(separated) = self.naming.translate_separators(&new) {
            new = Cow::Owned(separated);
        }
        if let Some(language) = self.naming.class_language().filter(|_| is_foreign && node.kind == Kind::Object)
            && let Some(requirements) = reserved::find_reserved(language, &new)
            && !self.meets_requirements(index, node, requirements)
        {
            new = Cow::Owned(reserved::to_foreign_name(language, &new));
            if *new != *name.bytes {
                self.losses.add(LossKind::Renamed, || self.document.path(index));
            }
        }
        if *new != *name.bytes
            && let Ok(id) = self.tape.to_mut().intern_class(name.node.kind, &new)
        {
            self.tape.to_mut().set_class(index, id);
        }
    }

    /// Returns `true` if the language accepts the object at `index` as one of its own class. An object whose body is
    /// not a map is written without a class.
    fn meets_requirements(&self, index: u32, node: &Node, requirements: &reserved::MemberRequirements) -> bool {
        let body = self.document.node(index + 1);
        if node.form() == Form::Struct || !matches!(body.kind, Kind::Map | Kind::Array) {
            return true;
        }
        if requirements.is_closed() {
            return false;
        }
        let members = match (body.kind, self.naming) {
            // PHP writes items as members with numbers; Ruby writes an array.
            (Kind::Array, Naming::Php) => items_as_members(self.document, index + 1),
            (Kind::Array, _) => return true,
            _ => collect_members(self.document, index + 2, self.document.tape().index_after(index + 1)),
        };
        let find = |wanted: &str| members.iter().find(|member| member.has_name(wanted));
        requirements.required.iter().all(|name| find(name).is_some())
            && requirements.typed.iter().all(|typed| {
                find(typed.name).is_none_or(|member| accepts_kind(self.document.node(member.value).kind, typed))
            })
    }

    /// Renames the members of an object whose body is at `body`.
    fn rename_members(&mut self, body: u32, is_struct: bool) {
        let document = self.document;
        let Some(map) = document.nodes().get(body as usize).filter(|node| node.kind == Kind::Map) else { return };
        let end = if map.end() == 0 { document.tape().len() } else { map.end() };
        let members = collect_members(document, body + 1, end);
        // A name without marks belongs to one member, and no other member may get it. If all members have a sigil, as
        // is usual in Ruby, their names stay as distinct as before.
        let has_sigil = |member: &Member<'_>| member.key.kind == Kind::Symbol && member.name.starts_with(b"@");
        let is_mixed = !members.iter().all(has_sigil);
        let is_marked = |member: &Member<'_>| has_sigil(member) || strip_visibility(member.name).is_some();
        let mut owners: HashMap<&[u8], &[u8]> = HashMap::new();
        if is_mixed {
            owners.extend(members.iter().filter(|member| !is_marked(member)).map(|member| (member.name, member.name)));
        }
        for member in &members {
            if is_struct && matches!(member.key.kind, Kind::Bytes | Kind::Text) {
                self.rename_member(member, Kind::Symbol, member.name);
            } else if let Some((bare, had_visibility)) = self.strip_marks(member)
                && (!is_mixed || !is_marked(member) || *owners.entry(bare).or_insert(member.name) == member.name)
            {
                let is_bytes = bare.is_ascii() || std::str::from_utf8(bare).is_err();
                let kind = match member.key.kind {
                    Kind::Symbol if is_bytes => Kind::Bytes,
                    Kind::Symbol => Kind::Text,
                    kind => kind,
                };
                self.rename_member(member, kind, bare);
                if had_visibility {
                    self.losses.add(LossKind::Visibility, || document.path(member.value));
                }
            }
        }
    }

    /// Returns the name of a member without the marks that the target lacks, and whether one of these was a visibility.
    fn strip_marks<'n>(&self, member: &Member<'n>) -> Option<(&'n [u8], bool)> {
        let name = member.name;
        match member.key.kind {
            Kind::Symbol if self.naming.drops_sigils() => Some((name.strip_prefix(b"@").unwrap_or(name), false)),
            Kind::Bytes | Kind::Text if self.naming.drops_visibility() => {
                strip_visibility(name).map(|bare| (bare, true))
            }
            _ => None,
        }
    }

    fn rename_member(&mut self, member: &Member<'_>, kind: Kind, name: &[u8]) {
        rename_member_on_tape(self.tape.to_mut(), member, kind, name);
    }
}

/// Renames a member.
pub(super) fn rename_member_on_tape(tape: &mut Tape, member: &Member<'_>, kind: Kind, name: &[u8]) {
    {
        if member.start == member.value {
            if let Some(id) = tape.intern_key(Node::leaf(kind, 0), name)
                && id != KEY_NODE
            {
                tape.set_key(member.start, id);
            }
            return;
        }
        let mut node = tape.new_owned_string(kind, name);
        let old = tape.nodes[member.start as usize];
        (node.key, node.flags) = (old.key, old.flags);
        tape.replace_node(member.start, node);
    }
}

/// Returns `true` if a property of this type accepts a value of this kind.
fn accepts_kind(kind: Kind, typed: &reserved::TypedMember) -> bool {
    match typed.type_name {
        _ if kind == Kind::Null => typed.allows_null,
        _ if kind.is_again() => true,
        "int" => matches!(kind, Kind::Int),
        "string" => kind.is_string(),
        "array" => matches!(kind, Kind::Array | Kind::Map),
        "bool" => kind == Kind::Bool,
        _ => matches!(kind, Kind::Object | Kind::Opaque),
    }
}

/// A member of an object: its key is the node at `start`, or an id in the value.
pub(super) struct Member<'d> {
    pub(super) key: Node,
    pub(super) name: &'d [u8],
    pub(super) start: u32,
    pub(super) value: u32,
}

impl Member<'_> {
    /// Returns `true` if the member has this name apart from the marks of its language.
    fn has_name(&self, wanted: &str) -> bool {
        match self.key.kind {
            Kind::Int => wanted.parse() == Ok(self.key.payload as i64),
            Kind::Symbol => self.name.strip_prefix(b"@").unwrap_or(self.name) == wanted.as_bytes(),
            _ => strip_visibility(self.name).unwrap_or(self.name) == wanted.as_bytes(),
        }
    }
}

/// Returns the items of the array at `index` as members with numbers.
fn items_as_members<'d>(document: &'d Document<'_>, index: u32) -> Vec<Member<'d>> {
    let (tape, end) = (document.tape(), document.tape().index_after(index));
    let items =
        std::iter::successors(Some(index + 1), |item| Some(tape.index_after(*item))).take_while(|item| *item < end);
    items
        .zip(0..)
        .map(|(item, position)| Member { key: Node::int(position), name: &[], start: item, value: item })
        .collect()
}

/// Returns the members from `index` to `end`.
pub(super) fn collect_members<'d>(document: &'d Document<'_>, mut index: u32, end: u32) -> Vec<Member<'d>> {
    let (tape, nodes) = (document.tape(), document.nodes());
    let mut members = Vec::new();
    while index < end {
        let node = &nodes[index as usize];
        let (key, name, value) = if node.key == IS_KEY {
            (*node, if node.kind.has_bytes() { document.bytes(node) } else { &[][..] }, tape.index_after(index))
        } else {
            let Some(name) = tape.keys().get(u32::from(node.key)) else { break };
            (name.node, name.bytes, index)
        };
        members.push(Member { key, name, start: index, value });
        index = tape.index_after(value);
    }
    members
}

fn replace_separators(name: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, after_first)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(from) {
            out.extend_from_slice(to);
            rest = after;
        } else {
            out.push(*first);
            rest = after_first;
        }
    }
    (out != name).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visibility_marks_are_stripped() {
        assert_eq!(strip_visibility(b"\0*\0name"), Some(&b"name"[..]));
        assert_eq!(strip_visibility(b"\0A\\B\0name"), Some(&b"name"[..]));
        assert_eq!(strip_visibility(b"name"), None);
        assert_eq!(strip_visibility(b"\0name"), None);
        assert_eq!(strip_visibility(b"\0\0name"), None);
    }

    #[test]
    fn separators_of_classes_are_translated() {
        assert_eq!(Naming::Ruby.translate_separators(b"A\\B\\C"), Some(b"A::B::C".to_vec()));
        assert_eq!(Naming::Php.translate_separators(b"A::B"), Some(b"A\\B".to_vec()));
        assert_eq!(Naming::Php.translate_separators(b"A:B"), None);
        assert_eq!(Naming::Perl.translate_separators(b"A\\B"), None);
    }
}
