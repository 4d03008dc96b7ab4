//! Output of the changed input, in its original encoding.

use crate::report::{Abort, code};
use crate::sink::Sink;
use icecore_tables::unicode::{Encoder, NotText, Wide};

/// The output of one input.
pub struct Output<'s> {
    sink: &'s mut Sink,
    /// Converts UTF-8 to the encoding of the input.
    encoder: Option<Encoder>,
}

impl<'s> Output<'s> {
    /// Creates the output. `wide`: encoding of the input, if not UTF-8. `is_shown`: the output is for people.
    pub fn new(sink: &'s mut Sink, wide: Option<Wide>, is_shown: bool) -> Output<'s> {
        Output { sink, encoder: wide.filter(|_| !is_shown).map(Encoder::new) }
    }

    /// Writes bytes; large pieces are not copied.
    pub fn piece(&mut self, bytes: &[u8]) -> Result<(), Abort> {
        match &mut self.encoder {
            None => self.sink.piece(bytes),
            Some(encoder) => self.sink.piece(encoder.push(bytes).map_err(|NotText| not_text())?),
        }
    }

    /// Returns the buffer for text that is shown and is not data.
    pub fn part(&mut self) -> &mut Vec<u8> {
        self.sink.part()
    }

    pub fn pass(&mut self) -> Result<(), Abort> {
        self.sink.pass()
    }

    pub fn flush(&mut self) -> Result<(), Abort> {
        self.sink.flush()
    }

    /// Completes the output of the input.
    pub fn finish(&mut self) -> Result<(), Abort> {
        if let Some(encoder) = &mut self.encoder {
            self.sink.piece(encoder.finish().map_err(|NotText| not_text())?)?;
        }
        self.sink.flush()
    }
}

fn not_text() -> Abort {
    let text = "the file is in UTF-16 or UTF-32, and NEW is not UTF-8, so it has no characters to write";
    Abort::Failed(code::USAGE, text.to_owned())
}
