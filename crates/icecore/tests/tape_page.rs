//! The tapes on `docs/tape.md` are real: they are printed again and compared.
//!
//! A tape on the page is in a block after a comment that names its file. `make pages` writes the
//! tapes again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn dump(file: &str) -> String {
    let input = fs::read(workspace().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let document = icecore::read(&input).unwrap_or_else(|error| panic!("{file}: {error}"));
    let dump = format!("{document:?}");
    dump.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn tapes_on_the_page_are_real() {
    const BEFORE: &str = "<!-- tape of ";
    const OPEN: &str = " -->\n```text\n";
    const CLOSE: &str = "```\n";
    let path = workspace().join("docs/tape.md");
    let page = fs::read_to_string(&path).expect("docs/tape.md is there");
    let mut parts = page.split(BEFORE);
    let mut expected_page = parts.next().unwrap_or_default().to_owned();
    let mut tapes = 0;
    for part in parts {
        let (file, rest) = part.split_once(OPEN).expect("a block follows the comment");
        let (_, rest) = rest.split_once(CLOSE).expect("the block ends");
        expected_page += &format!("{BEFORE}{file}{OPEN}{}{CLOSE}{rest}", dump(file));
        tapes += 1;
    }
    assert!(tapes > 0, "the page shows no tape");
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(&path, &expected_page).expect("docs/tape.md can be written");
    } else {
        assert!(expected_page == page, "docs/tape.md is out of date; `make pages` updates it");
    }
}

/// The table of flags lists each flag of the source with its bit, and no other.
#[test]
fn flags_on_the_page_match_the_source() {
    let source = fs::read_to_string(workspace().join("crates/icecore/src/document/node.rs")).expect("the cell");
    let module = source.split("pub mod flag {").nth(1).expect("the module of the flags");
    let module = module.split("\n}").next().expect("its end");
    let flags: BTreeSet<(String, String)> = module
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub const ")?.strip_suffix(';')?.split_once(": u8 = "))
        .map(|(name, bit)| (name.to_owned(), bit.to_owned()))
        .collect();
    let page = fs::read_to_string(workspace().join("docs/tape.md")).expect("docs/tape.md is there");
    let table = page.split("| kind | bit | name |").nth(1).expect("the table of flags");
    let rows: BTreeSet<(String, String)> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>())
        .map(|cells| (cells[3].trim_matches('`').to_owned(), cells[2].to_owned()))
        .collect();
    assert!(flags.len() > 15, "{flags:?}");
    assert_eq!(rows, flags);
    let header = fs::read_to_string(workspace().join("crates/icecore-capi/include/icecore.h")).expect("the header");
    for (name, bit) in &flags {
        let number = u8::from_str_radix(bit.trim_start_matches("0x"), 16).expect("a bit");
        assert!(header.contains(&format!("#define ICECORE_FLAG_{name} {number}\n")), "{name} in icecore.h");
    }
}
