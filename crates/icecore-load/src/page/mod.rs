//! The tables in `docs/bench/store.md`. Nothing here measures.

mod grow;
mod store;

pub use grow::growth;
pub use store::{store, store_into};
