//! Every path that ARCHITECTURE.md names exists.

use std::collections::BTreeSet;
use std::path::Path;

/// Folders to which a path may be relative, depending on the section of the page.
const BASES: &[&str] = &[
    "",
    "crates/icecore",
    "crates/icecore/src",
    "crates/icecore/src/document",
    "crates/icecore/src/format",
    "crates/icecore-cli/src",
    "crates/icecore-cli/src/commands/replace",
    "crates/icecore-tables/src",
    "crates/icecore-tables/src/replace",
    "crates/icecore-tables/src/rows",
    "crates/icecore-lab",
    "crates/icecore-lab/src",
    "crates/icecore-load/src",
    "crates/icecore-store/src",
    "crates/icecore-sql/src",
    "bindings/common",
    "bindings/perl",
    "bindings/php",
    "bindings/php/core",
    "bindings/ruby",
    "bindings/ruby/ext/icecore",
    "bindings/ruby/ext/icecore/core",
];

/// Returns the texts between backticks, and the first words of the lines in code blocks.
fn list_named_items(page: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (index, part) in page.split("```").enumerate() {
        if index % 2 == 0 {
            names.extend(part.split('`').skip(1).step_by(2).map(str::to_owned));
            continue;
        }
        for line in part.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase())) {
            let words = line.split("  ").next().unwrap_or_default().split(", ");
            names.extend(words.map(|word| word.trim().to_owned()));
        }
    }
    names
}

/// Returns `true` if the name is meant as a path, not as a Rust name, an option or an example.
fn is_path(name: &str) -> bool {
    let is_file = [".rs", ".md", ".sh", ".c", ".h", ".xs", ".txt", ".json"].iter().any(|end| name.ends_with(end));
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    let is_folder =
        name.ends_with('/') || ["crates/", "bindings/", "docs/", "fuzz/"].iter().any(|top| name.starts_with(top));
    is_plain && (is_file || is_folder) && !name.contains("NAME")
}

#[test]
fn every_path_on_the_page_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let paths: Vec<_> = list_named_items(&page).into_iter().filter(|name| is_path(name)).collect();
    assert!(paths.len() > 40, "{paths:?}");
    let formats = std::fs::read_dir(root.join("crates/icecore/src/format")).unwrap();
    let formats: Vec<_> =
        formats.map(|entry| entry.unwrap().path()).filter(|path| path.join("mod.rs").exists()).collect();
    // A path in the folder of a format must exist for at least one format.
    let is_there = |path: &str| {
        BASES.iter().any(|base| root.join(base).join(path).exists())
            || formats.iter().any(|format| format.join(path).exists())
    };
    let missing: Vec<_> = paths.iter().filter(|path| !is_there(path)).collect();
    assert!(missing.is_empty(), "gone, or named otherwise: {missing:?}");
}
