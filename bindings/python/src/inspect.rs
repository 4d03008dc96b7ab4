//! Queries about data: its format, its classes, its tree as rows. No value is built.

use crate::context;
use crate::failure::to_py_error;
use crate::input::read_input;
use crate::limits::parse_limits;
use crate::loads::choose_codec;
use icecore::{Limits, Request, Stage, detect as detection};
use icecore_inspect::describe::{Tone, describe_key, describe_value};
use icecore_inspect::{Row, Tree, TreeOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Returns the format of the bytes and what is known about it, or None.
#[pyfunction]
pub(crate) fn detect<'py>(data: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = data.py();
    let input = read_input(data)?;
    let (finding, stage) = py.detach(|| (icecore::identify(&input), detection::stage_of(&input)));
    let Some(finding) = finding else { return Ok(None) };
    let dict = PyDict::new(py);
    dict.set_item("format", finding.name)?;
    dict.set_item("title", finding.title)?;
    dict.set_item("variant", &finding.variant)?;
    dict.set_item("certainty", finding.certainty.as_str())?;
    dict.set_item("wrappers", &finding.wrappers)?;
    dict.set_item("readable", finding.is_read)?;
    dict.set_item("stage", stage.ok().map(|stage| stage.name()))?;
    Ok(Some(dict))
}

/// Returns the classes that the data names: name, kind, count, first path.
#[pyfunction]
#[pyo3(signature = (data, format=None, *, limits=None))]
pub(crate) fn classes<'py>(
    data: &Bound<'py, PyAny>,
    format: Option<&str>,
    limits: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = data.py();
    let input = read_input(data)?;
    let codec = context::with_context(|context| choose_codec(py, context, format, &input))?;
    let limits = parse_limits(limits)?;
    let found = py.detach(|| Ok(icecore::read_as(&input, codec.stage(), &limits)?.classes()));
    let classes = PyList::empty(py);
    for class in found.map_err(|error| to_py_error(py, &error))? {
        classes.append((String::from_utf8_lossy(&class.name), class.kind, class.count, class.path))?;
    }
    Ok(classes)
}

/// A row of the tree of a document.
struct TreeRow {
    depth: u32,
    step: String,
    kind: &'static str,
    class: Option<String>,
    value: Option<String>,
    count: Option<u64>,
    start: Option<u64>,
    end: Option<u64>,
}

/// Returns the format of the data and its rows: depth, step, kind, class, value, count, start and
/// end. An error is returned as the third item, in addition to the rows that could be read.
#[pyfunction]
#[pyo3(signature = (data, format=None, *, items=100, text=80, limits=None))]
#[allow(clippy::type_complexity)]
pub(crate) fn rows<'py>(
    data: &Bound<'py, PyAny>,
    format: Option<&str>,
    items: u64,
    text: usize,
    limits: Option<&Bound<'py, PyDict>>,
) -> PyResult<(String, Bound<'py, PyList>, Option<Py<PyAny>>)> {
    let py = data.py();
    let input = read_input(data)?;
    let codec = context::with_context(|context| choose_codec(py, context, format, &input))?;
    let limits = parse_limits(limits)?;
    let stage = codec.stage();
    let (listed, error) = py.detach(|| list_rows(&input, stage, &limits, items, text));
    let rows = PyList::empty(py);
    for row in listed {
        rows.append((row.depth, row.step, row.kind, row.class, row.value, row.count, row.start, row.end))?;
    }
    let error = error.map(|error| to_py_error(py, &error).into_value(py).into_any());
    Ok((stage.name(), rows, error))
}

/// Returns the rows of the tree of a document, and the error that ends it, if there is one.
fn list_rows(
    input: &[u8],
    stage: &Stage,
    limits: &Limits,
    items: u64,
    text: usize,
) -> (Vec<TreeRow>, Option<icecore::Error>) {
    let mut limits = limits.clone();
    let unwrapped = match stage.unwrap_within(input, &mut limits) {
        Ok(unwrapped) => unwrapped,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let format = stage.format();
    let outcome = format.read(&unwrapped.bytes, stage.settings(), Request::new(&limits).detailed());
    let document = &outcome.document;
    let show = TreeOptions { items, fold: true, ..TreeOptions::default() };
    let rows = Tree::new(document, show).filter_map(|row| match row {
        Row::Value { node, depth, step, extent, body } => {
            let description = describe_value(document, node, text);
            let count = document.at(body.unwrap_or(node)).filter(|cursor| cursor.kind().is_container());
            Some(TreeRow {
                depth,
                step,
                kind: description.kind,
                class: description.class,
                value: description.value.filter(|(tone, _)| *tone != Tone::Count).map(|(_, text)| text),
                count: count.map(|cursor| cursor.len() as u64),
                start: extent.map(|extent| extent.start),
                end: extent.map(|extent| extent.end).filter(|end| *end != u64::MAX),
            })
        }
        Row::More { count, depth } => Some(TreeRow {
            depth,
            step: String::new(),
            kind: "more",
            class: None,
            value: None,
            count: Some(count),
            start: None,
            end: None,
        }),
        Row::Member { value, depth } => describe_key(document, value, text).map(|(kind, _, text)| TreeRow {
            depth,
            step: "-".to_owned(),
            kind,
            class: None,
            value: Some(text),
            count: None,
            start: None,
            end: None,
        }),
        _ => None,
    });
    let rows = rows.collect();
    (rows, outcome.error.map(|error| format.explain(error)))
}

/// Returns the names of all formats, with their titles.
#[pyfunction]
pub(crate) fn formats() -> Vec<(&'static str, &'static str)> {
    icecore::format::all().iter().map(|format| (format.name, format.title)).collect()
}
