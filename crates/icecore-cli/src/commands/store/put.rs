//! `store put`: stores files, or the records in them.

use super::args::Put;
use crate::arguments::Global;
use crate::database::failed;
use crate::mistakes;
use crate::progress;
use crate::records::{Cut, Frame};
use crate::report::{Abort, Report, code};
use crate::sink::Sink;
use crate::source::Source;
use icecore::Stage;
use icecore_store::{Backend, NewObject, describe};
use icecore_tables::window::{CHUNK, Window};
use serde::Serialize;

/// Number of bytes and of objects that are stored at once.
const GROUP: usize = 8 << 20;
const MANY: usize = 10_000;

pub fn files(args: &Put, store: &mut dyn Backend, global: &Global, report: &mut Report) -> Result<(), Abort> {
    mistakes::refuse_frame_as_file(args.each, &args.files)?;
    let stage = args.format.as_deref().map(mistakes::stage).transpose()?;
    let sources = Source::all(&args.files, report);
    if args.key.is_some() && sources.len() != 1 {
        let text = format!("--key names one object, and there are {}", sources.len());
        return Err(Abort::Failed(code::USAGE, text));
    }
    let expires_at = match args.expires {
        Some(time) => {
            let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
            Some(store.now().map_err(failed)?.saturating_add(time))
        }
        None => None,
    };
    let sink = Sink::report(args.json, global.color);
    let mut group = Group { args, expires_at, store, sink, size: 0, waiting: Vec::new() };
    for source in &sources {
        report.input();
        let name = source.name();
        match args.each {
            Some(frame) => records(source, frame, stage.as_ref(), global, &mut group, report)?,
            None => match source.read() {
                Ok(bytes) => group.add(&name, bytes.to_vec(), report)?,
                Err(error) => report.io(&name, &error),
            },
        }
    }
    group.store()?;
    group.sink.flush()
}

/// Stores the records of a file. After a broken record the next one is not searched for; the records before it are
/// stored.
fn records(
    source: &Source,
    frame: Frame,
    stage: Option<&Stage>,
    global: &Global,
    group: &mut Group<'_>,
    report: &mut Report,
) -> Result<(), Abort> {
    let name = source.name();
    let window = match source.open() {
        Ok(from) => Window::new(from, CHUNK),
        Err(error) => {
            report.io(&name, &error);
            return Ok(());
        }
    };
    let mut cut = Cut::new(window, frame, stage, group.args.max_record, &global.limit)?;
    let mut count = 0;
    loop {
        match cut.next() {
            Ok(Some(bytes)) => group.add(&format!("{name}, record {}", count + 1), bytes, report)?,
            Ok(None) => return Ok(()),
            Err(wrong) => {
                group.store()?;
                wrong.tell(&name, &cut, report);
                return Ok(());
            }
        }
        count += 1;
        progress::count(count);
    }
}

/// Objects that are stored together.
struct Group<'g> {
    args: &'g Put,
    expires_at: Option<i64>,
    store: &'g mut dyn Backend,
    sink: Sink,
    /// Number of bytes of the waiting objects.
    size: usize,
    /// The waiting objects, with the names of their sources.
    waiting: Vec<(String, NewObject)>,
}

/// An object as `store put --json` prints it.
#[derive(Serialize)]
struct Stored<'s> {
    id: String,
    file: &'s str,
    format: Option<&'s str>,
    class: Option<&'s str>,
    checksum: &'s str,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'s str>,
}

impl Group<'_> {
    fn add(&mut self, name: &str, bytes: Vec<u8>, report: &Report) -> Result<(), Abort> {
        self.size += bytes.len();
        let mut object = describe::object(bytes, self.args.format.as_deref());
        if let Some(problem) = &object.said.problem {
            report.note(name, "quarantined", format!("stored and marked, because it can't be decoded: {problem}"));
        }
        object.key.clone_from(&self.args.key);
        (object.expires_at, object.as_base64) = (self.expires_at, self.args.base64);
        self.waiting.push((name.to_owned(), object));
        if self.size >= GROUP || self.waiting.len() >= MANY { self.store() } else { Ok(()) }
    }

    /// Stores the waiting objects, and prints their ids.
    fn store(&mut self) -> Result<(), Abort> {
        self.size = 0;
        let (names, objects): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting).into_iter().unzip();
        let ids = self.store.put(&objects).map_err(failed)?;
        for ((id, name), object) in ids.iter().zip(&names).zip(&objects) {
            if !self.args.json {
                self.sink.text(&format!("{id}\n"))?;
                continue;
            }
            let said = &object.said;
            self.sink.object(&Stored {
                id: id.to_string(),
                file: name,
                format: said.format.as_deref(),
                class: said.class.as_deref(),
                checksum: &said.checksum,
                size: object.bytes.len(),
                problem: said.problem.as_deref(),
            })?;
        }
        Ok(())
    }
}
