//! Text for a terminal, with escaped control characters.

use std::io::{self, Write};

/// Writes text to another writer. Control characters are escaped, except for line ends and tabs.
pub struct ControlEscaper {
    inner: Box<dyn Write>,
    /// The first bytes of a character that is not complete yet.
    incomplete_character: Vec<u8>,
}

impl ControlEscaper {
    pub fn new(inner: Box<dyn Write>) -> ControlEscaper {
        ControlEscaper { inner, incomplete_character: Vec::new() }
    }
}

impl Write for ControlEscaper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.incomplete_character);
        all.extend_from_slice(bytes);
        let mut out = String::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            for c in chunk.valid().chars() {
                match c {
                    '\n' | '\t' => out.push(c),
                    c => out.push_str(&icecore::text::printable(c.encode_utf8(&mut [0; 4]))),
                }
            }
            let may_continue = std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && may_continue {
                self.incomplete_character = chunk.invalid().to_vec();
            } else {
                push_hex_escapes(chunk.invalid(), &mut out);
            }
        }
        self.inner.write_all(out.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn push_hex_escapes(bytes: &[u8], out: &mut String) {
    bytes.iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
}

impl Drop for ControlEscaper {
    fn drop(&mut self) {
        let mut rest = String::new();
        push_hex_escapes(&self.incomplete_character, &mut rest);
        // If this fails, an earlier write failed as well.
        let _ = self.inner.write_all(rest.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::tests::SharedBuffer;

    #[test]
    fn control_characters_and_invalid_bytes_are_escaped() {
        let text = b"a\x1b[31m\tb\r\n\xc3\xa9\xc2\x9b\x80 \xe2\x82";
        for chunk_len in 1..=text.len() {
            let shared = SharedBuffer::default();
            let mut escaper = ControlEscaper::new(Box::new(shared.clone()));
            text.chunks(chunk_len).for_each(|bytes| escaper.write_all(bytes).unwrap());
            drop(escaper);
            assert_eq!(shared.text(), "a\\u{1b}[31m\tb\\r\né\\u{9b}\\x80 \\xe2\\x82", "{chunk_len}");
        }
    }
}
