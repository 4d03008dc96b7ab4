//! Large files, of which only the parts that a path needs are read.

use crate::document_reader::{DocumentReader, set_options};
use crate::progress;
use crate::source::Source;
use icecore::detect::identify_head;
use icecore::select;
use icecore::{Stage, format};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// From this size on, a file is not read as a whole.
const MIN_LARGE_LEN: u64 = 16 << 20;
/// Maximum number of bytes that are examined to detect the format.
const MAX_HEAD_LEN: u64 = 1 << 20;

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
        let metadata =
            source.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() >= MIN_LARGE_LEN)?;
        let file = source.open_file()?.ok()?;
        let stages = match reader.has_given_format() {
            true => vec![reader.find_stage(&[]).ok()?],
            false => possible_stages(&source.read_head(MAX_HEAD_LEN).ok()?.0, options),
        };
        let has_no_wrappers = !stages.is_empty() && stages.iter().all(|stage| stage.wrappers().is_empty());
        has_no_wrappers.then_some(LargeFile { file, len: metadata.len(), stages })
    }
}

/// Returns the possible stages of a file with this beginning.
fn possible_stages(head: &[u8], options: &[String]) -> Vec<Stage> {
    let formats = match identify_head(head) {
        Some(finding) if finding.wrappers.is_empty() => finding.format.into_iter().collect(),
        Some(_) => Vec::new(),
        // No format fits the beginning alone, for example because a list declares more items than it contains.
        None => format::all().iter().copied().filter(|format| format.may_begin(head)).collect::<Vec<_>>(),
    };
    let add_options = |format| {
        let mut stage = Stage::of(format);
        set_options(&mut stage, options).ok().map(|()| stage)
    };
    formats.into_iter().filter_map(add_options).collect()
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
