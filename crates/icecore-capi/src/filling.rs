//! Filling a tape: lending and growing the memory of a context, and assigning ids to names.

use crate::borrow_bytes;
use crate::context::icecore_context;
use crate::error::{ErrorOut, run_guarded, usage_error};
use crate::tape::{ICECORE_NONE, LentMemory, icecore_node, icecore_tape, into_c_nodes};
use icecore::{
    Error, ErrorKind, Kind,
    raw::{Location, Node},
};

/// Lends the context's memory for filling. Views, results and tapes that were lent before become invalid.
///
/// # Safety
/// `context` is null or a context that no other call uses; `tape` is null or
/// points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_begin(context: *mut icecore_context, tape: *mut icecore_tape) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let (Some(context), false) = (unsafe { context.as_mut() }, tape.is_null()) else {
            return Err(usage_error("a context and a tape", "null"));
        };
        context.document.tape_mut().clear();
        let (nodes, arena) = context.document.tape_mut().take_memory();
        if nodes.capacity() > context.filling.nodes.capacity() {
            context.filling.nodes = into_c_nodes(nodes);
        }
        if arena.capacity() > context.filling.arena.capacity() {
            context.filling.arena = arena;
        }
        if context.progress.has_begun() {
            context.progress.clear();
            context.is_taken = false;
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
            key_generation: context.document.tape().keys().generation() as u32,
            class_generation: context.document.tape().classes().generation() as u32,
            has_own_names: 0,
        };
        context.filling.lend_memory(&mut begun);
        // SAFETY: checked above: `tape` is not null, so it points to a struct.
        unsafe { tape.write(begun) };
        Ok(())
    })
}

/// Reserves space for `more` nodes.
///
/// # Safety
/// `context` is null or a context that no other call uses; `tape` is null or
/// was lent from it by `icecore_begin`, and its first `node_count` nodes and first
/// `arena_len` bytes were filled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_grow_nodes(
    context: *mut icecore_context,
    tape: *mut icecore_tape,
    more: usize,
) -> u32 {
    let reserve = |filling: &mut LentMemory, tape: &icecore_tape| {
        if tape.node_count.saturating_add(more) >= ICECORE_NONE as usize - 65_536 {
            return Err(Error::new(ErrorKind::Limit).finding("too many values"));
        }
        filling.nodes.try_reserve(more).map_err(|_| Error::no_memory())
    };
    // SAFETY: context and tape go together, and the tape was filled up to its counts.
    unsafe { grow_memory(context, tape, reserve) }
}

/// Reserves space for `more` bytes.
///
/// # Safety
/// As for `icecore_grow_nodes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_grow_arena(
    context: *mut icecore_context,
    tape: *mut icecore_tape,
    more: usize,
) -> u32 {
    // SAFETY: context and tape go together, and the tape was filled up to its counts.
    unsafe { grow_memory(context, tape, |filling, _| filling.arena.try_reserve(more).map_err(|_| Error::no_memory())) }
}

/// Takes back the memory of a tape, reserves more, and lends it again.
///
/// # Safety
/// As for `icecore_grow_nodes`.
unsafe fn grow_memory(
    context: *mut icecore_context,
    tape: *mut icecore_tape,
    reserve: impl FnOnce(&mut LentMemory, &icecore_tape) -> Result<(), Error>,
) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses, and a struct that `icecore_begin` wrote.
        let (context, tape) = unsafe { (context.as_mut(), tape.as_mut()) };
        let (Some(context), Some(tape)) = (context, tape) else {
            return Err(usage_error("a context and a tape", "null"));
        };
        // SAFETY: the tape was lent from this context, and filled up to its counts.
        unsafe { context.filling.set_filled(tape) };
        reserve(&mut context.filling, tape)?;
        context.filling.lend_memory(tape);
        Ok(())
    })
}

/// Returns the id of a key with this kind (`ICECORE_BYTES`, `ICECORE_TEXT` or `ICECORE_SYMBOL`), these flags and
/// bytes; 0 if the key needs a node of its own before its value.
///
/// # Safety
/// `context` is null or a context that no other call uses; `name` points to `len`
/// bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_key(
    context: *mut icecore_context,
    kind: u8,
    flags: u8,
    name: *const u8,
    len: usize,
) -> u16 {
    let mut id = 0;
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let Some(context) = (unsafe { context.as_mut() }) else { return Ok(()) };
        // SAFETY: `name` points to `len` bytes; the table copies them.
        let name = unsafe { borrow_bytes(name, len) };
        let kind = if kind == Kind::Symbol as u8 { Kind::Symbol } else { string_kind(kind) };
        id = context.document.tape_mut().key_id(kind, flags, name).unwrap_or(0);
        Ok(())
    });
    id
}

fn string_kind(kind: u8) -> Kind {
    if kind == Kind::Text as u8 { Kind::Text } else { Kind::Bytes }
}

/// Returns the id of a class; 0 if there are too many.
///
/// # Safety
/// As for `icecore_key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_class(context: *mut icecore_context, kind: u8, name: *const u8, len: usize) -> u32 {
    let mut id = 0;
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let Some(context) = (unsafe { context.as_mut() }) else { return Ok(()) };
        // SAFETY: `name` points to `len` bytes; the table copies them.
        let name = unsafe { borrow_bytes(name, len) };
        id = context.document.tape_mut().class_id(string_kind(kind), name)?;
        Ok(())
    });
    id
}

/// Returns the id of a class whose name is in the encoding with this id (from `icecore_encoding`); 0 if there are too
/// many.
///
/// # Safety
/// As for `icecore_key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_encoded_class(
    context: *mut icecore_context,
    encoding: u16,
    name: *const u8,
    len: usize,
) -> u32 {
    let mut id = 0;
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let Some(context) = (unsafe { context.as_mut() }) else { return Ok(()) };
        // SAFETY: `name` points to `len` bytes; the table copies them.
        let name = unsafe { borrow_bytes(name, len) };
        id = context.document.tape_mut().encoded_class_id(encoding, name)?;
        Ok(())
    });
    id
}

/// Returns the id of an encoding by its name, for bits 48 to 62 of the payload of a string, a symbol or a key; 0 if
/// there are too many.
///
/// # Safety
/// As for `icecore_key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_encoding(context: *mut icecore_context, name: *const u8, len: usize) -> u32 {
    let mut id = 0;
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let Some(context) = (unsafe { context.as_mut() }) else { return Ok(()) };
        // SAFETY: `name` points to `len` bytes; the table copies them.
        let name = unsafe { borrow_bytes(name, len) };
        id = u32::from(context.document.tape_mut().encoding_id(name)?);
        Ok(())
    });
    id
}

/// Writes the node for a string of 4 GB or more whose bytes are at `offset` of the arena that is being filled.
///
/// # Safety
/// `context` is null or a context that no other call uses; `node` is null or
/// points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_long_string(
    context: *mut icecore_context,
    kind: u8,
    offset: u64,
    len: u64,
    node: *mut icecore_node,
) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let (Some(context), false) = (unsafe { context.as_mut() }, node.is_null()) else {
            return Err(usage_error("a context and a node", "null"));
        };
        let long = context.document.tape_mut().long_string(string_kind(kind), Location::Arena(offset), len);
        // SAFETY: checked above: `node` is not null, so it points to a struct; both types have
        // the same layout, see `check_c_nodes`.
        unsafe { node.cast::<Node>().write(long) };
        Ok(())
    })
}
