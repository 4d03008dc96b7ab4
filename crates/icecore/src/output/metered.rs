//! An output with a budget of bytes.

use super::{Output, Spare, Written};
use crate::document::Document;
use crate::error::Error;
use crate::limits::Limits;

/// An output that counts what is written, and refuses more than the limits allow.
///
/// It counts where the writer says that something is [ready](Output::ready): so
/// counting costs nothing in the loops that write, and what is too much is found
/// before it is much more than that.
pub(crate) struct Metered<'o> {
    out: &'o mut dyn Output,
    limits: &'o Limits,
    /// How much of what is in the buffer was counted.
    counted: usize,
    left: u64,
    most: u64,
    /// How much of it the input pays for.
    earned: u64,
}

/// Writes within the limits for this document.
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

    /// Counts what was written since the last time.
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
        // What does not fit counts as well: it was written.
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

/// An output of many documents, one by one: what is always allowed, however small the
/// input, is allowed once for all of them.
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
