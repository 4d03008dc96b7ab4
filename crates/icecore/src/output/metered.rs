//! An output with a budget of bytes.

use super::{Output, Spare, Written};
use crate::document::Document;
use crate::error::Error;
use crate::limits::Limits;

/// An output that counts written bytes, and refuses more than the limits allow.
///
/// It counts when the writer calls [`Output::allow_flush`]: so counting costs nothing in the loops that write, and an
/// excess is found before it becomes large.
pub(crate) struct MeteredOutput<'o> {
    out: &'o mut dyn Output,
    limits: &'o Limits,
    /// Number of bytes in the buffer that were counted.
    counted: usize,
    remaining: u64,
    output_limit: u64,
    /// The part of it that the size of the input allows.
    earned: u64,
}

/// Calls a writer with the limits for this document.
pub(crate) fn write_metered(
    document: &Document<'_>,
    limits: &Limits,
    out: &mut dyn Output,
    write: impl FnOnce(&mut MeteredOutput<'_>) -> Written,
) -> Written {
    let mut out = MeteredOutput::new(document, limits, out);
    let losses = write(&mut out)?;
    out.count_written()?;
    Ok(losses)
}

impl<'o> MeteredOutput<'o> {
    pub(crate) fn new(document: &Document<'_>, limits: &'o Limits, out: &'o mut dyn Output) -> MeteredOutput<'o> {
        let (allowance, earned) = limits.output_within(document.input_size(), out.remaining_allowance());
        let max_bytes = allowance.min(out.remaining_bytes());
        let counted = out.buffer().len();
        MeteredOutput { out, limits, counted, remaining: max_bytes, output_limit: max_bytes, earned }
    }

    /// Counts the bytes that were written since the last time.
    pub(crate) fn count_written(&mut self) -> Result<(), Error> {
        let len = self.out.buffer().len();
        let written = len.saturating_sub(self.counted) as u64;
        self.counted = len;
        match self.remaining.checked_sub(written) {
            Some(remaining) => self.remaining = remaining,
            None => {
                self.remaining = 0;
                return Err(self.limits.too_much_output(self.output_limit));
            }
        }
        Ok(())
    }
}

impl Drop for MeteredOutput<'_> {
    fn drop(&mut self) {
        // Bytes beyond the limit count as well, because they were written.
        let _ = self.count_written();
        self.out.spend_allowance((self.output_limit - self.remaining).saturating_sub(self.earned));
    }
}

impl Output for MeteredOutput<'_> {
    #[inline]
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.out.buffer()
    }

    #[inline]
    fn allow_flush(&mut self) -> Result<(), Error> {
        self.count_written()?;
        self.out.allow_flush()?;
        self.counted = self.out.buffer().len();
        Ok(())
    }

    fn check_without_flush(&mut self) -> Result<(), Error> {
        self.count_written()
    }

    fn remaining_bytes(&self) -> u64 {
        self.remaining
    }

    fn remaining_allowance(&self) -> u64 {
        self.remaining
    }

    fn end_value(&mut self) {
        self.out.end_value();
    }

    fn take_spare(&mut self) -> Spare {
        self.out.take_spare()
    }

    fn return_spare(&mut self, spare: Spare) {
        self.out.return_spare(spare);
    }
}

/// An output for many documents, one by one: the amount that is always allowed, however small the input is, is granted
/// once for all of them.
pub(crate) struct RationedOutput<'o> {
    pub(crate) out: &'o mut dyn Output,
    pub(crate) slack: &'o mut u64,
}

impl Output for RationedOutput<'_> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.out.buffer()
    }

    fn allow_flush(&mut self) -> Result<(), Error> {
        self.out.allow_flush()
    }

    fn check_without_flush(&mut self) -> Result<(), Error> {
        self.out.check_without_flush()
    }

    fn remaining_bytes(&self) -> u64 {
        self.out.remaining_bytes()
    }

    fn remaining_allowance(&self) -> u64 {
        (*self.slack).min(self.out.remaining_allowance())
    }

    fn spend_allowance(&mut self, bytes: u64) {
        *self.slack = self.slack.saturating_sub(bytes);
        self.out.spend_allowance(bytes);
    }

    fn end_value(&mut self) {
        self.out.end_value();
    }

    fn take_spare(&mut self) -> Spare {
        self.out.take_spare()
    }

    fn return_spare(&mut self, spare: Spare) {
        self.out.return_spare(spare);
    }
}
