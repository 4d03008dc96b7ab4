//! Values without parts.

use super::Builder;
use crate::failure::to_py_error;
use crate::python_classes::PythonClasses;
use crate::reading::Strings;
use crate::record::form_name;
use icecore::encoding::decoded;
use icecore::num::float128;
use icecore::raw::{Node, flag};
use icecore::{Error, ErrorKind, Kind, Known};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyString};

impl<'py> Builder<'_, 'py> {
    /// Returns the value of a node without parts.
    #[inline]
    pub(super) fn build_leaf(&self, index: u32, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match node.kind {
            Kind::Bytes | Kind::Text => {
                match build_string(py, node.kind, self.document.bytes(node), self.reading.strings) {
                    Some(value) => Ok(value),
                    None => Err(self.not_text_error(index)),
                }
            }
            Kind::Int => Ok((node.payload as i64).into_pyobject(py)?.into_any()),
            Kind::Null | Kind::Hole => Ok(py.None().into_bound(py)),
            Kind::Bool => Ok(PyBool::new(py, node.payload != 0).to_owned().into_any()),
            Kind::Float => Ok(PyFloat::new(py, f64::from_bits(node.payload)).into_any()),
            Kind::Uint => Ok(node.payload.into_pyobject(py)?.into_any()),
            _ => self.build_rare_leaf(node),
        }
    }

    /// Builds a leaf of a kind that is not common.
    fn build_rare_leaf(&self, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let bytes = self.document.bytes(node);
        match node.kind {
            Kind::Float32 => Ok(PyFloat::new(py, f64::from(f32::from_bits(node.payload as u32))).into_any()),
            Kind::Float128 => {
                let value = float128::to_f64(&bytes.try_into().unwrap_or_default());
                Ok(PyFloat::new(py, value).into_any())
            }
            Kind::BigInt => {
                let int = py.get_type::<pyo3::types::PyInt>();
                let value = int.call_method1("from_bytes", (PyBytes::new(py, bytes), "little"))?;
                if node.has(flag::NEGATIVE) { value.neg() } else { Ok(value) }
            }
            Kind::Encoded => Ok(self.decode_string(node, bytes)),
            Kind::Symbol => self.build_symbol(self.decode_string(node, bytes)),
            Kind::EnumCase => {
                let case = bytes.iter().rposition(|byte| *byte == b':').unwrap_or(0);
                let name = bytes.get(case + 1..).unwrap_or_default();
                PythonClasses::look_up(py)?
                    .enum_case(py)
                    .call1((to_text_or_bytes(py, &bytes[..case]), to_text_or_bytes(py, name)))
            }
            _ => PythonClasses::look_up(py)?.module(py).call1((to_text_or_bytes(py, bytes), form_name(node.form()))),
        }
    }

    /// Returns a symbol, or plain text if symbols become text.
    pub(super) fn build_symbol(&self, name: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.reading.plain_symbols || !name.is_instance_of::<PyString>() {
            return Ok(name);
        }
        PythonClasses::look_up(self.py)?.symbol(self.py).call1((name,))
    }

    /// Returns a string in a named encoding: text if the bytes are valid in it, otherwise bytes.
    pub(super) fn decode_string(&self, node: &Node, bytes: &[u8]) -> Bound<'py, PyAny> {
        let encoding = self.document.tape().encodings().get(u32::from(node.encoding()));
        let text = encoding.and_then(|name| decoded(std::str::from_utf8(name.bytes).ok()?, bytes));
        match text {
            Some(text) => PyString::new(self.py, &text).into_any(),
            None => to_text_or_bytes(self.py, bytes),
        }
    }

    /// Returns the Python value for a value of a well-known class.
    pub(super) fn build_known_value(&self, index: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(cursor) = self.document.at(index) else { return Ok(None) };
        let description = match Known::of(cursor) {
            Some(Known::Time(moment) | Known::DateTime(moment)) => {
                Some(("datetime", moment.iso8601(), moment.zone().to_owned()))
            }
            Some(Known::Date(day)) => Some(("date", day.to_string(), String::new())),
            Some(known @ (Known::Decimal(_) | Known::Rational { .. } | Known::Complex { .. })) => {
                known.text(self.limits()).map(|text| (known.name(), text, String::new()))
            }
            _ => read_php_time(cursor),
        };
        let Some((kind, text, zone)) = description else { return Ok(None) };
        let value = PythonClasses::look_up(self.py)?.build_known(self.py).call1((kind, text, zone))?;
        Ok((!value.is_none()).then_some(value))
    }

    #[cold]
    fn not_text_error(&self, index: u32) -> PyErr {
        let error = Error::new(ErrorKind::Unrepresentable)
            .expecting("text in UTF-8, as strings=\"str\" says")
            .finding("other bytes")
            .helping("strings=\"auto\" makes bytes of it, strings=\"latin1\" a character of each byte")
            .on_path(self.document.path(index));
        to_py_error(self.py, &error)
    }
}

/// Returns the kind, the date and the zone of a PHP DateTime object.
fn read_php_time(cursor: icecore::Cursor<'_>) -> Option<(&'static str, String, String)> {
    let class = cursor.class();
    let is_time = class.eq_ignore_ascii_case(b"DateTime") || class.eq_ignore_ascii_case(b"DateTimeImmutable");
    if cursor.kind() != Kind::Object || !is_time || cursor.body().len() != 3 {
        return None;
    }
    // A value of another class may have three members too. Only a time has these three.
    cursor.get("timezone_type")?.as_i64()?;
    Some(("php", cursor.get("date")?.as_str()?.to_owned(), cursor.get("timezone")?.as_str()?.to_owned()))
}

/// Returns a string according to the rule. Returns `None` if the rule requires text and the bytes
/// are not UTF-8.
#[inline]
pub(super) fn build_string<'py>(py: Python<'py>, kind: Kind, bytes: &[u8], rule: Strings) -> Option<Bound<'py, PyAny>> {
    match (kind, rule) {
        (Kind::Bytes, Strings::Bytes) => Some(PyBytes::new(py, bytes).into_any()),
        (Kind::Bytes, Strings::Latin1) => {
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            Some(PyString::new(py, &text).into_any())
        }
        (_, Strings::Text) => std::str::from_utf8(bytes).ok().map(|text| PyString::new(py, text).into_any()),
        _ => Some(to_text_or_bytes(py, bytes)),
    }
}

/// Returns text if the bytes are UTF-8, otherwise bytes.
#[inline]
pub(super) fn to_text_or_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyAny> {
    match std::str::from_utf8(bytes) {
        Ok(text) => PyString::new(py, text).into_any(),
        Err(_) => PyBytes::new(py, bytes).into_any(),
    }
}
