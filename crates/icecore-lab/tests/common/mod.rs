//! What the tests share.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of Icecore's modules, if one of them is built.
pub fn modules() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings");
    ["perl/blib", "php/modules", "ruby/build"].iter().any(|built| folder.join(built).is_dir()).then_some(folder)
}

/// Whether a language's runtime is there.
pub fn has(language: &str) -> bool {
    Command::new(language).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
