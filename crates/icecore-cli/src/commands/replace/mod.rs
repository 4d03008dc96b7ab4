//! `icecore replace`: replaces text in dumps, also inside frozen data.
//!
//! One thread reads an input and cuts it into chunks, other threads change the values in them
//! (`icecore_tables::replace`), and the main thread writes the chunks in order. An input that is itself a document is
//! read as a whole (`documents.rs`).

mod args;
mod chunks;
#[cfg(feature = "store")]
mod database;
mod documents;
mod dry_run;
mod examined_input;
mod messages;
mod output;
mod pairs;
#[cfg(feature = "store")]
mod resume;
mod summary;
#[cfg(feature = "store")]
mod undo;

pub use args::Replace;

use crate::arguments::Global;
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::paint::Paint;
use crate::report::{Abort, Report, usage_text_error};
use crate::source::Source;
use crate::target::{Destination, InPlaceFile, OutputFolder, Outputs, Target, leave_out_backups};
use chunks::ChunkedInput;
use examined_input::ExaminedInput;
use icecore::Stage;
use icecore::rewrite::Rewriting;
use icecore_csv::{DetectedDialect, Scanner};
use icecore_replace::Rules;
use icecore_tables::charset::CharsetArg;
use icecore_tables::form::{InputForm, NDJSON};
use icecore_tables::replace::change_counts::ChangeCounts;
use icecore_tables::replace::input::{Cut, Cutter, DumpCutter};
use icecore_tables::replace::places::ColumnRegistry;
use icecore_tables::replace::plan::ReplacePlan;
use icecore_tables::replace::rule_sets::{GivenCharset, RuleSets};
use icecore_tables::replace::show::Show;
use icecore_tables::replace::worker::{Columns, Lexer};
use icecore_tables::unicode::{Decoder, WideEncoding};
use output::EncodedOutput;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

pub fn run(args: &Replace, global: &Global, report: &mut Report) -> Result<(), Abort> {
    #[cfg(feature = "store")]
    if let Some(file) = &args.undo {
        return undo::run(args, global, file, report);
    }
    let (rules, files) = pairs::build_rules(args)?;
    messages::warn_about_rerun(&rules, report);
    let job = ReplaceJob::new(args, global, rules)?;
    #[cfg(feature = "store")]
    if args.database.db.is_some() || args.database.db_file.is_some() {
        if args.charset.is_some() {
            return Err(usage_text_error("--charset is for files: a database converts what it sends"));
        }
        return job.change_database(&files, report);
    }
    #[cfg(feature = "store")]
    if args.undo_file.is_some() || args.no_undo {
        return Err(usage_text_error("--undo-file and --no-undo are for --db; --in-place keeps a backup of each file"));
    }
    job.change_files(&files, report)
}

/// The change of all inputs.
struct ReplaceJob<'j> {
    args: &'j Replace,
    rules: Rules,
    rewrite_options: Rewriting,
    /// The form that `--in` gives; otherwise the form of each input is detected.
    form: Option<InputForm>,
    json_stage: Stage,
    /// The columns of all tables, by number.
    column_registry: Arc<ColumnRegistry>,
    paint: Paint,
}

/// The changes in one input.
struct InputChanges {
    /// Whether all of the input could be read.
    is_complete: bool,
    counts: ChangeCounts,
    is_changed: bool,
}

impl Default for InputChanges {
    fn default() -> InputChanges {
        InputChanges { is_complete: true, counts: ChangeCounts::default(), is_changed: false }
    }
}

/// The results of the inputs so far.
#[derive(Default)]
struct ReplaceResults {
    counts: ChangeCounts,
    inputs: Vec<summary::InputSummary>,
}

/// Parses the value of `--in`: a form of texts and tables, or a format of documents.
fn parse_input_form(text: &str) -> Result<InputForm, Abort> {
    if !matches!(text, "sql" | "csv" | "tsv" | NDJSON | "text") {
        mistakes::stage(text).map_err(|abort| match abort {
            Abort::Failed(code, reason) => {
                Abort::Failed(code, format!("--in takes sql, csv, tsv, ndjson, text or a format; {reason}"))
            }
            Abort::Closed => abort,
        })?;
    }
    Ok(InputForm::parse(text)?)
}

impl ReplaceJob<'_> {
    fn new<'j>(args: &'j Replace, global: &Global, rules: Rules) -> Result<ReplaceJob<'j>, Abort> {
        let mut options = Rewriting::default();
        (options.keys, options.classes, options.base64, options.repair) =
            (args.keys, args.classes, args.base64, args.mend);
        options.limits = (*global.limits).clone();
        let form = args.form.as_deref().map(parse_input_form).transpose()?;
        if args.each.is_some() && !matches!(form, Some(InputForm::Document(_))) {
            return Err(usage_text_error("--each needs the format of the documents: --in FORMAT"));
        }
        let json_stage = Stage::parse(icecore_tables::form::JSON).map_err(crate::report::usage_error)?;
        let column_registry = Arc::new(ColumnRegistry::new(args.table_filter()));
        Ok(ReplaceJob {
            args,
            rules,
            rewrite_options: options,
            form,
            json_stage,
            column_registry,
            paint: Paint::new(global.color, &io::stdout()),
        })
    }

    /// Changes files, folders or the standard input.
    fn change_files(&self, files: &[std::path::PathBuf], report: &mut Report) -> Result<(), Abort> {
        mistakes::refuse_compressed_output(self.args.in_place_args.output_args.output.as_ref())?;
        let mut sources = Source::find_all(files, report);
        if self.args.in_place_args.in_place {
            sources = leave_out_backups(sources, &self.args.in_place_args.backup, report);
        }
        let mut outputs = Outputs::new(&sources, self.args.force);
        let summary_destination = self.args.summary.as_ref().map(|path| outputs.destination_at(path)).transpose()?;
        let mut results = ReplaceResults::default();
        if self.args.dry_run {
            self.change_to_one(outputs.output_destination(None)?, &sources, &mut results, report)?;
        } else if self.args.in_place_args.in_place {
            self.change_in_place(&sources, &mut results, report)?;
        } else if let Some(folder) = &self.args.in_place_args.output_args.out_dir {
            self.change_to_folder(&mut OutputFolder::new(folder, outputs, &sources), &sources, &mut results, report)?;
        } else {
            self.change_to_one(
                outputs.output_destination(self.args.in_place_args.output_args.output.as_ref())?,
                &sources,
                &mut results,
                report,
            )?;
        }
        messages::report_totals(&results, &self.rules, self.args, &self.column_registry, report);
        let build_summary = || {
            summary::format_summary(
                &results.counts,
                &results.inputs,
                &self.rules,
                &self.column_registry,
                self.args.dry_run,
                None,
            )
        };
        summary_destination.map_or(Ok(()), |destination| Target::write_text(destination, &build_summary()?))
    }

    /// Writes all inputs to the standard output or to one file.
    fn change_to_one(
        &self,
        destination: Destination,
        sources: &[Source],
        results: &mut ReplaceResults,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let writes_data = matches!(destination, Destination::Stdout) && !self.args.dry_run;
        let mut target = Target::new(destination)?;
        if writes_data && !self.args.force {
            target.writer.escape_controls();
        }
        let mut is_complete = true;
        for source in sources {
            is_complete &= self.change_source(source, &mut target.writer, results, report)?;
        }
        // An incomplete file does not appear.
        if target.is_file() && !is_complete { Ok(()) } else { target.complete_output() }
    }

    /// Writes each input to a file of its own.
    fn change_to_folder(
        &self,
        folder: &mut OutputFolder,
        sources: &[Source],
        results: &mut ReplaceResults,
        report: &mut Report,
    ) -> Result<(), Abort> {
        for source in sources {
            match folder.open_same_name(source) {
                Ok(mut target) => {
                    if self.change_source(source, &mut target.writer, results, report)? {
                        target.complete_output()?;
                    }
                }
                Err(Abort::Failed(code, message)) => report.report_refused_output(code, &source.name(), message),
                Err(abort) => return Err(abort),
            }
        }
        Ok(())
    }

    /// Changes each file in place, if something in it changes.
    fn change_in_place(
        &self,
        sources: &[Source],
        results: &mut ReplaceResults,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let files =
            sources.iter().map(|source| InPlaceFile::new(source, &self.args.in_place_args.backup, self.args.force));
        let files: Vec<InPlaceFile> = files.collect::<Result<_, Abort>>()?;
        for (source, file) in sources.iter().zip(files) {
            let mut target = file.open_target()?;
            let (input_count, previous_counts) = (results.inputs.len(), results.counts.clone());
            let is_complete = self.change_source(source, &mut target.writer, results, report)?;
            let is_changed =
                results.inputs.get(input_count..).is_some_and(|inputs| inputs.iter().any(|input| input.is_changed));
            if is_complete && is_changed {
                match file.replace_original(target) {
                    Err(Abort::Failed(code, message)) => {
                        // The file was not changed.
                        results.counts = previous_counts;
                        results.inputs.truncate(input_count);
                        report.report_fault(code, &source.name(), message);
                    }
                    result => result?,
                }
            }
        }
        Ok(())
    }

    /// Changes one input. Returns true if all of it is in the output.
    fn change_source(
        &self,
        source: &Source,
        writer: &mut OutputWriter,
        results: &mut ReplaceResults,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        report.count_input();
        let name = source.name();
        let result = match source.open() {
            Ok(input) => self.change_input(input, source, &name, writer, results, report),
            Err(error) => {
                report.report_io_error(&name, &error);
                return Ok(false);
            }
        };
        match result {
            Err(Abort::Failed(code, message)) => {
                report.report_fault(code, &name, message);
                Ok(false)
            }
            result => result,
        }
    }

    /// Replaces in one input, and adds the results to `results`. Returns true if all of the input was processed.
    fn change_input(
        &self,
        input: Box<dyn Read + Send>,
        source: &Source,
        name: &str,
        writer: &mut OutputWriter,
        results: &mut ReplaceResults,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        let ExaminedInput { head, form, is_guessed, wide_encoding, is_file } =
            self.examine_input(input, source, name)?;
        let table = match source.relative_path.file_stem() {
            Some(stem) => stem.to_string_lossy().into_owned(),
            None => name.to_owned(),
        };
        let plan = Arc::new(ReplacePlan {
            rules: self.build_rule_sets(wide_encoding).map_err(usage_text_error)?,
            rewrite_options: self.rewrite_options.clone(),
            only_serialized: self.args.only_serialized,
            change_printer: self.args.dry_run.then(|| Arc::new(self.paint) as Arc<dyn Show>),
            places: Arc::clone(&self.column_registry),
            json: self.json_stage.clone(),
            input: name.to_owned(),
            table,
        });
        let chunked_input = ChunkedInput { plan: &plan, name, form: &form, is_guessed };
        let mut output = EncodedOutput::new(writer, wide_encoding, self.args.dry_run);
        let chunk_len = usize::try_from(self.args.chunk).unwrap_or(1 << 18).clamp(1, 64 << 20);
        let InputChanges { is_complete, mut counts, is_changed } = match &form {
            InputForm::Sql => {
                let dump = DumpCutter::new(head.input, chunk_len, Arc::clone(&plan), wide_encoding.is_some());
                chunked_input.change_chunks(dump, Lexer::None, &mut output, report)?
            }
            InputForm::Document(stage) => {
                documents::change_documents(&plan, head.input, stage, self.args.each, &mut output, report)?
            }
            _ => {
                let reopen = || {
                    source.open_file().filter(|_| is_file).map(|file| self.open_text(file?, wide_encoding)).transpose()
                };
                let dialect = match &form {
                    InputForm::Csv => {
                        Some(icecore_tables::csv::determine_dialect(self.args.csv.to_detector(), &head, reopen)?)
                    }
                    _ => None,
                };
                let needs_check = is_guessed || dialect.is_some() || plan.rules.needs_charset();
                if needs_check && let Some(text) = reopen().map_err(|error| input_error(&error))? {
                    let (cutter, lexer) = self.create_cutter(text, chunk_len, &chunked_input, dialect)?;
                    chunked_input.check_chunks(cutter, lexer)?;
                }
                let (cutter, lexer) = self.create_cutter(head.input, chunk_len, &chunked_input, dialect)?;
                chunked_input.change_chunks(cutter, lexer, &mut output, report)?
            }
        };
        plan.rules.notes().into_iter().for_each(|note| report.report_note(name, "charset", note));
        counts.broken.iter_mut().for_each(|value| value.input = name.to_owned());
        let encoding = wide_encoding.map(|encoding| encoding.units.name());
        results.inputs.push(summary::InputSummary { input: name.to_owned(), form: form.name(), encoding, is_changed });
        results.counts.add(counts);
        writer.count_document();
        Ok(is_complete)
    }

    /// Returns the rules for an input; an input in UTF-16 or UTF-32 is converted to UTF-8 first.
    fn build_rule_sets(&self, wide_encoding: Option<WideEncoding>) -> Result<RuleSets, String> {
        let given_charset = match &self.args.charset {
            _ if wide_encoding.is_some() => Some(GivenCharset::Utf8),
            None => None,
            Some(CharsetArg::Single(charset)) => Some(GivenCharset::Single(charset.clone())),
            Some(CharsetArg::Utf8 | CharsetArg::Wide(_)) => Some(GivenCharset::Utf8),
        };
        RuleSets::new(&self.rules, given_charset.as_ref())
    }

    /// Returns the text of a file from its beginning.
    fn open_text(&self, file: File, wide_encoding: Option<WideEncoding>) -> io::Result<Box<dyn Read + Send>> {
        Ok(match wide_encoding {
            Some(encoding) => Box::new(Decoder::new(file, encoding)),
            None => Box::new(file),
        })
    }

    /// Returns the cutter that splits an input of this form into chunks, and the lexer that finds the values in them.
    fn create_cutter(
        &self,
        input: Box<dyn Read + Send>,
        chunk_len: usize,
        chunked_input: &ChunkedInput<'_>,
        dialect: Option<DetectedDialect>,
    ) -> Result<(Cutter, Lexer), Abort> {
        let (plan, read_error) = (&**chunked_input.plan, |error: io::Error| input_error(&error));
        Ok(match (chunked_input.form, dialect) {
            (InputForm::Csv, Some(detected)) => {
                let mut cutter = Cutter::new(input, chunk_len, Cut::Rows(Scanner::new(detected.dialect)));
                let (row, columns) = self.read_csv_columns(&mut cutter, plan, detected).map_err(read_error)?;
                chunked_input.check_header(&row, detected.start)?;
                (cutter, Lexer::Csv(detected.dialect, columns))
            }
            (InputForm::Tsv, _) => {
                let delimiter = self.args.csv.delimiter.unwrap_or(b'\t');
                let mut cutter = Cutter::new(input, chunk_len, Cut::Lines);
                let (row, columns) = self.read_tsv_columns(&mut cutter, plan, delimiter).map_err(read_error)?;
                chunked_input.check_header(&row, 0)?;
                (cutter, Lexer::Tsv(delimiter, columns))
            }
            (InputForm::Ndjson, _) => (Cutter::new(input, chunk_len, Cut::Lines), Lexer::Ndjson),
            _ => (Cutter::new(input, chunk_len, Cut::Text(plan.rules.default_rules())), Lexer::Text),
        })
    }

    /// Returns the first row of a CSV table, and the columns that it names.
    fn read_csv_columns(
        &self,
        cutter: &mut Cutter,
        plan: &ReplacePlan,
        detected: DetectedDialect,
    ) -> io::Result<(Vec<u8>, Columns)> {
        if self.args.no_header {
            cutter.begin_without_header(detected.start)?;
            return Ok((Vec::new(), Columns { places: Vec::new(), table: plan.table.clone() }));
        }
        let row = cutter.read_header(detected.start)?;
        let mut cells = Vec::new();
        let is_end = true;
        Scanner::new(detected.dialect).next_row(&row, is_end, &mut cells);
        let names = cells.iter().map(|cell| detected.dialect.decode_cell(cell, &row).into_owned());
        let columns = number_columns(plan, names);
        Ok((row, columns))
    }

    /// Returns the first row of a table with tabs, and the columns that it names.
    fn read_tsv_columns(
        &self,
        cutter: &mut Cutter,
        plan: &ReplacePlan,
        delimiter: u8,
    ) -> io::Result<(Vec<u8>, Columns)> {
        if self.args.no_header {
            return Ok((Vec::new(), Columns { places: Vec::new(), table: plan.table.clone() }));
        }
        let row = cutter.read_header(0)?;
        let line = row.strip_prefix(icecore_tables::byte_order_mark::MARK).unwrap_or(&row);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let columns = number_columns(plan, line.split(|byte| *byte == delimiter).map(<[u8]>::to_vec));
        Ok((row, columns))
    }
}

/// Returns the columns with these names. A column without a name gets its number, from 1 on, as its name.
fn number_columns(plan: &ReplacePlan, names: impl Iterator<Item = Vec<u8>>) -> Columns {
    let number_column = |(column, name): (usize, Vec<u8>)| {
        let name = if name.is_empty() { (column + 1).to_string() } else { String::from_utf8_lossy(&name).into_owned() };
        plan.places.number_place(None, &plan.table, &name)
    };
    Columns { places: names.enumerate().map(number_column).collect(), table: plan.table.clone() }
}

/// Converts an error of reading an input.
fn input_error(error: &io::Error) -> Abort {
    icecore_tables::Error::from_io(error).into()
}
