//! A format that was added by a folder and a row (`crates/icecore/tests/toy`) works in every command: only the registry
//! knows it.
//!
//! `cargo test -p icecore-cli --features toy toy::`
#![cfg(feature = "toy")]

use crate::run;
use std::process::Command;

const ORDER: &str = "toy os9:App\\Order{s2:idi7;s5:items[s1:as1:bn]}\n";

/// Returns the output of the command, followed by its messages and its exit code.
fn icecore(arguments: &str, input: &str) -> String {
    let mut command = Command::new(run::ICECORE);
    command.args(arguments.split(' ')).env("ICECORE_TOY", "1");
    let output = run::fed(command, input.as_bytes());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}{err}{}", output.status.code().expect("a code"))
}

#[test]
fn toy_is_converted_both_ways() {
    assert_eq!(
        icecore("convert -t php", ORDER),
        "O:9:\"App\\Order\":2:{s:2:\"id\";i:7;s:5:\"items\";a:3:{i:0;s:1:\"a\";i:1;s:1:\"b\";i:2;N;}}0"
    );
    let php = "a:1:{s:1:\"k\";d:1.5;}";
    let lost = icecore("convert -t toy", php);
    assert!(
        lost.starts_with(
            "toy {s1:kn}
"
        ) && lost.contains("first at $.k"),
        "{lost}"
    );
    assert!(icecore("convert -t toy --strict", php).ends_with('1'));
    assert_eq!(icecore("convert -t json", "toy [i1;i2;"), icecore("convert -f toy -t json", "toy [i1;i2;"));
    assert!(icecore("convert -t json", "toy [i1;i2;").contains("offset 11 at $[2]"));
}

#[test]
fn toy_is_detected_inspected_and_listed() {
    assert!(icecore("detect", ORDER).contains("toy"));
    assert!(icecore("inspect", ORDER).contains("App\\Order"));
    assert!(icecore("classes", ORDER).contains("App\\Order"));
    assert!(icecore("formats", "").contains("a made-up format"));
    assert!(icecore("formats toy", "").contains("which the test of"));
}

#[test]
fn toy_documents_are_streamed() {
    assert_eq!(icecore("convert --each -t json", "toy i1;\ntoy [i2;]\n"), "1\n[2]\n0");
    assert_eq!(icecore("convert --each -f json -t toy", "1 [2]"), "toy i1;\ntoy [i2;]\n0");
    // Reading starts again at the next magic.
    let damaged = icecore("convert --each --keep-going -f toy -t json", "toy i1;\ntoy x\ntoy i3;\n");
    assert!(damaged.starts_with("1\n3\n"), "{damaged}");
}

#[test]
fn toy_is_decoded_in_columns_and_in_strings() {
    let rows = icecore("rows --in csv --column v=toy", "id,v\n1,\"toy [i1;]\n\"\n2,plain\n");
    assert!(rows.contains("{\"id\":\"1\",\"v\":[1]}") && rows.contains("\"plain\""), "{rows}");
    let deep = icecore("convert --deep -t json", "a:1:{s:1:\"t\";s:11:\"toy [i1;i2;\";}");
    assert!(deep.contains("toy [i1;i2;"), "{deep}");
    let deep = icecore("convert --deep -t json", "a:1:{s:1:\"t\";s:9:\"toy [i1;]\";}");
    assert!(deep.contains("toy [i1;]"), "without the end of its line it is none: {deep}");
    let deep = icecore("convert --deep -t json", "a:1:{s:1:\"t\";s:10:\"toy [i1;]\n\";}");
    assert!(deep.contains("[1]"), "{deep}");
}
