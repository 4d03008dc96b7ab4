//! Documents that a command changed: they are written elsewhere or in place, or their changes are shown.

use super::diff::{DiffView, DifferencePrinter, SAME_MEANING, read_document};
use crate::arguments::{self, Global};
use crate::document_reader::{Detail, DocumentReader};
use crate::file_bytes::Bytes;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report, code};
use crate::sink::Sink;
use crate::source::Source;
use crate::target::{InPlaceArgs, InPlaceFile, OutputFolder, Outputs, Target};
use crate::terminal;
use clap::Args;
use icecore::Stage;
use icecore_diff::{Rules, find_differences};
use icecore_tables::plural::format_count;
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
    pub output_args: InPlaceArgs,
    /// Overwrite existing files, including backups; write binary formats to a terminal
    #[arg(long)]
    pub force: bool,
}

/// A changed document.
pub struct Changed {
    /// The bytes of the input.
    pub before: Bytes,
    /// The new bytes.
    pub after: Vec<u8>,
    /// The format of both.
    pub stage: Stage,
    pub is_changed: bool,
}

/// Changes an input. `None`: it is not changed, and the reason was reported.
pub type ChangeInput<'c> = dyn FnMut(&Source, &mut Report) -> Result<Option<Changed>, Abort> + 'c;

/// Writes changed inputs.
pub struct ChangeWriter<'w> {
    pub args: &'w ChangeArgs,
    pub global: &'w Global,
}

impl ChangeWriter<'_> {
    /// Changes all inputs, and writes or shows the results. `others`: further files that no output may replace.
    pub fn write(
        &self,
        sources: &[Source],
        others: &[Source],
        report: &mut Report,
        change: &mut ChangeInput<'_>,
    ) -> Result<(), Abort> {
        let place = &self.args.place;
        let mut outputs = Outputs::new(sources, self.args.force);
        others.iter().for_each(|other| outputs.add_input(other));
        match (&place.written.out_dir, sources) {
            _ if place.in_place => self.in_place(sources, report, change),
            (Some(folder), _) => self.to_folder(folder, outputs, sources, report, change),
            (None, [source]) => self.to_one(outputs, source, report, change),
            (None, _) if self.args.dry_run => self.show(sources, &[], report, change),
            _ => Err(usage("several inputs are changed --in-place, or written into a folder (--out-dir)")),
        }
    }

    /// Writes one input to the standard output or to a file.
    fn to_one(
        &self,
        mut outputs: Outputs,
        source: &Source,
        report: &mut Report,
        change: &mut ChangeInput<'_>,
    ) -> Result<(), Abort> {
        let output = self.args.place.written.output.as_ref();
        let place = outputs.output_destination(output)?;
        if self.args.dry_run {
            return self.show(std::slice::from_ref(source), &[], report, change);
        }
        let Some(changed) = change(source, report)? else { return Ok(()) };
        if output.is_none() && terminal::is_stdout_terminal() {
            terminal::check_not_binary(&changed.stage, self.args.force)?;
        }
        let mut target = Target::new(place)?;
        if output.is_none() && !self.args.force {
            target.sink.escape_controls();
        }
        target.sink.write_bytes(&changed.after)?;
        target.complete_output()
    }

    /// Replaces each file in which something changes.
    fn in_place(&self, sources: &[Source], report: &mut Report, change: &mut ChangeInput<'_>) -> Result<(), Abort> {
        let places = sources.iter().map(|source| InPlaceFile::new(source, &self.args.place.backup, self.args.force));
        let places: Vec<InPlaceFile> = places.collect::<Result<_, Abort>>()?;
        if self.args.dry_run {
            return self.show(sources, &places, report, change);
        }
        for (source, place) in sources.iter().zip(places) {
            let Some(changed) = change(source, report)? else { continue };
            if !changed.is_changed {
                report.note(&source.name(), "done", "nothing to change".to_owned());
                continue;
            }
            let mut target = place.open_target()?;
            target.sink.write_bytes(&changed.after)?;
            let message = match place.backup_name() {
                Some(backup) => format!("changed; the original is {backup}"),
                None => "changed; no backup was kept".to_owned(),
            };
            if or_reported(place.replace_original(target), source, report)? {
                report.note(&source.name(), "done", message);
            }
        }
        Ok(())
    }

    /// Writes each input to a file of its own.
    fn to_folder(
        &self,
        folder: &Path,
        outputs: Outputs,
        sources: &[Source],
        report: &mut Report,
        change: &mut ChangeInput<'_>,
    ) -> Result<(), Abort> {
        if self.args.dry_run {
            return self.show(sources, &[], report, change);
        }
        let mut folder = OutputFolder::new(folder, outputs, sources);
        for source in sources {
            let Some(changed) = change(source, report)? else { continue };
            let written = folder.open_same_name(source).and_then(|mut target| {
                target.sink.write_bytes(&changed.after)?;
                target.complete_output()
            });
            or_reported(written, source, report)?;
        }
        Ok(())
    }

    /// Shows what would change. `places`: with --in-place, the files that would be replaced.
    fn show(
        &self,
        sources: &[Source],
        places: &[InPlaceFile],
        report: &mut Report,
        change: &mut ChangeInput<'_>,
    ) -> Result<(), Abort> {
        let mut sink = Sink::stdout();
        let paint = Paint::new(self.global.color, &std::io::stdout());
        let (mut values, mut files, mut refused) = (0, 0, 0);
        for (index, source) in sources.iter().enumerate() {
            let Some(changed) = change(source, report)? else {
                refused += 1;
                continue;
            };
            if !changed.is_changed {
                continue;
            }
            if sources.len() > 1 {
                sink.write_text(&format!("{}\n", paint.ink(Ink::Name, source.name())))?;
            }
            values += self.show_one(source, &changed, &mut sink, paint, report)?;
            files += 1;
            sink.release_record()?;
            or_reported(places.get(index).map_or(Ok(()), InPlaceFile::check_backup), source, report)?;
        }
        sink.flush()?;
        if refused == sources.len() {
            return Ok(());
        }
        let (values, files) = (format_count(values, "value", "values"), format_count(files, "file", "files"));
        report.remark("done", format!("{values} would change in {files}"));
        Ok(())
    }

    /// Shows the changes of one input, and returns their number.
    fn show_one(
        &self,
        source: &Source,
        changed: &Changed,
        sink: &mut Sink,
        paint: Paint,
        report: &mut Report,
    ) -> Result<u64, Abort> {
        let name = source.name();
        let reader = DocumentReader::for_stage(changed.stage.clone(), &self.global.limit);
        let opened =
            (reader.unwrap_input(&name, &changed.before, report), reader.unwrap_input(&name, &changed.after, report));
        let (Some(before), Some(after)) = &opened else { return Ok(0) };
        let before = read_document(&reader, &name, before, Detail::No, report)?;
        let after = read_document(&reader, &name, after, Detail::No, report)?;
        let (Some(before), Some(after)) = (before, after) else { return Ok(0) };
        let found = find_differences(&before, &after, Rules::new().exact());
        let all = arguments::DisplayArgs { depth: None, items: None };
        DifferencePrinter::for_people(DiffView::Auto, &all, terminal::is_stdout_terminal(), paint, &self.global.limit)
            .write_differences(&found, sink)?;
        if found.is_empty() {
            sink.write_text(SAME_MEANING)?;
        }
        Ok(found.changes().len() as u64 + u64::from(found.has_other_header()))
    }
}

/// Reports an error that concerns one input only. Returns true if there is none.
fn or_reported(end: Result<(), Abort>, source: &Source, report: &mut Report) -> Result<bool, Abort> {
    match end {
        Err(Abort::Failed(code, message)) => {
            report.report_fault(code, &source.name(), message);
            Ok(false)
        }
        end => end.map(|()| true),
    }
}

fn usage(text: &str) -> Abort {
    Abort::Failed(code::USAGE, text.to_owned())
}
