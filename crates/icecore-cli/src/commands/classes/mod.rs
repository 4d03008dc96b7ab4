//! `icecore classes`

mod allow;
mod args;
mod packages;

pub use args::Classes;

use self::args::Language;
use self::packages::Packages;
use crate::arguments::Global;
use crate::paint::{Ink, Paint};
use crate::reading::{Detail, Reader};
use crate::report::{Abort, Report, code};
use crate::sink::Sink;
use icecore::{Document, Limits, deep, raw::Tape, value::ClassUse};
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The format of Ruby's dumps, in which some of Ruby's own classes need no list.
const MARSHAL: &str = "marshal";

/// What `--json` says.
#[derive(Serialize)]
struct Everything<'r> {
    classes: &'r [Row],
}

/// A class over all inputs, and the input in which it was met first.
#[derive(Serialize)]
struct Row {
    class: String,
    /// The bytes of a name that is not UTF-8, in hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    kind: &'static str,
    count: u64,
    path: String,
    file: String,
    #[serde(skip)]
    name: Name,
    /// Whether all inputs that name it are dumps of Ruby's Marshal.
    #[serde(skip)]
    is_marshal: bool,
}

/// The name of a class: in Perl, text and the bytes of its UTF-8 are two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Name {
    bytes: Vec<u8>,
    is_text: bool,
}

pub fn run(args: &Classes, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let packages = match (&args.composer, args.language) {
        (Some(folder), Some(Language::Laravel)) => Some(Packages::read(folder)?),
        (Some(_), _) => return Err(Abort::Failed(code::USAGE, "`--composer` is for `--as laravel`".to_owned())),
        (None, _) => None,
    };
    let reader = Reader::new(&args.from, &global.limit)?;
    let sources = args.inputs.sources(report)?;
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
        let is_marshal = opened.stage.format().of_document().name == MARSHAL;
        reader.documents(&name, &opened, Detail::No, report, |_, outcome, _, report| {
            // Of a document that breaks off, what is there counts as well.
            let (classes, tape) = classes(outcome.document, &name, args.deep, opened.limits(), report);
            for class in classes {
                add(class, &name, is_marshal, &mut rows, &mut known);
            }
            Ok(tape)
        })?;
    }
    rows.sort_by(|a: &Row, b: &Row| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
    let mut sink = Sink::report(args.json, global.color);
    match (args.json, args.language) {
        (true, _) => {
            sink.object(&Everything { classes: &rows })?;
        }
        (false, Some(language)) => {
            let (list, refused) = allow::list(&rows, language, packages.as_ref());
            sink.text(&list)?;
            for row in refused {
                report.fault(code::FINDING, &row.file, allow::refusal(row));
            }
        }
        (false, None) => {
            let paint = Paint::new(global.color, &std::io::stdout());
            // What could not be read may have classes.
            if !rows.is_empty() || !report.has_bad_inputs() {
                sink.text(&table(&rows, sources.len() > 1, paint))?;
            }
        }
    }
    sink.flush()
}

/// The classes of a document, and with `is_deep` those in its strings.
fn classes(
    document: Document<'_>,
    name: &str,
    is_deep: bool,
    limits: &Limits,
    report: &mut Report,
) -> (Vec<ClassUse>, Tape) {
    if !is_deep {
        if let Some((node, stage)) = deep::first(&document, limits) {
            report.nested(name, &document.path(node), &stage);
        }
        return (document.classes(), document.into_tape());
    }
    let plain = document.classes();
    match deep::open(document, limits) {
        Ok(deep) => {
            report.opened(name, &deep);
            (deep.document.classes(), deep.document.into_tape())
        }
        Err(error) => {
            report.unwritable(name, &error);
            (plain, Tape::new())
        }
    }
}

fn add(
    class: ClassUse,
    file: &str,
    is_marshal: bool,
    rows: &mut Vec<Row>,
    known: &mut HashMap<(Name, &'static str), usize>,
) {
    let ClassUse { name, is_text, kind, count, path, .. } = class;
    let name = Name { bytes: name, is_text };
    match known.entry((name.clone(), kind)) {
        Entry::Occupied(entry) => {
            let row: &mut Row = &mut rows[*entry.get()];
            row.count += count;
            row.is_marshal &= is_marshal;
        }
        Entry::Vacant(entry) => {
            entry.insert(rows.len());
            let class = String::from_utf8_lossy(&name.bytes).into_owned();
            let is_utf8 = std::str::from_utf8(&name.bytes).is_ok();
            let bytes = (!is_utf8).then(|| name.bytes.iter().map(|byte| format!("{byte:02x}")).collect());
            rows.push(Row { class, bytes, kind, count, path, file: file.to_owned(), name, is_marshal });
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
        let class = shown(class);
        let padding = names - class.chars().count();
        let class = paint.ink(Ink::Class, &class);
        let (file, path) = (icecore::text::printable(file), icecore::text::printable(path));
        let file = if with_files { format!("{file} ") } else { String::new() };
        text.push_str(&format!("{count:>counts$}  {kind:kinds$}  {class}{:padding$}  {file}{path}\n", ""));
    }
    text
}

/// The longest name that is shown in full; `--json` has all of it.
const NAME: usize = 160;

fn shown(class: &str) -> String {
    icecore::text::printable(&icecore::text::shortened(class, NAME)).into_owned()
}
