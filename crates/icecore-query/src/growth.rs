//! Tests every function of the language on inputs of doubling size. When the size doubles, steps and memory may at
//! most double.

use crate::{Input, Query, Running, memory, on_query_thread, query_thread};
use std::ops::ControlFlow;

/// Returns the number of steps of a filter over a JSON text, and the maximum number of bytes that it held.
fn measure_cost(filter: &str, text: &str) -> Result<(u64, u64), String> {
    on_query_thread(|| {
        let query = Query::new(filter, &[]).map_err(|mistake| format!("{filter}: {mistake}"))?;
        let document = icecore::read(text.as_bytes()).expect("JSON").into_owned();
        let mut running = Running::default();
        running.steps = MAX_STEPS;
        let mut failed = None;
        let allowed = MAX_STEPS + document.nodes().len() as u64 * Running::STEPS_OF_A_VALUE;
        query.run(&mut [Input::new("text", document)].into_iter(), &running, &mut |result| {
            if let Err(failure) = result {
                failed = Some(format!("{filter}: {}", failure.message));
            }
            ControlFlow::Continue(())
        });
        match failed {
            Some(failed) => Err(failed),
            None => Ok((allowed - query_thread::remaining_steps(), memory::peak_bytes())),
        }
    })
}

/// Limit of steps. The filters in this file need fewer.
const MAX_STEPS: u64 = 1 << 21;

/// Returns `true` if the numbers at most double when the size doubles.
fn is_linear(costs: &[u64]) -> bool {
    // Allowance for the cost of a filter that does nothing, and for buffers whose sizes are rounded up. The
    // comparison also tolerates a factor of 2.5 instead of 2. Quadratic growth has a factor of 4.
    const ALWAYS: u64 = 4096;
    costs.windows(2).all(|pair| 2 * pair[1] <= 5 * pair[0] + ALWAYS)
}

fn json_list(size: usize, item: impl Fn(usize) -> String) -> String {
    format!("[{}]", (0..size).map(item).collect::<Vec<_>>().join(","))
}

/// Makes an input of a size.
type InputMaker = fn(usize) -> String;

const TEXT: InputMaker = |size| format!("\"{}\"", "a, b1".repeat(size / 4));
const NUMBERS: InputMaker = |size| json_list(size, |index| (index * 7919 % size).to_string());
const TEXTS: InputMaker = |size| json_list(size, |index| format!("\"text {index}\""));
const OBJECTS: InputMaker =
    |size| json_list(size, |index| format!("{{\"id\":{index},\"name\":\"n{}\",\"list\":[{index}]}}", index % 10));
const MEMBERS: InputMaker = |size| {
    let members: Vec<_> = (0..size).map(|index| format!("\"k{index}\":{index}")).collect();
    format!("{{{}}}", members.join(","))
};
const NESTED: InputMaker = |size| json_list(size, |index| format!("[[{index}],{{\"a\":[{index}]}}]"));
const NUMBER: InputMaker = |size| size.to_string();

const FILTERS: &[(InputMaker, &[&str])] = &[
    (
        TEXT,
        &[
            "sub(\"a\"; \"x\")",
            "gsub(\"a\"; \"x\")",
            "gsub(\"(?<c>a)\"; .c + \"-\")",
            "gsub(\"\"; \"-\")",
            "gsub(\"\\\\b\"; \"-\")",
            "[scan(\"[a-z]\")]",
            "[scan(\"(a)(,)\")]",
            "[splits(\", \")]",
            "[match(\"a\"; \"g\")]",
            "[capture(\"(?<x>a)\"; \"g\")]",
            "test(\"z\")",
            "[match(\"(a), (b)\"; \"g\")]",
            "ascii_downcase | @uri, @sh, @html | length",
            "split(\"a\")",
            "split(\"a\"; null // \"g\")",
            "split(\"\")",
            ". / \",\"",
            "split(\",\") | join(\";\")",
            "ascii_downcase, ascii_upcase",
            "ltrimstr(\"a\"), rtrimstr(\"b\"), trim, ltrim, rtrim",
            "startswith(\"a\"), endswith(\"b\"), contains(\"zz\"), inside(\"zz\")",
            "explode | implode",
            "[explode[] | [.] | implode] | add",
            "indices(\"b\"), index(\"z\"), rindex(\"z\")",
            "@text, @json, @html, @uri, @base64, @sh",
            "[.] | @csv, @tsv",
            "@base64 | @base64d",
            "@html | @htmld",
            "@uri | @urid",
            "tojson | fromjson",
            "tostring, length, utf8bytelength",
            ".[2:-2]",
            "[limit(100; repeat(.))] | add",
            ". * 3",
            "\"\\(.)\\(.)\"",
            "reduce split(\"\")[] as $c (\"\"; . + $c)",
            "[foreach split(\"\")[] as $c (0; . + 1)]",
        ],
    ),
    (
        NUMBERS,
        &[
            "add, length, min, max, any, all, first, last",
            "add / length",
            "sort",
            "sort_by(-.)",
            "group_by(. % 10)",
            "unique_by(. % 10)",
            "unique",
            "min_by(.), max_by(.)",
            "reverse",
            "map(. + 1)",
            "map(select(. % 2 == 0))",
            "map(tostring) | add",
            "map(tojson) | join(\",\")",
            "@csv, @tsv, @sh, @json, @text",
            "tojson | fromjson",
            "to_entries | from_entries?, 1",
            "reduce .[] as $x (0; . + $x)",
            "reduce .[] as $x ([]; . + [$x])",
            "reduce .[] as $x ([]; .[length] = $x)",
            "reduce .[] as $x ({}; .[$x | tostring] = $x)",
            "reduce .[] as $x ({}; .[$x | tostring] += 1)",
            "reduce .[] as $x ({}; . + {($x | tostring): 1})",
            "[foreach .[] as $x (0; . + $x)]",
            "[foreach .[] as $x (0; . + $x; [$x, .])]",
            "[limit(10; .[])], [skip(10; .[])], nth(5), first(.[]), isempty(.[])",
            "[range(length)]",
            "[.[range(length)]]",
            "[range(0; length; 2)]",
            "[recurse(if type == \"number\" and . > 0 then . - 1 else empty end)]",
            "length | [while(. > 0; . - 1)]",
            "length | until(. <= 0; . - 1)",
            "length as $n | [limit($n; repeat(1))]",
            "length | [recurse(. - 1; . > 0)]",
            "indices(1), index(1), bsearch(1), contains([1]), inside([1])?",
            "indices([1, 2])",
            "[paths], [paths(. > 5)], [leaf_paths]",
            "[getpath([3], [4])], [path(.[])]",
            "delpaths([[0], [1]])",
            "del(.[0])",
            "del(.[])",
            "del(.[] | select(. % 2 == 0))",
            ".[] |= . + 1",
            ".[] += 1",
            ".[2:4] = [1]",
            "map_values(. + 1)",
            "map_values(empty)",
            "walk(.)",
            "walk(if type == \"number\" then . + 1 else . end)",
            "[..]",
            "flatten, flatten(1)",
            "[tostream]",
            "fromstream(tostream)",
            "[fromstream(1 | truncate_stream(tostream))]",
            "transpose?, 1",
            "map([., 1]) | transpose",
            "map([.]) | add",
            "map([.]) | combinations | length | select(false)",
            "map({(tostring): .}) | add",
            ". - [1, 2, 3]",
            ". == (. | map(.))",
            "any(.[]; . < 0), all(.[]; . >= 0), IN(.[]; -1)",
            "INDEX(.)",
            "tojson | ascii_downcase | length",
            "map(todate) | map(fromdate)",
            "map(@base64) | map(@base64d)",
            "map(sqrt | floor)",
            "input?, ([inputs] | length)",
            "label $out | .[] | if . > 1000000 then break $out else empty end",
            "env | type",
            "[splits(\"a\")?]",
            "[limit(length; .[])] | length",
            "map(debug | 1) | length | select(false)",
            "toarray | length",
            "[.[] | try error catch .]",
            "[.[] | tojson] | map(fromjson)",
            "map(tostring | tonumber)",
            "[.[:10][] as $x | $x]",
            "error(null)?, 1",
            "to_entries | map(.value) | add",
            "with_entries(.value += 1)?, 1",
            "@text \"\\(.)\", @json \"\\(.)\", @html \"\\(.)\", @base64 \"\\(.)\"",
            "length as $n | reduce range($n) as $i (null; [.]) | length",
            "length as $n | reduce range($n) as $i (null; [.]) | tojson | length",
            "[limit(10; length as $n | reduce range($n) as $i (null; [.]) | tostream | .[0] | length)]",
            "length as $n | def f: if . > 0 then . - 1 | f else . end; $n | f",
            "length as $n | def f: if . > 0 then ., (. - 1 | f) else empty end; $n | [f] | length",
        ],
    ),
    (
        TEXTS,
        &[
            "add",
            "join(\", \")",
            "join(\"\")",
            "sort, unique, min, max",
            "map(ascii_upcase) | add",
            "map(split(\" \")) | add",
            "map(test(\"1\")), map(gsub(\"t\"; \"T\"))",
            "map(explode | implode)",
            "@csv, @tsv, @json, @html, @sh",
            "map({(.): 1}) | add",
            "INDEX(.)",
            "reduce .[] as $x (\"\"; . + $x)",
            "reduce .[] as $x ({}; .[$x] = 1)",
            "map(ltrimstr(\"text \") | tonumber) | add",
            "group_by(.[-1:])",
            "indices(\"text 3\")",
            "map(@uri) | map(@base64)",
            "tojson | fromjson",
            "map(utf8bytelength) | add",
            "[.[] | capture(\"(?<n>[0-9]+)\").n]",
        ],
    ),
    (
        OBJECTS,
        &[
            "map(.id)",
            "map(.name) | unique",
            "group_by(.name) | map({name: .[0].name, count: length})",
            "sort_by(.name, -.id)",
            "unique_by(.name), min_by(.id), max_by(.id)",
            "map(keys), map(keys_unsorted), map(values), map(to_entries)",
            "map(with_entries(.value |= tostring))",
            "map(to_entries | from_entries)",
            "map(del(.id))",
            "del(.[].id)",
            "map(.id += 1)",
            ".[].id |= . + 1",
            "(.[] | select(.id % 2 == 0) | .name) = \"x\"",
            "map(has(\"id\")), map(in({})?)",
            "INDEX(.id)",
            "map({(.name): .id}) | add",
            "map({(.id | tostring): .}) | add",
            "reduce .[] as $x ({}; .[$x.name] += [$x.id])",
            "reduce .[] as {id: $id, name: $name} ({}; .[$name] += $id)",
            "walk(.)",
            "walk(if type == \"object\" then del(.id) else . end)",
            "[..], [paths], [leaf_paths], [paths(type == \"number\")]",
            "[tostream]",
            "flatten",
            "map(.list) | add",
            "map(contains({name: \"n1\"}))",
            "tojson | fromjson",
            "map(tojson) | join(\"\\n\")",
            "map(. * {a: {b: 1}})",
            "map(class), map(fields)",
            "map(pick(.id))",
            "map(. + {x: 1}) | map(.x) | add",
            "map(select(.id > 5)) | length",
            "[.[] | [.id, .name] | @csv]",
            "map(getpath([\"list\", 0]))",
            "map(setpath([\"list\", 0]; 1))?, 1",
            "map(delpaths([[\"list\", 0]]))",
            "any(.[]; .id < 0), all(.[]; .id >= 0)",
        ],
    ),
    (
        MEMBERS,
        &[
            "keys, keys_unsorted, length, add",
            "to_entries, (to_entries | from_entries)",
            "with_entries(.value += 1)",
            "with_entries(select(.value % 2 == 0))",
            "map_values(. + 1)",
            "map_values(empty)",
            "del(.[])",
            "del(.k1)",
            "[.[]]",
            "walk(.)",
            "[paths]",
            "[tostream]",
            ". + {a: 1}",
            ". * .",
            ". == .",
            "tojson | fromjson",
            "has(\"k1\"), contains({k1: 1})",
            "[to_entries[] | \"\\(.key)=\\(.value)\"] | join(\"&\")",
            "reduce to_entries[] as $e ({}; .[$e.value | tostring] = $e.key)",
            "fields",
            "map(.)",
        ],
    ),
    (
        NESTED,
        &[
            "flatten",
            "[..]",
            "[paths]",
            "walk(.)",
            "[tostream]",
            "[leaf_paths]",
            "tojson",
            "map(flatten)",
            ". == .",
            "unique",
            "add",
            "[.. | numbers] | add",
            "[getpath(paths)]",
        ],
    ),
    (
        NUMBER,
        &[
            "[range(.)] | length",
            "[limit(.; repeat(1))] | add",
            "[range(.)] | map(tostring) | add",
            "reduce range(.) as $i (0; . + $i)",
            "[foreach range(.) as $i (0; . + $i)] | length",
            "last(range(.))",
            "first(range(.))",
            "nth(3; range(.))",
            "until(. <= 0; . - 1)",
            "[recurse(if . > 0 then . - 1 else empty end)] | length",
            "\"x\" * . | length",
            "[limit(.; def f: 1, f; f)] | length",
            "isempty(range(.))",
            "[.] | until(.[0] <= 0; .[0] -= 1)",
            "reduce range(.) as $i ([]; .[$i] = $i)",
            "reduce range(.) as $i ({}; .\"\\($i)\" = $i)",
            "[range(.) as $i | $i]",
            "[range(.) | {a: .}] | map(.a) | add",
        ],
    ),
];

#[test]
fn functions_take_linear_time() {
    let mut wrong = Vec::new();
    for (make, filters) in FILTERS {
        let inputs: Vec<_> = (0..4).map(|times| make(64 << times)).collect();
        for filter in *filters {
            let costs: Result<Vec<_>, String> = inputs.iter().map(|input| measure_cost(filter, input)).collect();
            let costs = match costs {
                Ok(costs) => costs,
                Err(failed) => {
                    wrong.push(failed);
                    continue;
                }
            };
            let (steps, bytes): (Vec<u64>, Vec<u64>) = costs.into_iter().unzip();
            if !is_linear(&steps) || !is_linear(&bytes) {
                wrong.push(format!("{filter}: steps {steps:?}, bytes {bytes:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An item of `..` passes through as many iterators as its depth. Each of them must cost a step. Otherwise a small,
/// deep document could take long without reaching the limit of steps.
#[test]
fn nested_iteration_costs_steps() {
    let (levels, items) = (1_000, 2_000);
    let deep = format!("{}{}1{}", "[".repeat(levels), "1,".repeat(items), "]".repeat(levels));
    let flat = format!("[{}1]", "1,".repeat(items));
    let steps = |text: &str| measure_cost("[..] | length", text).expect("a number").0;
    assert!(steps(&deep) > 3 * steps(&flat), "{} {}", steps(&deep), steps(&flat));
}
