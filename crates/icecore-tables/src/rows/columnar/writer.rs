//! Writing records.

use super::{Compression, Container};
use crate::error::{Error, Result, usage_error};
use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of bytes of a row group, whatever its number of rows is. It is limited, because a row group is in
/// memory until it is complete.
const MAX_ROW_GROUP_BYTES: usize = 64 << 20;
/// Approximate size of a batch of Arrow.
const BATCH_BYTES: usize = 1 << 20;

/// Writes records to a columnar file.
pub struct Writer {
    writer: FormatWriter,
    buffer: Buffer,
    schema: SchemaRef,
    /// Records that are too small to be written alone.
    waiting: Vec<RecordBatch>,
    /// Total size of the waiting records.
    size: usize,
}

enum FormatWriter {
    Parquet(Box<ArrowWriter<Buffer>>),
    Arrow(Box<FileWriter<Buffer>>),
    ArrowStream(Box<StreamWriter<Buffer>>),
}

/// The output, until it is passed on.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn with_bytes<T>(&self, work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with_bytes(|buffer| buffer.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Writer {
    /// Begins a file with these columns.
    pub fn new(container: Container, options: &super::ColumnarOptions, schema: &SchemaRef) -> Result<Writer> {
        let buffer = Buffer::default();
        let writer = match container {
            Container::Parquet => {
                let properties = parquet_properties(options)?;
                let writer = ArrowWriter::try_new(buffer.clone(), Arc::clone(schema), Some(properties));
                FormatWriter::Parquet(Box::new(writer.map_err(write_error)?))
            }
            Container::Arrow => {
                let writer = FileWriter::try_new_with_options(buffer.clone(), schema, arrow_options(options)?);
                FormatWriter::Arrow(Box::new(writer.map_err(write_error)?))
            }
            Container::ArrowStream => {
                let writer = StreamWriter::try_new_with_options(buffer.clone(), schema, arrow_options(options)?);
                FormatWriter::ArrowStream(Box::new(writer.map_err(write_error)?))
            }
        };
        Ok(Writer { writer, buffer, schema: Arc::clone(schema), waiting: Vec::new(), size: 0 })
    }

    /// Writes a record, or keeps it until there are enough.
    pub fn write_record(&mut self, record: RecordBatch) -> Result<()> {
        if let FormatWriter::Parquet(writer) = &mut self.writer {
            return writer.write(&record).map_err(write_error);
        }
        self.size += record.get_array_memory_size();
        self.waiting.push(record);
        if self.size < BATCH_BYTES { Ok(()) } else { self.write_waiting() }
    }

    /// Writes the waiting records as one record.
    fn write_waiting(&mut self) -> Result<()> {
        if !self.waiting.is_empty() {
            let record = concat_batches(&self.schema, &self.waiting).map_err(write_error)?;
            self.waiting.clear();
            self.size = 0;
            match &mut self.writer {
                FormatWriter::Parquet(writer) => writer.write(&record).map_err(write_error)?,
                FormatWriter::Arrow(writer) => writer.write(&record).map_err(write_error)?,
                FormatWriter::ArrowStream(writer) => writer.write(&record).map_err(write_error)?,
            }
        }
        Ok(())
    }

    /// Hands over the output so far.
    pub fn take_output<T>(&self, take: impl FnOnce(&[u8]) -> T) -> T {
        self.buffer.with_bytes(|buffer| {
            let result = take(buffer);
            buffer.clear();
            result
        })
    }

    /// Writes the end of the file into the output. The caller must still pass it on.
    pub fn finish(&mut self) -> Result<()> {
        self.write_waiting()?;
        match &mut self.writer {
            FormatWriter::Parquet(writer) => drop(writer.finish().map_err(write_error)?),
            FormatWriter::Arrow(writer) => writer.finish().map_err(write_error)?,
            FormatWriter::ArrowStream(writer) => writer.finish().map_err(write_error)?,
        }
        Ok(())
    }
}

fn parquet_properties(options: &super::ColumnarOptions) -> Result<WriterProperties> {
    let codec = match options.compression {
        None | Some(Compression::Snappy) => Codec::SNAPPY,
        Some(Compression::Zstd) => Codec::ZSTD(ZstdLevel::try_new(3).map_err(write_error)?),
        Some(Compression::Lz4) => Codec::LZ4_RAW,
        Some(Compression::None) => Codec::UNCOMPRESSED,
    };
    let rows = usize::try_from(options.row_group).unwrap_or(usize::MAX);
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_created_by(concat!("icecore ", env!("CARGO_PKG_VERSION")).to_owned());
    Ok(properties.set_max_row_group_row_count(Some(rows)).set_max_row_group_bytes(Some(MAX_ROW_GROUP_BYTES)).build())
}

fn arrow_options(options: &super::ColumnarOptions) -> Result<IpcWriteOptions> {
    let compression = match options.compression {
        None | Some(Compression::None) => None,
        Some(Compression::Zstd) => Some(CompressionType::ZSTD),
        Some(Compression::Lz4) => Some(CompressionType::LZ4_FRAME),
        Some(Compression::Snappy) => {
            return Err(usage_error("arrow does not support snappy: use --compression lz4, zstd or none".to_owned()));
        }
    };
    IpcWriteOptions::default().try_with_compression(compression).map_err(write_error)
}

fn write_error(error: impl ToString) -> Error {
    Error::Other(format!("the columns can't be written: {}", error.to_string()))
}
