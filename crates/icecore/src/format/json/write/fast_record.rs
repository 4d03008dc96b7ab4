//! The hot loop without the writer around it, for a small document that is one map of plain
//! leaves whose keys were written before. Most records are such documents.

use super::fast::{StringSources, write_leaf};
use super::{NOTICED, WriterMemory};
use crate::document::{Kind, NO_KEY, Tape};
use crate::format::json::keys::OpenMap;
use crate::format::json::options::{Floats, InfNan, TextAs, WriteOptions};
use crate::format::json::scratch::SCRATCH_LEN;
use crate::format::json::style::TextStyle;
use crate::output::Output;

/// Size of the buffer. Larger documents are left to the writer.
const BUFFER_LEN: usize = 8 << 10;

/// Returns `true` if no option changes the output.
fn are_default_options(options: &WriteOptions) -> bool {
    let WriteOptions { typed: false, sort_keys: false, perl: false, text: TextAs::Utf8, .. } = options else {
        return false;
    };
    options.floats == Floats::Shortest
        && options.infnan == InfNan::Null
        && TextStyle::from_options(options) == TextStyle::default()
}

/// Writes the document on this tape. If only the writer can write it, writes nothing and returns `false`.
pub(in crate::format::json) fn write_record(
    input: &[u8],
    tape: &Tape,
    options: &WriteOptions,
    memory: &mut WriterMemory,
    out: &mut dyn Output,
) -> bool {
    if !are_default_options(options) {
        return false;
    }
    let (root_index, nodes) = (tape.root(), tape.nodes());
    let Some(root) = nodes.get(root_index as usize) else { return false };
    let end = u64::from(root_index) + 1 + u64::from(root.aux);
    let is_flat = root.kind == Kind::Map && root.flags & NOTICED == 0 && u64::from(root.end()) == end;
    let Some(entries) = nodes.get(root_index as usize + 1..root.end() as usize).filter(|_| is_flat && root_index == 0)
    else {
        return false;
    };
    if options.class.is_some() || tape.keys().may_have_symbol() || tape.keys().may_have_mangled() {
        return false;
    }
    memory.prepare_next_document();
    let WriterMemory { keys, buffer, .. } = memory;
    if buffer.len() < BUFFER_LEN {
        buffer.resize(BUFFER_LEN, 0);
    }
    let sources =
        StringSources { input, arena: tape.arena(), writes_numbers_from_values: true, has_minimal_escapes: true };
    let map = keys.open_map(&OpenMap::default());
    buffer[0] = b'{';
    let mut written = 1;
    for node in entries {
        let entry = keys.get(node.key).filter(|rendered| !rendered.is_special && node.key != NO_KEY);
        let Some((piece, len)) = entry.and_then(|key| Some((keys.rendered_piece(key)?, key.len))) else { return false };
        let Some(scratch) = buffer.get_mut(written..).and_then(|rest| rest.first_chunk_mut::<SCRATCH_LEN>()) else {
            return false;
        };
        if node.flags & NOTICED != 0 || node.kind == Kind::Symbol {
            return false;
        }
        scratch[..piece.len()].copy_from_slice(piece);
        let Some(len) = write_leaf(scratch, len, node, &sources) else { return false };
        scratch[len] = b',';
        if keys.is_duplicate_key(node.key, &map) {
            return false;
        }
        written += len + 1;
    }
    written -= usize::from(!entries.is_empty());
    buffer[written] = b'}';
    out.buffer().extend_from_slice(&buffer[..=written]);
    true
}
