//! Methods that record spelling and spans beside the tape.

use super::detail::Cut;
use super::sink::Sink;

/// Records spans and notes, if the sink keeps detail: the methods of
/// [`Detail`](super::Detail) as methods of every sink.
///
/// [`Sink::DETAIL`] is a constant. Without detail the compiler removes a call, as long as
/// its arguments are cheap. Callers test the constant before they compute an argument only
/// to record it.
pub(crate) trait Recorder: Sink {
    /// The node that comes next.
    #[inline]
    fn next_node(&self) -> u32 {
        self.nodes().len() as u32
    }

    /// The bytes from `start` to `end` are a piece of the node `node`.
    #[inline]
    fn span(&mut self, start: usize, end: usize, node: u32, what: &'static str) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            detail.span(start, end, node, what);
        }
    }

    /// What no piece named between the `last` one and `end` (blanks, comments, commas)
    /// is a piece of the node `around`.
    #[inline]
    fn span_between(&mut self, last: &mut usize, end: usize, around: u32) {
        self.span(*last, end, around, "between");
        *last = end.max(*last);
    }

    /// The node `node` starts here.
    #[inline]
    fn begin(&mut self, node: u32, start: usize) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            detail.begin(node, start);
        }
    }

    /// The node `node` ends here.
    #[inline]
    fn end(&mut self, node: u32, end: usize) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            detail.end(node, end);
        }
    }

    /// Reading stops in the container `node`, which has `of` children or entries, if the
    /// input says how many.
    #[cold]
    fn cut(&mut self, node: u32, of: Option<u32>) {
        if let Some(detail) = self.detail() {
            detail.trace.cut.push(Cut { node, of });
        }
    }

    /// The node `node` goes from `start` to `end`.
    #[inline]
    fn extent(&mut self, node: u32, start: usize, end: usize) {
        self.begin(node, start);
        self.end(node, end);
    }

    /// A choice of byte form that was made for the node `node`.
    #[inline]
    fn note(&mut self, node: u32, code: u16, value: u64) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            detail.note(node, code, value);
        }
    }

    /// Such a choice, whose value is bytes.
    #[inline]
    fn note_bytes(&mut self, node: u32, code: u16, bytes: &[u8]) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            let kept = detail.keep(bytes);
            detail.note(node, code, kept);
        }
    }

    /// A choice that was made for the whole document, whose value is bytes.
    #[inline]
    fn note_header_bytes(&mut self, code: u16, bytes: &[u8]) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            let kept = detail.keep(bytes);
            detail.header(code, kept);
        }
    }
}

impl<S: Sink> Recorder for S {}
