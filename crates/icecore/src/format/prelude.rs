//! Imports that the `mod.rs` of most formats need.

pub(crate) use super::feed::{self, Feed};
pub(crate) use super::{
    Capabilities, Certainty, DocumentPart, End, Evidence, Filled, Format, Guess, Outcome, ReadScalar, Reader, Request,
    Rest, Scan, Store, Writer,
};
pub(crate) use crate::document::{Document, Naming, ReceiveWindow, Sink, Tape};
pub(crate) use crate::error::{Error, ErrorKind};
pub(crate) use crate::limits::Limits;
pub(crate) use crate::output::{Losses, Output, Written};
