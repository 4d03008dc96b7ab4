//! Methods that record spelling and spans in addition to the tape.

use super::detail::Cut;
use super::sink::Sink;

/// Records spans and notes if the sink keeps detail: the methods of [`Detail`](super::Detail) as methods of every sink.
///
/// [`Sink::DETAIL`] is a constant. Without detail the compiler removes a call, as long as
/// its arguments are cheap. Callers test the constant before they compute an argument only
/// to record it.
pub(crate) trait Recorder: Sink {
    /// Returns the index of the next node.
    #[inline]
    fn next_node(&self) -> u32 {
        self.nodes().len() as u32
    }

    /// Records that the bytes from `start` to `end` are a piece of the node `node`.
    #[inline]
    fn record_span(&mut self, start: usize, end: usize, node: u32, name: &'static str) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            detail.record_span(start, end, node, name);
        }
    }

    /// Records bytes between the last named piece and `end` (blanks, comments, commas) as a piece of the node `around`.
    #[inline]
    fn record_span_between(&mut self, last_end: &mut usize, end: usize, around: u32) {
        self.record_span(*last_end, end, around, "between");
        *last_end = end.max(*last_end);
    }

    /// Records that the node `node` starts here.
    #[inline]
    fn record_begin(&mut self, node: u32, start: usize) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            detail.record_begin(node, start);
        }
    }

    /// Records that the node `node` ends here.
    #[inline]
    fn record_end(&mut self, node: u32, end: usize) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            detail.record_end(node, end);
        }
    }

    /// Records that reading stops in the container `node`; `of` is the number of children or entries that the input
    /// declares, if it declares one.
    #[cold]
    fn record_cut(&mut self, node: u32, total: Option<u32>) {
        if let Some(detail) = self.detail() {
            detail.trace.cut.push(Cut { node, of: total });
        }
    }

    /// Records that the node `node` extends from `start` to `end`.
    #[inline]
    fn record_extent(&mut self, node: u32, start: usize, end: usize) {
        self.record_begin(node, start);
        self.record_end(node, end);
    }

    /// Records a choice of byte form for the node `node`.
    #[inline]
    fn record_note(&mut self, node: u32, code: u16, value: u64) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            detail.record_note(node, code, value);
        }
    }

    /// Records such a choice whose value is bytes.
    #[inline]
    fn record_note_bytes(&mut self, node: u32, code: u16, bytes: &[u8]) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            let stored_range = detail.store_bytes(bytes);
            detail.record_note(node, code, stored_range);
        }
    }

    /// Records a choice for the whole document whose value is bytes.
    #[inline]
    fn record_header_bytes(&mut self, code: u16, bytes: &[u8]) {
        if Self::DETAIL
            && let Some(detail) = self.detail()
        {
            let stored_range = detail.store_bytes(bytes);
            detail.record_header_note(code, stored_range);
        }
    }
}

impl<S: Sink> Recorder for S {}
