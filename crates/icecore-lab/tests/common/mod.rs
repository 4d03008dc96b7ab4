//! Helpers that the tests share.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file of each language's module that exists if it was built.
const BUILT: [(&str, &str); 3] = [("perl", "blib"), ("php", "modules/icecore.so"), ("ruby", "lib/icecore/icecore.so")];

fn bindings_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings")
}

/// Returns the folder of Icecore's modules, if one of them is built.
pub fn find_modules() -> Option<PathBuf> {
    BUILT.iter().any(|(language, _)| is_built(language)).then(bindings_folder)
}

/// Returns `true` if Icecore's module for a language is built.
pub fn is_built(language: &str) -> bool {
    BUILT.iter().any(|(of, built)| *of == language && bindings_folder().join(of).join(built).exists())
}

/// Returns `true` if a language's runtime is installed.
pub fn is_installed(language: &str) -> bool {
    Command::new(language).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
