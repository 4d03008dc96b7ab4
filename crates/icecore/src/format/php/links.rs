//! Slots: the numbers that `r:` and `R:` use. Each value has a slot, but keys and `R:` do not.

use crate::document::{IS_KEY, Kind, Node};
use crate::error::{Error, ErrorDetail, ErrorKind};

/// Slot of the flags or the count in the payload of one of PHP's own classes. Links can't refer to it.
const NOT_LINKABLE: u32 = u32::MAX;

/// The slots that the payload of an opaque object takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// The payload does not take slots, because its bytes are not a value.
    Nothing,
    /// One slot for flags or a count, and one for each value that follows on the tape.
    Number,
    /// One slot for each value that follows on the tape.
    Values,
}

/// Nodes by slot. The table is filled only when a link needs it, because most data does not have links.
#[derive(Debug, Default)]
pub(super) struct Slots {
    nodes: Vec<u32>,
    /// Number of nodes of the tape that were visited.
    visited: usize,
    /// Slot of the first object whose payload was not opened. Only its class knows how
    /// many values it counted.
    opaque: Option<usize>,
    /// Opaque objects whose payload is known.
    opened: Vec<(u32, Counted)>,
    /// Number of these that were visited.
    opened_visited: usize,
    /// Nodes without a slot.
    slotless: Vec<u32>,
    /// Number of these that were visited.
    slotless_visited: usize,
}

impl Slots {
    /// Records which slots the payload of the opaque object at `index` takes.
    pub(super) fn record_payload(&mut self, index: u32, counted: Counted) {
        self.opened.push((index, counted));
    }

    /// Records that the node at `index` has no slot.
    pub(super) fn record_slotless(&mut self, index: u32) {
        self.slotless.push(index);
    }

    /// Makes the table for a session. Its root only contains the variables, so the root does not have a slot.
    pub(super) fn without_root() -> Slots {
        Slots { visited: 1, ..Slots::default() }
    }

    /// Returns the node with this slot. Slots start at 1.
    pub(super) fn find_node(&mut self, tape: &[Node], slot: u64) -> Result<u32, Error> {
        while let Some(node) = tape.get(self.visited) {
            let index = self.visited as u32;
            self.visited += 1;
            if self.slotless.get(self.slotless_visited) == Some(&index) {
                self.slotless_visited += 1;
                continue;
            }
            if node.key == IS_KEY || node.kind == Kind::Alias {
                continue;
            }
            self.nodes.push(index);
            match node.kind {
                // The body shares the slot of its object.
                Kind::Object => self.visited += 1,
                Kind::Opaque => match self.opened.get(self.opened_visited) {
                    Some((opened, counted)) if *opened == index => {
                        self.opened_visited += 1;
                        match counted {
                            Counted::Nothing => self.visited += 1,
                            Counted::Number => self.nodes.push(NOT_LINKABLE),
                            Counted::Values => {}
                        }
                    }
                    _ => {
                        self.opaque.get_or_insert(self.nodes.len());
                        self.visited += 1;
                    }
                },
                _ => {}
            }
        }
        let found = usize::try_from(slot).ok().and_then(|slot| self.nodes.get(slot.checked_sub(1)?));
        match (found, self.opaque) {
            (_, Some(opaque)) if slot > opaque as u64 => Err(Error::new(ErrorKind::Unsupported)
                .detailing(ErrorDetail::OpaqueLink)
                .expecting("a link to a value before the first `C:` object of a class that is not PHP's own")
                .finding(format!("one to value {slot}"))
                .helping("only the class of a `C:` object knows how many values its payload counts for")),
            (Some(&NOT_LINKABLE), _) => Err(Error::new(ErrorKind::Unsupported)
                .detailing(ErrorDetail::OpaqueLink)
                .expecting("a link to a value")
                .finding(format!("one to value {slot}, the flags or the count of a `C:` object"))),
            (Some(index), _) => Ok(*index),
            (None, _) => Err(Error::new(ErrorKind::BadLink)
                .expecting(format!("the number of a value, 1 to {}", self.nodes.len()))
                .finding(format!("{slot}"))),
        }
    }

    /// Follows links from `index` to an object. Returns it, and whether `index` was not a
    /// link.
    pub(super) fn resolve_object(&self, tape: &[Node], index: u32) -> Result<(u32, bool), Error> {
        let Some(node) = tape.get(index as usize) else { return Ok((index, true)) };
        match node.kind {
            Kind::Object | Kind::Opaque | Kind::EnumCase => Ok((index, true)),
            // The payload of a link is the node of an object, and not of another link, so one step is enough.
            Kind::Link => Ok((node.payload as u32, false)),
            _ => Err(Error::new(ErrorKind::BadLink)
                .expecting("the number of an object")
                .finding("the number of another value, which only `R:` can name")),
        }
    }
}
