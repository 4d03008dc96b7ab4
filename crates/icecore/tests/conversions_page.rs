//! The table of `docs/conversions.md` is made by converting, so it shows what really happens. `make
//! pages` writes it again.

#![cfg(all(feature = "snappy", feature = "zlib", feature = "zstd"))]

use icecore::{Document, Limits, Losses, Stage, value::Comparison};
use std::fs;
use std::path::Path;

/// The formats, and their names in the tables.
const TARGETS: [(&str, &str); 9] = [
    ("json", "JSON"),
    ("storable", "Storable"),
    ("storable:netorder", NETWORK),
    ("sereal", "Sereal"),
    ("dumper", "Data::Dumper"),
    ("php", "PHP"),
    ("var-export", "var_export"),
    ("igbinary", "igbinary"),
    ("marshal", "Marshal"),
];

/// Name of a column that only the larger table has.
const NETWORK: &str = "Storable, network order";

/// Values to convert, and their spelling as `json:typed` with plain strings as bytes.
const ROWS: &[(&str, &str)] = &[
    ("undef, NULL, nil", "[null]"),
    ("boolean", "[true]"),
    ("integer of up to 10 characters", "[-1]"),
    ("integer of 64 bits", "[12345678901]"),
    ("integer above that, below 2^64", "[18446744073709551615]"),
    ("integer beyond 64 bits", "[18446744073709551616]"),
    ("float", "[0.5]"),
    ("float that is integral", "[3.0]"),
    ("negative zero", "[-0.0]"),
    ("infinity, not a number", r#"[{"$float":"inf"}]"#),
    ("float beyond 64 bits", r#"[{"$float128":"3ffd5555555555555555555555555555"}]"#),
    ("bytes, ASCII", r#"["abc"]"#),
    ("bytes, valid UTF-8", r#"["é"]"#),
    ("bytes, not UTF-8", r#"[{"$latin1":"\u00e9"}]"#),
    ("text", r#"[{"$text":"é"}]"#),
    ("string in a named encoding", r#"[{"$string":"abc","$encoding":"EUC-JP"}]"#),
    ("symbol", r#"[{"$symbol":"abc"}]"#),
    ("class or module name", r#"[{"$module":"Set","$form":"class"}]"#),
    ("enum case", r#"[{"$enum":"Suit:Hearts"}]"#),
    ("element that does not exist", r#"[{"$hole":1}]"#),
    ("map", r#"[{"b":1,"a":2}]"#),
    ("map without entries", "[{}]"),
    ("map whose keys are those of a list", r#"[{"$map":[[0,1],[1,2]]}]"#),
    ("key that is an integer", r#"[{"$map":[[1,2]]}]"#),
    ("key twice", r#"[{"$map":[["a",1],["a",2]]}]"#),
    ("restricted hash", r#"[{"$map":[["a",1]],"$restricted":true,"$locked":[0],"$placeholders":["b"]}]"#),
    ("key that is an integer's text", r#"[{"1":2}]"#),
    ("keys that are the same elsewhere", r#"[{"$map":[[1,"a"],["1","b"]]}]"#),
    ("key that is a float", r#"[{"$map":[[1.5,2]]}]"#),
    ("key that is null", r#"[{"$map":[[null,2]]}]"#),
    ("key that is a symbol", r#"[{"$map":[[{"$symbol":"a"},1]]}]"#),
    ("key that is an array", r#"[{"$map":[[[1],2]]}]"#),
    ("map that compares keys by identity", r#"[{"$map":[["a",1]],"$identity":true}]"#),
    ("map with a default value", r#"[{"$map":[["a",1]],"$default":0}]"#),
    ("reference to a scalar", r#"[{"$ref":1}]"#),
    ("the same array twice", r#"[{"$id":1,"$value":[1]},{"$link":1}]"#),
    ("the same variable twice", r#"[{"$id":1,"$value":1},{"$alias":1}]"#),
    ("cycle", r#"{"$id":1,"$value":[{"$link":1}]}"#),
    ("weak reference", r#"{"$id":1,"$value":[{"$weak":{"$link":1}}]}"#),
    ("weak, and nothing else refers to it", r#"[{"$weak":[1]}]"#),
    ("overloaded reference", r#"[{"$overload":{"$class":"C","$value":{}}}]"#),
    ("object", r#"[{"$class":"C","$value":{"a":1}}]"#),
    ("object of Ruby", r#"[{"$class":"A::B","$value":{"$map":[[{"$symbol":"@a"},1]]}}]"#),
    (
        "object of PHP, with a protected and a private property",
        r#"[{"$class":"A\\B","$value":{"\u0000*\u0000a":1,"\u0000A\\B\u0000b":2}}]"#,
    ),
    ("struct", r#"[{"$class":"S","$form":"struct","$value":{"$map":[[{"$symbol":"a"},1]]}}]"#),
    ("object that is an array", r#"[{"$class":"C","$value":[1]}]"#),
    ("object that is a scalar", r#"[{"$class":"C","$value":{"$ref":1}}]"#),
    ("object frozen by STORABLE_freeze", r#"[{"$opaque":"hook","$class":"C","$payload":"abc","$links":[{}]}]"#),
    (
        "the same, with values: one of its own, and one that is shared",
        r#"[{"$id":1,"$value":[8]},{"$opaque":"hook","$class":"C","$payload":"abc","$links":[{"$id":2,"$value":[7]},{"$link":2},{"$link":1},{}]}]"#,
    ),
    ("object frozen by FREEZE (Sereal)", r#"[{"$opaque":"freeze","$class":"C","$payload":[1]}]"#),
    ("object frozen by serialize (PHP `C:`)", r#"[{"$opaque":"C","$class":"C","$payload":"abc"}]"#),
    ("object dumped by _dump (Ruby)", r#"[{"$opaque":"u","$class":"C","$payload":"abc"}]"#),
    ("object dumped by marshal_dump (Ruby)", r#"[{"$opaque":"U","$class":"C","$payload":[1]}]"#),
    ("instance of a subclass of Array (Ruby)", r#"[{"$subclass":"C","$value":[1]}]"#),
    ("value with a module mixed in (Ruby)", r#"[{"$extended":"M","$value":[1]}]"#),
    (
        "range of Ruby",
        r#"[{"$class":"Range","$value":{"$map":[[{"$symbol":"excl"},false],[{"$symbol":"begin"},1],[{"$symbol":"end"},5]]}}]"#,
    ),
    ("rational number of Ruby", r#"[{"$opaque":"U","$class":"Rational","$payload":[1,3]}]"#),
    ("decimal number of Ruby", r#"[{"$opaque":"u","$class":"BigDecimal","$payload":"18:0.125e1"}]"#),
    (
        "set of Ruby",
        r#"[{"$class":"Set","$value":{"$map":[[{"$symbol":"@hash"},{"$map":[["a",true]],"$default":false}]]}}]"#,
    ),
    ("regular expression", r#"[{"$regexp":"a+","$flags":"i"}]"#),
    ("regular expression with text in it", r#"[{"$regexp":{"$text":"é+"},"$flags":"u"}]"#),
    ("regular expression with other flags", r#"[{"$regexp":"a+","$flags":"a"}]"#),
    ("code as text", r#"[{"$code":"{ 1 }"}]"#),
    ("v-string", r#"[{"$vstring":"v1.2","$value":"\u0001\u0002"}]"#),
    ("tied variable", r#"[{"$tied":"hash","$value":{"$class":"C","$value":{}}}]"#),
    ("attributes on a value", r#"[{"$attributes":{"a":1},"$value":"abc"}]"#),
];

fn wrap_in_typed_json(value: &str) -> String {
    format!(r#"{{"$icecore":1,"$strings":"bytes","$value":{value}}}"#)
}

fn read<'a>(bytes: &'a [u8], stage: &str) -> Document<'a> {
    let stage = Stage::parse(stage).expect("the stage is known");
    icecore::read_as(bytes, &stage, &Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the cell for a converted document: the value, or `the same`, and the losses.
fn cell(document: &Document<'_>, value: &str, to: &str) -> String {
    let stage = Stage::parse(to).expect("the stage is known");
    let mut bytes = Vec::new();
    let losses = match icecore::write_to(document, &stage, &Limits::default(), &mut bytes) {
        Ok(losses) => losses,
        Err(error) => return format!("error `{}`", error.kind()),
    };
    let value = if to == "json" {
        format!("`{}`", String::from_utf8_lossy(&bytes))
    } else {
        let after = read(&bytes, to);
        if Comparison::new().any_order().equal(document, &after) {
            "the same".to_owned()
        } else {
            let text = icecore::write(&after, "json:typed").expect("typed JSON says everything");
            let text = String::from_utf8(text).expect("JSON is UTF-8");
            let outer = text.find("\"$value\":").filter(|_| text.starts_with("{\"$icecore\""));
            let start = outer.map_or(0, |offset| offset + "\"$value\":".len());
            let end = if start == 0 { text.len() } else { text.len() - 1 };
            // A name that became text needs no mention.
            if text[start..end] == *value { "the same".to_owned() } else { format!("`{}`", &text[start..end]) }
        }
    };
    format!("{value}{}", list_losses(&losses))
}

fn list_losses(losses: &Losses) -> String {
    let kinds: Vec<_> = losses.iter().map(|loss| format!("*{}*", loss.kind.as_str())).collect();
    if kinds.is_empty() { String::new() } else { format!(" {}", kinds.join(" ")) }
}

fn table() -> String {
    let names = TARGETS.map(|(_, name)| name).join(" | ");
    let mut table = format!("| what | as `json:typed` | {names} |\n|---|---{}|\n", "|---".repeat(TARGETS.len()));
    for (label, value) in ROWS {
        let text = wrap_in_typed_json(value);
        let document = read(text.as_bytes(), "json:typed");
        let cells = TARGETS.map(|(to, _)| cell(&document, value, to));
        table += &format!("| {label} | `{value}` | {} |\n", cells.join(" | "));
    }
    table
}

/// Rows of the table in `docs/formats.md`: a feature, and the row of [`ROWS`] that tests it.
const FEATURES: &[(&str, &str)] = &[
    ("integers of 64 bits", "integer of 64 bits"),
    ("larger integers", "integer beyond 64 bits"),
    ("floats", "float that is integral"),
    ("infinity, not a number", "infinity, not a number"),
    ("bytes", "bytes, not UTF-8"),
    ("text apart from bytes", "text"),
    ("other encodings", "string in a named encoding"),
    ("symbols", "symbol"),
    ("keys that are integers", "key that is an integer"),
    ("keys of any kind", "key that is an array"),
    ("objects", "object"),
    ("objects that their class froze", "object frozen by serialize (PHP `C:`)"),
    ("enum cases", "enum case"),
    ("regular expressions", "regular expression"),
    ("the same value in several places", "the same array twice"),
    ("the same variable in several places", "the same variable twice"),
    ("cycles", "cycle"),
    ("weak references", "weak reference"),
    ("references to scalars", "reference to a scalar"),
    ("attributes of a value", "attributes on a value"),
];

fn features() -> String {
    let targets: Vec<_> = TARGETS.into_iter().filter(|(_, name)| *name != NETWORK).collect();
    let names = targets.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(" | ");
    let mut table = format!("| | {names} |\n|---{}|\n", "|---".repeat(targets.len()));
    for (feature, row) in FEATURES {
        let (_, value) = ROWS.iter().find(|(name, _)| name == row).expect("a row of the table");
        let text = wrap_in_typed_json(value);
        let document = read(text.as_bytes(), "json:typed");
        let cells = targets.iter().map(|(to, _)| match cell(&document, value, to) {
            said if said.starts_with("the same") || said == format!("`{value}`") => "yes",
            said if said.starts_with("error") => "no",
            _ => "changed",
        });
        table += &format!("| {feature} | {} |\n", cells.collect::<Vec<_>>().join(" | "));
    }
    table
}

#[test]
fn table_of_formats_shows_real_conversions() {
    assert_page_contains_table("formats.md", &features());
}

#[test]
fn table_of_conversions_shows_real_conversions() {
    assert_page_contains_table("conversions.md", &table());
}

/// Checks that the page contains this table.
fn assert_page_contains_table(page: &str, table: &str) {
    const BEFORE: &str = "<!-- made by converting -->\n";
    const BEHIND: &str = "<!-- end -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let page = fs::read_to_string(&path).expect("the page is there");
    let (head, rest) = page.split_once(BEFORE).expect("the table has a start");
    let (_, tail) = rest.split_once(BEHIND).expect("the table has an end");
    let updated = format!("{head}{BEFORE}{table}{BEHIND}{tail}");
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(&path, &updated).expect("the page can be written");
    } else {
        assert!(updated == page, "{} is out of date; `make pages` updates it\n{table}", path.display());
    }
}
