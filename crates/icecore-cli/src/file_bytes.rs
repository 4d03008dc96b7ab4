//! Whole files in memory.
//!
//! They are read, not mapped: truncating a mapped file would crash the program, and writing to it would change the data
//! under the reader.

use crate::progress;
use memmap2::MmapMut;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::path::Path;

/// From this size on, a file is read into large pages, and by several threads if it fills several of them. Compared
/// with a mapping, this costs 5 % of the time to convert 3 MB or 100 MB of Storable to JSON; an ordinary read costs 18
/// %, mostly for page faults of small pages.
const MIN_PAGED_LEN: u64 = 1 << 20;
/// Number of threads that read at the same time.
const THREADS: usize = 2;
/// Size of a large page.
const PAGE_SIZE: usize = 2 << 20;

/// The bytes of an input.
pub enum Bytes {
    /// Bytes of a small file, or of another input.
    Read(Vec<u8>),
    /// Bytes of a large file.
    Pages(Pages),
}

/// Memory in whole pages, which begins with the bytes of the file.
pub struct Pages {
    memory: MmapMut,
    len: usize,
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Read(bytes) => bytes,
            Bytes::Pages(Pages { memory, len }) => &memory[..*len],
        }
    }
}

/// Reads a file.
pub fn read_file(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    read_open_file(file, &metadata)
}

fn read_open_file(mut file: File, metadata: &Metadata) -> io::Result<Bytes> {
    progress::add_expected_bytes(if metadata.is_file() { metadata.len() } else { 0 });
    if metadata.is_file()
        && metadata.len() >= MIN_PAGED_LEN
        && let Some(pages) = read_into_pages(&file, metadata)
    {
        return pages.map(Bytes::Pages);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).min(1 << 30));
    progress::read_to_end(&mut file, &mut bytes)?;
    if metadata.is_file() && (bytes.len() as u64) < metadata.len() {
        Err(shortened_file_error())
    } else {
        Ok(Bytes::Read(bytes))
    }
}

/// Returns the error for a file that ends early.
pub fn shortened_file_error() -> io::Error {
    // This kind distinguishes the error from those of broken compressed data: here another process changed the file.
    io::Error::new(io::ErrorKind::ResourceBusy, "the file became shorter while it was read")
}

/// Reads a large file into pages; `None` if the pages can't be allocated.
#[cfg(unix)]
fn read_into_pages(file: &File, metadata: &Metadata) -> Option<io::Result<Pages>> {
    use std::os::unix::fs::FileExt;
    let len = usize::try_from(metadata.len()).ok()?;
    let mut memory = MmapMut::map_anon(len.checked_next_multiple_of(PAGE_SIZE)?).ok()?;
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    // The threads get the pages in turn.
    let mut shares: [Vec<_>; THREADS] = Default::default();
    for (page, part) in memory[..len].chunks_mut(PAGE_SIZE).enumerate() {
        shares[page % THREADS].push((page, part));
    }
    let fill = |share: Vec<(usize, &mut [u8])>| {
        share.into_iter().try_for_each(|(page, part)| {
            file.read_exact_at(part, (page * PAGE_SIZE) as u64)?;
            progress::count_read_bytes(part.len());
            Ok(())
        })
    };
    let result = std::thread::scope(|scope| {
        let [own, others @ ..] = shares;
        let others = others.into_iter().filter(|share| !share.is_empty());
        let threads: Vec<_> = others.map(|share| scope.spawn(|| fill(share))).collect();
        fill(own)?;
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(io::Error::other("a reading thread failed"))))
    });
    Some(match result {
        Ok(()) => Ok(Pages { memory, len }),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(shortened_file_error()),
        Err(error) => Err(error),
    })
}

#[cfg(not(unix))]
fn read_into_pages(_: &File, _: &Metadata) -> Option<io::Result<Pages>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_all_sizes_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let all: Vec<u8> = (0..9 * MIN_PAGED_LEN as u32 + 12_345).map(|index| (index ^ (index >> 8)) as u8).collect();
        for len in
            [0, 1, 4096, MIN_PAGED_LEN as usize - 1, MIN_PAGED_LEN as usize, PAGE_SIZE, 2 * PAGE_SIZE + 1, all.len()]
        {
            std::fs::write(file.path(), &all[..len]).unwrap();
            assert!(*read_file(file.path()).unwrap() == all[..len], "{len}");
        }
    }

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let temp_file = tempfile::NamedTempFile::new().unwrap();
        for len in [2, 5000, MIN_PAGED_LEN, 2 * MIN_PAGED_LEN, 9 * MIN_PAGED_LEN] {
            for new_len in [0, 1, len / 2, len - 1] {
                temp_file.as_file().set_len(len).unwrap();
                let file = File::open(temp_file.path()).unwrap();
                let metadata = file.metadata().unwrap();
                temp_file.as_file().set_len(new_len).unwrap();
                let error = read_open_file(file, &metadata).err().unwrap();
                assert!(error.to_string().contains("shorter"), "{new_len} of {len}: {error}");
            }
        }
    }
}
