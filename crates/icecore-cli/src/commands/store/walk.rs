//! `store each` and `store find`: print objects.

use super::args::{Each, FilterArgs, Find};
use super::find_object;
use super::row::{self, ObjectRow};
use crate::arguments::Global;
use crate::database::database_error;
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::paint::Paint;
use crate::progress;
use crate::report::{Abort, Report, code};
use crate::shell_words::quote_for_shell;
use crate::tty;
use icecore_store::describe::Decoder;
use icecore_store::{Backend, ErrorKind, Flow, Id, LentObject, ObjectFilter};

/// Terminals with fewer columns show two lines for each object.
const MIN_ONE_LINE_WIDTH: usize = 160;

/// Maximum number of objects that are requested from the database at once.
pub const MAX_PAGE_LEN: usize = 1_000;

pub fn print_objects(args: &Each, store: &mut dyn Backend, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let after = start_sequence(args, store)?;
    print_matching_objects(&args.filter, None, after, store, global, report).map(drop)
}

/// Returns the sequence number after which the listing begins.
pub fn start_sequence(args: &Each, store: &mut dyn Backend) -> Result<i64, Abort> {
    let Some(id) = args.after else { return Ok(0) };
    let missing_error = || Abort::Failed(code::FINDING, format!("there is no object {id}"));
    Ok(store.object(id).map_err(database_error)?.ok_or_else(missing_error)?.sequence)
}

/// Returns the filter for the store. `path_value` is a path, and the value that objects must have there.
pub fn to_object_filter(filter: &FilterArgs, path_value: Option<(String, String)>) -> ObjectFilter {
    ObjectFilter {
        class: filter.class.clone(),
        path_value,
        quarantined: filter.quarantined.then_some(true),
        before: None,
    }
}

/// Returns the error for a comparison other than equality. `path` is what precedes its operator.
fn comparison_error(comparison: &str, path: &str) -> Abort {
    // A filter of `query` has no `$`: `$.user.age` is `.value.user.age` of an object that `store each` prints.
    let rest = comparison.get(path.len()..).unwrap_or_default().trim();
    let path = path.trim().trim_start_matches('$').trim_start_matches('.');
    let filter = format!("select(.value.{path} {rest})");
    let filter = quote_for_shell(&filter);
    let text = format!(
        "`store find` finds equal values only; a filter compares: icecore store each --json | icecore query -c --each {filter}"
    );
    Abort::Failed(code::USAGE, text)
}

/// Prints the objects with a key, with a value at a path, with a class, or in quarantine.
pub fn find_objects(args: &Find, store: &mut dyn Backend, global: &Global, report: &mut Report) -> Result<(), Abort> {
    if let Some(key) = &args.key {
        let object = find_object(store, key)?;
        let mut printer = ObjectPrinter::new(args.filter.json, global);
        printer.print_object(&object.to_lent())?;
        return printer.writer.flush();
    }
    let path_value = match (&args.path, &args.value) {
        (Some(path), Some(value)) => Some((mistakes::rooted_path(path)?, value.clone())),
        (Some(assignment), None) => {
            if let Some(comparison) = assignment.split_once(['<', '>']) {
                return Err(comparison_error(assignment, comparison.0));
            }
            let Some((path, value)) = assignment.split_once('=') else {
                return Err(Abort::Failed(
                    code::USAGE,
                    format!("the value is missing: `icecore store find '{assignment}' VALUE`"),
                ));
            };
            if let Some(path) = path.strip_suffix('!') {
                return Err(comparison_error(assignment, path));
            }
            // `==` is how filters compare.
            let value = value.strip_prefix('=').unwrap_or(value);
            Some((mistakes::rooted_path(path.trim())?, value.trim().to_owned()))
        }
        _ => None,
    };
    if path_value.is_none() && args.filter.class.is_none() && !args.filter.quarantined {
        let text = "nothing to search for: use a path and a value, --class, --key or --quarantined; `icecore store each` lists all objects";
        return Err(Abort::Failed(code::USAGE, text.to_owned()));
    }
    let advice = path_value.as_ref().map(|(_, value)| unmatched_value_advice(value));
    if print_matching_objects(&args.filter, path_value, 0, store, global, report)? == 0 {
        report.raise_exit_code(code::FINDING);
        let advice = advice.unwrap_or_else(|| "; names of classes are compared exactly".to_owned());
        report.report_command_note("found", format!("no object matches{advice}"));
    }
    Ok(())
}

/// Returns advice for a value that no object has.
fn unmatched_value_advice(value: &str) -> String {
    let quoted_text = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match quoted_text {
        Some(text) if text.parse::<f64>().is_ok() => format!("; {value} is a text, and {text} is a number"),
        None if value.parse::<f64>().is_ok() => format!("; {value} is a number, and '\"{value}\"' is a text"),
        _ => "; `icecore store each --json` shows the values".to_owned(),
    }
}

/// Prints one object after another.
struct ObjectPrinter {
    writer: OutputWriter,
    is_json: bool,
    /// Whether the terminal has too few columns for a row on one line.
    is_narrow: bool,
    paint: Paint,
    decoder: Decoder,
    count: u64,
}

impl ObjectPrinter {
    fn new(is_json: bool, global: &Global) -> ObjectPrinter {
        let paint = Paint::new(global.color, &std::io::stdout());
        let mut writer = OutputWriter::stdout();
        if is_json {
            writer.paint_json(global.color);
        }
        let is_narrow = tty::stdout_width().is_some_and(|width| width < MIN_ONE_LINE_WIDTH);
        ObjectPrinter { writer, is_json, is_narrow, paint, decoder: Decoder::default(), count: 0 }
    }

    /// Prints an object. Returns the problem of an object that can't be decoded and is not marked yet.
    fn print_object(&mut self, object: &LentObject<'_>) -> Result<Option<String>, Abort> {
        let problem = if self.is_json {
            let result = row::push_line(object, &mut self.decoder, self.writer.buffer_mut());
            result.map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?
        } else {
            let (row, problem) = ObjectRow::from_object(object, &mut self.decoder);
            if self.count == 0 {
                self.writer.write_text(&row::format_header(self.paint, self.is_narrow))?;
            }
            self.writer.write_text(&row.format_row(self.paint, self.is_narrow))?;
            problem
        };
        self.count += 1;
        self.writer.release_record()?;
        Ok(problem)
    }
}

/// Prints all matching objects, and returns their number. Objects that turn out to be undecodable are marked.
fn print_matching_objects(
    filter: &FilterArgs,
    path_value: Option<(String, String)>,
    mut last_sequence: i64,
    store: &mut dyn Backend,
    global: &Global,
    report: &mut Report,
) -> Result<u64, Abort> {
    progress::begin_input("objects");
    let mut printer = ObjectPrinter::new(filter.json, global);
    let object_filter = to_object_filter(filter, path_value);
    let mut remaining = filter.items.unwrap_or(u64::MAX);
    while remaining > 0 {
        let (mut count, mut stop_reason) = (0, None);
        let mut undecodable: Vec<(Id, String)> = Vec::new();
        let page_len = usize::try_from(remaining).unwrap_or(MAX_PAGE_LEN).min(MAX_PAGE_LEN);
        let page_result = store.walk(last_sequence, page_len, &object_filter, &mut |object| {
            (count, last_sequence) = (count + 1, object.sequence);
            match printer.print_object(&object) {
                Ok(problem) => undecodable.extend(problem.map(|problem| (object.id, problem))),
                Err(abort) => {
                    stop_reason = Some(abort);
                    return Ok(Flow::Stop);
                }
            }
            Ok(Flow::Continue)
        });
        if let Some(abort) = stop_reason {
            return Err(abort);
        }
        page_result.map_err(database_error)?;
        for (id, problem) in undecodable {
            report.report_fault(code::INPUT, &id.to_string(), format!("can't be decoded, and is marked: {problem}"));
            match store.quarantine(id, &problem) {
                Err(error) if error.kind() != ErrorKind::Missing => return Err(database_error(error)),
                _ => {}
            }
        }
        remaining -= count as u64;
        progress::set_record_count(printer.count);
        if count < page_len {
            break;
        }
    }
    printer.writer.flush()?;
    Ok(printer.count)
}
