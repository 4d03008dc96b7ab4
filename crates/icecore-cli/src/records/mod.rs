//! Records one by one, in constant memory: documents without separators, lines, and all other records with a [`Frame`].

#[cfg(feature = "store")]
mod cut;
mod frame;
pub mod reported;
mod rescue;

#[cfg(feature = "store")]
pub use cut::Cut;
pub use frame::{Frame, Split};
pub use rescue::{NOTHING, Rescue, Rescued, rescued};

use crate::progress;
use crate::report::{Abort, Report, code, io_reason};
use crate::said::Said;
use crate::sink::Sink;
use icecore::format::{End, Restart};
use icecore::{Converted, Error, ErrorKind, Losses, Stage};
use icecore_tables::byte_order_mark::{MARK, must_skip_mark};
use icecore_tables::step::RecordConverter;
use icecore_tables::tally::Tally;
use icecore_tables::window::Window;
use reported::Fault;
use std::io::{self, Read};

/// Maximum distance from the end of the available bytes at which an error may be due to that end.
const NEAR: usize = 64;
/// How often the input may be examined again while searching for a good document.
const AGAIN: u64 = 16;
const ALWAYS: u64 = 64 << 20;

/// How the records of an input are converted.
pub struct Plan {
    pub step: RecordConverter,
    /// Writes records that break off as far as they are readable, if set.
    pub rescue: Option<Rescue>,
    pub from: Stage,
    /// The frames of the records in the input and in the output.
    pub frame: Frame,
    pub out: Frame,
    /// Whether a line end follows each record.
    pub lines: bool,
    pub keep_going: bool,
    pub strict: bool,
    /// Maximum length of a record.
    pub most: u64,
    /// Whether the records come out of a wrapper, piece by piece.
    pub is_packed: bool,
}

/// The work on one input.
pub struct Run<'r, R> {
    plan: Plan,
    window: Window<R>,
    pub tally: Tally,
    report: &'r mut Report,
    /// Number of bytes that were examined more than once.
    again: u64,
    /// The input could not be read to its end.
    is_broken: bool,
    /// The next document was found by searching after a bad one, and may be a part of the bad one.
    is_guess: bool,
}

/// Whether there may be another record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Go,
    End,
}

impl Plan {
    /// Returns the error for a record that is too long.
    fn too_long(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("a record of at most {} bytes", self.most))
            .finding("a longer one")
            .helping(if self.is_packed {
                "raise --max-record and the limit `decompressed` if the input is trusted: --limit decompressed=N"
            } else {
                "raise it with --max-record if the input is trusted"
            })
    }
}

impl<'r, R: Read> Run<'r, R> {
    pub fn new(plan: Plan, mut window: Window<R>, name: &str, report: &'r mut Report) -> Run<'r, R> {
        window.set_max_record(plan.most);
        Run { plan, window, tally: Tally::new(name), report, again: 0, is_broken: false, is_guess: false }
    }

    /// Converts all records. Returns whether all are in the output.
    pub fn all(&mut self, sink: &mut Sink) -> Result<bool, Abort> {
        if must_skip_mark(&self.plan.from) && self.plan.from.wrappers().is_empty() {
            self.skip_mark(sink)?;
        }
        while self.next(sink)? == Next::Go {}
        self.tally.bytes = self.window.offset();
        Ok(self.tally.bad == 0 && !self.is_broken)
    }

    /// Skips a byte order mark at the start.
    fn skip_mark(&mut self, sink: &mut Sink) -> Result<(), Abort> {
        loop {
            let bytes = self.window.bytes();
            if bytes.starts_with(MARK) {
                self.window.consume(MARK.len());
                return Ok(());
            }
            if self.window.is_end() || !MARK.starts_with(bytes) || self.more(sink)? == Next::End {
                return Ok(());
            }
        }
    }

    /// Reads more input. The output is flushed first: the sender may wait for it before it sends more.
    fn more(&mut self, sink: &mut Sink) -> Result<Next, Abort> {
        let have = self.window.bytes().len() as u64;
        if have > self.plan.most {
            return self.too_long();
        }
        sink.flush()?;
        progress::count(self.tally.records);
        match self.window.read_more() {
            Ok(()) => Ok(Next::Go),
            Err(error) => {
                match error.kind() {
                    // The packed data is broken.
                    io::ErrorKind::InvalidData
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::UnexpectedEof
                    | io::ErrorKind::Other => {
                        self.report.bad_input();
                        self.report.fault(code::INPUT, &self.tally.input, io_reason(&error));
                    }
                    _ => self.report.io(&self.tally.input, &error),
                }
                self.is_broken = true;
                if self.plan.rescue.is_none() {
                    return Ok(Next::End);
                }
                // The bytes so far may be the beginning of a record.
                self.window.break_off();
                Ok(Next::Go)
            }
        }
    }

    fn too_long(&mut self) -> Result<Next, Abort> {
        let error = self.plan.too_long();
        self.tally.records += 1;
        let record = self.tally.records;
        reported::fault(&mut self.tally, &Fault::Unreadable(&error), record, self.window.offset(), &[], self.report);
        Ok(Next::End)
    }

    fn next(&mut self, sink: &mut Sink) -> Result<Next, Abort> {
        if self.plan.frame == Frame::Documents { self.document(sink) } else { self.framed(sink) }
    }

    /// Converts the next record with a frame.
    fn framed(&mut self, sink: &mut Sink) -> Result<Next, Abort> {
        let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
        let (start, end, next) = match self.plan.frame.split(bytes, is_end) {
            Split::Record { start, end, next } => (start, end, next),
            Split::More => return self.more(sink),
            Split::End if !is_end => return self.more(sink),
            Split::End => return Ok(Next::End),
            Split::Bad(error) => return Ok(self.lost(&error)),
        };
        let bytes = &bytes[start..end];
        let is_blank = self.plan.frame == Frame::Lines && bytes.iter().all(u8::is_ascii_whitespace);
        if is_blank {
            self.window.consume(next);
            return Ok(Next::Go);
        }
        if bytes.len() as u64 > self.plan.most {
            let end = self.too_long()?;
            self.window.consume(next);
            return Ok(if self.plan.keep_going { Next::Go } else { end });
        }
        self.tally.records += 1;
        let at = sink.position();
        let (mut done, opened) = self.plan.step.convert(bytes, sink);
        if done.is_read && done.consumed < bytes.len() {
            done.is_read = false;
            done.written = Err(self.plan.from.format().explain(Error::trailing(bytes, done.consumed)));
        }
        let offset = self.window.offset() + start as u64;
        let well = self.finish(done, opened, at, offset, (start, end), sink)?;
        self.window.consume(next);
        Ok(if well || self.plan.keep_going { Next::Go } else { Next::End })
    }

    /// Reports a broken frame, after which the next one can't be found.
    fn lost(&mut self, error: &Error) -> Next {
        self.tally.records += 1;
        let (record, offset) = (self.tally.records, self.window.offset());
        let error = error.clone().helping("where the next record starts is not known");
        reported::fault(&mut self.tally, &Fault::Unreadable(&error), record, offset, self.window.bytes(), self.report);
        Next::End
    }

    /// Converts the next of several documents without separators.
    fn document(&mut self, sink: &mut Sink) -> Result<Next, Abort> {
        let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
        let blank = if has_blanks_between(&self.plan.from) { bytes.len() - bytes.trim_ascii_start().len() } else { 0 };
        if blank == bytes.len() {
            self.window.consume(blank);
            return if is_end { Ok(Next::End) } else { self.more(sink) };
        }
        // Other readers treat blanks as the beginning of their text.
        if blank > 0 && !self.plan.from.format().can.skips_blanks {
            self.window.consume(blank);
            return Ok(Next::Go);
        }
        let at = sink.position();
        let (mut done, opened) = self.plan.step.convert(bytes, sink);
        let end = done.is_read.then_some(done.consumed);
        if !is_end && may_go_on(&self.plan.from, end, done.written.as_ref().err(), bytes) {
            sink.take_back(at);
            return self.more(sink);
        }
        let (consumed, is_read, len) = (done.consumed, done.is_read, bytes.len());
        let looked = done.written.as_ref().err().and_then(Error::offset).unwrap_or(0).min(len as u64);
        if std::mem::take(&mut self.is_guess) && !is_read {
            sink.take_back(at);
            return self.search(looked, sink);
        }
        self.tally.records += 1;
        let offset = self.window.offset();
        if is_read && consumed as u64 > self.plan.most {
            (done.is_read, done.written) = (false, Err(self.plan.too_long()));
        }
        let well = self.finish(done, opened, at, offset, (0, len), sink)?;
        match (well, self.plan.keep_going) {
            // After a document of no bytes there are no more.
            (true, _) if consumed == 0 => return Ok(Next::End),
            (false, false) => return Ok(Next::End),
            (false, true) if !is_read => return self.search(looked, sink),
            _ => self.window.consume(consumed),
        }
        Ok(Next::Go)
    }

    /// Counts a record and adds its frame. Returns whether it is in the output.
    fn finish(
        &mut self,
        done: Converted,
        opened: u64,
        at: u64,
        offset: u64,
        (start, end): (usize, usize),
        sink: &mut Sink,
    ) -> Result<bool, Abort> {
        let record = self.tally.records;
        let losses = match done.written {
            Ok(losses) => losses,
            Err(error) if error.kind() == ErrorKind::Output => return Err(sink.stop()),
            Err(error) => {
                self.withdraw(at, sink)?;
                if !done.is_read {
                    self.rescue(offset, (start, end), &error, sink)?;
                }
                let bytes = &self.window.bytes()[start..end];
                let fault = if done.is_read { Fault::Unwritable(&error) } else { Fault::Unreadable(&error) };
                reported::fault(&mut self.tally, &fault, record, offset, bytes, self.report);
                return Ok(false);
            }
        };
        if self.plan.strict && !losses.is_empty() {
            self.withdraw(at, sink)?;
            let bytes = &self.window.bytes()[start..end];
            reported::fault(&mut self.tally, &Fault::Refused(&losses), record, offset, bytes, self.report);
            return Ok(false);
        }
        let framed = sink.record(at, |buffer, start| self.plan.out.close(buffer, start));
        if let Err(error) = framed {
            self.withdraw(at, sink)?;
            let bytes = &self.window.bytes()[start..end];
            reported::fault(&mut self.tally, &Fault::Unwritable(&error), record, offset, bytes, self.report);
            return Ok(false);
        }
        if self.plan.lines && !sink.at_line_start() {
            sink.push(b'\n');
        }
        self.tally.ok += 1;
        self.count(&losses, opened, &done.repairs, offset);
        sink.document_done();
        sink.pass()?;
        Ok(true)
    }

    /// Writes the readable part of a record that breaks off, if requested.
    fn rescue(
        &mut self,
        offset: u64,
        (start, end): (usize, usize),
        error: &Error,
        sink: &mut Sink,
    ) -> Result<(), Abort> {
        let Some(rescue) = &self.plan.rescue else { return Ok(()) };
        let bytes = &self.window.bytes()[start..end];
        let looked = error.offset().and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
        let next = if self.plan.frame == Frame::Documents { self.next_start(bytes, looked) } else { bytes.len() };
        let at = sink.position();
        let rescued = rescue.write(bytes, next, offset, sink);
        let closed = match &rescued {
            Ok(Some(_)) => sink.record(at, |buffer, start| self.plan.out.close(buffer, start)).is_ok(),
            _ => false,
        };
        if !closed {
            sink.take_back(at);
        } else if self.plan.lines && !sink.at_line_start() {
            sink.push(b'\n');
        }
        let said = match rescued {
            Ok(Some(said)) if closed => said,
            _ => NOTHING.to_owned(),
        };
        self.report.note(&self.tally.input, "partial", format!("record {}: {said}", self.tally.records));
        if closed { sink.pass() } else { Ok(()) }
    }

    /// Returns where the document after a bad one seems to begin, from `looked` on; the end of `bytes` if that is
    /// unknown.
    fn next_start(&self, bytes: &[u8], looked: usize) -> usize {
        let starts = self.plan.from.format().can.restarts;
        let is_start = |at: &usize| {
            let rest = &bytes[*at..];
            starts
                .iter()
                .any(|start| rest.strip_prefix(start.before).is_some_and(|rest| rest.starts_with(start.begins)))
        };
        (looked.min(bytes.len())..bytes.len()).find(is_start).unwrap_or(bytes.len())
    }

    /// Takes a record back; the output before it is shown before the error.
    fn withdraw(&self, at: u64, sink: &mut Sink) -> Result<(), Abort> {
        sink.take_back(at);
        if reported::is_telling(&self.tally) { sink.flush() } else { Ok(()) }
    }

    fn count(&mut self, losses: &Losses, opened: u64, repairs: &[icecore::value::Repair], offset: u64) {
        if !losses.is_empty() {
            self.tally.note_losses(losses, self.tally.records, None);
        }
        self.tally.opened += opened;
        reported::repair(&mut self.tally, offset, repairs, self.report);
    }

    /// Continues at the next document after a bad one. `looked`: number of bytes of it that were read.
    fn search(&mut self, looked: u64, sink: &mut Sink) -> Result<Next, Abort> {
        let starts = self.plan.from.format().can.restarts;
        let Some(longest) = starts.iter().map(|start| start.before.len() + start.begins.len()).max() else {
            let format = self.plan.from.format().name;
            let text = format!("stopped: the start of the next document is unknown in {format}");
            self.report.say(&Said::note("stopped", text).of(&self.tally.input));
            return Ok(Next::End);
        };
        // A document that broke off contains the next one; repeated searches in it must not take forever.
        self.again += looked;
        // The byte at which reading failed may be the start of the next document.
        let broken = self.window.offset() + looked;
        let is_cheap = self.again < (self.window.offset().saturating_mul(AGAIN)).max(ALWAYS);
        self.window.consume(if is_cheap { 1 } else { usize::try_from(looked).unwrap_or(usize::MAX).max(1) });
        loop {
            let bytes = self.window.bytes();
            let offset = self.window.offset();
            let start = |at: usize| {
                let rest = bytes.get(at..).unwrap_or_default();
                let is_here = |start: &&Restart| {
                    rest.strip_prefix(start.before).is_some_and(|behind| behind.starts_with(start.begins))
                };
                let is_broken = offset + at as u64 == broken;
                let is_next = || is_broken && starts.iter().any(|start| rest.starts_with(start.begins));
                let found = starts.iter().find(is_here).map(|start| (at + start.before.len(), start.is_sure));
                found.or_else(|| is_next().then_some((at, false)))
            };
            if let Some((at, is_sure)) = (0..bytes.len()).find_map(start) {
                self.is_guess = !is_sure;
                self.window.consume(at);
                return Ok(Next::Go);
            }
            if self.window.is_end() {
                return Ok(Next::End);
            }
            self.window.consume(bytes.len().saturating_sub(longest - 1));
            if self.more(sink)? == Next::End {
                return Ok(Next::End);
            }
        }
    }
}

/// Returns whether blanks between documents have no meaning.
fn has_blanks_between(stage: &Stage) -> bool {
    let can = &stage.format().can;
    can.text && !can.alone
}

/// Returns whether the result for a document may change when more bytes arrive. `end`: where it ends, if it could be
/// read.
fn may_go_on(stage: &Stage, end: Option<usize>, error: Option<&Error>, bytes: &[u8]) -> bool {
    if let Some(end) = end {
        return match stage.format().can.end {
            End::Word => ends_in_word(bytes, end),
            // A lenient reader accepts what is available.
            End::Declared => end == bytes.len() && stage.settings().flag("lenient"),
            End::Near => end + NEAR >= bytes.len(),
        };
    }
    error.is_some_and(|error| {
        let offset = error.offset().and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
        error.layer().is_none() && (error.kind() == ErrorKind::Truncated || offset.saturating_add(NEAR) >= bytes.len())
    })
}

/// Returns whether a document that ends here may continue: `1` with `2`.
pub fn ends_in_word(bytes: &[u8], consumed: usize) -> bool {
    consumed == bytes.len() && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::Paint;
    use crate::paint::When;
    use crate::said::ReportForm;
    use icecore::Limits;
    use icecore_tables::window::CHUNK;

    /// Returns the number of bytes that are examined again.
    fn again(bytes: &[u8]) -> u64 {
        let stage = |name| Stage::parse(name).unwrap();
        let plan = Plan {
            rescue: None,
            step: RecordConverter::new(stage("sereal"), stage("json"), &Limits::default(), false),
            from: stage("sereal"),
            frame: Frame::Documents,
            out: Frame::Documents,
            lines: true,
            keep_going: true,
            strict: false,
            most: 1 << 30,
            is_packed: false,
        };
        let mut report = Report::new(Paint::new(When::Never, &std::io::stderr()), true, ReportForm::Text);
        let mut run = Run::new(plan, Window::new(bytes, CHUNK), "bytes", &mut report);
        assert!(!run.all(&mut Sink::nowhere()).unwrap_or(true));
        assert_eq!(run.tally.bytes, bytes.len() as u64);
        run.again
    }

    /// Returns documents that each consume everything after them before they break off: an array that declares more
    /// items than there are, of strings that contain the heads of the next documents.
    fn greedy(documents: u32) -> Vec<u8> {
        let document = |at: u32| {
            let count = 2 * (documents - at);
            let varint = [0, 7, 14, 21].map(|bits| (count >> bits) as u8 & 0x7F | if bits < 21 { 0x80 } else { 0 });
            [b"=\xF3rl\x05\x00\x2B", &varint[..], b"\x6B"].concat()
        };
        (0..documents).flat_map(document).collect()
    }

    #[test]
    fn the_work_does_not_grow_with_the_square_of_what_is_skipped() {
        for documents in [12_500, 25_000, 50_000, 100_000, 200_000] {
            let bytes = greedy(documents);
            let looked = again(&bytes);
            assert!(looked >= 20 * bytes.len() as u64, "{documents} documents: {looked}");
            assert!(looked <= ALWAYS + (AGAIN + 1) * bytes.len() as u64, "{documents} documents: {looked}");
        }
    }
}
