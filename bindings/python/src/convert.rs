//! From bytes to bytes, without values in between.

use crate::context;
use crate::dumps::stage_of;
use crate::failure::{raised, report};
use crate::input::bytes_of;
use crate::limits::limits_of;
use crate::loads::codec_for;
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
    let input = bytes_of(data)?;
    let from = context::with(|context| codec_for(py, context, from_, &input))?;
    let to = stage_of(py, to)?;
    let limits = limits_of(limits)?;
    let converted = py.detach(|| converted(&input, from.stage(), &to, &limits));
    let (bytes, lost) = converted.map_err(|error| raised(py, &error))?;
    report(py, &lost, losses)?;
    Ok(PyBytes::new(py, &bytes))
}

fn converted(input: &[u8], from: &Stage, to: &Stage, limits: &Limits) -> Result<(Vec<u8>, Losses), Error> {
    let mut request = Request::new(limits);
    request.detail = std::ptr::eq(from.format(), to.format());
    let document = icecore::read_with(input, from, request)?;
    let mut out = Vec::new();
    let losses = icecore::write_to(&document, to, limits, &mut out)?;
    Ok((out, losses))
}
