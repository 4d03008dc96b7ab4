//! `icecore get`

mod args;
mod large;

pub use args::Get;

use crate::arguments::Global;
use crate::mistakes;
use crate::reading::{self, Detail, JOINED_LINES, Opened, Reader};
use crate::report::{Abort, Report, usage, usage_of};
use crate::sink::Sink;
use crate::source::Source;
use crate::terminal;
use icecore::raw::{Input, Tape};
use icecore::select::{self, Pattern, Skimmed};
use icecore::{Document, Error, ErrorKind, Limits, Losses, Stage, deep};
use large::Parts;

pub fn run(args: &Get, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let pattern =
        Pattern::parse(&args.path).map_err(|error| mistakes::of_get(&args.path, &args.inputs.files, error))?;
    let reader = Reader::new(&args.from, &global.limit)?;
    let mut to = mistakes::target_stage(&args.to)?;
    reading::set(&mut to, &args.to_options).map_err(usage)?;
    let sources = args.inputs.sources(report)?;
    let most = args.shown.most(&to, args.paths)?;
    let mut sink = Sink::stdout();
    // A raw string is not JSON.
    match most {
        Some(_) if args.raw => {
            return Err(usage_of("--raw prints strings as they are, without --depth and --items"));
        }
        _ if args.raw || !terminal::is_json(&to) => sink.tame(),
        _ => sink.paint_values(global.color, args.paths),
    }
    if let Some(most) = most {
        sink.cut(most);
    }
    for source in &sources {
        report.input();
        let name = source.name();
        let get = Job { args, pattern: &pattern, reader: &reader, limits: &global.limit, to: &to };
        let mut answers = Answers {
            job: &get,
            file: (args.paths && sources.len() > 1).then_some(&*name),
            sink: &mut sink,
            count: 0,
            losses: Losses::default(),
            unwritable: Vec::new(),
            most: u64::MAX,
            stopped: None,
        };
        let end = get.source(source, &name, &mut answers, report);
        let Answers { count, losses, unwritable, .. } = answers;
        report.losses(&name, &losses, false);
        unwritable.iter().for_each(|error| report.unwritable(&name, error));
        let missing = end?;
        if let (true, 0) = (missing.is_read, count) {
            report.absent(&name, pattern.as_str(), missing.why.as_ref());
            if missing.is_joined {
                report.note(&name, "lines", JOINED_LINES.to_owned());
            }
        }
        sink.flush()?;
    }
    Ok(())
}

/// The result if nothing was found.
#[derive(Default)]
struct Missing {
    /// Whether the input could be read.
    is_read: bool,
    /// Whether its lines are read as one array.
    is_joined: bool,
    why: Option<Error>,
}

/// The task for each input.
struct Job<'j> {
    args: &'j Get,
    pattern: &'j Pattern,
    reader: &'j Reader<'j>,
    limits: &'j Limits,
    to: &'j Stage,
}

/// Up to this size, an input is read a second time to report what it has instead of the path.
const SMALL: usize = 1 << 20;

impl Job<'_> {
    /// Finds the values in an input.
    fn source(
        &self,
        source: &Source,
        name: &str,
        answers: &mut Answers<'_>,
        report: &mut Report,
    ) -> Result<Missing, Abort> {
        let skims = self.args.from.each().is_none() && !self.args.deep;
        let mut handed = 0;
        if skims && let Some(mut parts) = Parts::of(source, self.reader, &self.args.from.format.options) {
            answers.begin(usize::try_from(select::Source::len(&parts)).unwrap_or(usize::MAX));
            let stages = std::mem::take(&mut parts.stages);
            for stage in &stages {
                match self.skim(Input::Source(&mut parts), stage, answers, name, report)? {
                    Some(Skimmed::Unsure(0)) => {}
                    // It may be another format.
                    Some(Skimmed::All(0)) if stages.len() > 1 => {}
                    Some(Skimmed::Unsure(count)) => {
                        handed = count;
                        break;
                    }
                    Some(_) => return Ok(Missing { is_read: true, ..Missing::default() }),
                    None => return Ok(Missing::default()),
                }
            }
        }
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.io(name, &error);
                return Ok(Missing::default());
            }
        };
        let Some(opened) = self.reader.open(name, &bytes, report) else { return Ok(Missing::default()) };
        let size = opened.bytes.len();
        answers.begin(size);
        if skims && handed == 0 && opened.stage.wrappers().is_empty() {
            match self.skim(Input::Bytes(&opened.bytes), &opened.stage, answers, name, report)? {
                Some(Skimmed::Unsure(count)) => handed = count,
                Some(Skimmed::All(0)) if size <= SMALL => {}
                Some(_) => return Ok(Missing { is_read: true, ..Missing::default() }),
                None => return Ok(Missing::default()),
            }
        }
        self.documents(&opened, handed, name, answers, report)
    }

    /// `None`: an error was reported.
    fn skim(
        &self,
        input: Input<'_>,
        stage: &Stage,
        answers: &mut Answers<'_>,
        name: &str,
        report: &mut Report,
    ) -> Result<Option<Skimmed>, Abort> {
        let then = &mut |path: &str, document: &Document<'_>| answers.answer(path, document);
        match select::skim(input, stage, self.pattern, self.limits, then) {
            Ok(skimmed) => Ok(Some(skimmed)),
            Err(error) => answers.refused(&error, name, report).map(|()| None),
        }
    }

    /// Reads everything, and searches each document.
    fn documents(
        &self,
        opened: &Opened<'_>,
        handed: u64,
        name: &str,
        answers: &mut Answers<'_>,
        report: &mut Report,
    ) -> Result<Missing, Abort> {
        let mut why = None;
        let is_read = self.reader.documents(name, opened, Detail::No, report, |_, outcome, _, report| {
            if outcome.error.is_some() {
                return Ok(outcome.document.into_tape());
            }
            let document = match self.args.deep {
                true => deep::open(outcome.document, self.limits).map(|deep| deep.document),
                false => Ok(outcome.document),
            };
            let document = match document {
                Ok(document) => document,
                Err(error) => {
                    report.unwritable(name, &error);
                    return Ok(Tape::new());
                }
            };
            let then = &mut |path: &str, document: &Document<'_>| answers.answer(path, document);
            match select::within(&document, self.pattern, self.limits, handed, then) {
                Ok(0) => why = document.find(self.pattern.as_str()).err().filter(|error| error.path().is_some()),
                Ok(_) => {}
                Err(error) => answers.refused(&error, name, report)?,
            }
            Ok(document.into_tape())
        })?;
        Ok(Missing { is_read, is_joined: self.reader.joins_lines(opened), why })
    }
}

/// Writes the found values of an input.
struct Answers<'s> {
    job: &'s Job<'s>,
    /// The input, if it is shown.
    file: Option<&'s str>,
    sink: &'s mut Sink,
    count: u64,
    losses: Losses,
    /// Why values could not be written.
    unwritable: Vec<Error>,
    /// Position in the output at which the values of this input are too long.
    most: u64,
    stopped: Option<Abort>,
}

impl Answers<'_> {
    /// Begins an input of `size` bytes.
    fn begin(&mut self, size: usize) {
        self.most = self.sink.position().saturating_add(self.job.limits.output_from(size));
    }

    fn answer(&mut self, path: &str, document: &Document<'_>) -> Result<(), Error> {
        self.count += 1;
        if self.job.args.paths {
            let file = self.file.map(|file| format!("{}:", icecore::text::printable(file))).unwrap_or_default();
            self.text(&format!("{file}{path}\t"))?;
        }
        if let (true, Some(bytes)) = (self.job.args.raw, document.root().as_bytes()) {
            self.bytes(bytes)?;
            self.text("\n")?;
        } else {
            match icecore::write_to(document, self.job.to, self.job.limits, self.sink) {
                Ok(losses) => self.losses.merge_below(losses, path),
                Err(error) if matches!(error.kind(), ErrorKind::Output | ErrorKind::Limit) => return Err(error),
                // The other values may be written.
                Err(error) => self.unwritable.push(error.below(path)),
            }
            if !self.sink.at_line_start() && !self.job.to.is_binary() {
                self.text("\n")?;
            }
        }
        if self.sink.position() > self.most {
            return Err(Error::new(ErrorKind::Limit)
                .expecting("values that are not much longer than the input")
                .finding("more of them: links lead to the same ones again")
                .helping("raise the limit `growth` if the input is trusted: `--limit growth=N`"));
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Error> {
        self.bytes(text.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.sink.bytes(bytes).map_err(|abort| {
            self.stopped = Some(abort);
            Error::new(ErrorKind::Output)
        })
    }

    /// Reports a value that could not be written.
    fn refused(&mut self, error: &Error, name: &str, report: &mut Report) -> Result<(), Abort> {
        if let Some(abort) = self.stopped.take() {
            return Err(abort);
        }
        if error.kind() == ErrorKind::Output {
            return Err(self.sink.stop());
        }
        report.unwritable(name, error);
        // The value exists, so it counts as found.
        self.count += 1;
        Ok(())
    }
}
