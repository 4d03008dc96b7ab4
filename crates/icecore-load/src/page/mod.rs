//! The tables in `docs/bench/store.md`. Nothing here measures.

mod grow;
mod store;

pub use grow::render_growth;
pub use store::{render_tables, replace_tables};
