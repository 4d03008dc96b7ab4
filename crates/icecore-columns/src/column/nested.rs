//! Lists and maps.

use super::Column;
use crate::error::Error;
use crate::mismatch::TypeMismatch;
use crate::view::TapeView;
use arrow_array::{ArrayRef, GenericListArray, MapArray, OffsetSizeTrait, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef};
use icecore::Kind;
use std::sync::Arc;

/// The lists of a column, with offsets of this type.
#[derive(Debug)]
pub(super) struct List<O> {
    offsets: Vec<O>,
    field: FieldRef,
    pub(super) items: Box<Column>,
}

impl<O: OffsetSizeTrait> List<O> {
    pub(super) fn new(field: &FieldRef, items: Box<Column>) -> List<O> {
        List { offsets: vec![O::usize_as(0)], field: field.clone(), items }
    }

    /// Adds these values as a list. Returns `false` if all lists together would have too many items.
    pub(super) fn push(&mut self, view: &TapeView<'_>, items: impl Iterator<Item = u32>) -> Result<bool, TypeMismatch> {
        for item in items {
            self.items.push(view, item)?;
        }
        let end = O::from_usize(self.items.len());
        self.offsets.extend(end);
        Ok(end.is_some())
    }

    pub(super) fn push_empty(&mut self) {
        self.offsets.extend_from_within(self.offsets.len() - 1..);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len + 1);
        self.items.truncate(self.offsets.last().map_or(0, |end| end.as_usize()));
    }

    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Error> {
        let offsets = std::mem::replace(&mut self.offsets, vec![O::usize_as(0)]);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(Arc::new(GenericListArray::<O>::try_new(self.field.clone(), offsets, self.items.finish()?, nulls)?))
    }
}

/// The maps of a column.
#[derive(Debug)]
pub(super) struct Map {
    offsets: Vec<i32>,
    entries: FieldRef,
    is_sorted: bool,
    pub(super) keys: Box<Column>,
    pub(super) values: Box<Column>,
}

impl Map {
    pub(super) fn new(entries: &FieldRef, is_sorted: bool, keys: Box<Column>, values: Box<Column>) -> Map {
        Map { offsets: vec![0], entries: entries.clone(), is_sorted, keys, values }
    }

    /// Adds the entries of a map, or the items of a list with their positions as keys. Returns `false` if all maps
    /// together would have too many entries.
    pub(super) fn push(&mut self, view: &TapeView<'_>, node: u32) -> Result<bool, TypeMismatch> {
        let mut digits = itoa::Buffer::new();
        if view.node(node).kind == Kind::Array {
            for (position, item) in view.items(node).enumerate() {
                self.keys.push_key(view, digits.format(position).as_bytes(), node)?;
                self.values.push(view, item)?;
            }
        } else {
            for (key, value) in view.entries(node) {
                match view.key_text(key, &mut digits) {
                    Some(key) => self.keys.push_key(view, key, value)?,
                    None => return Err(TypeMismatch::new(value, "keys that are strings or integers", "another key")),
                }
                self.values.push(view, value)?;
            }
        }
        let Ok(end) = i32::try_from(self.values.len()) else { return Ok(false) };
        self.offsets.push(end);
        Ok(true)
    }

    pub(super) fn push_empty(&mut self) {
        self.offsets.extend_from_within(self.offsets.len() - 1..);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len + 1);
        let end = self.offsets.last().map_or(0, |end| *end as usize);
        self.keys.truncate(end);
        self.values.truncate(end);
    }

    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Error> {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        let DataType::Struct(parts) = self.entries.data_type() else { unreachable!("it was looked at before") };
        let entries = StructArray::try_new(parts.clone(), vec![self.keys.finish()?, self.values.finish()?], None)?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(Arc::new(MapArray::try_new(self.entries.clone(), offsets, entries, nulls, self.is_sorted)?))
    }
}
