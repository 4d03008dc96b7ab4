//! The same filter over the same data in every format; and features that only some formats have.

use crate::common::{ask, json, results};
use icecore_query::{Running, on_query_thread};

const STAFF: &str =
    r#"{"staff":[{"name":"Ann","age":31,"tags":["a","b"]},{"name":"Zoë","age":25.5,"tags":[]}],"total":2}"#;

/// Without Data::Dumper: it writes floats as strings.
const FORMATS: [&str; 9] =
    ["json", "php", "marshal", "sereal", "storable", "igbinary", "var-export", "json:typed", "gzip/php"];

const FILTERS: [&str; 12] = [
    ".staff[].name",
    ".staff | map(select(.age > 30) | .name)",
    "[.staff[] | {name, n: (.tags | length)}]",
    ".total",
    ".staff[0].tags[-1]",
    "[.staff[].age] | add",
    "[paths] | length",
    ".staff | sort_by(.age) | map(.name)",
    ".staff | map({key: .name, value: .age}) | from_entries",
    "[.. | strings] | sort",
    ".staff[1].name | length, explode",
    "del(.staff[0].tags) | .staff[0] | keys",
];

#[test]
fn a_filter_gives_the_same_over_every_format() {
    for filter in FILTERS {
        let expected = json(filter, STAFF);
        assert!(!expected.starts_with('!'), "{filter}: {expected}");
        for format in FORMATS {
            let bytes = icecore::convert(STAFF.as_bytes(), "json", format).expect("it can be written");
            let found = ask(filter, format, &bytes);
            assert_eq!(found, expected, "{filter} over {format}");
        }
    }
}

#[test]
fn unchanged_values_are_written_byte_for_byte() {
    for format in FORMATS {
        let bytes = icecore::convert(STAFF.as_bytes(), "json", format).expect("it can be written");
        // As a whole, and as the only item of a new value.
        for filter in [".", "[.][0]", "{a: .}.a", ". as $all | $all"] {
            let found = results(filter, &[(format, &bytes)], format, &Running::default());
            let stage = icecore::Stage::parse(format).unwrap();
            let limits = icecore::Limits::default();
            let read = |bytes: &[u8]| icecore::read_as(bytes, &stage, &limits).map(icecore::Document::into_owned);
            assert_eq!(found.len(), 1, "{filter} over {format}");
            assert!(read(&found[0]).unwrap() == read(&bytes).unwrap(), "{filter} over {format}");
        }
    }
}

/// An object with a protected and a private property, and an array with integer keys.
const PHP: &[u8] = b"O:4:\"User\":3:{s:4:\"name\";s:3:\"Ann\";s:6:\"\0*\0age\";i:31;s:11:\"\0User\0notes\";a:2:{i:5;s:1:\"x\";i:9;s:1:\"y\";}}";

#[test]
fn php_objects_keep_class_visibility_and_keys() {
    assert_eq!(ask("keys", "php", PHP), r#"["age","name","notes"]"#);
    assert_eq!(ask(".age, .notes.\"5\", .notes[9]", "php", PHP), r#"31 "x" "y""#);
    assert_eq!(ask("class, (.notes | class), (.name | class)", "php", PHP), r#""User" null null"#);
    assert_eq!(ask("fields | class, keys", "php", PHP), r#"null ["age","name","notes"]"#);
    // Class, visibility and keys are kept when an object is changed.
    let changed = results(".age += 1 | .notes[9] = \"z\"", &[("php", PHP)], "php", &Running::default());
    let text = String::from_utf8_lossy(PHP).replace("i:31", "i:32").replace("\"y\"", "\"z\"");
    assert_eq!(String::from_utf8_lossy(&changed[0]), text);
    // A newly built value has no class.
    assert_eq!(results("{name}", &[("php", PHP)], "php", &Running::default()), [b"a:1:{s:4:\"name\";s:3:\"Ann\";}"]);
}

/// `Marshal.dump({ a: :x, "n" => 2**70, r: 1..5, "u" => User.new(@id = 7) })`, made by the engine.
fn ruby() -> Vec<u8> {
    let typed = br#"{"$icecore":1,"$value":{"$map":[[{"$symbol":"a"},{"$symbol":"x"}],["n",1180591620717411303424],["u",{"$class":"User","$value":{"$map":[[{"$symbol":"@id"},7]]}}]]}}"#;
    icecore::convert(typed, "json:typed", "marshal").expect("a dump")
}

#[test]
fn ruby_symbols_and_objects_are_read_and_kept() {
    let bytes = ruby();
    assert_eq!(ask(".a, .n, .u.id", "marshal", &bytes), r#""x" 1180591620717411303424 7"#);
    assert_eq!(ask(".a | type, length, . == \"x\", . + \"y\"", "marshal", &bytes), r#""string" 1 true "xy""#);
    assert_eq!(ask("[.. | class]", "marshal", &bytes), r#"[null,null,null,"User",null]"#);
    // An unchanged symbol stays a symbol; a change of one member leaves the others.
    let result = results(".n = 1 | .u.id += 1", &[("marshal", &bytes)], "json:typed", &Running::default());
    let text = String::from_utf8_lossy(&result[0]).into_owned();
    for part in [r#"{"$symbol":"a"},{"$symbol":"x"}"#, r#"["n",1]"#, r#""User"},"$value""#, r#"[{"$symbol":"@id"},8]"#]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let picked = results(".a", &[("marshal", &bytes)], "marshal", &Running::default());
    assert_eq!(picked, [b"\x04\x08:\x06x"]);
}

#[test]
fn numbers_are_exact() {
    let text = "[9007199254740993, 123456789012345678901234567890, -9223372036854775808, 18446744073709551615]";
    let compact = text.replace(' ', "");
    assert_eq!(json(".", text), compact);
    assert_eq!(json("map(. + 0)", text), compact);
    assert_eq!(json("[.[]]", text), compact);
    assert_eq!(
        json(".[1] * .[1] % 1000000007, .[0] == 9007199254740992, .[3] + 1", text),
        "703228 false 18446744073709551616".replace("703228", &json(".[1] * .[1] % 1000000007", text))
    );
}

#[test]
fn strings_of_bytes_stay_bytes() {
    // Perl's bytes that are not UTF-8, and such a byte in the middle of PHP text.
    let bytes = b"a:2:{s:1:\"a\";s:3:\"x\xffy\";s:1:\"b\";s:2:\"\xc3\xa9\";}";
    let all = |filter: &str| results(filter, &[("php", bytes)], "php", &Running::default()).concat();
    assert_eq!(all(".a"), b"s:3:\"x\xffy\";");
    assert_eq!(all(".a + .b"), b"s:5:\"x\xffy\xc3\xa9\";");
    assert_eq!(all(".a[1:]"), b"s:2:\"\xffy\";");
    assert_eq!(all("[.a | length, explode] | tojson"), b"s:14:\"[3,[120,255,121]]\";".replace_len());
    assert_eq!(all("{(.a): 1}"), b"a:1:{s:3:\"x\xffy\";i:1;}");
    assert_eq!(all("[.a] | map(explode | implode == \"xÿy\") | tojson"), b"s:6:\"[true]\";");
}

trait ReplaceLen {
    fn replace_len(&self) -> Vec<u8>;
}

impl<const N: usize> ReplaceLen for [u8; N] {
    /// Returns the PHP string with its right length.
    fn replace_len(&self) -> Vec<u8> {
        let text = String::from_utf8_lossy(self).into_owned();
        let inner = text.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map_or("", |(inner, _)| inner);
        format!("s:{}:\"{inner}\";", inner.len()).into_bytes()
    }
}

#[test]
fn links_are_followed_and_cycles_are_cut() {
    let shared = b"a:2:{i:0;a:1:{i:0;i:7;}i:1;R:2;}";
    assert_eq!(ask(".[1][0]", "php", shared), "7");
    assert_eq!(ask(".[0] == .[1]", "php", shared), "true");
    // An unchanged link stays a link.
    assert_eq!(results(".", &[("php", shared)], "php", &Running::default()), [shared]);
    let circle = b"a:1:{s:2:\"me\";R:1;}";
    assert_eq!(ask(".", "php", circle), "{\"me\":null}");
    // Below the first link, the circle is complete once more.
    let twice = b"a:2:{s:1:\"a\";a:1:{s:2:\"up\";R:1;}s:1:\"b\";R:2;}";
    assert_eq!(ask("[.. | numbers], .b.up", "php", twice), "[] null");
}

#[test]
fn integer_keys_are_found_and_added_where_there_are_some() {
    let php = b"a:2:{i:5;s:1:\"x\";i:9;s:1:\"y\";}";
    assert_eq!(ask(".[5], .[6]", "php", php), "\"x\" null");
    let added = results(".[7] = 1", &[("php", php)], "php", &Running::default());
    assert_eq!(added, [b"a:3:{i:5;s:1:\"x\";i:9;s:1:\"y\";i:7;i:1;}"]);
}

#[test]
fn strings_in_latin1_are_compared_as_they_are_shown() {
    let php = b"a:2:{s:6:\"M\xfcller\";i:1;i:0;s:6:\"M\xfcller\";}";
    assert_eq!(ask(".[\"0\"] == \"Müller\", .[\"Müller\"]", "php", php), "true 1");
    assert_eq!(ask("[.[\"0\"], \"Müller\", \"Muller\"] | unique | length", "php", php), "2");
    let changed = results(".[\"Müller\"] = 2", &[("php", php)], "php", &Running::default());
    assert_eq!(changed, [b"a:2:{s:6:\"M\xfcller\";i:2;i:0;s:6:\"M\xfcller\";}"]);
}

#[test]
fn functions_see_the_characters_of_strings_in_latin1() {
    let php = b"a:2:{i:0;s:9:\"Gr\xfc\xdfe, M\xfc\";i:1;a:1:{s:1:\"\xe4\";i:1;}}";
    let asked = |filter: &str| ask(&format!(".[0] | {filter}"), "php", php);
    assert_eq!(asked(r#"test("^Grü.e"), test("[à-þ]ß"), index("ß"), indices("ü")"#), "true true 3 [2,8]");
    assert_eq!(
        asked(r#"contains("üß"), startswith("Grü"), endswith("Mü"), (.[3:5] | inside("aße"))"#),
        "true true true true"
    );
    assert_eq!(
        asked(r#"split("ü"), . / "ß", split("ü|ß"; null)"#),
        asked(r#"("Grüße, Mü" | split("ü"), . / "ß", split("ü|ß"; null))"#)
    );
    assert_eq!(
        asked(r#"ltrimstr("Grü"), rtrimstr("Mü"), sub("ü"; "ue"), gsub("ü"; "€")"#),
        r#""ße, Mü" "Grüße, " "Grueße, Mü" "Gr€ße, M€""#
    );
    assert_eq!(asked(r#"[match("ß") | .offset, .length, .string], [scan("ü")]"#), r#"[3,1,"ß"] ["ü","ü"]"#);
    assert_eq!(
        asked(r#"explode[2:4], length, utf8bytelength, @uri, ascii_upcase"#),
        r#"[252,223] 9 12 "Gr%C3%BC%C3%9Fe%2C%20M%C3%BC" "GRüßE, Mü""#
    );
    assert_eq!(
        asked(r#". + "€", . + "ü", "ü\(.)", ([., "ü"] | join("-")), . * 2"#),
        r#""Grüße, Mü€" "Grüße, Müü" "üGrüße, Mü" "Grüße, Mü-ü" "Grüße, MüGrüße, Mü""#
    );
    assert_eq!(asked(r#"@base64, (@base64 | @base64d | . == "Grüße, Mü")"#), r#""R3L832UsIE38" true"#);
    assert_eq!(
        ask(r#".[1] | . == {"ä": 1}, contains({"ä": 1}), ([., {"ä": 1}] | unique | length), has("ä")"#, "php", php),
        "true true 1 true"
    );
    // Two characters whose bytes are a character of UTF-8.
    let mojibake = b"s:4:\"a\xc3\xbc\xdf\";";
    assert_eq!(ask(".[1:3], (.[1:3] | tojson)", "php", mojibake), r#""Ã¼" "\"Ã¼\"""#);
    assert_eq!(results(".[1:3]", &[("php", mojibake)], "php", &Running::default()), [b"s:2:\"\xc3\xbc\";"]);
    // What is written has the bytes of the document.
    let written = |filter: &str| results(filter, &[("php", php)], "php", &Running::default()).concat();
    assert_eq!(written(r#".[0] | ltrimstr("Gr")"#), b"s:7:\"\xfc\xdfe, M\xfc\";");
    assert_eq!(written(r#".[0] | sub("Gr"; "gr") + "ö""#), b"s:10:\"gr\xfc\xdfe, M\xfc\xf6\";");
    assert_eq!(written(r#".[0] | split(", ")[1] | ascii_downcase"#), b"s:2:\"m\xfc\";");
    assert_eq!(written(r#".[1] | with_entries(.value += 1)"#), b"a:1:{s:1:\"\xe4\";i:2;}");
    assert_eq!(written(r#".[1] | .["ä"] = 3"#), b"a:1:{s:1:\"\xe4\";i:3;}");
}

#[test]
fn strings_of_ruby_are_seen_in_their_encoding() {
    // "日本" in Shift_JIS, and a symbol in ISO-8859-1.
    let marshal =
        b"\x04\x08[\x07I\"\x09\x93\xfa\x96\x7b\x06:\x0dencoding\"\x0eShift_JISI:\x06\xfc\x06;\0\"\x0fISO-8859-1";
    assert_eq!(
        ask(r#".[0] == "日本", (.[0] | test("本"), length), .[1] == "ü""#, "marshal", marshal),
        "true true 2 true"
    );
    assert_eq!(results(".", &[("marshal", marshal)], "marshal", &Running::default()), [marshal]);
}

/// An array of Perl with `{s => 1}` and an object of `H`, whose hook returned the string `cookie1` and three values: a
/// list with 7, an object of the same kind, and the first hash; and a hash.
const HOOKS: &[u8] = include_bytes!("data/hooks.storable");

#[test]
fn values_of_hooks_are_reached() {
    let asked = |filter: &str| ask(filter, "storable", HOOKS);
    assert_eq!(asked(".[1]"), r#"["cookie1",[7,["cookie2",["x"],{"k":2}],{"s":1}],{"k":1}]"#);
    assert_eq!(asked(".[1][0], .[1][1][1][1][0], .[1][2].k, (.[1] | length, class)"), r#""cookie1" "x" 1 3 "H""#);
    assert_eq!(asked("[.[1] | .. | strings]"), r#"["cookie1","cookie2","x"]"#);
    assert_eq!(asked("[paths(. == 7)], (tojson == (. | tojson)), ([.[1] | ..] | length)"), "[[1,1,0]] true 14");
    // What no filter changes is written as it was.
    let written = results(".[1]", &[("storable", HOOKS)], "storable", &Running::default()).concat();
    assert_eq!(ask("class, .", "storable", &written), format!("\"H\" {}", asked(".[1]")));
}

/// Two places of an object, and a list with a third one.
const SHARED: &[u8] = b"a:3:{i:0;O:1:\"P\":1:{s:1:\"n\";i:1;}i:1;r:2;i:2;a:1:{i:0;r:2;}}";

#[test]
fn shared_objects_stay_shared_if_something_else_is_changed() {
    let php = |filter: &str| {
        let all = results(filter, &[("php", SHARED)], "php", &Running::default());
        String::from_utf8_lossy(&all[0]).into_owned()
    };
    let object = r#"O:1:"P":1:{s:1:"n";i:1;}"#;
    assert_eq!(php(". + [5]"), format!("a:4:{{i:0;{object}i:1;r:2;i:2;a:1:{{i:0;r:2;}}i:3;i:5;}}"));
    assert_eq!(php("[.[2], .[0]]"), format!("a:2:{{i:0;a:1:{{i:0;{object}}}i:1;r:3;}}"));
    assert_eq!(php("del(.[0])"), format!("a:2:{{i:0;{object}i:1;a:1:{{i:0;r:2;}}}}"));
}

#[test]
fn a_change_at_one_of_several_shared_places_is_a_loss() {
    let unshared = |filter: &str, to: &str| {
        on_query_thread(|| {
            let (stage, limits) = (icecore::Stage::parse(to).unwrap(), icecore::Limits::default());
            let document = icecore::read_as(SHARED, &icecore::Stage::parse("php").unwrap(), &limits).unwrap();
            let input = icecore_query::Input::new("shared.php", document.into_owned());
            let mut losses = icecore::Losses::default();
            let query = icecore_query::Query::new(filter, &[]).unwrap();
            query.run(&mut [input].into_iter(), &Running::default(), &mut |answer| {
                losses = answer.unwrap().write(&stage, &limits, &mut Vec::new()).unwrap();
                std::ops::ControlFlow::Continue(())
            });
            losses.iter().map(|loss| format!("{} {} {}", loss.kind.as_str(), loss.count, loss.path)).collect::<Vec<_>>()
        })
    };
    assert_eq!(unshared(".[0].n = 2", "php"), ["sharing 1 $[0]"]);
    assert_eq!(unshared(".[2][0].n = 2", "php"), ["sharing 1 $[2][0]"]);
    // Both changed places became objects of their own, and the third one still has the original.
    assert_eq!(unshared(".[0].n = 2 | .[1].n = 2", "php"), ["sharing 2 $[0]"]);
    assert_eq!(unshared("map(objects.n = 2)", "php"), ["sharing 2 $[0]"]);
    assert_eq!(unshared(".[0].n = 2 | .[:1]", "php"), [""; 0]);
    assert_eq!(unshared(".[3] = 5", "php"), [""; 0]);
}
