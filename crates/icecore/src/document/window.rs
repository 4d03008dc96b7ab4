//! Windows: passes on the finished items of a long array while the rest is read.

use super::Document;
use super::detail::Detail;
use super::names::Names;
use super::naming::Naming;
use super::node::{Kind, Node};
use super::sink::{Detailed, Sink};
use super::tape::Tape;
use crate::error::Error;
use std::cell::Cell;

/// The approximate number of nodes of a window. They take 256 KB, so they fit into the processor's cache.
const WINDOW_NODES: usize = 16 << 10;

/// Function that takes windows and returns tapes to fill again.
pub type ReceiveWindow<'r, 'a> = &'r mut dyn FnMut(Document<'a>) -> Result<Tape, Error>;

/// A sink that passes on finished items of a root array in windows. A window is a document that has the same root,
/// and some of its items.
///
/// Links need the whole tape, unless the reader can resolve them without it. If a link occurs after the first window
/// was passed on, reading stops and [`Windows::is_stopped`] returns `true`.
pub(crate) struct Windows<'r, 'a> {
    tape: Tape,
    input: &'a [u8],
    receive: ReceiveWindow<'r, 'a>,
    /// Number of windows that were passed on.
    window_count: u64,
    /// Whether a link occurred after a window was passed on.
    stopped: Cell<bool>,
}

impl<'r, 'a> Windows<'r, 'a> {
    pub(crate) fn new(input: &'a [u8], naming: Naming, receive: ReceiveWindow<'r, 'a>) -> Windows<'r, 'a> {
        let mut tape = Tape::new();
        tape.naming = naming;
        Windows { tape, input, receive, window_count: 0, stopped: Cell::new(false) }
    }

    /// Returns `true` if a link occurred after items were passed on.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Returns the part that was not passed on.
    pub(crate) fn into_rest(self) -> Document<'a> {
        Document::new(self.input, self.tape)
    }

    /// Returns `true` if the tape's items can be passed on.
    fn has_list_root(&self) -> bool {
        self.tape.nodes.first().is_some_and(|root| root.kind == Kind::Array)
    }

    fn hand_over(&mut self, detail: Option<Detail>) -> Result<(), Error> {
        let Some(root) = self.tape.nodes.first().copied().filter(|_| self.has_list_root()) else { return Ok(()) };
        let mut window = std::mem::take(&mut self.tape);
        let naming = window.naming;
        let count = close_root(&mut window);
        // The window gets copies of the tables of names. The tables themselves stay with the reader for the next
        // window, so that the reader's caches for their ids stay valid.
        let keys = hand_over_copy(&mut window.keys);
        let classes = hand_over_copy(&mut window.classes);
        let encodings = hand_over_copy(&mut window.encodings);
        let first_item = window.first_item + u64::from(count);
        let document = match detail {
            Some(detail) => Document::from_detailed(self.input, Detailed { tape: window, detail }),
            None => Document::new(self.input, window),
        };
        let received = (self.receive)(document);
        let (mut next, end) = match received {
            Ok(tape) => (tape, Ok(())),
            Err(error) => (Tape::new(), Err(error)),
        };
        next.clear();
        next.nodes.push(root);
        (next.keys, next.classes, next.encodings, next.first_item) = (keys, classes, encodings, first_item);
        next.naming = naming;
        self.tape = next;
        self.window_count += 1;
        end
    }
}

/// Windows with detail. Each window has the spelling and the spans of its items.
pub(crate) struct TracedWindows<'r, 'a> {
    windows: Windows<'r, 'a>,
    detail: Detail,
}

impl<'r, 'a> TracedWindows<'r, 'a> {
    pub(crate) fn new(
        (format, naming): (&str, Naming),
        input: &'a [u8],
        receive: ReceiveWindow<'r, 'a>,
    ) -> TracedWindows<'r, 'a> {
        let mut detail = Detail::default();
        format.clone_into(&mut detail.spelling.format);
        TracedWindows { windows: Windows::new(input, naming, receive), detail }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.windows.is_stopped()
    }

    pub(crate) fn into_rest(self) -> Document<'a> {
        let TracedWindows { windows, detail } = self;
        Document::from_detailed(windows.input, Detailed { tape: windows.tape, detail })
    }

    fn hand_over(&mut self) -> Result<(), Error> {
        // The root is also in the next window, so its start is kept.
        let mut next = Detail { layer: self.detail.layer, is_in_copy: self.detail.is_in_copy, ..Detail::default() };
        next.spelling.format.clone_from(&self.detail.spelling.format);
        next.trace.extents.extend(self.detail.trace.extents.first());
        let detail = std::mem::replace(&mut self.detail, next);
        self.windows.hand_over(Some(detail))
    }
}

impl Sink for TracedWindows<'_, '_> {
    const DETAIL: bool = true;
    const PARTS: bool = true;

    #[inline]
    fn tape(&mut self) -> &mut Tape {
        &mut self.windows.tape
    }

    #[inline]
    fn nodes(&self) -> &[Node] {
        &self.windows.tape.nodes
    }

    #[inline]
    fn detail(&mut self) -> Option<&mut Detail> {
        Some(&mut self.detail)
    }

    fn finish_child(&mut self) -> Result<(), Error> {
        let tape = &self.windows.tape;
        if self.may_remove_nodes() && tape.root == 0 && tape.header.is_none() && self.windows.has_list_root() {
            self.hand_over()?;
        }
        Ok(())
    }

    #[inline]
    fn may_remove_nodes(&self) -> bool {
        self.windows.may_remove_nodes()
    }

    #[inline]
    fn has_all_nodes(&self) -> bool {
        self.windows.has_all_nodes()
    }
}

/// Replaces these names by a copy of them, and returns the first ones.
fn hand_over_copy(names: &mut Names) -> Names {
    let copy = names.clone();
    std::mem::replace(names, copy)
}

/// Closes the root after the current items; returns their number.
fn close_root(tape: &mut Tape) -> u32 {
    let (mut index, mut count) = (1, 0);
    while index < tape.len() {
        index = tape.index_after(index);
        count += 1;
    }
    tape.close_container(0, count);
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
    fn finish_child(&mut self) -> Result<(), Error> {
        if self.may_remove_nodes() && self.tape.root == 0 && self.tape.header.is_none() {
            self.hand_over(None)?;
        }
        Ok(())
    }

    #[inline]
    fn may_remove_nodes(&self) -> bool {
        self.tape.nodes.len() >= WINDOW_NODES
    }

    #[inline]
    fn has_all_nodes(&self) -> bool {
        self.stopped.set(self.window_count > 0);
        self.window_count == 0
    }
}
