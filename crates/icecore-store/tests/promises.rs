//! Each promise in the table of `docs/store.md` names a test, and that test exists.

use std::path::{Path, PathBuf};

fn find_sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => find_sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

#[test]
fn each_promise_names_an_existing_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/store.md")).expect("the page");
    let section = page.split("## What is promised").nth(1).and_then(|rest| rest.split("\n## ").next());
    let rows: Vec<&str> = section.expect("the section").lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 10, "{rows:#?}");
    let mut files = Vec::new();
    for name in ["icecore-store", "icecore-cli", "icecore-daemon"] {
        find_sources(&root.join("crates").join(name).join("tests"), &mut files);
    }
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().expect("a last column");
        assert!(tests.contains('`'), "no test: {row}");
        for test in tests.split('`').skip(1).step_by(2) {
            let (file, name) = test.split_once(": ").unwrap_or_else(|| panic!("{test} is not a FILE: NAME"));
            let has = |path: &&PathBuf| {
                path.ends_with(file)
                    && std::fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("fn {name}(")))
            };
            assert!(files.iter().any(|path| has(&path)), "there is no {test}");
        }
    }
}
