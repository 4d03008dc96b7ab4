//! Inference of types from a sample of blobs.
//!
//! | values | type |
//! |---|---|
//! | integers | `int64`; above that `uint64`, `decimal(38, 0)` |
//! | integers and floats | `float64`, if it represents all of the integers exactly |
//! | texts, also mixed with numbers | `utf8`; `binary` if one is not UTF-8 |
//! | times of time classes | `timestamp[us, UTC]`; `timestamp[ns, UTC]` for higher precision |
//! | days, decimals of such classes | `date32`, `decimal` with the digits that occurred |
//! | lists | a list of the common type of the items |
//! | maps, objects | a struct with all keys, and `_class` for the name of a class |
//! | maps with many different keys | a map |
//! | any other mixture | `json` |
//!
//! Every field may be null. Texts that look like numbers or times stay texts.

mod inference;
mod inferred_type;

pub use inference::{Inference, has_binary_controls};
