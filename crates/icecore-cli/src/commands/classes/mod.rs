//! `icecore classes`

mod allow;
mod args;
mod files;
mod packages;

pub use args::Classes;

use self::args::Language;
use self::files::FilesWithClass;
use self::packages::Packages;
use crate::arguments::Global;
use crate::document_reader::{Detail, DocumentReader};
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report, code};
use icecore::value::{ClassUse, CodeUse};
use icecore::{Document, Limits, deep, raw::Tape};
use icecore_tables::plural::format_count;
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The object that `--json` prints.
#[derive(Serialize)]
struct ClassesReport<'r> {
    classes: &'r [ClassRow],
    code: &'r [CodeRow],
}

/// All code, regexps with code, or ties in the inputs, and the input in which the first one occurs.
#[derive(Serialize)]
struct CodeRow {
    kind: &'static str,
    count: u64,
    path: String,
    file: String,
}

/// A class in all inputs, and the input in which it occurs first.
#[derive(Serialize)]
struct ClassRow {
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
    /// The language of all inputs that name it, if they have the same one.
    #[serde(skip)]
    language: Option<&'static str>,
}

/// The name of a class. In Perl, a text and the bytes of its UTF-8 are different names.
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
    let reader = DocumentReader::new(&args.from, &global.limits)?;
    reader.report_unused_options(report);
    let sources = args.inputs.find_sources(report)?;
    let (mut rows, mut code) = (Vec::new(), Vec::new());
    let mut row_indices = HashMap::new();
    let mut files_with_class = args.files_with.as_deref().map(FilesWithClass::new);
    for source in &sources {
        report.count_input();
        let name = source.name();
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.report_io_error(&name, &error);
                continue;
            }
        };
        let Some(input) = reader.unwrap_input(&name, &bytes, report) else { continue };
        let language = input.stage.format().of_document().language();
        reader.read_documents(&name, &input, Detail::No, report, |_, outcome, _, report| {
            // The readable part of a document that breaks off counts as well.
            let (names, tape) = list_names(outcome.document, &name, args.deep, input.limits(), report);
            for class in names.classes {
                if let Some(files) = &mut files_with_class {
                    files.examine(&class.name, &name);
                }
                add_class(class, &name, language, &mut rows, &mut row_indices);
            }
            for entry in names.code {
                add_code(entry, &name, &mut code);
            }
            Ok(tape)
        })?;
    }
    rows.sort_by(|a: &ClassRow, b: &ClassRow| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
    let mut writer = OutputWriter::for_report(args.json, global.color);
    if let Some(files) = files_with_class {
        files.write(&mut writer, report)?;
        return writer.flush();
    }
    match (args.json, args.language) {
        (true, _) => {
            writer.write_object(&ClassesReport { classes: &rows, code: &code })?;
        }
        (false, Some(language)) => {
            if let Some(sentence) = allow::remove_foreign_classes(&mut rows, language) {
                report.report_command_note("foreign", sentence);
            }
            let list = allow::build_allow_list(&rows, language, packages.as_ref());
            writer.write_text(&list.text)?;
            for row in list.refused_classes {
                report.report_fault(code::FINDING, &row.file, allow::refusal_message(row));
            }
            for sentence in allow::explain_omissions(&list.omitted_classes) {
                report.report_command_note("omitted", sentence);
            }
            for CodeRow { kind, count, path, file } in &code {
                let times = format_count(*count, "time", "times");
                report.report_note(
                    file,
                    "omitted",
                    format!("{kind} ({times}, first at {path}) is not a class: no list has it"),
                );
            }
        }
        (false, None) => {
            let paint = Paint::new(global.color, &std::io::stdout());
            // If there are no rows but unreadable inputs, "no classes" is not printed, because those may contain
            // classes.
            if !rows.is_empty() || !code.is_empty() || !report.has_undecodable_inputs() {
                writer.write_text(&format_table(&rows, &code, sources.len() > 1, paint))?;
            }
        }
    }
    writer.flush()
}

/// The classes and code that a document names.
struct NamedClasses {
    classes: Vec<ClassUse>,
    code: Vec<CodeUse>,
}

impl NamedClasses {
    fn from_document(document: &Document<'_>) -> NamedClasses {
        NamedClasses { classes: document.classes(), code: document.code() }
    }
}

/// Returns the classes and code that a document names and, with `is_deep`, also those of frozen data in its strings.
fn list_names(
    document: Document<'_>,
    name: &str,
    is_deep: bool,
    limits: &Limits,
    report: &mut Report,
) -> (NamedClasses, Tape) {
    let names = NamedClasses::from_document(&document);
    if !is_deep {
        if let Some((node, stage)) = deep::first(&document, limits) {
            report.report_nested(name, &document.path(node), &stage);
        }
        return (names, document.into_tape());
    }
    match deep::open(document, limits) {
        Ok(deep) => {
            report.report_opened_strings(name, &deep);
            (NamedClasses::from_document(&deep.document), deep.document.into_tape())
        }
        Err(error) => {
            report.report_unwritable(name, &error);
            (names, Tape::new())
        }
    }
}

fn add_code(code: CodeUse, file: &str, rows: &mut Vec<CodeRow>) {
    let CodeUse { kind, count, path } = code;
    match rows.iter_mut().find(|row| row.kind == kind) {
        Some(row) => row.count += count,
        None => rows.push(CodeRow { kind, count, path, file: file.to_owned() }),
    }
}

/// Adds a use of a class to the row of this class and kind, or adds a new row. `row_indices` has the index of each
/// row.
fn add_class(
    class: ClassUse,
    file: &str,
    language: Option<&'static str>,
    rows: &mut Vec<ClassRow>,
    row_indices: &mut HashMap<(Name, &'static str), usize>,
) {
    let ClassUse { name, is_text, kind, count, path, .. } = class;
    let name = Name { bytes: name, is_text };
    match row_indices.entry((name.clone(), kind)) {
        Entry::Occupied(entry) => {
            let row: &mut ClassRow = &mut rows[*entry.get()];
            row.count += count;
            row.language = row.language.filter(|known| Some(*known) == language);
        }
        Entry::Vacant(entry) => {
            entry.insert(rows.len());
            let class = String::from_utf8_lossy(&name.bytes).into_owned();
            let is_utf8 = std::str::from_utf8(&name.bytes).is_ok();
            let bytes = (!is_utf8).then(|| name.bytes.iter().map(|byte| format!("{byte:02x}")).collect());
            rows.push(ClassRow { class, bytes, kind, count, path, file: file.to_owned(), name, language });
        }
    }
}

/// Returns the table of all classes and code for people, or "no classes".
fn format_table(rows: &[ClassRow], code: &[CodeRow], has_file_column: bool, paint: Paint) -> String {
    struct Line<'r> {
        count: u64,
        kind: &'r str,
        class: String,
        path: &'r str,
        file: &'r str,
    }
    let classes = rows.iter().map(|row| Line {
        count: row.count,
        kind: row.kind,
        class: display_name(&row.class),
        path: &row.path,
        file: &row.file,
    });
    // These rows have no class; code that has a class has a row of its own.
    let code = code.iter().map(|row| Line {
        count: row.count,
        kind: row.kind,
        class: "-".to_owned(),
        path: &row.path,
        file: &row.file,
    });
    let lines: Vec<_> = classes.chain(code).collect();
    if lines.is_empty() {
        return "no classes\n".to_owned();
    }
    let count_width = lines.iter().map(|line| line.count.to_string().len()).max().unwrap_or(0).max("COUNT".len());
    let kind_width = lines.iter().map(|line| line.kind.len()).max().unwrap_or(0).max("KIND".len());
    let name_width = lines.iter().map(|line| line.class.chars().count()).max().unwrap_or(0).max("CLASS".len());
    let header = format!("{:>count_width$}  {:kind_width$}  {:name_width$}  FIRST AT", "COUNT", "KIND", "CLASS");
    let mut text = format!("{}\n", paint.ink(Ink::Faint, header));
    for Line { count, kind, class, path, file } in lines {
        let padding = name_width - class.chars().count();
        let class = paint.ink(Ink::Class, &class);
        let (file, path) = (icecore::text::printable(file), icecore::text::printable(path));
        let file = if has_file_column { format!("{file} ") } else { String::new() };
        text.push_str(&format!("{count:>count_width$}  {kind:kind_width$}  {class}{:padding$}  {file}{path}\n", ""));
    }
    text
}

/// Maximum length of a name in a table; `--json` has the full name.
const MAX_DISPLAYED_LEN: usize = 160;

fn display_name(class: &str) -> String {
    icecore::text::printable(&icecore::text::shortened(class, MAX_DISPLAYED_LEN)).into_owned()
}
