//! Outputs: the destination of writers.

mod metered;

pub use crate::losses::{LossKind, Losses, Written};
pub(crate) use metered::{MeteredOutput, RationedOutput, write_metered};

use crate::error::Error;

/// The size of the buffer at which writers offer it to the output.
pub(crate) const FLUSH_SIZE: usize = 64 << 10;

/// The destination of a writer.
///
/// A writer appends to [`Output::buffer`] and sometimes calls [`Output::allow_flush`], when it will no longer change
/// the content of the buffer; then an output may empty it. A `Vec<u8>` is an output that never does so.
///
/// ```
/// use icecore::{Error, ErrorKind, Limits, Output, Stage};
///
/// /// Hands over what is ready.
/// #[derive(Default)]
/// struct Counted {
///     buffer: Vec<u8>,
///     written: usize,
/// }
///
/// impl Output for Counted {
///     fn buffer(&mut self) -> &mut Vec<u8> {
///         &mut self.buffer
///     }
///
///     fn allow_flush(&mut self) -> Result<(), Error> {
///         self.written += self.buffer.len();
///         self.buffer.clear();
///         Ok(())
///     }
/// }
///
/// let document = icecore::read(b"a:1:{i:0;i:7;}")?;
/// let mut out = Counted::default();
/// icecore::write_to(&document, &Stage::parse("json")?, &Limits::default(), &mut out)?;
/// assert_eq!((out.written, out.buffer.len()), (3, 0));
/// # Ok::<(), Error>(())
/// ```
pub trait Output {
    /// Returns the buffer to append to.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// Called when the buffer may be emptied.
    ///
    /// # Errors
    /// Of kind `Output`, if the receiver does not want more.
    fn allow_flush(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Like [`Output::allow_flush`], but the buffer must stay, because the writer may still change its content.
    ///
    /// # Errors
    /// If the buffer is too large.
    fn check_without_flush(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the number of bytes that may still be written. A writer that writes much without calling
    /// [`Output::allow_flush`] checks this.
    fn remaining_bytes(&self) -> u64 {
        u64::MAX
    }

    /// Returns how much remains of the output that is always allowed, however small the input is; for outputs that
    /// receive many documents.
    fn remaining_allowance(&self) -> u64 {
        u64::MAX
    }

    /// Records that this much of it was used.
    fn spend_allowance(&mut self, _bytes: u64) {}

    /// Called when one of several values at the root is complete, and ends where the buffer ends. For formats that
    /// write such values as separate texts (Data::Dumper).
    fn end_value(&mut self) {}

    /// Returns memory that a writer may use and [gives back](Output::return_spare) at the end. An output that is reused
    /// keeps it, so that a small document needs no allocation.
    fn take_spare(&mut self) -> Spare {
        Spare::default()
    }

    /// Returns the memory, with any content.
    fn return_spare(&mut self, _spare: Spare) {}
}

/// Scratch memory of writers. Its content has no meaning for the output.
#[derive(Clone, Debug, Default)]
pub struct Spare {
    pub(crate) bytes: Vec<u8>,
    /// The content of wrappers.
    pub(crate) content: Vec<u8>,
    pub(crate) words: Vec<u64>,
    pub(crate) open: Vec<PartialContainer>,
    /// Keys and the heads of objects in their text form, by id.
    pub(crate) keys: Vec<ShortNameText<64>>,
    pub(crate) object_heads: Vec<ShortNameText<96>>,
    /// Short forms of the keys and classes that occurred before in the document of the current call, by id.
    pub(crate) repeated_keys: Vec<RepeatedName>,
    pub(crate) repeated_classes: Vec<RepeatedName>,
    /// Number of the current call; entries of earlier calls are invalid.
    pub(crate) call: u32,
    /// Symbols by number, in a form that the Marshal writer defines; open containers.
    pub(crate) symbols: Vec<u64>,
    pub(crate) containers: Vec<u64>,
}

/// The short form of a name that occurred before: up to seven bytes, and their number in the highest byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RepeatedName {
    /// Number of the call in which the name occurred; the entry is invalid in other calls.
    pub(crate) call: u32,
    pub(crate) bytes: u64,
}

/// The short text of a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortNameText<const N: usize> {
    /// The generation of the table that contains the name.
    pub(crate) generation: u64,
    pub(crate) len: u8,
    /// For a key: whether it might be an integer instead of a string.
    pub(crate) is_cast: bool,
    /// For an object: the number of entries in the text.
    pub(crate) count: u32,
    pub(crate) text: [u8; N],
}

impl<const N: usize> Default for ShortNameText<N> {
    fn default() -> ShortNameText<N> {
        ShortNameText { generation: 0, len: 0, is_cast: false, count: 0, text: [0; N] }
    }
}

/// A partly written container.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartialContainer {
    /// Number of children or entries that still follow.
    pub(crate) remaining: u32,
    /// Its own key.
    pub(crate) key: u16,
    pub(crate) is_map: bool,
}

impl Output for Vec<u8> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self
    }
}
