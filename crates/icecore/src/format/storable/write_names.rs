//! Writes the names of classes, and the numbers that replace them.

use super::spelling::value as code;
use super::tag;
use super::write::Writer;
use crate::error::Error;

impl Writer<'_> {
    pub(super) fn write_class(&mut self, index: u32, class: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let form = self.note(index, code::CLASS).unwrap_or(0);
        let name = self.document.class_name(class).map_or(&b""[..], |name| name.bytes);
        self.write_class_as(class, name, form, buf)
    }

    /// Writes a class. `form` is the value of its note [`code::CLASS`]; 0 is the default form.
    pub(super) fn write_class_as(
        &mut self,
        class: u32,
        name: &[u8],
        form: u64,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let long = form & 2 != 0;
        let next = self.classes.len() as u32;
        let known = self.class_number(class, form);
        let number = match known {
            Some(number) => {
                buf.push(tag::IX_BLESS);
                number
            }
            None => {
                buf.push(tag::BLESS);
                self.check_length(name.len())?
            }
        };
        match u8::try_from(number) {
            Ok(number) if number <= 0x7F && !long => buf.push(number),
            _ => {
                buf.push(0x80 | (form >> 2) as u8 & 0x7F);
                self.push_u32(number, buf);
            }
        }
        if known.is_none() {
            buf.extend_from_slice(name);
            self.assign_class_number(class, next);
        }
        Ok(())
    }

    /// Returns the number that replaces a class, if it has one. `form` is its note.
    pub(super) fn class_number(&self, class: u32, form: u64) -> Option<u32> {
        let first = self.classes.get(&class).copied().filter(|_| form & 1 == 0)?;
        let renumbered = u32::try_from(form >> 16).ok().and_then(|form| form.checked_sub(1));
        Some(renumbered.filter(|number| self.renumbered_classes.get(number) == Some(&class)).unwrap_or(first))
    }

    /// Assigns a number to a class. A class that is given by name again takes another number,
    /// which is seldom referred to.
    pub(super) fn assign_class_number(&mut self, class: u32, number: u32) {
        let spare = u32::MAX - number;
        let is_known = self.classes.contains_key(&class);
        if is_known {
            self.renumbered_classes.insert(number, class);
        }
        self.classes.insert(if is_known { spare } else { class }, number);
    }

    /// Returns the id of the class for regexps; a document may not contain that class.
    pub(super) fn regexp_class(&self) -> u32 {
        let names = self.document.tape().classes();
        (1..).zip(names.iter()).find(|(_, name)| name.bytes == b"Regexp").map_or(u32::MAX / 2, |(id, _)| id)
    }
}
