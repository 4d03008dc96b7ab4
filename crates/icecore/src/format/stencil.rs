//! Reads documents that differ only in their scalars. The bytes between the scalars are compared, and only the
//! scalars are parsed.
//!
//! One part of a program usually writes all rows of a table. So their blobs have the same keys in the same order, and
//! the same classes. A stencil is made from one document. It has the bytes between the scalars, and the nodes. If
//! another document has the same bytes there, its nodes are those of the stencil with other scalars. The reader reads
//! any other document.

use super::{Filled, Prepared, Reader, Request};
use crate::document::{IS_KEY, Kind, Location, Naming, Node, Ordinals, Tape, flag};
use crate::limits::Limits;
use std::sync::Arc;

/// Reads the scalar at this offset of the input. It takes the place of the node `like`. Returns the
/// new node, with the key of `like`, and the end of its bytes; `None` if the reader must read the
/// document.
///
/// It may return `None` for any scalar. Otherwise it must return what the reader would read there. It may assume that
/// all earlier bytes, except scalars, are the same as in the document of `like`.
pub type ReadScalar = fn(input: &[u8], at: usize, like: Node) -> Option<(Node, usize)>;

/// Maximum size of a document for which a stencil is made. Larger documents are seldom alike.
const MAX_NODES: usize = 256;
const MAX_BYTES: usize = 16 << 10;
/// Maximum number of stencils that are kept.
const MAX_STENCILS: usize = 8;
/// If at least this number of documents matched since the last stencil was made, the price of the next one is halved.
const HALF_PRICE_MATCHES: u64 = 256;
/// Maximum of [`Stencils::price`].
const MAX_PRICE: u32 = 1 << 16;

/// Stencils of the documents that a [`Codec`](crate::Codec) read: see
/// [`Codec::read_alike`](crate::Codec::read_alike).
#[derive(Debug, Default)]
pub struct Stencils {
    /// The stencil that matched last is the first one.
    stencils: Vec<Stencil>,
    /// The format with its options whose documents these stencils describe.
    owner: Option<Arc<Prepared>>,
    /// Number of documents that matched.
    matched: u64,
    /// The value of `matched` when the last stencil was made.
    matched_before: u64,
    /// Number of documents that did not match since then.
    mismatched: u32,
    /// Number of documents that must fail to match before the next stencil is made. Making a stencil takes as long as
    /// reading dozens of documents.
    price: u32,
}

impl Stencils {
    /// Returns how many documents matched another one so far.
    pub fn alike(&self) -> u64 {
        self.matched
    }

    /// Clears the tape, and reads a document onto it that matches a stencil. Returns `None` if it does not match.
    /// Then the content of the tape has no meaning.
    #[inline]
    pub(crate) fn fill_tape(
        &mut self,
        owner: &Arc<Prepared>,
        input: &[u8],
        limits: &Limits,
        tape: &mut Tape,
    ) -> Option<Filled> {
        if !self.owner.as_ref().is_some_and(|known| Arc::ptr_eq(known, owner)) {
            *self = Stencils { owner: Some(owner.clone()), price: 1, ..Stencils::default() };
        }
        let index = self.stencils.iter().position(|known| known.fill_tape(input, limits, tape))?;
        self.matched += 1;
        self.stencils[index].recent_uses += 1;
        if index > 0 {
            self.stencils.swap(0, index);
        }
        Some(Filled { is_simple: self.stencils[0].is_simple, ..Filled::new((input.len(), None)) })
    }

    /// Learns from a document that did not match and was read onto the tape.
    pub(crate) fn learn(&mut self, input: &[u8], limits: &Limits, filled: &Filled, tape: &Tape) {
        if filled.error.is_some() || filled.consumed < input.len() || filled.body.is_some() {
            return;
        }
        self.mismatched += 1;
        let Some(owner) = self.owner.as_ref().filter(|_| self.mismatched > self.price) else { return };
        self.price = match self.matched - self.matched_before >= HALF_PRICE_MATCHES {
            true => self.price / 2,
            false => (self.price * 2).min(MAX_PRICE),
        }
        .max(1);
        (self.mismatched, self.matched_before) = (0, self.matched);
        let Some(new_stencil) = Stencil::from_document(&*owner.reader, input, limits, tape) else { return };
        let new_stencil = Stencil { is_simple: filled.is_simple, ..new_stencil };
        if self.stencils.len() < MAX_STENCILS {
            self.stencils.push(new_stencil);
        } else if let Some(least_used) = self.stencils.iter_mut().min_by_key(|known| known.recent_uses) {
            *least_used = new_stencil;
        }
        // Each new stencil halves all counts, so that earlier matches count less than recent ones.
        self.stencils.iter_mut().for_each(|known| known.recent_uses /= 2);
    }
}

/// A document without its scalars.
#[derive(Debug)]
struct Stencil {
    read: ReadScalar,
    /// Number of documents that it read; halved whenever a stencil is made, so that recent documents count more.
    recent_uses: u64,
    /// The nodes, with the scalars of the document that it was made from.
    nodes: Vec<Node>,
    /// The bytes between the scalars.
    fixed: Vec<u8>,
    /// The scalars, in the order of the input.
    slots: Vec<ScalarSlot>,
    /// The strings in the fixed bytes.
    moved: Vec<MovedString>,
    /// The bytes after the last scalar.
    end: FixedBytes,
    naming: Naming,
    root: u32,
    /// Generation of the table of keys that the nodes refer to; 0 if they have no keys.
    keys: u64,
    /// Generation of the table of classes that the nodes refer to; 0 if they have no classes.
    classes: u64,
    /// The limits with which that document was read.
    depth: u32,
    max_nodes: u32,
    /// See [`Filled::is_simple`].
    is_simple: bool,
}

/// A place for a scalar: the bytes before it, and its node.
#[derive(Clone, Copy, Debug)]
struct ScalarSlot {
    before: FixedBytes,
    node: u32,
}

/// Required bytes: a part of [`Stencil::fixed`].
#[derive(Clone, Copy, Debug)]
struct FixedBytes {
    start: u32,
    len: u32,
    /// The first 16 bytes, padded with zeros.
    head: u128,
    /// Mask of the bits of `head` that are not padding.
    mask: u128,
    /// Number of strings of [`Stencil::moved`] that are in these bytes.
    strings: u32,
}

/// A string with fixed bytes, whose offset differs in another document.
#[derive(Clone, Copy, Debug)]
struct MovedString {
    node: u32,
    /// Distance from the end of the previous scalar.
    distance: u32,
}

impl FixedBytes {
    fn new(fixed: &[u8], start: usize, strings: u32) -> Option<FixedBytes> {
        let bytes = &fixed[start..];
        let mut head = [0; 16];
        let short = bytes.len().min(16);
        head[..short].copy_from_slice(&bytes[..short]);
        let mask = if short == 0 { 0 } else { u128::MAX >> (128 - 8 * short) };
        let (start, len) = (u32::try_from(start).ok()?, u32::try_from(bytes.len()).ok()?);
        Some(FixedBytes { start, len, head: u128::from_le_bytes(head), mask, strings })
    }

    /// Returns the end of these bytes, if they are at `offset`.
    #[inline(always)]
    fn match_end(&self, fixed: &[u8], input: &[u8], offset: usize) -> Option<usize> {
        let end = offset + self.len as usize;
        // The first 16 bytes are compared as one word. The mask removes the bytes after the required ones. At the end
        // of the input, where fewer than 16 bytes are left, the bytes are compared below.
        if let Some(window) = input.get(offset..).and_then(|rest| rest.first_chunk::<16>()) {
            if u128::from_le_bytes(*window) & self.mask != self.head {
                return None;
            }
            if self.len <= 16 {
                return Some(end);
            }
        }
        let start = self.start as usize;
        (input.get(offset..end)? == &fixed[start..start + self.len as usize]).then_some(end)
    }
}

impl Stencil {
    #[inline]
    fn fill_tape(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> bool {
        let first = self.slots.first().map_or(&self.end, |slot| &slot.before);
        if first.match_end(&self.fixed, input, 0).is_none() {
            return false;
        }
        tape.clear_for(self.naming);
        let is_known = (self.keys == 0 || tape.keys.generation() == self.keys)
            && (self.classes == 0 || tape.classes.generation() == self.classes)
            && limits.depth >= self.depth
            && limits.nodes >= self.max_nodes;
        is_known && self.fill_nodes(input, limits, tape).is_some()
    }

    #[inline]
    fn fill_nodes(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Option<()> {
        tape.nodes.extend_from_slice(&self.nodes);
        let nodes = &mut tape.nodes[..self.nodes.len()];
        let (mut offset, mut moved) = (0, self.moved.as_slice());
        for slot in &self.slots {
            if slot.before.strings > 0 {
                moved = move_strings(nodes, moved, slot.before.strings, offset);
            }
            offset = slot.before.match_end(&self.fixed, input, offset)?;
            let node = nodes.get_mut(slot.node as usize)?;
            (*node, offset) = (self.read)(input, offset, *node)?;
            if u64::from(node.aux) > limits.string {
                return None;
            }
        }
        move_strings(nodes, moved, self.end.strings, offset);
        tape.root = self.root;
        (self.end.match_end(&self.fixed, input, offset)? == input.len()).then_some(())
    }

    /// Returns the stencil of a document that was completely read onto this tape. Returns `None` if the stencil could
    /// not read other documents.
    #[inline(never)]
    fn from_document(reader: &dyn Reader, input: &[u8], limits: &Limits, tape: &Tape) -> Option<Stencil> {
        let read = reader.scalar_reader(input)?;
        let is_small = input.len() <= MAX_BYTES && tape.nodes.len() <= MAX_NODES;
        let is_plain = tape.arena.is_empty() && tape.long_strings.is_empty() && tape.header.is_none();
        // A link is the number of another node, so it depends on more than its own bytes. Attributes may be a part of
        // a value, such as the encoding of a string.
        let is_dependent = |node: &Node| node.kind.is_again() || node.has(flag::TARGET) || node.kind == Kind::Attrs;
        if !is_small || !is_plain || tape.nodes.iter().any(is_dependent) {
            return None;
        }
        let scalars = find_scalars(reader, read, input, limits, tape)?;
        let mut stencil = Stencil {
            read,
            recent_uses: 0,
            nodes: tape.nodes.clone(),
            fixed: Vec::new(),
            slots: Vec::new(),
            moved: Vec::new(),
            end: FixedBytes::new(b"", 0, 0)?,
            naming: tape.naming,
            root: tape.root,
            keys: tape.keys.generation(),
            classes: tape.classes.generation(),
            depth: limits.depth,
            max_nodes: limits.nodes,
            is_simple: false,
        };
        let strings = fixed_strings(tape, &scalars)?;
        let mut strings = strings.iter().peekable();
        let mut offset = 0;
        // An empty scalar at the end of the input, so that the loop also handles the bytes after the last scalar.
        let end = Scalar { node: u32::MAX, start: input.len(), end: input.len() };
        for Scalar { node, start, end: next } in scalars.iter().copied().chain([end]) {
            let fixed_start = stencil.fixed.len();
            stencil.fixed.extend_from_slice(input.get(offset..start)?);
            let count = stencil.moved.len();
            while let Some(string) = strings.next_if(|string| string.offset < start) {
                if string.offset < offset || string.offset + string.len > start {
                    return None;
                }
                let distance = u32::try_from(string.offset - offset).ok()?;
                stencil.moved.push(MovedString { node: string.node, distance });
            }
            let between = FixedBytes::new(&stencil.fixed, fixed_start, (stencil.moved.len() - count) as u32)?;
            match node {
                u32::MAX => stencil.end = between,
                node => stencil.slots.push(ScalarSlot { before: between, node }),
            }
            offset = next;
        }
        (strings.next().is_none() && stencil.reads_like_reader(reader, &scalars, input, limits, tape))
            .then_some(stencil)
    }

    /// Returns `true` if the stencil reads a changed document like the reader does. In that document every scalar has
    /// another value, so the test finds values that depend on a scalar elsewhere, such as a key that refers to
    /// an earlier string.
    fn reads_like_reader(
        &self,
        reader: &dyn Reader,
        scalars: &[Scalar],
        input: &[u8],
        limits: &Limits,
        tape: &Tape,
    ) -> bool {
        let mut changed = input.to_vec();
        let is_changed = |scalar: &Scalar| {
            let node = self.nodes[scalar.node as usize];
            match node.kind {
                Kind::Null | Kind::Bool => true,
                kind if kind.is_string() => change_string(&mut changed, &node),
                _ => change_number(&mut changed, scalar, self.read, node),
            }
        };
        if !scalars.iter().all(is_changed) {
            return false;
        }
        let (mut expected, mut found) = (tape.clone(), Tape::new());
        let names = |tape: &Tape| (tape.keys.generation(), tape.classes.generation());
        let before = names(&expected);
        let read = reader.fill_tape(&changed, limits, &mut expected);
        read.error.is_none()
            && read.consumed == changed.len()
            && read.body.is_none()
            && names(&expected) == before
            && expected.arena.is_empty()
            && self.fill_nodes(&changed, limits, &mut found).is_some()
            && (&expected.nodes, expected.root) == (&found.nodes, found.root)
    }
}

/// Updates the locations of the next strings, in the bytes from `offset` on.
#[inline]
fn move_strings<'m>(nodes: &mut [Node], moved: &'m [MovedString], count: u32, offset: usize) -> &'m [MovedString] {
    let (strings, rest) = moved.split_at(count as usize);
    for string in strings {
        if let Some(node) = nodes.get_mut(string.node as usize) {
            *node = Node { payload: (offset + string.distance as usize) as u64, ..*node };
        }
    }
    rest
}

/// A string of the document that is not a scalar of the stencil.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FixedString {
    offset: usize,
    len: usize,
    node: u32,
}

/// A scalar that can be read separately: its node, and its bytes.
#[derive(Clone, Copy, Debug)]
struct Scalar {
    node: u32,
    start: usize,
    end: usize,
}

/// Returns the scalars of a document that the function reads, in the order of the input.
fn find_scalars(
    reader: &dyn Reader,
    read: ReadScalar,
    input: &[u8],
    limits: &Limits,
    tape: &Tape,
) -> Option<Vec<Scalar>> {
    let outcome = reader.read(input, Request::new(limits).detailed());
    let document = outcome.document;
    let trace = document.trace().filter(|trace| outcome.error.is_none() && trace.layer.is_none())?;
    let (tape_ordinals, document_ordinals) = (Ordinals::from_tape(tape), Ordinals::from_tape(document.tape()));
    let mut scalars = Vec::new();
    for (index, node) in (0u32..).zip(&tape.nodes) {
        if node.kind.is_container() || node.key == IS_KEY {
            continue;
        }
        let extent =
            trace.extents.get(document_ordinals.ordinal_to_node(tape_ordinals.node_to_ordinal(index)) as usize)?;
        let (start, extent_end) = (extent.start as usize, extent.end as usize);
        // If the function can't read a scalar, or reads another node, the bytes of the scalar stay fixed.
        if let Some((reread_node, end)) = read(input, start, *node)
            && reread_node == *node
            && end <= extent_end
            && !extent.copied
        {
            scalars.push(Scalar { node: index, start, end });
        }
    }
    scalars.sort_unstable_by_key(|scalar| scalar.start);
    Some(scalars)
}

/// Replaces a string by another text of the same length.
fn change_string(input: &mut [u8], node: &Node) -> bool {
    let Location::Input(offset) = node.location() else { return false };
    let Some(bytes) = input.get_mut(offset as usize..offset as usize + node.aux as usize) else { return false };
    // The first letter must change, so a string that begins with `q` gets another letter.
    let letter = if bytes.first() == Some(&b'q') { b'z' } else { b'q' };
    bytes.fill(letter);
    true
}

/// Changes a bit of a number, so that it becomes another number of the same length.
fn change_number(input: &mut [u8], scalar: &Scalar, read: ReadScalar, node: Node) -> bool {
    (scalar.start..scalar.end).rev().any(|offset| {
        input[offset] ^= 1;
        let is_other = read(input, scalar.start, node)
            .is_some_and(|(other, end)| end == scalar.end && other.kind == node.kind && other.payload != node.payload);
        if !is_other {
            input[offset] ^= 1;
        }
        is_other
    })
}

/// Returns the strings that are not among the scalars, in the order of the input.
fn fixed_strings(tape: &Tape, scalars: &[Scalar]) -> Option<Vec<FixedString>> {
    let mut is_read = vec![false; tape.nodes.len()];
    for scalar in scalars {
        is_read[scalar.node as usize] = true;
    }
    let mut strings = Vec::new();
    for (index, node) in (0u32..).zip(&tape.nodes) {
        if node.kind.has_bytes() && !is_read[index as usize] {
            // The payload may contain an encoding or a form in addition to the location. `move_strings` replaces the
            // whole payload, so it must be only the location.
            let Location::Input(offset) = node.location() else { return None };
            if node.payload != offset {
                return None;
            }
            strings.push(FixedString { offset: offset as usize, len: node.aux as usize, node: index });
        }
    }
    strings.sort_unstable();
    Some(strings)
}
