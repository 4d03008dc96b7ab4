//! What perl, PHP and Ruby see in our output must be what we read from it. The other test shows
//! that we read the document, except for the reported losses.

use super::faithful::Language;
use icecore::{Cursor, Document, Key, Kind, Value, raw::flag, value::Form};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// A stage, and the script's name for its format.
type FormatNames = &'static [(&'static str, &'static str)];

/// The program, its script, and the formats that it reads.
pub const LANGUAGES: &[(&str, &str, Language, FormatNames)] = &[
    (
        "perl",
        "perl.pl",
        Language::Perl,
        &[
            ("storable:memory", "storable"),
            ("storable:memory,netorder", "storable"),
            ("sereal", "sereal"),
            ("dumper:indent=1", "dumper"),
        ],
    ),
    ("php", "php.php", Language::Php, &[("php", "php"), ("igbinary", "igbinary"), ("var-export", "var-export")]),
    ("ruby", "ruby.rb", Language::Ruby, &[("marshal", "marshal")]),
];

/// Returns what a program says about each of these. If it is not installed, prints a line that says
/// so and returns `None`.
pub fn ask(program: &str, script: &str, questions: &[(&str, Vec<u8>)]) -> Option<Vec<String>> {
    let path = format!("{}/tests/losses/{script}", env!("CARGO_MANIFEST_DIR"));
    let process = Command::new(program).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut process) = process else {
        eprintln!("skipped: {program} is not installed");
        return None;
    };
    let mut to = process.stdin.take().expect("a pipe");
    let from = BufReader::new(process.stdout.take().expect("a pipe"));
    let answers: Vec<String> = std::thread::scope(|scope| {
        scope.spawn(move || {
            for (format, blob) in questions {
                writeln!(to, "{format} {}", hex(blob)).expect("it listens");
            }
        });
        from.lines().map(|line| line.expect("a line")).collect()
    });
    process.wait().expect("it ends");
    assert_eq!(answers.len(), questions.len(), "{program} broke off");
    Some(answers)
}

/// Returns what the programs should say; `None` for values that they do not describe.
pub fn expected(language: Language, document: &Document<'_>) -> Option<String> {
    let mut root = document.root();
    // Perl's formats have a reference at the top.
    if let (Language::Perl, Value::Ref(inner)) = (language, root.value()) {
        root = inner;
    }
    value(language, root)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn string(language: Language, kind: Kind, bytes: &[u8]) -> String {
    let latin1 = || hex(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().as_bytes());
    match (language, kind) {
        (Language::Perl, Kind::Bytes) => format!("s{}", latin1()),
        (Language::Ruby, Kind::Bytes) if !bytes.is_ascii() => format!("b{}", hex(bytes)),
        _ => format!("s{}", hex(bytes)),
    }
}

fn value(language: Language, cursor: Cursor<'_>) -> Option<String> {
    // A value that only a weak reference holds is freed at once; overloading needs a class.
    if cursor.kind().is_container() && cursor.node().flags & (flag::WEAK | flag::OVERLOAD) != 0 {
        return None;
    }
    let list = |items: Vec<String>| format!("[{}]", items.join(","));
    Some(match cursor.value() {
        Value::Null => "n".to_owned(),
        Value::Hole if language == Language::Perl => "n".to_owned(),
        Value::Bool(value) => if value { "t" } else { "f" }.to_owned(),
        Value::Int(value) => format!("i{value}"),
        Value::Uint(value) => format!("i{value}"),
        Value::BigInt(value) if language == Language::Ruby => {
            let mut text = b"i".to_vec();
            icecore::num::bigint::push_decimal(value.negative, value.magnitude, &mut text);
            String::from_utf8(text).ok()?
        }
        Value::Float(value) if value.is_nan() => "dnan".to_owned(),
        Value::Float(value) => format!("d{:016x}", value.to_bits()),
        Value::Bytes(bytes) => string(language, Kind::Bytes, bytes),
        Value::Text(bytes) if std::str::from_utf8(bytes).is_ok() => string(language, Kind::Text, bytes),
        Value::Symbol(bytes, b"") => format!(":{}", hex(bytes)),
        Value::Copy(target) => value(language, target)?,
        Value::Array if language == Language::Php => {
            let items = cursor.items().enumerate();
            let entries: Option<Vec<_>> =
                items.map(|(index, item)| Some(format!("i{index}={}", value(language, item)?))).collect();
            let mut entries = entries?;
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        Value::Array => list(cursor.items().map(|item| value(language, item)).collect::<Option<Vec<_>>>()?),
        Value::Map => map(language, cursor, false)?,
        // Names of Ruby's classes begin with a capital.
        Value::Object(b"stdClass", _) if language == Language::Ruby => return None,
        Value::Object(class, body) if cursor.node().form() == Form::Usual && body.kind() == Kind::Map => {
            format!("o{}{}", hex(class), map(language, body, true)?)
        }
        Value::Object(class, body) if language == Language::Perl && body.kind() == Kind::Array => {
            format!("o{}{}", hex(class), value(language, body)?)
        }
        _ => return None,
    })
}

/// Describes a map; a key that is repeated has its last value.
fn map(language: Language, cursor: Cursor<'_>, is_body: bool) -> Option<String> {
    const SPECIAL_MAP_FLAGS: u8 = flag::IDENTITY | flag::DEFAULT | flag::RESTRICTED;
    if cursor.node().flags & SPECIAL_MAP_FLAGS != 0 {
        return None;
    }
    let mut entries = BTreeMap::new();
    for (key, item) in cursor.entries() {
        let node = key.node();
        let text = match (&key, node.kind) {
            (_, Kind::Int) if is_body => format!("s{}", hex((node.payload as i64).to_string().as_bytes())),
            (_, Kind::Int) => format!("i{}", node.payload as i64),
            // PHP can't have such a property.
            (_, Kind::Text | Kind::Bytes)
                if language == Language::Php && is_body && key.bytes().first() == Some(&0) =>
            {
                return None;
            }
            (_, Kind::Text | Kind::Bytes) => string(language, node.kind, key.bytes()),
            // Ruby hides such a member.
            (_, Kind::Symbol) if is_body && !key.bytes().starts_with(b"@") => return None,
            (_, Kind::Symbol) if node.encoding() == 0 => format!(":{}", hex(key.bytes())),
            (Key::Value(key), _) => value(language, *key)?,
            _ => return None,
        };
        entries.insert(text, value(language, item)?);
    }
    let entries: Vec<_> = entries.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut entries = entries;
    entries.sort();
    Some(format!("{{{}}}", entries.join(",")))
}
