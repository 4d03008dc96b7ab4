//! Keys of maps and names of members.

use super::cache::get_or_create_string;
use super::leaf::{build_string, to_text_or_bytes};
use super::open::{MemberOwner, OpenContainer};
use super::{Builder, Slot};
use crate::failure::to_py_error;
use icecore::raw::{Name, flag};
use icecore::value::Visibility;
use icecore::{Error, ErrorKind, Kind};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString};
use std::collections::{HashMap, HashSet};

impl<'py> Builder<'_, 'py> {
    /// Returns the slot of a value whose key has this id.
    #[inline]
    pub(super) fn named_slot(&mut self, id: u16, index: u32) -> PyResult<Slot<'py>> {
        let py = self.py;
        let is_member = self.stack.last().is_some_and(|frame| frame.open.holds_members());
        let cached_keys = if is_member { &self.cache.members } else { &self.cache.keys };
        if let Some(Some(key)) = cached_keys.get(usize::from(id)) {
            return Ok(Slot::Entry(key.bind(py).clone()));
        }
        let Some(name) = self.document.tape().keys().get(u32::from(id)) else {
            return Err(self.malformed_error(index, "a key"));
        };
        if name.node.has(flag::PLACEHOLDER) && name.node.kind.is_string() {
            return Ok(Slot::Absent);
        }
        if is_member {
            return self.build_member_slot(id, name);
        }
        let key = self.build_key(index, name)?;
        let cached = get_or_create_string(py, &mut self.cache.keys, u32::from(id), || Ok(key))?;
        Ok(Slot::Entry(cached))
    }

    /// Returns a key of a map.
    fn build_key(&self, index: u32, name: Name<'_>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match name.node.kind {
            Kind::Int => Ok((name.node.payload as i64).into_pyobject(py)?.into_any()),
            Kind::Symbol => self.build_symbol(self.decode_string(&name.node, name.bytes)),
            Kind::Encoded => Ok(self.decode_string(&name.node, name.bytes)),
            kind => build_string(py, kind, name.bytes, self.reading.strings).ok_or_else(|| {
                let error = Error::new(ErrorKind::Unrepresentable)
                    .expecting("keys in UTF-8, as strings=\"str\" says")
                    .finding("other bytes")
                    .on_path(self.document.path(index));
                to_py_error(py, &error)
            }),
        }
    }

    /// Returns the slot of a member: its name without the prefix of its language. The record
    /// stores the visibility if a writer needs it.
    fn build_member_slot(&mut self, id: u16, name: Name<'_>) -> PyResult<Slot<'py>> {
        let py = self.py;
        if name.node.kind == Kind::Int {
            return Ok(Slot::Entry((name.node.payload as i64).into_pyobject(py)?.into_any()));
        }
        let (bare, visibility) = match name.node.kind {
            Kind::Symbol => match name.bytes.strip_prefix(b"@") {
                Some(bare) => (bare, None),
                None => (name.bytes, Some("internal")),
            },
            Kind::Bytes => match Visibility::of(name.bytes) {
                Some((Visibility::Protected, bare)) => (bare, Some("protected")),
                // A private member of a base class keeps its prefix, because this class may have a member of the same
                // name.
                Some((Visibility::Private(class), bare)) if self.is_class(class) => (bare, Some("private")),
                _ => (name.bytes, None),
            },
            _ => (name.bytes, None),
        };
        let key = to_text_or_bytes(py, bare);
        let Some(visibility) = visibility else {
            let cached = get_or_create_string(py, &mut self.cache.members, u32::from(id), || Ok(key))?;
            return Ok(Slot::Entry(cached));
        };
        let open = self.stack.last().map(|frame| &frame.open);
        if let Some(OpenContainer::Map(_, MemberOwner::Object { record, .. }) | OpenContainer::Attributes(record, _)) =
            open
        {
            let mut record = record.borrow_mut();
            let visibilities = record.visibility.get_or_insert_with(|| PyDict::new(py).unbind());
            visibilities.bind(py).set_item(&key, visibility)?;
        }
        Ok(Slot::Entry(key))
    }

    /// Returns true if this is the class of the object whose members are being read.
    fn is_class(&self, name: &[u8]) -> bool {
        match self.stack.last().map(|frame| &frame.open) {
            Some(OpenContainer::Map(_, MemberOwner::Object { class, .. } | MemberOwner::ForFactory { class })) => {
                self.document.tape().classes().get(*class).is_some_and(|class| class.bytes == name)
            }
            _ => false,
        }
    }

    /// Checks a dict that has fewer entries than its map. If the same key occurs twice in the map, the dict has the
    /// last of the values. Different keys that are equal in Python are an error, because one of them would be lost.
    #[cold]
    pub(super) fn check_keys(&self, map: u32, dict: &Bound<'py, PyDict>) -> PyResult<()> {
        let Some(cursor) = self.document.at(map) else { return Ok(()) };
        let mut keys = HashSet::new();
        for (key, _) in cursor.entries() {
            let node = key.node();
            if node.kind.is_string() && node.has(flag::PLACEHOLDER) {
                continue;
            }
            let kind = match node.kind {
                Kind::Text => Kind::Bytes,
                kind => kind,
            };
            let payload = if node.kind.is_string() { 0 } else { node.payload };
            keys.insert((kind, payload, key.bytes()));
        }
        let is_by_identity = cursor.node().has(flag::IDENTITY);
        if keys.len() <= dict.len() && !is_by_identity {
            return Ok(());
        }
        let error = Error::new(ErrorKind::Unrepresentable)
            .expecting("keys that a dict tells apart")
            .finding("keys that are the same in Python, as \"a\" and :a")
            .helping("`icecore.convert(data, \"json:typed\")` has all keys")
            .on_path(self.document.path(map));
        Err(to_py_error(self.py, &error))
    }
}

/// Keys of smaller maps are not counted, because comparing all of them with each other is fast enough.
pub(super) const MIN_CHECKED_KEYS: usize = 1024;
/// Maximum number of keys of a larger map with the same hash.
pub(super) const MAX_KEYS_PER_HASH: u32 = 64;

/// Counts keys with the same hash, for types whose hash the data can choose: Python hashes numbers
/// modulo a prime, and integers may have any size. Hashes of text and bytes depend on a secret of
/// the process.
#[derive(Default)]
pub(super) struct Collisions {
    /// Number of keys for each map (its node) and hash.
    counts: HashMap<(u32, isize), u32>,
}

impl Collisions {
    /// Counts a key. Returns false if too many keys of the map have the same hash.
    pub(super) fn count_key(&mut self, map: u32, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let has_secret_hash = key.is_exact_instance_of::<PyString>() || key.is_exact_instance_of::<PyBytes>();
        // On a 64-bit machine Python's prime is 2^61 - 1, so only a handful of 64-bit integers share a hash.
        if has_secret_hash || (key.is_exact_instance_of::<PyInt>() && key.extract::<i64>().is_ok()) {
            return Ok(true);
        }
        let count = self.counts.entry((map, key.hash()?)).or_default();
        *count += 1;
        Ok(*count <= MAX_KEYS_PER_HASH)
    }
}

/// Returns a value as the key of a dict: a list becomes a tuple.
pub(super) fn to_hashable(value: Bound<'_, PyAny>) -> Result<Bound<'_, PyAny>, String> {
    let value = match value.cast::<PyList>() {
        Ok(list) => list.to_tuple().into_any(),
        Err(_) if value.is_exact_instance_of::<PyString>() => return Ok(value),
        Err(_) => value,
    };
    match value.hash() {
        Ok(_) => Ok(value),
        Err(_) => Err(value.get_type().name().map_or_else(|_| "a value".to_owned(), |name| name.to_string())),
    }
}
