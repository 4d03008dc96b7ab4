//! Values without parts, and keys.

use super::Walker;
use crate::python_classes::PythonClasses;
use icecore::Kind;
use icecore::raw::{Location, Node, flag};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};

/// Maximum number of keys of a dict that get ids; the others get nodes of their own. The keys of a larger dict are
/// rarely met again, and would use up the ids.
pub(super) const MAX_KEYS_WITH_IDS: u32 = 256;

impl<'py> Walker<'_, 'py> {
    /// Returns the kind of text on the tape. PHP's strings are bytes. Perl stores ASCII text as bytes, too.
    #[inline]
    fn text_kind(&self, text: &str) -> Kind {
        if self.is_php || self.is_perl && text.is_ascii() { Kind::Bytes } else { Kind::Text }
    }

    #[inline]
    pub(super) fn push_text(&mut self, text: &Bound<'py, PyString>, key: u16) -> PyResult<()> {
        let text = text.to_str()?;
        self.push_string(self.text_kind(text), text.as_bytes(), key)
    }

    /// Appends a string of this kind.
    #[inline]
    pub(super) fn push_string(&mut self, kind: Kind, bytes: &[u8], key: u16) -> PyResult<()> {
        let location = Location::Arena(self.arena.len() as u64);
        self.arena.extend_from_slice(bytes);
        let node = match u32::try_from(bytes.len()) {
            Ok(len) if len < u32::MAX => Node::string(kind, location, len),
            _ => self.tape.long_string(kind, location, bytes.len() as u64),
        };
        self.push_node(node, key).map(drop)
    }

    pub(super) fn push_int(&mut self, value: &Bound<'py, PyAny>, key: u16) -> PyResult<()> {
        if let Ok(value) = value.extract::<i64>() {
            return self.push_node(Node::int(value), key).map(drop);
        }
        if let Ok(value) = value.extract::<u64>() {
            return self.push_node(Node::uint(value), key).map(drop);
        }
        let int = self.py.get_type::<PyInt>();
        // A larger integer is stored as the bytes of its absolute value, and a flag for the sign.
        let is_negative = value.lt(0)?;
        let magnitude = int.call1((value,))?.abs()?;
        let bits: usize = magnitude.call_method0("bit_length")?.extract()?;
        let bytes = magnitude.call_method1("to_bytes", (bits.div_ceil(8), "little"))?;
        self.push_string(Kind::BigInt, bytes.cast::<PyBytes>()?.as_bytes(), key)?;
        if is_negative && let Some(node) = self.nodes.last_mut() {
            node.flags |= flag::NEGATIVE;
        }
        Ok(())
    }

    /// Appends the bytes of a bytearray, a memoryview or another object with a buffer of bytes.
    pub(super) fn push_buffer(&mut self, value: &Bound<'py, PyAny>, key: u16) -> PyResult<bool> {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            self.push_string(Kind::Bytes, bytes.as_bytes(), key)?;
            return Ok(true);
        }
        match PyBuffer::<u8>::get(value) {
            Ok(buffer) => {
                let bytes = buffer.to_vec(self.py)?;
                self.push_string(Kind::Bytes, &bytes, key)?;
                Ok(true)
            }
            Err(_) => Ok(false),
        }
    }

    /// Returns the id of a key. Returns `None` if the key must be written as a value of its own.
    #[inline]
    pub(super) fn find_key_id(&mut self, key: &Bound<'py, PyAny>) -> PyResult<Option<u16>> {
        if self.stack.last().is_some_and(|level| level.count >= MAX_KEYS_WITH_IDS) {
            return Ok(None);
        }
        if let Ok(text) = key.cast_exact::<PyString>() {
            let text = text.to_str()?;
            return Ok(self.tape.key_id(self.text_kind(text), 0, text.as_bytes()));
        }
        if let Ok(bytes) = key.cast_exact::<PyBytes>() {
            return Ok(self.tape.key_id(Kind::Bytes, 0, bytes.as_bytes()));
        }
        if key.get_type().is(PythonClasses::look_up(self.py)?.symbol(self.py)) {
            let text = key.cast::<PyString>()?.to_str()?;
            return Ok(self.tape.key_id(Kind::Symbol, 0, text.as_bytes()));
        }
        Ok(None)
    }
}
