//! The bytes of a string, which are shared, and counted once while they are in use.

use crate::memory::{self, ALLOCATION_OVERHEAD};
use std::ops::Deref;
use std::rc::Rc;

/// The bytes of a string.
#[derive(Debug)]
pub struct Bytes(ByteStorage);

#[derive(Clone, Debug)]
enum ByteStorage {
    Fixed(Rc<[u8]>),
    /// A string to which something was appended. Appending copies only the new bytes, if the string is not shared:
    /// `add` is linear.
    Growing(Rc<Vec<u8>>),
}

/// Shorter strings are copied when something is appended.
const MIN_GROWING_LENGTH: usize = 64;

impl Bytes {
    /// Returns these bytes with others appended. Stops the filter if they exceed the limit.
    pub fn append(mut self, more: &[u8]) -> Bytes {
        if let ByteStorage::Growing(bytes) = &mut self.0
            && let Some(bytes) = Rc::get_mut(bytes)
        {
            let (before, available) = (bytes.capacity(), bytes.capacity() - bytes.len());
            if more.len() > available {
                // The new capacity is at least twice the old one, so that many appends together take linear time.
                let added = more.len().max(before);
                memory::require_bytes((before + added) as u64);
                bytes.reserve_exact(added);
                memory::count_bytes(bytes.capacity() - before);
            }
            bytes.extend_from_slice(more);
            return self;
        }
        let len = self.len() + more.len();
        if len < MIN_GROWING_LENGTH {
            return Bytes::from([&*self, more].concat());
        }
        memory::charge_bytes(len + ALLOCATION_OVERHEAD);
        let mut bytes = Vec::with_capacity(len);
        bytes.extend_from_slice(&self);
        bytes.extend_from_slice(more);
        Bytes(ByteStorage::Growing(Rc::new(bytes)))
    }
}

impl Clone for Bytes {
    fn clone(&self) -> Bytes {
        Bytes(self.0.clone())
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        memory::charge_bytes(bytes.len() + ALLOCATION_OVERHEAD);
        Bytes(ByteStorage::Fixed(bytes.into()))
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes::from(bytes.as_slice())
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            ByteStorage::Fixed(bytes) => bytes,
            ByteStorage::Growing(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl PartialOrd for Bytes {
    fn partial_cmp(&self, other: &Bytes) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bytes {
    fn cmp(&self, other: &Bytes) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

/// Hashes like a slice, so that a map can be searched with a slice.
impl std::hash::Hash for Bytes {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        let (count, size) = match &self.0 {
            ByteStorage::Fixed(bytes) => (Rc::strong_count(bytes), bytes.len()),
            ByteStorage::Growing(bytes) => (Rc::strong_count(bytes), bytes.capacity()),
        };
        if count == 1 {
            memory::release_bytes(size + ALLOCATION_OVERHEAD);
        }
    }
}
