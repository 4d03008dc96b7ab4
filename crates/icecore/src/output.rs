//! Outputs: where writers write to.

mod metered;

pub use crate::losses::{LossKind, Losses, Written};
pub(crate) use metered::{Metered, Rationed, metered};

use crate::error::Error;

/// The size of the buffer from which on writers offer it to the output.
pub(crate) const READY: usize = 64 << 10;

/// Where a writer writes to.
///
/// A writer appends to [`Output::buffer`] and calls [`Output::ready`] from time to
/// time, when it will not change what is in the buffer; an output may then empty it.
/// A `Vec<u8>` is an output that never does.
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
///     fn ready(&mut self) -> Result<(), Error> {
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
    /// The buffer to append to.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// The buffer may be emptied.
    ///
    /// # Errors
    /// Of kind `Output`, if no more is wanted.
    fn ready(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// As [`Output::ready`], but the buffer has to stay: what is in it may still be
    /// touched.
    ///
    /// # Errors
    /// If there is too much in it.
    fn held(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// How many bytes more may be written. A writer that writes much without
    /// calling [`Output::ready`] looks.
    fn room(&self) -> u64 {
        u64::MAX
    }

    /// How much of what is always allowed, however small the input, is left: for
    /// outputs that many documents go to.
    fn slack(&self) -> u64 {
        u64::MAX
    }

    /// So much of it was used.
    fn spend(&mut self, _bytes: u64) {}

    /// One of several values at the root is complete, and ends where the buffer does.
    /// For formats that write such as texts of their own (Data::Dumper).
    fn value_ends(&mut self) {}

    /// Memory that a writer may work with and [gives back](Output::give_spare)
    /// at the end. An output that is used again and again keeps it: then a small
    /// document costs no allocation.
    fn take_spare(&mut self) -> Spare {
        Spare::default()
    }

    /// Gives the memory back, with any content.
    fn give_spare(&mut self, _spare: Spare) {}
}

/// Scratch memory of writers. Its content means nothing to the output.
#[derive(Clone, Debug, Default)]
pub struct Spare {
    pub(crate) bytes: Vec<u8>,
    /// What wrappers are put around.
    pub(crate) inside: Vec<u8>,
    pub(crate) words: Vec<u64>,
    pub(crate) open: Vec<Frame>,
    /// Keys and the fronts of objects as a text has them, by id.
    pub(crate) keys: Vec<Kept<64>>,
    pub(crate) fronts: Vec<Kept<96>>,
    /// How keys and classes are called in the document of the last call, by id.
    pub(crate) called_keys: Vec<Called>,
    pub(crate) called_classes: Vec<Called>,
    pub(crate) call: u32,
    /// Symbols by number, as the writer of Marshal says who has them; open containers.
    pub(crate) symbols: Vec<u64>,
    pub(crate) containers: Vec<u64>,
}

/// What is written for a name that was there before: up to seven bytes, and their number in
/// the highest one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Called {
    /// In which call; another one knows nothing of it.
    pub(crate) call: u32,
    pub(crate) bytes: u64,
}

/// A short piece of text for a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept<const N: usize> {
    /// The generation of the table that the name is in.
    pub(crate) generation: u64,
    pub(crate) len: u8,
    /// Of a key: whether it might be an integer, in the place of a string.
    pub(crate) is_cast: bool,
    /// Of an object: how many entries the text says it has.
    pub(crate) count: u32,
    pub(crate) text: [u8; N],
}

impl<const N: usize> Default for Kept<N> {
    fn default() -> Kept<N> {
        Kept { generation: 0, len: 0, is_cast: false, count: 0, text: [0; N] }
    }
}

/// A container of which a part was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    /// How many children or entries are still to come.
    pub(crate) left: u32,
    /// The key of its own.
    pub(crate) key: u16,
    pub(crate) is_map: bool,
}

impl Output for Vec<u8> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self
    }
}
