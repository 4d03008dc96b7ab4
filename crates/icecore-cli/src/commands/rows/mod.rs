//! `icecore rows`: decodes blobs in the columns of an export.

mod args;
mod opened;
#[cfg(feature = "columns")]
mod records;
#[cfg(feature = "store")]
mod tables;
mod target;

pub use args::Rows;

use crate::arguments::Global;
use crate::progress;
use crate::records::reported::{self, write_summary};
use crate::report::{Abort, Report, usage_of};
use crate::sink::Sink;
use crate::source::Source;
use crate::target::{Destination, Folder, Outputs, Target};
use crate::terminal;
use icecore_csv::Found;
#[cfg(feature = "store")]
use icecore_store::Scheme;
use icecore_tables::Error;
use icecore_tables::packing::{Head, Packing};
use icecore_tables::plural::listed;
use icecore_tables::pool::{Batches, Pool};
use icecore_tables::rows::columnar;
#[cfg(feature = "store")]
use icecore_tables::rows::database::{self, Question};
use icecore_tables::rows::dump::{Dump, Tables};
use icecore_tables::rows::plan::{Asked, JSON, Options, Out, Plan};
use icecore_tables::rows::table::{Settings, Table};
use icecore_tables::rows::{Batch, Decoders, FirstRows, FrozenColumn, FrozenColumns, OnError, TableForm};
use icecore_tables::tally::Tally;
use icecore_tables::window::Window;
use opened::Opened;
use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;

/// The forms in which rows are written.
pub const FORMS: [&str; 6] = [JSON, "csv", "tsv", "parquet", "arrow", "arrows"];

pub fn run(args: &Rows, global: &Global, report: &mut Report) -> Result<(), Abort> {
    #[cfg(feature = "store")]
    if args.all_tables {
        return all_tables(args, global, report);
    }
    #[cfg(feature = "store")]
    if args.reads_table() {
        let query = tables::select_all(&args.database.address()?, &args.tables)?;
        let name = args.tables.first().map_or("query", String::as_str);
        return self::query(args, Question::Query(query), name, global, report);
    }
    #[cfg(feature = "store")]
    if matches!(args.question(), Some(Question::Keys(..))) {
        let address = args.database.address()?;
        if !matches!(address.scheme(), Scheme::Redis | Scheme::Memcached) {
            return Err(tables::ask(&address));
        }
    }
    #[cfg(feature = "store")]
    if let Some(question) = args.question() {
        let name = question.name();
        return query(args, question, name, global, report);
    }
    let sources = Source::all(&args.files, report);
    let mut outputs = Outputs::new(&sources, args.force);
    let summary = args.summary.as_ref().map(|path| outputs.place(path)).transpose()?;
    let mut job = Job { is_alone: sources.len() == 1, ..Job::new(args, args.form, global)? };
    match &args.written.out_dir {
        Some(folder) => job.each_to_folder(&mut Folder::new(folder, outputs, &sources), &sources, report)?,
        None => job.all_to_one(outputs.output(args.written.output.as_ref())?, &sources, report)?,
    }
    summary.map_or(Ok(()), |place| write_summary(place, &job.tallies))
}

/// Converts the rows of a database query.
#[cfg(feature = "store")]
fn query(args: &Rows, question: Question, name: &str, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let mut outputs = Outputs::new(&[], args.force);
    let summary = args.summary.as_ref().map(|path| outputs.place(path)).transpose()?;
    let usual = question.usual();
    let input = database::rows(args.database.address()?, question).map_err(crate::database::failed)?;
    let mut job = Job { usual, is_alone: true, ..Job::new(args, Some(TableForm::Database), global)? };
    let place = outputs.output(args.written.output.as_ref())?;
    let mut target = target(args, global, place)?;
    report.input();
    progress::begin(name);
    job.table(input, name, args.max_record, (TableForm::Database, None), &mut target.sink, report)?;
    job.end(&mut target.sink)?;
    target.sink.document_done();
    target.keep()?;
    summary.map_or(Ok(()), |place| write_summary(place, &job.tallies))
}

/// Converts the rows of all tables of a database: one table after the other, or each to a file of its own.
#[cfg(feature = "store")]
fn all_tables(args: &Rows, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let address = args.database.address()?;
    let mut outputs = Outputs::new(&[], args.force);
    let summary = args.summary.as_ref().map(|path| outputs.place(path)).transpose()?;
    let mut job = Job::new(args, Some(TableForm::Database), global)?;
    let mut shared = match args.written.out_dir {
        None => Some(target(args, global, outputs.output(args.written.output.as_ref())?)?),
        Some(_) => None,
    };
    let names = icecore_store::table::list_names(&address).map_err(crate::database::failed)?;
    progress::inputs(names.len());
    for name in &names {
        report.input();
        progress::begin(name);
        let query = tables::select_all(&address, std::slice::from_ref(name))?;
        let rows = database::rows(address.clone(), Question::Query(query)).map_err(crate::database::failed);
        let done = rows.and_then(|input| {
            let table = |sink: &mut Sink, job: &mut Job<'_>| {
                job.table(input, name, args.max_record, (TableForm::Database, None), sink, report)
            };
            let Some(folder) = &args.written.out_dir else {
                return shared.as_mut().map_or(Ok(()), |shared| table(&mut shared.sink, &mut job));
            };
            std::fs::create_dir_all(folder).map_err(|error| failed_folder(folder, &error))?;
            job.begin();
            let file = format!("{}.{}", tables::file_name(name), target::extension(args)?);
            let mut own = Target::new(outputs.place(&folder.join(file))?)?;
            table(&mut own.sink, &mut job)?;
            job.end(&mut own.sink)?;
            own.keep()
        });
        match done {
            Err(Abort::Failed(code, message)) => report.fault(code, name, message),
            done => done?,
        }
        if shared.is_some() && job.has_enough() {
            break;
        }
    }
    if let Some(mut shared) = shared {
        job.end(&mut shared.sink)?;
        shared.sink.document_done();
        shared.keep()?;
    }
    summary.map_or(Ok(()), |place| write_summary(place, &job.tallies))
}

#[cfg(feature = "store")]
fn failed_folder(folder: &std::path::Path, error: &io::Error) -> Abort {
    Abort::Failed(crate::report::code::USAGE, format!("{}: {}", folder.display(), crate::report::io_reason(error)))
}

/// Opens the output for all rows.
fn target(args: &Rows, global: &Global, place: Destination) -> Result<Target, Abort> {
    let is_shown = matches!(place, Destination::Stdout) && terminal::is_stdout();
    let out = target::form(args)?.0;
    if is_shown && matches!(out, Out::Columns(_)) && !args.typed.schema_only {
        return Err(usage_of(format!("{} is not for a terminal: name a file with --output", args.to())));
    }
    let mut target = Target::new(place)?;
    if is_shown && out == Out::Json {
        target.sink.paint_json(global.color);
    } else if is_shown {
        target.sink.tame();
    }
    Ok(target)
}

/// The conversion of one or more tables.
struct Job<'j> {
    args: &'j Rows,
    global: &'j Global,
    options: Options,
    /// The column that is decoded if none is given.
    usual: Option<&'static str>,
    /// Whether an error of the input ends the command, because it is the only one.
    is_alone: bool,
    /// The first table in the output, and the columns that all tables have.
    header: Option<(String, Vec<String>)>,
    tallies: Vec<Tally>,
    /// Number of rows that may still be written to the current output; `None` means all.
    left: Option<u64>,
    /// The form of the inputs, if given.
    form: Option<TableForm>,
    /// The layout and the writer for columns with types, once they are known.
    #[cfg(feature = "columns")]
    columns: Option<(Arc<columnar::Layout>, columnar::Writer)>,
    /// The types of the columns of the input, if they have any.
    #[cfg(feature = "columns")]
    types: Option<columnar::Fields>,
}

impl<'j> Job<'j> {
    fn new(args: &'j Rows, form: Option<TableForm>, global: &'j Global) -> Result<Job<'j>, Abort> {
        Ok(Job {
            args,
            global,
            options: args.options(global)?,
            usual: None,
            is_alone: false,
            header: None,
            tallies: Vec::new(),
            left: args.items,
            form,
            #[cfg(feature = "columns")]
            columns: None,
            #[cfg(feature = "columns")]
            types: None,
        })
    }

    /// Begins a new output.
    fn begin(&mut self) {
        self.header = None;
        self.left = self.args.items;
        #[cfg(feature = "columns")]
        {
            self.columns = None;
        }
    }

    /// Returns whether the output has all rows of --items.
    fn has_enough(&self) -> bool {
        self.left == Some(0)
    }

    /// Writes all tables to the standard output or to one file.
    fn all_to_one(&mut self, place: Destination, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
        let mut target = target(self.args, self.global, place)?;
        for source in sources {
            if self.source(source, &mut target.sink, report)? {
                target.sink.document_done();
            }
            if self.has_enough() {
                break;
            }
        }
        self.end(&mut target.sink)?;
        // If no table was converted, no file appears.
        if target.is_file() && target.sink.documents() == 0 { Ok(()) } else { target.keep() }
    }

    /// Writes each input to a file of its own.
    fn each_to_folder(&mut self, folder: &mut Folder, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
        let extension = target::extension(self.args)?;
        for source in sources {
            self.begin();
            match folder.target(source, extension) {
                Ok(mut target) => {
                    if self.source(source, &mut target.sink, report)? {
                        self.end(&mut target.sink)?;
                        target.keep()?;
                    }
                }
                Err(Abort::Failed(code, message)) => report.fault(code, &source.name(), message),
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Converts a table; returns whether all of it was read.
    fn source(&mut self, source: &Source, sink: &mut Sink, report: &mut Report) -> Result<bool, Abort> {
        report.input();
        let name = source.name();
        let end = match source.open() {
            Ok(input) => self.input(input, source, &name, sink, report),
            Err(error) => {
                report.io(&name, &error);
                return Ok(false);
            }
        };
        match end {
            Err(Abort::Failed(code, message)) if !self.is_alone => {
                report.fault(code, &name, message);
                Ok(false)
            }
            end => end.map(|()| true),
        }
    }

    /// Unpacks an input, and detects its form.
    fn input(
        &mut self,
        input: Box<dyn Read + Send>,
        source: &Source,
        name: &str,
        sink: &mut Sink,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let mut most = self.args.max_record;
        let mut file = source.file();
        let failed = |error: io::Error| self.failed(name, &error);
        let unpacked = Head::short(input).and_then(|head| match Packing::of(&head.bytes) {
            None => Ok(head.input),
            Some(packing) => {
                // A single row may be as long as the limit for the whole unpacked data.
                most = most.min(self.global.limit.decompressed);
                file = None;
                packing.open(head.input)
            }
        });
        let looked = opened::look(self.args, self.form, unpacked.map_err(failed)?, source, file.is_some(), name);
        let opened = looked.map_err(|error| match error {
            Abort::Failed(code, text) => Abort::Failed(code, self.of(name, &text)),
            other => other,
        })?;
        let Opened { input, form, csv, is_wide } = opened;
        // Only column formats are read from a file in pieces, and only if the bytes of the file are not converted.
        #[cfg(feature = "columns")]
        let file = file.filter(|_| !is_wide);
        #[cfg(not(feature = "columns"))]
        let _ = is_wide;
        if matches!(form, TableForm::Parquet | TableForm::Arrow) {
            columnar::check()?;
            #[cfg(feature = "columns")]
            return self.records(input, file, name, form, sink, report);
        }
        self.table(input, name, most, (form, csv), sink, report)
    }

    /// Returns a message about an input; the name of the only input is added because it is reported nowhere else.
    fn of(&self, name: &str, text: &str) -> String {
        if self.is_alone { format!("{name}: {text}") } else { text.to_owned() }
    }

    fn failed(&self, name: &str, error: &io::Error) -> Abort {
        match Error::of_input(error).into() {
            Abort::Failed(code, text) => Abort::Failed(code, self.of(name, &text)),
            other => other,
        }
    }

    fn table(
        &mut self,
        input: Box<dyn Read + Send>,
        name: &str,
        most: u64,
        (form, csv): (TableForm, Option<Found>),
        sink: &mut Sink,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let Job { args, usual, .. } = *self;
        let window = Window::new(input, args.chunk);
        let asked = Asked { options: &self.options, form, usual, file: name };
        let tally = Tally::rows(name);
        if form == TableForm::Sql {
            let dump = Dump::new(window, Plan::base(&asked)?, Tables::new(&args.columns)?, most);
            self.rows(dump, None, name, tally, sink, report)
        } else {
            let table = Table::new(form, window, Settings::of(&self.options.input, form, most, csv)?);
            let mut table = table.map_err(|error| self.failed(name, &error))?;
            let header = table.header().map_err(|error| self.failed(name, &error))?;
            #[cfg(feature = "store")]
            let own = tables::own_columns(args, name, &header);
            #[cfg(not(feature = "store"))]
            let own: Option<Vec<String>> = None;
            if own.as_ref().is_some_and(Vec::is_empty) {
                return Ok(());
            }
            let own = own.map(|columns| Options { columns, ..self.options.clone() });
            let asked = Asked { options: own.as_ref().unwrap_or(&self.options), ..asked };
            let plan = Arc::new(Plan::new(&asked, header)?);
            // A table without rows has columns, too.
            self.head(name, &plan, sink)?;
            self.rows(table.with(&plan), Some(plan), name, tally, sink, report)
        }
    }

    /// Converts rows, and reports the results. `plan`: the plan of all rows, if there is a single one.
    fn rows(
        &mut self,
        from: impl Batches<Batch = Batch>,
        plan: Option<Arc<Plan>>,
        name: &str,
        mut tally: Tally,
        sink: &mut Sink,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let from = FirstRows::new(from, self.left);
        let mut frozen = FrozenColumns::default();
        let end = match self.start(from, plan, name, sink)? {
            Ok(Some(pool)) => self.convert(&pool, name, sink, (&mut tally, &mut frozen), report)?,
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        if tally.has_unreadable() {
            report.bad_input();
        }
        reported::end(&tally, report, self.global.quiet);
        self.advise_column(frozen.found(), name, report);
        self.left = self.left.map(|left| left.saturating_sub(tally.records));
        self.tallies.push(tally);
        end.map_err(|error| self.failed(name, &error))
    }

    /// Starts the threads that decode rows, for text.
    #[cfg(not(feature = "columns"))]
    fn start(
        &mut self,
        from: impl Batches<Batch = Batch>,
        _: Option<Arc<Plan>>,
        _: &str,
        _: &mut Sink,
    ) -> Result<io::Result<Option<Pool<Batch>>>, Abort> {
        Ok(Ok(Some(for_text(from))))
    }

    /// Writes the names of the columns, if they are not written yet.
    fn head(&mut self, name: &str, plan: &Plan, sink: &mut Sink) -> Result<(), Abort> {
        if self.is_first(name, plan)? {
            plan.write_header(sink.part());
        }
        Ok(())
    }

    /// Returns whether the output has no header yet. All tables in it must have the same columns.
    fn is_first(&mut self, name: &str, plan: &Plan) -> Result<bool, Abort> {
        let (columns, table) = (plan.header(), if plan.table.is_empty() { name } else { &plan.table });
        match &self.header {
            None => {
                self.header = Some((table.to_owned(), columns));
                Ok(true)
            }
            Some((first, known)) if plan.out != Out::Json && *known != columns => {
                let advice = match plan.form {
                    TableForm::Sql => "--table TABLE reads one of them, and rows in json may have different columns",
                    #[cfg(feature = "store")]
                    TableForm::Database => {
                        "--out-dir DIR writes each table to a file of its own, and --table TABLE reads one of them"
                    }
                    _ => "--out-dir DIR writes each file to a file of its own",
                };
                let of = |word: &str, table: &str| format!("{word} of {table}");
                // The name of the input is in front of the message.
                let these = if table == name { "its columns".to_owned() } else { of("the columns", table) };
                let others = if first == table { "those of earlier rows".to_owned() } else { of("those", first) };
                Err(usage_of(format!(
                    "{these} ({}) are not {others} ({}), so one {} can't have both: {advice}",
                    listed(&columns),
                    listed(known),
                    self.args.to()
                )))
            }
            Some(_) => Ok(false),
        }
    }

    /// Says how to decode columns that look like frozen data, if no column was named.
    fn advise_column(&self, frozen: &[FrozenColumn], name: &str, report: &Report) {
        if frozen.is_empty() {
            return;
        }
        let is_dump = frozen.iter().any(|found| !found.table.is_empty() && found.table != name);
        let names: Vec<String> = frozen
            .iter()
            .map(|found| if is_dump { format!("{}.{}", found.table, found.column) } else { found.column.clone() })
            .collect();
        let shown: Vec<String> =
            names.iter().zip(frozen).map(|(name, found)| format!("`{name}` ({})", found.format)).collect();
        let options: Vec<String> = names.iter().map(|name| format!("-c {}", in_shell(name))).collect();
        let (columns, look, them) = match names.len() {
            1 => ("the column", "looks", "it"),
            _ => ("the columns", "look", "them"),
        };
        let text =
            format!("{columns} {} {look} like frozen data: {} decodes {them}", listed(&shown), options.join(" "));
        report.note(name, "frozen", text);
    }

    /// Writes the end of the output, after all rows.
    fn end(&mut self, sink: &mut Sink) -> Result<(), Abort> {
        #[cfg(feature = "columns")]
        if let Some((_, mut writer)) = self.columns.take() {
            writer.finish()?;
            writer.pass(|bytes| sink.piece(bytes))?;
        }
        sink.flush()
    }

    /// Converts all rows: one thread reads, one thread per processor decodes, and this one writes, in the order of the
    /// input. The inner error says why the table could not be read to its end.
    fn convert(
        &mut self,
        pool: &Pool<Batch>,
        name: &str,
        sink: &mut Sink,
        (tally, frozen): (&mut Tally, &mut FrozenColumns),
        report: &mut Report,
    ) -> Result<io::Result<()>, Abort> {
        let mut told = 0;
        let stops = self.args.on_error == OnError::Stop;
        while let Some(batch) = pool.next() {
            #[cfg_attr(not(feature = "columns"), expect(unused_mut, reason = "for columns"))]
            let mut batch = match batch {
                Ok(batch) => batch,
                Err(error) => {
                    // The rows before the error are written.
                    sink.flush()?;
                    return Ok(Err(error));
                }
            };
            for (_, plan) in &batch.plans {
                self.head(name, plan, sink)?;
            }
            tally.records += batch.rows() as u64;
            tally.bytes = batch.end;
            for wrong in &batch.tally.errors {
                reported::tell(tally, wrong, &mut told, report);
            }
            tally.merge(&batch.tally);
            frozen.examine(&batch);
            sink.part().extend_from_slice(&batch.out);
            #[cfg(feature = "columns")]
            if let Some(why) = self.write_columns(&mut batch, sink)? {
                sink.flush()?;
                return Ok(Err(io::Error::other(why)));
            }
            // The next rows may take long to arrive.
            if batch.is_last_for_now {
                sink.flush()?
            } else {
                sink.pass()?
            }
            progress::count(tally.records);
            if stops && tally.bad > 0 {
                break;
            }
            pool.give_back(batch);
        }
        sink.flush().map(Ok)
    }
}

/// Returns a word as a shell takes it.
fn in_shell(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    if word.chars().all(is_plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")).into() }
}

/// Starts the threads that decode rows and write them as text.
fn for_text(from: impl Batches<Batch = Batch>) -> Pool<Batch> {
    Pool::start(from, || {
        let mut decoders = Decoders::default();
        move |batch: &mut Batch| decoders.batch(batch)
    })
}
