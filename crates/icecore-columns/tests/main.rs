//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod decode;
#[path = "../../icecore/tests/fixtures/mod.rs"]
mod fixtures;
mod random;
mod random_numbers;
mod row_by_row;
mod schema;
mod there_and_back;
