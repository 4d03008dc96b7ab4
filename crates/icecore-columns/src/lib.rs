//! Decodes columns of serialized values to columns of Arrow.
//!
//! A [`Decoder`] converts a column of blobs to a column of a type, usually a struct:
//!
//! ```
//! use arrow_array::{Array, BinaryArray, Int64Array, cast::AsArray};
//! use icecore::Stage;
//! use icecore_columns::{Decoder, Options, schema};
//!
//! let blobs = BinaryArray::from_vec(vec![
//!     br#"a:2:{s:2:"id";i:7;s:4:"name";s:5:"Alice";}"#,
//!     br#"a:1:{s:2:"id";i:8;}"#,
//! ]);
//! let field = schema::parse("id int64 not null, name utf8")?;
//! let mut decoder = Decoder::new(Stage::parse("php")?, &field, Options::default())?;
//! let decoded = decoder.decode(&blobs)?;
//! let rows = decoded.column.as_struct();
//! assert_eq!(rows.column(0).as_ref(), &Int64Array::from(vec![7, 8]));
//! let names = rows.column(1).as_string::<i32>();
//! assert!(names.value(0) == "Alice" && names.is_null(1));
//! # Ok::<(), icecore_columns::Error>(())
//! ```
//!
//! Links are followed; references and objects are entered. A row with a value that does not fit its field is bad;
//! [`OnError`] sets what happens to it.
//!
//! | type | accepted values |
//! |---|---|
//! | integers | integers, floats without a fraction, texts that contain an integer in its usual form |
//! | floats | floats, integers that a float represents exactly, texts of numbers |
//! | `Decimal128` | numbers and texts of numbers with at most the declared places; a float by its shortest digits |
//! | strings | text in UTF-8; numbers are converted |
//! | binaries | strings of any bytes |
//! | `Date32` | Ruby's `Date`, `YYYY-MM-DD` |
//! | `Timestamp` | times of Ruby, Rails, PHP (also Carbon), Perl; ISO 8601; no finer than the unit |
//! | lists, structs, maps | lists; maps and objects; both |
//!
//! Perl's time classes are `DateTime` and `Time::Piece`. A column with a time zone accepts only times with a known
//! offset from UTC. Numbers are not accepted as times, because it is unknown whether they are seconds or milliseconds.
#![forbid(unsafe_code)]

mod blobs;
mod column;
mod decoder;
mod encode;
mod error;
mod infer;
mod member;
mod mismatch;
mod parallel;
pub mod schema;
mod source;
mod view;

pub use blobs::Blobs;
pub use decoder::{BadRow, ByteTexts, Decoded, Decoder, OnError, Options};
pub use encode::{Encoded, Encoder};
pub use error::Error;
pub use infer::{Inference, has_binary_controls};
pub use parallel::decode_chunks;
pub use source::Source;

/// Name of the metadata of a field that sets how it is filled: `class` for the name of the object's class, `json` for
/// any value as JSON, `rest` for the entries without a field, as JSON.
///
/// ```
/// use arrow_schema::{DataType, Field};
/// let class = Field::new("class", DataType::Utf8, true)
///     .with_metadata([(icecore_columns::FILLED_WITH.to_owned(), "class".to_owned())].into());
/// # assert_eq!(class.metadata().len(), 1);
/// ```
pub const FILLED_WITH: &str = "icecore";

/// The value of [`FILLED_WITH`] for a field that accepts any value, as JSON.
pub const JSON: &str = "json";

/// Name of the metadata of a field that sets the path of its value, instead of its name: `$.address.city`.
pub const PATH_METADATA: &str = "icecore.path";

/// Compiles the examples of the page about columns.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/columns.md")]
struct Page;
