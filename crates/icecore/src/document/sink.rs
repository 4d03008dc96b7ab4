//! Sinks: what readers feed.

use super::detail::Detail;
use super::node::Node;
use super::tape::Tape;
use crate::error::Error;

/// What a reader feeds: a tape, and detail on request.
///
/// Readers are generic over it and test [`Sink::DETAIL`], a constant, before they
/// record spelling and spans. Callers that need neither pay nothing for them.
pub trait Sink {
    /// Whether [`Sink::detail`] gives anything.
    const DETAIL: bool;

    /// Whether it removes finished nodes when [`Sink::child_done`] is called.
    const PARTS: bool = false;

    /// The tape to append to.
    fn tape(&mut self) -> &mut Tape;

    /// The nodes that are on the tape.
    fn nodes(&self) -> &[Node];

    /// Where to record spelling and spans.
    fn detail(&mut self) -> Option<&mut Detail>;

    /// Called when a child of the root is complete. A sink may remove finished nodes
    /// then: all but the root itself.
    ///
    /// # Errors
    /// Of [kind](crate::ErrorKind) `Output`, if the receiver wants no more.
    #[inline]
    fn child_done(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Whether the next call of [`Sink::child_done`] may remove nodes.
    #[inline]
    fn is_full(&self) -> bool {
        false
    }

    /// Whether all nodes that were fed are still on the tape, so that a link may be
    /// read. After a sink removed some this is false, and the reader stops.
    #[inline]
    fn is_whole(&self) -> bool {
        true
    }
}

/// Meaning only.
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

/// Meaning, spelling and spans.
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
