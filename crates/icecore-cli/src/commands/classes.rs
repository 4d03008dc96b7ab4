//! `icecore classes`

use crate::cli::{Classes, Global, Language};
use crate::paint::{Ink, Paint};
use crate::reading::{Detail, Reader};
use crate::report::{Report, Stop};
use crate::sink::Sink;
use crate::source::Source;
use icecore::ClassUse;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What `--json` says.
#[derive(Serialize)]
struct Everything<'r> {
    classes: &'r [Row],
}

/// A class over all inputs, and the input in which it was met first.
#[derive(Serialize)]
struct Row {
    class: String,
    kind: &'static str,
    count: u64,
    path: String,
    file: String,
    #[serde(skip)]
    name: Vec<u8>,
}

pub fn run(args: &Classes, global: &Global, report: &mut Report) -> Result<(), Stop> {
    let reader = Reader::new(&args.from, &global.limit)?;
    let sources = Source::all(&args.files, report);
    let mut rows = Vec::new();
    let mut known = HashMap::new();
    for source in &sources {
        report.input();
        let name = source.name();
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.io(&name, &error);
                continue;
            }
        };
        let Some(opened) = reader.open(&name, &bytes, report) else { continue };
        reader.documents(&name, &opened, Detail::No, report, |_, outcome, _, _| {
            // Of a document that breaks off, what is there counts as well.
            for class in outcome.document.classes() {
                add(class, &name, &mut rows, &mut known);
            }
            Ok(outcome.document.into_tape())
        })?;
    }
    rows.sort_by(|a: &Row, b: &Row| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
    let mut sink = Sink::stdout();
    match (args.json, args.language) {
        (true, _) => {
            sink.json(&Everything { classes: &rows })?;
            sink.text("\n")?;
        }
        (false, Some(language)) => sink.text(&allow_list(&rows, language))?,
        (false, None) => {
            let paint = Paint::new(global.color, &std::io::stdout());
            sink.text(&table(&rows, sources.len() > 1, paint))?;
        }
    }
    sink.flush()
}

fn add(class: ClassUse, file: &str, rows: &mut Vec<Row>, known: &mut HashMap<(Vec<u8>, &'static str), usize>) {
    let ClassUse { name, kind, count, path, .. } = class;
    match known.entry((name.clone(), kind)) {
        Entry::Occupied(entry) => rows[*entry.get()].count += count,
        Entry::Vacant(entry) => {
            entry.insert(rows.len());
            let class = String::from_utf8_lossy(&name).into_owned();
            rows.push(Row { class, kind, count, path, file: file.to_owned(), name });
        }
    }
}

fn table(rows: &[Row], with_files: bool, paint: Paint) -> String {
    if rows.is_empty() {
        return "no classes\n".to_owned();
    }
    let width = |of: fn(&Row) -> usize, least: usize| rows.iter().map(of).max().unwrap_or(0).max(least);
    let counts = width(|row| row.count.to_string().len(), "COUNT".len());
    let kinds = width(|row| row.kind.len(), "KIND".len());
    let names = width(|row| shown(&row.class).chars().count(), "CLASS".len());
    let head = format!("{:>counts$}  {:kinds$}  {:names$}  FIRST AT", "COUNT", "KIND", "CLASS");
    let mut text = format!("{}\n", paint.ink(Ink::Faint, head));
    for Row { class, kind, count, path, file, .. } in rows {
        let class = &*shown(class);
        let padding = names - class.chars().count();
        let class = paint.ink(Ink::Class, printable(class));
        let file = if with_files { format!("{file} ") } else { String::new() };
        text.push_str(&format!("{count:>counts$}  {kind:kinds$}  {class}{:padding$}  {file}{path}\n", ""));
    }
    text
}

/// The longest name that is shown in full; `--json` has all of it.
const NAME: usize = 160;

fn shown(class: &str) -> Cow<'_, str> {
    icecore::shortened(class, NAME)
}

/// Nothing in a name may move the cursor of a terminal.
fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(text.chars().flat_map(|c| if c.is_control() { vec!['\u{fffd}'] } else { vec![c] }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The classes as the option that allows them.
fn allow_list(rows: &[Row], language: Language) -> String {
    // A name that is a mere value makes nothing.
    let mut names: Vec<_> = rows.iter().filter(|row| !row.kind.ends_with("-name")).map(|row| &row.name).collect();
    names.dedup();
    let list: Vec<_> = names.iter().map(|name| quoted(name, language)).collect();
    let list = list.join(", ");
    match language {
        Language::Perl => format!("classes => [{list}]\n"),
        Language::Php => format!("'classes' => [{list}]\n"),
        Language::Ruby => format!("classes: [{list}]\n"),
    }
}

/// The name as a string of the language, in ASCII.
fn quoted(name: &[u8], language: Language) -> String {
    let text = std::str::from_utf8(name);
    if text.is_ok_and(|text| text.chars().all(|c| c.is_ascii() && !c.is_ascii_control())) {
        let escaped = String::from_utf8_lossy(name).replace('\\', "\\\\").replace('\'', "\\'");
        return format!("'{escaped}'");
    }
    let mut out = String::from("\"");
    let plain = |c: char| c.is_ascii_alphanumeric() || ":_- ".contains(c);
    match text {
        Ok(text) => {
            for c in text.chars() {
                match (plain(c), language) {
                    (true, _) => out.push(c),
                    (false, Language::Perl) => out.push_str(&format!("\\x{{{:x}}}", u32::from(c))),
                    (false, _) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
                }
            }
        }
        Err(_) => {
            for byte in name {
                match plain(char::from(*byte)) {
                    true => out.push(char::from(*byte)),
                    false => out.push_str(&format!("\\x{byte:02x}")),
                }
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_each_language_does() {
        assert_eq!(quoted(b"My::Thing", Language::Perl), "'My::Thing'");
        assert_eq!(quoted(b"My\\Thing's", Language::Php), "'My\\\\Thing\\'s'");
        assert_eq!(quoted("Caf\u{e9}".as_bytes(), Language::Perl), "\"Caf\\x{e9}\"");
        assert_eq!(quoted("Caf\u{e9}".as_bytes(), Language::Ruby), "\"Caf\\u{e9}\"");
        assert_eq!(quoted(b"Caf\xe9", Language::Perl), "\"Caf\\xe9\"");
        assert_eq!(quoted(b"a\n$b", Language::Php), "\"a\\u{a}\\u{24}b\"");
    }
}
