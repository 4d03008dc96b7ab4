//! `icecore replace`: replaces text in dumps, also inside frozen data.
//!
//! One thread reads an input and cuts it into chunks, others change the values in them (`icecore_tables::replace`), and
//! this one writes, in the order of the input. An input that is itself a document is read as a whole (`documents.rs`).

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
use crate::paint::Paint;
use crate::report::{Abort, Report, usage_text_error};
use crate::sink::Sink;
use crate::source::Source;
use crate::target::{Destination, InPlaceFile, OutputFolder, Outputs, Target};
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

/// The work on all inputs.
struct ReplaceJob<'j> {
    args: &'j Replace,
    rules: Rules,
    rewrite_options: Rewriting,
    form: Option<InputForm>,
    json: Stage,
    places: Arc<ColumnRegistry>,
    paint: Paint,
}

/// The results of the inputs so far.
#[derive(Default)]
struct ReplaceResults {
    account: ChangeCounts,
    inputs: Vec<summary::InputSummary>,
}

/// Parses the value of `--in`: a form of texts and tables, or a format of documents.
fn input_form(text: &str) -> Result<InputForm, Abort> {
    if !matches!(text, "sql" | "csv" | "tsv" | NDJSON | "text") {
        mistakes::stage(text).map_err(|abort| match abort {
            Abort::Failed(code, why) => {
                Abort::Failed(code, format!("--in takes sql, csv, tsv, ndjson, text or a format; {why}"))
            }
            Abort::Closed => abort,
        })?;
    }
    Ok(InputForm::parse(text)?)
}

impl ReplaceJob<'_> {
    fn new<'j>(args: &'j Replace, global: &Global, rules: Rules) -> Result<ReplaceJob<'j>, Abort> {
        let mut how = Rewriting::default();
        (how.keys, how.classes, how.base64, how.mend) = (args.keys, args.classes, args.base64, args.mend);
        how.limits = (*global.limit).clone();
        let form = args.form.as_deref().map(input_form).transpose()?;
        if args.each.is_some() && !matches!(form, Some(InputForm::Document(_))) {
            return Err(usage_text_error("--each needs the format of the documents: --in FORMAT"));
        }
        let json = Stage::parse(icecore_tables::form::JSON).map_err(crate::report::usage_error)?;
        let places = Arc::new(ColumnRegistry::new(args.table_filter()));
        Ok(ReplaceJob {
            args,
            rules,
            rewrite_options: how,
            form,
            json,
            places,
            paint: Paint::new(global.color, &io::stdout()),
        })
    }

    /// Changes files, folders or the standard input.
    fn change_files(&self, files: &[std::path::PathBuf], report: &mut Report) -> Result<(), Abort> {
        let sources = Source::find_all(files, report);
        let mut outputs = Outputs::new(&sources, self.args.force);
        let place = self.args.summary.as_ref().map(|path| outputs.destination_at(path)).transpose()?;
        let mut done = ReplaceResults::default();
        if self.args.dry_run {
            self.change_to_one(outputs.output_destination(None)?, &sources, &mut done, report)?;
        } else if self.args.place.in_place {
            self.change_in_place(&sources, &mut done, report)?;
        } else if let Some(folder) = &self.args.place.written.out_dir {
            self.change_to_folder(&mut OutputFolder::new(folder, outputs, &sources), &sources, &mut done, report)?;
        } else {
            self.change_to_one(
                outputs.output_destination(self.args.place.written.output.as_ref())?,
                &sources,
                &mut done,
                report,
            )?;
        }
        messages::report_totals(&done, &self.rules, self.args, &self.places, report);
        let written =
            || summary::format_summary(&done.account, &done.inputs, &self.rules, &self.places, self.args.dry_run, None);
        place.map_or(Ok(()), |place| Target::write_text(place, &written()?))
    }

    /// Writes all to the standard output or to one file.
    fn change_to_one(
        &self,
        place: Destination,
        sources: &[Source],
        done: &mut ReplaceResults,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let is_data = matches!(place, Destination::Stdout) && !self.args.dry_run;
        let mut target = Target::new(place)?;
        if is_data && !self.args.force {
            target.sink.escape_controls();
        }
        let mut is_whole = true;
        for source in sources {
            is_whole &= self.change_source(source, &mut target.sink, done, report)?;
        }
        // An incomplete file does not appear.
        if target.is_file() && !is_whole { Ok(()) } else { target.complete_output() }
    }

    /// Writes each input to a file of its own.
    fn change_to_folder(
        &self,
        folder: &mut OutputFolder,
        sources: &[Source],
        done: &mut ReplaceResults,
        report: &mut Report,
    ) -> Result<(), Abort> {
        for source in sources {
            match folder.open_same_name(source) {
                Ok(mut target) => {
                    if self.change_source(source, &mut target.sink, done, report)? {
                        target.complete_output()?;
                    }
                }
                Err(Abort::Failed(code, message)) => report.report_fault(code, &source.name(), message),
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Changes each file in place, if something in it changes.
    fn change_in_place(&self, sources: &[Source], done: &mut ReplaceResults, report: &mut Report) -> Result<(), Abort> {
        let places = sources.iter().map(|source| InPlaceFile::new(source, &self.args.place.backup, self.args.force));
        let places: Vec<InPlaceFile> = places.collect::<Result<_, Abort>>()?;
        for (source, place) in sources.iter().zip(places) {
            let mut target = place.open_target()?;
            let (before, account) = (done.inputs.len(), done.account.clone());
            let is_whole = self.change_source(source, &mut target.sink, done, report)?;
            let is_changed =
                done.inputs.get(before..).is_some_and(|inputs| inputs.iter().any(|input| input.is_changed));
            if is_whole && is_changed {
                match place.replace_original(target) {
                    Err(Abort::Failed(code, message)) => {
                        // The file was not changed.
                        done.account = account;
                        done.inputs.truncate(before);
                        report.report_fault(code, &source.name(), message);
                    }
                    end => end?,
                }
            }
        }
        Ok(())
    }

    /// Changes one input. Returns whether all of it is in the output.
    fn change_source(
        &self,
        source: &Source,
        sink: &mut Sink,
        done: &mut ReplaceResults,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        report.count_input();
        let name = source.name();
        let end = match source.open() {
            Ok(input) => self.change_input(input, source, &name, sink, done, report),
            Err(error) => {
                report.report_io_error(&name, &error);
                return Ok(false);
            }
        };
        match end {
            Err(Abort::Failed(code, message)) => {
                report.report_fault(code, &name, message);
                Ok(false)
            }
            end => end,
        }
    }

    fn change_input(
        &self,
        input: Box<dyn Read + Send>,
        source: &Source,
        name: &str,
        sink: &mut Sink,
        done: &mut ReplaceResults,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        let ExaminedInput { head, form, is_guessed, wide, is_file } = self.examine_input(input, source, name)?;
        let table = match source.relative_path.file_stem() {
            Some(stem) => stem.to_string_lossy().into_owned(),
            None => name.to_owned(),
        };
        let plan = Arc::new(ReplacePlan {
            rules: self.build_rule_sets(wide).map_err(usage_text_error)?,
            rewrite_options: self.rewrite_options.clone(),
            only_serialized: self.args.only_serialized,
            change_printer: self.args.dry_run.then(|| Arc::new(self.paint) as Arc<dyn Show>),
            places: Arc::clone(&self.places),
            json: self.json.clone(),
            input: name.to_owned(),
            table,
        });
        let work = ChunkedInput { plan: &plan, name, form: &form, is_guessed };
        let mut output = EncodedOutput::new(sink, wide, self.args.dry_run);
        let chunk = usize::try_from(self.args.chunk).unwrap_or(1 << 18).clamp(1, 64 << 20);
        let (is_whole, mut account, is_changed) = match &form {
            InputForm::Sql => {
                let dump = DumpCutter::new(head.input, chunk, Arc::clone(&plan), wide.is_some());
                work.change_chunks(dump, Lexer::None, &mut output, report)?
            }
            InputForm::Document(stage) => {
                documents::change_documents(&plan, head.input, stage, self.args.each, &mut output, report)?
            }
            _ => {
                let reopen =
                    || source.open_file().filter(|_| is_file).map(|file| self.open_text(file?, wide)).transpose();
                let style = match &form {
                    InputForm::Csv => {
                        Some(icecore_tables::csv::determine_dialect(self.args.csv.to_detector(), &head, reopen)?)
                    }
                    _ => None,
                };
                let needs_look = is_guessed || style.is_some() || plan.rules.needs_charset();
                if needs_look && let Some(text) = reopen().map_err(|error| input_error(&error))? {
                    let (cutter, lexer) = self.create_cutter(text, chunk, &work, style)?;
                    work.check_chunks(cutter, lexer)?;
                }
                let (cutter, lexer) = self.create_cutter(head.input, chunk, &work, style)?;
                work.change_chunks(cutter, lexer, &mut output, report)?
            }
        };
        plan.rules.notes().into_iter().for_each(|note| report.note(name, "charset", note));
        account.broken.iter_mut().for_each(|wrong| wrong.input = name.to_owned());
        let encoding = wide.map(|wide| wide.units.name());
        done.inputs.push(summary::InputSummary { input: name.to_owned(), form: form.name(), encoding, is_changed });
        done.account.add(account);
        sink.count_document();
        Ok(is_whole)
    }

    /// Returns the rules for an input; an input in UTF-16 or UTF-32 is converted to UTF-8 first.
    fn build_rule_sets(&self, wide: Option<WideEncoding>) -> Result<RuleSets, String> {
        let given_charset = match &self.args.charset {
            _ if wide.is_some() => Some(GivenCharset::Utf8),
            None => None,
            Some(CharsetArg::Single(charset)) => Some(GivenCharset::Single(charset.clone())),
            Some(CharsetArg::Utf8 | CharsetArg::Wide(_)) => Some(GivenCharset::Utf8),
        };
        RuleSets::new(&self.rules, given_charset.as_ref())
    }

    /// Returns the text of a file from its beginning.
    fn open_text(&self, file: File, wide: Option<WideEncoding>) -> io::Result<Box<dyn Read + Send>> {
        Ok(match wide {
            Some(wide) => Box::new(Decoder::new(file, wide)),
            None => Box::new(file),
        })
    }

    /// Returns the cutter for an input of this form, and the lexer that finds the values in its pieces.
    fn create_cutter(
        &self,
        input: Box<dyn Read + Send>,
        chunk: usize,
        work: &ChunkedInput<'_>,
        style: Option<DetectedDialect>,
    ) -> Result<(Cutter, Lexer), Abort> {
        let (plan, failed) = (&**work.plan, |error: io::Error| input_error(&error));
        Ok(match (work.form, style) {
            (InputForm::Csv, Some(detected)) => {
                let mut cutter = Cutter::new(input, chunk, Cut::Rows(Scanner::new(detected.dialect)));
                let (row, columns) = self.read_csv_columns(&mut cutter, plan, detected).map_err(failed)?;
                work.check_header(&row, detected.start)?;
                (cutter, Lexer::Csv(detected.dialect, columns))
            }
            (InputForm::Tsv, _) => {
                let delimiter = self.args.csv.delimiter.unwrap_or(b'\t');
                let mut cutter = Cutter::new(input, chunk, Cut::Lines);
                let (row, columns) = self.read_tsv_columns(&mut cutter, plan, delimiter).map_err(failed)?;
                work.check_header(&row, 0)?;
                (cutter, Lexer::Tsv(delimiter, columns))
            }
            (InputForm::Ndjson, _) => (Cutter::new(input, chunk, Cut::Lines), Lexer::Ndjson),
            _ => (Cutter::new(input, chunk, Cut::Text(plan.rules.default_rules())), Lexer::Text),
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
        Scanner::new(detected.dialect).next_row(&row, true, &mut cells);
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

/// Returns the columns with these names. A column without a name is called by its number.
fn number_columns(plan: &ReplacePlan, names: impl Iterator<Item = Vec<u8>>) -> Columns {
    let number = |(column, name): (usize, Vec<u8>)| {
        let name = if name.is_empty() { (column + 1).to_string() } else { String::from_utf8_lossy(&name).into_owned() };
        plan.places.number_place(None, &plan.table, &name)
    };
    Columns { places: names.enumerate().map(number).collect(), table: plan.table.clone() }
}

/// Converts a read error into the end of an input.
fn input_error(error: &io::Error) -> Abort {
    icecore_tables::Error::from_io(error).into()
}
