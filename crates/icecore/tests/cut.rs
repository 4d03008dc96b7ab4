//! Truncated documents: which containers were open, and how many children they announce.

use icecore::{Document, Kind, Limits, Request, Stage, raw::Outcome};

/// Formats that write counts before the items, and text formats, which don't.
const COUNTED: &[&str] = &["storable", "sereal", "php", "igbinary", "marshal"];
const TEXTS: &[&str] = &["json", "var-export", "dumper"];

const DATA: &str = r#"[1,{"a":[1,2,3],"b":{},"c":[[],"text"]},[true,[null,[4]],5],{"x":{"y":{"z":1}}}]"#;

fn read<'a>(stage: &Stage, bytes: &'a [u8]) -> Outcome<'a> {
    let limits = Limits::new();
    stage.format().read(bytes, stage.settings(), Request::new(&limits).detailed())
}

/// Returns the containers that were cut: the path, the number of children present, and the
/// announced number.
fn list_cut_containers(document: &Document<'_>) -> Vec<(String, usize, Option<u32>)> {
    let trace = document.trace().expect("detail was asked for");
    let children = |index: u32| document.at(index).map_or(0, |container| container.children().count());
    // Ruby's strings are containers of their attributes; they are not counted.
    let is_list_or_map =
        |index: u32| document.at(index).is_some_and(|container| matches!(container.kind(), Kind::Array | Kind::Map));
    trace
        .cut
        .iter()
        .filter(|cut| is_list_or_map(cut.node))
        .inspect(|cut| assert_eq!(trace.cut_at(cut.node), Some(**cut)))
        .map(|cut| (document.path(cut.node), children(cut.node), cut.of))
        .collect()
}

#[test]
fn cut_containers_report_present_and_announced_counts() {
    for format in COUNTED.iter().chain(TEXTS) {
        let stage = Stage::parse(format).unwrap();
        let bytes = icecore::convert(DATA.as_bytes(), "json", format).unwrap();
        let complete = read(&stage, &bytes);
        assert!(complete.error.is_none() && list_cut_containers(&complete.document).is_empty(), "{format}");
        let mut seen = 0;
        for len in 0..bytes.len() {
            let part = read(&stage, &bytes[..len]);
            if part.error.is_none() {
                continue;
            }
            for (path, present, of) in list_cut_containers(&part.document) {
                seen += 1;
                // PHP's arrays are lists until a key shows that they are not.
                let all =
                    complete.document.find(&path).unwrap_or_else(|error| panic!("{format} {len}: {error}")).body();
                assert!(present <= all.children().count(), "{format} {len} {path}: {present}");
                let announced = COUNTED.contains(format).then(|| all.children().count() as u32);
                assert_eq!(of, announced, "{format} {len} {path}");
            }
        }
        assert!(seen > 50, "{format}: only {seen}");
    }
}

/// A file that was cut in a long container: the count promises more than the rest can hold.
#[test]
fn containers_with_counts_that_are_too_large_contain_what_is_there() {
    let list: Vec<String> = (0..4000).map(|number| format!("[{number},\"text {number}\"]")).collect();
    let map: Vec<String> = (0..4000).map(|number| format!("\"key {number}\":{{\"a\":{number}}}")).collect();
    for json in [format!("[{}]", list.join(",")), format!("{{\"all\":{{{}}}}}", map.join(","))] {
        for format in COUNTED {
            let stage = Stage::parse(format).unwrap();
            let bytes = icecore::convert(json.as_bytes(), "json", format).unwrap();
            for len in [bytes.len() / 50, bytes.len() / 10, bytes.len() / 3] {
                let part = &bytes[..len];
                let limits = Limits::new();
                let outcome = stage.format().read(part, stage.settings(), Request::new(&limits).salvaging());
                let plain = stage.format().read(part, stage.settings(), Request::new(&limits));
                let (error, plain_error) = (outcome.error.unwrap(), plain.error.unwrap());
                assert_eq!(error.to_string(), plain_error.to_string(), "{format} {len}");
                // At least one value for 30 bytes.
                assert!(outcome.document.nodes().len() > len / 30, "{format} {len}: {error}");
                assert!(list_cut_containers(&outcome.document).iter().any(|(_, _, of)| *of == Some(4000)), "{format}");
                assert_eq!(icecore::identify(part).map(|found| found.name), Some(*format), "{len}");
            }
        }
    }
}
