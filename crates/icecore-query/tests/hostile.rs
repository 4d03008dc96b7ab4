//! Filters and data that need too much time, memory or stack end with an error.

use crate::common::{json, results, usual_or_full};
use icecore_query::Running;

fn run_until_stopped(filter: &str, input: &str, steps: u64) -> String {
    let mut options = Running::default();
    options.steps = steps;
    let values = results(filter, &[("json", input.as_bytes())], "json", &options);
    values.last().map(|last| String::from_utf8_lossy(last).into_owned()).unwrap_or_default()
}

#[test]
fn endless_recursion_is_refused() {
    for filter in
        ["def f: 1 + f; f", "def f: [f]; f", "def f: f | 1; f", "def f: .a |= f; f", "def f: try f catch .; [f]"]
    {
        let found = run_until_stopped(filter, "null", u64::MAX);
        assert!(found.contains("too deep"), "{filter}: {found}");
    }
}

/// These filters build chains of closures, paths or values that grow without end. jaq drops such chains recursively, so
/// their depth must be limited.
#[test]
fn endless_chains_are_refused() {
    let filters = [
        "def f(g): f(g | .); f(.)",
        "path(def f: .[0] | f; f)",
        "\"abc\" | path(def f: .[0:] | f; f)",
        "[1] | {start: 0} as $part | path(def f: .[$part] | f; f)",
        "reduce repeat(1) as $x (null; [.])",
    ];
    let slow_filters = [
        "def f(g): def h(k): f(k | .); h(g); f(.)",
        "def f(g; $n): if $n < 0 then 1 else f(g; $n + 1) end; f(.; 0)",
        "path(def f: .a | f; f)",
        "path(def f: .[0:] | f; f)",
        "[1] | path(def f: .[0:] | f; f)",
        "reduce repeat(1) as $x (null; {a: .})",
        "reduce repeat(1) as $x ({}; {} + {a: .})",
        "[{}] | until(false; .[0] = .)",
        "{} | until(false; .a = .)",
        "{} | until(false; {a: {}} * {a: .})",
        "[[]] | until(false; .[0:1] = [.])",
    ];
    for filter in filters.iter().chain(usual_or_full(&[][..], &slow_filters[..])) {
        let found = run_until_stopped(filter, "null", u64::MAX);
        assert!(found.contains("too deep"), "{filter}: {found}");
    }
}

/// The steps of loops inside of built-in functions are counted too.
#[test]
fn steps_of_built_in_loops_are_counted() {
    for filter in [
        "last(range(1e18))",
        "[1] | path(last(.[range(1e18)]?))",
        "first(range(1e18) | select(. < 0))",
        "isempty(range(1e18) | select(. < 0))",
        "\"a\" * 100000 | last(repeat(.) | match(\"a\"; \"g\"))",
    ] {
        let found = run_until_stopped(filter, "null", 200_000);
        assert!(found.contains("more steps than it may"), "{filter}: {found}");
    }
}

/// If the program has a counting allocator, its figure counts against the memory limit. The one in this test reports
/// more with each call.
#[test]
fn bytes_of_a_counting_allocator_count_against_the_limit() {
    thread_local! {
        static REPORTED_BYTES: std::cell::Cell<i64> = const { std::cell::Cell::new(0) };
    }
    let mut options = Running::default();
    options.allocated_bytes = Some(|| {
        REPORTED_BYTES.set(REPORTED_BYTES.get() + 1_000);
        REPORTED_BYTES.get()
    });
    options.memory = 100_000;
    let found = results("last(repeat(1))", &[("json", b"1")], "json", &options);
    assert!(String::from_utf8_lossy(&found[0]).contains("more memory than they may"));
    assert_eq!(results("1 + .", &[("json", b"1")], "json", &options), [b"2"]);
}

/// The memory of matches is counted when they are found, of regular expressions when they are compiled, and of escaped
/// texts before they are written.
#[test]
fn memory_of_texts_is_limited() {
    let mut options = Running::default();
    options.memory = 4 << 20;
    for filter in [
        "\"a\" * 100000 | [match(\"a\"; \"g\")]",
        "\"a\" * 100000 | [scan(\"a\")]",
        "\"a\" * 100000 | [capture(\"(?<x>a)\"; \"g\")]",
        "\"a\" * 200000 | split(\"a\"; \"g\")",
        "\"'\" * 1000000 | @sh",
        "\"<\" * 1000000 | @html",
        "\" \" * 1000000 | @uri",
        "\"[0\" + (\",0\" * 500000) + \"]\" | fromjson",
    ] {
        let found = results(filter, &[("json", b"null")], "json", &options);
        let last = String::from_utf8_lossy(found.last().expect("a result")).into_owned();
        assert!(last.contains("more memory than they may"), "{filter}: {}", &last[..last.len().min(200)]);
    }
    let groups = "()".repeat(1_000);
    let found = results(&format!("\"a\" | test(\"{groups}.{{5000}}\")"), &[("json", b"null")], "json", &options);
    assert!(String::from_utf8_lossy(&found[0]).contains("size limit"));
}

#[test]
fn endless_filters_exceed_the_step_limit() {
    for filter in
        ["def f: f; f", "last(repeat(1))", "reduce repeat(1) as $x (0; . + 1)", "[range(infinite)]", "until(false; .)"]
    {
        let found = run_until_stopped(filter, "null", 200_000);
        assert!(found.contains("more steps than it may"), "{filter}: {found}");
    }
}

#[test]
fn too_large_values_are_refused() {
    for filter in [
        "\"x\" * 1e18",
        "\"x\" * 9000000000000000000",
        "[limit(100; repeat(\"x\"))] | add | until(false; . + .)",
        "until(false; . * .)",
        "[.[2000000000] = 1]",
        "reduce range(40) as $i (1; [., .]) | tojson",
    ] {
        // The filter with `tojson` may use all of its steps, so it gets fewer.
        let steps = if filter.contains("tojson") { usual_or_full(1 << 23, 1 << 25) } else { 1 << 28 };
        let found = run_until_stopped(filter, if filter.contains(". * .") { "3" } else { "null" }, steps);
        let is_ended =
            ["too large", "cannot calculate", "too deep", "more steps"].iter().any(|words| found.contains(words));
        assert!(is_ended, "{filter}: {found}");
    }
}

#[test]
fn deep_values_need_no_deep_stack() {
    // A deep value is built, compared, sorted, written and dropped.
    let levels = usual_or_full(20_000, 100_000);
    let deep = &format!("reduce range({levels}) as $i (null; [.])");
    assert_eq!(json(&format!("{deep} | length"), "null"), "1");
    assert_eq!(json(&format!("({deep}) == ({deep})"), "null"), "true");
    assert_eq!(json(&format!("[{deep}] | sort | length"), "null"), "1");
    assert!(json(deep, "null").contains("levels of nesting"));
    assert!(json(&format!("{deep} | tojson"), "null").contains("too large"));
    assert!(json(&format!("try ({deep} | error) catch 1"), "null").contains('1'));
    // The full run uses the maximum depth of a document.
    let levels = usual_or_full(2_999, 9_999);
    let text = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(json(".", &text), text);
    assert_eq!(json("[..] | length", &text), (levels + 1).to_string());
    assert_eq!(json("[paths] | length", &text), levels.to_string());
    assert_eq!(json("flatten", &text), "[1]");
    assert_eq!(json("walk(.)", &text), text);
}

#[test]
fn long_and_deep_filters_are_parsed_or_refused() {
    let many = 4_000;
    for (filter, expected) in [
        (format!("{}1{}", "(".repeat(many), ")".repeat(many)), "1"),
        (format!("{}1{}", "[".repeat(many), "]".repeat(many)), "["),
        (format!("1{}", " + 1".repeat(many)), "4001"),
        (format!("1{}", " | .".repeat(many)), "1"),
        (format!("1{}", ", 1".repeat(many)), "1 1"),
        (format!("{}1", "-".repeat(many)), "1"),
        (format!("{}1", ". as $x | ".repeat(2_500)), "1"),
        (format!("{}1{}", "if . then 1 else ".repeat(1_000), " end".repeat(1_000)), "1"),
        (format!("{}1", "try ".repeat(many)), "1"),
        (format!("{}1{}", "\"\\(".repeat(many), ")\"".repeat(many)), "\"1\""),
        (format!("{}1", "def f: 1; ".repeat(2_500)), "1"),
        ("(".repeat(30_000), "!the filter is wrong"),
        ("[".repeat(70_000), "!the filter is wrong: it has more than"),
    ] {
        let found = json(&filter, "null");
        assert!(found.starts_with(expected), "{}…: {}", &filter[..20], &found[..found.len().min(100)]);
    }
}

#[test]
fn invalid_arguments_do_not_panic() {
    for filter in [
        "[1000000000000, 0, 1, 0, 0, 0] | mktime",
        "1e300 | todate",
        "[2024, 200, 1, 0, 0, 0, 0, 0] | mktime",
        "\"a\" | test(\"(\")",
        "\"a\" | strptime(\"%Q\")",
        "[9223372036854775807] | implode",
        "-9223372036854775808 | todate",
        "1 as [$a] | $a",
        "{} | .[1:2]",
        "[1] | .[\"a\"]",
        "[0] | .[nan]",
        "\"\\ud800\"",
        "halt_error(\"x\")",
        "@base64d",
        "input",
        "$__prog_args",
        "ltrimstr(1)",
        "[range(0; 1; 0)] | first",
    ] {
        // The result does not matter; the call must end without a panic.
        let _ = run_until_stopped(filter, "null", 100_000);
    }
}
