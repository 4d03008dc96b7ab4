//! Cells of rows as values of a column.

use super::filler::RowReport;
use super::fit::convert_column;
use crate::rows::batch::{Batch, Cell, CellKind};
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{ArrayRef, GenericByteArray, OffsetSizeTrait, new_null_array};
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use std::ops::Range;
use std::sync::Arc;

/// The cells of a column in some rows.
#[derive(Clone)]
pub struct CellColumn<'b> {
    pub batch: &'b Batch,
    pub rows: Range<usize>,
    /// Number of the column.
    pub position: usize,
}

impl<'b> CellColumn<'b> {
    /// Iterates over the cells. An item is `None` if the row lacks this cell.
    pub fn iter(&self) -> impl Iterator<Item = Option<(CellKind, &'b [u8])>> + use<'b> {
        let (batch, position) = (self.batch, self.position);
        self.rows.clone().map(move |row| {
            batch.row_cells(row).0.get(position).map(|cell: &Cell| (cell.kind, batch.cell_bytes(*cell)))
        })
    }

    /// Returns the total number of bytes.
    fn byte_size(&self) -> usize {
        self.iter().flatten().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Returns their bytes as a column.
    pub fn to_binary(&self) -> Result<ArrayRef, ArrowError> {
        self.to_strings::<BinaryType>()
    }

    /// Returns the values of the cells as a column of this type. Values that do not fit are reported, and become
    /// null.
    pub fn to_column(&self, data_type: &DataType, report: &mut RowReport<'_>) -> Result<ArrayRef, ArrowError> {
        match data_type {
            DataType::Null => Ok(new_null_array(data_type, self.rows.len())),
            DataType::Binary => self.to_strings::<BinaryType>(),
            DataType::LargeBinary => self.to_strings::<LargeBinaryType>(),
            DataType::Utf8 => self.to_text::<Utf8Type>(report),
            DataType::LargeUtf8 => self.to_text::<LargeUtf8Type>(report),
            _ => {
                let text = self.to_text::<Utf8Type>(report)?;
                convert_column(&text, data_type, self.position, report)
            }
        }
    }

    fn to_text<T: ByteArrayType>(&self, report: &mut RowReport<'_>) -> Result<ArrayRef, ArrowError> {
        // Converting all cells at once is fast. Only if that fails, the cells with invalid UTF-8 are searched.
        self.to_strings::<T>().or_else(|_| {
            let mut strings = Strings::<T::Offset>::with_capacity(self.rows.len(), self.byte_size());
            for (row, cell) in self.iter().enumerate() {
                match cell {
                    Some((CellKind::Text | CellKind::Plain, bytes)) if std::str::from_utf8(bytes).is_ok() => {
                        strings.push(Some(bytes));
                    }
                    Some((CellKind::Text | CellKind::Plain, bytes)) => {
                        report.record_lost_bytes(row, self.position);
                        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
                        strings.push(Some(text.as_bytes()));
                    }
                    _ => strings.push(None),
                }
            }
            strings.finish::<T>()
        })
    }

    fn to_strings<T: ByteArrayType>(&self) -> Result<ArrayRef, ArrowError> {
        let mut strings = Strings::<T::Offset>::with_capacity(self.rows.len(), self.byte_size());
        for cell in self.iter() {
            strings.push(
                cell.filter(|(sort, _)| matches!(sort, CellKind::Text | CellKind::Plain)).map(|(_, bytes)| bytes),
            );
        }
        strings.finish::<T>()
    }
}

/// Strings one after another.
pub struct Strings<O> {
    offsets: Vec<O>,
    bytes: Vec<u8>,
    nulls: NullBufferBuilder,
}

impl<O: OffsetSizeTrait> Strings<O> {
    pub fn with_capacity(rows: usize, size: usize) -> Strings<O> {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(O::usize_as(0));
        Strings { offsets, bytes: Vec::with_capacity(size), nulls: NullBufferBuilder::new(rows) }
    }

    /// Adds a string.
    pub fn push(&mut self, value: Option<&[u8]>) {
        match value {
            Some(value) => {
                self.bytes.extend_from_slice(value);
                self.nulls.append_non_null();
            }
            None => self.nulls.append_null(),
        }
        // An offset that does not fit is detected at the end.
        self.offsets.push(O::from_usize(self.bytes.len()).unwrap_or(O::usize_as(0)));
    }

    pub fn finish<T: ByteArrayType<Offset = O>>(mut self) -> Result<ArrayRef, ArrowError> {
        if O::from_usize(self.bytes.len()).is_none() {
            return Err(ArrowError::OffsetOverflowError(self.bytes.len()));
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, Buffer::from_vec(self.bytes), self.nulls.finish())?))
    }
}
