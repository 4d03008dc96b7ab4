//! Columns whose values are bytes, in any layout.

use crate::error::Error;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, BinaryViewType, Int8Type, Int16Type, Int32Type, Int64Type, StringViewType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, GenericByteViewArray, LargeBinaryArray};
use arrow_array::{LargeStringArray, StringArray};
use arrow_schema::DataType;

/// The blobs of a column.
///
/// ```
/// use arrow_array::StringArray;
/// let column = StringArray::from(vec![Some("i:1;"), None]);
/// let blobs = icecore_columns::Blobs::from_array(&column)?;
/// assert_eq!((blobs.get(0), blobs.get(1)), (Some(&b"i:1;"[..]), None));
/// # Ok::<(), icecore_columns::Error>(())
/// ```
#[derive(Debug)]
pub struct Blobs<'c>(Layout<'c>);

#[derive(Debug)]
enum Layout<'c> {
    Binary(&'c BinaryArray),
    LargeBinary(&'c LargeBinaryArray),
    BinaryView(&'c GenericByteViewArray<BinaryViewType>),
    FixedSize(&'c FixedSizeBinaryArray),
    Utf8(&'c StringArray),
    LargeUtf8(&'c LargeStringArray),
    Utf8View(&'c GenericByteViewArray<StringViewType>),
    /// The dictionary, and for each row the index of its value in the dictionary.
    Dictionary(Vec<Option<usize>>, Box<Blobs<'c>>),
}

impl<'c> Blobs<'c> {
    /// Returns the blobs of this column.
    ///
    /// # Errors
    /// If its values are not bytes.
    pub fn from_array(column: &'c dyn Array) -> Result<Blobs<'c>, Error> {
        Ok(Blobs(match column.data_type() {
            DataType::Binary => Layout::Binary(column.as_binary()),
            DataType::LargeBinary => Layout::LargeBinary(column.as_binary()),
            DataType::BinaryView => Layout::BinaryView(column.as_binary_view()),
            DataType::FixedSizeBinary(_) => Layout::FixedSize(column.as_fixed_size_binary()),
            DataType::Utf8 => Layout::Utf8(column.as_string()),
            DataType::LargeUtf8 => Layout::LargeUtf8(column.as_string()),
            DataType::Utf8View => Layout::Utf8View(column.as_string_view()),
            DataType::Dictionary(key, _) => match **key {
                DataType::Int8 => build_dictionary::<Int8Type>(column)?,
                DataType::Int16 => build_dictionary::<Int16Type>(column)?,
                DataType::Int32 => build_dictionary::<Int32Type>(column)?,
                DataType::Int64 => build_dictionary::<Int64Type>(column)?,
                DataType::UInt8 => build_dictionary::<UInt8Type>(column)?,
                DataType::UInt16 => build_dictionary::<UInt16Type>(column)?,
                DataType::UInt32 => build_dictionary::<UInt32Type>(column)?,
                _ => build_dictionary::<UInt64Type>(column)?,
            },
            other => return Err(Error::Column(other.clone())),
        }))
    }

    /// Returns the bytes of a row, which must exist, or `None` for null.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'c [u8]> {
        match &self.0 {
            Layout::Binary(array) => array.is_valid(row).then(|| array.value(row)),
            Layout::LargeBinary(array) => array.is_valid(row).then(|| array.value(row)),
            Layout::BinaryView(array) => array.is_valid(row).then(|| array.value(row)),
            Layout::FixedSize(array) => array.is_valid(row).then(|| array.value(row)),
            Layout::Utf8(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Layout::LargeUtf8(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Layout::Utf8View(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Layout::Dictionary(keys, values) => values.get(keys.get(row).copied().flatten()?),
        }
    }
}

fn build_dictionary<K: ArrowDictionaryKeyType>(column: &dyn Array) -> Result<Layout<'_>, Error> {
    let array = column.as_dictionary::<K>();
    let values: &ArrayRef = array.values();
    let keys = (0..array.len()).map(|row| array.key(row)).collect();
    Ok(Layout::Dictionary(keys, Box::new(Blobs::from_array(values.as_ref())?)))
}
