//! The table of strings that were read.

use crate::string_locations::StringLocations;
use std::collections::HashMap;

/// A string of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputString {
    pub(super) start: usize,
    pub(super) len: usize,
    /// Its number in the table; `NONE` for the empty string.
    pub(super) number: u32,
    /// The writer's default tag.
    pub(super) default: u8,
    /// See [`super::spelling::STRING`].
    pub(super) noted_number: Option<u64>,
}

/// [`InputString::number`] of the empty string.
pub(super) const NONE: u32 = u32::MAX;

/// A string in the table.
#[derive(Debug)]
struct StringRow {
    start: usize,
    len: usize,
    /// Its id as a key of a map, or 0.
    key_id: u16,
}

/// The table: each string that is written in full has a number.
#[derive(Debug, Default)]
pub(super) struct Strings<'a> {
    rows: Vec<StringRow>,
    /// The first number of some bytes. Only used if spelling is wanted.
    first_numbers: HashMap<&'a [u8], u32>,
    /// Like `first_numbers`, for long strings, by their location.
    long_strings: StringLocations<u32>,
}

impl<'a> Strings<'a> {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn add(&mut self, start: usize, len: usize) -> u32 {
        self.rows.push(StringRow { start, len, key_id: 0 });
        (self.rows.len() - 1) as u32
    }

    pub(super) fn get(&self, number: u64) -> Option<(usize, usize)> {
        let row = self.rows.get(usize::try_from(number).ok()?)?;
        Some((row.start, row.len))
    }

    /// Records the first number of these bytes; returns the earlier one if there is
    /// one.
    pub(super) fn record_first(&mut self, bytes: &'a [u8], number: u32) -> Option<u32> {
        if let Some(known) = self.long_strings.get(bytes) {
            return Some(known);
        }
        let known = self.first_numbers.get(bytes).copied();
        self.long_strings.set(bytes, known.unwrap_or(number));
        if known.is_none() {
            self.first_numbers.insert(bytes, number);
        }
        known
    }

    /// Returns the id of the string as a key, if it is known.
    pub(super) fn key_id(&self, number: u32) -> u16 {
        self.rows.get(number as usize).map_or(0, |row| row.key_id)
    }

    pub(super) fn set_key_id(&mut self, number: u32, id: u16) {
        if let Some(row) = self.rows.get_mut(number as usize) {
            row.key_id = id;
        }
    }
}
