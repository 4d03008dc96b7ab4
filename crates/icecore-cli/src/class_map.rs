//! Reads `--class-map`: pairs `OLD=NEW`, or `@FILE` for a file with such pairs.

use crate::report::{Abort, code, io_reason};
use icecore::{ClassMap, Stage};
use std::fs;

/// Name of the format option that takes the map.
const OPTION: &str = "class-map";

/// Sets the option `class-map` of the stage to these pairs, unless there are none. Then replaces `@FILE` in the option
/// by the pairs in the file, and checks the pairs.
pub fn apply_pairs(stage: &mut Stage, pairs: &[String]) -> Result<(), Abort> {
    if !pairs.is_empty() {
        stage.set(OPTION, Some(&pairs.join("\n"))).map_err(crate::report::usage_error)?;
    }
    let Some(pairs) = stage.settings().text(OPTION) else { return Ok(()) };
    let expanded_pairs = insert_pair_files(pairs)?;
    ClassMap::parse(&expanded_pairs).map_err(crate::report::usage_error)?;
    stage.set(OPTION, Some(&expanded_pairs)).map_err(crate::report::usage_error)
}

/// Parses pairs, one per line. A line `@FILE` stands for the pairs in that file.
pub fn parse_pairs(pairs: &str) -> Result<ClassMap, Abort> {
    ClassMap::parse(&insert_pair_files(pairs)?).map_err(crate::report::usage_error)
}

/// Replaces each line `@FILE` by the content of the file. `@FILE` in such a file is not replaced.
fn insert_pair_files(pairs: &str) -> Result<String, Abort> {
    let mut expanded_pairs = String::new();
    for line in pairs.lines() {
        match line.trim().strip_prefix('@') {
            Some(path) => {
                let read_error = |error| Abort::Failed(code::USAGE, format!("{path}: {}", io_reason(&error)));
                expanded_pairs += &fs::read_to_string(path).map_err(read_error)?;
            }
            None => expanded_pairs += line,
        }
        expanded_pairs.push('\n');
    }
    Ok(expanded_pairs)
}
