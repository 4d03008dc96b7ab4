//! Reads back-references and classes.

use super::numbers::Numbered;
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
            if prefix.flags & flag::REF != 0 && !prefix.implied {
                let next = self.sink.next_node();
                self.numbers.give(Numbered::Variable(next));
            }
        }
    }

    pub(super) fn back_reference(&mut self, start: usize, prefix: Prefix) -> Result<(), Error> {
        let at = self.scan.at;
        let number = u32::from_be_bytes(self.scan.array("an object number")?);
        self.piece(at, prefix.first, "object number");
        self.refer(u64::from(number), start, prefix)
    }

    pub(super) fn refer(&mut self, number: u64, start: usize, mut prefix: Prefix) -> Result<(), Error> {
        if prefix.class.is_some() {
            return Err(self.malformed(start, "a value after the class", "a back-reference"));
        }
        if !self.sink.is_whole() {
            return Err(Error::new(ErrorKind::BadLink).at(start));
        }
        self.ensure_numbers(&prefix);
        let (kind, target) = self.numbered(number, start, prefix.flags & flag::REF != 0)?;
        if kind == Kind::Alias && prefix.flags & flag::REF != 0 {
            self.wrap(Node::open(Kind::Ref, 0).with(prefix.flags), &mut prefix)?;
            prefix.flags = 0;
        }
        let flags = if kind == Kind::Link { prefix.flags } else { 0 };
        let at = self.sink.tape().push(Node::leaf(kind, u64::from(target)).with(flags));
        self.sink.tape().mark_target(target);
        if S::DETAIL && kind == Kind::Link && flags & flag::REF == 0 {
            self.sink.note(at, code::BARE, 1);
        }
        self.sink.begin(at, prefix.start);
        self.end(at);
        self.settle(at);
        self.close_wrappers(at, prefix.wraps);
        self.depth -= prefix.wraps;
        Ok(())
    }

    /// Returns the node with this number, and whether it is a referent (`Link`) or a
    /// variable (`Alias`). `referred`: a reference to it was read.
    pub(super) fn numbered(&mut self, number: u64, start: usize, referred: bool) -> Result<(Kind, u32), Error> {
        let target = match self.numbers.get(number) {
            Some(Numbered::Referent(target)) => return Ok((Kind::Link, target)),
            Some(Numbered::Variable(target)) => target,
            Some(Numbered::Key) => {
                return Err(Error::new(ErrorKind::BadLink)
                    .at(start)
                    .expecting("the number of a value")
                    .finding(format!("{number}, which a key has")));
            }
            None => {
                return Err(Error::new(ErrorKind::BadLink)
                    .at(start)
                    .expecting(match self.numbers.len() {
                        0 => "a value: there is none yet to refer back to".to_owned(),
                        n => format!("the number of an object before this one, 0 to {}", n - 1),
                    })
                    .finding(number.to_string()));
            }
        };
        // Storable's own absent values are perl's undef, which it never refers to by
        // number.
        if self.sink_node(target).is_some_and(|node| node.kind == Kind::Hole && node.key != NO_KEY) {
            return Err(Error::new(ErrorKind::BadLink)
                .at(start)
                .expecting("the number of a value that is there")
                .finding(format!("{number}, which an absent key has")));
        }
        let form = |back: u32, kind: Kind, form: Form| {
            target.checked_sub(back).is_some_and(|at| {
                self.sink_node(at)
                    .is_some_and(|node| node.kind == kind && (kind != Kind::Object || node.form() == form))
            })
        };
        // A blessed scalar: its object is two nodes before it.
        if referred && form(1, Kind::Ref, Form::Usual) && form(2, Kind::Object, Form::Usual) {
            return Ok((Kind::Link, target - 2));
        }
        if form(1, Kind::Object, Form::Variable) {
            return Ok((Kind::Alias, target - 1));
        }
        Ok((Kind::Alias, target))
    }

    /// Reads the class after `BLESS` or `IX_BLESS`.
    pub(super) fn bless(&mut self, tag: u8, node: u32) -> Result<u32, Error> {
        let at = self.scan.at;
        let short = self.scan.u8("a class")?;
        let number = if short & 0x80 != 0 { self.n32("a class")? } else { u32::from(short) };
        if tag == tag::IX_BLESS {
            self.piece(at, node, "class number");
            if S::DETAIL {
                let form = long_form(short, number) | self.other_number(number);
                self.pending_class = Some(form).filter(|form| *form != 0);
            }
            return self.known_class(number, at);
        }
        self.piece(at, node, "class length");
        let at = self.scan.at;
        let class = self.new_class(number)?;
        self.piece(at, node, "class name");
        self.class_note(class, long_form(short, number));
        self.give_class(class);
        Ok(class)
    }

    pub(super) fn known_class(&mut self, number: u32, at: usize) -> Result<u32, Error> {
        self.classes.get(number as usize).copied().ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .at(at)
                .expecting(match self.classes.len() {
                    0 => "a class name: no class has a number yet".to_owned(),
                    n => format!("the number of a class before this one, 0 to {}", n - 1),
                })
                .finding(number.to_string())
        })
    }

    pub(super) fn new_class(&mut self, len: u32) -> Result<u32, Error> {
        let at = self.scan.at;
        if u64::from(len) > self.limits.string {
            return Err(self.limits.too_long(u64::from(len)).at(at));
        }
        let name = self.scan.take(len as usize, "a class name")?;
        self.sink.tape().intern_class(Kind::Bytes, name).map_err(|error| error.at(at))
    }

    /// Notes a class given by name: bit 0 means that it already had a number, the other
    /// bits are those of [`long_form`].
    pub(super) fn class_note(&mut self, class: u32, long: u64) {
        if S::DETAIL {
            let form = u64::from(self.first_numbers.contains_key(&class)) | long;
            self.pending_class = Some(form).filter(|form| *form != 0);
        }
    }

    /// Gives a class the next number.
    pub(super) fn give_class(&mut self, class: u32) {
        if S::DETAIL {
            self.first_numbers.entry(class).or_insert(self.classes.len() as u32);
        }
        self.classes.push(class);
    }

    /// Returns the note for a class given by a number that is not its first.
    pub(super) fn other_number(&self, number: u32) -> u64 {
        let first = self.classes.get(number as usize).and_then(|class| self.first_numbers.get(class));
        if first == Some(&number) { 0 } else { (u64::from(number) + 1) << 16 }
    }
}

/// Returns the note for a length or number in 32 bits, which the byte `short`
/// announced. Bit 1 means that a byte would have been enough; the bits above are the
/// bits of `short` that are ignored.
fn long_form(short: u8, number: u32) -> u64 {
    match short & 0x80 {
        0 => 0,
        _ => u64::from(number <= 0x7F) << 1 | u64::from(short & 0x7F) << 2,
    }
}
