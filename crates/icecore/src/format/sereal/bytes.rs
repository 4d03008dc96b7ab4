//! The output buffer of the writer.

use crate::error::Error;
use crate::output::{Output, Spare};

/// Number of bytes that are collected before they are passed to the output.
pub(super) const CHUNK: usize = 8 << 10;
/// Maximum number of bytes that are written before the next check whether the chunk is full.
pub(super) const SLACK: usize = 64;

/// Collects bytes and passes them on in chunks, which is faster than growing
/// the output byte by byte.
pub(super) struct Bytes<'o> {
    chunk: Box<[u8; CHUNK + SLACK]>,
    spare: Spare,
    fill_level: usize,
    passed: u64,
    out: &'o mut dyn Output,
}

impl<'o> Bytes<'o> {
    pub(super) fn new(out: &'o mut dyn Output) -> Bytes<'o> {
        let mut spare = out.take_spare();
        spare.bytes.resize(CHUNK + SLACK, 0);
        let chunk = std::mem::take(&mut spare.bytes)
            .into_boxed_slice()
            .try_into()
            .unwrap_or_else(|_| Box::new([0; CHUNK + SLACK]));
        Bytes { chunk, spare, fill_level: 0, passed: 0, out }
    }

    /// Returns how many bytes were written.
    #[inline(always)]
    pub(super) fn len(&self) -> u64 {
        self.passed + self.fill_level as u64
    }

    /// Makes space for [`SLACK`] bytes.
    #[inline(always)]
    fn reserve_slack(&mut self) -> Result<(), Error> {
        if self.fill_level < CHUNK { Ok(()) } else { self.flush_chunk() }
    }

    #[cold]
    fn flush_chunk(&mut self) -> Result<(), Error> {
        self.out.buffer().extend_from_slice(&self.chunk[..self.fill_level]);
        self.passed += self.fill_level as u64;
        self.fill_level = 0;
        self.out.allow_flush()
    }

    /// Passes everything on.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.flush_chunk()?;
        self.spare.bytes = (self.chunk as Box<[u8]>).into_vec();
        self.out.return_spare(self.spare);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn push_byte(&mut self, byte: u8) -> Result<(), Error> {
        self.reserve_slack()?;
        self.chunk[self.fill_level] = byte;
        self.fill_level += 1;
        Ok(())
    }

    /// Returns the chunk and its fill level, for callers that write faster than with a
    /// call for each byte. It is never full: [`SLACK`] bytes always fit.
    #[inline(always)]
    pub(super) fn writable_chunk(&mut self) -> Result<(&mut [u8; CHUNK + SLACK], usize), Error> {
        self.reserve_slack()?;
        Ok((&mut self.chunk, self.fill_level))
    }

    /// Sets the fill level of the chunk.
    #[inline(always)]
    pub(super) fn set_fill_level(&mut self, level: usize) {
        self.fill_level = level.min(CHUNK + SLACK);
    }

    /// Writes a byte and a varint after it.
    #[inline(always)]
    pub(super) fn push_tagged_varint(&mut self, tag: u8, mut value: u64) -> Result<(), Error> {
        self.reserve_slack()?;
        self.chunk[self.fill_level] = tag;
        self.fill_level += 1;
        while value >= 0x80 {
            self.chunk[self.fill_level] = value as u8 | 0x80;
            self.fill_level += 1;
            value >>= 7;
        }
        self.chunk[self.fill_level] = value as u8;
        self.fill_level += 1;
        Ok(())
    }

    /// Writes a varint, padded to `width` bytes if it needs fewer.
    pub(super) fn push_varint(&mut self, mut value: u64, width: usize) -> Result<(), Error> {
        self.reserve_slack()?;
        let mut written = 1;
        while value >= 0x80 || written < width.min(10) {
            self.chunk[self.fill_level] = value as u8 | 0x80;
            self.fill_level += 1;
            value >>= 7;
            written += 1;
        }
        self.chunk[self.fill_level] = value as u8;
        self.fill_level += 1;
        Ok(())
    }

    pub(super) fn push_slice(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.reserve_slack()?;
        if let Some(place) = self.chunk.get_mut(self.fill_level..self.fill_level + bytes.len()) {
            place.copy_from_slice(bytes);
            self.fill_level += bytes.len();
            return Ok(());
        }
        self.flush_chunk()?;
        self.out.buffer().extend_from_slice(bytes);
        self.passed += bytes.len() as u64;
        self.out.allow_flush()
    }
}
