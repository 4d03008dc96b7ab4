//! `icecore replace`: text in dumps changes, also inside what is frozen in them.
//!
//! One thread reads an input and cuts it into chunks (`input/`), others change the values in
//! them (`worker.rs`), and this one writes, in the order of the input. What is a document as a
//! whole is read as a whole (`whole.rs`).

mod account;
mod args;
mod cells;
mod chunk;
#[cfg(feature = "store")]
mod database;
mod input;
mod lines;
mod pairs;
mod places;
mod plan;
#[cfg(feature = "store")]
mod resume;
mod said;
mod shown;
#[cfg(feature = "store")]
mod undo;
mod value;
mod whole;
mod worker;
mod written;

pub use args::Replace;

use crate::cli::Global;
use crate::form::{Form, stage_of};
use crate::paint::Paint;
use crate::pool::{Batches, Pool};
use crate::report::{Abort, Report, code, io_reason};
use crate::sink::Sink;
use crate::source::Source;
use crate::target::{Destination, Folder, InPlace, Outputs, Target};
use crate::unpack::{Head, Packing};
use account::Account;
use chunk::Chunk;
use icecore::Stage;
use icecore::rewrite::Rewriting;
use icecore_csv::{Found, Scanner};
use icecore_replace::Rules;
use input::{Cut, Cutter, Dump};
use places::Places;
use plan::Plan;
use std::io::{self, Read};
use std::sync::Arc;
use worker::{Columns, Lexer, Worker};

pub fn run(args: &Replace, global: &Global, report: &mut Report) -> Result<(), Abort> {
    #[cfg(feature = "store")]
    if let Some(file) = &args.undo {
        return undo::run(args, global, file, report);
    }
    let (rules, files) = pairs::rules(args)?;
    said::before(&rules, report);
    let job = Job::new(args, global, rules)?;
    #[cfg(feature = "store")]
    if args.database.db.is_some() || args.database.db_file.is_some() {
        return job.database(&files, report);
    }
    #[cfg(feature = "store")]
    if args.undo_file.is_some() || args.no_undo {
        return Err(pairs::usage("--undo-file and --no-undo are for --db; --in-place keeps what a file was"));
    }
    job.files(&files, report)
}

/// What is done with all inputs.
struct Job<'j> {
    args: &'j Replace,
    rules: Rules,
    how: Rewriting,
    form: Option<Form>,
    json: Stage,
    places: Arc<Places>,
    paint: Paint,
}

/// What came of the inputs so far.
#[derive(Default)]
struct Done {
    account: Account,
    inputs: Vec<written::Input>,
}

impl Job<'_> {
    fn new<'j>(args: &'j Replace, global: &Global, rules: Rules) -> Result<Job<'j>, Abort> {
        let mut how = Rewriting::default();
        (how.keys, how.classes, how.base64, how.mend) = (args.keys, args.classes, args.base64, args.mend);
        how.limits = (*global.limit).clone();
        let form = args.form.as_deref().map(Form::parse).transpose()?;
        if args.each.is_some() && !matches!(form, Some(Form::Document(_))) {
            return Err(pairs::usage("--each is for documents of a format: --in FORMAT says which"));
        }
        let json = Stage::parse("json").map_err(crate::reading::usage)?;
        let places = Arc::new(Places::new(args.filter()));
        Ok(Job { args, rules, how, form, json, places, paint: Paint::new(global.color, &io::stdout()) })
    }

    /// Changes files, folders, the standard input.
    fn files(&self, files: &[std::path::PathBuf], report: &mut Report) -> Result<(), Abort> {
        let sources = Source::all(files, report);
        let mut outputs = Outputs::new(&sources, self.args.force);
        let place = self.args.report.as_ref().map(|path| outputs.place(path)).transpose()?;
        let mut done = Done::default();
        if self.args.dry_run {
            self.to_one(outputs.output(None)?, &sources, &mut done, report)?;
        } else if self.args.place.in_place {
            self.in_place(&sources, &mut done, report)?;
        } else if let Some(folder) = &self.args.place.out_dir {
            self.to_folder(&mut Folder::new(folder, outputs, &sources), &sources, &mut done, report)?;
        } else {
            self.to_one(outputs.output(self.args.place.output.as_ref())?, &sources, &mut done, report)?;
        }
        said::after(&done, &self.rules, self.args, &self.places, report);
        let written = || written::text(&done.account, &done.inputs, &self.rules, &self.places, self.args.dry_run, None);
        place.map_or(Ok(()), |place| Target::text(place, &written()?))
    }

    /// All to the standard output, or to one file.
    fn to_one(
        &self,
        place: Destination,
        sources: &[Source],
        done: &mut Done,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let is_data = matches!(place, Destination::Stdout) && !self.args.dry_run;
        let mut target = Target::new(place)?;
        if is_data && !self.args.force {
            target.sink.tame();
        }
        let mut is_whole = true;
        for source in sources {
            is_whole &= self.source(source, &mut target.sink, done, report)?;
        }
        // A file in which something is missing does not appear.
        if target.is_file() && !is_whole { Ok(()) } else { target.keep() }
    }

    /// Each to a file of its own.
    fn to_folder(
        &self,
        folder: &mut Folder,
        sources: &[Source],
        done: &mut Done,
        report: &mut Report,
    ) -> Result<(), Abort> {
        for source in sources {
            match folder.target_as(source) {
                Ok(mut target) => {
                    if self.source(source, &mut target.sink, done, report)? {
                        target.keep()?;
                    }
                }
                Err(Abort::Failed(code, message)) => report.fault(code, &source.name(), message),
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Each in its own place, if something changes in it.
    fn in_place(&self, sources: &[Source], done: &mut Done, report: &mut Report) -> Result<(), Abort> {
        let places = sources.iter().map(|source| InPlace::new(source, &self.args.place.backup, self.args.force));
        let places: Vec<InPlace> = places.collect::<Result<_, Abort>>()?;
        for (source, place) in sources.iter().zip(places) {
            let mut target = place.target()?;
            let (before, account) = (done.inputs.len(), done.account.clone());
            let is_whole = self.source(source, &mut target.sink, done, report)?;
            let is_changed =
                done.inputs.get(before..).is_some_and(|inputs| inputs.iter().any(|input| input.is_changed));
            if is_whole && is_changed {
                match place.keep(target) {
                    Err(Abort::Failed(code, message)) => {
                        // Nothing of it was changed.
                        done.account = account;
                        done.inputs.truncate(before);
                        report.fault(code, &source.name(), message);
                    }
                    end => end?,
                }
            }
        }
        Ok(())
    }

    /// Changes one input. Returns whether all of it is in the output.
    fn source(&self, source: &Source, sink: &mut Sink, done: &mut Done, report: &mut Report) -> Result<bool, Abort> {
        report.input();
        let name = source.name();
        let end = match source.open() {
            Ok(input) => self.input(input, source, &name, sink, done, report),
            Err(error) => {
                report.io(&name, &error);
                return Ok(false);
            }
        };
        match end {
            Err(Abort::Failed(code, message)) => {
                report.fault(code, &name, message);
                Ok(false)
            }
            end => end,
        }
    }

    fn input(
        &self,
        input: Box<dyn Read + Send>,
        source: &Source,
        name: &str,
        sink: &mut Sink,
        done: &mut Done,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        let mut head = Head::of(input).map_err(|error| failed(&error))?;
        // A document that is compressed is written as one again, by its format.
        let is_document = matches!(self.form, Some(Form::Document(_)));
        let packing = Packing::of(&head.bytes).filter(|_| !is_document && stage_of(&head.bytes, head.is_all).is_none());
        if let Some(packing) = packing {
            if self.args.place.in_place || self.args.place.out_dir.is_some() {
                return Err(pairs::usage(
                    "it is compressed, and what is written is not: `icecore replace … FILE | gzip > NEW`",
                ));
            }
            let inside = packing.open(head.input).and_then(Head::of);
            head = inside.map_err(|error| failed(&error))?;
        }
        let Head { input, bytes: head, is_all } = head;
        let form = match self.form.clone().or_else(|| Form::guess(name, &head, is_all)) {
            Some(form) => form,
            None => return Err(pairs::usage("how it is written can't be told from its beginning: say --in FORM")),
        };
        let table = match source.below.file_stem() {
            Some(stem) => stem.to_string_lossy().into_owned(),
            None => name.to_owned(),
        };
        let plan = Arc::new(Plan {
            rules: self.rules.clone(),
            how: self.how.clone(),
            only_serialized: self.args.only_serialized,
            shows: self.args.dry_run.then_some(self.paint),
            places: Arc::clone(&self.places),
            json: self.json.clone(),
            input: name.to_owned(),
            table,
        });
        let work = Work { plan: &plan, name, form: &form, is_guessed: self.form.is_none() };
        let chunk = usize::try_from(self.args.chunk).unwrap_or(1 << 18).clamp(1, 64 << 20);
        let (is_whole, mut account, is_changed) = match &form {
            Form::Sql => work.chunks(Dump::new(input, chunk, Arc::clone(&self.places)), Lexer::None, sink, report)?,
            Form::Csv => {
                let found = self.args.csv.detect(&head, is_all)?;
                let mut cutter = Cutter::new(input, chunk, Cut::Rows(Scanner::new(found.dialect)));
                let columns = self.csv_columns(&mut cutter, &plan, found).map_err(|error| failed(&error))?;
                work.chunks(cutter, Lexer::Csv(found.dialect, columns), sink, report)?
            }
            Form::Tsv => {
                let delimiter = self.args.csv.delimiter.unwrap_or(b'\t');
                let mut cutter = Cutter::new(input, chunk, Cut::Lines);
                let columns = self.tsv_columns(&mut cutter, &plan, delimiter).map_err(|error| failed(&error))?;
                work.chunks(cutter, Lexer::Tsv(delimiter, columns), sink, report)?
            }
            Form::Ndjson => work.chunks(Cutter::new(input, chunk, Cut::Lines), Lexer::Ndjson, sink, report)?,
            Form::Text => {
                work.chunks(Cutter::new(input, chunk, Cut::Text(self.rules.clone())), Lexer::Text, sink, report)?
            }
            Form::Document(stage) => whole::documents(&plan, input, stage, self.args.each, sink, report)?,
        };
        account.broken.iter_mut().for_each(|wrong| wrong.input = name.to_owned());
        done.inputs.push(written::Input { input: name.to_owned(), form: form.name(), is_changed });
        done.account.add(account);
        sink.document_done();
        Ok(is_whole)
    }

    /// The columns of a table in CSV, as its first row names them.
    fn csv_columns(&self, cutter: &mut Cutter, plan: &Plan, found: Found) -> io::Result<Columns> {
        if self.args.no_header {
            cutter.without_header(found.start)?;
            return Ok(Columns { places: Vec::new(), table: plan.table.clone() });
        }
        let row = cutter.header(found.start)?;
        let mut cells = Vec::new();
        Scanner::new(found.dialect).next_row(&row, true, &mut cells);
        let names = cells.iter().map(|cell| found.dialect.decode(cell, &row).into_owned());
        Ok(number_columns(plan, names))
    }

    /// The columns of a table with tabs, as its first row names them.
    fn tsv_columns(&self, cutter: &mut Cutter, plan: &Plan, delimiter: u8) -> io::Result<Columns> {
        if self.args.no_header {
            return Ok(Columns { places: Vec::new(), table: plan.table.clone() });
        }
        let row = cutter.header(0)?;
        let row = row.strip_prefix(crate::reading::MARK).unwrap_or(&row);
        let line = row.strip_suffix(b"\n").unwrap_or(row);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(number_columns(plan, line.split(|byte| *byte == delimiter).map(<[u8]>::to_vec)))
    }
}

/// Columns of these names. One without a name is called by its number.
fn number_columns(plan: &Plan, names: impl Iterator<Item = Vec<u8>>) -> Columns {
    let number = |(column, name): (usize, Vec<u8>)| {
        let name = if name.is_empty() { (column + 1).to_string() } else { String::from_utf8_lossy(&name).into_owned() };
        plan.places.number(None, &plan.table, &name)
    };
    Columns { places: names.enumerate().map(number).collect(), table: plan.table.clone() }
}

/// An input, and what is done with it.
struct Work<'w> {
    plan: &'w Arc<Plan>,
    name: &'w str,
    form: &'w Form,
    /// Nobody said how it is written.
    is_guessed: bool,
}

impl Work<'_> {
    /// One thread reads, as many as there are processors change values, and this one
    /// writes. Returns whether all was written, the counts, and whether anything changed.
    fn chunks(
        &self,
        from: impl Batches<Batch = Chunk>,
        lexer: Lexer,
        sink: &mut Sink,
        report: &mut Report,
    ) -> Result<(bool, Account, bool), Abort> {
        let plan = Arc::clone(self.plan);
        let pool = Pool::start(from, move || {
            let mut worker = Worker::new(Arc::clone(&plan), lexer.clone());
            move |chunk: &mut Chunk| worker.chunk(chunk)
        });
        let (mut account, mut is_changed, mut is_whole) = (Account::default(), false, true);
        let mut frozen = FrozenText::default();
        while let Some(chunk) = pool.next() {
            let mut chunk = match chunk {
                Ok(chunk) => chunk,
                Err(error) => {
                    sink.flush()?;
                    return Err(failed(&error));
                }
            };
            if let Some(offset) = chunk.unclosed {
                let text = format!(
                    "it ends inside of the literal that starts at offset {offset}: what is left is as it was ({} is cut off?)",
                    self.form.name()
                );
                report.bad_input();
                report.fault(code::INPUT, self.name, text);
                is_whole = false;
            }
            if let Some((row, offset)) = chunk.broken_row {
                sink.flush()?;
                return Err(failed(&crate::csv::broken(row, offset)));
            }
            chunk.account.suspects += frozen.count_inside(&chunk);
            if self.is_guessed && chunk.account.suspects > 0 {
                sink.flush()?;
                return Err(pairs::usage(
                    "it was taken for text, and lengths of serialized values in it would become wrong: \
                     say --in sql, csv, tsv or ndjson; --in text changes it all the same",
                ));
            }
            if self.plan.shows.is_some() {
                sink.piece(&chunk.shown)?;
            } else {
                sink.piece(chunk.result())?;
            }
            // What comes next may be long in coming.
            if chunk.is_last_for_now {
                sink.flush()?;
            }
            is_changed |= chunk.is_changed;
            account.add(std::mem::take(&mut chunk.account));
            pool.give_back(chunk);
        }
        sink.flush()?;
        Ok((is_whole, account, is_changed))
    }
}

/// What was seen of strings of serialize() in a plain text.
#[derive(Default)]
struct FrozenText {
    /// The end of the one that ends last.
    end: u64,
}

impl FrozenText {
    /// How many changes of this chunk, which comes next, make the length of such a string wrong.
    fn count_inside(&mut self, chunk: &Chunk) -> u64 {
        let mut strings = chunk.frozen.iter().peekable();
        let mut count = 0;
        for at in &chunk.growing {
            while let Some(string) = strings.next_if(|string| string.start <= *at) {
                self.end = self.end.max(string.end);
            }
            count += u64::from(*at < self.end);
        }
        self.end = strings.map(|string| string.end).fold(self.end, u64::max);
        count
    }
}

/// Ends an input with why it could not be read.
fn failed(error: &io::Error) -> Abort {
    let is_bad =
        matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof);
    Abort::Failed(if is_bad { code::INPUT } else { code::USAGE }, io_reason(error))
}
