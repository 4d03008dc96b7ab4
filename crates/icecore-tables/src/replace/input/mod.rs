//! Inputs in chunks.

mod cut;
mod dump;

pub use cut::{Cut, Cutter};
pub use dump::DumpCutter;

use std::io::{self, Read};

/// Maximum number of bytes that are held because the input can't be cut.
const MAX_UNCUT_LEN: usize = 1 << 30;

/// Bytes of an input, whose front is handed out chunk by chunk.
struct InputBuffer {
    source: Box<dyn Read + Send>,
    /// Bytes that were read and are not in a chunk yet.
    rest: Vec<u8>,
    /// The read buffer. It is kept, so that it is filled with zeros once and not for each read.
    buffer: Vec<u8>,
    /// Offset of `rest` in the input.
    offset: u64,
    /// How many bytes are read at once.
    chunk_len: usize,
    is_end: bool,
    /// Whether the last read did not fill the buffer. Then there may be no more bytes yet.
    is_short: bool,
}

impl InputBuffer {
    fn new(source: Box<dyn Read + Send>, chunk_len: usize) -> InputBuffer {
        InputBuffer {
            source,
            rest: Vec::new(),
            buffer: Vec::new(),
            offset: 0,
            chunk_len: chunk_len.max(1),
            is_end: false,
            is_short: false,
        }
    }

    /// Reads more bytes after the available ones. If many bytes are available already, their number is doubled.
    fn read_more(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let available = bytes.len();
        if available > MAX_UNCUT_LEN {
            let text = format!(
                "the value at offset {} is longer than {MAX_UNCUT_LEN} bytes: is a quote missing? --in sets the input format",
                self.offset
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if available < self.chunk_len {
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.resize(self.chunk_len, 0);
            let (count, result) = self.fill_buffer(&mut buffer, available.max(1));
            bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
            self.buffer = buffer;
            return result;
        }
        bytes.resize(available + available, 0);
        let (count, result) = self.fill_buffer(bytes.get_mut(available..).unwrap_or_default(), self.chunk_len);
        bytes.truncate(available + count);
        result
    }

    /// Reads until there is enough. Returns the number of bytes that were read.
    fn fill_buffer(&mut self, space: &mut [u8], enough: usize) -> (usize, io::Result<()>) {
        let mut end = 0;
        let result = loop {
            match self.source.read(space.get_mut(end..).unwrap_or_default()) {
                Ok(0) => {
                    self.is_end = true;
                    break Ok(());
                }
                Ok(count) => {
                    end += count;
                    // For a long piece, a few more bytes do not help.
                    if end >= enough {
                        break Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.is_short = end < space.len();
        (end, result)
    }

    /// Leaves the first bytes in the chunk. The next chunk begins with the others.
    fn split_rest(&mut self, bytes: &mut Vec<u8>, used: usize) {
        self.rest.clear();
        self.rest.extend_from_slice(bytes.get(used..).unwrap_or_default());
        bytes.truncate(used);
        self.offset += used as u64;
    }
}
