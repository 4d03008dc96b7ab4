//! Splits an input into its records, without changing them.

use super::{Framing, Split, Window, ignores_blanks_between, may_continue};
use crate::report::{Abort, Report, code};
use icecore::{Error, ErrorKind, Limits, Request, Stage};
use std::io::{self, Read};

/// Returns one record after another.
pub struct RecordSplitter<'c, R> {
    window: Window<R>,
    framing: Framing,
    /// Format of documents without separators, which determines where each ends.
    stage: Option<Stage>,
    max_record_len: u64,
    limits: &'c Limits,
}

/// Why there is no next record.
#[derive(Debug)]
pub enum SplitError {
    Input(io::Error),
    Record(Error),
}

impl SplitError {
    /// Reports the error, and shows its place in the input.
    pub fn report_error<R: Read>(&self, name: &str, splitter: &RecordSplitter<'_, R>, report: &mut Report) {
        match self {
            SplitError::Input(error) => report.report_io_error(name, error),
            SplitError::Record(error) => report.report_unreadable(name, error, splitter.window.bytes()),
        }
    }
}

impl<'c, R: Read> RecordSplitter<'c, R> {
    /// Creates the splitter.
    ///
    /// # Errors
    ///
    /// If the records have no separators, and no format determines where a document ends.
    pub fn new(
        mut window: Window<R>,
        framing: Framing,
        stage: Option<&Stage>,
        max_record_len: u64,
        limits: &'c Limits,
    ) -> Result<RecordSplitter<'c, R>, Abort> {
        window.set_max_record(max_record_len);
        let line_stage = stage.and_then(Stage::of_line);
        let (framing, stage) = match (framing, line_stage, stage) {
            (Framing::Documents, Some(_), _) => (Framing::Lines, None),
            (Framing::Documents, None, Some(stage)) if stage.wrappers().is_empty() => (framing, Some(stage.clone())),
            (Framing::Documents, None, _) => return Err(unknown_end_error(stage)),
            _ => (framing, None),
        };
        Ok(RecordSplitter { window, framing, stage, max_record_len, limits })
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the record is broken, or the input can't be read. There is no next record after an error.
    pub fn next_record(&mut self) -> Result<Option<Vec<u8>>, SplitError> {
        loop {
            let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
            let split = match &self.stage {
                Some(stage) => split_document(bytes, is_end, stage, self.limits),
                None => self.framing.split_record(bytes, is_end),
            };
            match split {
                Split::Record { start, end, next } => {
                    let record = &bytes[start..end];
                    if record.len() as u64 > self.max_record_len {
                        return Err(self.too_long_error());
                    }
                    // An empty line is not a record.
                    let is_blank = self.framing == Framing::Lines && record.iter().all(u8::is_ascii_whitespace);
                    let record = (!is_blank).then(|| record.to_vec());
                    self.window.consume(next);
                    if record.is_some() {
                        return Ok(record);
                    }
                }
                Split::End if is_end => return Ok(None),
                Split::End | Split::Incomplete if bytes.len() as u64 > self.max_record_len => {
                    return Err(self.too_long_error());
                }
                Split::End | Split::Incomplete => self.window.read_more().map_err(SplitError::Input)?,
                Split::Broken(error) => return Err(SplitError::Record(error)),
            }
        }
    }

    fn too_long_error(&self) -> SplitError {
        let error = Error::new(ErrorKind::Limit)
            .expecting(format!("a record of at most {} bytes", self.max_record_len))
            .finding("a longer one")
            .helping("raise it with --max-record if the input is trusted");
        SplitError::Record(error)
    }
}

fn unknown_end_error(stage: Option<&Stage>) -> Abort {
    let text = match stage {
        Some(stage) => {
            format!("{stage} does not say where a document ends: name the frame of each, as in --each=lines")
        }
        None => {
            "--each needs the format of the documents, as in `--each -f marshal`, or their frame, as in `--each=u32be`"
                .to_owned()
        }
    };
    Abort::Failed(code::USAGE, text)
}

/// Finds the first of several documents without separators.
fn split_document(bytes: &[u8], is_end: bool, stage: &Stage, limits: &Limits) -> Split {
    let ignores_blanks = ignores_blanks_between(stage);
    let leading_blanks = if ignores_blanks { bytes.len() - bytes.trim_ascii_start().len() } else { 0 };
    let body = &bytes[leading_blanks..];
    if body.is_empty() {
        return if is_end { Split::End } else { Split::Incomplete };
    }
    let outcome = stage.format().read(body, stage.settings(), Request::new(limits));
    let end = outcome.error.is_none().then_some(outcome.consumed);
    if !is_end && may_continue(stage, end, outcome.error.as_ref(), body) {
        return Split::Incomplete;
    }
    match (outcome.error, leading_blanks + outcome.consumed) {
        (Some(error), _) => Split::Broken(stage.format().explain(error)),
        // A document of no bytes would be found again forever.
        (None, 0) => Split::End,
        (None, next) => {
            // Some readers also consume blanks after a document.
            let trailing_blanks =
                if ignores_blanks { bytes[..next].len() - bytes[..next].trim_ascii_end().len() } else { 0 };
            Split::Record { start: leading_blanks, end: next - trailing_blanks, next }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icecore_tables::window::CHUNK;

    /// Returns the records, and true if the input ended without an error. The result must not depend on how many
    /// bytes are read at once.
    fn split_records(bytes: &[u8], framing: Framing, format: &str, max_len: u64) -> (Vec<Vec<u8>>, bool) {
        let limits = Limits::default();
        let stage = Stage::parse(format).expect("a format");
        let split_with = |chunk: usize| {
            let splitter = RecordSplitter::new(Window::new(bytes, chunk), framing, Some(&stage), max_len, &limits);
            let Ok(mut splitter) = splitter else { panic!("{format} has no end") };
            let mut records = Vec::new();
            loop {
                match splitter.next_record() {
                    Ok(Some(record)) => records.push(record),
                    last => return (records, last.is_ok()),
                }
            }
        };
        let expected = split_with(CHUNK);
        for chunk in [1, 2, 7, 64] {
            assert_eq!(split_with(chunk), expected, "{chunk} bytes at once");
        }
        expected
    }

    #[test]
    fn documents_are_split_at_their_ends() {
        let dumps: &[&[u8]] = &[b"\x04\x08i\x06", b"\x04\x08[\x07i\x06\"\x08abc", b"\x04\x080"];
        assert_eq!(
            split_records(&dumps.concat(), Framing::Documents, "marshal", 100),
            (dumps.iter().map(|d| d.to_vec()).collect(), true)
        );
        let texts = [b"12".to_vec(), b"[3]".to_vec(), b"4".to_vec()];
        assert_eq!(split_records(b"12 [3]\n4\n", Framing::Documents, "json", 100), (texts.to_vec(), true));
        assert_eq!(split_records(b"12\n\n[3]\n4", Framing::Documents, "ndjson", 100), (texts.to_vec(), true));
        assert_eq!(split_records(b"", Framing::Documents, "marshal", 100), (Vec::new(), true));
    }

    #[test]
    fn a_broken_record_ends_the_input_after_the_good_ones() {
        let good = b"\x04\x08i\x06".to_vec();
        for suffix in [&b"\x04\x08["[..], b"\x04\x08\xFF more of it", b"no dump"] {
            let bytes = [&good[..], suffix].concat();
            assert_eq!(
                split_records(&bytes, Framing::Documents, "marshal", 100),
                (vec![good.clone()], false),
                "{suffix:?}"
            );
        }
        assert_eq!(split_records(b"\0\0\0\x01a\0\0\0\x05b", Framing::U32be, "json", 100), (vec![b"a".to_vec()], false));
        assert_eq!(
            split_records(b"\0\0\0\x01a\0\0\0\x05bcdef", Framing::U32be, "json", 4),
            (vec![b"a".to_vec()], false)
        );
    }
}
