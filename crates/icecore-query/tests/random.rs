//! Random filters over random values, with small limits: each ends with results or an error.

use crate::common::{results, usual_or_full};
use icecore_query::Running;

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const LEAVES: [&str; 31] = [
    ".", "..", ".a", ".[0]", ".[]", ".[]?", ".[1:]", ".[:-1]?", "1", "-1", "1e18", "0.5", "null", "true", "\"x\"",
    "\"\"", "[]", "{}", "empty", "infinite", "nan", "input", "inputs", "$__loc__", "f", "g", "now | 1", "error",
    "length", "keys?", "tojson",
];

const FILTERS: [&str; 44] = [
    "length",
    "keys",
    "values",
    "flatten",
    "add",
    "any",
    "all",
    "sort",
    "unique",
    "group_by(.)",
    "reverse",
    "tostream",
    "fromstream(tostream)",
    "tojson",
    "fromjson",
    "tostring",
    "tonumber",
    "ascii_downcase",
    "explode",
    "implode",
    "paths",
    "leaf_paths",
    "to_entries",
    "from_entries",
    "with_entries(.)",
    "walk(.)",
    "transpose",
    "combinations",
    "@base64",
    "@base64d",
    "@json",
    "@sh",
    "@uri",
    "@csv",
    "@html",
    "splits(\"a\")",
    "gsub(\"\"; \"y\")",
    "test(\"a*\")",
    "ascii",
    "min_by(.)",
    "limit(3; .[]?)",
    "getpath([\"a\", 0])",
    "env | length",
    "input_line_number?",
];

const BINARY: [&str; 18] =
    ["|", ",", "+", "-", "*", "/", "%", "//", "==", "<", "and", "or", "|=", "+=", "//=", "=", "as $v |", "?//"];

fn make_filter(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return random.pick(&LEAVES).to_owned();
    }
    let next = |random: &mut Random| make_filter(random, depth - 1);
    match random.below(17) {
        0 => random.pick(&LEAVES).to_owned(),
        1 | 2 => format!("({} | {})", next(random), random.pick(&FILTERS)),
        3..=5 => {
            let (left, right) = (next(random), next(random));
            format!("({left} {} {right})", random.pick(&BINARY))
        }
        6 => format!("[{}]", next(random)),
        7 => format!("{{a: {}, (\"b\", \"c\"): {}}}", next(random), next(random)),
        8 => format!("(if {} then {} else {} end)", next(random), next(random), next(random)),
        9 => format!("(try {} catch {})", next(random), next(random)),
        10 => format!("(reduce ({}) as $x ({}; {}))", next(random), next(random), next(random)),
        11 => format!("[foreach limit(20; {}) as $x ({}; {})]", next(random), next(random), next(random)),
        12 => format!("(def f: {}; {})", next(random), next(random)),
        13 => format!("(def g(f): {}; g({}))", next(random), next(random)),
        14 => format!("[range({}; {})]", next(random), next(random)),
        15 => format!("path({})", next(random)),
        _ => format!("first(until({}; {}), repeat({}))", next(random), next(random), next(random)),
    }
}

const INPUTS: [&[u8]; 7] = [
    b"null",
    b"[1,[2,{\"a\":null}],\"aXa\"]",
    b"{\"a\":{\"a\":[0,1]},\"b\":\"\\u00e9\",\"c\":1e300}",
    b"\"aaaa aaaa\"",
    b"[[1,2],[3,4]]",
    b"-9223372036854775808",
    b"[{\"key\":\"a\",\"value\":1}]",
];

#[test]
fn random_filters_end_with_results_or_an_error() {
    let mut running = Running::default();
    (running.steps, running.memory) = (20_000, 1 << 20);
    let mut random = Random(11);
    let (mut failed, mut gave) = (0, 0);
    let rounds = usual_or_full(200, 30_000);
    for _ in 0..rounds {
        let depth = 1 + random.below(4);
        // Without these definitions most programs would be invalid.
        let filter = format!("def f: .a?; def g: .[0]?; {}", make_filter(&mut random, depth));
        let input = INPUTS[random.below(INPUTS.len())];
        let all = results(&filter, &[("json", input), ("json", b"[1]")], "json", &running);
        failed += usize::from(all.iter().any(|result| result.starts_with(b"!")));
        gave += usize::from(all.iter().any(|result| !result.starts_with(b"!")));
    }
    // Otherwise the programs show nothing.
    assert!(failed > rounds / 10 && gave > rounds / 10, "{failed} {gave} of {rounds}");
}
