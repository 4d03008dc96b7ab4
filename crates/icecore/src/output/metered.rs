//! An output with a budget of bytes.

use super::{Output, Spare, Written};
use crate::document::Document;
use crate::error::Error;
use crate::limits::Limits;

/// An output that counts written bytes, and refuses more than the limits allow.
///
/// It counts when the writer calls [`Output::ready`]: so counting costs nothing in the loops that write, and an excess
/// is found before it becomes large.
pub(crate) struct Metered<'o> {
    out: &'o mut dyn Output,
    limits: &'o Limits,
    /// Number of bytes in the buffer that were counted.
    counted: usize,
    left: u64,
    most: u64,
    /// The part of it that the size of the input allows.
    earned: u64,
}

/// Calls a writer with the limits for this document.
pub(crate) fn metered(
    document: &Document<'_>,
    limits: &Limits,
    out: &mut dyn Output,
    write: impl FnOnce(&mut Metered<'_>) -> Written,
) -> Written {
    let mut out = Metered::new(document, limits, out);
    let losses = write(&mut out)?;
    out.count()?;
    Ok(losses)
}

impl<'o> Metered<'o> {
    pub(crate) fn new(document: &Document<'_>, limits: &'o Limits, out: &'o mut dyn Output) -> Metered<'o> {
        let (most, earned) = limits.output_within(document.size(), out.slack());
        let most = most.min(out.room());
        let counted = out.buffer().len();
        Metered { out, limits, counted, left: most, most, earned }
    }

    /// Counts the bytes that were written since the last time.
    pub(crate) fn count(&mut self) -> Result<(), Error> {
        let len = self.out.buffer().len();
        let more = len.saturating_sub(self.counted) as u64;
        self.counted = len;
        match self.left.checked_sub(more) {
            Some(left) => self.left = left,
            None => {
                self.left = 0;
                return Err(self.limits.too_much_output(self.most));
            }
        }
        Ok(())
    }
}

impl Drop for Metered<'_> {
    fn drop(&mut self) {
        // Bytes beyond the limit count as well, because they were written.
        let _ = self.count();
        self.out.spend((self.most - self.left).saturating_sub(self.earned));
    }
}

impl Output for Metered<'_> {
    #[inline]
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.out.buffer()
    }

    #[inline]
    fn ready(&mut self) -> Result<(), Error> {
        self.count()?;
        self.out.ready()?;
        self.counted = self.out.buffer().len();
        Ok(())
    }

    fn held(&mut self) -> Result<(), Error> {
        self.count()
    }

    fn room(&self) -> u64 {
        self.left
    }

    fn slack(&self) -> u64 {
        self.left
    }

    fn value_ends(&mut self) {
        self.out.value_ends();
    }

    fn take_spare(&mut self) -> Spare {
        self.out.take_spare()
    }

    fn give_spare(&mut self, spare: Spare) {
        self.out.give_spare(spare);
    }
}

/// An output for many documents, one by one: the amount that is always allowed, however small the input is, is granted
/// once for all of them.
pub(crate) struct Rationed<'o> {
    pub(crate) out: &'o mut dyn Output,
    pub(crate) slack: &'o mut u64,
}

impl Output for Rationed<'_> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.out.buffer()
    }

    fn ready(&mut self) -> Result<(), Error> {
        self.out.ready()
    }

    fn held(&mut self) -> Result<(), Error> {
        self.out.held()
    }

    fn room(&self) -> u64 {
        self.out.room()
    }

    fn slack(&self) -> u64 {
        (*self.slack).min(self.out.slack())
    }

    fn spend(&mut self, bytes: u64) {
        *self.slack = self.slack.saturating_sub(bytes);
        self.out.spend(bytes);
    }

    fn value_ends(&mut self) {
        self.out.value_ends();
    }

    fn take_spare(&mut self) -> Spare {
        self.out.take_spare()
    }

    fn give_spare(&mut self, spare: Spare) {
        self.out.give_spare(spare);
    }
}
