//! Writes the names of classes, and the numbers that replace them.

use super::spelling::value as code;
use super::tag;
use super::write::Writer;
use crate::error::Error;

impl Writer<'_> {
    pub(super) fn bless(&mut self, at: u32, class: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let form = self.note(at, code::CLASS).unwrap_or(0);
        let name = self.document.class(class).map_or(&b""[..], |name| name.bytes);
        self.bless_as(class, name, form, buf)
    }

    /// Writes a class. `form` is its note, 0 for the default form.
    pub(super) fn bless_as(&mut self, class: u32, name: &[u8], form: u64, buf: &mut Vec<u8>) -> Result<(), Error> {
        let long = form & 2 != 0;
        let next = self.classes.len() as u32;
        let known = self.known_class(class, form);
        let number = match known {
            Some(number) => {
                buf.push(tag::IX_BLESS);
                number
            }
            None => {
                buf.push(tag::BLESS);
                self.fits(name.len())?
            }
        };
        match u8::try_from(number) {
            Ok(number) if number <= 0x7F && !long => buf.push(number),
            _ => {
                buf.push(0x80 | (form >> 2) as u8 & 0x7F);
                self.n32(number, buf);
            }
        }
        if known.is_none() {
            buf.extend_from_slice(name);
            self.new_class(class, next);
        }
        Ok(())
    }

    /// Returns the number that replaces a class, if it has one. `form` is its note.
    pub(super) fn known_class(&self, class: u32, form: u64) -> Option<u32> {
        let first = self.classes.get(&class).copied().filter(|_| form & 1 == 0)?;
        let other = u32::try_from(form >> 16).ok().and_then(|form| form.checked_sub(1));
        Some(other.filter(|number| self.again.get(number) == Some(&class)).unwrap_or(first))
    }

    /// Gives a class its number. A class that is given by name again takes another
    /// number, which is seldom referred to.
    pub(super) fn new_class(&mut self, class: u32, number: u32) {
        let spare = u32::MAX - number;
        let is_known = self.classes.contains_key(&class);
        if is_known {
            self.again.insert(number, class);
        }
        self.classes.insert(if is_known { spare } else { class }, number);
    }

    /// Returns the id of the class for regexps, which a document may not contain.
    pub(super) fn regexp_class(&self) -> u32 {
        let names = self.document.tape().classes();
        (1..).zip(names.iter()).find(|(_, name)| name.bytes == b"Regexp").map_or(u32::MAX / 2, |(id, _)| id)
    }
}
