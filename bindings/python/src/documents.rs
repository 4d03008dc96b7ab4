//! A sequence of documents in bytes that arrive in chunks.

use crate::context;
use crate::failure::to_py_error;
use crate::limits::parse_limits;
use crate::loads::load_first;
use crate::reading::ReadOptions;
use icecore::{Codec, Error, ErrorKind, Stage, detect};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Reads bytes that arrive in chunks, document by document.
#[pyclass(module = "icecore")]
pub(crate) struct Documents {
    codec: Option<Codec>,
    limits: icecore::Limits,
    options: DocumentOptions,
    bytes: Vec<u8>,
    /// Number of bytes of `bytes` that were read.
    offset: usize,
    /// Number of bytes that arrived before `bytes`.
    bytes_before: u64,
    is_ended: bool,
    /// Minimum number of unread bytes for the next attempt to read a document.
    min_len: usize,
}

/// The arguments of `loads`.
struct DocumentOptions {
    classes: Option<Py<PyAny>>,
    allow: Option<Py<PyAny>>,
    strings: Option<String>,
    symbols: Option<String>,
    known: bool,
}

/// If an error is at most this number of bytes before the end of the chunk, its cause may be that bytes are missing.
const NEAR_END: u64 = 64;

#[pymethods]
impl Documents {
    #[new]
    #[pyo3(signature = (format=None, *, classes=None, allow=None, strings=None, symbols=None, known=false, limits=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        format: Option<&str>,
        classes: Option<Py<PyAny>>,
        allow: Option<Py<PyAny>>,
        strings: Option<String>,
        symbols: Option<String>,
        known: bool,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Documents> {
        let options = DocumentOptions { classes, allow, strings, symbols, known };
        options.to_read_options(py)?;
        let limits = parse_limits(limits)?;
        let stage = format.map(Stage::parse).transpose().map_err(|error| to_py_error(py, &error))?;
        let codec = stage.map(|stage| codec_for_documents(stage, &limits));
        Ok(Documents {
            codec,
            limits,
            options,
            bytes: Vec::new(),
            offset: 0,
            bytes_before: 0,
            is_ended: false,
            min_len: 1,
        })
    }

    /// Adds bytes. An empty chunk means that no more bytes follow.
    fn feed(&mut self, chunk: &Bound<'_, PyBytes>) {
        self.bytes.drain(..self.offset);
        self.bytes_before += self.offset as u64;
        self.offset = 0;
        self.is_ended |= chunk.as_bytes().is_empty();
        self.bytes.extend_from_slice(chunk.as_bytes());
    }

    /// Returns `(True, value)`, or `(False, None)` if more bytes are needed or no document is left.
    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<(bool, Option<Bound<'py, PyAny>>)> {
        if !self.is_ended && self.bytes.len() - self.offset < self.min_len {
            return Ok((false, None));
        }
        let codec = self.detect_codec(py)?;
        self.skip_separators(&codec);
        if self.offset >= self.bytes.len() {
            return Ok((false, None));
        }
        let reading = self.options.to_read_options(py)?;
        // Building values may run code that calls `next` again. That call must not read the same document, so the
        // bytes are taken out meanwhile.
        let bytes = std::mem::take(&mut self.bytes);
        let rest = bytes.get(self.offset..).unwrap_or_default();
        let length = self.measure_document(py, &codec, rest);
        let read = match length {
            Ok(Some(length)) => {
                context::with_context(|context| load_first(py, context, &codec, &rest[..length], &reading))
                    .map(|(value, consumed)| Some((value, consumed)))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(to_py_error(py, &error.moved(self.bytes_before as usize + self.offset))),
        };
        let unread = rest.len();
        self.bytes = bytes;
        match read {
            Ok(Some((value, consumed))) => {
                if consumed == 0 {
                    return Err(PyValueError::new_err("a document without bytes, which would never end"));
                }
                self.offset += consumed;
                self.min_len = 1;
                Ok((true, Some(value)))
            }
            Ok(None) => {
                // The document is read from its beginning again. Waiting for twice as many bytes keeps the work
                // proportional to its size.
                self.min_len = unread.saturating_mul(2).max(1);
                Ok((false, None))
            }
            Err(error) => {
                self.offset = self.bytes.len();
                self.is_ended = true;
                Err(error)
            }
        }
    }

    /// True if there are no more documents.
    #[getter]
    fn ended(&self) -> bool {
        self.is_ended && self.offset >= self.bytes.len()
    }

    /// The name of the format.
    #[getter]
    fn format(&self) -> Option<String> {
        self.codec.as_ref().map(|codec| codec.stage().name())
    }
}

fn codec_for_documents(stage: Stage, limits: &icecore::Limits) -> Codec {
    // In a format of lines, a document is usually all lines. Here each line is a document.
    let stage = stage.of_line().unwrap_or(stage);
    let mut codec = Codec::new(stage);
    codec.limits = limits.clone();
    codec
}

impl Documents {
    /// Returns the format that was named, or that of the first document.
    fn detect_codec(&mut self, py: Python<'_>) -> PyResult<Codec> {
        if let Some(codec) = &self.codec {
            return Ok(codec.clone());
        }
        let stage = detect::stage_of_first(&self.bytes[self.offset..]).map_err(|error| to_py_error(py, &error))?;
        Ok(self.codec.insert(codec_for_documents(stage, &self.limits)).clone())
    }

    /// Skips to the beginning of the next document.
    fn skip_separators(&mut self, codec: &Codec) {
        let capabilities = &codec.stage().format().can;
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        if capabilities.text || capabilities.skips_blanks || !capabilities.separator.is_empty() {
            self.offset += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        }
    }

    /// Returns the length of the next document. Returns `None` if more bytes could change it.
    fn measure_document(&self, py: Python<'_>, codec: &Codec, rest: &[u8]) -> Result<Option<usize>, Error> {
        let mut tape = icecore::raw::Tape::new();
        let filled = py.detach(|| codec.read(rest, &mut tape));
        match filled.error {
            // Bytes follow the document, or no more bytes will come, so its end is certain.
            None if filled.consumed < rest.len() || self.is_ended => Ok(Some(filled.consumed)),
            None => Ok(None),
            Some(error) if self.is_ended => Err(error),
            Some(error) => {
                let is_near = error.offset().is_none_or(|offset| offset + NEAR_END >= rest.len() as u64);
                if error.kind() == ErrorKind::Truncated || is_near { Ok(None) } else { Err(error) }
            }
        }
    }
}

impl DocumentOptions {
    fn to_read_options<'py>(&self, py: Python<'py>) -> PyResult<ReadOptions<'py>> {
        let bound = |value: &Option<Py<PyAny>>| value.as_ref().map(|value| value.bind(py).clone());
        ReadOptions::from_arguments(
            py,
            bound(&self.classes),
            bound(&self.allow),
            self.strings.as_deref(),
            self.symbols.as_deref(),
            self.known,
        )
    }
}
