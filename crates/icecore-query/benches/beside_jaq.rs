//! Reads and queries JSON, next to jaq on its own values. Results are compared before anything is
//! timed.
//!
//! ```sh
//! cargo bench -p icecore-query
//! ```

use icecore::{Document, Limits, Stage};
use icecore_query::{Input, Query, Running, on_query_thread};
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, data};
use jaq_json::Val;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

type Kind = data::JustLut<Val>;

const FILTERS: [&str; 7] = [
    "length",
    ".[].name",
    "map(select(.age > 40) | {name, city: .address.city}) | length",
    "[.[].tags[]] | group_by(.) | map({tag: .[0], n: length})",
    "map(.age) | add / length",
    "[.. | strings] | length",
    ".",
];

fn records(count: usize) -> String {
    let record = |at: usize| {
        format!(
            r#"{{"id":{at},"name":"Person {at}","age":{},"score":{}.5,"tags":["t{}","t{}"],"address":{{"city":"City {}","street":"Long Street {at}","zip":"{:05}"}},"active":{}}}"#,
            18 + at % 60,
            at % 100,
            at % 7,
            at % 11,
            at % 50,
            at % 99_999,
            at.is_multiple_of(2)
        )
    };
    format!("[{}]", (0..count).map(record).collect::<Vec<_>>().join(","))
}

fn ours(query: &Query, text: &[u8]) -> Vec<u8> {
    let (stage, limits) = (Stage::parse("json:typed=no").expect("a stage"), Limits::default());
    let document = icecore::read_as(text, &stage, &limits).map(Document::into_owned).expect("JSON");
    let mut out = Vec::new();
    query.run(&mut std::iter::once(Input::new("", document)), &Running::default(), &mut |result| {
        let answer = result.unwrap_or_else(|failure| panic!("{}", failure.message));
        answer.write(&stage, &limits, &mut out).expect("it can be written");
        out.push(b'\n');
        ControlFlow::Continue(())
    });
    out
}

fn jaq(filter: &Filter<Kind>, text: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let value = jaq_json::read::parse_single(text).expect("JSON");
    let ctx = Ctx::<Kind>::new(&filter.lut, Vars::new([]));
    let mut out = Vec::new();
    for result in filter.id.run((ctx, value)) {
        let Ok(value) = result else { panic!("an error") };
        writeln!(out, "{value}").expect("memory");
    }
    out
}

fn compiled(text: &str) -> Filter<Kind> {
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let loader = Loader::new(definitions);
    let arena = Arena::default();
    let Ok(modules) = loader.load(&arena, File { code: text, path: () }) else { panic!("{text}") };
    let functions = jaq_core::funs::<Kind>().chain(jaq_std::funs()).chain(jaq_json::funs());
    let Ok(filter) = Compiler::default().with_funs(functions).compile(modules) else { panic!("{text}") };
    filter
}

/// Returns the best times of some alternating rounds.
fn best(rounds: usize, mut a: impl FnMut(), mut b: impl FnMut()) -> (Duration, Duration) {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let mut least = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        least.0 = least.0.min(time(&mut a));
        least.1 = least.1.min(time(&mut b));
    }
    least
}

fn main() {
    let text = records(100_000);
    println!("{} MB of JSON, read and asked", text.len() >> 20);
    on_query_thread(|| {
        for filter in FILTERS {
            let (query, other) = (Query::new(filter, &[]).expect("a filter"), compiled(filter));
            assert_eq!(ours(&query, text.as_bytes()), jaq(&other, text.as_bytes()), "{filter}");
            let run_ours = || drop(std::hint::black_box(ours(&query, text.as_bytes())));
            let run_jaq = || drop(std::hint::black_box(jaq(&other, text.as_bytes())));
            let (ours, jaq) = best(5, run_ours, run_jaq);
            println!(
                "{:6.0} ms  jaq {:6.0} ms  {:4.1} times  {filter}",
                ours.as_secs_f64() * 1e3,
                jaq.as_secs_f64() * 1e3,
                jaq.as_secs_f64() / ours.as_secs_f64()
            );
        }
    });
}
