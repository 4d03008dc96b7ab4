//! `php:repair=lengths`: the damage that a search and replace did to serialized values is undone
//! exactly, or refused.

use crate::common::Random;
use crate::fixtures::load;
use icecore::{ErrorKind, Limits, format::php, value::Repair};

/// A value as WordPress and its plugins store them. `@` stands for the domain.
enum GeneratedValue {
    Int(i64),
    Bool(bool),
    Null,
    Text(String),
    Array(Vec<(Key, GeneratedValue)>),
    Object(String, Vec<(Key, GeneratedValue)>),
    Queue(Vec<GeneratedValue>),
    /// A serialized value, as a string.
    Twice(Box<GeneratedValue>),
}

enum Key {
    Int(i64),
    Text(String),
}

fn text(domain: &str, text: &str, out: &mut Vec<u8>) {
    let text = text.replace('@', domain);
    out.extend_from_slice(format!("s:{}:\"{text}\";", text.len()).as_bytes());
}

impl GeneratedValue {
    fn render(&self, domain: &str, out: &mut Vec<u8>) {
        let entries = |entries: &[(Key, GeneratedValue)], out: &mut Vec<u8>| {
            out.extend_from_slice(format!("{}:{{", entries.len()).as_bytes());
            for (key, value) in entries {
                match key {
                    Key::Int(key) => out.extend_from_slice(format!("i:{key};").as_bytes()),
                    Key::Text(key) => text(domain, key, out),
                }
                value.render(domain, out);
            }
            out.push(b'}');
        };
        match self {
            GeneratedValue::Int(value) => out.extend_from_slice(format!("i:{value};").as_bytes()),
            GeneratedValue::Bool(value) => out.extend_from_slice(format!("b:{};", u8::from(*value)).as_bytes()),
            GeneratedValue::Null => out.extend_from_slice(b"N;"),
            GeneratedValue::Text(value) => text(domain, value, out),
            GeneratedValue::Array(list) => {
                out.extend_from_slice(b"a:");
                entries(list, out);
            }
            GeneratedValue::Object(class, list) => {
                out.extend_from_slice(format!("O:{}:\"{class}\":", class.len()).as_bytes());
                entries(list, out);
            }
            GeneratedValue::Queue(list) => {
                let mut payload = b"i:4;".to_vec();
                for value in list {
                    payload.push(b':');
                    value.render(domain, &mut payload);
                }
                out.extend_from_slice(format!("C:8:\"SplQueue\":{}:{{", payload.len()).as_bytes());
                out.extend_from_slice(&payload);
                out.push(b'}');
            }
            GeneratedValue::Twice(value) => {
                let mut inner = Vec::new();
                value.render(domain, &mut inner);
                out.extend_from_slice(format!("s:{}:\"", inner.len()).as_bytes());
                out.extend_from_slice(&inner);
                out.extend_from_slice(b"\";");
            }
        }
    }

    fn bytes(&self, domain: &str) -> Vec<u8> {
        let mut out = Vec::new();
        self.render(domain, &mut out);
        out
    }
}

struct Generator {
    random: Random,
    /// `true` if strings sometimes look like serialized pieces.
    hostile: bool,
}

impl Generator {
    fn string(&mut self) -> String {
        const TEXTS: &[&str] = &[
            "https://@",
            "https://@/wp-content/uploads/2024/02/bild-groß.jpg",
            "info@@",
            "yes",
            "",
            "1",
            "2024-02-29 12:00:00",
            "<a href=\"https://@/\">@</a> und https://@/über-uns",
            "Grüße aus Köln — 日本語",
            "a:b;c",
            "administrator",
            "%postname%",
            "body { background: url(\"https://@/x.png\"); }",
            "{\"url\":\"https://@/\",\"n\":1}",
            "\\\"quoted\\\";",
            "//@",
            "Twenty Twenty-Four",
            "text-\"quoted\"; and more",
            "x",
        ];
        const HOSTILE: &[&str] = &[
            "@\";i:1;s:5:\"hello",
            "\";i:1;s:5:\"",
            "a\";s:4:\"name\";s:1:\"@",
            "\";}i:1;a:1:{i:0;s:3:\"abc",
            "\";N;",
            "x\";}",
            "@\";i:0;",
        ];
        let list = if self.hostile && self.random.one_in(3) { HOSTILE } else { TEXTS };
        (*self.random.pick(list)).to_owned()
    }

    fn key(&mut self, index: usize, list: bool) -> Key {
        const NAMES: &[&str] =
            &["siteurl", "home", "title", "@", "https://@/feed", "widget_text", "größe", "_multiwidget", "ids"];
        if list { Key::Int(index as i64) } else { Key::Text(format!("{}{index}", self.random.pick(NAMES))) }
    }

    fn entries(&mut self, depth: u32) -> Vec<(Key, GeneratedValue)> {
        let list = self.random.one_in(2);
        (0..self.random.below(6) as usize).map(|index| (self.key(index, list), self.value(depth))).collect()
    }

    fn value(&mut self, depth: u32) -> GeneratedValue {
        match self.random.below(if depth == 0 { 8 } else { 14 }) {
            0 => GeneratedValue::Int(self.random.below(1000) as i64),
            1 => GeneratedValue::Bool(self.random.one_in(2)),
            2 => GeneratedValue::Null,
            3..=7 => GeneratedValue::Text(self.string()),
            8..=10 => GeneratedValue::Array(self.entries(depth - 1)),
            11 => {
                let mut entries = self.entries(depth - 1);
                entries.push((Key::Text("\0*\0url".to_owned()), GeneratedValue::Text("https://@/".to_owned())));
                GeneratedValue::Object(
                    (*self.random.pick(&["WP_Post", "stdClass", "My\\Plugin\\Cache"])).to_owned(),
                    entries,
                )
            }
            12 if self.hostile => {
                GeneratedValue::Queue((0..self.random.below(3)).map(|_| self.value(depth - 1)).collect())
            }
            _ => {
                let hostile = std::mem::replace(&mut self.hostile, false);
                let value = GeneratedValue::Twice(Box::new(GeneratedValue::Array(self.entries(1))));
                self.hostile = hostile;
                value
            }
        }
    }
}

fn repair_options() -> php::ReadOptions {
    let mut options = php::ReadOptions::default();
    options.repair_lengths = true;
    options
}

/// Returns the text written from the repaired value, and the repairs.
fn repair_and_write(blob: &[u8]) -> Result<(Vec<u8>, Vec<Repair>), icecore::Error> {
    let document = php::read(blob, &repair_options(), &Limits::default())?;
    let mut out = Vec::new();
    let losses = php::write(&document, &php::WriteOptions::default(), &Limits::default(), &mut out).unwrap();
    assert!(losses.is_empty());
    Ok((out, document.repairs().to_vec()))
}

const DOMAINS: [&str; 9] = [
    "old.example.com",
    "n.de",
    "www.a-much-longer-name.example.org",
    "old.example.net",
    "köln.example",
    "localhost:8080",
    "staging.old.example.com",
    "old.example.co",
    "x",
];

fn is_same_but_for_digits_in_strings(one: &[u8], other: &[u8]) -> bool {
    let read = |text| php::read(text, &php::ReadOptions::default(), &Limits::default()).unwrap();
    let (one, other) = (read(one), read(other));
    let without_digits = |text: &[u8]| text.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect::<Vec<_>>();
    one.nodes().len() == other.nodes().len()
        && one.nodes().iter().zip(other.nodes()).all(|(a, b)| {
            let same_string = || without_digits(one.bytes(a)) == without_digits(other.bytes(b));
            a.kind == b.kind && a.key == b.key && if a.kind.has_bytes() { same_string() } else { a.aux == b.aux }
        })
}

/// Returns how many damaged values gave the original, gave it in part, or were refused.
fn count_repaired_values(hostile: bool, seeds: std::ops::Range<u64>) -> (usize, usize, usize) {
    let (mut good, mut partly, mut refused) = (0, 0, 0);
    for seed in seeds {
        let mut generator = Generator { random: Random::new(seed), hostile };
        let value =
            GeneratedValue::Array((0..8).map(|index| (generator.key(index, false), generator.value(3))).collect());
        let from = DOMAINS[seed as usize % 3];
        let to = *generator.random.pick(&DOMAINS);
        let original = value.bytes(from);
        let damaged = String::from_utf8(original.clone()).unwrap().replace(from, to).into_bytes();
        // A domain that occurs by chance is replaced as well.
        if value.bytes(to).len().abs_diff(damaged.len()) > 4 * value.bytes(to).len().abs_diff(original.len()).max(200) {
            continue;
        }
        let expected = value.bytes(to);
        match repair_and_write(&damaged) {
            Ok((out, repairs)) => {
                let same = out.iter().zip(&expected).take_while(|(one, other)| one == other).count();
                let near =
                    |text: &[u8]| text[same.saturating_sub(80)..text.len().min(same + 80)].escape_ascii().to_string();
                // A text inside a text may stay as it is; the rest must be right.
                let describe = || format!("{seed} at {same}\n{}\n{}\n{}", near(&damaged), near(&out), near(&expected));
                if out != expected {
                    assert!(is_same_but_for_digits_in_strings(&out, &expected), "{}", describe());
                    partly += 1;
                    continue;
                }
                assert_eq!(repairs.is_empty(), damaged == expected, "{seed}: {repairs:?}");
                good += 1;
            }
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Truncated), "{seed}: {error}");
                refused += 1;
            }
        }
    }
    (good, partly, refused)
}

#[test]
fn damage_by_search_and_replace_is_repaired() {
    let (good, partly, refused) = count_repaired_values(false, 0..3000);
    assert!(refused * 20 <= good && partly * 25 <= good, "{good} repaired, {partly} in part, {refused} refused");
}

#[test]
fn strings_that_look_serialized_do_not_mislead_the_repair() {
    let (good, partly, refused) = count_repaired_values(true, 0..3000);
    assert!(good > 1000, "{good} repaired, {partly} in part, {refused} refused");
}

#[test]
fn undamaged_values_are_not_changed() {
    for fixture in load("php.jsonl").iter().chain(&load("php-spl.jsonl")) {
        let (out, repairs) = repair_and_write(&fixture.blob).unwrap();
        assert!(repairs.is_empty(), "{}", fixture.name);
        let plain = php::read(&fixture.blob, &php::ReadOptions::default(), &Limits::default()).unwrap();
        let mut expected = Vec::new();
        php::write(&plain, &php::WriteOptions::default(), &Limits::default(), &mut expected).unwrap();
        assert!(out == expected, "{}", fixture.name);
    }
}

#[test]
fn ambiguous_lengths_are_refused() {
    let error = repair_and_write(br#"a:2:{i:0;s:99:"aa";i:1;s:3:"bb";i:1;s:98:"cc";}"#).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(error.to_string().contains("99 bytes long that may have 2 or 15"), "{error}");
}

#[test]
fn wrong_counts_are_not_repaired() {
    for text in
        [&br#"a:3:{i:0;s:1:"a";i:1;s:1:"b";}"#[..], br#"a:1:{i:0;s:1:"a";i:1;s:1:"b";}"#, br#"O:1:"A":2:{s:1:"x";N;}"#]
    {
        let plain = php::read(text, &php::ReadOptions::default(), &Limits::default()).unwrap_err();
        assert_eq!(repair_and_write(text).unwrap_err(), plain);
    }
}

#[test]
fn every_kind_of_length_is_repaired() {
    let text = br#"a:2:{i:0;C:8:"SplQueue":32:{i:4;:O:1:"ABC":1:{s:1:"xyz";i:7;}:N;}s:9:"k";C:3:"Foo":3:{abcdef}}"#;
    let (out, repairs) = repair_and_write(text).unwrap();
    let expected = br#"a:2:{i:0;C:8:"SplQueue":36:{i:4;:O:3:"ABC":1:{s:3:"xyz";i:7;}:N;}s:1:"k";C:3:"Foo":6:{abcdef}}"#;
    assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
    let descriptions: Vec<String> =
        repairs.iter().map(|repair| format!("{} {} {}", repair.offset, repair.subject, repair.path)).collect();
    assert_eq!(
        descriptions,
        ["24 payload $[0]", "35 class $[0]#0[0]", "48 key $[0]#0[0].xyz", "67 key $.k", "83 payload $.k"]
    );
    assert_eq!(repairs[2].to_string(), "offset 48: the length of a key was 1 and should be 3, at $[0]#0[0].xyz");
}

#[test]
fn an_error_names_the_real_end_and_the_option_that_helps() {
    let text = br#"a:1:{s:4:"home";s:5:"example";}"#;
    let error = php::read(text, &php::ReadOptions::default(), &Limits::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "malformed input (php) at offset 26 at $.home: expected `\";` after the string, found a string declared as \
         5 bytes long, but `\";` comes after 7 (PHP says: Error at offset 26 of 31 bytes; `repair=lengths` counts \
         wrong lengths again)"
    );
}

/// Many wrong lengths in a long text cost at most a few times as much as reading it.
#[test]
fn a_long_text_is_repaired_in_linear_time() {
    let record = |i: usize, host: &str| {
        format!(
            "i:{i};a:2:{{s:3:\"url\";s:{}:\"https://{host}/{i}\";s:2:\"id\";i:{i};}}",
            9 + host.len() + i.to_string().len()
        )
    };
    let list = |host: &str| format!("a:5000:{{{}}}", (0..5000).map(|i| record(i, host)).collect::<String>());
    let (out, repairs) =
        repair_and_write(list("old.example.com").replace("old.example.com", "new.example").as_bytes()).unwrap();
    assert!(out == list("new.example").as_bytes());
    assert_eq!((repairs.len(), repairs[4999].path.as_str()), (5000, "$[4999].url"));
}

fn read_repaired(text: &[u8], stage: &str) -> Result<icecore::Document<'static>, icecore::Error> {
    icecore::read_as(text, &icecore::Stage::parse(stage)?, &Limits::default()).map(icecore::Document::into_owned)
}

/// Files usually end with a newline. It is left to the caller, as after a value that is not damaged.
#[test]
fn a_newline_after_a_repaired_value_is_not_damage() {
    let text = b"s:3:\"abcd\";\n";
    let stage = icecore::Stage::parse("php:repair=lengths").unwrap();
    let limits = Limits::default();
    let outcome = stage.format().read(text, stage.settings(), icecore::Request::new(&limits));
    assert!(outcome.error.is_none());
    assert_eq!((outcome.consumed, outcome.document.repairs().len()), (11, 1));
    assert!(stage.format().ends_as_printed(&text[outcome.consumed..]));
    let error = read_repaired(text, "php:repair=lengths").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Trailing, Some(11)));
    let document = read_repaired(text, "php:lenient,repair=lengths").unwrap();
    assert_eq!((document.root().as_bytes(), document.repairs().len()), (Some(&b"abcd"[..]), 1));

    let error = read_repaired(b"s:4:\"abcd\";\n", "php").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Trailing, Some(11)));
    let help = "`php:lenient` ignores them; documents that follow one another can be read one by one";
    assert!(error.to_string().contains(help), "{error}");
    assert_eq!(read_repaired(b"s:4:\"abcd\";\n", "php:lenient").unwrap().root().as_bytes(), Some(&b"abcd"[..]));
    let error = read_repaired(b"[1] 2", "json").unwrap_err().to_string();
    assert!(error.contains("(documents that follow one another"), "{error}");
}
