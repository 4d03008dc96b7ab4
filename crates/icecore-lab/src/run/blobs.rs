//! The data of a size as files, one for each format that runners request.

use crate::Error;
use icecore::{Document, Limits, Losses, Stage};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The value in the formats that runners request, each created when it is first needed.
pub(super) struct Blobs<'b> {
    folder: &'b Path,
    document: &'b Document<'static>,
    /// For each format, the file, or the reason why there is none.
    cells: BTreeMap<String, OnceCell<Result<Blob, String>>>,
}

/// The value in one format.
pub(super) struct Blob {
    pub path: PathBuf,
    /// The part of the value that this format can represent: the expected output.
    pub expected: Document<'static>,
    /// What the format could not represent.
    pub losses: Vec<String>,
}

impl<'b> Blobs<'b> {
    pub(super) fn new<'f>(
        folder: &'b Path,
        document: &'b Document<'static>,
        formats: impl Iterator<Item = &'f str>,
    ) -> Blobs<'b> {
        Blobs { folder, document, cells: formats.map(|format| (format.to_owned(), OnceCell::new())).collect() }
    }

    /// Returns the value in this format, or the reason why there is none.
    pub(super) fn get(&self, format: &str) -> Result<&Blob, String> {
        let Some(cell) = self.cells.get(format) else {
            return Err(format!("no competitor uses {format}"));
        };
        cell.get_or_init(|| self.make_blob(format).map_err(|error| error.to_string())).as_ref().map_err(Clone::clone)
    }

    fn make_blob(&self, format: &str) -> Result<Blob, Error> {
        let stage = Stage::parse(format)?;
        let limits = Limits::new();
        let mut bytes = Vec::new();
        let losses = icecore::write_to(self.document, &stage, &limits, &mut bytes)?;
        let expected = icecore::read_as(&bytes, &stage, &limits)?.into_owned();
        let path = self.folder.join(format!("data.{}", stage.format().name));
        std::fs::write(&path, &bytes).map_err(|error| Error::io(&path, &error))?;
        Ok(Blob { path, expected, losses: describe_losses(&losses) })
    }
}

fn describe_losses(losses: &Losses) -> Vec<String> {
    losses
        .iter()
        .map(|loss| format!("{} {}, first at {}", loss.count, loss.kind.describe(loss.count), loss.path))
        .collect()
}
