//! Names of types.

use arrow_schema::{DataType, TimeUnit};

/// Types without arguments. The first name of each is printed.
const PLAIN_TYPES: [(&[&str], DataType); 18] = [
    (&["bool", "boolean"], DataType::Boolean),
    (&["int8", "tinyint", "byte"], DataType::Int8),
    (&["int16", "smallint", "short"], DataType::Int16),
    (&["int32", "int", "integer"], DataType::Int32),
    (&["int64", "bigint", "long"], DataType::Int64),
    (&["uint8", "utinyint"], DataType::UInt8),
    (&["uint16", "usmallint"], DataType::UInt16),
    (&["uint32", "uinteger"], DataType::UInt32),
    (&["uint64", "ubigint"], DataType::UInt64),
    (&["float32", "real", "float"], DataType::Float32),
    (&["float64", "double"], DataType::Float64),
    (&["utf8", "string", "str", "text", "varchar"], DataType::Utf8),
    (&["large_utf8", "large_string"], DataType::LargeUtf8),
    (&["binary", "bytes", "blob", "bytea"], DataType::Binary),
    (&["large_binary"], DataType::LargeBinary),
    (&["date32", "date"], DataType::Date32),
    (&["timestamp", "datetime"], DataType::Timestamp(TimeUnit::Microsecond, None)),
    (&["null"], DataType::Null),
];

const UNITS: [(&str, TimeUnit); 4] = [
    ("s", TimeUnit::Second),
    ("ms", TimeUnit::Millisecond),
    ("us", TimeUnit::Microsecond),
    ("ns", TimeUnit::Nanosecond),
];

pub(super) fn find_plain_type(word: &str) -> Option<DataType> {
    let (_, data_type) =
        PLAIN_TYPES.iter().find(|(names, _)| names.iter().any(|name| name.eq_ignore_ascii_case(word)))?;
    Some(data_type.clone())
}

pub(super) fn find_type_name(data_type: &DataType) -> Option<&'static str> {
    PLAIN_TYPES.iter().find(|(_, plain_type)| plain_type == data_type).and_then(|(names, _)| names.first().copied())
}

pub(super) fn parse_unit(word: &str) -> Option<TimeUnit> {
    UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, unit)| *unit)
}

pub(super) fn unit_name(unit: TimeUnit) -> &'static str {
    UNITS.iter().find(|(_, known_unit)| *known_unit == unit).map_or("us", |(name, _)| name)
}
