//! Columns of frozen values to columns of Arrow.
//!
//! A [`Decoder`] takes a column of blobs and gives a column of structs, by a list of fields:
//!
//! ```
//! use arrow_array::{Array, BinaryArray, Int64Array, cast::AsArray};
//! use arrow_schema::{DataType, Field, Fields};
//! use icecore::Stage;
//! use icecore_columns::{Decoder, Options};
//!
//! let blobs = BinaryArray::from_vec(vec![
//!     br#"a:2:{s:2:"id";i:7;s:4:"name";s:5:"Alice";}"#,
//!     br#"a:1:{s:2:"id";i:8;}"#,
//! ]);
//! let fields = Fields::from(vec![
//!     Field::new("id", DataType::Int64, false),
//!     Field::new("name", DataType::Utf8, true),
//! ]);
//! let mut decoder = Decoder::new(Stage::parse("php")?, &fields, Options::default())?;
//! let decoded = decoder.decode(&blobs)?;
//! assert_eq!(decoded.column.column(0).as_ref(), &Int64Array::from(vec![7, 8]));
//! let names = decoded.column.column(1).as_string::<i32>();
//! assert!(names.value(0) == "Alice" && names.is_null(1));
//! # Ok::<(), icecore_columns::Error>(())
//! ```
//!
//! Links are followed, references and objects looked into. What does not fit its field makes
//! its row a bad one: see [`OnError`].
#![forbid(unsafe_code)]

mod blobs;
mod column;
mod decoder;
mod error;
mod misfit;
mod view;

pub use blobs::Blobs;
pub use decoder::{Bad, Decoded, Decoder, OnError, Options};
pub use error::Error;

/// The name of the metadata of a field that says how it is filled: `class` for the name of the
/// object's class, `json` for any value as JSON.
///
/// ```
/// use arrow_schema::{DataType, Field};
/// let class = Field::new("class", DataType::Utf8, true)
///     .with_metadata([(icecore_columns::FILLED_WITH.to_owned(), "class".to_owned())]);
/// # assert_eq!(class.metadata().len(), 1);
/// ```
pub const FILLED_WITH: &str = "icecore";
