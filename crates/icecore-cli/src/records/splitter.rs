//! Cuts an input into its records, which are not changed.

use super::{Frame, Split, Window, has_blanks_between, may_continue};
use crate::report::{Abort, Report, code};
use icecore::{Error, ErrorKind, Limits, Request, Stage};
use std::io::{self, Read};

/// Returns one record after the other.
pub struct RecordSplitter<'c, R> {
    window: Window<R>,
    frame: Frame,
    /// Finds the end of a document without a frame.
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
    pub fn report_error<R: Read>(&self, name: &str, cut: &RecordSplitter<'_, R>, report: &mut Report) {
        match self {
            SplitError::Input(error) => report.report_io_error(name, error),
            SplitError::Record(error) => report.report_unreadable(name, error, cut.window.bytes()),
        }
    }
}

impl<'c, R: Read> RecordSplitter<'c, R> {
    /// Creates the cutter. `max_record_len`: maximum length of a record.
    ///
    /// # Errors
    ///
    /// If there are no frames, and no format that determines where a document ends.
    pub fn new(
        mut window: Window<R>,
        frame: Frame,
        stage: Option<&Stage>,
        max_record_len: u64,
        limits: &'c Limits,
    ) -> Result<RecordSplitter<'c, R>, Abort> {
        window.set_max_record(max_record_len);
        let line = stage.and_then(Stage::of_line);
        let (frame, stage) = match (frame, line, stage) {
            (Frame::Documents, Some(_), _) => (Frame::Lines, None),
            (Frame::Documents, None, Some(stage)) if stage.wrappers().is_empty() => (frame, Some(stage.clone())),
            (Frame::Documents, None, _) => return Err(unknown_end_error(stage)),
            _ => (frame, None),
        };
        Ok(RecordSplitter { window, frame, stage, max_record_len, limits })
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the record is broken, or the input can't be read: then there is no next record.
    pub fn next_record(&mut self) -> Result<Option<Vec<u8>>, SplitError> {
        loop {
            let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
            let split = match &self.stage {
                Some(stage) => split_document(bytes, is_end, stage, self.limits),
                None => self.frame.split_record(bytes, is_end),
            };
            match split {
                Split::Record { start, end, next } => {
                    let record = &bytes[start..end];
                    if record.len() as u64 > self.max_record_len {
                        return Err(self.too_long_error());
                    }
                    // An empty line is not a record.
                    let is_blank = self.frame == Frame::Lines && record.iter().all(u8::is_ascii_whitespace);
                    let record = (!is_blank).then(|| record.to_vec());
                    self.window.consume(next);
                    if record.is_some() {
                        return Ok(record);
                    }
                }
                Split::End if is_end => return Ok(None),
                Split::End | Split::More if bytes.len() as u64 > self.max_record_len => {
                    return Err(self.too_long_error());
                }
                Split::End | Split::More => self.window.read_more().map_err(SplitError::Input)?,
                Split::Bad(error) => return Err(SplitError::Record(error)),
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
    let blanks = has_blanks_between(stage);
    let leading_blanks = if blanks { bytes.len() - bytes.trim_ascii_start().len() } else { 0 };
    let body = &bytes[leading_blanks..];
    if body.is_empty() {
        return if is_end { Split::End } else { Split::More };
    }
    let outcome = stage.format().read(body, stage.settings(), Request::new(limits));
    let end = outcome.error.is_none().then_some(outcome.consumed);
    if !is_end && may_continue(stage, end, outcome.error.as_ref(), body) {
        return Split::More;
    }
    match (outcome.error, leading_blanks + outcome.consumed) {
        (Some(error), _) => Split::Bad(stage.format().explain(error)),
        // After a document of no bytes there are no more.
        (None, 0) => Split::End,
        (None, next) => {
            // Some readers also consume blanks after a document.
            let trailing_blanks = if blanks { bytes[..next].len() - bytes[..next].trim_ascii_end().len() } else { 0 };
            Split::Record { start: leading_blanks, end: next - trailing_blanks, next }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icecore_tables::window::CHUNK;

    /// Returns the records, and whether the input ended without an error, for different sizes of reads.
    fn split_records(bytes: &[u8], frame: Frame, format: &str, max_len: u64) -> (Vec<Vec<u8>>, bool) {
        let limits = Limits::default();
        let stage = Stage::parse(format).expect("a format");
        let with = |chunk: usize| {
            let cut = RecordSplitter::new(Window::new(bytes, chunk), frame, Some(&stage), max_len, &limits);
            let Ok(mut cut) = cut else { panic!("{format} has no end") };
            let mut records = Vec::new();
            loop {
                match cut.next_record() {
                    Ok(Some(record)) => records.push(record),
                    end => return (records, end.is_ok()),
                }
            }
        };
        let all = with(CHUNK);
        for chunk in [1, 2, 7, 64] {
            assert_eq!(with(chunk), all, "{chunk} bytes at once");
        }
        all
    }

    #[test]
    fn documents_are_split_at_their_ends() {
        let dumps: &[&[u8]] = &[b"\x04\x08i\x06", b"\x04\x08[\x07i\x06\"\x08abc", b"\x04\x080"];
        assert_eq!(
            split_records(&dumps.concat(), Frame::Documents, "marshal", 100),
            (dumps.iter().map(|d| d.to_vec()).collect(), true)
        );
        let texts = [b"12".to_vec(), b"[3]".to_vec(), b"4".to_vec()];
        assert_eq!(split_records(b"12 [3]\n4\n", Frame::Documents, "json", 100), (texts.to_vec(), true));
        assert_eq!(split_records(b"12\n\n[3]\n4", Frame::Documents, "ndjson", 100), (texts.to_vec(), true));
        assert_eq!(split_records(b"", Frame::Documents, "marshal", 100), (Vec::new(), true));
    }

    #[test]
    fn a_broken_record_ends_the_input_after_the_good_ones() {
        let good = b"\x04\x08i\x06".to_vec();
        for suffix in [&b"\x04\x08["[..], b"\x04\x08\xFF more of it", b"no dump"] {
            let bytes = [&good[..], suffix].concat();
            assert_eq!(
                split_records(&bytes, Frame::Documents, "marshal", 100),
                (vec![good.clone()], false),
                "{suffix:?}"
            );
        }
        assert_eq!(split_records(b"\0\0\0\x01a\0\0\0\x05b", Frame::U32be, "json", 100), (vec![b"a".to_vec()], false));
        assert_eq!(split_records(b"\0\0\0\x01a\0\0\0\x05bcdef", Frame::U32be, "json", 4), (vec![b"a".to_vec()], false));
    }
}
