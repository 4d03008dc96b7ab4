//! A writer for small common documents on one line.
//!
//! For any other document it writes nothing, and the normal writer is used. For these documents, the normal writer
//! would write the same bytes.

use super::fast::{push_common, push_key};
use super::frames::push_int;
use crate::document::{Document, Kind, flag};
use crate::format::dumper::options::WriteOptions;
use crate::output::Output;

/// Maximum number of levels of such a document.
const MAX_DEPTH: usize = 32;
/// Maximum number of values of such a document.
const MAX_NODES: usize = 4096;

/// An open container.
#[derive(Clone, Copy, Default)]
struct LineFrame {
    /// Number of children still to write.
    remaining: u32,
    is_map: bool,
}

/// Writes the document, if it is small and common.
pub(super) fn write_small_document(
    document: &Document<'_>,
    options: &WriteOptions,
    depth: u32,
    out: &mut dyn Output,
) -> bool {
    let nodes = document.nodes();
    if !has_common_options(options) || document.header().is_some() || nodes.len() > MAX_NODES {
        return false;
    }
    let mut index = document.root().index() as usize;
    let is_list = options.list && nodes.get(index).is_some_and(|root| root.kind == Kind::Array);
    if is_list {
        if nodes.get(index).is_none_or(|root| root.aux != 1) {
            return false;
        }
        index += 1;
    }
    let max_bytes = usize::try_from(out.remaining_bytes()).unwrap_or(usize::MAX);
    if !write_statement(document, index, options, (MAX_DEPTH.min(depth as usize), max_bytes), out.buffer()) {
        return false;
    }
    if is_list {
        out.end_value();
    }
    true
}

/// Writes the value at `index` as the first value.
fn write_statement(
    document: &Document<'_>,
    index: usize,
    options: &WriteOptions,
    limits: (usize, usize),
    buf: &mut Vec<u8>,
) -> bool {
    let start = buf.len();
    if !options.terse {
        buf.push(b'$');
        buf.extend_from_slice(options.varname.as_bytes());
        push_int(1, buf);
        buf.extend_from_slice(b" = ");
    }
    if !write_values(document, index, options, limits, buf) {
        buf.truncate(start);
        return false;
    }
    if !options.terse {
        buf.push(b';');
    }
    true
}

/// Returns `true` if only `terse`, `quotekeys`, `pair`, `varname` and options for special values are
/// set.
fn has_common_options(options: &WriteOptions) -> bool {
    let WriteOptions { indent: 0, useqq: false, sortkeys: false, maxdepth: 0, useperl: false, result: false, .. } =
        options
    else {
        return false;
    };
    options.pad.is_empty() && options.names.is_empty()
}

/// Writes the values, with limits for levels and bytes.
fn write_values(
    document: &Document<'_>,
    index: usize,
    options: &WriteOptions,
    (max_depth, max_bytes): (usize, usize),
    buf: &mut Vec<u8>,
) -> bool {
    let max_len = buf.len().saturating_add(max_bytes);
    let mut open = [LineFrame::default(); MAX_DEPTH];
    let mut depth = 0usize;
    let mut is_first = true;
    for node in document.nodes().iter().skip(index) {
        if let Some(top) = open.get_mut(depth.wrapping_sub(1)) {
            top.remaining -= 1;
            if !is_first {
                buf.push(b',');
            }
            if buf.len() > max_len {
                return false;
            }
            if top.is_map && !push_key(document, node.key, options, buf) {
                return false;
            }
        }
        is_first = false;
        match node.kind {
            Kind::Array | Kind::Map => {
                let Some(next) = open.get_mut(depth).filter(|_| depth < max_depth && node.flags & !flag::REF == 0)
                else {
                    return false;
                };
                *next = LineFrame { remaining: node.aux, is_map: node.kind == Kind::Map };
                buf.push(if next.is_map { b'{' } else { b'[' });
                depth += 1;
                is_first = true;
            }
            _ if !push_common(document, node, buf) => return false,
            _ => {}
        }
        while let Some(LineFrame { remaining: 0, is_map }) = depth.checked_sub(1).and_then(|last| open.get(last)) {
            buf.push(if *is_map { b'}' } else { b']' });
            depth -= 1;
            is_first = false;
        }
        if depth == 0 {
            return true;
        }
    }
    false
}
