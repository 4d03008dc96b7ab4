//! Blanks around frozen data: programs trim a value before they deserialize it.

use super::string_rewriter::{ProbeResult, StringRewriter};
use super::{Broken, Edits};
use crate::format::{self, Format, Request, Settings};
use std::ops::Range;

/// The byte order mark that some editors put before a UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes that PHP's `trim()` removes, and the form feed.
fn is_trimmed_byte(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Returns the range between leading and trailing blanks and marks; with `nul`, zero bytes count as blanks as well.
fn trimmed_range(text: &[u8], nul: bool) -> Range<usize> {
    let is_blank = |byte: u8| is_trimmed_byte(byte) || nul && byte == 0;
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        match rest.first() {
            Some(byte) if is_blank(*byte) => start += 1,
            _ if rest.starts_with(BYTE_ORDER_MARK) => start += BYTE_ORDER_MARK.len(),
            _ => break,
        }
    }
    let back = text.get(start..).unwrap_or_default().iter().rev().take_while(|byte| is_blank(**byte)).count();
    start..text.len() - back
}

/// Returns `true` if a program would trim something around the text.
pub(super) fn has_blanks(text: &[u8]) -> bool {
    trimmed_range(text, true) != (0..text.len())
}

/// Returns `true` if a program would trim all of the text.
pub(super) fn is_all_blank(text: &[u8]) -> bool {
    trimmed_range(text, true).is_empty()
}

/// Returns possible ranges of the text within blanks: first zero bytes are kept, because they may end binary data, then
/// trimmed as well.
fn trimmed_ranges(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let (with_nul, without_nul) = (trimmed_range(text, false), trimmed_range(text, true));
    let is_other = without_nul != with_nul;
    let all = 0..text.len();
    [Some(with_nul), Some(without_nul).filter(|_| is_other)]
        .into_iter()
        .flatten()
        .filter(move |core| *core != all && core.len() > 1)
}

/// Turns changes of a part into changes of the whole.
fn shift_result(result: ProbeResult, delta: usize) -> ProbeResult {
    match result {
        ProbeResult::Frozen(edits) if delta > 0 => {
            let mut moved = Edits::new();
            moved.append(&edits, delta);
            ProbeResult::Frozen(moved)
        }
        result => result,
    }
}

impl StringRewriter<'_> {
    /// Returns the result for the text between blanks, if that is frozen data. Records damage in it.
    pub(super) fn change_trimmed(
        &mut self,
        bytes: &[u8],
        level: u32,
        broken: &mut Option<Broken>,
    ) -> Option<ProbeResult> {
        for core in trimmed_ranges(bytes) {
            match self.probe_whole(bytes.get(core.clone()).unwrap_or_default(), level) {
                ProbeResult::Plain(damaged) => {
                    let moved = |mut damaged: Broken| {
                        damaged.offset += core.start as u64;
                        damaged
                    };
                    *broken = broken.take().or(damaged.map(moved));
                }
                result => return Some(shift_result(result, core.start)),
            }
        }
        let start = trimmed_range(bytes, false).start;
        let text = bytes.get(start..)?;
        let end = self.binary_end(text)?;
        match self.probe_whole(text.get(..end)?, level) {
            ProbeResult::Plain(_) => None,
            result => Some(shift_result(result, start)),
        }
    }

    /// Returns the end of binary data that is followed only by blanks.
    fn binary_end(&self, text: &[u8]) -> Option<usize> {
        if !text.last().is_some_and(|last| is_trimmed_byte(*last) || *last == 0) {
            return None;
        }
        let is_begun =
            |format: &&'static Format| !format.can.text && format.strings.is_none() && format.begins.is_some();
        let format = format::all().iter().copied().filter(is_begun).find(|format| format.may_begin(text))?;
        let outcome = format.read(text, &Settings::new(), Request::new(&self.limits));
        let rest = text.get(outcome.consumed..)?;
        let is_end =
            outcome.error.is_none() && !rest.is_empty() && rest.iter().all(|byte| is_trimmed_byte(*byte) || *byte == 0);
        is_end.then_some(outcome.consumed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_byte_order_marks_are_trimmed() {
        for (text, near, far) in [
            (&b"abc"[..], 0..3, 0..3),
            (b" \t\xef\xbb\xbf\nabc\r\n", 6..9, 6..9),
            (b"\xef\xbb\xbfabc\0", 3..7, 3..6),
            (b"\0 abc \0", 0..7, 2..5),
            (b"  ", 2..2, 2..2),
            (b"", 0..0, 0..0),
            (b"\xef\xbb", 0..2, 0..2),
        ] {
            assert_eq!((trimmed_range(text, false), trimmed_range(text, true)), (near, far), "{}", text.escape_ascii());
        }
    }
}
