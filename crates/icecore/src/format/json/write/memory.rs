//! Memory of the writer between documents.

use super::Frame;
use crate::format::json::keys::Keys;

/// Memory for the next document on the same tape.
#[derive(Default)]
pub(crate) struct WriterMemory {
    /// The generation of the tape's keys.
    generation: u64,
    pub(super) keys: Keys,
    pub(super) buffer: Vec<u8>,
    pub(super) open: Vec<Frame>,
    /// Whether a document was written since it was prepared.
    pub(super) is_used: bool,
}

impl WriterMemory {
    /// Prepares for the next document.
    pub(super) fn renew(&mut self) {
        if self.is_used {
            self.keys.renew();
            self.open.clear();
            self.is_used = false;
        }
    }

    /// Forgets keys of another generation.
    pub(in crate::format::json) fn fit(&mut self, generation: u64) {
        if self.generation != generation {
            *self = WriterMemory { generation, ..WriterMemory::default() };
        }
    }
}
