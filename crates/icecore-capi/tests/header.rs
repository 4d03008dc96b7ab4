//! `include/icecore.h` says what the source says.

use std::path::Path;

#[test]
fn the_header_is_that_of_the_source() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut written = Vec::new();
    let config = cbindgen::Config::from_file(home.join("cbindgen.toml")).expect("cbindgen.toml");
    cbindgen::generate_with_config(home, config).expect("the source can be read").write(&mut written);
    let written = String::from_utf8(written).expect("it is text");
    let path = home.join("include/icecore.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &written).expect("it can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == written,
        "run `UPDATE_HEADER=1 cargo test -p icecore-capi --test header` and look at the change"
    );
}
