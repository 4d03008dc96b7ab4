//! The tape: as it is read, and as it is filled.

use crate::context::{KEPT, icecore_context};
use crate::error::{guard, icecore_error, usage};
use crate::lent;
use crate::stage::icecore_stage;
use icecore::{Error, ErrorKind, Kind, Location, NameEntry, Names, Node, Part, Tape};

/// The version of the layout of nodes and views. A program that was built with
/// another header must not go on: it compares this with
/// `icecore_tape_version()`.
pub const ICECORE_TAPE_VERSION: u32 = 2;
/// No such node.
pub const ICECORE_NONE: u32 = u32::MAX;
/// For `icecore_read`: bytes behind the document are no error.
pub const ICECORE_EACH: u32 = 1;
/// Flag of `icecore_read`: what another language froze is put as perl's programs
/// would have it.
pub const ICECORE_FOR_PERL: u32 = 2;

/// Flag of `icecore_read`: text that is ASCII is put as bytes.
pub const ICECORE_ASCII_BYTES: u32 = 4;

/// The version of the layout that the library has.
#[unsafe(no_mangle)]
pub extern "C" fn icecore_tape_version() -> u32 {
    ICECORE_TAPE_VERSION
}

/// Bytes that are lent.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct icecore_bytes {
    /// The bytes.
    pub bytes: *const u8,
    /// How many there are.
    pub len: usize,
}

impl icecore_bytes {
    pub(crate) fn of(bytes: &[u8]) -> icecore_bytes {
        icecore_bytes { bytes: bytes.as_ptr(), len: bytes.len() }
    }
}

/// A node of the tape: docs/tape.md explains it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct icecore_node {
    /// Which kind of value: `ICECORE_NULL` and so on.
    pub kind: u8,
    /// Bits; what they mean depends on the kind.
    pub flags: u8,
    /// The id of its key.
    pub key: u16,
    /// A length or a count.
    pub aux: u32,
    /// A value, a place or an end.
    pub payload: u64,
}

/// The name of a key or a class.
#[repr(C)]
pub struct icecore_name {
    /// Its first 16 bytes, zero-padded.
    pub head: [u64; 2],
    /// Kind and flags; `aux` is its length, and `payload` (without the top bit)
    /// where it is in the bytes of its table.
    pub node: icecore_node,
}

/// A table of names. The name with the id `n` is `names[n - 1]`.
#[repr(C)]
pub struct icecore_names {
    /// The names.
    pub names: *const icecore_name,
    /// How many there are.
    pub count: usize,
    /// What their places refer to.
    pub bytes: *const u8,
    /// Changes when ids lose their meaning; until then they keep it, from call to
    /// call of the same context.
    pub generation: u32,
}

impl icecore_names {
    pub(crate) fn of(names: &Names) -> icecore_names {
        let (entries, bytes) = names.raw();
        icecore_names {
            names: entries.as_ptr().cast(),
            count: entries.len(),
            bytes: bytes.as_ptr(),
            generation: names.generation(),
        }
    }
}

/// A string that is too long for a node: the payload of its node is its index.
#[repr(C)]
pub struct icecore_long {
    /// Where it is.
    pub offset: u64,
    /// How many bytes it has.
    pub len: u64,
    /// Whether it is in the arena, and not in the input.
    pub in_arena: u32,
}

impl icecore_long {
    pub(crate) fn of((place, len): (Location, u64)) -> icecore_long {
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
    /// How many there are.
    pub node_count: usize,
    /// The index of the root.
    pub root: u32,
    /// The index of the user header (Sereal); `ICECORE_NONE`, if there is none.
    pub header: u32,
    /// What strings are borrowed from: the input, or what was decompressed.
    pub input: *const u8,
    /// How many bytes that has.
    pub input_len: usize,
    /// Where the other strings are.
    pub arena: *const u8,
    /// How many bytes that has.
    pub arena_len: usize,
    /// The keys.
    pub keys: icecore_names,
    /// The classes.
    pub classes: icecore_names,
    /// The encodings (Ruby).
    pub encodings: icecore_names,
    /// Strings of 4 GB and more.
    pub long_strings: *const icecore_long,
    /// How many there are.
    pub long_count: usize,
    /// How many bytes of the input the document took.
    pub consumed: usize,
    /// 1: it is known that there is nothing in it but arrays, maps, strings and
    /// numbers, which nothing refers to, and whose keys have ids without flags.
    pub is_simple: u32,
}

/// A tape that is being filled. Its memory belongs to the context.
///
/// Who fills it writes nodes at `nodes[node_count]` and strings at
/// `arena + arena_len`, counts both up, and calls `icecore_grow_nodes` or
/// `icecore_grow_arena` first where there is no room.
#[repr(C)]
pub struct icecore_tape {
    /// The nodes.
    pub nodes: *mut icecore_node,
    /// How many were filled.
    pub node_count: usize,
    /// How many there is room for.
    pub node_capacity: usize,
    /// The bytes of strings.
    pub arena: *mut u8,
    /// How many were filled.
    pub arena_len: usize,
    /// How many there is room for.
    pub arena_capacity: usize,
    /// The index of the root.
    pub root: u32,
    /// The index of the user header, or `ICECORE_NONE`.
    pub header: u32,
    /// The generation of the ids of keys.
    pub key_generation: u32,
    /// The generation of the ids of classes.
    pub class_generation: u32,
}

/// The memory of a tape that is being filled. Its vectors are empty as far as
/// Rust knows: what is in them came from C.
#[derive(Default)]
pub(crate) struct Filling {
    nodes: Vec<icecore_node>,
    arena: Vec<u8>,
}

const _: () = {
    assert!(size_of::<icecore_node>() == size_of::<Node>());
    assert!(align_of::<icecore_node>() == align_of::<Node>());
    assert!(size_of::<icecore_name>() == size_of::<NameEntry>());
};

/// Whether a node has a kind that there is.
fn is_kind(kind: u8) -> bool {
    kind <= Kind::Copy as u8 || (Kind::Array as u8..=Kind::Tied as u8).contains(&kind)
}

/// The nodes for the engine, if all have a kind that there is.
fn checked(nodes: Vec<icecore_node>) -> Result<Vec<Node>, Error> {
    if nodes.iter().fold(false, |bad, node| bad | !is_kind(node.kind)) {
        return Err(usage("nodes of known kinds", "another one"));
    }
    let mut nodes = std::mem::ManuallyDrop::new(nodes);
    // SAFETY: both have the same size and alignment, and the same fields at the
    // same places; the only field that can't hold everything was checked.
    Ok(unsafe { Vec::from_raw_parts(nodes.as_mut_ptr().cast::<Node>(), nodes.len(), nodes.capacity()) })
}

fn unchecked(nodes: Vec<Node>) -> Vec<icecore_node> {
    let mut nodes = std::mem::ManuallyDrop::new(nodes);
    // SAFETY: as above; here every value is valid.
    unsafe { Vec::from_raw_parts(nodes.as_mut_ptr().cast::<icecore_node>(), nodes.len(), nodes.capacity()) }
}

impl Filling {
    fn lend(&mut self, tape: &mut icecore_tape) {
        tape.nodes = self.nodes.as_mut_ptr();
        tape.node_capacity = self.nodes.capacity();
        tape.arena = self.arena.as_mut_ptr();
        tape.arena_capacity = self.arena.capacity();
    }

    /// Says how far the memory was filled.
    ///
    /// # Safety
    /// It was, and not beyond its capacity.
    unsafe fn filled(&mut self, tape: &icecore_tape) {
        // SAFETY: the caller promises it; the minimum guards against counts that
        // are off.
        unsafe {
            self.nodes.set_len(tape.node_count.min(self.nodes.capacity()));
            self.arena.set_len(tape.arena_len.min(self.arena.capacity()));
        }
    }
}

/// Lends the context's memory to be filled. What was lent before is gone.
///
/// # Safety
/// `context` is one; `tape` names a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_begin(context: *mut icecore_context, tape: *mut icecore_tape) -> u32 {
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let (Some(context), false) = (context.as_mut(), tape.is_null()) else {
                return Err(usage("a context and a tape", "null"));
            };
            context.document.tape_mut().clear();
            let (nodes, arena) = context.document.tape_mut().take_memory();
            if nodes.capacity() > context.filling.nodes.capacity() {
                context.filling.nodes = unchecked(nodes);
            }
            if arena.capacity() > context.filling.arena.capacity() {
                context.filling.arena = arena;
            }
            if context.parts.are_begun() {
                context.parts.clear();
            }
            context.filling.nodes.clear();
            context.filling.arena.clear();
            context.filling.nodes.reserve(256);
            context.filling.arena.reserve(4096);
            let mut begun = icecore_tape {
                nodes: std::ptr::null_mut(),
                node_count: 0,
                node_capacity: 0,
                arena: std::ptr::null_mut(),
                arena_len: 0,
                arena_capacity: 0,
                root: 0,
                header: ICECORE_NONE,
                key_generation: context.document.tape().keys().generation(),
                class_generation: context.document.tape().classes().generation(),
            };
            context.filling.lend(&mut begun);
            tape.write(begun);
            Ok(())
        })
    }
}

/// Makes room for `more` nodes.
///
/// # Safety
/// `tape` was lent from `context` and filled as far as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_grow_nodes(
    context: *mut icecore_context,
    tape: *mut icecore_tape,
    more: usize,
) -> u32 {
    // SAFETY: the caller promises what it needs.
    unsafe {
        grow(context, tape, |filling, tape| {
            if tape.node_count.saturating_add(more) >= ICECORE_NONE as usize - 65_536 {
                return Err(Error::new(ErrorKind::Limit).finding("too many values"));
            }
            filling.nodes.try_reserve(more).map_err(|_| no_memory())
        })
    }
}

/// Makes room for `more` bytes.
///
/// # Safety
/// `tape` was lent from `context` and filled as far as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_grow_arena(
    context: *mut icecore_context,
    tape: *mut icecore_tape,
    more: usize,
) -> u32 {
    // SAFETY: the caller promises what it needs.
    unsafe { grow(context, tape, |filling, _| filling.arena.try_reserve(more).map_err(|_| no_memory())) }
}

/// Takes the memory of a tape, has more reserved, and lends it again.
///
/// # Safety
/// `tape` was lent from `context` and filled as far as it says.
unsafe fn grow(
    context: *mut icecore_context,
    tape: *mut icecore_tape,
    reserve: impl FnOnce(&mut Filling, &icecore_tape) -> Result<(), Error>,
) -> u32 {
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let (Some(context), Some(tape)) = (context.as_mut(), tape.as_mut()) else {
                return Err(usage("a context and a tape", "null"));
            };
            context.filling.filled(tape);
            reserve(&mut context.filling, tape)?;
            context.filling.lend(tape);
            Ok(())
        })
    }
}

#[cold]
fn no_memory() -> Error {
    Error::new(ErrorKind::Limit).finding("not enough memory")
}

/// The id of a key: a kind (`ICECORE_BYTES` or `ICECORE_TEXT`), flags and bytes.
/// 0: it needs a node of its own before its value.
///
/// # Safety
/// `context` is one; `name` names `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_key(
    context: *mut icecore_context,
    kind: u8,
    flags: u8,
    name: *const u8,
    len: usize,
) -> u16 {
    let mut id = 0;
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let Some(context) = context.as_mut() else { return Ok(()) };
            id = context.document.tape_mut().key_id(string_kind(kind), flags, lent(name, len)).unwrap_or(0);
            Ok(())
        });
    }
    id
}

fn string_kind(kind: u8) -> Kind {
    if kind == Kind::Text as u8 { Kind::Text } else { Kind::Bytes }
}

/// The id of a class; 0, if there are too many.
///
/// # Safety
/// `context` is one; `name` names `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_class(context: *mut icecore_context, kind: u8, name: *const u8, len: usize) -> u32 {
    let mut id = 0;
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let Some(context) = context.as_mut() else { return Ok(()) };
            id = context.document.tape_mut().class_id(string_kind(kind), lent(name, len))?;
            Ok(())
        });
    }
    id
}

/// The node for a string of 4 GB or more whose bytes stand at `offset` of the
/// arena that is being filled.
///
/// # Safety
/// `context` is one; `node` names a node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_long_string(
    context: *mut icecore_context,
    kind: u8,
    offset: u64,
    len: u64,
    node: *mut icecore_node,
) -> u32 {
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let (Some(context), false) = (context.as_mut(), node.is_null()) else {
                return Err(usage("a context and a node", "null"));
            };
            node.cast::<Node>().write(context.document.tape_mut().long_string(
                string_kind(kind),
                Location::Arena(offset),
                len,
            ));
            Ok(())
        })
    }
}

/// Writes the tape that was filled, if its containers end within each other. The bytes are lent until the context is used
/// again.
///
/// What the format could not say is counted: `losses`, if it is not null, gets
/// how many kinds of losses there were, and `icecore_loss` says which.
///
/// # Safety
/// `tape` was lent from `context` and filled as far as it says; `stage` is one;
/// `out` names a struct; `losses` and `error` are null or name such.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_write(
    context: *mut icecore_context,
    stage: *const icecore_stage,
    tape: *const icecore_tape,
    out: *mut icecore_bytes,
    losses: *mut usize,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(error, || {
            let (Some(context), Some(stage), Some(tape), false) =
                (context.as_mut(), stage.as_ref(), tape.as_ref(), out.is_null())
            else {
                return Err(usage("a context, a stage, a tape and a place for the result", "null"));
            };
            if context.parts.are_begun() {
                if !context.write_part(stage, tape)? {
                    return Err(usage("parts of a document that have nothing special about them", "another one"));
                }
                if let Some(losses) = losses.as_mut() {
                    *losses = 0;
                }
                out.write(icecore_bytes::of(&context.out.bytes));
                return Ok(());
            }
            context.fill(tape)?;
            context.empty_out();
            let written = stage.codec.write(&context.document, &mut context.out);
            give_back(context.document.tape_mut(), &mut context.filling);
            let lost = written?;
            context.losses.clear();
            if let Some(losses) = losses.as_mut() {
                context.losses.extend(lost.iter().map(ToString::to_string));
                *losses = context.losses.len();
            }
            out.write(icecore_bytes::of(&context.out.bytes));
            Ok(())
        })
    }
}

impl icecore_context {
    /// Makes what was filled the context's document.
    ///
    /// # Safety
    /// The tape was lent from it and filled as far as it says.
    pub(crate) unsafe fn fill(&mut self, tape: &icecore_tape) -> Result<(), Error> {
        // SAFETY: the caller promises it.
        unsafe { self.filling.filled(tape) };
        let nodes = checked(std::mem::take(&mut self.filling.nodes))?;
        let arena = std::mem::take(&mut self.filling.arena);
        let header = Some(tape.header).filter(|header| *header != ICECORE_NONE);
        self.document.tape_mut().fill(nodes, arena, tape.root, header);
        Ok(())
    }

    pub(crate) fn empty_out(&mut self) {
        if self.out.bytes.capacity() > KEPT {
            self.out.bytes = Vec::new();
        }
        self.out.bytes.clear();
        self.out.ends.clear();
    }

    /// Writes what was filled as the next part. Says no, if that can't be done; the
    /// memory keeps what was filled.
    ///
    /// # Safety
    /// As for `fill`.
    unsafe fn write_part(&mut self, stage: &icecore_stage, tape: &icecore_tape) -> Result<bool, Error> {
        // SAFETY: the caller promises it.
        unsafe { self.fill(tape)? };
        if !self.parts.are_begun() {
            self.empty_out();
        }
        let written = stage.codec.write_part(&self.document, Part::Nodes(&mut self.parts), &mut self.out);
        // All of it, whatever its size: the caller may go on filling it.
        let (nodes, arena) = self.document.tape_mut().take_memory();
        self.filling = Filling { nodes: unchecked(nodes), arena };
        Ok(written.is_some())
    }
}

/// Writes what was filled so far as the next part of a document, and empties the
/// tape: so that a large document takes no more memory than its bytes. Containers
/// must have their count; where they end is not looked at. `icecore_write` writes
/// the last part.
///
/// Not every format and document can be written like this: then it returns
/// `ICECORE_UNSUPPORTED`. If it was the first part, nothing has happened, and the
/// tape can be filled on as a whole; otherwise `icecore_begin` begins anew.
///
/// # Safety
/// `tape` was lent from `context` and filled as far as it says; `stage` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_write_part(
    context: *mut icecore_context,
    stage: *const icecore_stage,
    tape: *mut icecore_tape,
) -> u32 {
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let (Some(context), Some(stage), Some(tape)) = (context.as_mut(), stage.as_ref(), tape.as_mut()) else {
                return Err(usage("a context, a stage and a tape", "null"));
            };
            if !context.write_part(stage, tape)? {
                return Err(Error::new(ErrorKind::Unsupported).finding("what can't be written in parts"));
            }
            tape.node_count = 0;
            tape.arena_len = 0;
            tape.root = 0;
            context.filling.lend(tape);
            Ok(())
        })
    }
}

/// Takes the memory of a tape back, unless it is too much to be kept.
pub(crate) fn give_back(tape: &mut Tape, filling: &mut Filling) {
    let (nodes, arena) = tape.take_memory();
    if nodes.capacity() <= KEPT / size_of::<Node>() {
        filling.nodes = unchecked(nodes);
    }
    if arena.capacity() <= KEPT {
        filling.arena = arena;
    }
}

/// What the last `icecore_write` could not say, as `2 class names dropped, first
/// at $[0]`. Lent until the context is used again.
///
/// # Safety
/// `context` is one; `out` names a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_loss(context: *const icecore_context, index: usize, out: *mut icecore_bytes) -> u32 {
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let loss = context.as_ref().and_then(|context| context.losses.get(index));
            match loss {
                Some(loss) if !out.is_null() => {
                    out.write(icecore_bytes::of(loss.as_bytes()));
                    Ok(())
                }
                _ => Err(usage("the index of a loss", "another one")),
            }
        })
    }
}

/// Where, of several values that `icecore_write` wrote as texts of their own, the one
/// with this index ends (`dumper:list`). The length of all, if there is none.
///
/// # Safety
/// `context` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_value_end(context: *const icecore_context, index: usize) -> usize {
    // SAFETY: the caller promises it.
    unsafe { context.as_ref() }
        .map_or(0, |context| context.out.ends.get(index).copied().unwrap_or(context.out.bytes.len()))
}

/// A view of the tape that was filled, for who copies a value without writing
/// it. Both are lent until the context is used again.
///
/// # Safety
/// `tape` was lent from `context` and filled as far as it says; `view` names a
/// struct; `error` is null or names one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_view_tape(
    context: *mut icecore_context,
    tape: *const icecore_tape,
    view: *mut icecore_view,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(error, || {
            let (Some(context), Some(tape), false) = (context.as_mut(), tape.as_ref(), view.is_null()) else {
                return Err(usage("a context, a tape and a view", "null"));
            };
            view.write(icecore_view {
                nodes: tape.nodes,
                node_count: tape.node_count,
                root: tape.root,
                header: tape.header,
                arena: tape.arena,
                arena_len: tape.arena_len,
                ..context.view(icecore_bytes { bytes: std::ptr::null(), len: 0 }, 0)
            });
            Ok(())
        })
    }
}
