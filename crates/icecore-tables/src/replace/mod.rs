//! Changes text in tables, dumps and lines. An input is cut into chunks (`input/`). The values in the chunks are
//! found (`cells`, `lines`, the lexer of dumps), changed (`worker`) and counted (`change_counts`).

mod cells;
pub mod change_counts;
pub mod chunk;
pub mod conflicts;
pub mod input;
pub mod lines;
pub mod places;
pub mod plan;
pub mod rule_sets;
pub mod show;
pub mod value;
pub mod worker;
