//! Rows are read in one form, their frozen values are decoded, and they are written in another form.

mod batch;
mod column;
pub mod columnar;
#[cfg(feature = "store")]
pub mod database;
mod decode;
pub mod dump;
mod first_rows;
mod frozen_columns;
mod object;
pub mod object_names;
pub mod plan;
pub mod table;
mod text;
mod words;

pub use batch::Batch;
pub use decode::Decoders;
pub use first_rows::FirstRows;
pub use frozen_columns::{FrozenColumn, FrozenColumns};
pub use words::{Bytea, OnError, TableForm, Text};
