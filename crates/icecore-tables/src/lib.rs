//! Tables with frozen values in them: CSV, TSV, NDJSON, SQL dumps, Parquet, Arrow, and rows of databases.
//!
//! [`rows`] decodes values of columns and writes the rows in another form; [`replace`] changes text in values and
//! leaves every other byte as it is. Both start from the same readers: [`packing`] unpacks an input, [`unicode`] makes
//! UTF-8 of it, [`form`] finds out how it is written, [`csv`] in which dialect. One thread reads batches, as many as
//! there are processors work on them ([`pool`]), and the caller writes, in the order of the input.
//!
//! It knows no command line, no terminal and no files but those that it is given: the command `icecore` has these.

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
pub mod replace;
pub mod rows;
pub mod step;
pub mod tally;
pub mod unicode;
pub mod window;

pub use error::{Error, Result};
