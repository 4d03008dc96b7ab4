//! `$spelling`: the byte form, as data.

use super::read::{NodeError, TypedReader};
use super::write::TypedWriter;
use crate::base64;
use crate::document::{Kind, Note, Spelling};
use crate::error::Error;
use crate::format;

impl TypedWriter<'_, '_> {
    pub(super) fn write_spelling(&mut self, spelling: &Spelling) -> Result<(), Error> {
        self.open_bracket(b'{');
        self.write_key_text("format")?;
        self.write_utf8(spelling.format.as_bytes())?;
        self.write_key_text("header")?;
        self.open_bracket(b'[');
        for (code, value) in &spelling.header {
            self.write_numbers(&[u64::from(*code), *value])?;
        }
        self.close_bracket(b']')?;
        self.write_key_text("notes")?;
        self.open_bracket(b'[');
        for note in &spelling.notes {
            self.write_numbers(&[u64::from(note.ordinal), u64::from(note.code), note.value])?;
        }
        self.close_bracket(b']')?;
        self.write_key_text("bytes")?;
        let mut text = Vec::new();
        base64::encode_base64(&spelling.bytes, &mut text);
        self.write_utf8(&text)?;
        self.close_bracket(b'}')
    }

    /// Writes an item that is a list of numbers, on one line.
    fn write_numbers(&mut self, numbers: &[u64]) -> Result<(), Error> {
        self.start_item()?;
        self.emitter.write_byte(b'[');
        for (index, number) in numbers.iter().enumerate() {
            if index > 0 {
                self.emitter.write_byte(b',');
            }
            self.emitter.write_uint(*number);
        }
        self.emitter.write_byte(b']');
        self.emitter.make_space()
    }
}

impl TypedReader<'_, '_> {
    pub(super) fn read_spelling(&self, place: u32) -> Result<Spelling, NodeError> {
        let mut spelling = Spelling::default();
        if self.source_kind(place) != Some(Kind::Map) {
            return Err(NodeError::new(place, "an object for $spelling"));
        }
        for (key, value) in self.source_entries(place) {
            match key {
                b"format" => {
                    let name = self.source_text(value).and_then(|name| std::str::from_utf8(name).ok());
                    let known = name.filter(|name| format::by_name(name).is_some());
                    spelling.format = known.ok_or_else(|| NodeError::new(value, "the name of a format"))?.to_owned();
                }
                b"header" => {
                    for item in self.source_items(value)? {
                        let [code, value] = self.read_numbers(item)?;
                        spelling.header.push((narrow_number(item, code)?, value));
                    }
                }
                b"notes" => {
                    for item in self.source_items(value)? {
                        let [ordinal, code, value] = self.read_numbers(item)?;
                        spelling.notes.push(Note {
                            ordinal: narrow_number(item, ordinal)?,
                            code: narrow_number(item, code)?,
                            value,
                        });
                    }
                    spelling.notes.sort_by_key(|note| note.ordinal);
                }
                b"bytes" => {
                    let text = self.source_text(value).ok_or_else(|| NodeError::new(value, "Base64"))?;
                    base64::decode_base64(text, &mut spelling.bytes).map_err(|_| NodeError::new(value, "Base64"))?;
                }
                _ => return Err(NodeError::new(value, "one of format, header, notes and bytes in $spelling")),
            }
        }
        Ok(spelling)
    }

    fn read_numbers<const N: usize>(&self, place: u32) -> Result<[u64; N], NodeError> {
        let mut numbers = [0; N];
        let mut items = self.source_items(place)?;
        for number in &mut numbers {
            let item = items.next().ok_or_else(|| NodeError::new(place, "a list of two or three numbers"))?;
            *number = self
                .source_number(item)
                .ok_or_else(|| NodeError::new(item, "a number from 0 to 18446744073709551615"))?;
        }
        match items.next() {
            Some(extra) => Err(NodeError::new(extra, "no more numbers")),
            None => Ok(numbers),
        }
    }
}

fn narrow_number<T: TryFrom<u64>>(place: u32, number: u64) -> Result<T, NodeError> {
    T::try_from(number).map_err(|_| NodeError::new(place, "a smaller number"))
}
