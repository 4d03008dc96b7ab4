//! From bytes to values.

use crate::build::{Builder, Cache};
use crate::context::{self, Context};
use crate::failure::{refused_classes_error, to_py_error};
use crate::input::read_input;
use crate::limits::parse_limits;
use crate::reading::ReadOptions;
use icecore::raw::Filled;
use icecore::{Codec, Document, Error, Kind, detect, policy};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;

/// Other threads may run while an input of at least this length is read.
const MIN_DETACHED_LEN: usize = 16 << 10;

/// Returns the value in `data`. If `format` is not given, it is detected.
#[pyfunction]
#[pyo3(signature = (data, format=None, *, classes=None, allow=None, strings=None, symbols=None, known=false, limits=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn loads<'py>(
    data: &Bound<'py, PyAny>,
    format: Option<&str>,
    classes: Option<Bound<'py, PyAny>>,
    allow: Option<Bound<'py, PyAny>>,
    strings: Option<&str>,
    symbols: Option<&str>,
    known: bool,
    limits: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let reading = ReadOptions::from_arguments(py, classes, allow, strings, symbols, known)?;
    let input = read_input(data)?;
    context::with_context(|context| {
        if format.is_none()
            && limits.is_none()
            && let Some(value) = load_in_last_format(py, context, &input, &reading)
        {
            return value;
        }
        let mut codec = choose_codec(py, context, format, &input)?;
        context.last_detected = format.is_none().then(|| codec.clone());
        if limits.is_some() {
            codec.limits = parse_limits(limits)?;
        }
        let (value, consumed) = load_first(py, context, &codec, &input, &reading)?;
        match consumed < input.len() {
            true => Err(to_py_error(py, &codec.stage().format().explain(Error::trailing(&input, consumed)))),
            false => Ok(value),
        }
    })
}

/// Returns the value if the bytes have the format that was detected for the last input. A program mostly reads one
/// format, and this saves the detection. Returns `None` if the bytes may have another format.
fn load_in_last_format<'py>(
    py: Python<'py>,
    context: &mut Context,
    input: &[u8],
    reading: &ReadOptions<'py>,
) -> Option<PyResult<Bound<'py, PyAny>>> {
    let codec = context.last_detected.clone()?;
    if !codec.stage().wrappers().is_empty() || !detect::settles(codec.stage().format(), input) {
        return None;
    }
    let filled = read_document(py, context, &codec, input);
    let tape = &context.tape;
    let is_container = || tape.nodes().get(tape.root() as usize).is_some_and(|root| root.kind.is_container());
    if filled.error.is_some() || filled.consumed < input.len() || !is_container() {
        return None;
    }
    Some(build_value(py, context, &codec, input, &filled, reading))
}

/// Returns the stage that is named, or a stage that is detected from the bytes.
pub(crate) fn choose_codec(
    py: Python<'_>,
    context: &mut Context,
    format: Option<&str>,
    input: &[u8],
) -> PyResult<Codec> {
    match format {
        Some(format) => context.find_codec(py, format),
        None => {
            let stage = match input.len() < MIN_DETACHED_LEN {
                true => detect::stage_of(input),
                false => py.detach(|| detect::stage_of(input)),
            };
            Ok(context.codec_for_stage(stage.map_err(|error| to_py_error(py, &error))?))
        }
    }
}

/// Returns the first value, and the number of bytes that it takes.
pub(crate) fn load_first<'py>(
    py: Python<'py>,
    context: &mut Context,
    codec: &Codec,
    input: &[u8],
    reading: &ReadOptions<'py>,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let mut filled = read_document(py, context, codec, input);
    if let Some(error) = filled.error.take() {
        return Err(to_py_error(py, &codec.stage().format().explain(error)));
    }
    let value = build_value(py, context, codec, input, &filled, reading)?;
    Ok((value, filled.consumed))
}

/// Reads the first document to the tape. While a long one is read, other threads run.
fn read_document(py: Python<'_>, context: &mut Context, codec: &Codec, input: &[u8]) -> Filled {
    let Context { tape, stencils, .. } = context;
    match input.len() < MIN_DETACHED_LEN {
        true => codec.read_alike(input, tape, stencils),
        false => py.detach(|| codec.read(input, tape)),
    }
}

/// Builds the value of the document on the tape.
fn build_value<'py>(
    py: Python<'py>,
    context: &mut Context,
    codec: &Codec,
    input: &[u8],
    filled: &Filled,
    reading: &ReadOptions<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let format = codec.stage().format();
    let body = filled.body.as_deref().unwrap_or(input);
    if format.can.names_strings_again && !filled.is_simple {
        let checked = context.tape.check_strings(&codec.limits, body.len());
        checked.map_err(|error| to_py_error(py, &format.explain(error)))?;
    }
    let document = Document::from_tape(Cow::Borrowed(body), std::mem::take(&mut context.tape));
    let value = build_allowed_value(py, &document, &mut context.cache, codec, reading);
    context.tape = document.into_tape();
    value
}

/// Returns the value of a document, if its classes are allowed.
fn build_allowed_value<'py>(
    py: Python<'py>,
    document: &Document<'_>,
    cache: &mut Cache,
    codec: &Codec,
    reading: &ReadOptions<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(rules) = &reading.allow {
        let classes = policy::refused(document, &[rules], policy::NameComparison::Exact, |_| true);
        let classes = classes.map_err(|error| to_py_error(py, &error))?;
        if !classes.is_empty() {
            return Err(refused_classes_error(py, &classes));
        }
    }
    // A copy is an equal value of its own. Python values can be changed, so each copy must be built separately.
    let has_copies = document.nodes().iter().any(|node| node.kind == Kind::Copy);
    match has_copies {
        true => {
            let expanded = document.without_copies(&codec.limits).map_err(|error| to_py_error(py, &error))?;
            Builder::new(py, &expanded, cache, codec, reading).build()
        }
        false => Builder::new(py, document, cache, codec, reading).build(),
    }
}
