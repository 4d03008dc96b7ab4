//! The public interface does not change unnoticed: it must match `docs/public-api.txt`. `make api`
//! writes that file again.
//!
//! The list comes from rustdoc's JSON description of the crate. Its layout has its own version; if
//! the compiler uses a newer one, the test is skipped and says so.

mod items;
mod types;

use serde_json::Value;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Versions of rustdoc's JSON that `items` and `types` know: Rust 1.95 to 1.99.
const LAYOUTS: RangeInclusive<u64> = 57..=61;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

/// Returns rustdoc's description of the engine.
fn describe() -> Value {
    // The target folder of the tests already contains much of what rustdoc needs.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target folder");
    let documentation = target.join("doc/icecore.json");
    let done = Command::new(env!("CARGO"))
        .current_dir(workspace())
        .args(["rustdoc", "--quiet", "--package", "icecore", "--lib", "--target-dir"])
        .arg(target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTDOCFLAGS")
        .status()
        .expect("cargo runs");
    assert!(done.success(), "rustdoc failed");
    let text = std::fs::read(&documentation).expect("rustdoc wrote its description");
    serde_json::from_slice(&text).expect("the description is JSON")
}

#[test]
fn the_public_interface_matches_its_page() {
    let description = describe();
    let layout = description["format_version"].as_u64().unwrap_or(0);
    if !LAYOUTS.contains(&layout) {
        // `println!` is not used, because its output is hidden when a test passes.
        let note = format!("left out: this compiler describes crates in layout {layout}, not in {LAYOUTS:?}\n");
        std::io::stderr().write_all(note.as_bytes()).expect("stderr is open");
        return;
    }
    let mut current = items::list(&description).join("\n");
    current.push('\n');
    let record = workspace().join("docs/public-api.txt");
    if std::env::var_os("UPDATE_PUBLIC_API").is_some() {
        std::fs::write(&record, &current).expect("docs/public-api.txt can be written");
        return;
    }
    let known = std::fs::read_to_string(&record).unwrap_or_default();
    let removed = known.lines().filter(|line| !current.lines().any(|other| other == *line));
    let new = current.lines().filter(|line| !known.lines().any(|other| other == *line));
    let difference: Vec<_> =
        removed.map(|line| format!("- {line}")).chain(new.map(|line| format!("+ {line}"))).collect();
    assert!(
        known == current,
        "the public interface is not the one in docs/public-api.txt:\n{}\n\
         If that is meant, say so in CHANGELOG.md and run `make api`.",
        difference.join("\n")
    );
}

/// The names at the root fit on one screen; the rest is in modules with a documented purpose.
#[test]
fn the_root_of_the_crate_has_few_names() {
    let source = std::fs::read_to_string(workspace().join("crates/icecore/src/lib.rs")).expect("the root is there");
    let root = source.split("\npub mod ").map(|part| match part.split_once("\n}\n") {
        // The content of an inline module does not count.
        Some((_, behind)) if part.contains(" {\n") && !part.starts_with("//!") => behind,
        _ => part,
    });
    let root = root.collect::<Vec<_>>().join("\n");
    let modules = source.lines().filter(|line| line.starts_with("pub mod ")).count();
    let lists = root.split("\npub use ").skip(1).map(|part| part.split(';').next().unwrap_or_default());
    let names: usize =
        lists.map(|list| list.split(',').filter(|name| !name.trim().trim_matches(['{', '}']).is_empty()).count()).sum();
    assert!(names > 20 && modules > 8, "{names} names and {modules} modules were found");
    assert!(names + modules <= 43, "{names} names and {modules} modules");
}
