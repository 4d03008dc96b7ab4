//! Replaces text inside of frozen values; every other byte stays.

use super::{EngineBenchmark, check, decode, encode, stage, to_json};
use icecore::rewrite::{self, Rewriting, Tally};
use icecore::{Builder, Document};
use icecore_replace::Rules;
use std::hint::black_box;

/// Takes the number and the new bytes of each value.
type Receive = Box<dyn FnMut(usize, &[u8])>;

const OLD: &str = "https://old.example";
const NEW: &str = "https://brand-new.example";

pub fn benchmarks() -> Vec<EngineBenchmark> {
    [("php", 500), ("json", 500), ("storable", 300)]
        .into_iter()
        .map(|(format, items)| benchmark(format, items))
        .collect()
}

/// The settings of a site: an address in some of the strings, as blobs of a table.
fn settings(id: usize, address: &str) -> Document<'static> {
    let mut b = Builder::new();
    b.begin_map();
    b.bytes_key("title").bytes(format!("Page {id}"));
    b.bytes_key("about").bytes("knows how things were done, and why they are done otherwise today");
    b.bytes_key("logo").bytes(format!("{address}/logo-{id}.png"));
    b.bytes_key("links");
    b.begin_array();
    for page in 0..3 {
        b.bytes(format!("see {address}/page/{page}, please"));
    }
    b.end();
    b.end();
    b.finish().expect("every container is closed")
}

fn benchmark(format: &'static str, items: usize) -> EngineBenchmark {
    EngineBenchmark::new(format!("replace/{format}/settings"), items, move |items| {
        let stage = stage(format);
        let blobs: Vec<Vec<u8>> = (0..items).map(|id| encode(&settings(id, OLD), &stage)).collect();
        let rules = Rules::builder().url(OLD, NEW).build().expect("the rules are correct");
        let replace_all = move |mut then: Receive| {
            let (mut replacing, mut tally) = (rules.replacing(), Tally::default());
            let mut out = Vec::new();
            for (id, blob) in black_box(&blobs).iter().enumerate() {
                let edits = rewrite::value(blob, &mut replacing, &Rewriting::default(), &mut tally);
                out.clear();
                edits.apply_to(blob, &mut out);
                then(id, &out);
            }
            assert!(tally.broken == 0, "{format}: every value can be changed");
        };
        check(|| {
            replace_all(Box::new(move |id, out| {
                let expected = to_json(&settings(id, NEW));
                assert!(to_json(&decode(out, &stage)) == expected, "{format}: other strings come out");
            }));
        });
        Box::new(move || {
            replace_all(Box::new(|_, out| {
                black_box(out);
            }));
        })
    })
}
