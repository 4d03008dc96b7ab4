//! `store put`: stores files, or the records in them.

use super::args::Put;
use crate::arguments::Global;
use crate::database::database_error;
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::progress;
use crate::records::{Framing, RecordSplitter};
use crate::report::{Abort, Report, code};
use crate::source::Source;
use icecore::Stage;
use icecore_store::{Backend, NewObject, describe};
use icecore_tables::form::NDJSON;
use icecore_tables::window::{CHUNK, Window};
use serde::Serialize;

/// The waiting objects are stored once they have this many bytes.
const MAX_GROUP_LEN: usize = 8 << 20;
/// Maximum number of objects that are stored at once.
const MAX_GROUP_OBJECTS: usize = 10_000;

pub fn store_files(args: &Put, store: &mut dyn Backend, global: &Global, report: &mut Report) -> Result<(), Abort> {
    mistakes::refuse_framing_as_file(args.each, &args.files)?;
    let stage = args.format.as_deref().map(mistakes::stage).transpose()?;
    if let ([first, second], None) = (&args.files[..], &args.key)
        && !first.exists()
        && second.exists()
    {
        let name = icecore::text::printable(&first.to_string_lossy()).into_owned();
        let text = format!("{name}: this is not a file; `--key {name}` gives an object this key");
        return Err(Abort::Failed(code::USAGE, text));
    }
    let sources = Source::find_all(&args.files, report);
    if args.key.is_some() && sources.len() != 1 {
        let text = format!("--key names one object, and there are {}", sources.len());
        return Err(Abort::Failed(code::USAGE, text));
    }
    let expires_at = match args.expires {
        Some(duration) => {
            let duration = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
            Some(store.now().map_err(database_error)?.saturating_add(duration))
        }
        None => None,
    };
    let writer = OutputWriter::for_report(args.json, global.color);
    let mut group = ObjectGroup { args, expires_at, store, writer, size: 0, waiting_objects: Vec::new() };
    for source in &sources {
        report.count_input();
        let name = source.name();
        match args.each {
            Some(framing) => store_records(source, framing, stage.as_ref(), global, &mut group, report)?,
            None => match source.read() {
                Ok(bytes) => group.add_object(&name, bytes.to_vec(), report)?,
                Err(error) => report.report_io_error(&name, &error),
            },
        }
    }
    group.store_waiting_objects()?;
    group.writer.flush()
}

/// Stores the records of a file. A broken record ends the file; the records before it are stored.
fn store_records(
    source: &Source,
    framing: Framing,
    stage: Option<&Stage>,
    global: &Global,
    group: &mut ObjectGroup<'_>,
    report: &mut Report,
) -> Result<(), Abort> {
    let name = source.name();
    let window = match source.open() {
        Ok(from) => Window::new(from, CHUNK),
        Err(error) => {
            report.report_io_error(&name, &error);
            return Ok(());
        }
    };
    let mut splitter = RecordSplitter::new(window, framing, stage, group.args.max_record, &global.limits)?;
    let mut count = 0;
    loop {
        match splitter.next_record() {
            Ok(Some(bytes)) => group.add_object(&format!("{name}, record {}", count + 1), bytes, report)?,
            Ok(None) => return Ok(()),
            Err(error) => {
                group.store_waiting_objects()?;
                error.report_error(&name, &splitter, report);
                return Ok(());
            }
        }
        count += 1;
        progress::set_record_count(count);
    }
}

/// Objects that are stored together.
struct ObjectGroup<'g> {
    args: &'g Put,
    expires_at: Option<i64>,
    store: &'g mut dyn Backend,
    writer: OutputWriter,
    /// Number of bytes of the waiting objects.
    size: usize,
    /// The waiting objects, with the names of their sources.
    waiting_objects: Vec<(String, NewObject)>,
}

/// An object as `store put --json` prints it.
#[derive(Serialize)]
struct StoredObject<'s> {
    id: String,
    file: &'s str,
    format: Option<&'s str>,
    class: Option<&'s str>,
    checksum: &'s str,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'s str>,
}

impl ObjectGroup<'_> {
    /// Adds an object, and stores the group if it is large enough.
    fn add_object(&mut self, name: &str, bytes: Vec<u8>, report: &Report) -> Result<(), Abort> {
        self.size += bytes.len();
        let mut object = describe::describe_object(bytes, self.args.format.as_deref());
        if let Some(problem) = &object.description.problem {
            report.report_note(
                name,
                "quarantined",
                format!("stored and marked, because it can't be decoded: {problem}"),
            );
        }
        if self.args.each.is_none() && object.description.format.as_deref() == Some(NDJSON) {
            let text = "stored as one object, a list of its lines: --each=lines stores an object for each line";
            report.report_note(name, "lines", text.to_owned());
        }
        object.key.clone_from(&self.args.key);
        (object.expires_at, object.as_base64) = (self.expires_at, self.args.base64);
        self.waiting_objects.push((name.to_owned(), object));
        if self.size >= MAX_GROUP_LEN || self.waiting_objects.len() >= MAX_GROUP_OBJECTS {
            self.store_waiting_objects()
        } else {
            Ok(())
        }
    }

    /// Stores the waiting objects, and prints their ids.
    fn store_waiting_objects(&mut self) -> Result<(), Abort> {
        self.size = 0;
        let (names, objects): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting_objects).into_iter().unzip();
        let ids = self.store.put(&objects).map_err(|error| put_error(error, self.args.key.as_deref()))?;
        for ((id, name), object) in ids.iter().zip(&names).zip(&objects) {
            if !self.args.json {
                self.writer.write_text(&format!("{id}\n"))?;
                continue;
            }
            let description = &object.description;
            self.writer.write_object(&StoredObject {
                id: id.to_string(),
                file: name,
                format: description.format.as_deref(),
                class: description.class.as_deref(),
                checksum: &description.checksum,
                size: object.bytes.len(),
                problem: description.problem.as_deref(),
            })?;
        }
        Ok(())
    }
}

/// Returns an error of the database. If the key exists already, advice is added.
fn put_error(error: icecore_store::Error, key: Option<&str>) -> Abort {
    match (error.kind(), key) {
        (icecore_store::ErrorKind::Taken, Some(key)) => {
            let key = icecore::text::printable(key);
            let advice = format!("`icecore store find --key {key}` shows it, and `icecore store rm ID` removes it");
            Abort::Failed(code::OTHER, format!("{error}; {advice}"))
        }
        _ => database_error(error),
    }
}
