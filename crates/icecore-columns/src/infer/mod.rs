//! Types that are learned from a sample of blobs.
//!
//! | values | type |
//! |---|---|
//! | integers | `int64`; above that `uint64`, `decimal(38, 0)` |
//! | integers and floats | `float64`, if it holds all of the integers |
//! | texts, numbers among them | `utf8`; `binary`, if one is not UTF-8 |
//! | times of classes for times | `timestamp[us, UTC]`; `timestamp[ns, UTC]` for what is finer |
//! | days, decimals of such classes | `date32`, `decimal` with the digits that were seen |
//! | lists | a list of what the items have in common |
//! | maps, objects | a struct with all keys, and `_class` for the name of a class |
//! | maps with many keys, and not the same ones | a map |
//! | anything else together | `json` |
//!
//! Every field may be null. Texts that look like numbers or times stay texts.

mod learn;
mod shape;

pub use learn::Inference;
