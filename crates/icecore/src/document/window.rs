//! Windows: finished items of a long array are handed over during reading.

use super::Document;
use super::detail::Detail;
use super::naming::Naming;
use super::node::{Kind, Node};
use super::sink::Sink;
use super::tape::Tape;
use crate::error::Error;
use std::cell::Cell;

/// How many nodes a window has, or a little more: 256 KB, which stay in cache.
const NODES: usize = 16 << 10;

/// Who takes windows, and gives back tapes to fill again.
pub type Receive<'r, 'a> = &'r mut dyn FnMut(Document<'a>) -> Result<Tape, Error>;

/// A sink that hands over finished items of a root that is an array, in windows:
/// documents that have the same root and some of its items.
///
/// A document with links needs its whole tape, unless the reader knows what they
/// name without it. When one turns up after the
/// first window was handed over, reading stops and [`Windows::stopped`] says
/// so.
pub(crate) struct Windows<'r, 'a> {
    tape: Tape,
    input: &'a [u8],
    receive: Receive<'r, 'a>,
    /// How many windows were handed over.
    handed: u64,
    /// Whether a link was met too late.
    stopped: Cell<bool>,
}

impl<'r, 'a> Windows<'r, 'a> {
    pub(crate) fn new(input: &'a [u8], naming: Naming, receive: Receive<'r, 'a>) -> Windows<'r, 'a> {
        let mut tape = Tape::new();
        tape.naming = naming;
        Windows { tape, input, receive, handed: 0, stopped: Cell::new(false) }
    }

    /// Whether a link was met after items had been handed over.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped.get()
    }

    /// What was not handed over.
    pub(crate) fn into_rest(self) -> Document<'a> {
        Document::new(self.input, self.tape)
    }

    fn hand_over(&mut self) -> Result<(), Error> {
        let Some(root) = self.tape.nodes.first().copied().filter(|root| root.kind == Kind::Array) else {
            return Ok(());
        };
        let mut window = std::mem::take(&mut self.tape);
        let naming = window.naming;
        let count = close_root(&mut window);
        let keys = window.keys.clone();
        let classes = window.classes.clone();
        let encodings = window.encodings.clone();
        let first_item = window.first_item + u64::from(count);
        let received = (self.receive)(Document::new(self.input, window));
        let (mut next, end) = match received {
            Ok(tape) => (tape, Ok(())),
            Err(error) => (Tape::new(), Err(error)),
        };
        next.clear();
        next.nodes.push(root);
        (next.keys, next.classes, next.encodings, next.first_item) = (keys, classes, encodings, first_item);
        next.naming = naming;
        self.tape = next;
        self.handed += 1;
        end
    }
}

/// Closes the root behind the items that are there; returns how many they are.
fn close_root(tape: &mut Tape) -> u32 {
    let (mut at, mut count) = (1, 0);
    while at < tape.len() {
        at = tape.next(at);
        count += 1;
    }
    tape.close(0, count);
    count
}

impl Sink for Windows<'_, '_> {
    const DETAIL: bool = false;
    const PARTS: bool = true;

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
        None
    }

    #[inline]
    fn child_done(&mut self) -> Result<(), Error> {
        if self.is_full() && self.tape.root == 0 && self.tape.header.is_none() {
            self.hand_over()?;
        }
        Ok(())
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.tape.nodes.len() >= NODES
    }

    #[inline]
    fn is_whole(&self) -> bool {
        self.stopped.set(self.handed > 0);
        self.handed == 0
    }
}
