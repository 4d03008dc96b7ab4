//! Benchmarks that skim: they read the values on a path, and skip all other values.

use super::{EngineBenchmark, check, input, stage};
use crate::shape::Shape::Records;
use icecore::raw::Input;
use icecore::select::{self, Pattern, Skimmed};
use icecore::{Document, Limits};
use std::hint::black_box;

/// The format, the wanted values and the number of items of each benchmark.
const BENCHMARKS: [(&str, Wanted, usize); 8] = [
    ("storable", Wanted::NearEnd, 15_000),
    ("sereal", Wanted::NearEnd, 15_000),
    ("php", Wanted::NearEnd, 15_000),
    ("igbinary", Wanted::NearEnd, 15_000),
    ("marshal", Wanted::NearEnd, 15_000),
    ("json", Wanted::NearEnd, 15_000),
    ("php", Wanted::All, 2_000),
    ("json", Wanted::All, 2_000),
];

/// Which values a benchmark looks for.
#[derive(Clone, Copy)]
enum Wanted {
    /// The name in one record, 1 % before the end.
    NearEnd,
    /// The names in all records.
    All,
}

pub fn benchmarks() -> Vec<EngineBenchmark> {
    BENCHMARKS.into_iter().map(|(format, wanted, items)| benchmark(format, wanted, items)).collect()
}

fn benchmark(format: &'static str, wanted: Wanted, items: usize) -> EngineBenchmark {
    let word = match wanted {
        Wanted::NearEnd => "last",
        Wanted::All => "all",
    };
    EngineBenchmark::new(format!("select/{format}/{word}"), items, move |items| {
        let (bytes, stage) = (input(format, Records, items), stage(format));
        let path = match wanted {
            Wanted::NearEnd => format!("$[{}].name", items - items / 100 - 1),
            Wanted::All => "$[*].name".to_owned(),
        };
        let pattern = Pattern::parse(&path).expect("the path is correct");
        let count = match wanted {
            Wanted::NearEnd => 1,
            Wanted::All => items as u64,
        };
        let expected: Vec<String> = match wanted {
            Wanted::NearEnd => vec![format!("Employee_{}", items - items / 100 - 1)],
            Wanted::All => (0..items).map(|id| format!("Employee_{id}")).collect(),
        };
        let skim = move |mut found: Option<&mut Vec<String>>| {
            let on_match = &mut |_: &str, document: &Document<'_>| {
                match &mut found {
                    Some(found) => found.push(text(&document.root().as_str())),
                    None => {
                        black_box(document.root().as_str());
                    }
                }
                Ok(())
            };
            let result = select::skim(Input::Bytes(black_box(bytes)), &stage, &pattern, &Limits::default(), on_match);
            assert_eq!(result.expect("nothing stops the skimming"), Skimmed::Complete(count), "{format}");
        };
        check(|| {
            let mut found = Vec::new();
            skim(Some(&mut found));
            assert!(found == expected, "{format}: other values are found");
        });
        Box::new(move || skim(None))
    })
}

fn text(found: &Option<&str>) -> String {
    found.expect("the value is a string").to_owned()
}
