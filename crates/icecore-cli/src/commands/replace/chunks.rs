//! Changes an input in chunks. An input that can be read twice is checked as a whole first.

use super::output::EncodedOutput;
use super::{InputChanges, input_error};
use crate::report::{Abort, Report, code, usage_text_error};
use icecore_tables::form::InputForm;
use icecore_tables::pool::{BatchReader, Pool};
use icecore_tables::replace::chunk::Chunk;
use icecore_tables::replace::conflicts::{FrozenText, suggest_form};
use icecore_tables::replace::lines::find_frozen_strings;
use icecore_tables::replace::plan::ReplacePlan;
use icecore_tables::replace::worker::{Lexer, Worker};
use std::sync::Arc;

/// An input, and how to change it.
pub struct ChunkedInput<'w> {
    pub plan: &'w Arc<ReplacePlan>,
    pub name: &'w str,
    pub form: &'w InputForm,
    /// Whether the form was detected rather than given.
    pub is_guessed: bool,
}

impl ChunkedInput<'_> {
    /// Changes an input: one thread reads, one thread per processor changes values, and the calling thread writes.
    pub fn change_chunks(
        &self,
        chunk_reader: impl BatchReader<Batch = Chunk>,
        lexer: Lexer,
        output: &mut EncodedOutput<'_>,
        report: &mut Report,
    ) -> Result<InputChanges, Abort> {
        let plan = Arc::clone(self.plan);
        let pool = Pool::start(chunk_reader, move || {
            let mut worker = Worker::new(Arc::clone(&plan), lexer.clone());
            move |chunk: &mut Chunk| worker.change_chunk(chunk)
        });
        let mut changes = InputChanges::default();
        let mut frozen_text = FrozenText::default();
        while let Some(chunk) = pool.next_batch() {
            let mut chunk = match chunk {
                Ok(chunk) => chunk,
                Err(error) => {
                    output.flush()?;
                    return Err(input_error(&error));
                }
            };
            if let Some(offset) = chunk.unclosed {
                let text = format!(
                    "the input ends inside the literal that starts at offset {offset}, and the rest is unchanged: is the {} cut off?",
                    self.form.name()
                );
                report.count_undecodable_input();
                report.report_fault(code::INPUT, self.name, text);
                changes.is_complete = false;
            }
            if let Err(error) = self.check_chunk(&mut chunk, &mut frozen_text) {
                output.flush()?;
                return Err(error);
            }
            output.write_piece(if self.plan.change_printer.is_some() {
                &chunk.dry_run_output
            } else {
                chunk.output_bytes()
            })?;
            // A reader at the other end should not wait until more input arrives.
            if chunk.is_last_for_now {
                output.flush()?;
            }
            changes.is_changed |= chunk.is_changed;
            changes.counts.add(std::mem::take(&mut chunk.counts));
            pool.recycle_batch(chunk);
        }
        output.finish()?;
        Ok(changes)
    }

    /// Checks a whole input, and writes nothing.
    ///
    /// # Errors
    /// If the input does not have the form that was given or detected. The error says why.
    pub fn check_chunks(&self, chunk_reader: impl BatchReader<Batch = Chunk>, lexer: Lexer) -> Result<(), Abort> {
        let plan = Arc::clone(self.plan);
        let pool = Pool::start(chunk_reader, move || {
            let mut worker = Worker::new(Arc::clone(&plan), lexer.clone());
            move |chunk: &mut Chunk| worker.examine_chunk(chunk)
        });
        let mut frozen_text = FrozenText::default();
        while let Some(chunk) = pool.next_batch() {
            let mut chunk = chunk.map_err(|error| input_error(&error))?;
            self.check_chunk(&mut chunk, &mut frozen_text)?;
            pool.recycle_batch(chunk);
        }
        Ok(())
    }

    /// Checks that the first row of a table contains names of columns, not frozen values.
    pub fn check_header(&self, row: &[u8], start: usize) -> Result<(), Abort> {
        let Some(range) = find_frozen_strings(row).next().filter(|_| self.is_guessed) else { return Ok(()) };
        Err(usage_text_error(format!(
            "the input was read as {}, but its first row, which should have the names of columns, has a serialized value \
             at offset {}: use --in {} --no-header for such a table, or --in FORM for another form",
            self.form.name(),
            start + range.start,
            self.form.name()
        )))
    }

    /// Checks that the next chunk has the form of the input. Counts the changes in it that damage frozen data.
    fn check_chunk(&self, chunk: &mut Chunk, frozen_text: &mut FrozenText) -> Result<(), Abort> {
        if let Some((row, offset)) = chunk.broken_row {
            return Err(input_error(&icecore_tables::csv::broken_row_error(row, offset)));
        }
        let (suspect_count, first_suspect) = frozen_text.find_damaging_changes(chunk);
        let is_text = matches!(self.form, InputForm::Text);
        chunk.counts.suspects += suspect_count.max(u64::from(is_text && chunk.suspect.is_some()));
        let is_dump = matches!(self.form, InputForm::Sql);
        if is_dump {
            // Dumps contain texts and bytes next to their data: problems in them are reported at the end.
            return Ok(());
        }
        let suspect = first_suspect.or(chunk.suspect).filter(|_| self.is_guessed);
        let checks_conflicts = self.is_guessed || matches!(self.form, InputForm::Csv);
        if let Some(index) = suspect.or(chunk.conflict.filter(|_| checks_conflicts)) {
            return Err(self.conflict_error(chunk, index));
        }
        if let Some(offset) = chunk.counts.foreign_at {
            return Err(Abort::Failed(
                code::INPUT,
                format!(
                    "the text at offset {offset} is not UTF-8, and OLD or NEW has characters beyond ASCII: name the charset of \
                     the file, such as --charset latin1; with --charset utf-8 the bytes of OLD and NEW are used as they are"
                ),
            ));
        }
        Ok(())
    }

    /// Returns the error for an input that does not have the assumed form, as frozen data at this index of a chunk
    /// shows.
    fn conflict_error(&self, chunk: &Chunk, index: usize) -> Abort {
        let offset = chunk.offset.saturating_add(index as u64);
        let form = self.form.name();
        if matches!(self.form, InputForm::Text) {
            return usage_text_error(match suggest_form(&chunk.bytes, index) {
                Some(other) => format!(
                    "the input was read as text, and lengths of the serialized value at offset {offset} would become wrong: \
                     --in {other} reads it; --in text changes it anyway"
                ),
                None => format!(
                    "the input was read as text, and lengths of the serialized value at offset {offset} would become wrong: \
                     use --in sql, csv, tsv or ndjson; --in text changes it anyway"
                ),
            });
        }
        let (problem, advice) = match self.form {
            InputForm::Csv => (
                "is not a cell, or part of one that can be read",
                "use --in FORM, or --delimiter, --quote and --escape for the dialect of a csv",
            ),
            InputForm::Ndjson => ("is on a line that is not JSON", "use --in FORM"),
            _ => ("is not a cell, or part of one that can be read", "use --in FORM"),
        };
        usage_text_error(format!(
            "the input was read as {form}, but the serialized value at offset {offset} {problem}: {advice}"
        ))
    }
}
