//! Changes text in tables, dumps and lines: an input is cut into chunks (`input/`), the values in them are found
//! (`cells`, `lines`, the lexer of dumps), changed (`worker`) and counted (`change_counts`).

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
