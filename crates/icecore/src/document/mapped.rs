//! Renames classes as a class map says.

use super::naming::{GIVEN, Naming, Visibility, collect_members, rename_member_on_tape};
use super::{Document, Form, Kind, Node, Tape};
use crate::class_map::ClassMap;
use crate::error::Error;
use std::borrow::Cow;

/// Returns the new name of a class, if it gets one.
type Rename<'m> = &'m dyn Fn(&[u8]) -> Option<Vec<u8>>;

impl Document<'_> {
    /// Returns the same document with its classes renamed. These are the classes of objects, of values that name a
    /// class, of enum cases and of private properties. Writers use the new names unchanged. Payloads that only their
    /// own class understands are not searched.
    ///
    /// ```
    /// use icecore::ClassMap;
    /// let document = icecore::read(b"O:3:\"Old\":1:{s:6:\"\0Old\0a\";i:1;}")?;
    /// let renamed = document.with_class_map(&ClassMap::parse("Old=App\\New")?)?;
    /// assert_eq!(icecore::write(&renamed, "php")?, b"O:7:\"App\\New\":1:{s:10:\"\0App\\New\0a\";i:1;}");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Limit`, if there are more classes than a document may have.
    pub fn with_class_map<'d>(&'d self, map: &ClassMap) -> Result<Cow<'d, Document<'d>>, Error> {
        self.map_class_names(map, Naming::Plain)
    }

    /// Like [`Document::with_class_map`], but the new names get the separators of a language.
    pub(crate) fn map_class_names<'d>(
        &'d self,
        map: &ClassMap,
        naming: Naming,
    ) -> Result<Cow<'d, Document<'d>>, Error> {
        if map.is_empty() {
            return Ok(Cow::Borrowed(self));
        }
        let map: Rename<'_> = &|name| map.rename(name).map(|new| naming.translate_separators(&new).unwrap_or(new));
        let mut tape = Cow::Borrowed(self.tape());
        for index in 0..self.tape().len() {
            let node = self.tape().nodes()[index as usize];
            match node.kind {
                Kind::Object | Kind::Opaque | Kind::Attrs => self.map_class(map, index, &node, &mut tape)?,
                Kind::Module if node.form() != Form::Variable => {
                    if let Some(name) = map(self.bytes(&node)) {
                        replace_name(&mut tape, index, &node, &name);
                    }
                }
                Kind::EnumCase => {
                    if let Some((class, case)) = split_case(self.bytes(&node))
                        && let Some(name) = map(class)
                    {
                        replace_name(&mut tape, index, &node, &[&name, case].concat());
                    }
                }
                _ => {}
            }
            if node.kind == Kind::Object {
                self.map_private(map, index + 1, &mut tape);
            }
        }
        Ok(match tape {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(tape) => Cow::Owned(self.with_tape(tape)),
        })
    }

    fn map_class(&self, map: Rename<'_>, index: u32, node: &Node, tape: &mut Cow<'_, Tape>) -> Result<(), Error> {
        let Some(name) = self.class_name(node.class()).filter(|name| !name.node.has(GIVEN)) else { return Ok(()) };
        let Some(new) = map(name.bytes) else { return Ok(()) };
        let id = tape.to_mut().intern_given_class(name.node.kind, &new)?;
        tape.to_mut().set_class(index, id);
        Ok(())
    }

    /// Renames the classes in the names of private properties of the map at `body`.
    fn map_private(&self, map: Rename<'_>, body: u32, tape: &mut Cow<'_, Tape>) {
        if self.node(body).kind != Kind::Map || !self.tape().keys().may_have_mangled() {
            return;
        }
        for member in collect_members(self, body + 1, self.tape().index_after(body)) {
            if let Some((Visibility::Private(class), bare)) = Visibility::of(member.name)
                && let Some(new) = map(class)
            {
                rename_member_on_tape(tape.to_mut(), &member, member.key.kind, &[b"\0", &*new, b"\0", bare].concat());
            }
        }
    }
}

impl Tape {
    /// Returns the id of a class name that writers use unchanged.
    pub(crate) fn intern_given_class(&mut self, kind: Kind, name: &[u8]) -> Result<u32, Error> {
        self.intern_class_node(Node::leaf(kind, 0).with(GIVEN), name)
    }

    /// Turns the names that a map gave into ordinary names of the document.
    ///
    /// # Errors
    /// Of kind `Limit`, if there are more classes than a document may have.
    pub(crate) fn own_given_classes(&mut self) -> Result<(), Error> {
        for index in 0..self.len() {
            let node = self.node(index);
            if !node.kind.has_class() {
                continue;
            }
            let Some(name) = self.classes.get(node.class()).filter(|name| name.node.has(GIVEN)) else { continue };
            let (kind, bytes) = (name.node.kind, name.bytes.to_vec());
            let own = self.intern_class(kind, &bytes)?;
            self.set_class(index, own);
        }
        Ok(())
    }
}

/// Replaces the name at `index`.
fn replace_name(tape: &mut Cow<'_, Tape>, index: u32, old: &Node, name: &[u8]) {
    let tape = tape.to_mut();
    let mut node = tape.new_owned_string(old.kind, name).in_form(old.form());
    (node.key, node.flags) = (old.key, old.flags);
    tape.replace_node(index, node);
}

/// Splits the name of an enum case: the class, and the rest from the colon on.
fn split_case(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    Some(bytes.split_at(colon))
}
