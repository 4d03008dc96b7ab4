//! Where the changed input goes, in the encoding that it had.

use crate::report::{Abort, code};
use crate::sink::Sink;
use icecore_tables::unicode::{Encoder, NotText, Wide};

/// The output of one input.
pub struct Output<'s> {
    sink: &'s mut Sink,
    /// Writes UTF-8 as the input was written.
    encoder: Option<Encoder>,
}

impl<'s> Output<'s> {
    /// `wide`: how the input was written, if not in UTF-8. `is_shown`: what is written is for people.
    pub fn new(sink: &'s mut Sink, wide: Option<Wide>, is_shown: bool) -> Output<'s> {
        Output { sink, encoder: wide.filter(|_| !is_shown).map(Encoder::new) }
    }

    /// Writes bytes of which there may be many.
    pub fn piece(&mut self, bytes: &[u8]) -> Result<(), Abort> {
        match &mut self.encoder {
            None => self.sink.piece(bytes),
            Some(encoder) => self.sink.piece(encoder.push(bytes).map_err(|NotText| not_text())?),
        }
    }

    /// What is shown and is not data.
    pub fn part(&mut self) -> &mut Vec<u8> {
        self.sink.part()
    }

    pub fn pass(&mut self) -> Result<(), Abort> {
        self.sink.pass()
    }

    pub fn flush(&mut self) -> Result<(), Abort> {
        self.sink.flush()
    }

    /// The input is complete.
    pub fn finish(&mut self) -> Result<(), Abort> {
        if let Some(encoder) = &mut self.encoder {
            self.sink.piece(encoder.finish().map_err(|NotText| not_text())?)?;
        }
        self.sink.flush()
    }
}

fn not_text() -> Abort {
    let text = "the file is in UTF-16 or UTF-32, and what NEW puts in is no UTF-8, so it has no characters to write";
    Abort::Failed(code::USAGE, text.to_owned())
}
