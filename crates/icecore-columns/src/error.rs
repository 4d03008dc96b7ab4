//! Errors of decoders and encoders.

use arrow_schema::{ArrowError, DataType};
use std::fmt;

/// Reason why a column can't be decoded.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Values of this type are not blobs.
    Column(DataType),
    /// The type of a field is not supported.
    Field {
        /// Name of the field.
        name: String,
        /// Type of the field.
        data_type: DataType,
    },
    /// The text of a schema can't be read.
    Schema {
        /// Offset in the text, in bytes.
        offset: usize,
        /// What is needed there.
        expected: String,
        /// What was found there.
        found: String,
    },
    /// A blob can't be read or does not fit the type, and the options say that this is an error.
    Row {
        /// Number of the row, from 0 on.
        row: usize,
        /// The error.
        error: icecore::Error,
    },
    /// The blobs of a column have more than 2 GB together.
    TooLong,
    /// An error of the engine, such as an invalid stage or a limit.
    Engine(icecore::Error),
    /// An error of Arrow.
    Arrow(ArrowError),
}

impl Error {
    /// Returns the same error with the row number in a longer column in which `rows` rows come first.
    ///
    /// ```
    /// # use icecore_columns::Error;
    /// # let error = icecore::read(b"").unwrap_err();
    /// let error = Error::Row { row: 2, error }.shift_row(1000);
    /// assert!(error.to_string().starts_with("row 1002: "));
    /// ```
    pub fn shift_row(self, rows: usize) -> Error {
        match self {
            Error::Row { row, error } => Error::Row { row: rows + row, error },
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Column(data_type) => write!(f, "a column of {data_type} can't contain blobs: use binary or string"),
            Error::Field { name, data_type } => {
                write!(f, "the field {} can't be of type {data_type}", icecore::text::printable(name))
            }
            Error::Schema { offset, expected, found } => {
                write!(f, "invalid schema at byte {offset}: {expected}, not {found}")
            }
            Error::Row { row, error } => write!(f, "row {row}: {error}"),
            Error::TooLong => f.write_str("the blobs have more than 2 GB together: encode fewer rows at once"),
            Error::Engine(error) => write!(f, "{error}"),
            Error::Arrow(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<icecore::Error> for Error {
    fn from(error: icecore::Error) -> Error {
        Error::Engine(error)
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Error {
        Error::Arrow(error)
    }
}
