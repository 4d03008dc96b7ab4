//! The tape: its view for callers that read, its memory for callers that fill.

use crate::error::usage_error;
use icecore::{
    Error, Kind,
    raw::{Location, NameEntry, Names, Node},
};

/// The version of the layout of nodes and views. A program that was built with another header must not use the library:
/// it compares this number with `icecore_tape_version()`.
pub const ICECORE_TAPE_VERSION: u32 = 3;
/// No such node.
pub const ICECORE_NONE: u32 = u32::MAX;
/// Flag of `icecore_read`: bytes after the document are not an error.
pub const ICECORE_EACH: u32 = 1;
/// Flag of `icecore_read`: values that exist only in other languages become what Perl programs use instead.
pub const ICECORE_FOR_PERL: u32 = 2;

/// Flag of `icecore_read`: ASCII text becomes byte strings.
pub const ICECORE_ASCII_BYTES: u32 = 4;

/// Flag of `icecore_read`: after an error, the view contains what was read before it, with all containers closed.
pub const ICECORE_PARTIAL: u32 = 8;

/// Returns the version of the library's layout.
#[unsafe(no_mangle)]
pub extern "C" fn icecore_tape_version() -> u32 {
    ICECORE_TAPE_VERSION
}

/// Bytes that the library lends.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct icecore_bytes {
    /// The bytes.
    pub bytes: *const u8,
    /// Number of bytes.
    pub len: usize,
}

impl icecore_bytes {
    pub(crate) fn from_slice(bytes: &[u8]) -> icecore_bytes {
        icecore_bytes { bytes: bytes.as_ptr(), len: bytes.len() }
    }
}

/// A node of the tape: docs/tape.md explains it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct icecore_node {
    /// Kind of value: `ICECORE_NULL` and so on.
    pub kind: u8,
    /// Bits, whose meaning depends on the kind.
    pub flags: u8,
    /// Id of its key.
    pub key: u16,
    /// A length or a count.
    pub aux: u32,
    /// A value, the offset of a string or the end of a container.
    pub payload: u64,
}

/// The name of a key or a class.
#[repr(C)]
pub struct icecore_name {
    /// Its first 16 bytes, zero-padded.
    pub head: [u64; 2],
    /// Kind and flags; `aux` is its length, `payload` (without the top bit) its offset
    /// in the bytes of its table.
    pub node: icecore_node,
}

/// A table of names. The name with the id `n` is `names[n - 1]`.
#[repr(C)]
pub struct icecore_names {
    /// The names.
    pub names: *const icecore_name,
    /// Number of names.
    pub count: usize,
    /// The bytes that their offsets refer to.
    pub bytes: *const u8,
    /// Ids keep their meaning between calls with the same context until this number changes.
    pub generation: u32,
}

impl icecore_names {
    pub(crate) fn from_names(names: &Names) -> icecore_names {
        let (entries, bytes) = names.raw();
        icecore_names {
            names: entries.as_ptr().cast(),
            count: entries.len(),
            bytes: bytes.as_ptr(),
            generation: names.generation() as u32,
        }
    }
}

/// A string that is too long for a node: the payload of its node is its index.
#[repr(C)]
pub struct icecore_long {
    /// Offset of the string.
    pub offset: u64,
    /// Length of the string in bytes.
    pub len: u64,
    /// 1 if the offset refers to the arena, 0 if it refers to the input.
    pub in_arena: u32,
}

impl icecore_long {
    pub(crate) fn from_location((place, len): (Location, u64)) -> icecore_long {
        let (offset, in_arena) = match place {
            Location::Input(offset) => (offset, 0),
            Location::Arena(offset) => (offset, 1),
        };
        icecore_long { offset, len, in_arena }
    }
}

/// A document that was read.
#[repr(C)]
pub struct icecore_view {
    /// The nodes, in pre-order.
    pub nodes: *const icecore_node,
    /// Number of nodes.
    pub node_count: usize,
    /// The index of the root.
    pub root: u32,
    /// The index of the user header (Sereal); `ICECORE_NONE` if there is none.
    pub header: u32,
    /// The bytes that strings are borrowed from: the input, or decompressed data.
    pub input: *const u8,
    /// Number of these bytes.
    pub input_len: usize,
    /// The bytes of all other strings.
    pub arena: *const u8,
    /// Number of these bytes.
    pub arena_len: usize,
    /// The keys.
    pub keys: icecore_names,
    /// The classes.
    pub classes: icecore_names,
    /// The encodings (Ruby).
    pub encodings: icecore_names,
    /// Strings of 4 GB and more.
    pub long_strings: *const icecore_long,
    /// Number of long strings.
    pub long_count: usize,
    /// Number of bytes of the input that belong to the document.
    pub consumed: usize,
    /// 1 if the document has only arrays, maps, strings and numbers, no node is the target of a link, and every key
    /// has an id and no flags; 0 if that is unknown.
    pub is_simple: u32,
}

/// A tape that is being filled. Its memory belongs to the context.
///
/// The caller writes nodes at `nodes[node_count]` and strings at `arena + arena_len`, and increments both counts. If
/// there is not enough space, it first calls `icecore_grow_nodes` or `icecore_grow_arena`.
#[repr(C)]
pub struct icecore_tape {
    /// The nodes.
    pub nodes: *mut icecore_node,
    /// Number of filled nodes.
    pub node_count: usize,
    /// Number of nodes that fit.
    pub node_capacity: usize,
    /// The bytes of strings.
    pub arena: *mut u8,
    /// Number of filled bytes.
    pub arena_len: usize,
    /// Number of bytes that fit.
    pub arena_capacity: usize,
    /// The index of the root.
    pub root: u32,
    /// The index of the user header, or `ICECORE_NONE`.
    pub header: u32,
    /// The generation of the ids of keys.
    pub key_generation: u32,
    /// The generation of the ids of classes.
    pub class_generation: u32,
    /// 1 if names of classes and members are those of the language for which the document is written, so they stay
    /// unchanged; 0, the initial value, if they may be names of another language.
    pub has_own_names: u32,
}

/// The memory of a tape that is being filled. C writes to the spare capacity of its vectors; their lengths are set when
/// the tape is returned.
#[derive(Default)]
pub(crate) struct LentMemory {
    pub(crate) nodes: Vec<icecore_node>,
    pub(crate) arena: Vec<u8>,
}

const _: () = {
    assert!(size_of::<icecore_node>() == size_of::<Node>());
    assert!(align_of::<icecore_node>() == align_of::<Node>());
    assert!(size_of::<icecore_name>() == size_of::<NameEntry>());
};

/// Returns `true` if a kind with this number exists.
fn is_kind(kind: u8) -> bool {
    kind <= Kind::Copy as u8 || (Kind::Array as u8..=Kind::Tied as u8).contains(&kind)
}

/// Converts the nodes for the engine, if all kinds exist.
pub(crate) fn check_c_nodes(nodes: Vec<icecore_node>) -> Result<Vec<Node>, Error> {
    if nodes.iter().fold(false, |has_unknown, node| has_unknown | !is_kind(node.kind)) {
        return Err(usage_error("nodes of known kinds", "another one"));
    }
    let mut nodes = std::mem::ManuallyDrop::new(nodes);
    // SAFETY: both types are `repr(C)` with the same fields in the same order. The assertions above compare size and
    // alignment. Only the field `kind` has invalid values, and `is_kind` was true for each node. `nodes` is in a
    // `ManuallyDrop`, so its memory has only the new owner.
    Ok(unsafe { Vec::from_raw_parts(nodes.as_mut_ptr().cast::<Node>(), nodes.len(), nodes.capacity()) })
}

pub(crate) fn into_c_nodes(nodes: Vec<Node>) -> Vec<icecore_node> {
    let mut nodes = std::mem::ManuallyDrop::new(nodes);
    // SAFETY: both types have the same layout, see `check_c_nodes`, and each `Node` is a valid `icecore_node`.
    // `nodes` is in a `ManuallyDrop`, so its memory has only the new owner.
    unsafe { Vec::from_raw_parts(nodes.as_mut_ptr().cast::<icecore_node>(), nodes.len(), nodes.capacity()) }
}

impl LentMemory {
    /// Writes the pointers and capacities of the memory to the caller's struct.
    pub(crate) fn lend_memory(&mut self, tape: &mut icecore_tape) {
        tape.nodes = self.nodes.as_mut_ptr();
        tape.node_capacity = self.nodes.capacity();
        tape.arena = self.arena.as_mut_ptr();
        tape.arena_capacity = self.arena.capacity();
    }

    /// Sets the lengths to the amounts that the caller filled.
    ///
    /// # Safety
    /// The tape was lent by `lend_memory` and not taken back since; the caller filled the first
    /// `node_count` nodes and the first `arena_len` bytes.
    pub(crate) unsafe fn set_filled(&mut self, tape: &icecore_tape) {
        let nodes = tape.node_count.min(self.nodes.capacity());
        let bytes = tape.arena_len.min(self.arena.capacity());
        // SAFETY: the minimum is not beyond the capacity. The caller has filled at least this number of nodes, and
        // any bits are a valid `icecore_node`.
        unsafe { self.nodes.set_len(nodes) };
        // SAFETY: the minimum is not beyond the capacity, and the caller has filled at least this number of bytes.
        unsafe { self.arena.set_len(bytes) };
    }
}
