//! Names of files that do not exist, and are probably something else.

use crate::records::Frame;
use clap::ValueEnum;
use icecore::{format, select::Pattern};

/// Returns what a missing file probably is.
pub fn missing(name: &str) -> Option<String> {
    if format::by_name(name).is_some() {
        return Some(format!("`{name}` is a format, which an option names: `--to {name}` or `--from {name}`"));
    }
    if Frame::from_str(name, false).is_ok() {
        return Some(format!("`{name}` is a frame, which an option names: `--each={name}`"));
    }
    let is_path = name.starts_with(['.', '$', '[']) && !name.contains(['/', '\\']) && Pattern::parse(name).is_ok();
    (is_path && name.len() > 1).then(|| format!("`icecore get '{name}' FILE` prints the values on a path"))
}
