//! Icecore reads and writes the data that Perl, PHP and Ruby freeze, byte for
//! byte as the originals do, and never runs any of it.
//!
//! Everything revolves around one [`Document`]. A format is two functions: bytes to Document, and Document to bytes. So
//! every format converts to every other:
//!
//! ```
//! let json = icecore::convert(br#"{"name":"Alice"}"#, "json", "json:indent=2")?;
//! assert_eq!(json, b"{\n  \"name\": \"Alice\"\n}\n");
//! # Ok::<(), icecore::Error>(())
//! ```
//!
//! The engine does no I/O and reads no clock and no environment. It does not panic for any input, and its work and
//! memory are linear in the input; see [`Limits`].
#![forbid(unsafe_code)]

// Internal tests of the engine share files with its external tests.
#[cfg(test)]
extern crate self as icecore;

pub mod alter;
mod api;
mod base64;
mod class_map;
mod codec;
mod compress;
mod converter;
pub mod deep;
pub mod detect;
mod document;
mod edit;
pub mod encoding;
mod error;
mod find_byte;
pub mod format;
mod hash;
mod html_entities;
pub mod known;
mod limits;
mod losses;
pub mod num;
mod options;
mod output;
pub mod policy;
mod printable;
mod regexp;
pub mod rewrite;
mod salvage;
pub mod select;
#[cfg(feature = "serde")]
mod serde_values;
mod shortened;
mod spreadsheet;
mod stage;
mod steps;
mod string_locations;
mod suggest;
pub mod wrap;

pub use api::{convert, read, read_as, read_with, write, write_to};
pub use class_map::ClassMap;
pub use codec::Codec;
pub use converter::{Converted, Converter};
pub use detect::identify;
pub use document::{Builder, Cursor, Document, Key, Kind, Value};
pub use error::{Error, ErrorKind};
pub use format::{Format, Request};
pub use known::Known;
pub use limits::Limits;
pub use losses::{Loss, LossKind, Losses, Written};
pub use output::Output;
pub use stage::Stage;

/// Parts of values and documents, and their comparison.
pub mod value {
    pub use crate::document::{
        BigInt, ClassUse, CodeUse, Comparison, CopiedValues, Entries, Explanation, Form, Items, Metadata, Repair,
        Visibility,
    };
    pub use crate::salvage::Salvaged;
    #[cfg(feature = "serde")]
    pub use crate::serde_values::{from_document, to_document};
}

/// Text for people: escaping of invisible characters and shortening; a window of bytes around an offset; suggestions
/// for mistyped names. Also Base64, for places that accept only text.
pub mod text {
    pub use crate::base64::{from_base64, to_base64};
    pub use crate::error::{window, window_from};
    pub use crate::printable::{is_printable, printable};
    pub use crate::shortened::shortened;
    pub use crate::spreadsheet::{is_formula, spreadsheet_text};
    pub use crate::suggest::nearest;
}

/// Internals of a document, for code that fills or walks a tape itself, or implements a format: nodes, tables of names,
/// sinks, readers and writers. `docs/tape.md` explains them. This module changes more often than the others.
pub mod raw {
    pub use crate::document::{
        Cut, Detail, Detailed, Extent, IS_KEY, KEY_NODE, Location, NO_KEY, NO_NODE, Name, NameEntry, Names, Node, Note,
        ReceiveWindow, Sink, Span, Spelling, Tape, Trace, flag,
    };
    pub use crate::error::ErrorDetail;
    pub use crate::find_byte::{find_byte, find_in_word};
    pub use crate::format::skim::{
        Input, Mark, Skim, SkimAborted, SkimResult, SkimmedContainer, SkimmedKey, SkimmedKind,
    };
    pub use crate::format::{
        DocumentPart, Filled, Outcome, PartProgress, Prepared, ReadScalar, Reader, Rest, Stencils, Store, Writer,
    };
    pub use crate::output::Spare;
    pub use crate::stage::Wrap;
}

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
