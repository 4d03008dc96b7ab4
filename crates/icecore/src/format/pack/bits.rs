//! `b`, `B`, `h` and `H`: digits for bits and for halves of bytes.

use super::read::{UnpackTask, Unpacker};
use crate::document::Sink;
use crate::error::Error;

impl<S: Sink> Unpacker<'_, S> {
    pub(super) fn read_digits(&mut self, task: &UnpackTask<'_>) -> Result<(), Error> {
        let letter = task.op.letter;
        // Number of digits in a byte, and their order.
        let (digits_per_byte, bits) = if matches!(letter, b'b' | b'B') { (8, 1) } else { (2, 4) };
        let high_first = matches!(letter, b'B' | b'H');
        let available = self.bytes_left().saturating_mul(digits_per_byte);
        let len = if task.is_star { available } else { usize::try_from(task.len).unwrap_or(usize::MAX).min(available) };
        self.spend_work(len)?;
        let frame = self.current_frame();
        let (in_characters, has_sum) = (frame.counts_characters, frame.checksum.is_wanted());
        let start = self.sink.tape().arena.len();
        let mut remaining = len;
        while remaining > 0 && self.position < self.data.len() {
            let Some(byte) = self.read_byte(in_characters)? else { break };
            let count = remaining.min(digits_per_byte);
            remaining -= count;
            if has_sum {
                if bits == 1 {
                    let kept = match (count, high_first) {
                        (8, _) => byte,
                        (_, true) => byte & !(0xFF >> count),
                        (_, false) => byte & !(0xFF << count),
                    };
                    self.current_frame().checksum.add_bit_count(u64::from(kept.count_ones()));
                }
                continue;
            }
            let digit = |place: usize| {
                let shift = bits * if high_first { digits_per_byte - 1 - place } else { place };
                b"0123456789abcdef"[usize::from(byte >> shift & if bits == 1 { 1 } else { 15 })]
            };
            self.sink.tape().arena.extend((0..count).map(digit));
        }
        if has_sum { Ok(()) } else { self.push_owned_string(start) }
    }
}
