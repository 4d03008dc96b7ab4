//! Benchmarks of the engine and of the libraries around it. Each benchmark prepares its input, checks the answer, and
//! returns the work that is counted.

mod alike;
mod columns;
mod convert;
mod gate;
mod read;
mod replace;
mod select;
mod write;

use crate::shape::Shape;
use icecore::{Document, Limits, Stage};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is counted. It can be run again and again.
pub type Work = Box<dyn FnMut()>;

/// Prepares the work for a number of items.
type Prepare = Box<dyn Fn(usize) -> Work>;

/// A benchmark of the engine: a piece of work.
pub struct EngineBenchmark {
    /// The name in the table.
    pub name: String,
    /// How many records or other items the work handles.
    pub items: usize,
    prepare: Prepare,
}

impl EngineBenchmark {
    fn new(name: impl Into<String>, items: usize, prepare: impl Fn(usize) -> Work + 'static) -> EngineBenchmark {
        EngineBenchmark { name: name.into(), items, prepare: Box::new(prepare) }
    }

    /// Makes the input, and checks that the answer is right unless `skip_checks` was called. Panics if it is wrong.
    pub fn prepare(&self) -> Work {
        (self.prepare)(self.items)
    }
}

/// Every benchmark of the engine that the table has.
pub fn benchmarks() -> Vec<EngineBenchmark> {
    let mut benchmarks = Vec::new();
    benchmarks.extend(read::benchmarks());
    benchmarks.extend(write::benchmarks());
    benchmarks.extend(convert::benchmarks());
    benchmarks.extend(alike::benchmarks());
    benchmarks.extend(select::benchmarks());
    benchmarks.extend(columns::benchmarks());
    benchmarks.extend(replace::benchmarks());
    benchmarks
}

/// Two benchmarks that are not in the table: the second one does 4 % more than the first.
pub fn gate_benchmarks() -> Vec<EngineBenchmark> {
    gate::benchmarks()
}

/// The formats that keep records as they are.
const FORMATS: [&str; 8] = ["storable", "sereal", "dumper", "php", "var-export", "json", "igbinary", "marshal"];

/// The stage that reads and writes the format of a benchmark.
fn stage(format: &str) -> Stage {
    let text = match format {
        "pack" => "pack:template='(N n/a* n/a* n)*'",
        "join" => "join:separator=\"|\"",
        "php-session" => "php-session:handler=php",
        format => format,
    };
    Stage::parse(text).expect("the stage of a cell is correct")
}

fn encode(document: &Document<'_>, stage: &Stage) -> Vec<u8> {
    let mut bytes = Vec::new();
    icecore::write_to(document, stage, &Limits::default(), &mut bytes).expect("the document can be written");
    bytes
}

fn decode<'a>(bytes: &'a [u8], stage: &Stage) -> Document<'a> {
    icecore::read_as(bytes, stage, &Limits::default()).expect("the document can be read")
}

fn to_json(document: &Document<'_>) -> Vec<u8> {
    encode(document, &stage("json"))
}

/// Panics unless the bytes are the document: writing it again gives the same bytes and the same
/// JSON.
fn check_bytes(bytes: &[u8], stage: &Stage, document: &Document<'_>) {
    let again = decode(bytes, stage);
    assert!(encode(&again, stage) == bytes, "{stage}: other bytes come back");
    // Dumper's text does not have booleans, and join has only strings, so the JSON differs.
    if !["dumper", "join"].contains(&stage.format().name) {
        assert!(to_json(&again) == to_json(document), "{stage}: another value comes back");
    }
}

/// Whether answers are checked.
static CHECKS: AtomicBool = AtomicBool::new(true);

/// Skips the checks, because an earlier run of the same benchmark made them. Under callgrind they would
/// take most of the time.
pub fn skip_checks() {
    CHECKS.store(false, Ordering::Relaxed);
}

/// Checks that the answer of a benchmark is right.
fn check(answer: impl FnOnce()) {
    if CHECKS.load(Ordering::Relaxed) {
        answer();
    }
}

/// Returns the input of a benchmark. The bytes are leaked, so that the work can borrow them for any time.
fn input(format: &str, shape: Shape, items: usize) -> &'static [u8] {
    let (stage, document) = (stage(format), shape.build(format, items));
    let bytes = encode(&document, &stage);
    check(|| check_bytes(&bytes, &stage, &document));
    bytes.leak()
}

/// One blob for each item, as the rows of a table have them.
fn blobs(format: &str, shape: Shape, items: usize) -> Vec<Vec<u8>> {
    let stage = stage(format);
    let blobs = (0..items).map(|id| {
        let document = shape.build_item(id);
        let bytes = encode(&document, &stage);
        check(|| check_bytes(&bytes, &stage, &document));
        bytes
    });
    blobs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_benchmark_gives_the_right_answer() {
        for benchmark in benchmarks().into_iter().chain(gate_benchmarks()) {
            let mut work = benchmark.prepare();
            work();
        }
    }

    #[test]
    fn names_of_benchmarks_are_unique() {
        let mut names: Vec<_> = benchmarks().into_iter().map(|benchmark| benchmark.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn each_format_has_benchmarks_for_read_write_and_convert() {
        let names: Vec<_> = benchmarks().into_iter().map(|benchmark| benchmark.name).collect();
        for format in FORMATS {
            for start in [format!("read/{format}/"), format!("write/{format}/"), format!("convert/{format}-")] {
                assert!(names.iter().any(|name| name.starts_with(&start)), "no cell begins with {start}");
            }
        }
    }
}
