//! Rows of a database, in the form in which MySQL writes them: its escapes distinguish any bytes from separators.

use icecore_store::{Address, Error, ErrorKind, Flow, Keys, Line, documents, keys, query};
use std::io::{self, PipeWriter, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Approximate number of bytes that are handed over at once.
const PIECE: usize = 64 << 10;

/// The rows to request.
pub enum Question {
    /// The rows of a query.
    Query(String),
    /// The documents of a collection that match this JSON.
    Documents(String, Option<String>),
    /// The values of keys that match this pattern, up to this number of bytes each.
    Keys(Option<String>, u64),
}

impl Question {
    /// Returns the name of the rows in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Question::Query(_) => "query",
            Question::Documents(..) => "collection",
            Question::Keys(..) => "keys",
        }
    }

    /// Returns the column that is decoded if none is given.
    pub fn usual(&self) -> Option<&'static str> {
        matches!(self, Question::Keys(..)).then_some("value")
    }
}

/// Queries the database in a separate thread, which waits while the rows are not read.
pub fn rows(address: Address, question: Question) -> icecore_store::Result<Box<dyn Read + Send>> {
    // Waits for the first row, the end or an error before anything is written.
    let (begun, begins) = sync_channel(1);
    let (from, to) = io::pipe().map_err(|error| Error::new(ErrorKind::Database, error.to_string()))?;
    let (ended, ends) = sync_channel(1);
    std::thread::spawn(move || {
        let mut rows = Rows { to, piece: Vec::with_capacity(2 * PIECE), begun: Some(begun) };
        let mut take = |line: Line<'_>| rows.line(line);
        let end = match &question {
            Question::Query(sql) => query(&address, sql, &mut take),
            Question::Documents(collection, wanted) => documents(&address, collection, wanted.as_deref(), &mut take),
            Question::Keys(pattern, longest) => {
                keys(&address, &Keys { pattern: pattern.clone(), longest: *longest }, &mut take)
            }
        };
        let end = end.and_then(|()| rows.pass());
        if let (Some(begun), Err(error)) = (&rows.begun, &end) {
            let _ = begun.send(Some(Error::new(error.kind(), error.to_string())));
        }
        let _ = ended.send(end.err());
    });
    match begins.recv() {
        Ok(Some(error)) => Err(error),
        _ => Ok(Box::new(Answer { from, ends })),
    }
}

/// Writes rows to a pipe.
struct Rows {
    to: PipeWriter,
    piece: Vec<u8>,
    begun: Option<SyncSender<Option<Error>>>,
}

impl Rows {
    fn line(&mut self, line: Line<'_>) -> icecore_store::Result<Flow> {
        match line {
            Line::Names(names) => self.cells(names.iter().map(|name| Some(name.as_bytes()))),
            Line::Values(values) => self.cells(values.iter().map(|value| value.as_deref())),
        }
        if let Some(begun) = self.begun.take() {
            let _ = begun.send(None);
        }
        if self.piece.len() >= PIECE {
            self.pass()?;
        }
        Ok(Flow::On)
    }

    fn cells<'c>(&mut self, cells: impl Iterator<Item = Option<&'c [u8]>>) {
        for (column, cell) in cells.enumerate() {
            if column > 0 {
                self.piece.push(b'\t');
            }
            let Some(bytes) = cell else {
                self.piece.extend_from_slice(b"\\N");
                continue;
            };
            for byte in bytes {
                match byte {
                    0 => self.piece.extend_from_slice(b"\\0"),
                    b'\n' => self.piece.extend_from_slice(b"\\n"),
                    b'\r' => self.piece.extend_from_slice(b"\\r"),
                    b'\t' => self.piece.extend_from_slice(b"\\t"),
                    b'\\' => self.piece.extend_from_slice(b"\\\\"),
                    byte => self.piece.push(*byte),
                }
            }
        }
        self.piece.push(b'\n');
    }

    fn pass(&mut self) -> icecore_store::Result<()> {
        let passed = self.to.write_all(&self.piece);
        self.piece.clear();
        // The reader needs no more rows.
        passed.map_err(|error| Error::new(ErrorKind::Database, error.to_string()))
    }
}

/// The output of the pipe; at its end, the error that stopped the query.
struct Answer {
    from: io::PipeReader,
    ends: Receiver<Option<Error>>,
}

impl Read for Answer {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(to)?;
        if count == 0
            && !to.is_empty()
            && let Ok(Some(error)) = self.ends.recv()
        {
            return Err(io::Error::other(error));
        }
        Ok(count)
    }
}
