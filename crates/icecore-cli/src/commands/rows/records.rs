//! Inputs and outputs whose columns have types: Parquet and Arrow.

use super::{RowsJob, start_text_decoding};
use crate::output_writer::OutputWriter;
use crate::report::{Abort, Report, usage_text_error};
use icecore_tables::pool::{BatchReader, Pool};
use icecore_tables::rows::columnar::{Fields, OutputLayout, Prefetched, RecordBuilder, Records, Writer, spool_to_file};
use icecore_tables::rows::plan::{OutputForm, Plan, PlanRequest};
use icecore_tables::rows::{Batch, TableForm};
use icecore_tables::tally::Tally;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

impl RowsJob<'_> {
    /// Converts the records of an input. `file` is the input itself, if it can be read at any position.
    pub(super) fn convert_typed_records(
        &mut self,
        input: Box<dyn Read + Send>,
        file: Option<io::Result<File>>,
        name: &str,
        form: TableForm,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let records = match form {
            TableForm::Arrow => Records::open_arrow(input),
            _ => file.unwrap_or_else(|| spool_to_file(input)).and_then(Records::open_parquet),
        };
        let records = records.map_err(|error| self.input_error(name, &error))?;
        let RowsJob { default_column, .. } = *self;
        let names: Vec<String> = match &self.args.names[..] {
            [] => records.schema().fields().iter().map(|field| field.name().clone()).collect(),
            names => names.to_vec(),
        };
        let column_count = records.schema().fields().len();
        if names.len() != column_count {
            return Err(usage_text_error(
                self.with_input_name(name, &format!("--columns has {} names for {column_count} columns", names.len())),
            ));
        }
        let plan =
            Arc::new(Plan::new(&PlanRequest { options: &self.options, form, default_column, file: name }, names)?);
        plan.check_selected_columns()?;
        self.write_header(name, &plan, writer)?;
        self.input_types = Some(records.schema().fields().clone());
        self.convert_rows(
            records.with_plan(&plan),
            Some(plan),
            name,
            Tally::for_rows(name).without_offsets(),
            writer,
            report,
        )
    }

    /// Starts the threads that decode rows. Returns `None` if no rows are to be written. The inner error says why the
    /// first rows could not be read.
    pub(super) fn start_decoding(
        &mut self,
        batch_reader: impl BatchReader<Batch = Batch>,
        plan: Option<Arc<Plan>>,
        name: &str,
        writer: &mut OutputWriter,
    ) -> Result<io::Result<Option<Pool<Batch>>>, Abort> {
        let types = self.input_types.take();
        let OutputForm::Columns(_) = self.options.out else { return Ok(Ok(Some(start_text_decoding(batch_reader)))) };
        let mut prefetched = Prefetched::read_ahead(batch_reader, self.args.column_types.infer);
        if let Some(error) = prefetched.take_error() {
            return Ok(Err(error));
        }
        let Some(plan) = plan.or_else(|| prefetched.first_plan()) else {
            return Err(usage_text_error(
                self.with_input_name(name, "it has no rows of the requested tables, so no columns are known"),
            ));
        };
        let layout = match &self.typed_output {
            Some((layout, _)) => Arc::clone(layout),
            None => match self.infer_layout(&prefetched, &plan, types.as_ref(), writer)? {
                Some(layout) => layout,
                None => return Ok(Ok(None)),
            },
        };
        // This reports errors of the layout. Each thread then creates a builder of its own.
        RecordBuilder::new(&layout, &plan).map_err(|error| usage_text_error(error.to_string()))?;
        Ok(Ok(Some(Pool::start(prefetched, || {
            let mut builder = RecordBuilder::new(&layout, &plan);
            move |batch: &mut Batch| match &mut builder {
                Ok(builder) => builder.build_records(batch),
                Err(error) => batch.error = Some(error.to_string()),
            }
        }))))
    }

    /// Returns the columns of the output, inferred from the first rows; `None` if only the schema was requested.
    fn infer_layout<T: BatchReader<Batch = Batch>>(
        &mut self,
        prefetched: &Prefetched<T>,
        plan: &Plan,
        types: Option<&Fields>,
        writer: &mut OutputWriter,
    ) -> Result<Option<Arc<OutputLayout>>, Abort> {
        let type_args = &self.args.column_types;
        let layout = OutputLayout::new(
            &prefetched.select_parts(plan, type_args.infer.max(1)),
            plan,
            &self.options.typed,
            types,
        )?;
        let notes = layout.notes.iter().filter(|note| !self.type_notes.contains(note));
        let notes: Vec<String> = notes.cloned().collect();
        self.type_notes.extend(notes);
        if type_args.schema_only {
            writer.write_text(&layout.to_schema_text())?;
            writer.write_text("\n")?;
            return Ok(None);
        }
        let OutputForm::Columns(container) = plan.out else { return Ok(None) };
        let layout = Arc::new(layout);
        self.typed_output = Some((Arc::clone(&layout), Writer::new(container, &self.options.typed, &layout.schema)?));
        Ok(Some(layout))
    }

    /// Writes the records of a batch. Returns a reason if no more rows can follow.
    pub(super) fn write_columns(
        &mut self,
        batch: &mut Batch,
        writer: &mut OutputWriter,
    ) -> Result<Option<String>, Abort> {
        if let Some((_, columns_writer)) = &mut self.typed_output {
            for record in batch.records.drain(..) {
                columns_writer.write_record(record)?;
                columns_writer.take_output(|bytes| writer.write_piece(bytes))?;
            }
        }
        Ok(batch.error.take())
    }
}
