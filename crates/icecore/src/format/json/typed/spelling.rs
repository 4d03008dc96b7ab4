//! `$spelling`: the byte form, as data.

use super::read::{Reader, Wrong};
use super::write::Writer;
use crate::base64;
use crate::document::{Kind, Note, Spelling};
use crate::error::Error;
use crate::format;

impl Writer<'_, '_> {
    pub(super) fn spelling(&mut self, spelling: &Spelling) -> Result<(), Error> {
        self.open(b'{');
        self.entry("format")?;
        self.plain(spelling.format.as_bytes())?;
        self.entry("header")?;
        self.open(b'[');
        for (code, value) in &spelling.header {
            self.numbers(&[u64::from(*code), *value])?;
        }
        self.close(b']')?;
        self.entry("notes")?;
        self.open(b'[');
        for note in &spelling.notes {
            self.numbers(&[u64::from(note.ordinal), u64::from(note.code), note.value])?;
        }
        self.close(b']')?;
        self.entry("bytes")?;
        let mut text = Vec::new();
        base64::encode(&spelling.bytes, &mut text);
        self.plain(&text)?;
        self.close(b'}')
    }

    /// Writes an item that is a list of numbers, on one line.
    fn numbers(&mut self, numbers: &[u64]) -> Result<(), Error> {
        self.item()?;
        self.emitter.byte(b'[');
        for (at, number) in numbers.iter().enumerate() {
            if at > 0 {
                self.emitter.byte(b',');
            }
            self.emitter.uint(*number);
        }
        self.emitter.byte(b']');
        self.emitter.turn()
    }
}

impl Reader<'_, '_> {
    pub(super) fn spelling(&self, at: u32) -> Result<Spelling, Wrong> {
        let mut spelling = Spelling::default();
        if self.source_kind(at) != Some(Kind::Map) {
            return Err(Wrong::new(at, "an object for $spelling"));
        }
        for (key, value) in self.source_entries(at) {
            match key {
                b"format" => {
                    let name = self.source_text(value).and_then(|name| std::str::from_utf8(name).ok());
                    let known = name.filter(|name| format::by_name(name).is_some());
                    spelling.format = known.ok_or_else(|| Wrong::new(value, "the name of a format"))?.to_owned();
                }
                b"header" => {
                    for item in self.source_items(value)? {
                        let [code, value] = self.numbers(item)?;
                        spelling.header.push((narrow(item, code)?, value));
                    }
                }
                b"notes" => {
                    for item in self.source_items(value)? {
                        let [ordinal, code, value] = self.numbers(item)?;
                        spelling.notes.push(Note { ordinal: narrow(item, ordinal)?, code: narrow(item, code)?, value });
                    }
                    spelling.notes.sort_by_key(|note| note.ordinal);
                }
                b"bytes" => {
                    let text = self.source_text(value).ok_or_else(|| Wrong::new(value, "Base64"))?;
                    base64::decode(text, &mut spelling.bytes).map_err(|_| Wrong::new(value, "Base64"))?;
                }
                _ => return Err(Wrong::new(value, "one of format, header, notes and bytes in $spelling")),
            }
        }
        Ok(spelling)
    }

    fn numbers<const N: usize>(&self, at: u32) -> Result<[u64; N], Wrong> {
        let mut numbers = [0; N];
        let mut items = self.source_items(at)?;
        for number in &mut numbers {
            let item = items.next().ok_or_else(|| Wrong::new(at, "a list of two or three numbers"))?;
            *number =
                self.source_number(item).ok_or_else(|| Wrong::new(item, "a number from 0 to 18446744073709551615"))?;
        }
        match items.next() {
            Some(more) => Err(Wrong::new(more, "no more numbers")),
            None => Ok(numbers),
        }
    }
}

fn narrow<T: TryFrom<u64>>(at: u32, number: u64) -> Result<T, Wrong> {
    T::try_from(number).map_err(|_| Wrong::new(at, "a smaller number"))
}
