//! Rows of blobs to a column of a type.

use crate::blobs::Blobs;
use crate::column::Column;
use crate::error::Error;
use crate::source::{Codecs, Source};
use crate::view::{Notes, View};
use arrow_array::builder::{LargeBinaryBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, LargeBinaryArray, StringArray};
use arrow_schema::Field;
use icecore::raw::Tape;
use icecore::{Document, Limits};

/// From this length on, what is not on a path is skipped; shorter blobs are read.
const SKIMMED: usize = 1024;

/// What becomes of a row whose blob can't be read, or does not fit the type.
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

/// Decodes columns of blobs, one after the other, with the memory and the knowledge of keys of
/// those before. See the [crate].
#[derive(Debug)]
pub struct Decoder {
    codecs: Codecs,
    on_error: OnError,
    column: Column,
    /// Whether a field needs a document, which costs more than a tape.
    needs_document: bool,
    /// Whether values are found on paths without reading the rest of a long blob.
    is_skimmed: bool,
    /// Whether all of each blob is wanted as JSON: then it is converted.
    is_json: bool,
    text: Vec<u8>,
    tape: Tape,
    /// The table of keys whose ids the column knows; none, if those of another document came last.
    generation: Option<u64>,
}

/// A column that was decoded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decoded {
    /// The rows; null where the blob was, and where a row is bad.
    pub column: ArrayRef,
    /// Bad rows, in order.
    pub bad: Vec<Bad>,
    /// How many rows have entries that no field has, at any depth, and the first of them. A field filled with
    /// `rest` takes those of its struct.
    pub extra: Option<(usize, usize)>,
    /// The number of its first row, where it is a part of a column: see [`decode_chunks`](crate::decode_chunks).
    pub start: usize,
}

/// A row that is bad.
#[derive(Debug)]
pub struct Bad {
    /// Which one of this column, from 0 on.
    pub row: usize,
    /// What is wrong with it.
    pub error: icecore::Error,
}

impl Decoded {
    /// A column with what is wrong with bad rows; null for all others.
    ///
    /// ```
    /// use arrow_array::{Array, BinaryArray};
    /// use icecore::Stage;
    /// use icecore_columns::{Decoder, OnError, Options, schema};
    /// let blobs = BinaryArray::from_vec(vec![b"i:1;", b"i:?;"]);
    /// let mut options = Options::default();
    /// options.on_error = OnError::Null;
    /// let decoded = Decoder::new(Stage::parse("php")?, &schema::parse("int64")?, options)?.decode(&blobs)?;
    /// let errors = decoded.errors();
    /// assert!(errors.is_null(0) && errors.value(1).contains("offset 2"), "{}", errors.value(1));
    /// assert_eq!(decoded.kept(&blobs)?.value(1), b"i:?;");
    /// # Ok::<(), icecore_columns::Error>(())
    /// ```
    pub fn errors(&self) -> StringArray {
        let mut texts = StringBuilder::new();
        self.for_rows(|bad| match bad {
            Some(bad) => texts.append_value(bad.error.to_string()),
            None => texts.append_null(),
        });
        texts.finish()
    }

    /// A column with the blobs of bad rows, of the column that was decoded; null for all others.
    ///
    /// # Errors
    /// If that column has no blobs.
    pub fn kept(&self, column: &dyn Array) -> Result<LargeBinaryArray, Error> {
        let blobs = Blobs::of(column)?;
        let mut kept = LargeBinaryBuilder::new();
        self.for_rows(|bad| kept.append_option(bad.and_then(|bad| blobs.get(bad.row))));
        Ok(kept.finish())
    }

    fn for_rows(&self, mut then: impl FnMut(Option<&Bad>)) {
        let mut bad = self.bad.iter().peekable();
        for row in 0..self.column.len() {
            then(bad.next_if(|bad| bad.row == row));
        }
    }
}

impl Decoder {
    /// A decoder of blobs of this source to values of this field; [`schema::parse`](crate::schema::parse)
    /// makes one of a text.
    ///
    /// # Errors
    /// If a field has a type that is not filled, or a path that is none.
    pub fn new(source: impl Into<Source>, field: &Field, options: Options) -> Result<Decoder, Error> {
        let codecs = Codecs::new(source.into(), &options.limits);
        let column = Column::new(&field.clone().with_nullable(true), 0)?;
        let (needs_document, is_skimmed) = (column.needs_document(), column.is_skimmed());
        Ok(Decoder {
            codecs,
            on_error: options.on_error,
            needs_document,
            is_skimmed,
            is_json: column.is_json(),
            column,
            text: Vec::new(),
            tape: Tape::new(),
            generation: None,
        })
    }

    /// Decodes a column.
    ///
    /// # Errors
    /// If it has no blobs; [`Error::Row`], if bad rows stop.
    pub fn decode(&mut self, column: &dyn Array) -> Result<Decoded, Error> {
        let blobs = Blobs::of(column)?;
        let (mut bad, mut extra) = (Vec::new(), None::<(usize, usize)>);
        self.column.reserve(column.len());
        for row in 0..column.len() {
            let Some(blob) = blobs.get(row) else {
                self.column.fill_null();
                continue;
            };
            let error = match self.row(blob) {
                Ok(has_extra) => {
                    if has_extra {
                        extra.get_or_insert((0, row)).0 += 1;
                    }
                    continue;
                }
                Err(error) => error,
            };
            if self.on_error == OnError::Raise {
                self.column.truncate(0);
                return Err(Error::Row { row, error });
            }
            self.column.truncate(row);
            self.column.fill_null();
            bad.push(Bad { row, error });
        }
        Ok(Decoded { column: self.column.finish()?, bad, extra, start: 0 })
    }

    /// Adds a row. Says whether it has entries that no field has.
    fn row(&mut self, blob: &[u8]) -> Result<bool, icecore::Error> {
        self.codecs.look(blob)?;
        if self.is_json {
            self.codecs.write_json(blob, &mut self.text)?;
            let pushed = self.column.push_json(&self.text);
            return pushed.map(|()| false).map_err(|misfit| misfit.into_error("$".to_owned()));
        }
        if self.is_skimmed && blob.len() >= SKIMMED {
            self.codecs.be_sure(blob)?;
            // What is found is in documents with tables of keys of their own.
            self.generation = None;
            let notes = Notes::of(blob.len(), self.codecs.limits());
            self.column.skim(blob, self.codecs.stage(), self.codecs.limits(), &notes)?;
            return Ok(false);
        }
        let body = self.codecs.read(blob, &mut self.tape)?;
        let input = body.as_deref().unwrap_or(blob);
        let generation = Some(self.tape.keys().generation());
        if generation != self.generation {
            self.generation = generation;
            self.column.forget_names();
        }
        let notes = Notes::new(&self.tape, input, self.codecs.limits());
        let result = if self.needs_document {
            let document = Document::from_tape(input, std::mem::take(&mut self.tape));
            let view = View::new(document.tape(), input, Some(&document), &notes);
            let result = self.column.push(&view, view.tape.root());
            self.tape = document.into_tape();
            result
        } else {
            self.column.push(&View::new(&self.tape, input, None, &notes), self.tape.root())
        };
        result.map(|()| notes.has_extra()).map_err(|misfit| {
            let document = Document::from_tape(input, std::mem::take(&mut self.tape));
            let path = document.path(misfit.node);
            self.tape = document.into_tape();
            misfit.into_error(path)
        })
    }
}
