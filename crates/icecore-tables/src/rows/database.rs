//! Rows of a database, in the form in which MySQL writes them. With its escapes, any bytes of a value differ from the
//! separators. In addition, [`PLAIN`] comes before a number or a boolean.

use super::dump::write_number;
use super::table::PLAIN;
use icecore_store::{Address, ColumnValue, Error, ErrorKind, Flow, KeyFilter, Line, list_keys, query, read_documents};
use std::io::{self, PipeWriter, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Approximate number of bytes that are handed over at once.
const SEND_LEN: usize = 64 << 10;

/// The rows to request.
pub enum RowRequest {
    /// The rows of a query.
    Query(String),
    /// The documents of a collection that match this JSON.
    Documents(String, Option<String>),
    /// The values of keys that match this pattern, up to this number of bytes each.
    Keys(Option<String>, u64),
}

impl RowRequest {
    /// Returns the name of the rows in messages.
    pub fn name(&self) -> &'static str {
        match self {
            RowRequest::Query(_) => "query",
            RowRequest::Documents(..) => "collection",
            RowRequest::Keys(..) => "keys",
        }
    }

    /// Returns the column that is decoded if none is given.
    pub fn default_column(&self) -> Option<&'static str> {
        matches!(self, RowRequest::Keys(..)).then_some("value")
    }
}

/// Queries the database in a separate thread. The thread waits while the rows are not read.
pub fn query_rows(address: Address, request: RowRequest) -> icecore_store::Result<Box<dyn Read + Send>> {
    // The caller waits for the first row, the end or an error, so that it can report an error before it writes
    // anything.
    let (start_sender, start_receiver) = sync_channel(1);
    let (pipe_reader, pipe_writer) = io::pipe().map_err(|error| Error::new(ErrorKind::Database, error.to_string()))?;
    let (end_sender, end_receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let mut rows =
            Rows { pipe: pipe_writer, unsent_rows: Vec::with_capacity(2 * SEND_LEN), start_sender: Some(start_sender) };
        let mut pass_line = |line: Line<'_>| rows.write_line(line);
        let end = match &request {
            RowRequest::Query(sql) => query(&address, sql, &mut pass_line),
            RowRequest::Documents(collection, filter) => {
                read_documents(&address, collection, filter.as_deref(), &mut pass_line)
            }
            RowRequest::Keys(pattern, max_value_len) => list_keys(
                &address,
                &KeyFilter { pattern: pattern.clone(), max_value_len: *max_value_len },
                &mut pass_line,
            ),
        };
        let end = end.and_then(|()| rows.send_rows());
        if let (Some(start_sender), Err(error)) = (&rows.start_sender, &end) {
            let _ = start_sender.send(Some(Error::new(error.kind(), error.to_string())));
        }
        let _ = end_sender.send(end.err());
    });
    match start_receiver.recv() {
        Ok(Some(error)) => Err(error),
        _ => Ok(Box::new(Answer { pipe: pipe_reader, end_receiver })),
    }
}

/// Writes rows to a pipe.
struct Rows {
    pipe: PipeWriter,
    /// Rows that are not in the pipe yet.
    unsent_rows: Vec<u8>,
    /// Takes the result of the start, until it was sent.
    start_sender: Option<SyncSender<Option<Error>>>,
}

impl Rows {
    fn write_line(&mut self, line: Line<'_>) -> icecore_store::Result<Flow> {
        match line {
            Line::Names(names) => self.write_cells(names, |rows, name| rows.write_text(name.as_bytes())),
            Line::Values(values) => self.write_cells(values, Rows::write_value),
        }
        if let Some(start_sender) = self.start_sender.take() {
            let _ = start_sender.send(None);
        }
        if self.unsent_rows.len() >= SEND_LEN {
            self.send_rows()?;
        }
        Ok(Flow::Continue)
    }

    fn write_cells<C>(&mut self, cells: &[C], write: impl Fn(&mut Self, &C)) {
        for (column, cell) in cells.iter().enumerate() {
            if column > 0 {
                self.unsent_rows.push(b'\t');
            }
            write(self, cell);
        }
        self.unsent_rows.push(b'\n');
    }

    fn write_value(&mut self, value: &ColumnValue<'_>) {
        let Some(bytes) = value.as_bytes() else {
            self.unsent_rows.extend_from_slice(b"\\N");
            return;
        };
        match value {
            ColumnValue::Boolean(_) => {
                self.unsent_rows.extend_from_slice(PLAIN);
                self.unsent_rows.extend_from_slice(bytes);
            }
            // NaN and Infinity have no digits. JSON can't express them as numbers, so they remain text.
            ColumnValue::Number(text) if text.bytes().any(|byte| byte.is_ascii_digit()) => {
                self.unsent_rows.extend_from_slice(PLAIN);
                write_number(bytes, &mut self.unsent_rows);
            }
            _ => self.write_text(bytes),
        }
    }

    fn write_text(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                0 => self.unsent_rows.extend_from_slice(b"\\0"),
                b'\n' => self.unsent_rows.extend_from_slice(b"\\n"),
                b'\r' => self.unsent_rows.extend_from_slice(b"\\r"),
                b'\t' => self.unsent_rows.extend_from_slice(b"\\t"),
                b'\\' => self.unsent_rows.extend_from_slice(b"\\\\"),
                byte => self.unsent_rows.push(*byte),
            }
        }
    }

    fn send_rows(&mut self) -> icecore_store::Result<()> {
        let sent = self.pipe.write_all(&self.unsent_rows);
        self.unsent_rows.clear();
        // This fails if the reader needs no more rows.
        sent.map_err(|error| Error::new(ErrorKind::Database, error.to_string()))
    }
}

/// The reading end of the pipe. After the last row, it returns the error that stopped the query.
struct Answer {
    pipe: io::PipeReader,
    end_receiver: Receiver<Option<Error>>,
}

impl Read for Answer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.pipe.read(buffer)?;
        if count == 0
            && !buffer.is_empty()
            && let Ok(Some(error)) = self.end_receiver.recv()
        {
            return Err(io::Error::other(error));
        }
        Ok(count)
    }
}
