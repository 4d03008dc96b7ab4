//! `icecore convert`

mod args;
mod each;
mod partial;

use crate::class_map;
pub use args::Convert;

use crate::arguments::Global;
use crate::mistakes;
use crate::reading::{self, Detail, Opened, Reader};
use crate::records::reported::write_summary;
use crate::report::{Abort, Report, usage};
use crate::sink::Sink;
use crate::source::Source;
use crate::stream::{self, Streamed};
use crate::target::{Destination, Folder, Outputs, Target, format};
use crate::terminal;
use icecore::{Document, Error, ErrorKind, Stage, deep, raw::Tape};
use icecore_tables::tally::Tally;
use std::cell::RefCell;
use std::sync::OnceLock;

pub fn run(args: &Convert, global: &Global, report: &mut Report) -> Result<(), Abort> {
    mistakes::refuse_frame_as_file(args.each, &args.inputs.files)?;
    let sources = args.inputs.sources(report)?;
    let reader = Reader::of(&args.from, args.each, &global.limit)?;
    let streams = !args.strict && (sources.len() == 1 || args.written.out_dir.is_some());
    report.is_strict = args.strict;
    let mut outputs = Outputs::new(&sources, args.force);
    let summary = args.summary.as_ref().map(|path| outputs.place(path)).transpose()?;
    let place = match args.written.out_dir {
        Some(_) => None,
        None => Some(outputs.output(args.written.output.as_ref())?),
    };
    let is_shown = matches!(place, Some(Destination::Stdout)) && terminal::is_stdout();
    let mut to = target_stage(args)?;
    if is_shown {
        terminal::refuse_binary(&to, args.force)?;
        if args.each.is_none() {
            to = terminal::laid_out(to);
        }
    }
    let job = Conversion { reader, to, is_shown, args, global, streams, tallies: RefCell::default() };
    match (place, &args.written.out_dir) {
        (Some(place), _) => job.all_to_one(place, &sources, report)?,
        (None, Some(folder)) => job.each_to_folder(&mut Folder::new(folder, outputs, &sources), &sources, report)?,
        (None, None) => {}
    }
    summary.map_or(Ok(()), |place| write_summary(place, &job.tallies.borrow()))
}

fn target_stage(args: &Convert) -> Result<Stage, Abort> {
    let to = format::target(args.to.as_deref(), args.written.output.as_deref());
    let mut stage = mistakes::target_stage(&to)?;
    reading::set(&mut stage, &args.to_options).map_err(usage)?;
    class_map::set(&mut stage, &args.class_map)?;
    Ok(stage)
}

struct Conversion<'a> {
    reader: Reader<'a>,
    to: Stage,
    args: &'a Convert,
    global: &'a Global,
    /// Whether the output goes to a terminal.
    is_shown: bool,
    /// Whether output may begin before the input is known to be good: only if no other output follows a half-written
    /// document.
    streams: bool,
    /// The counts of the records of each input.
    tallies: RefCell<Vec<Tally>>,
}

impl Conversion<'_> {
    /// Writes all to the standard output or to one file.
    fn all_to_one(&self, place: Destination, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
        let mut target = Target::new(place)?;
        if self.is_shown && terminal::is_json(&self.to) {
            target.sink.paint_json(self.global.color);
        } else if self.is_shown && !self.args.force {
            target.sink.tame();
        }
        for source in sources {
            self.source(source, &mut target.sink, report)?;
        }
        // If no document was converted, no file appears.
        if target.is_file() && target.sink.documents() == 0 { Ok(()) } else { target.keep() }
    }

    /// Writes each input to a file of its own.
    fn each_to_folder(&self, folder: &mut Folder, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
        for source in sources {
            match folder.target(source, &self.to.extension()) {
                Ok(mut target) => {
                    if self.source(source, &mut target.sink, report)? {
                        target.keep()?;
                    }
                }
                Err(Abort::Failed(code, message)) => report.fault(code, &source.name(), message),
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Converts an input; returns whether all of it was written.
    fn source(&self, source: &Source, sink: &mut Sink, report: &mut Report) -> Result<bool, Abort> {
        report.input();
        let name = source.name();
        if let Some(frame) = self.args.each {
            return self.each(source, frame, sink, report);
        }
        self.whole(source, &name, sink, report)
    }

    /// Converts an input that is read as a whole.
    fn whole(&self, source: &Source, name: &str, sink: &mut Sink, report: &mut Report) -> Result<bool, Abort> {
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.io(name, &error);
                return Ok(false);
            }
        };
        let opened = match self.args.partial {
            true => self.reader.open_as_far(name, &bytes, report),
            false => self.reader.open(name, &bytes, report),
        };
        let Some(opened) = opened else { return Ok(false) };
        let opened = &opened;
        if let Some(what) = opened.unchecked {
            report.unchecked(name, what);
        }
        // A loss is known only after writing, which would be too late. With --strict, a document is therefore written
        // twice, the first time to nowhere.
        if self.args.strict {
            let is_well = self.documents(name, opened, &mut Sink::nowhere(), false, report)?;
            // The first pass has already reported everything.
            report.is_strict = false;
            let written = is_well && self.documents(name, opened, sink, true, report)?;
            report.is_strict = true;
            return Ok(written);
        }
        match self.stream(name, opened, sink, report) {
            Some(end) => end,
            None => self.documents(name, opened, sink, true, report),
        }
    }

    /// Converts a long array part by part, if this is possible and enabled. Returns whether all of it was written.
    fn stream(
        &self,
        name: &str,
        opened: &Opened<'_>,
        sink: &mut Sink,
        report: &mut Report,
    ) -> Option<Result<bool, Abort>> {
        let Opened { stage: from, bytes, .. } = opened;
        let bytes = &**bytes;
        if !self.streams
            || !from.wrappers().is_empty()
            || !self.to.wrappers().is_empty()
            || self.args.each.is_some()
            || self.args.deep
            || self.args.partial
            || from.format().name == self.to.format().name
        {
            return None;
        }
        let store = OnceLock::new();
        let Streamed { outcome, written } = stream::convert(bytes, &store, from, &self.to, &self.global.limit, sink)?;
        report.repairs(name, 0, outcome.document.repairs());
        let losses = match written {
            Ok(losses) => losses,
            Err(error) if error.kind() == ErrorKind::Output => return Some(Err(sink.stop())),
            Err(error) => {
                report.unwritable(name, &error);
                return Some(Ok(false));
            }
        };
        report.losses(name, &losses, false);
        let behind = bytes.get(outcome.consumed..).unwrap_or(&[]);
        let is_end = behind.is_empty() || from.format().ends_as_printed(behind);
        let trailing = || (!is_end).then(|| icecore::Error::trailing(bytes, outcome.consumed));
        let error = outcome.error.clone().or_else(trailing).map(|error| from.format().explain(error));
        if !sink.at_line_start()
            && let Err(stop) = sink.text("\n")
        {
            return Some(Err(stop));
        }
        match &error {
            Some(error) if error.layer().is_some() => report.unreadable(name, error, outcome.document.input()),
            Some(error) => report.unreadable(name, error, bytes),
            None => sink.document_done(),
        }
        Some(Ok(error.is_none()))
    }

    /// Converts each document of an input as a whole; returns whether all were written. `is_said`: report the opened
    /// strings.
    fn documents(
        &self,
        name: &str,
        opened: &Opened<'_>,
        sink: &mut Sink,
        is_said: bool,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        let to = self.to.format();
        // Documents in a wrapper need no separator.
        let is_parted = !to.can.separator.is_empty() && self.to.wrappers().is_empty();
        // A format of lines keeps what its document format keeps.
        let is_same = std::ptr::eq(opened.stage.format().of_document(), to.of_document());
        let detail = if is_same || self.to.settings().flag("spelling") { Detail::Yes } else { Detail::For(to.name) };
        let mut well = true;
        let mut is_rescued = false;
        let read = self.reader.documents(name, opened, detail, report, |_, outcome, start, report| {
            let document = match outcome.error {
                None => outcome.document,
                Some(_) if self.args.partial => match self.rescued(name, opened, start, report) {
                    Some(document) => document,
                    None => return Ok(outcome.document.into_tape()),
                },
                Some(_) => return Ok(outcome.document.into_tape()),
            };
            is_rescued |= outcome.error.is_some();
            let document = match self.deep(document, name, is_said, report) {
                Ok(document) => document,
                Err(error) => {
                    report.unwritable(name, &error);
                    well = false;
                    return Ok(Tape::new());
                }
            };
            let start = sink.position();
            match icecore::write_to(&document, &self.to, &self.global.limit, sink) {
                Ok(losses) => {
                    report.losses(name, &losses, self.args.strict);
                    well &= !self.args.strict || losses.is_empty();
                    sink.document_done();
                }
                Err(error) if error.kind() == ErrorKind::Output => return Err(sink.stop()),
                Err(error) => {
                    report.unwritable(name, &error);
                    sink.take_back(start);
                    well = false;
                }
            }
            if is_parted && !sink.at_line_start() {
                sink.text("\n")?;
            }
            Ok(document.into_tape())
        })?;
        Ok((read || is_rescued) && well)
    }

    /// Returns the document, with its strings opened if `--deep` was given.
    fn deep<'d>(
        &self,
        document: Document<'d>,
        name: &str,
        is_said: bool,
        report: &Report,
    ) -> Result<Document<'d>, Error> {
        if !self.args.deep {
            return Ok(document);
        }
        let deep = deep::open(document, &self.global.limit)?;
        if is_said {
            report.opened(name, &deep);
        }
        Ok(deep.document)
    }
}
