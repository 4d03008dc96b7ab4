//! json

use super::{Format, Guess, Outcome, Request};
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};

/// The row in the registry.
pub static FORMAT: Format =
    Format { name: "json", title: "", options: &[], page: include_str!("FORMAT.md"), detect, read, write };

fn detect(_input: &[u8]) -> Option<Guess> {
    None
}

fn read<'a>(_input: &'a [u8], _settings: &Settings, _request: Request<'_>) -> Outcome<'a> {
    Outcome { document: Document::default(), consumed: 0, error: Some(Error::new(ErrorKind::Unsupported)) }
}

fn write(
    _document: &Document<'_>,
    _settings: &Settings,
    _limits: &Limits,
    _out: &mut dyn Output,
) -> Result<Losses, Error> {
    Err(Error::new(ErrorKind::Unsupported))
}
