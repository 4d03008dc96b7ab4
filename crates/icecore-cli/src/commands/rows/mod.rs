//! `icecore rows`: blobs that stand in the columns of an export.

mod batch;
mod column;
mod decode;
mod object;
mod plan;
mod pool;
mod table;
mod text;

use crate::cli::{Global, Rows};
use crate::progress::Progress;
use crate::records::{Tally, Window, write_summary};
use crate::report::{Abort, Report, code, io_reason};
use crate::sink::Sink;
use crate::source::Source;
use crate::target::{Outputs, Target};
use batch::Batch;
use decode::Decoder;
use plan::Plan;
use pool::Pool;
use std::sync::Arc;
use table::{Settings, Table};

pub fn run(args: &Rows, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let source = Source::one(args.file.as_deref());
    let name = source.name();
    let input = match source.open() {
        Ok(input) => input,
        Err(error) => {
            report.io(&name, &error);
            return Ok(());
        }
    };
    let mut outputs = Outputs::new(std::slice::from_ref(&source), args.force);
    let summary = args.summary.as_ref().map(|path| outputs.place(path)).transpose()?;
    let output = outputs.output(args.output.as_ref())?;
    report.progress = Progress::over(1, global.quiet);
    let mut table = Table::new(args.form, Window::new(input, args.chunk), Settings::of(args)?);
    let header =
        table.header().map_err(|error| Abort::Failed(code::USAGE, format!("{name}: {}", io_reason(&error))))?;
    let plan = Arc::new(Plan::new(args, global, header)?);
    let mut target = Target::new(output)?;
    let mut tally = Tally::rows(&name);
    let job = Conversion { plan: &plan, stops: args.on_error == OnError::Stop, name: &name };
    job.convert(table, &mut target.sink, &mut tally, report)?;
    target.keep()?;
    tally.end(report, global.quiet);
    summary.map_or(Ok(()), |place| write_summary(place, &[tally]))
}

pub use plan::{Bytea, Form, OnError, Text};

struct Conversion<'j> {
    plan: &'j Arc<Plan>,
    stops: bool,
    name: &'j str,
}

impl Conversion<'_> {
    /// Converts all rows: one thread reads, as many as there are processors decode,
    /// and this one writes, in the order of the input.
    fn convert(&self, table: Table, sink: &mut Sink, tally: &mut Tally, report: &mut Report) -> Result<(), Abort> {
        self.plan.write_header(sink.part());
        let plan = Arc::clone(self.plan);
        let pool = Pool::start(table, move || {
            let mut decoder = Decoder::new(Arc::clone(&plan));
            move |batch: &mut Batch| decoder.batch(batch)
        });
        while let Some(batch) = pool.next() {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) => {
                    // The rows before it are what there is.
                    sink.flush()?;
                    return Err(Abort::Failed(code::USAGE, format!("{}: {}", self.name, io_reason(&error))));
                }
            };
            tally.records += batch.rows() as u64;
            tally.bytes = batch.end;
            for wrong in &batch.tally.errors {
                tally.tell(wrong, report);
            }
            tally.merge(&batch.tally);
            sink.part().extend_from_slice(&batch.out);
            // What comes next may be long in coming.
            if batch.is_last_for_now {
                sink.flush()?
            } else {
                sink.pass()?
            }
            report.progress.count(self.name, tally.records);
            if self.stops && tally.bad > 0 {
                break;
            }
            pool.give_back(batch);
        }
        sink.flush()
    }
}
