//! Random filters over random JSON, compared with jaq on its own values.
//! `ICECORE_QUERY_RUNS=100000` makes a longer run, `ICECORE_QUERY_SEED` sets other filters.
//!
//! Intended differences are not tested: here slices of null are null, as in jq; `contains` refuses
//! values of two kinds; `.a = 1` makes an object of null.

use icecore::{Document, Limits, Stage};
use icecore_query::{Input, Query, Running, on_query_thread};
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data};
use jaq_json::Val;
use std::ops::ControlFlow;

/// Limits of the steps and results of a filter.
const STEPS: u64 = 20_000;
const RESULTS: usize = 50;

/// Random numbers by xorshift, from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

fn value(random: &mut Random, depth: usize) -> String {
    let name = |random: &mut Random| random.pick(&["a", "b", "c", "é"]);
    match random.below(if depth == 0 { 6 } else { 10 }) {
        0 => "null".to_owned(),
        1 => random.pick(&["true", "false"]).to_owned(),
        2 => random
            .pick(&["0", "1", "-1", "2", "7", "9007199254740993", "9223372036854775807", "-9223372036854775808"])
            .to_owned(),
        3 => random.pick(&["0.5", "-2.5", "1e3", "12345678901234567890"]).to_owned(),
        4 | 5 => format!("\"{}\"", random.pick(&["", "a", "b", "ab", "abc", "é", "1", "a,b", "\\n"])),
        6 | 7 => {
            let items: Vec<_> = (0..random.below(4)).map(|_| value(random, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => {
            // Each key once: text that is copied unread keeps both, where jaq keeps one.
            let mut items: Vec<(&str, String)> = Vec::new();
            for _ in 0..random.below(4) {
                let key = name(random);
                if items.iter().all(|(known, _)| *known != key) {
                    items.push((key, value(random, depth - 1)));
                }
            }
            let items: Vec<_> = items.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            format!("{{{}}}", items.join(","))
        }
    }
}

/// Makes a filter that selects parts and can be assigned to.
fn place(random: &mut Random, depth: usize) -> String {
    let simple = [
        ".",
        ".a",
        ".b",
        ".[0]",
        ".[-1]",
        "(arrays | .[1:])",
        "(strings | .[:1])",
        ".[]",
        ".a?",
        ".[]?",
        "..",
        ".[0]?",
        ".c[]?",
        "(arrays | .[1:2])",
        "first",
        "last",
    ];
    match random.below(if depth == 0 { 1 } else { 5 }) {
        0 | 1 => random.pick(&simple).to_owned(),
        2 => format!("({} | {})", place(random, depth - 1), place(random, depth - 1)),
        3 => format!("({}, {})", place(random, depth - 1), place(random, depth - 1)),
        _ => format!("({} | select({}))", place(random, depth - 1), filter(random, depth - 1)),
    }
}

fn filter(random: &mut Random, depth: usize) -> String {
    const SIMPLE_FILTERS: &[&str] = &[
        "length",
        "keys",
        "keys_unsorted",
        "add",
        "not",
        "type",
        "tostring",
        "tojson",
        "sort",
        "unique",
        "reverse",
        "min",
        "max",
        "to_entries",
        "flatten",
        "any",
        "all",
        "floor",
        "ceil",
        "round",
        "explode",
        "ascii_downcase",
        "ascii_upcase",
        "empty",
        "isnumber",
        "isstring",
        "values",
        "nulls",
        "numbers",
        "strings",
        "arrays",
        "objects",
        "scalars",
        "iterables",
        "trim",
        "utf8bytelength",
        "@text",
        "@json",
        "@html",
        "@uri",
        "@base64",
        "isempty(.[])",
        "(arrays | .[1:] | length)",
        "error",
        "paths",
        "[paths]",
        "input_none?",
        "transpose",
        "combinations",
        "[limit(3; .[]?)]",
        "first(.[]?)",
        "has(\"a\")",
        "has(0)",
        "ltrimstr(\"a\")",
        "startswith(\"a\")",
        "endswith(\"b\")",
        "test(\"a+\")",
        "split(\",\")",
        "sub(\"a\"; \"x\")",
        "gsub(\"[ab]\"; \"y\")",
        "[scan(\".\")]",
        "join(\"-\")",
        "indices(\"a\")",
        "indices(1)",
        "getpath([\"a\"])",
        "[range(3)]",
        "[.[]?]",
        "fromjson",
        "tojson | fromjson",
        "walk(.)",
        "map_values(.)",
        "with_entries(.)",
        "bsearch(1)",
        "splits(\"a\")",
        "implode",
        "toarray",
    ];
    if depth == 0 {
        return match random.below(3) {
            0 => value(random, 1),
            1 => random.pick(SIMPLE_FILTERS).replace("input_none?", "."),
            _ => place(random, 0),
        };
    }
    let next = depth - 1;
    match random.below(24) {
        0 => format!("({} | {})", filter(random, next), filter(random, next)),
        1 => format!("({}, {})", filter(random, next), filter(random, next)),
        2 | 3 => {
            format!("({} {} {})", filter(random, next), random.pick(&["+", "-", "*", "/", "%"]), filter(random, next))
        }
        4 => {
            format!(
                "({} {} {})",
                filter(random, next),
                random.pick(&["==", "!=", "<", "<=", ">", ">="]),
                filter(random, next)
            )
        }
        5 => format!("({} {} {})", filter(random, next), random.pick(&["and", "or", "//"]), filter(random, next)),
        6 => format!("[{}]", filter(random, next)),
        7 => {
            format!("{{a: {}, {}: {}}}", filter(random, next), random.pick(&["b", "c", "\"é\""]), filter(random, next))
        }
        8 => format!("(if {} then {} else {} end)", filter(random, next), filter(random, next), filter(random, next)),
        9 => format!("(try {} catch 1)", filter(random, next)),
        10 => format!("({} as $x | {} | [., $x])", filter(random, next), filter(random, next)),
        11 => format!(
            "reduce ({}) as $x ({}; {})",
            place(random, next),
            filter(random, next),
            random.pick(&[". + $x", "[., $x]", "$x", "if . == $x then . else [$x] end"])
        ),
        12 => format!("foreach ({}) as $x (0; {})", place(random, next), random.pick(&[". + 1", "[$x]", "$x"])),
        13 => format!("map({})", filter(random, next)),
        14 => format!(
            "{}({})",
            random.pick(&["sort_by", "group_by", "unique_by", "min_by", "max_by", "any", "all"]),
            filter(random, next)
        ),
        15 => format!("[{}]", place(random, next)),
        16 => format!("path({})", place(random, next)),
        // Left out: assignments that jaq refuses and jq accepts. `.[]` only selects what exists.
        17 => format!("(.[]? |= {})", filter(random, next)),
        18 => format!(
            "((.. | {}) |= {})",
            random.pick(&["numbers", "strings", "scalars"]),
            random.pick(&["[.]", "tostring", "length", "1"])
        ),
        19 => format!("(objects | .a = {})", filter(random, next)),
        20 => format!("(objects | del(.{}))", random.pick(&["a", "b", "c"])),
        21 => format!(
            "(label $out | ({} | if . == {} then break $out else . end))",
            place(random, next),
            value(random, 0)
        ),
        22 => random
            .pick(&[
                "(strings | contains(\"a\"))",
                "(arrays | contains([1]))",
                "(objects | contains({a: 1}))",
                "(.. | strings | contains(\"b\"))",
            ])
            .to_owned(),
        _ => "(. as [$x, $y] ?// $x | [$x])".replace("?// $x ", "").replace("(.", "((arrays)"),
    }
}

/// Returns the results of jaq as JSON, and whether it ended with an error.
fn run_jaq(text: &str, input: &str) -> Option<(Vec<String>, bool)> {
    let own = jaq_core::load::parse(include_str!("../src/functions.jq"), |parser| parser.defs()).expect("definitions");
    let standard = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let loader = Loader::new(standard.chain(own));
    let arena = Arena::default();
    let modules = loader.load(&arena, File { code: text, path: () }).ok()?;
    type Kind = data::JustLut<Val>;
    let functions = jaq_core::funs::<Kind>().chain(jaq_std::funs()).chain(jaq_json::funs());
    let compiled = Compiler::default().with_funs(functions).compile(modules).ok()?;
    let value = jaq_json::read::parse_single(input.as_bytes()).ok()?;
    let ctx = Ctx::<Kind>::new(&compiled.lut, Vars::new([]));
    let mut results = Vec::new();
    for result in compiled.id.run((ctx, value)).take(RESULTS) {
        match result {
            Ok(value) => results.push(value.to_string()),
            Err(_) => return Some((results, true)),
        }
    }
    Some((results, false))
}

enum OurResult {
    Same(Vec<String>, bool),
    /// It took too long.
    Stopped,
    Wrong(String),
}

fn run_our_filter(text: &str, input: &str) -> OurResult {
    let query = match Query::new(text, &[]) {
        Ok(query) => query,
        Err(mistake) => return OurResult::Wrong(mistake.to_string()),
    };
    let (json, limits) = (Stage::parse("json:typed=no").unwrap(), Limits::default());
    let document = icecore::read_as(input.as_bytes(), &json, &limits).map(Document::into_owned).unwrap();
    let mut running = Running::default();
    running.steps = STEPS;
    let (mut results, mut failed, mut stopped) = (Vec::new(), false, false);
    query.run(&mut std::iter::once(Input::new("", document)), &running, &mut |result| {
        match result {
            Ok(answer) => {
                let mut out = Vec::new();
                answer.write(&json, &limits, &mut out).unwrap();
                results.push(String::from_utf8(out).unwrap());
            }
            Err(failure) => {
                (failed, stopped) = (true, failure.stop.is_some());
                assert!(!failure.message.contains("bug in its library"), "{text} over {input}: {}", failure.message);
            }
        }
        if results.len() < RESULTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if stopped { OurResult::Stopped } else { OurResult::Same(results, failed) }
}

/// Compares results as values, so that floats are compared and not their digits.
fn is_same_output(ours: &str, jaq: &str) -> bool {
    let read = |text: &str| jaq_json::read::parse_single(text.as_bytes());
    // Numbers that JSON can't write are null in our output.
    let jaq = jaq.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null");
    match (read(ours), read(&jaq)) {
        (Ok(ours), Ok(jaq)) => ours == jaq,
        _ => ours == jaq,
    }
}

#[test]
fn random_filters_give_the_results_of_jaq() {
    let number = |name: &str, usual| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let runs: u64 = number("ICECORE_QUERY_RUNS", 700);
    let seed: u64 = number("ICECORE_QUERY_SEED", 1);
    let (compared, different) = on_query_thread(|| {
        let (mut compared, mut different) = (0, Vec::new());
        for run in 0..runs {
            let mut random = Random((seed << 32 | run).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
            for _ in 0..8 {
                random.below(2);
            }
            let depth = 1 + random.below(3);
            let (text, input) = (filter(&mut random, depth), value(&mut random, 3));
            // Our query first: it has a limit of steps, in case a filter takes too long.
            let (results, failed) = match run_our_filter(&text, &input) {
                OurResult::Stopped => continue,
                OurResult::Wrong(mistake) => {
                    different.push(format!("{text}: {mistake}"));
                    continue;
                }
                OurResult::Same(results, failed) => (results, failed),
            };
            let Some((expected, expected_failed)) = run_jaq(&text, &input) else { continue };
            compared += 1;
            let is_same = results.len() == expected.len()
                && failed == expected_failed
                && results.iter().zip(&expected).all(|(ours, jaq)| is_same_output(ours, jaq));
            if !is_same {
                let end = |failed| if failed { " and an error" } else { "" };
                different.push(format!(
                    "{text}\n  over {input}\n  jaq  {}{}\n  ours {}{}",
                    expected.join(" "),
                    end(expected_failed),
                    results.join(" "),
                    end(failed)
                ));
            }
        }
        (compared, different)
    });
    println!("{compared} of {runs} filters compared");
    assert!(compared > runs / 2, "only {compared} of {runs} could be compared");
    assert!(
        different.is_empty(),
        "{} different:\n{}",
        different.len(),
        different.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
    );
}
