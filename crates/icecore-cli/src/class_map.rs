//! The class map of an output: pairs on the command line, or a file with pairs.

use crate::report::{Abort, code, io_reason};
use icecore::{ClassMap, Stage};
use std::fs;

/// Name of the format option that takes the map.
const OPTION: &str = "class-map";

/// Puts the pairs of `--class-map` into the stage, reads the file that `@FILE` names, and checks the pairs.
pub fn apply_pairs(stage: &mut Stage, pairs: &[String]) -> Result<(), Abort> {
    if !pairs.is_empty() {
        stage.set(OPTION, Some(&pairs.join("\n"))).map_err(crate::report::usage_error)?;
    }
    let Some(map) = stage.settings().text(OPTION) else { return Ok(()) };
    let text = insert_pair_files(map)?;
    ClassMap::parse(&text).map_err(crate::report::usage_error)?;
    stage.set(OPTION, Some(&text)).map_err(crate::report::usage_error)
}

/// Returns a class map of these pairs, and of those in files that `@FILE` names.
pub fn parse_pairs(pairs: &str) -> Result<ClassMap, Abort> {
    ClassMap::parse(&insert_pair_files(pairs)?).map_err(crate::report::usage_error)
}

/// Replaces each `@FILE` by the pairs in the file.
fn insert_pair_files(map: &str) -> Result<String, Abort> {
    let mut text = String::new();
    for line in map.lines() {
        match line.trim().strip_prefix('@') {
            Some(path) => {
                let failed = |error| Abort::Failed(code::USAGE, format!("{path}: {}", io_reason(&error)));
                text += &fs::read_to_string(path).map_err(failed)?;
            }
            None => text += line,
        }
        text.push('\n');
    }
    Ok(text)
}
