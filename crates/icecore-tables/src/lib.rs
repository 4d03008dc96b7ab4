//! Tables with frozen values in them: CSV, TSV, NDJSON, SQL dumps, Parquet, Arrow, and rows of databases.
//!
//! [`rows`] decodes values of columns and writes the rows in another form; [`replace`] changes text in values and
//! keeps every other byte. Both use the same readers. [`packing`] unpacks an input, [`unicode`] converts it to UTF-8,
//! [`form`] detects its form, and [`csv`] detects its dialect. One thread reads batches. One thread for each
//! processor works on them ([`pool`]). The caller writes the results in the order of the input.
//!
//! The crate does not use the command line or the terminal. It only uses files that the caller has opened or named.
//! The rest belongs to the command `icecore`.

#![warn(missing_docs)]

pub mod byte_order_mark;
pub mod charset;
pub mod csv;
pub mod error;
pub mod filter;
pub mod form;
pub mod packing;
pub mod plural;
pub mod pool;
pub mod record_converter;
pub mod replace;
pub mod rows;
pub mod tally;
pub mod unicode;
pub mod window;

pub use error::{Error, Result};
