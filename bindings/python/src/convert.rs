//! From bytes to bytes, without values in between.

use crate::context;
use crate::dumps::parse_stage;
use crate::failure::{report_losses, to_py_error};
use crate::input::read_input;
use crate::limits::parse_limits;
use crate::loads::choose_codec;
use icecore::{Error, Limits, Losses, Request, Stage};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Converts `data` to bytes of the format `to`. `data` is of the format `from_`, or of one that is
/// detected. If both are the same format, the byte form is kept.
#[pyfunction]
#[pyo3(signature = (data, to, from_=None, *, losses=None, limits=None))]
pub(crate) fn convert<'py>(
    data: &Bound<'py, PyAny>,
    to: &str,
    from_: Option<&str>,
    losses: Option<&Bound<'py, PyAny>>,
    limits: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    let input = read_input(data)?;
    let from = context::with_context(|context| choose_codec(py, context, from_, &input))?;
    let to = parse_stage(py, to)?;
    let limits = parse_limits(limits)?;
    let converted = py.detach(|| convert_bytes(&input, from.stage(), &to, &limits));
    let (bytes, lost) = converted.map_err(|error| to_py_error(py, &error))?;
    report_losses(py, &lost, losses)?;
    Ok(PyBytes::new(py, &bytes))
}

fn convert_bytes(input: &[u8], from: &Stage, to: &Stage, limits: &Limits) -> Result<(Vec<u8>, Losses), Error> {
    let mut request = Request::new(limits);
    request.detail = std::ptr::eq(from.format(), to.format());
    let document = icecore::read_with(input, from, request)?;
    let mut out = Vec::new();
    let losses = icecore::write_to(&document, to, limits, &mut out)?;
    Ok((out, losses))
}
