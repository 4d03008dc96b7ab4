//! From values to bytes.

use crate::context::{self, Context};
use crate::failure::{report_losses, to_py_error, usage_error};
use crate::limits::parse_limits;
use crate::walk::Walker;
use icecore::{Codec, Document, Losses};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict};

/// Other threads may run while a tape with at least this number of nodes is written.
const MIN_DETACHED_NODES: usize = 4096;

/// Returns `value` as bytes of `format`. If the format can't express something, that is a loss: a
/// warning, or what `losses` requests. Other arguments are options of the format.
#[pyfunction]
#[pyo3(signature = (value, format="php", *, default=None, losses=None, limits=None, **options))]
pub(crate) fn dumps<'py>(
    value: &Bound<'py, PyAny>,
    format: &str,
    default: Option<Bound<'py, PyAny>>,
    losses: Option<&Bound<'py, PyAny>>,
    limits: Option<&Bound<'py, PyDict>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = value.py();
    let (bytes, lost) = context::with_context(|context| {
        let mut codec = set_options(context.find_codec(py, format)?, options)?;
        if limits.is_some() {
            codec.limits = parse_limits(limits)?;
        }
        write_value(py, context, &codec, value, default)
    })?;
    report_losses(py, &lost, losses)?;
    Ok(bytes)
}

/// Returns the same stage with options from keyword arguments.
fn set_options(codec: Codec, options: Option<&Bound<'_, PyDict>>) -> PyResult<Codec> {
    let Some(options) = options.filter(|options| !options.is_empty()) else { return Ok(codec) };
    let py = options.py();
    let mut stage = codec.stage().clone();
    for (name, value) in options {
        let name = name.extract::<String>()?;
        let value = match value.cast::<PyBool>() {
            Ok(value) => if value.is_true() { "yes" } else { "no" }.to_owned(),
            Err(_) => value.str()?.to_string(),
        };
        stage.set(&name, Some(&value)).map_err(|error| to_py_error(py, &error))?;
    }
    Ok(Codec::new(stage))
}

/// Writes a Python value. Returns its bytes and the losses.
fn write_value<'py>(
    py: Python<'py>,
    context: &mut Context,
    codec: &Codec,
    value: &Bound<'py, PyAny>,
    default: Option<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, Losses)> {
    context.tape.clear();
    let walker = Walker::new(py, &mut context.tape, codec, default);
    let filled = walker.walk(value)?;
    context.tape.fill(filled.nodes, filled.arena, 0, None);
    context.tape.declare_foreign();
    if filled.has_own_names {
        codec.stage().format().named(&mut context.tape);
    }
    let is_long = context.tape.nodes().len() >= MIN_DETACHED_NODES;
    let document = Document::from_tape(Vec::new(), std::mem::take(&mut context.tape));
    let (spare, out) = (&mut context.spare, &mut context.out);
    out.clear();
    let mut emit = || match codec.write_filled(&document, spare, out) {
        true => Ok(Losses::default()),
        false => codec.write(&document, out),
    };
    let written = if is_long { py.detach(emit) } else { emit() };
    context.tape = document.into_tape();
    let losses = written.map_err(|error| to_py_error(py, &error))?;
    Ok((PyBytes::new(py, &context.out), losses))
}

/// Parses the name of a stage with its options.
pub(crate) fn parse_stage(py: Python<'_>, name: &str) -> PyResult<icecore::Stage> {
    match name.is_empty() {
        true => Err(usage_error(py, "the name of a format", "an empty one")),
        false => icecore::Stage::parse(name).map_err(|error| to_py_error(py, &error)),
    }
}
