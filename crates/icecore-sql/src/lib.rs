//! Locates the literals of an SQL dump, with their table, column and quoting.
//!
//! A [`Reader`] walks a dump of any length in windows: a window must contain a complete literal, but not a complete
//! line or statement. It decodes nothing; it returns ranges, so a caller who is not interested in a literal pays
//! nothing for it. The caller copies all bytes outside of literals.
//!
//! ```
//! use icecore_sql::{Next, Reader};
//!
//! let dump = b"INSERT INTO `posts` (`id`, `title`) VALUES (1,'It\\'s new');";
//! let mut reader = Reader::new();
//! while let Next::Literal(literal) = reader.next(dump, true)? {
//!     let cell = literal.cell.expect("a value of a row");
//!     let table = reader.table(cell.table);
//!     let column = cell.column.expect("the statement names its columns");
//!     assert_eq!((table.name(), table.columns()[column as usize].name()), ("posts", "title"));
//!     assert_eq!(&dump[literal.body], b"It\\'s new");
//! }
//! # Ok::<(), icecore_sql::Error>(())
//! ```
//!
//! # Windows
//!
//! A caller keeps a window of the dump, drops the part that [`Next::More`] reports, and adds more. The reader returns
//! offsets in that window. [`Quoting`] describes how a literal is written, and is an
//! [`Escaping`](icecore::rewrite::Escaping): it decodes a body, and encodes new text.
//!
//! ```
//! use std::io::Read;
//!
//! use icecore::rewrite::{Edits, Escaping, raw_edits};
//! use icecore_sql::{Next, Reader};
//!
//! /// Puts `new` before each value of a row.
//! fn change(mut dump: impl Read) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
//!     let (mut out, mut window, mut is_last) = (Vec::new(), Vec::new(), false);
//!     let mut copied = 0;
//!     let mut reader = Reader::new();
//!     loop {
//!         match reader.next(&window, is_last)? {
//!             Next::Literal(literal) if literal.cell.is_some() => {
//!                 let body = &window[literal.body.clone()];
//!                 let Some(decoded) = literal.quoting.decode(body) else { continue };
//!                 let mut edits = Edits::new();
//!                 edits.push(0, 0, b"new ");
//!                 let Some(edits) = raw_edits(body, &decoded, &edits, &literal.quoting) else { continue };
//!                 out.extend_from_slice(&window[copied..literal.body.start]);
//!                 edits.apply_to(body, &mut out);
//!                 copied = literal.body.end;
//!             }
//!             Next::Literal(_) | Next::Value(_) => {}
//!             Next::More { used } => {
//!                 out.extend_from_slice(&window[copied..used]);
//!                 window.drain(..used);
//!                 copied = 0;
//!                 // The longer the window, the more is read: each byte is moved a few times at most.
//!                 let size = window.len().max(1 << 16) as u64;
//!                 is_last = dump.by_ref().take(size).read_to_end(&mut window)? == 0;
//!             }
//!             Next::End => {
//!                 out.extend_from_slice(&window[copied..]);
//!                 return Ok(out);
//!             }
//!         }
//!     }
//! }
//!
//! let dump = b"-- PostgreSQL database dump\nCOPY t (a, b) FROM stdin;\nx\t\\N\n\\.\nSELECT 'as it is';\n";
//! let changed = b"-- PostgreSQL database dump\nCOPY t (a, b) FROM stdin;\nnew x\t\\N\n\\.\nSELECT 'as it is';\n";
//! assert_eq!(change(&dump[..])?, changed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Dialects
//!
//! The dialect is detected from the first lines of a dump, and later lines may change it: another dump after the first,
//! `SET sql_mode`, `SET standard_conforming_strings`, `DELIMITER`. A dump without such signs is read as MySQL's, unless
//! [`Options::dialect`] is set.
//!
//! | | supported dumps |
//! |---|---|
//! | MySQL, MariaDB | mysqldump, mariadb-dump, mydumper, phpMyAdmin, Adminer: all their options but `--xml` and `--tab` |
//! | PostgreSQL | plain dumps of pg_dump, with `COPY` or `INSERT` |
//! | SQLite | `.dump` of the shell, with its calls of `replace` and `unistr` |
//!
//! # Rows
//!
//! With [`Options::rows`], the values of rows are returned as [`Next::Value`], with or without quotes:
//!
//! ```
//! use icecore_sql::{Content, Next, Options, Reader};
//!
//! let dump = b"INSERT INTO t VALUES (-1.50,NULL),(now(),'x');";
//! let mut options = Options::default();
//! options.rows = true;
//! let mut reader = Reader::with_options(options);
//! let mut kinds = String::new();
//! while let Next::Value(value) = reader.next(dump, true)? {
//!     kinds += match value.content {
//!         Content::Number => "number",
//!         Content::Null => "null",
//!         Content::Literal(..) => "literal",
//!         _ => "another",
//!     };
//!     kinds += if value.ends_row { "\n" } else { " " };
//! }
//! assert_eq!(kinds, "number null\nanother literal\n");
//! # Ok::<(), icecore_sql::Error>(())
//! ```
//!
//! # Skipped parts
//!
//! Numbers, `NULL`, bits (`b'01'`), and PostgreSQL's `X'…'` and `U&'…'` are not literals here; they are values of
//! rows. Rows of a `COPY` with options are neither literals nor values; `INSERT … SET` and `UPDATE` have literals,
//! but no rows. Bodies of routines are literals without a cell. A dump that declares GBK, Big5 or Shift JIS, where a
//! backslash may be the second byte of a character, is refused.
//!
//! If a dump of PostgreSQL has no `CREATE TABLE`, a value that looks like `\x4142` is assumed to be a `bytea`.
#![forbid(unsafe_code)]

mod charset;
mod create;
mod dialect;
mod error;
mod header;
mod literal;
mod quoting;
mod reader;
mod reference;
mod rows;
mod scan;
mod session;
mod shell;
mod statement;
mod tables;

pub use dialect::Dialect;
pub use error::Error;
pub use literal::{Cell, Literal};
pub use quoting::{Frame, Placeholder, Quote, Quoting, Replaced};
pub use reader::{Next, Options, Reader};
#[doc(hidden)]
pub use reference::{ReferenceOutput, read_whole_dump};
pub use rows::{Content, Value};
pub use tables::{Column, Kind, Table, TableId};
