//! Buffered output in constant memory.

use crate::paint::ColorMode;
use crate::paint::Paint;
use crate::report::{Abort, code, io_reason};
use crate::screen;
use crate::terminal::{self, DisplayLimits};
use icecore::{Error, ErrorKind, Limits, Output, raw::Spare};
use std::io::{self, Write};

/// Number of bytes that are buffered before they are written.
const FLUSH_LEN: usize = 64 << 10;
/// Number of bytes that all documents together may write beyond what their sizes allow.
const SHARED_ALLOWANCE: u64 = 64 << 20;
/// A report may be longer than a converted document by this factor, because it may have lines for each byte.
const REPORT_FACTOR: u64 = 8;

/// An [`Output`] that writes to a file, a pipe or a terminal.
pub struct OutputWriter {
    inner: Box<dyn Write>,
    buffer: Vec<u8>,
    /// The error that stopped writing.
    write_error: Option<io::Error>,
    /// The last byte written.
    last_byte: u8,
    name: String,
    /// Number of bytes written to `inner`.
    written_len: u64,
    /// Number of complete documents.
    document_count: u64,
    /// Whether the buffer is only written when a record is complete.
    writes_only_complete_records: bool,
    /// Scratch memory that the writers of the engine reuse for the next document.
    spare: Spare,
    /// Remaining part of [`SHARED_ALLOWANCE`].
    allowance: u64,
    /// Maximum position of the end of the current report.
    max_report_end: u64,
    /// Whether JSON objects are laid out for people.
    is_indented: bool,
}

impl OutputWriter {
    pub fn new(inner: Box<dyn Write>, name: impl Into<String>) -> OutputWriter {
        OutputWriter {
            inner,
            buffer: Vec::with_capacity(2 * FLUSH_LEN),
            write_error: None,
            last_byte: b'\n',
            name: name.into(),
            written_len: 0,
            document_count: 0,
            writes_only_complete_records: false,
            spare: Spare::default(),
            allowance: SHARED_ALLOWANCE,
            max_report_end: u64::MAX,
            is_indented: false,
        }
    }

    /// Creates a writer for the standard output.
    pub fn stdout() -> OutputWriter {
        OutputWriter::new(screen::open_stdout(), "standard output")
    }

    /// Creates a writer for JSON on the standard output, with colour on a terminal.
    pub fn json_to_stdout(color_mode: ColorMode) -> OutputWriter {
        let mut writer = OutputWriter::stdout();
        writer.paint_json(color_mode);
        writer.is_indented = terminal::is_stdout_terminal();
        writer
    }

    /// Creates a writer for JSON or text on the standard output.
    pub fn for_report(is_json: bool, color_mode: ColorMode) -> OutputWriter {
        if is_json { OutputWriter::json_to_stdout(color_mode) } else { OutputWriter::stdout() }
    }

    /// Adds colour to JSON for the standard output, if enabled.
    pub fn paint_json(&mut self, color_mode: ColorMode) {
        let has_paths = false;
        self.paint_values(color_mode, has_paths);
    }

    /// Adds colour to JSON. With `has_paths`, a path and a tab precede each value.
    pub fn paint_values(&mut self, color_mode: ColorMode, has_paths: bool) {
        let paint = Paint::new(color_mode, &io::stdout());
        if terminal::is_stdout_terminal() || paint.is_enabled() {
            self.wrap_writer(|inner| Box::new(terminal::JsonPainter::new(inner, paint).with_paths(has_paths)));
        }
    }

    /// Shows only a part of the JSON that is written.
    pub fn limit_json(&mut self, limits: DisplayLimits) {
        self.wrap_writer(|inner| Box::new(terminal::JsonTruncator::new(inner, limits)));
    }

    /// Escapes control characters in arbitrary text for the standard output, if it is a terminal.
    pub fn escape_controls(&mut self) {
        if terminal::is_stdout_terminal() {
            self.wrap_writer(|inner| Box::new(terminal::ControlEscaper::new(inner)));
        }
    }

    fn wrap_writer(&mut self, wrap: impl FnOnce(Box<dyn Write>) -> Box<dyn Write>) {
        let inner = std::mem::replace(&mut self.inner, Box::new(io::sink()));
        self.inner = wrap(inner);
    }

    /// Appends a JSON object and a line end, on a terminal in several lines.
    pub fn write_object(&mut self, value: &impl serde::Serialize) -> Result<(), Abort> {
        if self.is_indented {
            let result = crate::json::push_indented(value, &mut self.buffer);
            result.map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?;
        } else {
            self.write_json(value)?;
        }
        self.write_text("\n")
    }

    /// Limits the length of the report that follows; the report is about an input of `size` bytes.
    pub fn limit_report(&mut self, limits: &Limits, size: usize) {
        self.max_report_end = self.position().saturating_add(limits.output_from(size).saturating_mul(REPORT_FACTOR));
    }

    /// Creates a writer that discards everything.
    pub fn new_discarding() -> OutputWriter {
        OutputWriter::new(Box::new(io::sink()), "")
    }

    /// Returns true if the last line is complete.
    pub fn is_at_line_start(&self) -> bool {
        self.buffer.last().copied().unwrap_or(self.last_byte) == b'\n'
    }

    /// Returns the number of bytes written so far.
    pub fn position(&self) -> u64 {
        self.written_len + self.buffer.len() as u64
    }

    /// Counts a complete document.
    pub fn count_document(&mut self) {
        self.document_count += 1;
    }

    /// Returns the number of complete documents.
    pub fn document_count(&self) -> u64 {
        self.document_count
    }

    /// Removes the output after this position from the buffer. What was already written remains.
    pub fn discard_after(&mut self, position: u64) {
        self.buffer.truncate(usize::try_from(position.saturating_sub(self.written_len)).unwrap_or(usize::MAX));
    }

    /// From now on, writes only complete records: everything after the last call of [`OutputWriter::release_record`]
    /// can be discarded.
    pub fn write_only_complete_records(&mut self) {
        self.writes_only_complete_records = true;
    }

    /// Allows the output so far to be written.
    pub fn release_record(&mut self) -> Result<(), Abort> {
        if self.buffer.len() >= FLUSH_LEN && self.write_buffer().is_err() {
            return Err(self.take_stop_reason());
        }
        Ok(())
    }

    /// Calls `edit` with the buffer and the index in it that belongs to this position.
    pub fn edit_record<T>(&mut self, position: u64, edit: impl FnOnce(&mut Vec<u8>, usize) -> T) -> T {
        let start =
            usize::try_from(position.saturating_sub(self.written_len)).unwrap_or(usize::MAX).min(self.buffer.len());
        edit(&mut self.buffer, start)
    }

    /// Returns the buffer, to append to.
    pub fn buffer_mut(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Appends a byte.
    pub fn push(&mut self, byte: u8) {
        self.buffer.push(byte);
    }

    /// Writes the buffer.
    pub fn flush(&mut self) -> Result<(), Abort> {
        if self
            .write_buffer()
            .and_then(|()| self.inner.flush().map_err(|error| self.record_write_error(error)))
            .is_err()
        {
            return Err(self.take_stop_reason());
        }
        Ok(())
    }

    /// Removes the error that stopped writing, and returns it as the end of the command. To be called after an error of
    /// kind `Output`.
    pub fn take_stop_reason(&mut self) -> Abort {
        match self.write_error.take() {
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Abort::Closed,
            Some(error) => Abort::Failed(code::USAGE, format!("{}: {}", self.name, io_reason(&error))),
            None => Abort::Failed(code::OTHER, format!("{}: the output was closed", self.name)),
        }
    }

    /// Appends bytes as they are.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Abort> {
        self.buffer.extend_from_slice(bytes);
        self.allow_flush().map_err(|_| self.take_stop_reason())
    }

    /// Appends bytes. Large ones are written directly, without a copy in the buffer.
    pub fn write_piece(&mut self, bytes: &[u8]) -> Result<(), Abort> {
        if bytes.len() < FLUSH_LEN {
            return self.write_bytes(bytes);
        }
        let result = self
            .write_buffer()
            .and_then(|()| self.inner.write_all(bytes).map_err(|error| self.record_write_error(error)));
        self.written_len += bytes.len() as u64;
        self.last_byte = bytes.last().copied().unwrap_or(self.last_byte);
        result.map_err(|_| self.take_stop_reason())
    }

    /// Appends text.
    pub fn write_text(&mut self, text: &str) -> Result<(), Abort> {
        self.buffer.extend_from_slice(text.as_bytes());
        self.check_report_limit()
    }

    /// Checks the limit after a part of a report.
    fn check_report_limit(&mut self) -> Result<(), Abort> {
        if self.position() > self.max_report_end {
            self.flush()?;
            let text = format!(
                "limit reached: expected a report of at most {} bytes, found more of it (raise the limit `growth` \
                 if the input is trusted: `--limit growth=N`)",
                self.max_report_end
            );
            return Err(Abort::Failed(code::INPUT, text));
        }
        self.allow_flush().map_err(|_| self.take_stop_reason())
    }

    /// Appends a value as JSON.
    pub fn write_json(&mut self, value: &impl serde::Serialize) -> Result<(), Abort> {
        crate::json::push_value(value, &mut self.buffer)
            .map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?;
        self.check_report_limit()
    }

    fn write_buffer(&mut self) -> Result<(), Error> {
        if let Some(last) = self.buffer.last() {
            self.last_byte = *last;
        }
        let result = self.inner.write_all(&self.buffer);
        self.written_len += self.buffer.len() as u64;
        self.buffer.clear();
        result.map_err(|error| self.record_write_error(error))
    }

    fn record_write_error(&mut self, error: io::Error) -> Error {
        self.write_error = Some(error);
        Error::new(ErrorKind::Output)
    }
}

impl Output for OutputWriter {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    fn allow_flush(&mut self) -> Result<(), Error> {
        if self.buffer.len() >= FLUSH_LEN && !self.writes_only_complete_records { self.write_buffer() } else { Ok(()) }
    }

    fn remaining_allowance(&self) -> u64 {
        self.allowance
    }

    fn spend_allowance(&mut self, bytes: u64) {
        self.allowance = self.allowance.saturating_sub(bytes);
    }

    fn take_spare(&mut self) -> Spare {
        std::mem::take(&mut self.spare)
    }

    fn return_spare(&mut self, spare: Spare) {
        self.spare = spare;
    }
}
