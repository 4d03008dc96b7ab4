//! The hot loop: leaves, and maps of leaves.

use super::{FrameKind, NOTICED, WriteFrame, Writer};
use crate::document::{Kind, Location, NO_KEY, Node};
use crate::error::Error;
use crate::format::json::options::Floats;
use crate::format::json::scratch::{self, Scratch};
use crate::output::LossKind;

/// Where the bytes of strings are.
#[derive(Clone, Copy)]
pub(super) struct StringSources<'d> {
    pub(super) input: &'d [u8],
    pub(super) arena: &'d [u8],
    /// Whether numbers are written from their values: no spelling and no option for floats
    /// applies.
    pub(super) writes_numbers_from_values: bool,
    /// Whether only mandatory escapes are written.
    pub(super) has_minimal_escapes: bool,
}

/// Writes a value that is a plain leaf. Returns `None` for anything else; then nothing of it
/// counts. The caller reports the loss of a symbol.
#[inline]
pub(super) fn write_leaf(
    scratch: &mut Scratch,
    offset: usize,
    node: &Node,
    sources: &StringSources<'_>,
) -> Option<usize> {
    match node.kind {
        Kind::Text | Kind::Bytes | Kind::Symbol if sources.has_minimal_escapes => {
            let (base, start) = match node.location() {
                Location::Input(start) => (sources.input, start),
                Location::Arena(start) => (sources.arena, start),
            };
            scratch::write_plain_string(scratch, offset, base, usize::try_from(start).ok()?, node.aux as usize)
        }
        Kind::Int if sources.writes_numbers_from_values => {
            Some(scratch::write_int(scratch, offset, node.payload as i64))
        }
        Kind::Float if sources.writes_numbers_from_values => {
            let value = f64::from_bits(node.payload);
            value.is_finite().then(|| scratch::write_float(scratch, offset, value))
        }
        Kind::Null => Some(scratch::write_word(scratch, offset, "null")),
        Kind::Bool => Some(scratch::write_word(scratch, offset, if node.payload != 0 { "true" } else { "false" })),
        _ => None,
    }
}

impl<'d> Writer<'d, '_, '_> {
    pub(super) fn string_sources(&self) -> StringSources<'d> {
        let (input, arena) = (self.document.input(), &self.document.tape().arena[..]);
        let writes_numbers_from_values = self.number_texts.is_empty() && self.options.floats == Floats::Shortest;
        StringSources { input, arena, writes_numbers_from_values, has_minimal_escapes: !self.options.escape_slash }
    }

    /// Writes a value that is a plain leaf. Returns `false`, with nothing written, for anything
    /// else.
    #[inline]
    pub(super) fn write_plain_leaf(&mut self, index: u32, node: &Node, sources: &StringSources<'_>) -> bool {
        let end = self.emitter.free_scratch().and_then(|scratch| write_leaf(scratch, 0, node, sources));
        if let Some(end) = end {
            self.emitter.advance(end);
            if node.kind == Kind::Symbol {
                self.record_loss(LossKind::Symbol, index);
            }
        }
        end.is_some()
    }

    /// Returns `true` if this is a map without special properties, in which each node is an entry.
    #[inline]
    pub(super) fn is_flat_map(&self, index: u32, node: &Node) -> bool {
        node.kind == Kind::Map
            && node.flags & NOTICED == 0
            && self.plain_maps
            && u64::from(node.end()) == u64::from(index) + 1 + u64::from(node.aux)
    }

    /// Writes the map at `index`, which [is flat](Writer::is_flat_map). Returns `false`, with the map
    /// open, if an entry needs more than the hot loop.
    #[inline]
    pub(super) fn write_flat_map(&mut self, index: u32, end: u32, sources: &StringSources<'_>) -> Result<bool, Error> {
        let map = self.keys.open_map(&self.current_map);
        let mut next = index + 1;
        let nodes = self.nodes.get(next as usize..end as usize).unwrap_or(&[]);
        for node in nodes {
            self.emitter.make_space()?;
            let entry = self.keys.get(node.key).filter(|rendered| !rendered.is_special && node.key != NO_KEY);
            let Some((piece, len)) = entry.and_then(|key| Some((self.keys.rendered_piece(key)?, key.len))) else {
                break;
            };
            // Comma, key and value go into one scratch, and count only if the value is a plain
            // leaf. The key is copied as a full piece; the value overwrites the rest.
            let Some(scratch) = self.emitter.free_scratch() else { break };
            scratch[0] = if next == index + 1 { b'{' } else { b',' };
            scratch[1..1 + piece.len()].copy_from_slice(piece);
            let Some(written) = write_leaf(scratch, 1 + len, node, sources) else { break };
            self.emitter.advance(written);
            if node.kind == Kind::Symbol {
                self.record_loss(LossKind::Symbol, next);
            }
            if self.keys.is_duplicate_key(node.key, &map) {
                self.record_loss(LossKind::DuplicateKey, next);
            }
            next += 1;
        }
        if next < end {
            if let Some(top) = self.open.last_mut() {
                (top.next, top.is_empty) = (end, false);
            }
            let is_empty = next == index + 1;
            if is_empty {
                self.emitter.write_byte(b'{');
            }
            self.depth += 1;
            let enclosing_map = std::mem::replace(&mut self.current_map, map);
            self.open.push(WriteFrame { kind: FrameKind::Map, is_empty, next, end, enclosing_map });
            return Ok(false);
        }
        if nodes.is_empty() {
            self.emitter.write_byte(b'{');
        }
        self.emitter.write_byte(b'}');
        self.keys.close_map(&map);
        Ok(true)
    }
}
