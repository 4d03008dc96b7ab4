//! Inputs and outputs whose columns have types.

use super::{RowsJob, start_text_decoding};
use crate::report::{Abort, Report, usage_text_error};
use crate::sink::Sink;
use icecore_tables::pool::{BatchReader, Pool};
use icecore_tables::rows::columnar::{Fields, OutputLayout, Prefetched, RecordBuilder, Records, Writer, spool_to_file};
use icecore_tables::rows::plan::{OutputForm, Plan, PlanRequest};
use icecore_tables::rows::{Batch, TableForm};
use icecore_tables::tally::Tally;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

impl RowsJob<'_> {
    /// Converts the records of a file; `file`: the input, if it is a file.
    pub(super) fn convert_typed_records(
        &mut self,
        input: Box<dyn Read + Send>,
        file: Option<io::Result<File>>,
        name: &str,
        form: TableForm,
        sink: &mut Sink,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let opened = match form {
            TableForm::Arrow => Records::open_arrow(input),
            _ => file.unwrap_or_else(|| spool_to_file(input)).and_then(Records::open_parquet),
        };
        let records = opened.map_err(|error| self.input_error(name, &error))?;
        let RowsJob { default_column: usual, .. } = *self;
        let names: Vec<String> = match &self.args.names[..] {
            [] => records.schema().fields().iter().map(|field| field.name().clone()).collect(),
            names => names.to_vec(),
        };
        let count = records.schema().fields().len();
        if names.len() != count {
            return Err(usage_text_error(
                self.with_input_name(name, &format!("--columns has {} names for {count} columns", names.len())),
            ));
        }
        let plan = Arc::new(Plan::new(
            &PlanRequest { options: &self.options, form, default_column: usual, file: name },
            names,
        )?);
        self.write_header(name, &plan, sink)?;
        self.types = Some(records.schema().fields().clone());
        self.convert_rows(
            records.with_plan(&plan),
            Some(plan),
            name,
            Tally::for_rows(name).without_offsets(),
            sink,
            report,
        )
    }

    /// Starts the threads that decode rows. `None`: there is nothing to do. The inner error says why there are no rows.
    pub(super) fn start_decoding(
        &mut self,
        from: impl BatchReader<Batch = Batch>,
        plan: Option<Arc<Plan>>,
        name: &str,
        sink: &mut Sink,
    ) -> Result<io::Result<Option<Pool<Batch>>>, Abort> {
        let types = self.types.take();
        let OutputForm::Columns(_) = self.options.out else { return Ok(Ok(Some(start_text_decoding(from)))) };
        let mut ahead = Prefetched::read_ahead(from, self.args.typed.infer);
        if let Some(error) = ahead.take_error() {
            return Ok(Err(error));
        }
        let Some(plan) = plan.or_else(|| ahead.first_plan()) else {
            return Err(usage_text_error(
                self.with_input_name(name, "it has no rows of the requested tables, so no columns are known"),
            ));
        };
        let layout = match &self.columns {
            Some((layout, _)) => Arc::clone(layout),
            None => match self.infer_layout(&ahead, &plan, types.as_ref(), sink)? {
                Some(layout) => layout,
                None => return Ok(Ok(None)),
            },
        };
        // Errors of the layout are reported here; each thread creates its own filler again.
        RecordBuilder::new(&layout, &plan).map_err(|error| usage_text_error(error.to_string()))?;
        Ok(Ok(Some(Pool::start(ahead, || {
            let mut filler = RecordBuilder::new(&layout, &plan);
            move |batch: &mut Batch| match &mut filler {
                Ok(filler) => filler.build_records(batch),
                Err(error) => batch.error = Some(error.to_string()),
            }
        }))))
    }

    /// Returns the columns of the output, inferred from the first rows; `None` if only the schema was requested.
    fn infer_layout<T: BatchReader<Batch = Batch>>(
        &mut self,
        ahead: &Prefetched<T>,
        plan: &Plan,
        types: Option<&Fields>,
        sink: &mut Sink,
    ) -> Result<Option<Arc<OutputLayout>>, Abort> {
        let typed = &self.args.typed;
        let layout =
            OutputLayout::new(&ahead.select_parts(plan, typed.infer.max(1)), plan, &self.options.typed, types)?;
        let notes = layout.notes.iter().filter(|note| !self.type_notes.contains(note));
        let notes: Vec<String> = notes.cloned().collect();
        self.type_notes.extend(notes);
        if typed.schema_only {
            sink.write_text(&layout.to_schema_text())?;
            sink.write_text("\n")?;
            return Ok(None);
        }
        let OutputForm::Columns(container) = plan.out else { return Ok(None) };
        let layout = Arc::new(layout);
        self.columns = Some((Arc::clone(&layout), Writer::new(container, &self.options.typed, &layout.schema)?));
        Ok(Some(layout))
    }

    /// Writes the records of a batch. Returns the reason if no more rows follow.
    pub(super) fn write_columns(&mut self, batch: &mut Batch, sink: &mut Sink) -> Result<Option<String>, Abort> {
        if let Some((_, writer)) = &mut self.columns {
            for record in batch.records.drain(..) {
                writer.write_record(record)?;
                writer.take_output(|bytes| sink.write_piece(bytes))?;
            }
        }
        Ok(batch.error.take())
    }
}
