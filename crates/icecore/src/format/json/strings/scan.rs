//! The fast scan: plain JSON, without a tape.

use crate::edit::StringRole;
use crate::format::json::string::{decode_short_escape, find_special, parse_hex4};
use crate::format::strings::{FoundString, StringPlace, StringPlaces, StringRequest};
use crate::steps;

/// Maximum length of a number that the scan accepts: a longer one may be too large or too exact.
const MAX_NUMBER_LEN: usize = 40;

/// Returns the wanted strings. `None` if there is an error or anything unusual.
pub(super) fn scan_strings<'t>(text: &[u8], wanted: &StringRequest<'_>) -> Option<StringPlaces<'t>> {
    std::str::from_utf8(text).ok()?;
    let mut scan = StringScan { text, offset: 0, wanted, list: Vec::new() };
    // For each open container, whether it is an object.
    let mut open: Vec<bool> = Vec::new();
    let mut values = 0u32;
    loop {
        steps::count(1);
        values = values.checked_add(1).filter(|values| *values < wanted.limits.nodes / 4)?;
        match scan.peek_token()? {
            start @ (b'{' | b'[') => {
                if open.len() >= wanted.limits.depth as usize {
                    return None;
                }
                scan.offset += 1;
                let is_object = start == b'{';
                if scan.peek_token()? != if is_object { b'}' } else { b']' } {
                    open.push(is_object);
                    if is_object {
                        scan.scan_key()?;
                    }
                    continue;
                }
                scan.offset += 1;
            }
            b'"' => scan.scan_string(StringRole::Value)?,
            b't' => scan.skip_word(b"true")?,
            b'f' => scan.skip_word(b"false")?,
            b'n' => scan.skip_word(b"null")?,
            _ => scan.skip_number()?,
        }
        // After a value.
        loop {
            let Some(is_object) = open.last().copied() else {
                return Some(StringPlaces { strings: scan.list, consumed: scan.offset, ..StringPlaces::default() });
            };
            let next = scan.peek_token()?;
            scan.offset += 1;
            match (next, is_object) {
                (b',', true) => {
                    scan.scan_key()?;
                    break;
                }
                (b',', false) => break,
                (b'}', true) | (b']', false) => open.pop(),
                _ => return None,
            };
        }
    }
}

struct StringScan<'t> {
    text: &'t [u8],
    offset: usize,
    wanted: &'t StringRequest<'t>,
    list: Vec<FoundString>,
}

impl StringScan<'_> {
    /// Returns the next byte that is not a blank, without consuming it.
    fn peek_token(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.offset).copied()? {
                b' ' | b'\t' | b'\r' | b'\n' => self.offset += 1,
                byte => return Some(byte),
            }
        }
    }

    fn skip_word(&mut self, word: &[u8]) -> Option<()> {
        let end = self.offset + word.len();
        (self.text.get(self.offset..end)? == word).then(|| self.offset = end)
    }

    /// Reads a key and its colon.
    fn scan_key(&mut self) -> Option<()> {
        if self.peek_token()? != b'"' {
            return None;
        }
        self.scan_string(StringRole::Key)?;
        (self.peek_token()? == b':').then(|| self.offset += 1)
    }

    fn scan_string(&mut self, role: StringRole) -> Option<()> {
        let start = self.offset + 1;
        let mut offset = start;
        loop {
            offset = find_special::<true>(self.text, offset).offset;
            match self.text.get(offset..offset + 2) {
                Some([b'\\', b'u']) => {
                    parse_hex4(self.text.get(offset + 2..offset + 6)?.first_chunk()?)?;
                    offset += 6;
                }
                Some([b'\\', letter]) => {
                    decode_short_escape(*letter)?;
                    offset += 2;
                }
                _ if self.text.get(offset) == Some(&b'"') => break,
                _ => return None,
            }
        }
        self.offset = offset + 1;
        if (offset - start) as u64 > self.wanted.limits.string {
            return None;
        }
        if (role == StringRole::Value || self.wanted.wants_keys) && (self.wanted.is_wanted)(start, offset) {
            let place = StringPlace { role, escaping: Some(0), ..StringPlace::without_escapes(start, offset, None) };
            self.list.push(FoundString::Text(place));
        }
        Some(())
    }

    /// Reads a number without an exponent.
    fn skip_number(&mut self) -> Option<()> {
        let rest = self.text.get(self.offset..)?;
        let digits = |digits_start: usize| {
            rest.iter().skip(digits_start).take(MAX_NUMBER_LEN).take_while(|byte| byte.is_ascii_digit()).count()
        };
        let first = usize::from(rest.first() == Some(&b'-'));
        let integer_len = digits(first);
        let mut end = first + integer_len;
        if integer_len == 0 || integer_len > 1 && rest.get(first) == Some(&b'0') {
            return None;
        }
        if rest.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            if fraction == 0 {
                return None;
            }
            end += 1 + fraction;
        }
        if end >= MAX_NUMBER_LEN || matches!(rest.get(end), Some(b'e' | b'E' | b'.' | b'0'..=b'9')) {
            return None;
        }
        self.offset += end;
        Some(())
    }
}
