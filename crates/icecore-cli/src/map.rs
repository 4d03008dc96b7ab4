//! Mapped files: a large one is not copied before it is read.

use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

/// Files below this size are read: that costs less than a mapping.
const LARGE: u64 = 1 << 20;

/// The bytes of an input.
pub enum Bytes {
    Read(Vec<u8>),
    Mapped(Mmap),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Read(bytes) => bytes,
            Bytes::Mapped(map) => map,
        }
    }
}

/// The bytes of a file.
pub fn file(path: &Path) -> io::Result<Bytes> {
    let mut file = File::open(path)?;
    let known = file.metadata()?;
    if known.is_file() && known.len() >= LARGE {
        // SAFETY: the mapping is private and only ever read. Another program
        // that writes to the file meanwhile can change the bytes; the engine
        // has no unsafe code that would rely on them, so it gives an error or
        // a wrong value then. One that cuts the file short ends this program,
        // as a pipe that is closed would: no output appears under its name.
        let map = unsafe { MmapOptions::new().map(&file) };
        if let Ok(map) = map {
            return Ok(Bytes::Mapped(map));
        }
    }
    let mut bytes = Vec::with_capacity(usize::try_from(known.len()).unwrap_or(0).min(1 << 30));
    file.read_to_end(&mut bytes)?;
    Ok(Bytes::Read(bytes))
}
