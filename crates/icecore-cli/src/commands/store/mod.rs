//! `icecore store`: frozen objects in a database.

mod args;
mod copy;
mod put;
mod raw;
mod row;
mod walk;

pub use args::{Store, StoreAction};

use crate::arguments::Global;
use crate::database::{current_user_name, database_error};
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report, code};
use crate::terminal;
use args::{GetObject, Index, Rm, StoreStats};
use icecore::{Converter, Limits, Stage};
use icecore_store::{Backend, Object, ObjectStats, describe, time};
use row::ObjectRow;
use serde::Serialize;

pub fn run(args: &Store, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let database = &args.database;
    let mut store = if args.action.needs_data() { database.open_existing()? } else { database.open()? };
    let store = store.as_mut();
    match &args.action {
        StoreAction::Put(put) => put::store_files(put, store, global, report),
        StoreAction::Get(get) => print_object(get, store, global, report),
        StoreAction::Each(each) if each.bytes.is_some() => raw::print_raw_objects(each, store),
        StoreAction::Each(each) => walk::print_objects(each, store, global, report),
        StoreAction::Find(find) => walk::find_objects(find, store, global, report),
        StoreAction::Rm(rm) => remove_objects(rm, store, report),
        StoreAction::Expire => {
            let count = store.remove_expired().map_err(database_error)?;
            print_count(count, "object", "taken away")
        }
        StoreAction::Stats(stats) => print_store_stats(stats, store, global),
        StoreAction::Index(index) => create_or_list_indexes(index, store),
        StoreAction::Copy(copy) => copy::run(copy, store),
    }
}

/// Prints the number of processed items: `3 objects copied`.
fn print_count(count: u64, noun: &str, participle: &str) -> Result<(), Abort> {
    let mut writer = OutputWriter::stdout();
    let plural = if count == 1 { "" } else { "s" };
    writer.write_text(&format!("{count} {noun}{plural} {participle}\n"))?;
    writer.flush()
}

/// Returns the object with this id or key.
fn find_object(store: &mut dyn Backend, name: &str) -> Result<Object, Abort> {
    let by_id = match name.parse() {
        Ok(id) => store.object(id).map_err(database_error)?,
        Err(_) => None,
    };
    let object = match by_id {
        Some(object) => Some(object),
        None => store.object_named(name).map_err(database_error)?,
    };
    object.ok_or_else(|| {
        Abort::Failed(
            code::FINDING,
            format!("there is no object with the id or key {}", icecore::text::printable(name)),
        )
    })
}

/// Prints one object: as a line of JSON, as its bytes, or converted to another format.
fn print_object(args: &GetObject, store: &mut dyn Backend, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let to = args.to.as_deref().map(mistakes::target_stage).transpose()?;
    let object = find_object(store, &args.id)?;
    if args.json {
        let mut decoder = describe::Decoder::default();
        let object = object.to_lent();
        let (row, _) = ObjectRow::from_object(&object, &mut decoder);
        let mut writer = OutputWriter::json_to_stdout(global.color);
        writer.write_object(&row)?;
        return writer.flush();
    }
    let mut writer = OutputWriter::stdout();
    let from = object.format.as_deref();
    let Some(mut to) = to else {
        if terminal::is_stdout_terminal() {
            // An object without a known format may be binary.
            let stage = from.and_then(|format| Stage::parse(format).ok());
            match stage {
                Some(stage) => terminal::check_not_binary(&stage, args.force)?,
                None if args.force => {}
                None => {
                    let text = "the object can't be decoded: write it to a file, or add `--force`";
                    return Err(Abort::Failed(code::USAGE, text.to_owned()));
                }
            }
        }
        if !args.force {
            writer.escape_controls();
        }
        writer.write_bytes(&object.bytes)?;
        return writer.flush();
    };
    let Some(from) = from else {
        let problem = object.problem.as_deref().unwrap_or("its format is not known");
        return Err(Abort::Failed(code::INPUT, format!("the object can't be decoded: {problem}")));
    };
    let usage_failure = |error: icecore::Error| Abort::Failed(code::USAGE, error.to_string());
    if terminal::is_stdout_terminal() {
        terminal::check_not_binary(&to, args.force)?;
        to = terminal::with_indented_json(to);
        if terminal::writes_json(&to) {
            writer.paint_json(global.color);
        } else if !args.force {
            writer.escape_controls();
        }
    }
    let writes_json = terminal::writes_json(&to);
    let limits: &Limits = &global.limits;
    let mut out = Vec::new();
    let converted =
        Converter::new(Stage::parse(from).map_err(usage_failure)?, to).limited(limits).convert(&object.bytes, &mut out);
    let losses = converted.written.map_err(|error| Abort::Failed(code::INPUT, error.to_string()))?;
    report.report_or_refuse_losses(&args.id, &losses, args.strict);
    if args.strict && !losses.is_empty() {
        return Ok(());
    }
    writer.write_bytes(&out)?;
    if !writer.is_at_line_start() && (terminal::is_stdout_terminal() || writes_json) {
        writer.write_text("\n")?;
    }
    writer.flush()
}

fn remove_objects(args: &Rm, store: &mut dyn Backend, report: &mut Report) -> Result<(), Abort> {
    for name in &args.ids {
        // An id that does not exist may be a key.
        let id = match name.parse() {
            Ok(id) if store.object(id).map_err(database_error)?.is_some() => Some(id),
            _ => store.object_named(name).map_err(database_error)?.map(|object| object.id),
        };
        let count = match id {
            Some(id) => store.remove(&[id], &current_user_name()).map_err(database_error)?,
            None => 0,
        };
        if count == 0 {
            report.report_fault(code::FINDING, name, "there is no object with this id or key");
        }
    }
    Ok(())
}

fn create_or_list_indexes(args: &Index, store: &mut dyn Backend) -> Result<(), Abort> {
    let Some(path) = &args.path else {
        let mut writer = OutputWriter::stdout();
        for path in store.indexes().map_err(database_error)? {
            writer.write_text(&format!("{}\n", icecore::text::printable(&path)))?;
        }
        return writer.flush();
    };
    store.index(&mistakes::rooted_path(path)?).map_err(database_error)
}

/// The statistics as `store stats --json` prints them.
#[derive(Serialize)]
struct StoreNumbers {
    objects: u64,
    bytes: u64,
    quarantined: u64,
    first: Option<String>,
    last: Option<String>,
    formats: Vec<NamedCount>,
    classes: Vec<NamedCount>,
}

#[derive(Serialize)]
struct NamedCount {
    name: Option<String>,
    count: u64,
}

fn print_store_stats(args: &StoreStats, store: &mut dyn Backend, global: &Global) -> Result<(), Abort> {
    let stats = store.object_stats().map_err(database_error)?;
    let mut writer = OutputWriter::for_report(args.json, global.color);
    if args.json {
        let to_named_count = |(name, count)| NamedCount { name, count };
        writer.write_object(&StoreNumbers {
            objects: stats.count,
            bytes: stats.bytes,
            quarantined: stats.quarantined,
            first: stats.first_at.map(time::format_utc),
            last: stats.last_at.map(time::format_utc),
            formats: stats.formats.into_iter().map(to_named_count).collect(),
            classes: stats.classes.into_iter().map(|(name, count)| to_named_count((Some(name), count))).collect(),
        })?;
    } else {
        writer.write_text(&format_stats(&stats, Paint::new(global.color, &std::io::stdout())))?;
    }
    writer.flush()
}

fn format_stats(stats: &ObjectStats, paint: Paint) -> String {
    let group_digits = icecore_tables::plural::group_digits;
    let format_time = |time: Option<i64>| time.map_or_else(|| "-".to_owned(), time::format_utc);
    let mut text = format!(
        "objects      {}\nbytes        {}\nquarantined  {}\nfirst        {}\nlast         {}\n",
        group_digits(stats.count),
        group_digits(stats.bytes),
        group_digits(stats.quarantined),
        format_time(stats.first_at),
        format_time(stats.last_at)
    );
    let classes = stats.classes.iter().map(|(name, count)| ("class", name.as_str(), *count));
    let formats = stats.formats.iter().map(|(name, count)| ("format", name.as_deref().unwrap_or("(none)"), *count));
    for (kind, name, count) in formats.chain(classes) {
        text.push_str(&format!("{kind:6} {:>12}  {}\n", group_digits(count), paint.ink(Ink::Class, name)));
    }
    text
}
