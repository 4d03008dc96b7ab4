//! Columns of frozen values to columns of Arrow.
//!
//! A [`Decoder`] takes a column of blobs and gives a column of a type, which is mostly a struct:
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
//! Links are followed, references and objects looked into. What does not fit its field makes
//! its row a bad one: see [`OnError`].
//!
//! | type | takes |
//! |---|---|
//! | integers | integers, floats without a fraction, texts that write one in the usual way |
//! | floats | floats, integers that a float holds, texts of numbers |
//! | `Decimal128` | numbers and texts of them, with no more places than there are; a float as its shortest digits |
//! | strings | text in UTF-8; numbers are written |
//! | binaries | strings of any bytes |
//! | `Date32` | Ruby's `Date`, `YYYY-MM-DD` |
//! | `Timestamp` | times of Ruby, Rails, PHP (Carbon too) and Perl (`DateTime`, `Time::Piece`), ISO 8601; in whole units. With a zone only what says how far it is from UTC |
//! | lists, structs, maps | lists; maps and objects; both |
//!
//! Numbers are no times: whether they are seconds or milliseconds can't be told.
#![forbid(unsafe_code)]

mod blobs;
mod column;
mod decoder;
mod encode;
mod error;
mod infer;
mod member;
mod misfit;
mod parallel;
pub mod schema;
mod source;
mod view;

pub use blobs::Blobs;
pub use decoder::{Bad, Decoded, Decoder, OnError, Options};
pub use encode::{Encoded, Encoder};
pub use error::Error;
pub use infer::Inference;
pub use parallel::decode_chunks;
pub use source::Source;

/// The name of the metadata of a field that says how it is filled: `class` for the name of the
/// object's class, `json` for any value as JSON, `rest` for the entries that have no field, as JSON.
///
/// ```
/// use arrow_schema::{DataType, Field};
/// let class = Field::new("class", DataType::Utf8, true)
///     .with_metadata([(icecore_columns::FILLED_WITH.to_owned(), "class".to_owned())].into());
/// # assert_eq!(class.metadata().len(), 1);
/// ```
pub const FILLED_WITH: &str = "icecore";

/// The value of [`FILLED_WITH`] for a field that takes any value, as JSON.
pub const JSON: &str = "json";

/// The name of the metadata of a field that says on which path its value stands, instead of
/// under its name: `$.address.city`.
pub const AT: &str = "icecore.path";

/// The examples of the page about columns, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/columns.md")]
struct Page;
