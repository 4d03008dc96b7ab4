//! The class map of an output: pairs on the command line, or a file of them.

use crate::report::{Abort, code, io_reason};
use icecore::{ClassMap, Stage};
use std::fs;

/// The option of formats that takes it.
const OPTION: &str = "class-map";

/// Puts the pairs of `--class-map` into the stage, reads the file that `@FILE` names, and
/// checks the pairs.
pub fn set(stage: &mut Stage, pairs: &[String]) -> Result<(), Abort> {
    let usage = |message: String| Abort::Failed(code::USAGE, message);
    if !pairs.is_empty() {
        stage.set(OPTION, Some(&pairs.join("\n"))).map_err(crate::reading::usage)?;
    }
    let Some(map) = stage.settings().text(OPTION) else { return Ok(()) };
    let mut text = String::new();
    for line in map.lines() {
        match line.trim().strip_prefix('@') {
            Some(path) => {
                let read = fs::read_to_string(path);
                text += &read.map_err(|error| usage(format!("{path}: {}", io_reason(&error))))?;
            }
            None => text += line,
        }
        text.push('\n');
    }
    ClassMap::parse(&text).map_err(crate::reading::usage)?;
    stage.set(OPTION, Some(&text)).map_err(crate::reading::usage)
}
