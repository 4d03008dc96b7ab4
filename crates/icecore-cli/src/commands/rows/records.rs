//! Inputs and outputs whose columns have types.

use super::{Job, for_text};
use crate::report::{Abort, Report, usage_of};
use crate::sink::Sink;
use icecore_tables::pool::{Batches, Pool};
use icecore_tables::rows::columnar::{Ahead, Fields, Filler, Layout, Records, Writer, spooled};
use icecore_tables::rows::plan::{Asked, Out, Plan};
use icecore_tables::rows::{Batch, TableForm};
use icecore_tables::tally::Tally;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

impl Job<'_> {
    /// Converts the records of a file; `file`: the input, if it is a file.
    pub(super) fn records(
        &mut self,
        input: Box<dyn Read + Send>,
        file: Option<io::Result<File>>,
        name: &str,
        form: TableForm,
        sink: &mut Sink,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let opened = match form {
            TableForm::Arrow => Records::arrow(input),
            _ => file.unwrap_or_else(|| spooled(input)).and_then(Records::parquet),
        };
        let records = opened.map_err(|error| self.failed(name, &error))?;
        let Job { usual, .. } = *self;
        let names: Vec<String> = match &self.args.names[..] {
            [] => records.schema().fields().iter().map(|field| field.name().clone()).collect(),
            names => names.to_vec(),
        };
        let count = records.schema().fields().len();
        if names.len() != count {
            return Err(usage_of(self.of(name, &format!("--columns has {} names for {count} columns", names.len()))));
        }
        let plan = Arc::new(Plan::new(&Asked { options: &self.options, form, usual, file: name }, names)?);
        self.head(name, &plan, sink)?;
        self.types = Some(records.schema().fields().clone());
        self.rows(records.with(&plan), Some(plan), name, Tally::rows(name).without_offsets(), sink, report)
    }

    /// Starts the threads that decode rows. `None`: there is nothing to do. The inner error says why there are no rows.
    pub(super) fn start(
        &mut self,
        from: impl Batches<Batch = Batch>,
        plan: Option<Arc<Plan>>,
        name: &str,
        sink: &mut Sink,
    ) -> Result<io::Result<Option<Pool<Batch>>>, Abort> {
        let types = self.types.take();
        let Out::Columns(_) = self.options.out else { return Ok(Ok(Some(for_text(from)))) };
        let mut ahead = Ahead::of(from, self.args.typed.infer);
        if let Some(error) = ahead.failed() {
            return Ok(Err(error));
        }
        let Some(plan) = plan.or_else(|| ahead.plan()) else {
            return Err(usage_of(self.of(name, "it has no rows of the requested tables, so no columns are known")));
        };
        let layout = match &self.columns {
            Some((layout, _)) => Arc::clone(layout),
            None => match self.layout(&ahead, &plan, types.as_ref(), sink)? {
                Some(layout) => layout,
                None => return Ok(Ok(None)),
            },
        };
        // Errors of the layout are reported here; each thread creates its own filler again.
        Filler::new(&layout, &plan).map_err(|error| usage_of(error.to_string()))?;
        Ok(Ok(Some(Pool::start(ahead, || {
            let mut filler = Filler::new(&layout, &plan);
            move |batch: &mut Batch| match &mut filler {
                Ok(filler) => filler.batch(batch),
                Err(error) => batch.failed = Some(error.to_string()),
            }
        }))))
    }

    /// Returns the columns of the output, inferred from the first rows; `None` if only the schema was requested.
    fn layout<T: Batches<Batch = Batch>>(
        &mut self,
        ahead: &Ahead<T>,
        plan: &Plan,
        types: Option<&Fields>,
        sink: &mut Sink,
    ) -> Result<Option<Arc<Layout>>, Abort> {
        let typed = &self.args.typed;
        let layout = Layout::new(&ahead.parts(plan, typed.infer.max(1)), plan, &self.options.typed, types)?;
        if typed.schema_only {
            sink.text(&layout.text())?;
            sink.text("\n")?;
            return Ok(None);
        }
        let Out::Columns(container) = plan.out else { return Ok(None) };
        let layout = Arc::new(layout);
        self.columns = Some((Arc::clone(&layout), Writer::new(container, &self.options.typed, &layout.schema)?));
        Ok(Some(layout))
    }

    /// Writes the records of a batch. Returns the reason if no more rows follow.
    pub(super) fn write_columns(&mut self, batch: &mut Batch, sink: &mut Sink) -> Result<Option<String>, Abort> {
        if let Some((_, writer)) = &mut self.columns {
            for record in batch.records.drain(..) {
                writer.write(record)?;
                writer.pass(|bytes| sink.piece(bytes))?;
            }
        }
        Ok(batch.failed.take())
    }
}
