//! Encodes a column of values to a column of blobs.
//!
//! | type of the column | value in the blob | |---|---| | booleans, integers, floats | booleans, integers, floats | |
//! strings; binaries | text; bytes | | decimals, days, times | text: `12.50`, `2026-02-02`, `2026-02-02T03:40:00.5Z`,
//! without the `Z` if the column has no zone | | lists; structs, maps | lists; maps | | a field filled with `class` |
//! no entry of its own; if it is not null, the struct becomes an object of this class | | a field filled with `json`
//! | the value of the JSON text | | a field filled with `rest` | the entries of the object in the JSON text | | null
//! | null; for a whole row, no blob |

mod column_writer;
mod json_copier;
mod tape_builder;

use crate::error::Error;
use crate::{BadRow, OnError, Options};
use arrow_array::builder::BinaryBuilder;
use arrow_array::{Array, BinaryArray};
use arrow_schema::Field;
use column_writer::ColumnWriter;
use icecore::raw::{Spare, Tape};
use icecore::{Codec, Document, Losses, Stage};
use tape_builder::TapeBuilder;

/// Maximum number of bytes of all blobs of one column, whose offsets have 32 bits.
const MAX_BLOB_BYTES: usize = i32::MAX as usize;

/// Encodes columns as blobs of one stage, and reuses its memory from column to column.
///
/// ```
/// use arrow_array::{Array, BinaryArray};
/// use icecore::Stage;
/// use icecore_columns::{Decoder, Encoder, Options, schema};
/// let field = schema::parse("id int64, tags list<utf8>, _class class")?;
/// let blobs = BinaryArray::from_vec(vec![br#"O:1:"U":2:{s:2:"id";i:7;s:4:"tags";a:1:{i:0;s:1:"x";}}"#]);
/// let rows = Decoder::new(Stage::parse("php")?, &field, Options::default())?.decode(&blobs)?;
/// let mut encoder = Encoder::new(Stage::parse("php")?, &field, Options::default())?;
/// assert_eq!(encoder.encode(rows.column.as_ref())?.column, blobs);
/// # Ok::<(), icecore_columns::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    codec: Codec,
    field: Field,
    options: Options,
    tape: Tape,
    spare: Spare,
    /// The blob of the current row.
    blob: Vec<u8>,
}

/// An encoded column.
#[derive(Debug)]
#[non_exhaustive]
pub struct Encoded {
    /// One blob for each row. It is null if the value is null or the row is bad.
    pub column: BinaryArray,
    /// Bad rows, in order.
    pub bad: Vec<BadRow>,
    /// What the format could not represent, summed over all rows.
    pub losses: Losses,
}

impl Encoder {
    /// Creates an encoder that writes columns of this field with this stage.
    ///
    /// # Errors
    /// If a field has an unsupported type.
    pub fn new(stage: Stage, field: &Field, options: Options) -> Result<Encoder, Error> {
        column_writer::check_field(field, 0)?;
        let mut codec = Codec::new(stage);
        codec.limits = options.limits.clone();
        let (tape, spare) = (Tape::new(), Spare::default());
        Ok(Encoder { codec, field: field.clone(), options, tape, spare, blob: Vec::new() })
    }

    /// Encodes a column. Its type must be the type of the field.
    ///
    /// # Errors
    /// [`Error::Field`] if the column has another type, [`Error::TooLong`] if the blobs are too long, and
    /// [`Error::Row`] for a bad row if `on_error` is [`OnError::Raise`].
    pub fn encode(&mut self, column: &dyn Array) -> Result<Encoded, Error> {
        if column.data_type() != self.field.data_type() {
            return Err(Error::Field { name: self.field.name().clone(), data_type: column.data_type().clone() });
        }
        let mut column_writer = ColumnWriter::new(&self.field, column)?;
        let mut blobs = BinaryBuilder::with_capacity(column.len(), 0);
        let (mut bad, mut losses, mut total_len) = (Vec::new(), Losses::default(), 0);
        for row in 0..column.len() {
            if column_writer.is_null(row) {
                blobs.append_null();
                continue;
            }
            match self.encode_row(&mut column_writer, row) {
                Ok(row_losses) if total_len + self.blob.len() <= MAX_BLOB_BYTES => {
                    total_len += self.blob.len();
                    row_losses.into_iter().for_each(|row_losses| losses.merge(row_losses));
                    blobs.append_value(&self.blob);
                }
                Ok(_) => return Err(Error::TooLong),
                Err(error) if self.options.on_error == OnError::Raise => return Err(Error::Row { row, error }),
                Err(error) => {
                    blobs.append_null();
                    bad.push(BadRow { row, error });
                }
            }
        }
        Ok(Encoded { column: blobs.finish(), bad, losses })
    }

    /// Writes a row to `self.blob`, and returns what was lost. Returns `None` if it was written by a faster function
    /// that loses nothing.
    fn encode_row(
        &mut self,
        column_writer: &mut ColumnWriter<'_>,
        row: usize,
    ) -> Result<Option<Losses>, icecore::Error> {
        self.blob.clear();
        let mut nodes = TapeBuilder::new(&mut self.tape);
        column_writer.write_value(row, &mut nodes)?;
        nodes.fill_tape();
        let document = Document::from_tape(&[][..], std::mem::take(&mut self.tape));
        let written = match self.codec.write_filled(&document, &mut self.spare, &mut self.blob) {
            true => Ok(None),
            false => self.codec.write(&document, &mut self.blob).map(Some),
        };
        self.tape = document.into_tape();
        written
    }
}
