//! Writes values of columns as JSON.

use super::numbers::{print_decimal, print_float, print_integer};
use super::temporal::Temporal;
use super::{F16, native_values};
use crate::rows::text;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, BooleanArray, ListLikeArray, MapArray, downcast_dictionary_array, downcast_run_array};
use arrow_buffer::{NullBuffer, i256};
use arrow_schema::{ArrowError, DataType, Fields};
use icecore_columns::Blobs;
use std::ops::Range;

/// Maximum length of the output. Lists may share their items, so a small file can declare values of any length.
/// Beyond this limit, items of lists are left out, and callers refuse the batch.
pub const MAX_OUTPUT: usize = if cfg!(test) { 1 << 20 } else { 1 << 31 };

/// The values of a column, with everything needed to write them.
///
/// Printers are nested like the types of their values. The readers of files limit the depth of types.
pub struct Printer<'a> {
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    Null,
    Boolean(&'a BooleanArray),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
    Float16(&'a [F16]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Decimal32(&'a [i32], i8),
    Decimal64(&'a [i64], i8),
    Decimal128(&'a [i128], i8),
    Decimal256(&'a [i256], i8),
    Temporal(Temporal<'a>),
    /// Strings, and bytes that are written like strings.
    Bytes(Blobs<'a>),
    /// The range of items of each list, and the items.
    List(Box<dyn Fn(usize) -> Range<usize> + 'a>, Box<Printer<'a>>),
    /// The maps, their keys and their values.
    Map(&'a MapArray, Box<[Printer<'a>; 2]>),
    /// The fields, each with its name as a key.
    Struct(Vec<(Vec<u8>, Printer<'a>)>),
    /// The values of a dictionary or of runs, with a function that returns the index of each row's value.
    Indirect(Box<dyn Fn(usize) -> usize + 'a>, Box<Printer<'a>>),
}

impl<'a> Printer<'a> {
    /// Returns the printer of a column.
    ///
    /// # Errors
    /// If its type has no JSON form: unions, and maps with keys other than strings. Also if a time zone is unknown.
    pub fn from_array(array: &'a dyn Array) -> Result<Printer<'a>, ArrowError> {
        let values = match array.data_type() {
            DataType::Null => Values::Null,
            DataType::Boolean => Values::Boolean(array.as_boolean()),
            DataType::Int8 => Values::Int8(native_values::<Int8Type>(array)),
            DataType::Int16 => Values::Int16(native_values::<Int16Type>(array)),
            DataType::Int32 => Values::Int32(native_values::<Int32Type>(array)),
            DataType::Int64 => Values::Int64(native_values::<Int64Type>(array)),
            DataType::UInt8 => Values::UInt8(native_values::<UInt8Type>(array)),
            DataType::UInt16 => Values::UInt16(native_values::<UInt16Type>(array)),
            DataType::UInt32 => Values::UInt32(native_values::<UInt32Type>(array)),
            DataType::UInt64 => Values::UInt64(native_values::<UInt64Type>(array)),
            DataType::Float16 => Values::Float16(native_values::<Float16Type>(array)),
            DataType::Float32 => Values::Float32(native_values::<Float32Type>(array)),
            DataType::Float64 => Values::Float64(native_values::<Float64Type>(array)),
            DataType::Decimal32(_, scale) => Values::Decimal32(native_values::<Decimal32Type>(array), *scale),
            DataType::Decimal64(_, scale) => Values::Decimal64(native_values::<Decimal64Type>(array), *scale),
            DataType::Decimal128(_, scale) => Values::Decimal128(native_values::<Decimal128Type>(array), *scale),
            DataType::Decimal256(_, scale) => Values::Decimal256(native_values::<Decimal256Type>(array), *scale),
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => {
                Values::Bytes(Blobs::from_array(array).map_err(|error| ArrowError::ExternalError(Box::new(error)))?)
            }
            DataType::List(_) => build_list(array.as_list::<i32>())?,
            DataType::LargeList(_) => build_list(array.as_list::<i64>())?,
            DataType::ListView(_) => build_list(array.as_list_view::<i32>())?,
            DataType::LargeListView(_) => build_list(array.as_list_view::<i64>())?,
            DataType::FixedSizeList(..) => build_list(array.as_fixed_size_list())?,
            DataType::Map(..) => build_map(array.as_map())?,
            DataType::Struct(fields) => Values::Struct(build_members(fields, array)?),
            DataType::Dictionary(..) => indirect_dictionary(array)?,
            DataType::RunEndEncoded(..) => indirect_runs(array)?,
            other => match Temporal::from_array(array)? {
                Some(temporal) => Values::Temporal(temporal),
                None => return Err(ArrowError::JsonError(format!("{other} has no JSON"))),
            },
        };
        Ok(Printer { nulls: array.nulls(), values })
    }

    pub fn is_null(&self, row: usize) -> bool {
        self.is_masked(row)
            || match &self.values {
                Values::Null => true,
                Values::Indirect(index, values) => values.is_null(index(row)),
                _ => false,
            }
    }

    fn is_masked(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// Returns a value of a column of floats that is not null.
    pub fn float_value(&self, row: usize) -> Option<f64> {
        match &self.values {
            Values::Float16(values) => Some(values[row].into()),
            Values::Float32(values) => Some(values[row].into()),
            Values::Float64(values) => Some(values[row]),
            _ => None,
        }
    }

    /// Writes a value.
    pub fn print_value(&self, row: usize, out: &mut Vec<u8>) {
        // The value of a null row is arbitrary, and a list in it may have any range.
        if self.is_masked(row) {
            return out.extend_from_slice(b"null");
        }
        match &self.values {
            Values::Null => out.extend_from_slice(b"null"),
            Values::Boolean(values) => out.extend_from_slice(if values.value(row) { b"true" } else { b"false" }),
            Values::Int8(values) => print_integer(values[row], out),
            Values::Int16(values) => print_integer(values[row], out),
            Values::Int32(values) => print_integer(values[row], out),
            Values::Int64(values) => print_integer(values[row], out),
            Values::UInt8(values) => print_integer(values[row], out),
            Values::UInt16(values) => print_integer(values[row], out),
            Values::UInt32(values) => print_integer(values[row], out),
            Values::UInt64(values) => print_integer(values[row], out),
            // Written with the digits that 32 bits need, although 16 bits need fewer.
            Values::Float16(values) => print_float(f32::from(values[row]), out),
            Values::Float32(values) => print_float(values[row], out),
            Values::Float64(values) => print_float(values[row], out),
            Values::Decimal32(values, scale) => print_decimal(itoa::Buffer::new().format(values[row]), *scale, out),
            Values::Decimal64(values, scale) => print_decimal(itoa::Buffer::new().format(values[row]), *scale, out),
            Values::Decimal128(values, scale) => print_decimal(itoa::Buffer::new().format(values[row]), *scale, out),
            Values::Decimal256(values, scale) => print_decimal(&values[row].to_string(), *scale, out),
            Values::Temporal(temporal) => {
                out.push(b'"');
                match temporal.print_value(row, out) {
                    Ok(()) => out.push(b'"'),
                    Err(text) => {
                        out.pop();
                        text::write_json_string(text.as_bytes(), out);
                    }
                }
            }
            Values::Bytes(blobs) => {
                text::write_json_string(blobs.get(row).unwrap_or_default(), out);
            }
            Values::List(range, items) => {
                print_items(range(row), [b'[', b']'], out, |item, out| items.print_value(item, out))
            }
            Values::Map(maps, entries) => {
                let [keys, values] = &**entries;
                let offsets = maps.value_offsets();
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                print_items(range, [b'{', b'}'], out, |entry, out| {
                    keys.print_value(entry, out);
                    out.push(b':');
                    values.print_value(entry, out);
                });
            }
            Values::Struct(members) => print_items(0..members.len(), [b'{', b'}'], out, |member, out| {
                let (key, values) = &members[member];
                out.extend_from_slice(key);
                values.print_value(row, out);
            }),
            Values::Indirect(index, values) => values.print_value(index(row), out),
        }
    }
}

fn build_list<L: ListLikeArray>(lists: &L) -> Result<Values<'_>, ArrowError> {
    let items = Printer::from_array(lists.values().as_ref())?;
    Ok(Values::List(Box::new(|row| lists.element_range(row)), Box::new(items)))
}

fn build_map(maps: &MapArray) -> Result<Values<'_>, ArrowError> {
    let keys = maps.keys();
    if !matches!(keys.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        return Err(ArrowError::JsonError(format!("a map with keys of {} has no JSON", keys.data_type())));
    }
    if keys.null_count() > 0 || maps.entries().null_count() > 0 {
        return Err(ArrowError::JsonError("a map with keys that are null has no JSON".to_owned()));
    }
    Ok(Values::Map(maps, Box::new([Printer::from_array(keys.as_ref())?, Printer::from_array(maps.values().as_ref())?])))
}

fn build_members<'a>(fields: &Fields, array: &'a dyn Array) -> Result<Vec<(Vec<u8>, Printer<'a>)>, ArrowError> {
    let columns = array.as_struct().columns();
    fields
        .iter()
        .zip(columns)
        .map(|(field, column)| Ok((text::format_json_key(field.name()), Printer::from_array(column)?)))
        .collect()
}

fn indirect_dictionary(array: &dyn Array) -> Result<Values<'_>, ArrowError> {
    let values = Printer::from_array(array.as_any_dictionary().values().as_ref())?;
    downcast_dictionary_array! {
        array => {
            let keys = array.keys().values();
            Ok(Values::Indirect(Box::new(|row| arrow_buffer::ArrowNativeType::as_usize(keys[row])), Box::new(values)))
        }
        other => Err(ArrowError::JsonError(format!("{other} is not a dictionary")))
    }
}

fn indirect_runs(array: &dyn Array) -> Result<Values<'_>, ArrowError> {
    downcast_run_array! {
        array => {
            let values = Printer::from_array(array.values().as_ref())?;
            Ok(Values::Indirect(Box::new(|row| array.get_physical_index(row)), Box::new(values)))
        }
        other => Err(ArrowError::JsonError(format!("{other} does not have runs")))
    }
}

/// Writes items between brackets.
fn print_items(
    range: Range<usize>,
    [open, close]: [u8; 2],
    out: &mut Vec<u8>,
    mut print: impl FnMut(usize, &mut Vec<u8>),
) {
    out.push(open);
    let start = range.start;
    for item in range {
        if out.len() > MAX_OUTPUT {
            break;
        }
        if item != start {
            out.push(b',');
        }
        print(item, out);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::Printer;
    use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::*;
    use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer, i256};
    use arrow_schema::{ArrowError, DataType, Field, Fields, UnionFields};
    use std::sync::Arc;

    /// Returns the rows of a column, separated by blanks.
    fn json(array: &dyn Array) -> String {
        let printer = Printer::from_array(array).expect("it has JSON");
        let mut out = Vec::new();
        for row in 0..array.len() {
            if row > 0 {
                out.push(b' ');
            }
            let start = out.len();
            printer.print_value(row, &mut out);
            assert!(!printer.is_null(row) || &out[start..] == b"null");
        }
        String::from_utf8(out).expect("text")
    }

    fn type_error(array: &dyn Array) -> String {
        Printer::from_array(array).err().map(|error: ArrowError| error.to_string()).expect("an error")
    }

    fn item(array: &dyn Array) -> Arc<Field> {
        Arc::new(Field::new("item", array.data_type().clone(), true))
    }

    fn dates() -> ArrayRef {
        Arc::new(Date32Array::from(vec![Some(0), None, Some(i32::MAX), Some(-719_529)]))
    }

    #[test]
    fn scalars_are_printed_as_json() {
        let arrays: [(ArrayRef, &str); 16] = [
            (Arc::new(NullArray::new(2)), "null null"),
            (Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])), "true null false"),
            (Arc::new(Int8Array::from(vec![-128, 127])), "-128 127"),
            (Arc::new(UInt64Array::from(vec![None, Some(u64::MAX)])), "null 18446744073709551615"),
            (
                Arc::new(Float16Array::from_iter_values([0.1, 1.0 / 3.0, f32::INFINITY].map(super::F16::from_f32))),
                "0.099975586 0.33325195 null",
            ),
            (Arc::new(Float32Array::from(vec![0.1, 1e10])), "0.1 1.0e10"),
            (Arc::new(Float64Array::from(vec![0.1, f64::NAN, -0.0])), "0.1 null -0.0"),
            (Arc::new(Decimal32Array::from(vec![-5]).with_precision_and_scale(9, 2).expect("a type")), "-0.05"),
            (Arc::new(Decimal64Array::from(vec![15]).with_precision_and_scale(18, -2).expect("a type")), "1500"),
            // Digits beyond the declared precision are not cut off.
            (Arc::new(Decimal128Array::from(vec![12_345]).with_precision_and_scale(2, 1).expect("a type")), "1234.5"),
            (
                Arc::new(Decimal256Array::from(vec![i256::MIN]).with_precision_and_scale(76, 70).expect("a type")),
                "-5789604.4618658097711785492504343953926634992332820282019728792003956564819968",
            ),
            (Arc::new(StringArray::from(vec!["a\"\n", "é"])), "\"a\\\"\\n\" \"é\""),
            (Arc::new(BinaryViewArray::from(vec![&b"a\xff"[..], b""])), "\"aÿ\" \"\""),
            (
                dates(),
                "\"1970-01-01\" null \"ERROR: Cast error: Failed to convert 2147483647 to temporal for Date32\" \"-0001-12-31\"",
            ),
            (
                Arc::new(TimestampSecondArray::from(vec![i64::MAX, 0]).with_timezone("+01:00")),
                "\"ERROR: Cast error: Failed to convert 9223372036854775807 to datetime for Timestamp(s, \\\"+01:00\\\")\" \
                 \"1970-01-01T01:00:00+01:00\"",
            ),
            (Arc::new(DurationMillisecondArray::from(vec![-1_500])), "\"-PT1.5S\""),
        ];
        for (array, expected) in arrays {
            assert_eq!(json(array.as_ref()), expected, "{}", array.data_type());
        }
    }

    #[test]
    fn nested_values_are_printed_as_json() {
        let items = dates();
        let nulls = || Some(NullBuffer::from(vec![true, false, true]));
        let offsets = || OffsetBuffer::<i32>::new(vec![1, 2, 3, 4].into());
        let list: ArrayRef = Arc::new(ListArray::new(item(&items), offsets(), Arc::clone(&items), nulls()));
        assert_eq!(json(&list), "[null] null [\"-0001-12-31\"]");
        assert_eq!(json(&list.slice(1, 2)), "null [\"-0001-12-31\"]");
        assert_eq!(json(&list.slice(3, 0)), "");
        // The value of a null row is arbitrary.
        let starts = ScalarBuffer::from(vec![3, 3, 0]);
        let view = ListViewArray::new(item(&items), starts, vec![1, 0, 2].into(), Arc::clone(&items), nulls());
        assert_eq!(json(&view), "[\"-0001-12-31\"] null [\"1970-01-01\",null]");
        let fixed = FixedSizeListArray::new(item(&items), 2, Arc::clone(&items), None);
        assert_eq!(json(&fixed.slice(0, 1)), "[\"1970-01-01\",null]");
        let fields = [Field::new("a\"", list.data_type().clone(), true), Field::new("n", DataType::Null, true)];
        let columns = vec![Arc::clone(&list), Arc::new(NullArray::new(3))];
        let rows =
            StructArray::new(Fields::from(fields.to_vec()), columns, Some(NullBuffer::from(vec![true, true, false])));
        assert_eq!(json(&rows), "{\"a\\\"\":[null],\"n\":null} {\"a\\\"\":null,\"n\":null} null");
        assert_eq!(json(&StructArray::new_empty_fields(1, None)), "{}");

        let mut maps = MapBuilder::new(None, StringBuilder::new(), ListBuilder::new(Int32Builder::new()));
        maps.keys().append_value("k");
        maps.values().append_value([Some(1), None]);
        maps.keys().append_value("l");
        maps.values().append_null();
        maps.append(true).expect("a map");
        maps.append(true).expect("a map");
        maps.append(false).expect("a map");
        assert_eq!(json(&maps.finish()), "{\"k\":[1,null],\"l\":null} {} null");
    }

    #[test]
    fn dictionary_and_run_values_are_printed_as_json() {
        let values: ArrayRef = Arc::new(Float32Array::from(vec![Some(0.5), None]));
        let keys = Int8Array::from(vec![Some(1), Some(0), None]);
        let dictionary = DictionaryArray::<Int8Type>::new(keys, Arc::clone(&values));
        // A null in the keys or in the values is a null.
        assert_eq!(json(&dictionary), "null 0.5 null");
        let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![2, 3]), &values).expect("runs");
        assert_eq!(json(&runs), "0.5 0.5 null");
        assert_eq!(json(&runs.slice(1, 2)), "0.5 null");
        let nulls = DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0]), Arc::new(NullArray::new(1)));
        assert_eq!(json(&nulls), "null");
    }

    #[test]
    fn types_without_json_are_refused() {
        let union =
            UnionArray::try_new(UnionFields::empty(), Vec::<i8>::new().into(), None, Vec::new()).expect("a union");
        assert!(type_error(&union).contains("has no JSON"), "{}", type_error(&union));
        let mut maps = MapBuilder::new(None, Int32Builder::new(), Int32Builder::new());
        assert_eq!(type_error(&maps.finish()), "Json error: a map with keys of Int32 has no JSON");
        let zoned = TimestampSecondArray::from(vec![0]).with_timezone("Nowhere");
        assert!(type_error(&zoned).contains("Invalid timezone \"Nowhere\""), "{}", type_error(&zoned));
    }

    /// Checks that lists whose items are shared repeatedly are cut at the limit.
    #[test]
    fn printed_values_are_cut_at_the_limit_of_a_cell() {
        let mut array: ArrayRef = Arc::new(NullArray::new(1));
        for _ in 0..60 {
            let count = array.len() as i32;
            array = Arc::new(ListViewArray::new(item(&array), vec![0; 9].into(), vec![count; 9].into(), array, None));
        }
        let mut out = Vec::new();
        Printer::from_array(&array).expect("it has JSON").print_value(0, &mut out);
        assert!(out.len() < super::MAX_OUTPUT + 1_000, "{}", out.len());
    }
}
