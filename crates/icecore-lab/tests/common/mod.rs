//! What the tests share.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is there of each language's module if it was built.
const BUILT: [(&str, &str); 3] = [("perl", "blib"), ("php", "modules/icecore.so"), ("ruby", "lib/icecore/icecore.so")];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings")
}

/// The folder of Icecore's modules, if one of them is built.
pub fn modules() -> Option<PathBuf> {
    BUILT.iter().any(|(language, _)| is_built(language)).then(folder)
}

/// Whether Icecore's module for a language is built.
pub fn is_built(language: &str) -> bool {
    BUILT.iter().any(|(of, built)| *of == language && folder().join(of).join(built).exists())
}

/// Whether a language's runtime is there.
pub fn has(language: &str) -> bool {
    Command::new(language).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
