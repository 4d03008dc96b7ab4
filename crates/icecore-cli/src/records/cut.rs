//! Cuts an input into its records, which are not changed.

use super::{Frame, Split, Window, has_blanks_between, may_go_on};
use crate::report::{Abort, Report, code};
use icecore::{Error, ErrorKind, Limits, Request, Stage};
use std::io::{self, Read};

/// Returns one record after the other.
pub struct Cut<'c, R> {
    window: Window<R>,
    frame: Frame,
    /// Finds the end of a document without a frame.
    stage: Option<Stage>,
    most: u64,
    limits: &'c Limits,
}

/// Why there is no next record.
#[derive(Debug)]
pub enum Wrong {
    Input(io::Error),
    Record(Error),
}

impl Wrong {
    /// Reports the error, and shows its place in the input.
    pub fn tell<R: Read>(&self, name: &str, cut: &Cut<'_, R>, report: &mut Report) {
        match self {
            Wrong::Input(error) => report.io(name, error),
            Wrong::Record(error) => report.unreadable(name, error, cut.window.bytes()),
        }
    }
}

impl<'c, R: Read> Cut<'c, R> {
    /// Creates the cutter. `most`: maximum length of a record.
    ///
    /// # Errors
    ///
    /// If there are no frames, and no format that determines where a document ends.
    pub fn new(
        mut window: Window<R>,
        frame: Frame,
        stage: Option<&Stage>,
        most: u64,
        limits: &'c Limits,
    ) -> Result<Cut<'c, R>, Abort> {
        window.bound(most);
        let line = stage.and_then(Stage::of_line);
        let (frame, stage) = match (frame, line, stage) {
            (Frame::Documents, Some(_), _) => (Frame::Lines, None),
            (Frame::Documents, None, Some(stage)) if stage.wrappers().is_empty() => (frame, Some(stage.clone())),
            (Frame::Documents, None, _) => return Err(no_end(stage)),
            _ => (frame, None),
        };
        Ok(Cut { window, frame, stage, most, limits })
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the record is broken, or the input can't be read: then there is no next record.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, Wrong> {
        loop {
            let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
            let split = match &self.stage {
                Some(stage) => document(bytes, is_end, stage, self.limits),
                None => self.frame.split(bytes, is_end),
            };
            match split {
                Split::Record { start, end, next } => {
                    let record = &bytes[start..end];
                    if record.len() as u64 > self.most {
                        return Err(self.too_long());
                    }
                    // An empty line is not a record.
                    let is_blank = self.frame == Frame::Lines && record.iter().all(u8::is_ascii_whitespace);
                    let record = (!is_blank).then(|| record.to_vec());
                    self.window.take(next);
                    if record.is_some() {
                        return Ok(record);
                    }
                }
                Split::End if is_end => return Ok(None),
                Split::End | Split::More if bytes.len() as u64 > self.most => return Err(self.too_long()),
                Split::End | Split::More => self.window.more().map_err(Wrong::Input)?,
                Split::Bad(error) => return Err(Wrong::Record(error)),
            }
        }
    }

    fn too_long(&self) -> Wrong {
        let error = Error::new(ErrorKind::Limit)
            .expecting(format!("a record of at most {} bytes", self.most))
            .finding("a longer one")
            .helping("raise it with --max-record if the input is trusted");
        Wrong::Record(error)
    }
}

fn no_end(stage: Option<&Stage>) -> Abort {
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
fn document(bytes: &[u8], is_end: bool, stage: &Stage, limits: &Limits) -> Split {
    let blanks = has_blanks_between(stage);
    let blank = if blanks { bytes.len() - bytes.trim_ascii_start().len() } else { 0 };
    let body = &bytes[blank..];
    if body.is_empty() {
        return if is_end { Split::End } else { Split::More };
    }
    let outcome = stage.format().read(body, stage.settings(), Request::new(limits));
    let end = outcome.error.is_none().then_some(outcome.consumed);
    if !is_end && may_go_on(stage, end, outcome.error.as_ref(), body) {
        return Split::More;
    }
    match (outcome.error, blank + outcome.consumed) {
        (Some(error), _) => Split::Bad(stage.format().explain(error)),
        // After a document of no bytes there are no more.
        (None, 0) => Split::End,
        (None, next) => {
            // Some readers also consume blanks after a document.
            let behind = if blanks { bytes[..next].len() - bytes[..next].trim_ascii_end().len() } else { 0 };
            Split::Record { start: blank, end: next - behind, next }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icecore_tables::window::CHUNK;

    /// Returns the records, and whether the input ended without an error, for different sizes of reads.
    fn cut(bytes: &[u8], frame: Frame, format: &str, most: u64) -> (Vec<Vec<u8>>, bool) {
        let limits = Limits::default();
        let stage = Stage::parse(format).expect("a format");
        let with = |chunk: usize| {
            let cut = Cut::new(Window::new(bytes, chunk), frame, Some(&stage), most, &limits);
            let Ok(mut cut) = cut else { panic!("{format} has no end") };
            let mut records = Vec::new();
            loop {
                match cut.next() {
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
    fn documents_are_cut_where_they_end() {
        let dumps: &[&[u8]] = &[b"\x04\x08i\x06", b"\x04\x08[\x07i\x06\"\x08abc", b"\x04\x080"];
        assert_eq!(
            cut(&dumps.concat(), Frame::Documents, "marshal", 100),
            (dumps.iter().map(|d| d.to_vec()).collect(), true)
        );
        let texts = [b"12".to_vec(), b"[3]".to_vec(), b"4".to_vec()];
        assert_eq!(cut(b"12 [3]\n4\n", Frame::Documents, "json", 100), (texts.to_vec(), true));
        assert_eq!(cut(b"12\n\n[3]\n4", Frame::Documents, "ndjson", 100), (texts.to_vec(), true));
        assert_eq!(cut(b"", Frame::Documents, "marshal", 100), (Vec::new(), true));
    }

    #[test]
    fn what_is_broken_ends_it_and_what_stands_before_is_there() {
        let good = b"\x04\x08i\x06".to_vec();
        for behind in [&b"\x04\x08["[..], b"\x04\x08\xFF more of it", b"no dump"] {
            let bytes = [&good[..], behind].concat();
            assert_eq!(cut(&bytes, Frame::Documents, "marshal", 100), (vec![good.clone()], false), "{behind:?}");
        }
        assert_eq!(cut(b"\0\0\0\x01a\0\0\0\x05b", Frame::U32be, "json", 100), (vec![b"a".to_vec()], false));
        assert_eq!(cut(b"\0\0\0\x01a\0\0\0\x05bcdef", Frame::U32be, "json", 4), (vec![b"a".to_vec()], false));
    }
}
