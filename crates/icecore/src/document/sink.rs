//! Sinks: the output side of readers.

use super::detail::Detail;
use super::node::Node;
use super::tape::Tape;
use crate::error::Error;

/// The receiver of a reader's output: a tape, and detail on request.
///
/// Readers are generic over the sink. [`Sink::DETAIL`] is a constant that they test before they record spelling and
/// spans, so a reader for a plain tape contains no code for detail.
pub trait Sink {
    /// Whether [`Sink::detail`] returns anything.
    const DETAIL: bool;

    /// Whether the sink removes finished nodes when [`Sink::finish_child`] is called.
    const PARTS: bool = false;

    /// Returns the tape to append to.
    fn tape(&mut self) -> &mut Tape;

    /// Returns the nodes on the tape.
    fn nodes(&self) -> &[Node];

    /// Returns the place for spelling and spans, if they are recorded.
    fn detail(&mut self) -> Option<&mut Detail>;

    /// Readers call this if a count promises more than the rest of the input can hold. If the request is for what is
    /// there ([`Request::salvaging`](crate::Request::salvaging)), the error is kept until the end of the reading, and
    /// the count to continue with is returned.
    ///
    /// # Errors
    /// This error, for other requests.
    #[cold]
    fn defer_count_error(&mut self, error: Error, count: u64, input: &[u8]) -> Result<u32, Error> {
        /// Readers may double a count.
        const MAX_COUNT: u64 = 1 << 30;
        if self.detail().is_none_or(|detail| !detail.defers_count_errors) {
            return Err(error);
        }
        let tape = self.tape();
        let path = tape.path_to(tape.len(), input);
        if let Some(detail) = self.detail() {
            detail.count_error.get_or_insert((error, path));
        }
        Ok(count.min(MAX_COUNT) as u32)
    }

    /// Readers call this when a child of the root is complete. A sink may then remove finished nodes, except the
    /// root.
    ///
    /// Of [kind](crate::ErrorKind) `Output`, if the receiver does not want more.
    #[inline]
    fn finish_child(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns `true` if the next call of [`Sink::finish_child`] may remove nodes.
    #[inline]
    fn may_remove_nodes(&self) -> bool {
        false
    }

    /// Returns `true` if all nodes that were fed are still on the tape. A link may name any earlier node, so after
    /// the sink removed nodes, the reader stops at links.
    #[inline]
    fn has_all_nodes(&self) -> bool {
        true
    }
}

/// Records only the meaning.
impl Sink for Tape {
    const DETAIL: bool = false;

    #[inline]
    fn tape(&mut self) -> &mut Tape {
        self
    }

    #[inline]
    fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    #[inline]
    fn detail(&mut self) -> Option<&mut Detail> {
        None
    }
}

/// Records meaning, spelling and spans.
#[derive(Debug, Default)]
pub struct Detailed {
    /// The meaning.
    pub tape: Tape,
    /// Spelling and spans.
    pub detail: Detail,
}

impl Sink for Detailed {
    const DETAIL: bool = true;

    #[inline]
    fn tape(&mut self) -> &mut Tape {
        &mut self.tape
    }

    #[inline]
    fn nodes(&self) -> &[Node] {
        &self.tape.nodes
    }

    #[inline]
    fn detail(&mut self) -> Option<&mut Detail> {
        Some(&mut self.detail)
    }
}
