//! Reading files of Parquet and Arrow, record by record.

use super::Container;
use super::footer;
use super::messages::{Messages, is_shallow};
use super::pages::Pages;
use super::panic_guard::catch_panic;
use crate::pool::BatchReader;
use crate::rows::batch::Batch;
use crate::rows::plan::Plan;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;

/// Approximate number of bytes in a batch.
const BATCH_BYTES: u64 = 1 << 20;
/// Maximum number of rows in a batch.
const MAX_BATCH_ROWS: u64 = 8192;
/// Maximum depth of types.
const MAX_TYPE_DEPTH: usize = 64;

/// The records of a file, batch by batch.
pub struct Records {
    source: RecordSource,
    schema: SchemaRef,
    plan: Option<Arc<Plan>>,
    /// Number of rows that were handed out.
    rows: u64,
    /// The rest of a record that is not handed out yet.
    rest: Option<RecordBatch>,
    /// Length of the file, or of the stream that was read so far.
    len: u64,
}

enum RecordSource {
    Parquet(Box<ParquetRecordBatchReader>),
    Arrow(Box<Messages<Box<dyn Read + Send>>>),
}

impl Records {
    /// Opens Parquet. It has to be a file, because the description of its columns is at its end.
    pub fn open_parquet(mut file: File) -> io::Result<Records> {
        let too_deep = || format!("it has types that are nested more than {MAX_TYPE_DEPTH} levels deep");
        // In Parquet, a list has two levels.
        if !footer::is_shallow(&mut file, 2 * MAX_TYPE_DEPTH)? {
            return Err(damaged_error(Container::Parquet, &too_deep()));
        }
        let pages = Pages::new(file)?;
        let len = parquet::file::reader::Length::len(&pages);
        let opened = catch_panic(|| {
            let builder = ParquetRecordBatchReaderBuilder::try_new(pages).map_err(|error| error.to_string())?;
            let schema = Arc::clone(builder.schema());
            if !schema.fields().iter().all(|field| is_shallow(field, MAX_TYPE_DEPTH)) {
                return Err(too_deep());
            }
            let rows = builder.metadata().file_metadata().num_rows().max(1) as u64;
            let groups = builder.metadata().row_groups();
            let size = groups.iter().map(|group| group.total_byte_size().max(0) as u64).fold(0, u64::saturating_add);
            let per_row = (size / rows).max(1);
            let reader = builder.with_batch_size((BATCH_BYTES / per_row).clamp(1, MAX_BATCH_ROWS) as usize).build();
            Ok((reader.map_err(|error| error.to_string())?, schema))
        });
        let (reader, schema) = opened.map_err(|reason| damaged_error(Container::Parquet, &reason))?;
        Ok(Records { source: RecordSource::Parquet(Box::new(reader)), schema, plan: None, rows: 0, rest: None, len })
    }

    /// Opens Arrow, a file or a stream.
    pub fn open_arrow(input: Box<dyn Read + Send>) -> io::Result<Records> {
        let mut messages = Messages::new(input);
        let schema =
            catch_panic(|| messages.read_schema()).map_err(|reason| damaged_error(Container::Arrow, &reason))?;
        Ok(Records { source: RecordSource::Arrow(Box::new(messages)), schema, plan: None, rows: 0, rest: None, len: 0 })
    }

    /// Returns the columns of the input.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Sets the plan for its rows.
    pub fn with_plan(self, plan: &Arc<Plan>) -> Records {
        Records { plan: Some(Arc::clone(plan)), ..self }
    }

    fn next_record(&mut self) -> io::Result<Option<RecordBatch>> {
        match &mut self.source {
            RecordSource::Parquet(reader) => {
                catch_panic(|| reader.next().transpose()).map_err(|reason| damaged_error(Container::Parquet, &reason))
            }
            RecordSource::Arrow(messages) => {
                let next =
                    catch_panic(|| messages.next_record()).map_err(|reason| damaged_error(Container::Arrow, &reason));
                self.len = messages.offset;
                next
            }
        }
    }
}

/// Copies an input to a temporary file, for readers that need a file.
pub fn spool_to_file(mut input: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut input, &mut file)?;
    file.rewind()?;
    Ok(file)
}

fn damaged_error(container: Container, reason: &str) -> io::Error {
    let reason = icecore::text::printable(reason);
    io::Error::new(io::ErrorKind::InvalidData, format!("it can't be read as {}: {reason}", container.name()))
}

impl BatchReader for Records {
    type Batch = Batch;

    fn fill_batch(&mut self, batch: &mut Batch) -> io::Result<bool> {
        batch.clear();
        batch.earlier_rows = self.rows;
        self.plan.iter().for_each(|plan| batch.set_plan(plan));
        let record = loop {
            match self.rest.take() {
                Some(record) if record.num_rows() > 0 => break record,
                _ => match self.next_record()? {
                    Some(record) => self.rest = Some(record),
                    None => return Ok(false),
                },
            }
        };
        let rows = record.num_rows().min(MAX_BATCH_ROWS as usize).min(batch.max_rows.unwrap_or(usize::MAX));
        self.rest = Some(record.slice(rows, record.num_rows() - rows));
        batch.record = Some(record.slice(0, rows));
        self.rows += rows as u64;
        batch.end = self.len;
        Ok(true)
    }
}
