//! Positions of the items of a list, as text.

use super::read_cache::read_word;

/// The key of the next item of a list, `i:5;`, counted in decimal digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// The text as a word. Its first byte is the lowest one.
    text: u64,
    /// Bits of the word that the text occupies.
    mask: u64,
    /// A 1 in the byte of the last digit. Added to the text, it increments the number if this digit is not a 9.
    increment: u64,
    len: u32,
    number: u32,
    /// Number of increments before the last digit overflows. After them, the text is made from the number again.
    ones: u32,
}

impl Position {
    #[inline(always)]
    pub(super) fn from_number(number: u32) -> Position {
        if number < 10 {
            let text = ZERO | u64::from(number) << 16;
            return Position { text, mask: 0xFFFF_FFFF, increment: 1 << 16, len: 4, number, ones: 9 - number };
        }
        Position::from_large_number(number)
    }

    #[inline(never)]
    fn from_large_number(number: u32) -> Position {
        // The text does not fit into a word. With an empty mask and a text that is not 0, no input is equal to this
        // position.
        if number > 99_999 {
            return Position { text: u64::MAX, mask: 0, increment: 0, len: 0, number, ones: 0 };
        }
        let mut text = u64::from(b';');
        let mut len = 3;
        let mut remaining = number;
        while remaining > 0 {
            text = text << 8 | (u64::from(b'0') + u64::from(remaining % 10));
            remaining /= 10;
            len += 1;
        }
        let mask = u64::MAX >> (64 - 8 * len);
        Position {
            text: text << 16 | ZERO & 0xFFFF,
            mask,
            increment: 1 << (8 * len - 16),
            len,
            number,
            ones: 9 - number % 10,
        }
    }

    #[inline(always)]
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Moves to this number, which is mostly the current one.
    #[inline(always)]
    pub(super) fn move_to(&mut self, number: u32) {
        if self.number != number {
            *self = Position::from_number(number);
        }
    }

    /// Returns the text as a word, and its length; 0 if it does not fit into a word.
    #[inline(always)]
    pub(super) fn as_word(&self) -> (u64, usize) {
        (self.text, self.len as usize)
    }

    /// Returns what follows this key if the input begins with it.
    #[inline(always)]
    pub(super) fn strip_from<'a>(&self, rest: &'a [u8]) -> Option<&'a [u8]> {
        if read_word(rest) & self.mask != self.text {
            return None;
        }
        rest.get(self.len as usize..)
    }

    #[inline(always)]
    pub(super) fn increment(&mut self) {
        let number = self.number.wrapping_add(1);
        if self.ones == 0 {
            *self = Position::from_number(number);
            return;
        }
        self.ones -= 1;
        self.text += self.increment;
        self.number = number;
    }
}

/// `i:0;`
const ZERO: u64 = u32::from_le_bytes(*b"i:0;") as u64;

#[cfg(test)]
mod tests {
    use super::Position;

    #[test]
    fn positions_are_counted_like_their_text() {
        let mut position = Position::from_number(0);
        for number in 0..120_000u32 {
            let text = format!("i:{number};s:1:\"a\";");
            let expected = (number < 100_000).then_some(&b"s:1:\"a\";"[..]);
            assert_eq!(position.strip_from(text.as_bytes()), expected, "{number}");
            assert_eq!(Position::from_number(number).strip_from(text.as_bytes()), expected, "{number}");
            assert_eq!(position.strip_from(b"i:7x"), None);
            position.increment();
            assert_eq!(position.number(), number + 1);
        }
    }
}
