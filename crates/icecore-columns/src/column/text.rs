//! Strings that are stored one after another.

use arrow_array::{ArrayRef, GenericByteArray, types::ByteArrayType};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use std::sync::Arc;

/// Values of a column of strings, with offsets of this type.
#[derive(Debug)]
pub(super) struct Strings<O> {
    offsets: Vec<O>,
    bytes: Vec<u8>,
    /// Number of bytes in the previous batch.
    previous_len: usize,
}

impl<O: ArrowNativeType + TryFrom<usize>> Strings<O> {
    pub(super) fn new() -> Strings<O> {
        Strings { offsets: vec![O::default()], bytes: Vec::new(), previous_len: 0 }
    }

    /// Reserves space for this number of strings, and for as many bytes as in the previous batch.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.offsets.reserve(rows);
        self.bytes.reserve(self.previous_len);
    }

    /// Adds a string. Returns `false` if all of them together would be too long for the offsets.
    #[inline]
    pub(super) fn push(&mut self, value: &[u8]) -> bool {
        let Ok(end) = O::try_from(self.bytes.len() + value.len()) else { return false };
        self.bytes.extend_from_slice(value);
        self.offsets.push(end);
        true
    }

    /// Adds an empty string for a missing value.
    #[inline]
    pub(super) fn push_empty(&mut self) {
        self.push(b"");
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len + 1);
        self.bytes.truncate(self.offsets.last().map_or(0, |end| end.as_usize()));
    }

    pub(super) fn finish<T: ByteArrayType<Offset = O>>(
        &mut self,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, ArrowError>
    where
        O: arrow_array::OffsetSizeTrait,
    {
        let previous_len = self.bytes.len();
        let Strings { offsets, bytes, .. } = std::mem::replace(self, Strings { previous_len, ..Strings::new() });
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, Buffer::from_vec(bytes), nulls)?))
    }
}
