//! What the tests share.

use std::path::{Path, PathBuf};

/// The folder of Icecore's modules, if Perl's is built.
pub fn modules() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings");
    folder.join("perl/blib").is_dir().then_some(folder)
}
