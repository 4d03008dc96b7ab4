//! The language as its manual describes it: a table of filters, inputs and results.

use crate::common::json;

/// Filter, input, results.
const TABLE: &[(&str, &str, &str)] = &[
    // Basic filters
    (".", r#"{"b":[1,"x"]}"#, r#"{"b":[1,"x"]}"#),
    (".", "12345678901234567890123", "12345678901234567890123"),
    (".fruit", r#"{"fruit":"plum","n":2}"#, r#""plum""#),
    (".fruit", r#"{"n":2}"#, "null"),
    (r#"."fruit""#, r#"{"fruit":"plum"}"#, r#""plum""#),
    (r#".["fruit"]?"#, r#"{"fruit":"plum"}"#, r#""plum""#),
    (".fruit.kind", r#"{"fruit":{"kind":"stone"}}"#, r#""stone""#),
    ("[.fruit?]", "[7]", "[]"),
    (".[1]", r#"["a","b"]"#, r#""b""#),
    (".[5]", r#"["a","b"]"#, "null"),
    (".[-1]", r#"["a","b"]"#, r#""b""#),
    (".[1:3]", r#"["a","b","c","d"]"#, r#"["b","c"]"#),
    (".[-2:]", r#"["a","b","c","d"]"#, r#"["c","d"]"#),
    (".[1:3]", r#""größer""#, r#""rö""#),
    (".[]", r#"[{"a":1},"z"]"#, r#"{"a":1} "z""#),
    (".[]", r#"{"a":1,"b":2}"#, "1 2"),
    (".[]", "[]", ""),
    ("[.[]?]", "5", "[]"),
    (".a, .b", r#"{"a":1,"b":2}"#, "1 2"),
    ("[.[0]], (try (.[0] = 9) catch .)", r#"{"a":1}"#, r#"[null] "cannot index {\"a\":1} with 0""#),
    (".[] | .a", r#"[{"a":1},{"a":2}]"#, "1 2"),
    ("(. + 2) * 5", "1", "15"),
    ("[..]", "[[1]]", "[[[1]],[1],1]"),
    (".. | .a?", r#"[[{"a":1}]]"#, "1"),
    // Making values
    ("[.a, .b[]]", r#"{"a":1,"b":[2,3]}"#, "[1,2,3]"),
    ("{a, c: .b[]}", r#"{"a":1,"b":[2,3]}"#, r#"{"a":1,"c":2} {"a":1,"c":3}"#),
    ("{(.k): 1}", r#"{"k":"x"}"#, r#"{"x":1}"#),
    (r#"{"a\(1 + 1)": 0}"#, "null", r#"{"a2":0}"#),
    ("{(1): 2}", "null", "!keys of objects must be strings, and 1 is not"),
    // Arithmetic
    (".a + 1", r#"{"a":7}"#, "8"),
    (".a + .b", r#"{"a":[1],"b":[2]}"#, "[1,2]"),
    ("{a: 1} + {b: 2} + {a: 3}", "null", r#"{"a":3,"b":2}"#),
    (".a + null", r#"{"a":1}"#, "1"),
    (". - [2, 3]", "[1,2,3,4]", "[1,4]"),
    ("10 / . * 3", "5", "6.0"),
    (r#". / ", ""#, r#""a, b,c""#, r#"["a","b,c"]"#),
    (r#"{a: {b: 1}} * {a: {c: 2}}"#, "null", r#"{"a":{"b":1,"c":2}}"#),
    (". * 2", r#""ab""#, r#""abab""#),
    (". * 0", r#""ab""#, "null"),
    ("[.[] % 3]", "[5,-5]", "[2,-2]"),
    ("try (1 % 0) catch \"no\"", "null", r#""no""#),
    ("9223372036854775807 + 1", "null", "9223372036854775808"),
    ("-(9223372036854775807) - 2 | . + 2", "null", "-9223372036854775807"),
    ("[1 + 1.5, 3 / 2, 1e3]", "null", "[2.5,1.5,1000.0]"),
    // Functions
    ("[.[] | length]", r#"[[1,2],"größe",{"a":2},null,-5]"#, "[2,5,1,0,5]"),
    ("utf8bytelength", r#""größe""#, "7"),
    ("not", "null", "true"),
    ("keys", r#"{"b":1,"a":2}"#, r#"["a","b"]"#),
    ("keys_unsorted", r#"{"b":1,"a":2}"#, r#"["b","a"]"#),
    ("keys", "[7,8]", "[0,1]"),
    (r#"[.[] | has("a")]"#, r#"[{"a":null},{}]"#, "[true,false]"),
    ("[has(0, 2)]", "[7,8]", "[true,false]"),
    ("map(in([0,1]))", "[2,0]", "[false,true]"),
    ("map(. + 1)", "[1,2]", "[2,3]"),
    ("map_values(. + 1)", r#"{"a":1}"#, r#"{"a":2}"#),
    ("map_values(empty)", r#"{"a":1}"#, "{}"),
    ("pick(.a.b)", r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"b":1}}"#),
    ("path(.a[0].b)", "null", r#"["a",0,"b"]"#),
    ("[paths]", r#"[1,[2]]"#, "[[0],[1],[1,0]]"),
    ("[paths(isnumber)]", r#"[1,[2]]"#, "[[0],[1,0]]"),
    ("[leaf_paths]", r#"{"a":[1]}"#, r#"[["a",0]]"#),
    ("del(.a)", r#"{"a":1,"b":2,"c":3}"#, r#"{"b":2,"c":3}"#),
    ("del(.[1, 2])", r#"["x","y","z"]"#, r#"["x"]"#),
    (r#"getpath(["a", "b"])"#, r#"{"a":{"b":3}}"#, "3"),
    (r#"setpath(["a", "b"]; 1)"#, "null", r#"{"a":{"b":1}}"#),
    (r#"delpaths([["a", "b"]])"#, r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"c":2}}"#),
    ("to_entries", r#"{"a":1}"#, r#"[{"key":"a","value":1}]"#),
    (
        "from_entries",
        r#"[{"key":"a","value":1},{"name":"b","value":2},{"k":"c","v":3},{"key":4,"value":5}]"#,
        r#"{"a":1,"b":2,"c":3,"4":5}"#,
    ),
    (r#"with_entries(.key |= "_" + .)"#, r#"{"a":1}"#, r#"{"_a":1}"#),
    ("map(select(. >= 2))", "[1,2,3]", "[2,3]"),
    (r#".[] | select(.id == "b")"#, r#"[{"id":"a"},{"id":"b","v":1}]"#, r#"{"id":"b","v":1}"#),
    ("[1, empty, 2]", "null", "[1,2]"),
    (r#"try error("bad") catch ."#, "null", r#""bad""#),
    (r#"error("bad")"#, "null", "!bad"),
    ("try error({a: 1}) catch .a", "null", "1"),
    ("add", "[1,2]", "3"),
    ("add", "[]", "null"),
    ("add(.[].a)", r#"[{"a":3},{"a":5}]"#, "8"),
    ("[any, all]", "[true,false]", "[true,false]"),
    ("any(. > 2), all(. > 2)", "[1,3]", "true false"),
    ("flatten", "[1,[2,[3]]]", "[1,2,3]"),
    ("flatten(1)", "[1,[2,[3]]]", "[1,2,[3]]"),
    ("[range(2; 4)]", "null", "[2,3]"),
    ("[range(0; 10; 3)]", "null", "[0,3,6,9]"),
    ("[range(0; -3; -1)]", "null", "[0,-1,-2]"),
    ("[range(0; 1; 0)]", "null", "[]"),
    ("[range(0, 1; 3, 4; 2)]", "null", "[0,2,0,2,1,1,3]"),
    ("try flatten(-1) catch .", "[1]", r#""flatten depth must not be negative""#),
    ("gamma == lgamma, tgamma", "5", "true 24.0"),
    (r#"builtins | index("map/1", "ltrimstr/1", "gamma/0", "range/3") != null"#, "null", "true true true true"),
    (r#"[builtins[] | select(startswith("_"))]"#, "null", "[]"),
    ("[floor, ceil, round]", "2.5", "[2,3,3]"),
    ("sqrt, pow(. ; 2)", "9", "3.0 81.0"),
    ("[.[] | tostring]", r#"[1,"1",[1]]"#, r#"["1","1","[1]"]"#),
    ("[.[] | tonumber]", r#"[1,"12"]"#, "[1,12]"),
    (r#"map(type)"#, r#"[0,false,[],{},null,"a"]"#, r#"["number","boolean","array","object","null","string"]"#),
    ("[.[] | numbers, strings]", r#"[1,"a",null]"#, r#"[1,"a"]"#),
    ("isinfinite, isnan", "1", "false false"),
    ("[nan, infinite] | map(isnan)", "null", "[true,false]"),
    ("sort", "[8,null,\"b\",[1],{\"a\":1},true,3]", r#"[null,true,3,8,"b",[1],{"a":1}]"#),
    ("sort_by(.a)", r#"[{"a":2},{"a":1}]"#, r#"[{"a":1},{"a":2}]"#),
    ("group_by(.a)", r#"[{"a":2},{"a":1},{"a":2,"b":0}]"#, r#"[[{"a":1}],[{"a":2},{"a":2,"b":0}]]"#),
    ("min, max", "[3,1,2]", "1 3"),
    ("max_by(.a)", r#"[{"a":1},{"a":2}]"#, r#"{"a":2}"#),
    ("unique", "[1,2,1]", "[1,2]"),
    ("unique_by(length)", r#"["a","b","cc"]"#, r#"["a","cc"]"#),
    ("reverse", "[1,2]", "[2,1]"),
    (r#"contains("lu")"#, r#""plum""#, "true"),
    (r#"contains({a: ["x"]})"#, r#"{"a":["xy","z"],"b":1}"#, "true"),
    ("contains(1)", "\"a\"", "!\"a\" and 1 cannot have their containment checked"),
    (r#"inside("plum")"#, r#""lu""#, "true"),
    (r#"indices(", "), index(","), rindex(",")"#, r#""a, b, c""#, "[1,4] 1 4"),
    ("indices(1)", "[0,1,1]", "[1,2]"),
    ("indices([1, 2])", "[0,1,2,1,2]", "[1,3]"),
    (r#"startswith("pl"), endswith("pl")"#, r#""plum""#, "true false"),
    (r#"ltrimstr("p"), rtrimstr("m")"#, r#""plum""#, r#""lum" "plu""#),
    (r#"ltrimstr("p"), rtrimstr("m"), ("m" | ltrimstr(1))"#, "7", r#"7 7 "m""#),
    ("trim, ltrim, rtrim", r#"" a ""#, r#""a" "a " " a""#),
    ("explode", r#""aé""#, "[97,233]"),
    ("implode", "[97,233]", r#""aé""#),
    (r#"split(", "), join("-")?"#, r#""a, b""#, r#"["a","b"]"#),
    (r#"join("-")"#, r#"["a",1,null]"#, r#""a-1-null""#),
    ("ascii_downcase, ascii_upcase", r#""aB""#, r#""ab" "AB""#),
    ("[while(. < 10; . * 2)]", "1", "[1,2,4,8]"),
    ("[limit(3; repeat(1))]", "null", "[1,1,1]"),
    ("until(. > 100; . * 2)", "1", "128"),
    ("[recurse(if . < 3 then . + 1 else empty end)]", "1", "[1,2,3]"),
    ("[.[] as [$a, $b] | {a: $a, b: $b}]", "[[1,2]]", r#"[{"a":1,"b":2}]"#),
    (". as {x: $x, y: [$y]} | $x + $y", r#"{"x":1,"y":[2]}"#, "3"),
    ("transpose", "[[1],[2,3]]", "[[1,2],[null,3]]"),
    ("first, last, nth(1)", "[1,2,3]", "1 3 2"),
    ("first(range(10)), [limit(2; range(10))], [skip(8; range(10))]", "null", "0 [0,1] [8,9]"),
    ("isempty(empty)", "null", "true"),
    ("bsearch(2)", "[1,2,3]", "1"),
    ("bsearch(0)", "[1,2,3]", "-1"),
    ("combinations", "[[1,2],[3]]", "[1,3] [2,3]"),
    ("walk(if isarray then sort else . end)", "[[3,1],[2]]", "[[1,3],[2]]"),
    ("[splits(\", *\")]", r#""a, b,c""#, r#"["a","b","c"]"#),
    ("tojson, (tojson | fromjson)", r#"{"a":[1]}"#, r#""{\"a\":[1]}" {"a":[1]}"#),
    (r#"@text "<\(.)>", @json "<\(.)>""#, r#"["a"]"#, r#""<[\"a\"]>" "<[\"a\"]>""#),
    ("@csv, @tsv", r#"[1,"a\"b","c\td",null,true]"#, r#""1,\"a\"\"b\",\"c\td\",,true" "1\ta\"b\tc\\td\t\ttrue""#),
    ("@html, @uri", r#""<a> b""#, r#""&lt;a&gt; b" "%3Ca%3E%20b""#),
    (r#"@sh "echo \(.)""#, r#""it's""#, r#""echo 'it'\\''s'""#),
    ("@base64, (@base64 | @base64d)", r#""plum""#, r#""cGx1bQ==" "plum""#),
    // Conditions
    (". == 1, . != 1, . < 2", "1", "true false true"),
    (r#"if . == 0 then "none" elif . == 1 then "one" else "many" end"#, "1", r#""one""#),
    ("if . then 1 end", "null", "null"),
    ("(true, false) and (true, false)", "null", "true false false"),
    ("[.[] | . // 7]", "[1,null,false]", "[1,7,7]"),
    ("(false, 1, 2) // 3", "null", "1 2"),
    ("empty // 3", "null", "3"),
    // Regular expressions
    (r#"test("^p.*m$")"#, r#""plum""#, "true"),
    (r#"[match("[a-c]"; "g").offset]"#, r#""xaxb""#, "[1,3]"),
    (r#"capture("(?<y>\\d+)-(?<m>\\d+)")"#, r#""2024-07""#, r#"{"y":"2024","m":"07"}"#),
    (r#"[scan("[a-z]+")]"#, r#""ab 1 cd""#, r#"["ab","cd"]"#),
    (r#"sub("l+"; "L"), gsub("[aeiou]"; "*")"#, r#""hello""#, r#""heLo" "h*ll*""#),
    // More of the language
    ("reduce .[] as $n (0; . + $n)", "[1,2,3]", "6"),
    ("[foreach .[] as $n (0; . + $n)]", "[1,2,3]", "[1,3,6]"),
    ("[foreach .[] as $n (0; . + $n; [$n, .])]", "[1,2]", "[[1,1],[2,3]]"),
    ("def twice(f): f | f; twice(. * 3)", "2", "18"),
    ("def plus($n): . + $n; map(plus(2))", "[1]", "[3]"),
    ("[label $out | .[] | if . > 2 then break $out else . end]", "[1,2,3,1]", "[1,2]"),
    (".a = 1", r#"{"a":0,"b":2}"#, r#"{"a":1,"b":2}"#),
    (".a |= . + 1", r#"{"a":1}"#, r#"{"a":2}"#),
    (".[] += 1", "[1,2]", "[2,3]"),
    (".a //= 3", r#"{"a":null}"#, r#"{"a":3}"#),
    (".[1:] = [9]", "[1,2,3]", "[1,9]"),
    ("(.a, .b) = 0", "{}", r#"{"a":0,"b":0}"#),
    (".a.b |= empty", r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"c":2}}"#),
    (r#"INDEX(.id)"#, r#"[{"id":"a","n":1}]"#, r#"{"a":{"id":"a","n":1}}"#),
    ("IN(1, 2), IN(3)", "2", "true false"),
    ("[tostream]", r#"{"a":[1]}"#, r#"[[["a",0],1],[["a",0]],[["a"]]]"#),
    ("todate, (todate | fromdate)", "1425599621", r#""2015-03-05T23:53:41Z" 1425599621"#),
    (r#"strftime("%Y")"#, "1425599621", r#""2015""#),
    ("[.[] | try tojson catch 0]", "[1]", r#"["1"]"#),
    ("ascii", "65", r#""A""#),
    (".[2] = 1", "[0]", "[0,null,1]"),
    (".a[1] = 1", "null", r#"{"a":[null,1]}"#),
    ("del(.[0, 1])", r#"["x","y","z"]"#, r#"["z"]"#),
    (".[-5] = 1", "[0]", "!index -5 out of bounds"),
    ("splits(\"a\")", "1", "!splits: cannot use 1 as string"),
    ("tonumber", r#""1x""#, r#"!tonumber: cannot parse "1x" as a number"#),
    ("[.[] | tonumber]", r#"[1,"2"," 3 "]"#, "[1,2,3]"),
    ("toboolean", "[]", "!toboolean: cannot parse [] as a boolean"),
    ("test(1)", r#""a""#, "!test: cannot use 1 as string"),
    ("gsub(\"(\"; \"\")", r#""a""#, "!gsub: invalid regex: found open group without closing ')'"),
    ("try trim catch .", "1", r#""trim: cannot use 1 as string""#),
    ("@base64d", r#""a*""#, "!@base64d: Invalid symbol 42, offset 1."),
];

#[test]
fn filters_give_the_results_of_the_manual() {
    let mut wrong = Vec::new();
    for (filter, input, expected) in TABLE {
        let found = json(filter, input);
        if found != *expected {
            wrong.push(format!("{filter}\n  over {input}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TABLE.len(), wrong.join("\n"));
}

#[test]
fn syntax_errors_name_their_character() {
    let table = [
        ("", "expected a term, found the end (at character 1)"),
        (".a |", "expected a term, found the end (at character 5)"),
        (".a | nonsense", "there is no filter `nonsense` (at character 6)"),
        ("nonsense(1; 2)", "there is no filter `nonsense` with 2 arguments (at character 1)"),
        ("$x", "there is no variable `$x` (at character 1)"),
        (r#"import "a" as b; ."#, "`import` and `include` are not supported: put the definitions in the filter"),
        (r#"import "a" as $b; $b"#, "`import` and `include` are not supported: put the definitions in the filter"),
        ("(.a", "expected a closing parenthesis, found the end (at character 4)"),
    ];
    for (filter, expected) in table {
        let found = json(filter, "null");
        assert!(found.contains(expected), "{filter}: {found}");
    }
}

/// The output of jq 1.6 and later.
#[test]
fn tostream_and_fromstream_work_like_jq() {
    let input = r#"[1,{"b":[],"a":{"c":2}},[[3,[]]]]"#;
    let events = r#"[[0],1] [[1,"b"],[]] [[1,"a","c"],2] [[1,"a","c"]] [[1,"a"]] [[2,0,0],3] [[2,0,1],[]] [[2,0,1]] [[2,0]] [[2]]"#;
    assert_eq!(json("tostream", input), events);
    assert_eq!(json("tostream", "3"), "[[],3]");
    assert_eq!(json("tostream", "{}"), "[[],{}]");
    for document in [input, "3", "[]", "{}", "null", "[[]]", r#"{"a":{"b":[1,{"c":null}]}}"#] {
        assert_eq!(json("fromstream(tostream)", document), document);
    }
    assert_eq!(json("fromstream(tostream, tostream)", "[1]"), "[1] [1]");
    assert_eq!(json("[1 | truncate_stream([[0], 1], [[1, 0], 2], [[1, 0]], [[1]])]", "null"), "[[[0],2],[[0]]]");
    assert_eq!(json("fromstream(1 | truncate_stream([[0], 1], [[1, 0], 2], [[1, 0]], [[1]]))", "null"), "[2]");
}

/// A call keeps its meaning when it is rewritten because of its chain of filters.
#[test]
fn functions_may_pass_filters_to_themselves() {
    assert_eq!(json("def f(g; $n): if $n == 0 then g else f(g | . + 1; $n - 1) end; f(.; 100)", "1"), "101");
    assert_eq!(json("def f(g): if . > 3 then [g] else . + 1 | f(., g) end; f(.)", "1"), "[4,4,4,4]");
    assert_eq!(json("def f(g): def f(h): h; f(g); f(1, 2)", "null"), "1 2");
    assert_eq!(json("path(def f(g): if . == null then .a else g | f(g) end; f(.[0]))", "[[null]]"), r#"[0,0,"a"]"#);
    let mistake = json("def f(g): f(g), nonsense; f(1)", "null");
    assert!(mistake.contains("there is no filter `nonsense` (at character 17)"), "{mistake}");
}
