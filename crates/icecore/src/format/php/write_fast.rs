//! Writes common documents quickly. Such a document has no spelling and loses nothing, and its links refer to earlier
//! values. At anything else this writer gives up, and the machine in [`super::write`] writes the document. Tests
//! compare both.
//!
//! The functions call themselves for inner containers, to a depth of [`MAX_DEPTH`]. A document may come in several
//! parts. When the nodes of a part end, each function that returns records the progress of its container. The next
//! part continues with the innermost container.

mod fixed_blocks;
mod leaf;
mod names;

use super::position::Position;
use super::text::is_enum_case;
use crate::document::{Document, IS_KEY, KEY_NODE, Kind, NO_KEY, Names, Node, flag};
use crate::format::PartProgress;
use crate::limits::Limits;
use crate::output::{ShortNameText, Spare};
use fixed_blocks::{CHUNK_SIZE, Chunk, FLUSH_LEN, put_all, put_digits, put_float, put_integer, put_position};
use names::{MAX_HEAD_LEN, MAX_KEY_LEN, generation_of, put_key};

/// Maximum nesting depth. The machine writes deeper documents, because each level here takes space on the stack.
const MAX_DEPTH: u32 = 256;
/// Maximum number of entries of a run. Only after a run is it checked whether the chunk is full.
const RUN_LEN: u32 = 32;

/// A container that is open.
#[derive(Clone, Copy, Debug)]
struct OpenContainer {
    /// Number of entries that were written.
    count: u32,
    /// Number of all entries.
    total: u32,
    kind: ContainerKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ContainerKind {
    Items,
    Entries,
    Properties,
}

/// Position in the chunk where the next text is written, and index of the next node.
#[derive(Clone, Copy)]
struct WritePosition {
    filled: usize,
    index: usize,
}

/// Reason why writing stops.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum WriteStop {
    #[default]
    No,
    /// The nodes of this part ended.
    Part,
    /// Something that the machine must write.
    Special,
}

/// Progress in a document.
#[derive(Debug, Default)]
struct WriteProgress {
    /// Open containers, the innermost first.
    open: Vec<OpenContainer>,
    /// In the order of nodes.
    link_targets: Vec<LinkTarget>,
    /// Number of the last value, as PHP counts values for links.
    last_number: u32,
    /// Number of nodes in the previous parts. Links name nodes of the whole document, so this is added to an index.
    previous_nodes: u32,
}

/// A value that links refer to: its node and its number.
#[derive(Debug)]
struct LinkTarget {
    node: u32,
    number: u32,
}

/// All that the functions read from and write to.
struct FastWriter<'d, 'o> {
    document: &'d Document<'d>,
    nodes: &'d [Node],
    /// The input that the document was read from. The bytes of a string are here or in the arena.
    input: &'d [u8],
    arena: &'d [u8],
    names: &'d Names,
    buf: &'o mut Vec<u8>,
    keys: &'o mut [ShortNameText<MAX_KEY_LEN>],
    object_heads: &'o mut [ShortNameText<MAX_HEAD_LEN>],
    /// Generation of the table of keys whose texts are kept.
    key_generation: u64,
    /// Generation of the table of classes whose heads are kept.
    class_generation: u64,
    state: &'o mut WriteProgress,
    stop: WriteStop,
    max_depth: u32,
    max_bytes: u64,
    /// Length of `buf` before this part.
    start_len: usize,
}

/// Writes a document of at most `max_bytes` bytes. `None` if something in it needs the machine.
pub(super) fn write_fast(
    document: &Document<'_>,
    limits: &Limits,
    spare: &mut Spare,
    buf: &mut Vec<u8>,
    max_bytes: u64,
) -> Option<()> {
    let mut state = WriteProgress::default();
    write_nodes(document, limits, (spare, false), &mut state, (buf, max_bytes))?;
    state.open.is_empty().then_some(())
}

/// Writes the next part of a document.
pub(super) fn write_part(
    document: &Document<'_>,
    limits: &Limits,
    progress: &mut PartProgress,
    buf: &mut Vec<u8>,
    max_bytes: u64,
) -> Option<()> {
    let PartProgress { spare, memory, has_begun, is_final, .. } = progress;
    let state = memory.get_or_default::<WriteProgress>();
    if !*has_begun {
        *state = WriteProgress::default();
    }
    write_nodes(document, limits, (spare, *has_begun), state, (buf, max_bytes))?;
    state.previous_nodes = state.previous_nodes.checked_add(u32::try_from(document.nodes().len()).ok()?)?;
    (*has_begun, *is_final) = (true, true);
    Some(())
}

fn write_nodes(
    document: &Document<'_>,
    limits: &Limits,
    (spare, has_begun): (&mut Spare, bool),
    state: &mut WriteProgress,
    (buf, max_bytes): (&mut Vec<u8>, u64),
) -> Option<()> {
    let tape = document.tape();
    if document.header().is_some() || document.spelling().is_some() {
        return None;
    }
    let Spare { bytes, keys, object_heads, .. } = spare;
    if bytes.len() < CHUNK_SIZE {
        // Memory from `vec![0; …]` takes physical pages only where it is written, so short documents need only a few.
        *bytes = vec![0; CHUNK_SIZE];
    }
    if keys.len() <= tape.keys().len() {
        keys.resize(tape.keys().len() + 1, ShortNameText::default());
    }
    if object_heads.len() <= tape.classes().len() {
        object_heads.resize(tape.classes().len() + 1, ShortNameText::default());
    }
    let start_len = buf.len();
    let mut fast = FastWriter {
        document,
        nodes: tape.nodes(),
        input: document.input(),
        arena: tape.arena(),
        names: tape.keys(),
        buf,
        keys,
        object_heads,
        key_generation: generation_of(tape.keys()),
        class_generation: generation_of(tape.classes()),
        state,
        stop: WriteStop::No,
        max_depth: MAX_DEPTH.min(limits.depth),
        max_bytes,
        start_len,
    };
    let chunk = bytes.first_chunk_mut()?;
    let place = if has_begun {
        fast.resume_writing(chunk)
    } else {
        fast.state.open.clear();
        fast.write_value(chunk, WritePosition { filled: 0, index: tape.root() as usize }, 0)
    };
    let is_complete = match fast.stop {
        // Nodes after the end of the root are unexpected, so the machine writes such a document.
        WriteStop::No => place.index == fast.nodes.len(),
        WriteStop::Part => true,
        WriteStop::Special => false,
    };
    if !is_complete || !fast.flush(chunk, place.filled) {
        return None;
    }
    Some(())
}

// Every function here takes the position as an argument and returns the new one, so the position stays in registers.
// After each call, the caller checks in `stop` whether to continue.
impl FastWriter<'_, '_> {
    /// Continues with a document of which a part was written.
    fn resume_writing(&mut self, chunk: &mut Chunk) -> WritePosition {
        let mut place = WritePosition { filled: 0, index: 0 };
        let open = std::mem::take(&mut self.state.open);
        for (outer, inner) in open.iter().enumerate() {
            // The innermost container is the first one, so its depth is the number of all open containers.
            let depth = (open.len() - outer) as u32;
            place = self.write_content(chunk, place, *inner, depth);
            // The containers around this one stay open; nothing was written into them in this part.
            if self.stop == WriteStop::Part {
                self.state.open.extend_from_slice(&open[outer + 1..]);
            }
            if self.stop != WriteStop::No {
                break;
            }
        }
        place
    }

    /// Writes the content of a container from the next entry on, and its end. `depth` is the depth of the container.
    #[inline(always)]
    fn write_content(
        &mut self,
        chunk: &mut Chunk,
        place: WritePosition,
        open: OpenContainer,
        depth: u32,
    ) -> WritePosition {
        match open.kind {
            ContainerKind::Items => self.write_items(chunk, place, (open.count, open.total), depth),
            kind => {
                self.write_entries(chunk, place, (open.count, open.total), (kind == ContainerKind::Properties, depth))
            }
        }
    }

    // -- Containers ----------------------------------------------------------------

    #[inline(never)]
    fn write_items(
        &mut self,
        chunk: &mut Chunk,
        mut place: WritePosition,
        (first, max_count): (u32, u32),
        depth: u32,
    ) -> WritePosition {
        let (mut count, mut position) = (first, Position::from_number(first));
        loop {
            let before = count;
            while count < max_count && place.filled < FLUSH_LEN {
                let Some(node) = self.nodes.get(place.index) else { break };
                if is_container(node) {
                    break;
                }
                let filled = put_position(chunk, place.filled, &position);
                let Some(filled) = self.write_leaf(chunk, filled, node, NO_KEY) else { break };
                place = WritePosition { filled, index: place.index + 1 };
                count += 1;
                position.increment();
            }
            self.state.last_number += count - before;
            if place.filled >= FLUSH_LEN {
                place.filled = self.flush_full_chunk(chunk, place.filled);
            }
            if count == max_count {
                return WritePosition { filled: put_all(chunk, place.filled, b"}"), ..place };
            }
            let Some(node) = self.nodes.get(place.index) else {
                return self
                    .record_progress(place, OpenContainer { count, total: max_count, kind: ContainerKind::Items });
            };
            if node.key != NO_KEY {
                return self.stop_at_special(place);
            }
            place.filled = put_position(chunk, place.filled, &position);
            count += 1;
            position.increment();
            place = self.write_value(chunk, place, depth);
            if self.stop != WriteStop::No {
                return self
                    .record_progress(place, OpenContainer { count, total: max_count, kind: ContainerKind::Items });
            }
        }
    }

    #[inline(never)]
    fn write_entries(
        &mut self,
        chunk: &mut Chunk,
        mut place: WritePosition,
        (first, max_count): (u32, u32),
        (is_object, depth): (bool, u32),
    ) -> WritePosition {
        let kind = if is_object { ContainerKind::Properties } else { ContainerKind::Entries };
        let mut count = first;
        loop {
            if count == max_count {
                return WritePosition { filled: put_all(chunk, place.filled, b"}"), ..place };
            }
            let Some(node) = self.nodes.get(place.index) else {
                return self.record_progress(place, OpenContainer { count, total: max_count, kind });
            };
            if place.filled >= FLUSH_LEN {
                place.filled = self.flush_full_chunk(chunk, place.filled);
            }
            if !is_container(node) {
                let before = count;
                (place, count) = match node.key {
                    IS_KEY => self.write_pairs(chunk, place, (count, max_count), is_object),
                    _ => self.write_run(chunk, place, (count, max_count), is_object),
                };
                if count > before {
                    continue;
                }
            }
            let Some(value_place) = self.write_key(chunk, place, node, is_object) else {
                return self.stop_at_special(place);
            };
            count += 1;
            place = self.write_value(chunk, value_place, depth);
            if self.stop != WriteStop::No {
                return self.record_progress(place, OpenContainer { count, total: max_count, kind });
            }
        }
    }

    /// Writes a run of entries. Their keys have ids and kept texts, and their values are leaves. An entry is then
    /// exactly one node.
    #[inline(always)]
    fn write_run(
        &mut self,
        chunk: &mut Chunk,
        place: WritePosition,
        (first, max_count): (u32, u32),
        is_object: bool,
    ) -> (WritePosition, u32) {
        let rest = self.nodes.get(place.index..).unwrap_or(&[]);
        let (mut filled, mut count) = (place.filled, 0);
        for node in &rest[..((max_count - first).min(RUN_LEN) as usize).min(rest.len())] {
            let Some(kept) = self.kept_key(node.key, is_object) else { break };
            let key_end = put_key(chunk, filled, kept);
            let Some(value_end) = self.write_leaf(chunk, key_end, node, node.key) else { break };
            filled = value_end;
            count += 1;
        }
        self.state.last_number += count;
        (WritePosition { filled, index: place.index + count as usize }, first + count)
    }

    /// Writes a run of entries whose keys are nodes, and whose values are leaves. An entry is then exactly two nodes.
    #[inline(never)]
    fn write_pairs(
        &mut self,
        chunk: &mut Chunk,
        mut place: WritePosition,
        (first, max_count): (u32, u32),
        is_object: bool,
    ) -> (WritePosition, u32) {
        let mut count = first;
        while count < max_count && place.filled < FLUSH_LEN {
            let Some([key, value, ..]) = self.nodes.get(place.index..) else { break };
            let filled = match key.kind {
                Kind::Int if key.key == IS_KEY && key.flags == 0 => {
                    put_integer(chunk, place.filled, key.payload as i64)
                }
                Kind::Bytes if is_object || !self.may_be_cast(key) => {
                    match self.write_leaf(chunk, place.filled, key, IS_KEY) {
                        Some(filled) => filled,
                        None => break,
                    }
                }
                _ => break,
            };
            let Some(filled) = self.write_leaf(chunk, filled, value, KEY_NODE) else { break };
            place = WritePosition { filled, index: place.index + 2 };
            count += 1;
        }
        self.state.last_number += count - first;
        (place, count)
    }

    /// Records the progress of a container if the part ended in it. After [`WriteStop::Special`] nothing is recorded,
    /// because the machine writes the whole document again.
    #[cold]
    fn record_progress(&mut self, place: WritePosition, open: OpenContainer) -> WritePosition {
        if self.stop == WriteStop::No {
            self.stop = WriteStop::Part;
        }
        if self.stop == WriteStop::Part {
            self.state.open.push(open);
        }
        place
    }

    #[cold]
    fn stop_at_special(&mut self, place: WritePosition) -> WritePosition {
        self.stop = WriteStop::Special;
        place
    }

    // -- Values -------------------------------------------------------------------

    /// Writes any value in a container of this depth.
    #[inline(always)]
    fn write_value(&mut self, chunk: &mut Chunk, place: WritePosition, depth: u32) -> WritePosition {
        let Some(node) = self.nodes.get(place.index) else { return self.stop_at_special(place) };
        if !is_container(node) {
            return match self.write_other(chunk, place, node) {
                Some(filled) => WritePosition { filled, index: place.index + 1 },
                None => self.stop_at_special(place),
            };
        }
        if depth >= self.max_depth {
            return self.stop_at_special(place);
        }
        self.state.last_number += 1;
        if node.flags != 0 && !self.record_target(node, place.index) {
            return self.stop_at_special(place);
        }
        let depth = depth + 1;
        let Some(body) = self.nodes.get(place.index + usize::from(node.kind == Kind::Object)) else {
            return self.stop_at_special(place);
        };
        let filled = match node.kind {
            Kind::Object => match self.write_head(chunk, place.filled, node, body) {
                Some(filled) => filled,
                None => return self.stop_at_special(place),
            },
            _ => put_array_head(chunk, place.filled, node),
        };
        let (first, max_count, is_object) = match node.kind {
            Kind::Array => {
                return self.write_items(chunk, WritePosition { filled, index: place.index + 1 }, (0, node.aux), depth);
            }
            Kind::Map => (place.index + 1, node.aux, false),
            _ => (place.index + 2, body.aux, true),
        };
        let (place, count) = self.write_run(chunk, WritePosition { filled, index: first }, (0, max_count), is_object);
        if count == max_count {
            return WritePosition { filled: put_all(chunk, place.filled, b"}"), ..place };
        }
        self.write_entries(chunk, place, (count, max_count), (is_object, depth))
    }

    /// Records the number of a value that links refer to. Returns `false` if it has other
    /// flags, too.
    #[cold]
    fn record_target(&mut self, node: &Node, index: usize) -> bool {
        let target = LinkTarget { node: self.state.previous_nodes + index as u32, number: self.state.last_number };
        self.state.link_targets.push(target);
        node.flags == flag::TARGET
    }

    /// Writes a value that is neither a container nor a short leaf.
    #[inline(never)]
    fn write_other(&mut self, chunk: &mut Chunk, place: WritePosition, node: &Node) -> Option<usize> {
        let WritePosition { filled, index: at } = place;
        let document = self.document;
        // PHP counts `r:` as a value of its own, but not `R:`.
        if node.kind != Kind::Alias {
            self.state.last_number += 1;
        }
        if node.flags != 0 && !self.record_target(node, at) {
            return None;
        }
        Some(match node.kind {
            Kind::Alias => put_link(chunk, filled, b'R', self.find_target_number(node.payload as u32)?),
            // If `__sleep` fails, PHP writes null for the object. Later links refer to this null.
            Kind::Link => put_link(chunk, filled, b'r', self.find_target_number(node.payload as u32)?),
            Kind::Bytes => self.write_quoted(chunk, filled, b's', document.bytes(node))?,
            Kind::Int => put_integer(chunk, filled, node.payload as i64),
            Kind::Float => put_float(chunk, filled, f64::from_bits(node.payload), self.buf),
            Kind::Null => put_all(chunk, filled, b"N;"),
            Kind::Bool => put_all(chunk, filled, if node.payload != 0 { b"b:1;" } else { b"b:0;" }),
            Kind::EnumCase if is_enum_case(document.bytes(node)) => {
                self.write_quoted(chunk, filled, b'E', document.bytes(node))?
            }
            _ => return None,
        })
    }

    /// Returns the number of the value at this node. The targets are sorted, because they are added in the order of
    /// nodes.
    fn find_target_number(&self, node: u32) -> Option<u32> {
        let found = self.state.link_targets.binary_search_by_key(&node, |target| target.node).ok()?;
        self.state.link_targets.get(found).map(|target| target.number)
    }
}

#[inline(always)]
fn is_container(node: &Node) -> bool {
    matches!(node.kind, Kind::Array | Kind::Map | Kind::Object)
}

/// Writes `a:2:{`.
#[inline(always)]
fn put_array_head(chunk: &mut Chunk, filled: usize, node: &Node) -> usize {
    if node.aux < 10 {
        return put_all(chunk, filled, &[b'a', b':', b'0' + node.aux as u8, b':', b'{']);
    }
    let filled = put_all(chunk, filled, b"a:");
    let filled = put_digits(chunk, filled, u64::from(node.aux));
    put_all(chunk, filled, b":{")
}

/// Writes `r:5;` or `R:5;`.
fn put_link(chunk: &mut Chunk, filled: usize, letter: u8, number: u32) -> usize {
    let filled = put_all(chunk, filled, &[letter, b':']);
    let filled = put_digits(chunk, filled, u64::from(number));
    put_all(chunk, filled, b";")
}

#[cfg(test)]
mod tests;
