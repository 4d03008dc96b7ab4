//! Long strings by their location.
//!
//! A copy, an id or a link refers to a string again with a few bytes of input. A lookup by content would read the whole
//! string each time, so the location is looked up first.

use crate::hash::SeededMap;

/// Strings up to this length are read as quickly as they are looked up.
const MAX_SHORT_LEN: usize = 64;

/// Returns `true` if a string is long enough for a lookup by location.
#[inline]
pub(crate) fn is_long_string(bytes: &[u8]) -> bool {
    bytes.len() > MAX_SHORT_LEN
}

/// Data about long strings, by their location in memory.
#[derive(Debug, Default)]
pub(crate) struct StringLocations<T>(SeededMap<(usize, usize), T>);

impl<T: Copy> StringLocations<T> {
    /// Returns the data of this string.
    #[inline]
    pub(crate) fn get(&self, bytes: &[u8]) -> Option<T> {
        if is_long_string(bytes) { self.0.get(&location_key(bytes)).copied() } else { None }
    }

    /// Stores data of this string.
    #[inline]
    pub(crate) fn set(&mut self, bytes: &[u8], known: T) {
        if is_long_string(bytes) {
            self.0.insert(location_key(bytes), known);
        }
    }
}

fn location_key(bytes: &[u8]) -> (usize, usize) {
    (bytes.as_ptr() as usize, bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_identified_by_address_and_length() {
        let text = [b'a'; 200];
        let mut places = StringLocations::default();
        places.set(&text[..100], 1);
        places.set(&text[..10], 2);
        assert_eq!(places.get(&text[..100]), Some(1));
        assert_eq!(places.get(&text[100..]), None);
        assert_eq!(places.get(&text[..10]), None);
    }
}
