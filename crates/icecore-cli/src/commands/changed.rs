//! Writes the documents that a command changed, elsewhere or in place, or shows their changes.

use super::diff::{DiffView, DifferencePrinter, SAME_MEANING, read_document};
use crate::arguments::{self, Global};
use crate::document_reader::{Detail, DocumentReader};
use crate::file_bytes::Bytes;
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report, code};
use crate::source::Source;
use crate::target::{InPlaceArgs, InPlaceFile, OutputFolder, Outputs, Target};
use crate::terminal;
use clap::Args;
use icecore::Stage;
use icecore_diff::{ChangeKind, Differences, Rules, find_differences};
use icecore_tables::plural::format_count;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

/// What happens to the changed documents.
#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// Show each change, and change nothing
    ///
    /// Shows each difference with its path, as `icecore diff --exact` does. The exit code is that of the change itself.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub in_place_args: InPlaceArgs,
    /// Overwrite existing files, including backups; write binary formats to a terminal
    #[arg(long)]
    pub force: bool,
}

/// A changed document.
pub struct ChangedDocument {
    /// The bytes of the input.
    pub before: Bytes,
    /// The new bytes.
    pub after: Vec<u8>,
    /// The format of both.
    pub stage: Stage,
    pub is_changed: bool,
}

/// Changes an input. Returns `None` if it can't be changed, for a reason that was reported.
pub type ChangeInput<'c> = dyn FnMut(&Source, &mut Report) -> Result<Option<ChangedDocument>, Abort> + 'c;

/// Writes changed inputs.
pub struct ChangeWriter<'w> {
    pub args: &'w ChangeArgs,
    pub global: &'w Global,
}

impl ChangeWriter<'_> {
    /// Changes all inputs, and writes or shows the results. `protected_sources` are further files that no output may
    /// replace.
    pub fn write(
        &self,
        sources: &[Source],
        protected_sources: &[Source],
        report: &mut Report,
        change: &mut ChangeInput<'_>,
    ) -> Result<(), Abort> {
        let in_place_args = &self.args.in_place_args;
        let mut outputs = Outputs::new(sources, self.args.force);
        protected_sources.iter().for_each(|source| outputs.add_input(source));
        match (&in_place_args.output_args.out_dir, sources) {
            _ if in_place_args.in_place => self.write_in_place(sources, report, change),
            (Some(folder), _) => self.write_to_folder(folder, outputs, sources, report, change),
            (None, [source]) => self.write_to_one(outputs, source, report, change),
            (None, _) if self.args.dry_run => self.show_changes(sources, &[], report, change),
            _ => Err(usage_failure("several inputs are changed --in-place, or written into a folder (--out-dir)")),
        }
    }

    /// Writes one input to the standard output or to a file.
    fn write_to_one(
        &self,
        mut outputs: Outputs,
        source: &Source,
        report: &mut Report,
        change: &mut ChangeInput<'_>,
    ) -> Result<(), Abort> {
        let output = self.args.in_place_args.output_args.output.as_ref();
        let destination = outputs.output_destination(output)?;
        if self.args.dry_run {
            return self.show_changes(std::slice::from_ref(source), &[], report, change);
        }
        let Some(changed) = change(source, report)? else { return Ok(()) };
        if output.is_none() && terminal::is_stdout_terminal() {
            terminal::check_not_binary(&changed.stage, self.args.force)?;
        }
        let counts = match output.is_some() && report.prints_notes() {
            true => self.with_differences(source, &changed, report, |differences| Ok(ChangeCounts::of(differences)))?,
            false => None,
        };
        let mut target = Target::new(destination)?;
        if output.is_none() && !self.args.force {
            target.writer.escape_controls();
        }
        target.writer.write_bytes(&changed.after)?;
        target.complete_output()?;
        if let Some(counts) = counts {
            report.report_done(&source.name(), counts.total(), counts.to_string());
        }
        Ok(())
    }

    /// Replaces each file in which something changes.
    fn write_in_place(
        &self,
        sources: &[Source],
        report: &mut Report,
        change: &mut ChangeInput<'_>,
    ) -> Result<(), Abort> {
        let files =
            sources.iter().map(|source| InPlaceFile::new(source, &self.args.in_place_args.backup, self.args.force));
        let files: Vec<InPlaceFile> = files.collect::<Result<_, Abort>>()?;
        if self.args.dry_run {
            return self.show_changes(sources, &files, report, change);
        }
        for (source, file) in sources.iter().zip(files) {
            let Some(changed) = change(source, report)? else { continue };
            if !changed.is_changed {
                report.report_note(&source.name(), "done", "nothing to change".to_owned());
                continue;
            }
            let counts = match report.prints_notes() {
                true => {
                    self.with_differences(source, &changed, report, |differences| Ok(ChangeCounts::of(differences)))?
                }
                false => None,
            };
            let counts = counts.unwrap_or_default();
            let mut target = file.open_target()?;
            target.writer.write_bytes(&changed.after)?;
            let message = match file.backup_name() {
                Some(backup) => format!("{counts}; the original is {backup}"),
                None => format!("{counts}; no backup was kept"),
            };
            if report_failure(file.replace_original(target), source, report)? {
                report.report_done(&source.name(), counts.total(), message);
            }
        }
        Ok(())
    }

    /// Writes each input to a file of its own.
    fn write_to_folder(
        &self,
        folder: &Path,
        outputs: Outputs,
        sources: &[Source],
        report: &mut Report,
        change: &mut ChangeInput<'_>,
    ) -> Result<(), Abort> {
        if self.args.dry_run {
            return self.show_changes(sources, &[], report, change);
        }
        let mut folder = OutputFolder::new(folder, outputs, sources);
        for source in sources {
            let Some(changed) = change(source, report)? else { continue };
            let result = folder.open_same_name(source).and_then(|mut target| {
                target.writer.write_bytes(&changed.after)?;
                target.complete_output()
            });
            report_failure(result, source, report)?;
        }
        Ok(())
    }

    /// Shows what would change. With --in-place, `files` are the files that would be replaced.
    fn show_changes(
        &self,
        sources: &[Source],
        files: &[InPlaceFile],
        report: &mut Report,
        change: &mut ChangeInput<'_>,
    ) -> Result<(), Abort> {
        let mut writer = OutputWriter::stdout();
        let paint = Paint::new(self.global.color, &std::io::stdout());
        let (mut value_count, mut file_count, mut failure_count) = (0, 0, 0);
        for (index, source) in sources.iter().enumerate() {
            let Some(changed) = change(source, report)? else {
                failure_count += 1;
                continue;
            };
            if !changed.is_changed {
                continue;
            }
            if sources.len() > 1 {
                writer.write_text(&format!("{}\n", paint.ink(Ink::Name, source.name())))?;
            }
            value_count += self.show_input(source, &changed, &mut writer, paint, report)?;
            file_count += 1;
            writer.release_record()?;
            report_failure(files.get(index).map_or(Ok(()), InPlaceFile::check_backup), source, report)?;
        }
        writer.flush()?;
        if failure_count == sources.len() {
            return Ok(());
        }
        let (values, files) = (format_count(value_count, "value", "values"), format_count(file_count, "file", "files"));
        report.report_command_note("done", format!("{values} would change in {files}"));
        Ok(())
    }

    /// Shows the changes of one input, and returns their number.
    fn show_input(
        &self,
        source: &Source,
        changed: &ChangedDocument,
        writer: &mut OutputWriter,
        paint: Paint,
        report: &mut Report,
    ) -> Result<u64, Abort> {
        let no_limits = arguments::DisplayArgs { depth: None, items: None };
        let printer = DifferencePrinter::for_people(
            DiffView::Auto,
            &no_limits,
            terminal::is_stdout_terminal(),
            paint,
            &self.global.limits,
        );
        let count = self.with_differences(source, changed, report, |differences| {
            printer.write_differences(differences, writer)?;
            if differences.is_empty() {
                writer.write_text(SAME_MEANING)?;
            }
            Ok(differences.changes().len() as u64 + u64::from(differences.has_other_header()))
        })?;
        Ok(count.unwrap_or(0))
    }

    /// Calls `use_differences` with what changed in an input. Returns `None` if a document can't be read, which is
    /// reported.
    fn with_differences<R>(
        &self,
        source: &Source,
        changed: &ChangedDocument,
        report: &mut Report,
        use_differences: impl FnOnce(&Differences<'_>) -> Result<R, Abort>,
    ) -> Result<Option<R>, Abort> {
        let name = source.name();
        let reader = DocumentReader::for_stage(changed.stage.clone(), &self.global.limits);
        let inputs =
            (reader.unwrap_input(&name, &changed.before, report), reader.unwrap_input(&name, &changed.after, report));
        let (Some(old_input), Some(new_input)) = &inputs else { return Ok(None) };
        let before = read_document(&reader, &name, old_input, Detail::No, report)?;
        let after = read_document(&reader, &name, new_input, Detail::No, report)?;
        let (Some(before), Some(after)) = (before, after) else { return Ok(None) };
        use_differences(&find_differences(&before, &after, Rules::new().exact())).map(Some)
    }
}

/// How many values were added, changed, moved and removed.
#[derive(Clone, Copy, Default)]
struct ChangeCounts {
    added: u64,
    changed: u64,
    moved: u64,
    removed: u64,
}

impl ChangeCounts {
    fn of(differences: &Differences<'_>) -> ChangeCounts {
        let mut counts = ChangeCounts::default();
        for change in differences.changes() {
            let count = match change.kind {
                ChangeKind::Added => &mut counts.added,
                ChangeKind::Removed => &mut counts.removed,
                ChangeKind::Moved => &mut counts.moved,
                _ => &mut counts.changed,
            };
            *count += 1;
        }
        counts
    }

    fn total(&self) -> u64 {
        self.added + self.changed + self.moved + self.removed
    }
}

/// `1 value added, 2 changed`; `changed` if only the form of values differs.
impl Display for ChangeCounts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let counts =
            [(self.added, "added"), (self.changed, "changed"), (self.moved, "moved"), (self.removed, "removed")];
        let mut counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let Some((first, word)) = counts.next() else { return f.write_str("changed") };
        write!(f, "{} {word}", format_count(first, "value", "values"))?;
        counts.try_for_each(|(count, word)| write!(f, ", {count} {word}"))
    }
}

/// Reports an error that concerns one input only. Returns true if there is none.
fn report_failure(result: Result<(), Abort>, source: &Source, report: &mut Report) -> Result<bool, Abort> {
    match result {
        Err(Abort::Failed(code, message)) => {
            report.report_fault(code, &source.name(), message);
            Ok(false)
        }
        result => result.map(|()| true),
    }
}

fn usage_failure(text: &str) -> Abort {
    Abort::Failed(code::USAGE, text.to_owned())
}
