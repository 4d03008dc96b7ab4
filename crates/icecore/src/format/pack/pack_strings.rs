//! Packs strings.

use super::packer::{BYTES_PER_STEP, PackTask, Packer};
use super::{utf8, uu};
use crate::error::{Error, ErrorKind};
use crate::format::flat::Item;
use crate::output::LossKind;
use std::borrow::Cow;

/// The characters of a string.
pub(super) enum Chars<'d> {
    /// All of them are bytes.
    Bytes(Cow<'d, [u8]>),
    Wide(Vec<u64>),
}

impl Chars<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Chars::Bytes(bytes) => bytes.len(),
            Chars::Wide(chars) => chars.len(),
        }
    }

    fn get(&self, index: usize) -> u64 {
        match self {
            Chars::Bytes(bytes) => bytes.get(index).copied().map_or(0, u64::from),
            Chars::Wide(chars) => chars.get(index).copied().unwrap_or(0),
        }
    }
}

impl<'d> Packer<'_, 'd> {
    pub(super) fn decode_chars(&self, item: &Item<'d>) -> Result<Chars<'d>, Error> {
        let text = match *item {
            Item::Text(text) if !self.encodes_text && !text.is_ascii() => text,
            _ => return Ok(Chars::Bytes(item.make_perl_string())),
        };
        let mut chars = Vec::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let character = utf8::decode_character(rest);
            chars.push(character.value.ok_or_else(|| {
                Error::new(ErrorKind::Unrepresentable)
                    .on_path(self.items.path_at(self.items.next_index()))
                    .expecting("text in UTF-8")
                    .finding("invalid UTF-8")
            })?);
            rest = &rest[character.len..];
        }
        let bytes: Option<Vec<u8>> = chars.iter().map(|value| u8::try_from(*value).ok()).collect();
        Ok(bytes.map_or(Chars::Wide(chars), |bytes| Chars::Bytes(bytes.into())))
    }

    /// Packs `a`, `A` and `Z`.
    pub(super) fn pack_string(&mut self, task: &PackTask<'_>) -> Result<(), Error> {
        let letter = task.op.letter;
        let (item, node) = self.next_item()?;
        let chars = self.decode_chars(&item)?;
        let available = chars.len();
        let is_z = letter == b'Z';
        let len = if task.is_star { (available + usize::from(is_z)) as u64 } else { task.len };
        self.check_output_size(len)?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        // `Z` ends with a null, if it has space for anything.
        let kept = if len <= available { len - usize::from(is_z && len > 0) } else { available };
        if kept < available {
            self.items.record_loss_at(LossKind::Width, node);
        }
        self.spend_work(kept / BYTES_PER_STEP)?;
        // `@!` and `.!` count the bytes that perl uses for characters. Once a text was
        // packed, perl uses two bytes for some of them.
        if self.program.counts_bytes && matches!(item, Item::Text(_)) && !self.encodes_text && !self.is_text {
            self.widen()?;
        }
        match &chars {
            Chars::Bytes(bytes) => self.write_bytes(&bytes[..kept]),
            Chars::Wide(wide) => {
                if !self.is_text {
                    self.widen()?;
                }
                self.push_wide(&wide[..kept], node);
                self.check_output_size(0)?;
            }
        }
        self.write_fill(if letter == b'A' { b' ' } else { 0 }, (len - kept) as u64)
    }

    fn push_wide(&mut self, chars: &[u64], node: u32) {
        if self.has_characters() {
            chars.iter().for_each(|value| utf8::push_character(*value, self.out));
            return;
        }
        if chars.iter().any(|value| *value > 0xFF) {
            self.items.record_loss_at(LossKind::Wrapped, node);
        }
        self.out.extend(chars.iter().map(|value| *value as u8));
    }

    /// Packs `b`, `B`, `h` and `H`.
    pub(super) fn pack_digits(&mut self, task: &PackTask<'_>) -> Result<(), Error> {
        let (item, node) = self.next_item()?;
        let chars = self.decode_chars(&item)?;
        let letter = task.op.letter;
        let (digits_per_byte, bits) = if matches!(letter, b'b' | b'B') { (8, 1) } else { (2, 4) };
        let high_first = matches!(letter, b'B' | b'H');
        // Perl counts the bytes of a text, and uses zeros after its characters.
        let available = match item {
            Item::Text(text) if !self.encodes_text => text.len(),
            _ => chars.len(),
        };
        let len = if task.is_star { available } else { usize::try_from(task.len).unwrap_or(usize::MAX) };
        let field = if task.is_star { 0 } else { len.div_ceil(digits_per_byte) };
        let count = len.min(available);
        self.check_output_size(field.max(count.div_ceil(digits_per_byte)) as u64)?;
        self.spend_work(count)?;
        if count < chars.len() {
            self.items.record_loss_at(LossKind::Width, node);
        }
        if (0..count.min(chars.len())).any(|place| !is_digit(chars.get(place), digits_per_byte)) {
            self.items.record_loss_at(LossKind::Numeric, node);
        }
        let mut bytes = Vec::with_capacity(count.div_ceil(digits_per_byte));
        for start in (0..count).step_by(digits_per_byte) {
            let digits = start..count.min(start + digits_per_byte);
            bytes.push(digits.enumerate().fold(0u8, |byte, (place, index)| {
                let shift = bits * if high_first { digits_per_byte - 1 - place } else { place };
                byte | digit_value(chars.get(index), digits_per_byte) << shift
            }));
        }
        self.write_bytes(&bytes);
        self.write_zeros(field.saturating_sub(bytes.len()) as u64)
    }

    /// Packs `u`.
    pub(super) fn pack_uuencoded(&mut self, task: &PackTask<'_>) -> Result<(), Error> {
        let (item, node) = self.next_item()?;
        let bytes = match self.decode_chars(&item)? {
            Chars::Bytes(bytes) => bytes,
            Chars::Wide(chars) => {
                self.items.record_loss_at(LossKind::Wrapped, node);
                chars.iter().map(|value| *value as u8).collect()
            }
        };
        let width = match task.len {
            0..=2 => 45,
            len => usize::try_from(len / 3 * 3).unwrap_or(63).min(63),
        };
        self.check_output_size((bytes.len() as u64).saturating_mul(2))?;
        self.spend_work(bytes.len())?;
        for line in bytes.chunks(width) {
            uu::encode_line(line, self.out);
        }
        Ok(())
    }
}

/// Returns the digit that perl makes of any character.
fn digit_value(value: u64, digits_per_byte: usize) -> u8 {
    let is_letter = u8::try_from(value).is_ok_and(|byte| byte.is_ascii_alphabetic());
    match digits_per_byte {
        8 => (value & 1) as u8,
        _ => (if is_letter { value + 9 } else { value } & 0x0F) as u8,
    }
}

fn is_digit(value: u64, digits_per_byte: usize) -> bool {
    let byte = u8::try_from(value).unwrap_or(0);
    if digits_per_byte == 8 { matches!(byte, b'0' | b'1') } else { byte.is_ascii_hexdigit() }
}
