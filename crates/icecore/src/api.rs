//! Common tasks as one call each: read, write, convert.

use crate::detect;
use crate::document::{Document, lose_metadata};
use crate::error::Error;
use crate::format::Request;
use crate::limits::Limits;
use crate::output::Written;
use crate::stage::Stage;
use crate::wrap::Unwrapped;
use std::borrow::Cow;

/// Reads a document, and detects its format.
///
/// ```
/// let document = icecore::read(b"\x05\x0b\x02\0\0\0\x01\x08\x81")?;
/// assert_eq!(document.root().item(0).and_then(|one| one.as_i64()), Some(1));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Format`, if no format matches; or an error of the format's reader.
pub fn read(input: &[u8]) -> Result<Document<'_>, Error> {
    read_as(input, &detect::stage_of(input)?, &Limits::default())
}

/// Reads a document of this format. Bytes after it are an error.
///
/// ```
/// use icecore::{Limits, Stage};
/// let stage = Stage::parse("json")?;
/// let document = icecore::read_as(b"[1, 2]", &stage, &Limits::default())?;
/// assert_eq!(document.root().len(), 2);
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Errors of the format's reader; of kind `Trailing`, if bytes follow the
/// document.
pub fn read_as<'a>(input: &'a [u8], stage: &Stage, limits: &Limits) -> Result<Document<'a>, Error> {
    read_with(input, stage, Request::new(limits))
}

/// Like [`read_as`], with spelling, or with a tape to reuse.
///
/// # Errors
/// Those of [`read_as`].
pub fn read_with<'a>(input: &'a [u8], stage: &Stage, request: Request<'_>) -> Result<Document<'a>, Error> {
    if stage.wrappers().is_empty() {
        return read_inside(input, stage, request);
    }
    let mut limits = request.limits.clone();
    let Unwrapped { bytes, metadata, .. } = stage.unwrap_within(input, &mut limits)?;
    let request = Request { limits: &limits, ..request };
    let mut read = match &bytes {
        Cow::Borrowed(bytes) => read_inside(bytes, stage, request),
        Cow::Owned(bytes) => read_inside(bytes, stage, request).map(Document::into_owned),
    };
    if let Ok(document) = &mut read {
        document.set_metadata(metadata);
    }
    read.map_err(|error| stage.layer().map_or(error.clone(), |layer| error.in_layer(layer)))
}

fn read_inside<'a>(input: &'a [u8], stage: &Stage, request: Request<'_>) -> Result<Document<'a>, Error> {
    let format = stage.format();
    format.read(input, stage.settings(), request).into_whole_document(input, format)
}

/// Writes a document; the stage is given as text. Losses are accepted:
/// [`write_to`] reports them.
///
/// ```
/// let document = icecore::read(b"[true, null]")?;
/// assert_eq!(icecore::write(&document, "json")?, b"[true,null]");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Usage` for an invalid stage; of kind `Unrepresentable` for a value without a form in the format.
pub fn write(document: &Document<'_>, stage: &str) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    write_to(document, &Stage::parse(stage)?, &Limits::default(), &mut out)?;
    Ok(out)
}

/// Writes a document, and returns what the format could not represent.
///
/// ```
/// use icecore::{Limits, Stage};
/// let mut b = icecore::Builder::new();
/// b.begin_object("Employee");
/// b.begin_map();
/// b.end().end();
/// let mut json = Vec::new();
/// let losses = icecore::write_to(&b.finish()?, &Stage::parse("json")?, &Limits::default(), &mut json)?;
/// assert_eq!(losses.iter().next().unwrap().to_string(), "1 class name dropped, first at $");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Those of [`write()`].
pub fn write_to(
    document: &Document<'_>,
    stage: &Stage,
    limits: &Limits,
    out: &mut dyn crate::output::Output,
) -> Written {
    if stage.wrappers().is_empty() {
        let mut losses = write_inside(document, stage, limits, out)?;
        lose_metadata(document.metadata(), &mut losses);
        return Ok(losses);
    }
    let mut bytes = Vec::new();
    let mut losses = write_inside(document, stage, limits, &mut bytes)?;
    let (bytes, lost) = stage.wrap_with(bytes, document.metadata())?;
    lose_metadata(&lost, &mut losses);
    out.buffer().extend_from_slice(&bytes);
    out.allow_flush()?;
    Ok(losses)
}

fn write_inside(
    document: &Document<'_>,
    stage: &Stage,
    limits: &Limits,
    out: &mut dyn crate::output::Output,
) -> Written {
    let format = stage.format();
    format.write(document, stage.settings(), limits, out).map_err(|error| format.explain(error))
}

/// Converts from one stage to another. If both have the same format, the byte form is kept.
///
/// ```
/// let storable = icecore::convert(b"[1]", "json", "storable:memory,netorder")?;
/// assert_eq!(storable, b"\x05\x0b\x02\0\0\0\x01\x08\x81");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Those of [`read_as`] and [`write()`].
pub fn convert(input: &[u8], from: &str, to: &str) -> Result<Vec<u8>, Error> {
    let (from, to) = (Stage::parse(from)?, Stage::parse(to)?);
    let limits = Limits::default();
    let mut request = Request::new(&limits);
    request.detail = std::ptr::eq(from.format(), to.format());
    let document = read_with(input, &from, request)?;
    let mut out = Vec::new();
    write_to(&document, &to, &limits, &mut out)?;
    Ok(out)
}
