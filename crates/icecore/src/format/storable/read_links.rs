//! Reads back-references and classes.

use super::numbers::NumberedValue;
use super::read::{Machine, Prefix};
use super::spelling::value as code;
use super::tag;
use crate::document::{Form, Kind, NO_KEY, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};

impl<S: Sink, const FAST: bool> Machine<'_, '_, S, FAST> {
    /// Ensures that the table of numbers is built before a record whose numbers do not
    /// follow from the tape.
    pub(super) fn ensure_numbers(&mut self, prefix: &Prefix) {
        if !self.numbers.is_built() {
            self.numbers.build(self.sink.tape());
            if prefix.flags & flag::REF != 0 && !prefix.has_implied_reference {
                let next = self.sink.next_node();
                self.numbers.assign_next(NumberedValue::Variable(next));
            }
        }
    }

    pub(super) fn read_back_reference(&mut self, start: usize, prefix: Prefix) -> Result<(), Error> {
        let number_start = self.scan.offset;
        let number = u32::from_be_bytes(self.scan.read_array("an object number")?);
        self.record_piece(number_start, prefix.first_node, "object number");
        self.push_back_reference(u64::from(number), start, prefix)
    }

    pub(super) fn push_back_reference(&mut self, number: u64, start: usize, mut prefix: Prefix) -> Result<(), Error> {
        if prefix.class.is_some() {
            return Err(self.malformed_error(start, "a value after the class", "a back-reference"));
        }
        if !self.sink.has_all_nodes() {
            return Err(Error::new(ErrorKind::BadLink).at(start));
        }
        self.ensure_numbers(&prefix);
        let (kind, target) = self.resolve_number(number, start, prefix.flags & flag::REF != 0)?;
        if kind == Kind::Alias && prefix.flags & flag::REF != 0 {
            self.push_wrapper(Node::open(Kind::Ref, 0).with(prefix.flags), &mut prefix)?;
            prefix.flags = 0;
        }
        let flags = if kind == Kind::Link { prefix.flags } else { 0 };
        let link = self.sink.tape().push(Node::leaf(kind, u64::from(target)).with(flags));
        self.sink.tape().mark_target(target);
        if S::DETAIL && kind == Kind::Link && flags & flag::REF == 0 {
            self.sink.record_note(link, code::BARE, 1);
        }
        self.sink.record_begin(link, prefix.start);
        self.record_end(link);
        self.attach_notes(link);
        self.close_wrappers(link, prefix.wrapper_count);
        Ok(())
    }

    /// Returns the node with this number, and whether it is a referent (`Link`) or a
    /// variable (`Alias`). `is_referred` states whether a reference to it was read.
    pub(super) fn resolve_number(
        &mut self,
        number: u64,
        start: usize,
        is_referred: bool,
    ) -> Result<(Kind, u32), Error> {
        let target = match self.numbers.get(number) {
            Some(NumberedValue::Referent(target)) => return Ok((Kind::Link, target)),
            Some(NumberedValue::Variable(target)) => target,
            Some(NumberedValue::Key) => {
                return Err(Error::new(ErrorKind::BadLink)
                    .at(start)
                    .expecting("the number of a value")
                    .finding(format!("{number}, which a key has")));
            }
            None => {
                return Err(Error::new(ErrorKind::BadLink)
                    .at(start)
                    .expecting(match self.numbers.len() {
                        0 => "a value: there is no earlier one to refer to".to_owned(),
                        n => format!("the number of an object before this one, 0 to {}", n - 1),
                    })
                    .finding(number.to_string()));
            }
        };
        // The value of an absent key is perl's own undef. Storable never refers to it by a number.
        if self.node_at(target).is_some_and(|node| node.kind == Kind::Hole && node.key != NO_KEY) {
            return Err(Error::new(ErrorKind::BadLink)
                .at(start)
                .expecting("the number of an existing value")
                .finding(format!("{number}, which an absent key has")));
        }
        let form = |back: u32, kind: Kind, form: Form| {
            target.checked_sub(back).is_some_and(|index| {
                self.node_at(index)
                    .is_some_and(|node| node.kind == kind && (kind != Kind::Object || node.form() == form))
            })
        };
        // The target is a blessed scalar. Its object is two nodes before it, because the reference is in between.
        if is_referred && form(1, Kind::Ref, Form::Usual) && form(2, Kind::Object, Form::Usual) {
            return Ok((Kind::Link, target - 2));
        }
        if form(1, Kind::Object, Form::Variable) {
            return Ok((Kind::Alias, target - 1));
        }
        Ok((Kind::Alias, target))
    }

    /// Reads the class after `BLESS` or `IX_BLESS`.
    pub(super) fn read_class(&mut self, tag: u8, node: u32) -> Result<u32, Error> {
        let start = self.scan.offset;
        let short = self.scan.read_u8("a class")?;
        let number = if short & 0x80 != 0 { self.read_u32("a class")? } else { u32::from(short) };
        if tag == tag::IX_BLESS {
            self.record_piece(start, node, "class number");
            if S::DETAIL {
                let form = long_form_note(short, number) | self.other_number_note(number);
                self.pending_class_note = Some(form).filter(|form| *form != 0);
            }
            return self.class_by_number(number, start);
        }
        self.record_piece(start, node, "class length");
        let name_start = self.scan.offset;
        let class = self.read_class_name(number)?;
        self.record_piece(name_start, node, "class name");
        self.note_class(class, long_form_note(short, number));
        self.assign_class_number(class);
        Ok(class)
    }

    pub(super) fn class_by_number(&mut self, number: u32, offset: usize) -> Result<u32, Error> {
        self.classes.get(number as usize).copied().ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .at(offset)
                .expecting(match self.classes.len() {
                    0 => "a class name: no class has a number yet".to_owned(),
                    n => format!("the number of a class before this one, 0 to {}", n - 1),
                })
                .finding(number.to_string())
        })
    }

    pub(super) fn read_class_name(&mut self, len: u32) -> Result<u32, Error> {
        let start = self.scan.offset;
        if u64::from(len) > self.limits.string {
            return Err(self.limits.too_long(u64::from(len)).at(start));
        }
        let name = self.scan.read_bytes(len as usize, "a class name")?;
        self.sink.tape().intern_class(Kind::Bytes, name).map_err(|error| error.at(start))
    }

    /// Records a note for a class given by name: bit 0 means that it already had a number, the other
    /// bits are those of [`long_form_note`].
    pub(super) fn note_class(&mut self, class: u32, long: u64) {
        if S::DETAIL {
            let form = u64::from(self.first_numbers.contains_key(&class)) | long;
            self.pending_class_note = Some(form).filter(|form| *form != 0);
        }
    }

    /// Assigns the next number to a class.
    pub(super) fn assign_class_number(&mut self, class: u32) {
        if S::DETAIL {
            self.first_numbers.entry(class).or_insert(self.classes.len() as u32);
        }
        self.classes.push(class);
    }

    /// Returns the note for a class given by a number that is not its first.
    pub(super) fn other_number_note(&self, number: u32) -> u64 {
        let first = self.classes.get(number as usize).and_then(|class| self.first_numbers.get(class));
        if first == Some(&number) { 0 } else { (u64::from(number) + 1) << 16 }
    }
}

/// Returns the note for a length or number in 32 bits, which the byte `short`
/// announced. Bit 1 means that a byte would have been enough; the bits above are the
/// bits of `short` that are ignored.
fn long_form_note(short: u8, number: u32) -> u64 {
    match short & 0x80 {
        0 => 0,
        _ => u64::from(number <= 0x7F) << 1 | u64::from(short & 0x7F) << 2,
    }
}
