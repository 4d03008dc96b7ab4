//! Compares the instructions per record of a conversion as a whole, in windows, and of each record as a document.

use crate::engine::EngineBenchmark;
use crate::table::Table;
use std::fmt::Write;

/// A conversion that several benchmarks do in different ways.
pub struct Ratios {
    /// The conversion: `php-json/records`.
    pub name: String,
    /// Instructions per item as a whole.
    pub whole: f64,
    /// In windows.
    pub windows: Option<f64>,
    /// Each item as a document of its own.
    pub each: Option<f64>,
}

/// If windows or single records cost more than this number of times the whole, they cost much more.
pub const MUCH: f64 = 1.3;

/// Finds the conversions that are counted in more than one way.
pub fn find(table: &Table, benchmarks: &[EngineBenchmark]) -> Vec<Ratios> {
    let for_item = |name: &str| {
        let items = benchmarks.iter().find(|benchmark| benchmark.name == name)?.items;
        Some(table.entries.get(name)?.instructions as f64 / items as f64)
    };
    let wholes =
        benchmarks.iter().filter_map(|benchmark| benchmark.name.strip_prefix("convert/")?.strip_suffix("/whole"));
    let all = wholes.filter_map(|name| {
        let way = |way: &str| for_item(&format!("convert/{name}/{way}"));
        Some(Ratios { name: name.to_owned(), whole: way("whole")?, windows: way("windows"), each: way("each") })
    });
    all.filter(|ratios| ratios.windows.is_some() || ratios.each.is_some()).collect()
}

/// A table of Markdown.
pub fn to_markdown(all: &[Ratios]) -> String {
    let mut text =
        String::from("| conversion | whole | in windows | ratio | each | ratio |\n|---|---|---|---|---|---|\n");
    for ratios in all {
        let way = |count: Option<f64>| match count {
            Some(count) => format!("{count:.0} | {:.2}", count / ratios.whole),
            None => " | ".to_owned(),
        };
        let (windows, each) = (way(ratios.windows), way(ratios.each));
        _ = writeln!(text, "| {} | {:.0} | {windows} | {each} |", ratios.name, ratios.whole);
    }
    text
}
