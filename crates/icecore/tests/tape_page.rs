//! `docs/tape.md` shows real tapes: they are printed again and compared.
//!
//! A tape on the page stands in a block behind a comment that names the file
//! it is of. `make pages` writes the tapes anew.

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
fn the_tapes_on_the_page_are_real() {
    const BEFORE: &str = "<!-- tape of ";
    const OPEN: &str = " -->\n```text\n";
    const CLOSE: &str = "```\n";
    let path = workspace().join("docs/tape.md");
    let page = fs::read_to_string(&path).expect("docs/tape.md is there");
    let mut parts = page.split(BEFORE);
    let mut now = parts.next().unwrap_or_default().to_owned();
    let mut tapes = 0;
    for part in parts {
        let (file, rest) = part.split_once(OPEN).expect("a block follows the comment");
        let (_, rest) = rest.split_once(CLOSE).expect("the block ends");
        now += &format!("{BEFORE}{file}{OPEN}{}{CLOSE}{rest}", dump(file));
        tapes += 1;
    }
    assert!(tapes > 0, "the page shows no tape");
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(&path, &now).expect("docs/tape.md can be written");
    } else {
        assert!(now == page, "docs/tape.md is out of date; `make pages` mends it");
    }
}
