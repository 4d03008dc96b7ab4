//! `include/icecore.h` matches the source.

use std::fs;
use std::path::Path;

#[test]
fn the_header_matches_the_source() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut written = Vec::new();
    let config = cbindgen::Config::from_file(home.join("cbindgen.toml")).expect("cbindgen.toml");
    cbindgen::generate_with_config(home, config).expect("the source can be read").write(&mut written);
    let written = String::from_utf8(written).expect("it is text");
    let path = home.join("include/icecore.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        fs::write(&path, &written).expect("it can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == written,
        "run `UPDATE_HEADER=1 cargo test -p icecore-capi --test capi header::` and look at the change"
    );
}

/// The page about versions has the same numbers as the sources.
#[test]
fn the_page_of_versions_matches_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/versions.md")).unwrap();
    let row = |begins: &str| page.lines().find(|line| line.starts_with(begins)).unwrap_or_default().to_owned();
    for (begins, number) in [
        ("| the library", env!("CARGO_PKG_VERSION").to_owned()),
        ("| the layout of the tape", icecore_capi::ICECORE_TAPE_VERSION.to_string()),
        ("| `json:typed`", "1".to_owned()),
    ] {
        assert!(row(begins).contains(&format!("| {number} |")), "{begins}: {number} is missing");
    }
    let module = fs::read_to_string(root.join("bindings/perl/lib/Icecore.pm")).unwrap();
    let version = module.lines().find_map(|line| line.strip_prefix("our $VERSION = '")).unwrap();
    assert!(row("| the Perl module").contains(&format!("| {} |", version.trim_end_matches("';"))));
    let typed = icecore::convert(b"O:1:\"A\":0:{}", "php", "json:typed").unwrap();
    assert!(typed.starts_with(b"{\"$icecore\":1,"), "{}", typed.escape_ascii());
}
