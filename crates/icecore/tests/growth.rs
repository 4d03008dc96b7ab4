//! Hostile input that multiplies: each shape is doubled three or four times, and its cost may only
//! double with it, or meets the budget. The cost is counted in bytes, never in seconds: bytes
//! written, and bytes allocated.

use crate::shapes;

use crate::allocations::count_allocated_bytes;
use crate::common::usual_or_full;
use crate::shapes::Shape;
use icecore::{Converter, ErrorKind, Limits, Request, Stage, deep};

/// Budget of these tests for each byte of the input.
const GROWTH: u64 = 32;
/// First size. It is doubled three times, or four times in full runs.
const FIRST_SIZE: usize = 2 << 10;

/// Returns limits whose output depends on the input only, without the constant allowance.
fn limits(input: &[u8]) -> Limits {
    let mut limits = Limits::default();
    limits.output = GROWTH * input.len() as u64;
    limits
}

const TARGETS: &[&str] = &[
    "json",
    "json:pretty",
    "json:indent=8",
    "json:typed",
    "json:typed,indent=8",
    "json:sort_keys",
    "json:as=json-xs,pretty",
    "ndjson",
    "storable",
    "storable:canonical",
    "storable:netorder",
    "sereal",
    "sereal:dedupe_strings",
    "sereal:compress=zstd",
    "sereal:canonical",
    "dumper",
    "dumper:indent=0",
    "dumper:indent=2",
    "dumper:useqq,sortkeys",
    "dumper:terse,purity",
    "php",
    "var-export",
    "var-export:short",
    "igbinary",
    "marshal",
    "join",
    "php-session:handler=php_serialize",
    "hex/json",
    "gzip/php",
];

/// Returns the cost of reading the shape and of using the document.
fn measure_cost(bytes: &[u8], from: &str, limits: &Limits, then: impl Fn(&icecore::Document<'_>)) -> u64 {
    let stage = Stage::parse(from).unwrap();
    count_allocated_bytes(|| {
        if let Ok(document) = icecore::read_with(bytes, &stage, Request::new(limits)) {
            then(&document);
        }
    })
}

/// Shapes whose cost grew faster than the input.
#[derive(Default)]
struct SuperlinearShapes(Vec<String>);

impl Drop for SuperlinearShapes {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

/// Checks that the cost grows in proportion to the input, from size to size.
fn check_growth(found: &mut SuperlinearShapes, shape: &Shape, operation: &str, cost: impl Fn(&[u8]) -> u64) {
    let (name, make) = (shape.name, shape.make);
    let sizes = (0..=usual_or_full(3, 4)).map(|times| make(FIRST_SIZE << times));
    let costs: Vec<(usize, u64)> = sizes.map(|bytes| (bytes.len(), cost(&bytes))).collect();
    // Over two doublings, each may take 2.2 times as much, and a vector may just have doubled as
    // well. Quadratic cost would be sixteen times as much. Small costs are ignored.
    for three in costs.windows(3) {
        let [(small, low), _, (large, high)] = three else { continue };
        let allowed = (*low).max(512 << 10) as f64 * (*large as f64 / *small as f64) * 1.21 * 2.0;
        if *high as f64 > allowed {
            return found.0.push(format!("{name}, {operation}: {costs:?}"));
        }
    }
}

#[test]
fn writing_stays_within_the_budget() {
    let mut found = SuperlinearShapes::default();
    for shape in shapes::ALL {
        for target in TARGETS {
            let to = Stage::parse(target).unwrap();
            let convert = |bytes: &[u8]| {
                let limits = limits(bytes);
                measure_cost(bytes, shape.format, &limits, |document| {
                    let mut out = Vec::new();
                    match icecore::write_to(document, &to, &limits, &mut out) {
                        Ok(_) => {}
                        Err(error) if error.kind() == ErrorKind::Limit => assert!(error.help().is_some(), "{error}"),
                        Err(error) => assert!(error.to_string().len() < 2000, "{}", error.to_string().len()),
                    }
                    // The output may be slightly longer than allowed before the writer notices;
                    // wrappers write at most three bytes for one.
                    let max_bytes = 4 * limits.output + (2 << 20);
                    let len = out.len() as u64;
                    assert!(len < max_bytes, "{} to {target}: {len} of {max_bytes}", shape.name);
                })
            };
            check_growth(&mut found, shape, target, convert);
        }
    }
}

#[test]
fn many_small_documents_share_one_allowance() {
    let bytes = shapes::named("a COPY of a long string").make(8 << 10);
    for target in ["json", "storable", "dumper"] {
        let mut converter = Converter::new(Stage::parse("sereal").unwrap(), Stage::parse(target).unwrap());
        let mut out = Vec::new();
        let mut written = 0;
        let mut refused = 0;
        // Each conversion would be allowed by itself.
        for _ in 0..200 {
            out.clear();
            refused += u32::from(converter.convert(&bytes, &mut out).written.is_err());
            written += out.len() as u64;
        }
        let max_bytes = (64 << 20) + 200 * (256 * bytes.len() as u64 + (128 << 10));
        assert!(refused < 200 && written <= max_bytes, "{target}: {refused} {written} {max_bytes}");
    }
}

#[test]
fn reports_cost_no_more_than_the_input() {
    let mut found = SuperlinearShapes::default();
    for shape in shapes::ALL {
        let classes = |bytes: &[u8]| {
            let limits = limits(bytes);
            measure_cost(bytes, shape.format, &limits, |document| {
                for class in document.classes() {
                    assert!(class.path.len() < 1000, "{}", shape.name);
                }
            })
        };
        check_growth(&mut found, shape, "classes", classes);
        let paths = |bytes: &[u8]| {
            let limits = limits(bytes);
            measure_cost(bytes, shape.format, &limits, |document| {
                let last = document.nodes().len().saturating_sub(1) as u32;
                assert!(document.path(last).len() < 1000, "{}", shape.name);
            })
        };
        check_growth(&mut found, shape, "a path", paths);
        let detect = |bytes: &[u8]| count_allocated_bytes(|| drop(icecore::identify(bytes)));
        check_growth(&mut found, shape, "detect", detect);
    }
}

/// Writes a document again in the form it was read in; `inspect` also reads this way.
#[test]
fn rewriting_costs_no_more_than_the_input() {
    let mut found = SuperlinearShapes::default();
    for shape in shapes::ALL {
        let stage = Stage::parse(shape.format).unwrap();
        let keep = |bytes: &[u8]| {
            let limits = limits(bytes);
            count_allocated_bytes(|| {
                if let Ok(document) = icecore::read_with(bytes, &stage, Request::new(&limits).detailed()) {
                    let mut out = Vec::new();
                    drop(icecore::write_to(&document, &stage, &limits, &mut out));
                }
            })
        };
        check_growth(&mut found, shape, "its form", keep);
    }
}

#[test]
fn opening_strings_costs_no_more_than_the_input() {
    let mut found = SuperlinearShapes::default();
    for shape in shapes::ALL {
        let open = |bytes: &[u8]| {
            let limits = limits(bytes);
            let stage = Stage::parse(shape.format).unwrap();
            count_allocated_bytes(|| {
                if let Ok(document) = icecore::read_with(bytes, &stage, Request::new(&limits)) {
                    drop(deep::open(document, &limits));
                }
            })
        };
        check_growth(&mut found, shape, "deep", open);
    }
}

#[test]
fn error_messages_are_short() {
    for shape in shapes::ALL {
        let bytes = shape.make(FIRST_SIZE << usual_or_full(3, 4));
        let stage = Stage::parse(shape.format).unwrap();
        for cut in [bytes.len() - 1, bytes.len() / 2] {
            if let Err(error) = icecore::read_as(&bytes[..cut], &stage, &Limits::default()) {
                assert!(error.to_string().len() < 2500, "{}: {}", shape.name, error.to_string().len());
            }
        }
    }
}

/// Honest data is still written, even if it becomes much larger: records whose keys and strings are
/// stored once, indented far to the right.
#[test]
fn honest_data_stays_within_the_budget() {
    let mut builder = icecore::Builder::new();
    builder.begin_array();
    for id in 0..400_000 {
        builder.begin_map();
        builder.text_key("identification_number").int(id % 10);
        builder.text_key("customer_relationship_status").text("the same long words in each of the records");
        builder.end();
    }
    builder.end();
    let written = icecore::write(&builder.finish().unwrap(), "sereal:dedupe_strings").unwrap();
    for target in ["json:indent=8", "json:typed,indent=8", "dumper:indent=2", "storable", "var-export", "php"] {
        let out = icecore::convert(&written, "sereal", target).unwrap();
        assert!(out.len() > 4 * written.len(), "{target}");
    }
}

#[test]
fn size_of_strings_is_checked_before_values_are_built() {
    let bytes = shapes::named("a COPY of a long string").make(64 << 10);
    let document = icecore::read(&bytes).unwrap();
    let error = document.tape().check_strings(&limits(&bytes), bytes.len()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.help().unwrap().contains("raise the limit `output`"), "{error}");
    assert!(document.tape().check_strings(&Limits::default(), usize::MAX).is_ok());
}
