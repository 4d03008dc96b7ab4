//! The writer.

use super::options::WriteOptions;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::output::{Losses, Output};

/// Writes a document as Data::Dumper does. Returns what its text could not say.
///
/// # Errors
/// Of kind `Unrepresentable` or `Limit`; whatever the output returns.
pub fn write(
    _document: &Document<'_>,
    _options: &WriteOptions,
    _limits: &Limits,
    _out: &mut dyn Output,
) -> Result<Losses, Error> {
    Err(Error::new(ErrorKind::Unsupported))
}
