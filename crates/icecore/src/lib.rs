//! Icecore reads and writes the data that Perl, PHP and Ruby freeze, byte for
//! byte as the originals do, and never runs any of it.
//!
//! In the middle is one [`Document`]. A format is two functions: bytes to
//! Document, Document to bytes. So any format converts to any other:
//!
//! ```
//! let json = icecore::convert(br#"{"name":"Alice"}"#, "json", "json:indent=2")?;
//! assert_eq!(json, b"{\n  \"name\": \"Alice\"\n}\n");
//! # Ok::<(), icecore::Error>(())
//! ```
//!
//! The engine does no I/O, reads no clock and no environment. Whatever the
//! input, it does not panic, and its work and memory are linear in it; see
//! [`Limits`].
#![forbid(unsafe_code)]

// Tests of the engine's inside share files with those of its outside.
#[cfg(test)]
extern crate self as icecore;

mod api;
mod base64;
mod class_map;
mod codec;
mod compress;
mod converter;
pub mod deep;
mod detect;
mod document;
mod encoding;
mod error;
pub mod format;
mod hash;
mod known;
mod limits;
mod losses;
pub mod num;
mod options;
mod output;
pub mod policy;
mod printable;
mod shortened;
mod stage;
mod steps;
mod string_locations;
mod suggest;
pub mod wrap;

pub use api::{convert, read, read_as, read_with, write, write_to};
pub use class_map::ClassMap;
pub use codec::Codec;
pub use converter::{Converted, Converter};
pub use detect::{Finding, begins_as, begins_frozen, identify, identify_head, recognised, stage_of, stage_of_first};
pub use document::{
    BigInt, Builder, ClassUse, Comparison, Cursor, Cut, Detail, Detailed, Document, Entries, Extent, Form, IS_KEY,
    Items, KEY_NODE, Key, Kind, Location, Metadata, NO_KEY, NO_NODE, Name, NameEntry, Names, Node, Note, Receive,
    Repair, Sink, Span, Spelling, Tape, Trace, Value, Visibility, flag,
};
pub use encoding::decoded;
pub use error::{Error, ErrorKind, window, window_from};
pub use format::{
    Certainty, Filled, Format, Guess, Outcome, Part, Parts, Prepared, Reader, Request, Rest, Store, Writer, dumper,
    igbinary, join, json, marshal, pack, php, sereal, storable, var_export,
};
pub use known::{Day, Exception, Known, Members, Moment};
pub use limits::Limits;
pub use losses::{Loss, LossKind, Losses, Written};
pub use options::{Opt, OptionType, Settings, Side};
pub use output::{Output, Spare};
pub use printable::{is_printable, printable};
pub use shortened::shortened;
pub use stage::{Stage, Wrap};
pub use suggest::nearest;
pub use wrap::{Unwrapped, Wrapper};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
