//! Views of a document for people: its values in rows, with classes, offsets and bytes, and the differences between two
//! documents. This crate does not read or write files.
//!
//! ```
//! use icecore::{Limits, Request, Stage};
//! use icecore_inspect::{Item, Tree, TreeOptions};
//! let (stage, limits) = (Stage::parse("php")?, Limits::new());
//! let bytes = b"a:1:{s:4:\"name\";s:5:\"Alice\";}";
//! let outcome = stage.format().read(bytes, stage.settings(), Request::new(&limits).detailed());
//! let rows: Vec<_> = Tree::new(&outcome.document, TreeOptions::default()).collect();
//! let items: Vec<_> = rows.iter().filter_map(|row| Item::from_row(&outcome.document, row)).collect();
//! assert_eq!((items[1].step, items[1].kind, items[1].start), (Some(".name"), "bytes", Some(16)));
//! # Ok::<(), icecore::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod describe;
mod difference;
mod item;
mod part;
mod tree;

pub use difference::{Difference, Differences, ValueSummary, find_differences};
pub use item::{ErrorReport, Item, KnownValue};
pub use part::{Part, PartRequest};
pub use tree::{Row, Tree, TreeOptions};
