//! Fields as text: `id int64, tags list<utf8>, address struct<city utf8, zip utf8>`.
//!
//! ```text
//! fields = field, { ",", field } ;
//! field  = name, [ ":" ], type, [ "not null" ], [ "at", path ] ;
//! name   = word | '"', text, '"' | "`", text, "`" ;
//! path   = '"', text, '"' | "'", text, "'" ;
//! ```
//!
//! Types have the names of Arrow; those of SQL, DuckDB and Spark are accepted as well:
//!
//! | written | also accepted | |
//! |---|---|---|
//! | `bool` | `boolean` | |
//! | `int8`, `int16`, `int32`, `int64` | `tinyint`, `smallint`, `int` and `integer`, `bigint` and `long` | |
//! | `uint8`, `uint16`, `uint32`, `uint64` | `utinyint`, `usmallint`, `uinteger`, `ubigint` | |
//! | `float32`, `float64` | `real` and `float`, `double` | |
//! | `decimal(38, 2)` | `decimal128(38, 2)`, `numeric(38, 2)` | digits, and the number of digits after the point |
//! | `utf8`, `large_utf8` | `string`, `str`, `text`, `varchar`; `large_string` | |
//! | `binary`, `large_binary` | `bytes`, `blob`, `bytea` | |
//! | `date32` | `date` | days |
//! | `timestamp[us]`, `timestamp[ms, UTC]` | `timestamp`, `datetime`, `timestamptz` | unit `s`, `ms`, `us` or `ns`; a time zone |
//! | `list<utf8>`, `large_list<utf8>` | `array<utf8>`, `utf8[]` | |
//! | `map<utf8, int64>` | | |
//! | `struct<city utf8, zip utf8>` | `row`, `record` | |
//! | `json` | | any value, as JSON |
//! | `rest` | | a JSON object with the entries without a field |
//! | `class` | | the name of the object's class |
//!
//! Parentheses can be used instead of angle brackets.

mod parse;
mod print;
mod words;

pub use parse::parse;
pub use print::print;
