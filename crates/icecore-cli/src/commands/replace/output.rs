//! Output of the changed input, in its original encoding.

use crate::report::{Abort, code};
use crate::sink::Sink;
use icecore_tables::unicode::{Encoder, InvalidUtf8, WideEncoding};

/// The output of one input.
pub struct EncodedOutput<'s> {
    sink: &'s mut Sink,
    /// Converts UTF-8 to the encoding of the input.
    encoder: Option<Encoder>,
}

impl<'s> EncodedOutput<'s> {
    /// Creates the output. `wide_encoding` is the encoding of the input, if it is UTF-16 or UTF-32. `is_dry_run` is
    /// true if the output is text for people, which stays in UTF-8.
    pub fn new(sink: &'s mut Sink, wide_encoding: Option<WideEncoding>, is_dry_run: bool) -> EncodedOutput<'s> {
        EncodedOutput { sink, encoder: wide_encoding.filter(|_| !is_dry_run).map(Encoder::new) }
    }

    /// Writes bytes in the encoding of the input.
    pub fn write_piece(&mut self, bytes: &[u8]) -> Result<(), Abort> {
        match &mut self.encoder {
            None => self.sink.write_piece(bytes),
            Some(encoder) => {
                self.sink.write_piece(encoder.encode_piece(bytes).map_err(|InvalidUtf8| encoding_error())?)
            }
        }
    }

    /// Returns the buffer for the text of a dry run, which is not encoded.
    pub fn buffer_mut(&mut self) -> &mut Vec<u8> {
        self.sink.buffer_mut()
    }

    pub fn release_record(&mut self) -> Result<(), Abort> {
        self.sink.release_record()
    }

    pub fn flush(&mut self) -> Result<(), Abort> {
        self.sink.flush()
    }

    /// Completes the output of the input.
    pub fn finish(&mut self) -> Result<(), Abort> {
        if let Some(encoder) = &mut self.encoder {
            self.sink.write_piece(encoder.finish().map_err(|InvalidUtf8| encoding_error())?)?;
        }
        self.sink.flush()
    }
}

fn encoding_error() -> Abort {
    let text = "the file is in UTF-16 or UTF-32, and NEW is not UTF-8, so it has no characters to write";
    Abort::Failed(code::USAGE, text.to_owned())
}
