//! Decodes rows of blobs to a column of a type.

use crate::blobs::Blobs;
use crate::column::Column;
use crate::error::Error;
use crate::source::{Codecs, Source};
use crate::view::{RowState, TapeView};
use arrow_array::builder::{LargeBinaryBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, LargeBinaryArray, StringArray};
use arrow_schema::Field;
use icecore::raw::Tape;
use icecore::{Document, Limits};

/// Minimum length of a blob that is skimmed for values on paths. Shorter blobs are read completely.
const MIN_SKIMMED_LEN: usize = 1024;

/// What happens to a row whose blob can't be read, or does not fit the type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The column is not decoded. The result is [`Error::Row`].
    #[default]
    Raise,
    /// The row is null, and [`Decoded::bad`] says why.
    Null,
}

/// Options of decoding.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Limits on work and memory for each blob.
    pub limits: Limits,
    /// What happens to bad rows.
    pub on_error: OnError,
    /// Whether a string that is not UTF-8 becomes text, with one character for each byte, where the type is text.
    /// [`Decoded::byte_texts`] counts such strings. Otherwise the row is bad.
    pub bytes_as_text: bool,
}

/// Decodes columns of blobs one after another. Reuses the memory and the cached keys of the previous columns. See the
/// [crate].
#[derive(Debug)]
pub struct Decoder {
    codecs: Codecs,
    on_error: OnError,
    bytes_as_text: bool,
    /// The strings of the current column that became text although they are not UTF-8.
    byte_texts: Option<ByteTexts>,
    column: Column,
    /// Whether a field needs a document. A document costs more time than a tape.
    needs_document: bool,
    /// Whether values are found on paths without reading the rest of a long blob.
    is_skimmed: bool,
    /// Whether the complete blob becomes JSON. The blob is then converted directly, and a document is not built.
    is_json: bool,
    text: Vec<u8>,
    tape: Tape,
    /// The number of the table of keys whose ids the column has cached. It is `None` if the last keys came from
    /// another document.
    generation: Option<u64>,
}

/// A decoded column.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decoded {
    /// The rows. A row is null if its blob was null, or if the row is bad.
    pub column: ArrayRef,
    /// Bad rows, in order.
    pub bad: Vec<BadRow>,
    /// Number of rows that have entries without a field, at any depth, and the index of the first of these rows. A
    /// field filled with `rest` takes these entries of its struct.
    pub extra: Option<(usize, usize)>,
    /// Strings that became text although they are not UTF-8, if there are any.
    pub byte_texts: Option<ByteTexts>,
    /// The number of the first row, if this is a part of a column. See [`decode_chunks`](crate::decode_chunks).
    pub start: usize,
}

/// Strings of a column that became text although they are not UTF-8. See [`Options::bytes_as_text`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ByteTexts {
    /// Number of such strings.
    pub count: u64,
    /// Number of the row with the first one.
    pub row: usize,
    /// Path of the first one.
    pub path: String,
}

impl ByteTexts {
    /// Adds the strings of a row.
    fn add(texts: &mut Option<ByteTexts>, count: u64, row: usize, path: impl FnOnce() -> String) {
        if count > 0 {
            texts.get_or_insert_with(|| ByteTexts { count: 0, row, path: path() }).count += count;
        }
    }
}

/// A bad row.
#[derive(Debug)]
pub struct BadRow {
    /// Number of the row in this column. The first row is 0.
    pub row: usize,
    /// The error.
    pub error: icecore::Error,
}

impl Decoded {
    /// Returns a column with the errors of bad rows, and null for all other rows.
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
    /// assert_eq!(decoded.bad_blobs(&blobs)?.value(1), b"i:?;");
    /// # Ok::<(), icecore_columns::Error>(())
    /// ```
    pub fn errors(&self) -> StringArray {
        let mut texts = StringBuilder::new();
        self.for_each_row(|bad| match bad {
            Some(bad) => texts.append_value(bad.error.to_string()),
            None => texts.append_null(),
        });
        texts.finish()
    }

    /// Returns a column with the blobs of bad rows, taken from the column that was decoded, and null for all
    /// other rows.
    ///
    /// # Errors
    /// If that column does not contain blobs.
    pub fn bad_blobs(&self, column: &dyn Array) -> Result<LargeBinaryArray, Error> {
        let blobs = Blobs::from_array(column)?;
        let mut bad_blobs = LargeBinaryBuilder::new();
        self.for_each_row(|bad| bad_blobs.append_option(bad.and_then(|bad| blobs.get(bad.row))));
        Ok(bad_blobs.finish())
    }

    fn for_each_row(&self, mut visit: impl FnMut(Option<&BadRow>)) {
        let mut bad = self.bad.iter().peekable();
        for row in 0..self.column.len() {
            visit(bad.next_if(|bad| bad.row == row));
        }
    }
}

impl Decoder {
    /// Creates a decoder of blobs of this source to values of this field; [`schema::parse`](crate::schema::parse)
    /// makes a field from text.
    ///
    /// # Errors
    /// If a field has an unsupported type, or an invalid path.
    pub fn new(source: impl Into<Source>, field: &Field, options: Options) -> Result<Decoder, Error> {
        let codecs = Codecs::new(source.into(), &options.limits);
        let column = Column::new(&field.clone().with_nullable(true), 0)?;
        let (needs_document, is_skimmed) = (column.needs_document(), column.can_skim());
        Ok(Decoder {
            codecs,
            on_error: options.on_error,
            bytes_as_text: options.bytes_as_text,
            byte_texts: None,
            needs_document,
            is_skimmed,
            is_json: column.takes_any_json(),
            column,
            text: Vec::new(),
            tape: Tape::new(),
            generation: None,
        })
    }

    /// Decodes a column.
    ///
    /// # Errors
    /// If the column does not contain blobs; [`Error::Row`] if bad rows raise errors.
    pub fn decode(&mut self, column: &dyn Array) -> Result<Decoded, Error> {
        let blobs = Blobs::from_array(column)?;
        let (mut bad, mut extra_count, mut first_extra) = (Vec::new(), 0, None);
        self.column.reserve(column.len());
        for row in 0..column.len() {
            let Some(blob) = blobs.get(row) else {
                self.column.fill_null();
                continue;
            };
            let error = match self.decode_row(row, blob) {
                Ok(has_extra) => {
                    if has_extra {
                        extra_count += 1;
                        first_extra.get_or_insert(row);
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
            bad.push(BadRow { row, error });
        }
        let extra = first_extra.map(|first| (extra_count, first));
        let byte_texts = self.byte_texts.take();
        Ok(Decoded { column: self.column.finish()?, bad, extra, byte_texts, start: 0 })
    }

    /// Adds a row. Returns true if it has entries without a field.
    fn decode_row(&mut self, row: usize, blob: &[u8]) -> Result<bool, icecore::Error> {
        self.codecs.guess_stage(blob)?;
        if self.is_json {
            self.codecs.write_json(blob, &mut self.text)?;
            let pushed = self.column.push_json(&self.text);
            return pushed.map(|()| false).map_err(|mismatch| mismatch.into_error("$".to_owned()));
        }
        if self.is_skimmed && blob.len() >= MIN_SKIMMED_LEN {
            self.codecs.confirm_stage(blob)?;
            // The values that are found are in documents with tables of keys of their own.
            self.generation = None;
            let row_state = RowState::with_size(blob.len(), self.codecs.limits(), self.bytes_as_text);
            self.column.skim_values(blob, self.codecs.stage(), self.codecs.limits(), &row_state)?;
            // The documents of the values are gone, and with them the path.
            ByteTexts::add(&mut self.byte_texts, row_state.byte_texts().0, row, || "$".to_owned());
            return Ok(false);
        }
        let body = self.codecs.read_blob(blob, &mut self.tape)?;
        let input = body.as_deref().unwrap_or(blob);
        let generation = Some(self.tape.keys().generation());
        if generation != self.generation {
            self.generation = generation;
            self.column.forget_names();
        }
        let row_state = RowState::new(&self.tape, input, self.codecs.limits(), self.bytes_as_text);
        let result = if self.needs_document {
            let document = Document::from_tape(input, std::mem::take(&mut self.tape));
            let view = TapeView::new(document.tape(), input, Some(&document), &row_state);
            let result = self.column.push(&view, view.tape.root());
            self.tape = document.into_tape();
            result
        } else {
            self.column.push(&TapeView::new(&self.tape, input, None, &row_state), self.tape.root())
        };
        let path_of = |tape: &mut Tape, node: u32| {
            let document = Document::from_tape(input, std::mem::take(tape));
            let path = document.path(node);
            *tape = document.into_tape();
            path
        };
        match result {
            Ok(()) => {
                let (count, first) = row_state.byte_texts();
                ByteTexts::add(&mut self.byte_texts, count, row, || path_of(&mut self.tape, first));
                Ok(row_state.has_extra())
            }
            Err(mismatch) => {
                let path = path_of(&mut self.tape, mismatch.node);
                Err(mismatch.into_error(path))
            }
        }
    }
}
