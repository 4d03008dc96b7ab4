//! A long array is shown part by part: the output is the same as that of the whole.

use crate::common::usual_or_full;
use crate::run;

use std::fs;

/// Returns a list of records, a little larger than the limit for reading as a whole; with links if requested.
fn list(records: u32, has_links: bool) -> icecore::Document<'static> {
    let mut builder = icecore::Builder::new();
    builder.begin_array();
    for index in 0..records {
        let record = builder.begin_map().at();
        builder.text_key("id").int(i64::from(index) - 3);
        builder.text_key("name").text(&format!("name {index:1800}"));
        builder.text_key("list").begin_array();
        builder.float(f64::from(index) / 4.0).null();
        if has_links && index % 200 == 199 {
            builder.link(record);
        }
        builder.end();
        // An array of PHP that turns out not to be a list.
        builder.text_key("map").begin_map();
        builder.int_key(0).bool(true);
        builder.int_key(7).text("x");
        builder.end();
        builder.end();
    }
    builder.end();
    builder.finish().unwrap()
}

#[test]
fn parts_of_a_long_array_give_the_output_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let formats = ["json", "php", "storable", "marshal"];
    for (format, has_links) in formats.iter().flat_map(|format| [(format, false), (format, true)]) {
        let records = usual_or_full(1_400, 20_000);
        let target = if *format == "json" { "json:cycles=null" } else { format };
        let bytes = icecore::write(&list(records, has_links), target).unwrap();
        assert!(bytes.len() > 2 << 20, "{format}: half is too short: {}", bytes.len());
        let half = &bytes[..bytes.len() / 2];
        let more = [&bytes[..], b" x"].concat();
        for (name, bytes) in [("whole", &bytes[..]), ("half", half), ("more", &more)] {
            if has_links && name != "whole" {
                continue;
            }
            let path = folder.path().join("list");
            fs::write(&path, bytes).unwrap();
            let file = path.to_str().unwrap();
            let forms: &[&[&str]] = if name == "whole" { &[&[], &["--json"]] } else { &[&[]] };
            for form in forms {
                let args = [&["inspect", "-f", format, "--all", file], *form].concat();
                let (parts, parts_stderr, parts_code) = run::icecore(&args, b"");
                // With a number of items it is read as a whole.
                let (complete, stderr, code) = run::icecore(&[&args[..], &["--items", "4G"]].concat(), b"");
                assert_eq!((parts_code, parts_stderr), (code, stderr), "{format} {name} {args:?}");
                assert!(parts == complete, "{format} {name} {args:?}: {} and {}", parts.len(), complete.len());
                assert!(parts.len() > bytes.len() / 2, "{format} {name}");
            }
        }
    }
}
