//! A window over an input that may never end. It grows only as much as one record requires.

use std::io::{self, BufRead, BufReader, Read};

/// Default size of a read.
pub const CHUNK: usize = 256 << 10;
/// Below this size, a read returns as soon as any bytes arrive, so that the caller tries the record again. It must
/// not wait for more, because the program at the other end of a pipe may be waiting for the answer.
const RETRY_EACH_BYTE_LEN: usize = 4 << 10;

/// A window over an input.
pub struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    /// Start and end of the available bytes.
    start: usize,
    end: usize,
    /// Number of bytes that were taken before the start of the buffer.
    buffer_offset: u64,
    is_end: bool,
    chunk: usize,
    /// Maximum length of a record. Reading stops when it is certain that a record is longer.
    max_record: usize,
}

impl<R: Read> Window<R> {
    /// Creates a window over an input that is read in pieces of about `chunk` bytes.
    pub fn new(input: R, chunk: usize) -> Window<R> {
        let (chunk, max_record) = (chunk.max(1), usize::MAX);
        Window { input, buffer: Vec::new(), start: 0, end: 0, buffer_offset: 0, is_end: false, chunk, max_record }
    }

    /// Sets the maximum length of a record.
    pub fn set_max_record(&mut self, max_record: u64) {
        self.max_record = usize::try_from(max_record).unwrap_or(usize::MAX);
    }

    /// Returns a reader of all available and future bytes, from the start of the window.
    pub fn into_reader(mut self) -> impl BufRead {
        self.buffer.truncate(self.end);
        let mut available = io::Cursor::new(self.buffer);
        available.set_position(self.start as u64);
        available.chain(BufReader::with_capacity(CHUNK, self.input))
    }

    /// Returns the available bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns whether nothing follows the available bytes.
    pub fn is_end(&self) -> bool {
        self.is_end
    }

    /// Marks the input as broken off, so that reading returns no further bytes.
    pub fn break_off(&mut self) {
        self.is_end = true;
    }

    /// Returns the offset of the window in the input.
    pub fn offset(&self) -> u64 {
        self.buffer_offset + self.start as u64
    }

    /// Takes bytes from the front.
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Reads more. A large window is doubled each time, because the caller starts the record again after each read.
    /// With doubling, all these tries together take linear time.
    pub fn read_more(&mut self) -> io::Result<()> {
        let available_len = self.end - self.start;
        let target_len =
            if available_len < RETRY_EACH_BYTE_LEN { available_len + 1 } else { available_len.saturating_mul(2) };
        let target_len = target_len.min(self.max_record.saturating_add(1)).max(available_len + 1);
        self.resize_buffer(target_len.max(available_len + self.chunk));
        while self.end - self.start < target_len && !self.is_end {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_end = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Moves the available bytes to the front, and makes the buffer `size` bytes long.
    fn resize_buffer(&mut self, size: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.buffer_offset += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        // After a very large record the memory is released.
        if self.buffer.len() > size.saturating_mul(4) {
            self.buffer.truncate(size);
            self.buffer.shrink_to_fit();
        }
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_grows_for_a_record_and_shrinks_again() {
        let input: Vec<u8> = (0..1_000_000u32).map(|index| index as u8).collect();
        let mut window = Window::new(&input[..], 1000);
        while window.bytes().len() < 500_000 {
            window.read_more().unwrap();
        }
        assert!(window.buffer.len() <= 1_100_000);
        let have = window.bytes().len();
        assert_eq!(window.bytes(), &input[..have]);
        window.consume(have - 1);
        window.read_more().unwrap();
        assert_eq!(window.offset(), have as u64 - 1);
        assert!(window.buffer.len() < 5000, "{}", window.buffer.len());
        while !window.is_end() {
            window.read_more().unwrap();
        }
        assert_eq!(window.bytes(), &input[have - 1..]);
    }
}
