//! Large files, of which only the parts that a path needs are read.

use crate::document_reader::{DocumentReader, set_options};
use crate::progress;
use crate::source::Source;
use icecore::detect::identify_head;
use icecore::select;
use icecore::{Stage, format};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// From this size on a file is not read as a whole.
const LARGE: u64 = 16 << 20;
/// Number of bytes that are examined to detect the format.
const HEAD: u64 = 1 << 20;

/// A file that is read in parts.
pub struct LargeFile {
    file: File,
    len: u64,
    /// Possible formats, the most likely one first. The beginning alone is not always conclusive.
    pub stages: Vec<Stage>,
}

impl LargeFile {
    /// Returns the file if it is large and in a format without wrappers.
    pub fn open_if_large(source: &Source, reader: &DocumentReader<'_>, options: &[String]) -> Option<LargeFile> {
        let known = source.metadata().ok().filter(|known| known.is_file() && known.len() >= LARGE)?;
        let file = source.open_file()?.ok()?;
        let stages = match reader.has_given_format() {
            true => vec![reader.find_stage(&[]).ok()?],
            false => possible_stages(&source.read_head(HEAD).ok()?.0, options),
        };
        let is_plain = !stages.is_empty() && stages.iter().all(|stage| stage.wrappers().is_empty());
        is_plain.then_some(LargeFile { file, len: known.len(), stages })
    }
}

/// Returns the possible stages of a file with this beginning.
fn possible_stages(head: &[u8], options: &[String]) -> Vec<Stage> {
    let formats = match identify_head(head) {
        Some(found) if found.wrappers.is_empty() => found.format.into_iter().collect(),
        Some(_) => Vec::new(),
        // A list may declare more items than the beginning can hold.
        None => format::all().iter().copied().filter(|format| format.may_begin(head)).collect::<Vec<_>>(),
    };
    let with_options = |format| {
        let mut stage = Stage::of(format);
        set_options(&mut stage, options).ok().map(|()| stage)
    };
    formats.into_iter().filter_map(with_options).collect()
}

impl select::Source for LargeFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn load_into(&mut self, offset: u64, to: &mut [u8]) -> bool {
        progress::count_read_bytes(to.len());
        self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.read_exact(to)).is_ok()
    }
}
