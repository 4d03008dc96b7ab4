//! Rows of blobs to a column of structs.

use crate::blobs::Blobs;
use crate::column::Record;
use crate::error::Error;
use crate::misfit::Misfit;
use crate::view::{Value, View};
use arrow_array::{Array, StructArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::Fields;
use icecore::raw::Tape;
use icecore::{Codec, Document, Limits, Stage};
use std::cell::Cell;

/// What becomes of a row whose blob can't be read, or does not fit the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The column is not decoded: [`Error::Row`].
    #[default]
    Raise,
    /// The row is null, and [`Decoded::bad`] says why.
    Null,
}

/// How blobs are decoded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Bounds on work and memory for each blob.
    pub limits: Limits,
    /// What becomes of bad rows.
    pub on_error: OnError,
}

/// Decodes columns of blobs of one stage, one after the other, with the memory and the knowledge
/// of keys of those before. See the [crate].
#[derive(Debug)]
pub struct Decoder {
    codec: Codec,
    options: Options,
    record: Record,
    /// Whether a field needs a document, which costs more than a tape.
    needs_document: bool,
    tape: Tape,
    /// Which keys the ids of the tape mean.
    generation: u32,
}

/// A column that was decoded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decoded {
    /// The rows; null where the blob was, and where a row is bad.
    pub column: StructArray,
    /// Bad rows, in order.
    pub bad: Vec<Bad>,
}

/// A row that is bad.
#[derive(Debug)]
pub struct Bad {
    /// Which one, from 0 on.
    pub row: usize,
    /// What is wrong with it.
    pub error: icecore::Error,
}

/// Why a row is bad.
enum Wrong {
    Read(icecore::Error),
    Misfit(Misfit),
}

impl Decoder {
    /// A decoder of blobs of this stage to these fields.
    ///
    /// # Errors
    /// If a field has a type that is not filled.
    pub fn new(stage: Stage, fields: &Fields, options: Options) -> Result<Decoder, Error> {
        let mut codec = Codec::new(stage);
        codec.limits = options.limits.clone();
        let record = Record::new(fields, 0)?;
        let needs_document = record.needs_document();
        Ok(Decoder { codec, options, record, needs_document, tape: Tape::new(), generation: 0 })
    }

    /// Decodes a column.
    ///
    /// # Errors
    /// If it has no blobs; [`Error::Row`], if bad rows stop.
    pub fn decode(&mut self, column: &dyn Array) -> Result<Decoded, Error> {
        let blobs = Blobs::of(column)?;
        let mut nulls = NullBufferBuilder::new(column.len());
        let mut bad = Vec::new();
        for row in 0..column.len() {
            let Some(blob) = blobs.get(row) else {
                self.record.fill_null();
                nulls.append_null();
                continue;
            };
            match self.row(blob) {
                Ok(true) => nulls.append_non_null(),
                Ok(false) => {
                    self.record.fill_null();
                    nulls.append_null();
                }
                Err(error) => {
                    if self.options.on_error == OnError::Raise {
                        self.record.truncate(0);
                        return Err(Error::Row { row, error });
                    }
                    self.record.truncate(row);
                    self.record.fill_null();
                    nulls.append_null();
                    bad.push(Bad { row, error });
                }
            }
        }
        Ok(Decoded { column: self.record.finish(nulls.finish())?, bad })
    }

    /// Adds a row; `false`, if the value is null, and nothing was added.
    fn row(&mut self, blob: &[u8]) -> Result<bool, icecore::Error> {
        let filled = self.codec.read(blob, &mut self.tape);
        let input = filled.body.as_deref().unwrap_or(blob);
        let error = match filled.error {
            None if filled.consumed < blob.len() => Some(icecore::Error::trailing(blob, filled.consumed)),
            error => error,
        };
        if self.tape.keys().generation() != self.generation {
            self.generation = self.tape.keys().generation();
            self.record.forget_names();
        }
        let left = Cell::new(View::allowed(&self.tape, input, &self.options.limits));
        let result = match error {
            Some(error) => Err(Wrong::Read(error)),
            None if self.needs_document => {
                let document = Document::from_tape(input, std::mem::take(&mut self.tape));
                let view = View::new(document.tape(), input, Some(&document), &left);
                let result = add(&mut self.record, view);
                self.tape = document.into_tape();
                result
            }
            None => add(&mut self.record, View::new(&self.tape, input, None, &left)),
        };
        result.map_err(|wrong| match wrong {
            Wrong::Read(error) => error,
            Wrong::Misfit(misfit) => {
                let document = Document::from_tape(input, std::mem::take(&mut self.tape));
                let path = document.path(misfit.node);
                self.tape = document.into_tape();
                misfit.into_error(path)
            }
        })
    }
}

fn add(record: &mut Record, view: View<'_>) -> Result<bool, Wrong> {
    let root = view.settle(view.tape.root()).map_err(Wrong::Misfit)?;
    match view.value(root) {
        Value::Null => return Ok(false),
        Value::Map => {}
        Value::List if view.node(root).aux == 0 => {}
        _ => return Err(Wrong::Misfit(Misfit::new(root, "a map or an object", "another value"))),
    }
    record.push(view, root).map_err(Wrong::Misfit)?;
    Ok(true)
}
