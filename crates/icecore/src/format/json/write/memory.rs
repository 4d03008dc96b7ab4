//! Memory of the writer between documents.

use super::WriteFrame;
use crate::format::json::keys::Keys;

/// Memory for the next document on the same tape.
#[derive(Default)]
pub(crate) struct WriterMemory {
    /// The generation of the tape's keys.
    generation: u64,
    pub(super) keys: Keys,
    pub(super) buffer: Vec<u8>,
    pub(super) open: Vec<WriteFrame>,
    /// Whether a document was written since it was prepared.
    pub(super) is_used: bool,
}

impl WriterMemory {
    /// Prepares for the next document.
    pub(super) fn prepare_next_document(&mut self) {
        if self.is_used {
            self.keys.prepare_next_document();
            self.open.clear();
            self.is_used = false;
        }
    }

    /// Removes the keys if they are of another generation.
    pub(in crate::format::json) fn remove_stale_keys(&mut self, generation: u64) {
        if self.generation != generation {
            *self = WriterMemory { generation, ..WriterMemory::default() };
        }
    }
}
