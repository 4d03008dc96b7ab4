//! `icecore rows`: decodes blobs in the columns of an export.

mod args;
#[cfg(feature = "store")]
mod database_rows;
mod examined_rows;
mod left_out;
#[cfg(feature = "columns")]
mod records;
#[cfg(feature = "store")]
mod tables;
mod target;

pub use args::Rows;

use crate::arguments::Global;
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::progress;
use crate::records::reports::{self, write_summary};
use crate::report::{Abort, Report, usage_text_error};
use crate::shell_words::quote_for_shell;
use crate::source::Source;
use crate::target::{Destination, OutputFolder, Outputs, Target};
use crate::terminal;
#[cfg(feature = "store")]
use database_rows::{convert_all_tables, convert_query};
use examined_rows::ExaminedRows;
use icecore_csv::DetectedDialect;
#[cfg(feature = "store")]
use icecore_store::Scheme;
use icecore_tables::Error;
use icecore_tables::packing::{Head, Packing};
use icecore_tables::plural::join_names;
use icecore_tables::pool::{BatchReader, Pool};
use icecore_tables::rows::columnar;
#[cfg(feature = "store")]
use icecore_tables::rows::database::RowRequest;
use icecore_tables::rows::dump::{Dump, TableSelection};
use icecore_tables::rows::object_names;
use icecore_tables::rows::plan::{JSON, Options, OutputForm, Plan, PlanRequest};
use icecore_tables::rows::table::{Settings, Table};
use icecore_tables::rows::{Batch, Decoders, FirstRows, FrozenColumn, FrozenColumns, OnError, TableForm};
use icecore_tables::tally::Tally;
use icecore_tables::window::Window;
use left_out::{describe_skipped_tables, report_absent_keys};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::sync::Arc;

/// The forms in which rows are written.
pub const FORMS: [&str; 6] = [JSON, "csv", "tsv", "parquet", "arrow", "arrows"];

pub fn run(args: &Rows, global: &Global, report: &mut Report) -> Result<(), Abort> {
    if let Some(note) = args.unknown_extension_note() {
        report.report_command_note("extension", note);
    }
    #[cfg(feature = "store")]
    args.check_database_options()?;
    #[cfg(feature = "store")]
    if args.all_tables {
        return convert_all_tables(args, global, report);
    }
    #[cfg(feature = "store")]
    if args.reads_table() {
        let address = args.database.resolve_existing_address()?;
        let query = tables::select_all(&address, &args.tables)?;
        let name = args.tables.first().map_or("query", String::as_str);
        let result = convert_query(args, RowRequest::Query(query), name, global, report);
        return result.map_err(|error| crate::database::table_error(&address, name, error));
    }
    #[cfg(feature = "store")]
    if matches!(args.row_request(), Some(RowRequest::Keys(..))) {
        let address = args.database.resolve_existing_address()?;
        if !matches!(address.scheme(), Scheme::Redis | Scheme::Memcached) {
            return Err(tables::missing_table_error(&address));
        }
    }
    mistakes::refuse_compressed_output(args.output_args.output.as_ref())?;
    #[cfg(feature = "store")]
    if let Some(request) = args.row_request() {
        let name = request.name();
        return convert_query(args, request, name, global, report);
    }
    let sources = Source::find_all(&args.files, report);
    let mut outputs = Outputs::new(&sources, args.force);
    let summary_destination = args.summary.as_ref().map(|path| outputs.destination_at(path)).transpose()?;
    let mut job = RowsJob { is_only_input: sources.len() == 1, ..RowsJob::new(args, args.form, global)? };
    match &args.output_args.out_dir {
        Some(folder) => job.write_to_folder(&mut OutputFolder::new(folder, outputs, &sources), &sources, report)?,
        None => job.write_to_one(outputs.output_destination(args.output_args.output.as_ref())?, &sources, report)?,
    }
    summary_destination.map_or(Ok(()), |destination| write_summary(destination, &job.tallies))
}

/// Opens the output for all rows.
fn open_target(args: &Rows, global: &Global, destination: Destination) -> Result<Target, Abort> {
    let is_terminal = matches!(destination, Destination::Stdout) && terminal::is_stdout_terminal();
    let output_form = target::parse_output_form(args)?.0;
    if is_terminal && matches!(output_form, OutputForm::Columns(_)) && !args.column_types.schema_only {
        return Err(usage_text_error(format!(
            "{} is not for a terminal: name a file with --output",
            args.output_form()
        )));
    }
    let mut target = Target::new(destination)?;
    if is_terminal && output_form == OutputForm::Json {
        target.writer.paint_json(global.color);
    } else if is_terminal {
        target.writer.escape_controls();
    }
    Ok(target)
}

/// The conversion of one or more tables.
struct RowsJob<'j> {
    args: &'j Rows,
    global: &'j Global,
    options: Options,
    /// The column that is decoded if none is given.
    default_column: Option<&'static str>,
    /// Whether there is only one input. Then an error of the input ends the command.
    is_only_input: bool,
    /// The name of the first table in the output, and the columns that all tables must have.
    header: Option<(String, Vec<String>)>,
    tallies: Vec<Tally>,
    /// With --all-tables, the positions of the columns to decode that a table has.
    found_columns: BTreeSet<usize>,
    /// With --all-tables, the problems with --only and --skip-column that all tables so far have in common.
    unknown_columns: Option<BTreeSet<String>>,
    /// With --all-tables, the tables that have no column to decode.
    skipped_tables: Vec<String>,
    /// Number of rows that may still be written to the current output; `None` means all.
    remaining_rows: Option<u64>,
    /// The columns of a table that is made from JSON objects, once they are known.
    object_names: Option<Vec<String>>,
    /// The form of the inputs, if given.
    form: Option<TableForm>,
    /// The layout and the writer for columns with types, once they are known.
    #[cfg(feature = "columns")]
    typed_output: Option<(Arc<columnar::OutputLayout>, columnar::Writer)>,
    /// Notes about the types of columns.
    #[cfg(feature = "columns")]
    type_notes: Vec<String>,
    /// The types of the columns of the input, if they have any.
    #[cfg(feature = "columns")]
    input_types: Option<columnar::Fields>,
}

impl<'j> RowsJob<'j> {
    fn new(args: &'j Rows, form: Option<TableForm>, global: &'j Global) -> Result<RowsJob<'j>, Abort> {
        Ok(RowsJob {
            args,
            global,
            options: args.row_options(global)?,
            default_column: None,
            is_only_input: false,
            header: None,
            tallies: Vec::new(),
            found_columns: BTreeSet::new(),
            unknown_columns: None,
            skipped_tables: Vec::new(),
            remaining_rows: args.items,
            object_names: None,
            form,
            #[cfg(feature = "columns")]
            typed_output: None,
            #[cfg(feature = "columns")]
            type_notes: Vec::new(),
            #[cfg(feature = "columns")]
            input_types: None,
        })
    }

    /// With --all-tables, removes from the unknown columns those that this table has.
    fn narrow_unknown_columns(&mut self, plan: &Plan) {
        let unknown: BTreeSet<String> = plan.find_unknown_columns().into_iter().collect();
        self.unknown_columns = Some(match self.unknown_columns.take() {
            Some(previous) => previous.intersection(&unknown).cloned().collect(),
            None => unknown,
        });
    }

    /// Reports the tables that are not in the output.
    #[cfg(feature = "store")]
    fn report_skipped_tables(&self, report: &Report) {
        if !self.skipped_tables.is_empty() {
            let advice = "--out-dir DIR writes each table to a file of its own";
            report.report_command_note("skipped", describe_skipped_tables(&self.skipped_tables, advice));
        }
    }

    /// Begins a new output.
    fn begin_output(&mut self) {
        self.header = None;
        self.remaining_rows = self.args.items;
        self.object_names = None;
        #[cfg(feature = "columns")]
        {
            self.typed_output = None;
        }
    }

    /// Returns true if the output has all rows of --items.
    fn has_reached_row_limit(&self) -> bool {
        self.remaining_rows == Some(0)
    }

    /// Writes all tables to the standard output or to one file.
    fn write_to_one(&mut self, destination: Destination, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
        let mut target = open_target(self.args, self.global, destination)?;
        for source in sources {
            if self.convert_source(source, &mut target.writer, report)? {
                target.writer.count_document();
            }
            if self.has_reached_row_limit() {
                break;
            }
        }
        self.finish_output(&mut target.writer)?;
        // No file appears if no table was converted.
        if target.is_file() && target.writer.document_count() == 0 { Ok(()) } else { target.complete_output() }
    }

    /// Writes each input to a file of its own.
    fn write_to_folder(
        &mut self,
        folder: &mut OutputFolder,
        sources: &[Source],
        report: &mut Report,
    ) -> Result<(), Abort> {
        let extension = target::file_extension(self.args)?;
        for source in sources {
            self.begin_output();
            match folder.open_target(source, extension) {
                Ok(mut target) => {
                    if self.convert_source(source, &mut target.writer, report)? {
                        self.finish_output(&mut target.writer)?;
                        target.complete_output()?;
                    }
                }
                Err(Abort::Failed(code, message)) => report.report_refused_output(code, &source.name(), message),
                Err(abort) => return Err(abort),
            }
        }
        Ok(())
    }

    /// Converts a table. Returns true if all of it was read.
    fn convert_source(
        &mut self,
        source: &Source,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        report.count_input();
        let name = source.name();
        let result = match source.open() {
            Ok(input) => self.convert_input(input, source, &name, writer, report),
            Err(error) => {
                report.report_io_error(&name, &error);
                return Ok(false);
            }
        };
        match result {
            Err(Abort::Failed(code, message)) if !self.is_only_input => {
                report.report_fault(code, &name, message);
                Ok(false)
            }
            result => result.map(|()| true),
        }
    }

    /// Unpacks an input, and detects its form.
    fn convert_input(
        &mut self,
        input: Box<dyn Read + Send>,
        source: &Source,
        name: &str,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let mut max_record = self.args.max_record;
        let mut file = source.open_file();
        let read_error = |error: io::Error| self.input_error(name, &error);
        let unpacked = Head::read_for_packing(input).and_then(|head| match Packing::from_head(&head.bytes) {
            None => Ok(head.input),
            Some(packing) => {
                // A single row may be as long as the limit for the whole unpacked data.
                max_record = max_record.min(self.global.limits.decompressed);
                file = None;
                packing.unpack_input(head.input)
            }
        });
        let examined = examined_rows::examine_input(
            self.args,
            self.form,
            unpacked.map_err(read_error)?,
            source,
            file.is_some(),
            name,
        );
        let examined = examined.map_err(|error| match error {
            Abort::Failed(code, text) => Abort::Failed(code, self.with_input_name(name, &text)),
            other => other,
        })?;
        let ExaminedRows { input, form, csv, was_wide } = examined;
        // Parquet and Arrow are read from the file at any position, unless the bytes of the file have to be
        // converted.
        #[cfg(feature = "columns")]
        let file = file.filter(|_| !was_wide);
        #[cfg(not(feature = "columns"))]
        let _ = was_wide;
        if matches!(form, TableForm::Parquet | TableForm::Arrow) {
            columnar::check_support()?;
            #[cfg(feature = "columns")]
            return self.convert_typed_records(input, file, name, form, writer, report);
        }
        self.convert_table(input, name, max_record, (form, csv), writer, report)
    }

    /// Returns a message about an input; the name of the only input is added because it is reported nowhere else.
    fn with_input_name(&self, name: &str, text: &str) -> String {
        if self.is_only_input { format!("{name}: {text}") } else { text.to_owned() }
    }

    fn input_error(&self, name: &str, error: &io::Error) -> Abort {
        match Error::from_io(error).into() {
            Abort::Failed(code, text) => Abort::Failed(code, self.with_input_name(name, &text)),
            other => other,
        }
    }

    /// Converts the rows of one table. `csv_dialect` is the dialect of a CSV input.
    fn convert_table(
        &mut self,
        input: Box<dyn Read + Send>,
        name: &str,
        max_record: u64,
        (form, csv_dialect): (TableForm, Option<DetectedDialect>),
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let RowsJob { args, default_column, .. } = *self;
        let (object_names, input) =
            self.read_object_names(form, input).map_err(|error| self.input_error(name, &error))?;
        let window = Window::new(input, args.chunk);
        let request = PlanRequest { options: &self.options, form, default_column, file: name };
        let tally = Tally::for_rows(name);
        if form == TableForm::Sql && !args.names.is_empty() {
            return Err(usage_text_error(
                "--columns names the columns of a file without a header: `--only` writes only some columns of a dump",
            ));
        }
        if form == TableForm::Sql {
            let dump =
                Dump::new(window, Plan::without_columns(&request)?, TableSelection::new(&args.columns)?, max_record);
            let skipped_tables = dump.skipped_tables();
            self.convert_rows(dump, None, name, tally, writer, report)?;
            if let Some(names) = skipped_tables.get().filter(|names| !names.is_empty()) {
                let advice = "--table or `rows` without -c shows them";
                report.report_note(name, "skipped", describe_skipped_tables(names, advice));
            }
            Ok(())
        } else {
            let table =
                Table::new(form, window, Settings::from_style(&self.options.input, form, max_record, csv_dialect)?);
            let mut table = table.map_err(|error| self.input_error(name, &error))?;
            let mut header = table.read_header().map_err(|error| self.input_error(name, &error))?;
            header.extend(object_names);
            #[cfg(feature = "store")]
            let own_columns = tables::own_columns(args, name, &header);
            #[cfg(not(feature = "store"))]
            let own_columns: Option<Vec<(usize, String)>> = None;
            // Tables without a column to decode are left out of a shared output, but get a file of their own.
            if own_columns.as_ref().is_some_and(Vec::is_empty) && self.args.output_args.out_dir.is_none() {
                self.skipped_tables.push(name.to_owned());
                return Ok(());
            }
            let own_options = own_columns.map(|columns| {
                self.found_columns.extend(columns.iter().map(|(position, _)| *position));
                let columns = columns.into_iter().map(|(_, column)| column).collect();
                Options { columns, ..self.options.clone() }
            });
            let request = PlanRequest { options: own_options.as_ref().unwrap_or(&self.options), ..request };
            let plan = Arc::new(Plan::new(&request, header)?);
            if own_options.is_none() {
                plan.check_selected_columns()?;
            } else {
                self.narrow_unknown_columns(&plan);
            }
            // The header is also written for a table without rows.
            self.write_header(name, &plan, writer)?;
            self.convert_rows(table.with_plan(&plan), Some(plan), name, tally, writer, report)
        }
    }

    /// Reads the names of the columns of a table that is made from JSON objects: the keys of the first rows of the first
    /// input. There are none for other inputs and outputs, and if --columns has them. The input is returned as a whole.
    fn read_object_names(
        &mut self,
        form: TableForm,
        input: Box<dyn Read + Send>,
    ) -> io::Result<(Vec<String>, Box<dyn Read + Send>)> {
        let is_needed = form == TableForm::Ndjson && self.options.out.is_table() && self.args.names.is_empty();
        match &self.object_names {
            _ if !is_needed => Ok((Vec::new(), input)),
            Some(names) => Ok((names.clone(), input)),
            None => {
                let max_rows = self.args.column_types.infer.max(1);
                let (names, input) =
                    object_names::read_names(input, max_rows, self.options.json.format(), &self.options.limits)?;
                self.object_names = Some(names.clone());
                Ok((names, input))
            }
        }
    }

    /// Converts rows, and reports the results. `plan` is the plan of all rows, if there is a single one.
    fn convert_rows(
        &mut self,
        batch_reader: impl BatchReader<Batch = Batch>,
        plan: Option<Arc<Plan>>,
        name: &str,
        mut tally: Tally,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let batch_reader = FirstRows::new(batch_reader, self.remaining_rows);
        let mut frozen_columns = FrozenColumns::default();
        let pool_result = self.start_decoding(batch_reader, plan, name, writer)?;
        #[cfg(feature = "columns")]
        self.type_notes.drain(..).for_each(|note| report.report_note(name, "type", note));
        let result = match pool_result {
            Ok(Some(pool)) => self.write_batches(&pool, name, writer, (&mut tally, &mut frozen_columns), report)?,
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        if tally.has_unreadable() {
            report.count_undecodable_input();
        }
        if !self.args.names.is_empty() || !self.args.only.is_empty() {
            tally.late_keys = None;
        }
        reports::report_totals(&tally, report, self.global.quiet);
        #[cfg(feature = "columns")]
        if tally.has_unreadable() && self.args.on_error == OnError::Keep {
            self.report_lost_text(name, report);
        }
        let has_all_rows = result.is_ok() && self.args.items.is_none() && self.args.on_error != OnError::Stop;
        report_absent_keys(&tally, name, has_all_rows, report)?;
        self.suggest_columns(frozen_columns.found(), name, report);
        self.remaining_rows = self.remaining_rows.map(|count| count.saturating_sub(tally.records));
        self.tallies.push(tally);
        result.map_err(|error| self.input_error(name, &error))
    }

    /// Reports that a column with a type has no place for the text of values that can't be decoded.
    #[cfg(feature = "columns")]
    fn report_lost_text(&self, name: &str, report: &Report) {
        let typed_column = self.typed_output.as_ref().and_then(|(layout, _)| layout.first_typed_column());
        if let Some(column) = typed_column {
            let column = icecore::text::printable(column);
            let message = format!(
                "values that can't be decoded are null in the column {column}; --schema '{column}: json' keeps their text"
            );
            report.report_note(name, "null", message);
        }
    }

    /// Starts the threads that decode rows, for text. The result has the same type as with the feature `columns`, see
    /// `records.rs`.
    #[cfg(not(feature = "columns"))]
    fn start_decoding(
        &mut self,
        batch_reader: impl BatchReader<Batch = Batch>,
        _: Option<Arc<Plan>>,
        _: &str,
        _: &mut OutputWriter,
    ) -> Result<io::Result<Option<Pool<Batch>>>, Abort> {
        Ok(Ok(Some(start_text_decoding(batch_reader))))
    }

    /// Writes the names of the columns, if they are not written yet.
    fn write_header(&mut self, name: &str, plan: &Plan, writer: &mut OutputWriter) -> Result<(), Abort> {
        if self.needs_header(name, plan)? {
            plan.write_header(writer.buffer_mut());
        }
        Ok(())
    }

    /// Returns true if the output has no header yet. Fails if the columns are not those of the header.
    fn needs_header(&mut self, name: &str, plan: &Plan) -> Result<bool, Abort> {
        let (columns, table) = (plan.output_names(), if plan.table.is_empty() { name } else { &plan.table });
        match &self.header {
            None => {
                self.header = Some((table.to_owned(), columns));
                Ok(true)
            }
            Some((first_table, header_columns)) if plan.out != OutputForm::Json && *header_columns != columns => {
                let advice = match plan.form {
                    TableForm::Sql => "--table TABLE reads one of them, and rows in json may have different columns",
                    #[cfg(feature = "store")]
                    TableForm::Database => {
                        "--out-dir DIR writes each table to a file of its own, and --table TABLE reads one of them"
                    }
                    _ => "--out-dir DIR writes each file to a file of its own",
                };
                let describe = |word: &str, table: &str| format!("{word} of {table}");
                // The message begins with the name of the input, so the name is not repeated.
                let own_description =
                    if table == name { "its columns".to_owned() } else { describe("the columns", table) };
                let header_description = if first_table == table {
                    "those of earlier rows".to_owned()
                } else {
                    describe("those", first_table)
                };
                Err(usage_text_error(format!(
                    "{own_description} ({}) are not {header_description} ({}), so one {} can't have both: {advice}",
                    join_names(&columns),
                    join_names(header_columns),
                    self.args.output_form()
                )))
            }
            Some(_) => Ok(false),
        }
    }

    /// Suggests how to decode columns that look like frozen data, if no column was named.
    fn suggest_columns(&self, frozen: &[FrozenColumn], name: &str, report: &Report) {
        if frozen.is_empty() {
            return;
        }
        let is_dump = frozen.iter().any(|column| !column.table.is_empty() && column.table != name);
        let names: Vec<String> = frozen
            .iter()
            .map(|column| if is_dump { format!("{}.{}", column.table, column.column) } else { column.column.clone() })
            .collect();
        let descriptions: Vec<String> =
            names.iter().zip(frozen).map(|(name, column)| format!("`{name}` ({})", column.format)).collect();
        let options: Vec<String> = names.iter().map(|name| format!("-c {}", quote_for_shell(name))).collect();
        let (columns, verb, them) = match names.len() {
            1 => ("the column", "looks", "it"),
            _ => ("the columns", "look", "them"),
        };
        let text = format!(
            "{columns} {} {verb} like frozen data: {} decodes {them}",
            join_names(&descriptions),
            options.join(" ")
        );
        report.report_note(name, "frozen", text);
    }

    /// Writes the end of the output, after all rows.
    fn finish_output(&mut self, writer: &mut OutputWriter) -> Result<(), Abort> {
        #[cfg(feature = "columns")]
        if let Some((_, mut columns_writer)) = self.typed_output.take() {
            columns_writer.finish()?;
            columns_writer.take_output(|bytes| writer.write_piece(bytes))?;
        }
        writer.flush()
    }

    /// Converts all rows. One thread reads, one thread per processor decodes, and the calling thread writes, in the
    /// order of the input. The inner error says why the table could not be read to its end.
    fn write_batches(
        &mut self,
        pool: &Pool<Batch>,
        name: &str,
        writer: &mut OutputWriter,
        (tally, frozen): (&mut Tally, &mut FrozenColumns),
        report: &mut Report,
    ) -> Result<io::Result<()>, Abort> {
        let mut error_count = 0;
        let stops_at_error = self.args.on_error == OnError::Stop;
        while let Some(batch) = pool.next_batch() {
            #[cfg_attr(not(feature = "columns"), expect(unused_mut, reason = "for columns"))]
            let mut batch = match batch {
                Ok(batch) => batch,
                Err(error) => {
                    // The rows before the error are written.
                    writer.flush()?;
                    return Ok(Err(error));
                }
            };
            for (_, plan) in &batch.plans {
                self.write_header(name, plan, writer)?;
            }
            tally.records += batch.row_count() as u64;
            tally.bytes = batch.end;
            for row_error in &batch.tally.errors {
                reports::report_row_error(tally, row_error, &mut error_count, report);
            }
            tally.merge(&batch.tally);
            frozen.examine(&batch);
            writer.buffer_mut().extend_from_slice(&batch.out);
            #[cfg(feature = "columns")]
            if let Some(reason) = self.write_columns(&mut batch, writer)? {
                writer.flush()?;
                return Ok(Err(io::Error::other(reason)));
            }
            // A reader at the other end should not wait until more input arrives.
            if batch.is_last_for_now {
                writer.flush()?
            } else {
                writer.release_record()?
            }
            progress::set_record_count(tally.records);
            if stops_at_error && tally.bad > 0 {
                break;
            }
            pool.recycle_batch(batch);
        }
        writer.flush().map(Ok)
    }
}

/// Starts the threads that decode rows and write them as text.
fn start_text_decoding(batch_reader: impl BatchReader<Batch = Batch>) -> Pool<Batch> {
    Pool::start(batch_reader, || {
        let mut decoders = Decoders::default();
        move |batch: &mut Batch| decoders.decode_batch(batch)
    })
}
