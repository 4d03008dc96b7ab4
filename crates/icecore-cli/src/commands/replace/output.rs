//! Output of the changed input, in its original encoding.

use crate::output_writer::OutputWriter;
use crate::report::{Abort, code};
use icecore_tables::unicode::{Encoder, InvalidUtf8, WideEncoding};

/// The output of one input.
pub struct EncodedOutput<'s> {
    writer: &'s mut OutputWriter,
    /// Converts UTF-8 to the encoding of the input.
    encoder: Option<Encoder>,
}

impl<'s> EncodedOutput<'s> {
    /// Creates the output. `wide_encoding` is the encoding of the input, if it is UTF-16 or UTF-32. `is_dry_run` is
    /// true if the output is text for people, which stays in UTF-8.
    pub fn new(
        writer: &'s mut OutputWriter,
        wide_encoding: Option<WideEncoding>,
        is_dry_run: bool,
    ) -> EncodedOutput<'s> {
        EncodedOutput { writer, encoder: wide_encoding.filter(|_| !is_dry_run).map(Encoder::new) }
    }

    /// Writes bytes in the encoding of the input.
    pub fn write_piece(&mut self, bytes: &[u8]) -> Result<(), Abort> {
        match &mut self.encoder {
            None => self.writer.write_piece(bytes),
            Some(encoder) => {
                self.writer.write_piece(encoder.encode_piece(bytes).map_err(|InvalidUtf8| encoding_error())?)
            }
        }
    }

    /// Returns the buffer for the text of a dry run. This text is not encoded.
    pub fn buffer_mut(&mut self) -> &mut Vec<u8> {
        self.writer.buffer_mut()
    }

    pub fn release_record(&mut self) -> Result<(), Abort> {
        self.writer.release_record()
    }

    pub fn flush(&mut self) -> Result<(), Abort> {
        self.writer.flush()
    }

    /// Completes the output of the input.
    pub fn finish(&mut self) -> Result<(), Abort> {
        if let Some(encoder) = &mut self.encoder {
            self.writer.write_piece(encoder.finish().map_err(|InvalidUtf8| encoding_error())?)?;
        }
        self.writer.flush()
    }
}

fn encoding_error() -> Abort {
    let text = "the file is in UTF-16 or UTF-32, and NEW is not UTF-8, so it has no characters to write";
    Abort::Failed(code::USAGE, text.to_owned())
}
