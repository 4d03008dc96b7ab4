//! Writing a tape that a caller filled: as a whole or in parts, with its losses.

use crate::context::{MAX_KEPT_BYTES, icecore_context};
use crate::error::{ErrorOut, icecore_error, run_guarded, usage_error};
use crate::losses::{KeptLoss, icecore_loss_part};
use crate::stage::icecore_stage;
use crate::tape::{ICECORE_NONE, LentMemory, check_c_nodes, icecore_bytes, icecore_tape, icecore_view, into_c_nodes};
use icecore::{
    Error, ErrorKind,
    raw::{DocumentPart, Node, Tape},
};

/// Writes the filled tape; containers that are not nested are an error. The bytes are lent until the context is used
/// again.
///
/// Losses are counted: `losses`, if it is not null, gets the number of kinds, and `icecore_loss` describes each.
///
/// # Safety
/// `context` is null or a context that no other call uses; `tape` is null or
/// was lent from it by `icecore_begin`, and its first `node_count` nodes and first
/// `arena_len` bytes were filled; `stage` is null or a stage; `out`, `losses` and
/// `error` are null or point to structs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_write(
    context: *mut icecore_context,
    stage: *const icecore_stage,
    tape: *const icecore_tape,
    out: *mut icecore_bytes,
    losses: *mut usize,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: handles, see `lib.rs`, and a struct that `icecore_begin` wrote.
        let (context, stage, tape) = unsafe { (context.as_mut(), stage.as_ref(), tape.as_ref()) };
        let (Some(context), Some(stage), Some(tape), false) = (context, stage, tape, out.is_null()) else {
            return Err(usage_error("a context, a stage, a tape and a place for the result", "null"));
        };
        let write_result = |loss_count: usize, bytes: &[u8]| {
            if !losses.is_null() {
                // SAFETY: not null, so it points to a number.
                unsafe { losses.write(loss_count) };
            }
            // SAFETY: checked above: `out` is not null, so it points to a struct.
            unsafe { out.write(icecore_bytes::from_slice(bytes)) };
        };
        if context.progress.has_begun() {
            // SAFETY: `tape` was lent from `context`, and filled up to its counts.
            if !unsafe { context.write_part(stage, tape)? } {
                return Err(usage_error("parts of a document that have nothing special about them", "another one"));
            }
            write_result(0, &context.out.bytes);
            return Ok(());
        }
        // SAFETY: `tape` was lent from `context`, and filled up to its counts.
        unsafe { context.fill_document(Some(stage), tape)? };
        context.clear_output();
        if stage.codec.write_filled(&context.document, &mut context.out.spare, &mut context.out.bytes) {
            reclaim_memory(context.document.tape_mut(), &mut context.filling);
            context.losses.clear();
            write_result(0, &context.out.bytes);
            return Ok(());
        }
        let written = stage.codec.write(&context.document, &mut context.out);
        reclaim_memory(context.document.tape_mut(), &mut context.filling);
        let reported = written?;
        context.losses.clear();
        if !losses.is_null() {
            context.losses.extend(KeptLoss::keep_all(&reported));
        }
        write_result(context.losses.len(), &context.out.bytes);
        Ok(())
    })
}

impl icecore_context {
    /// Makes the filled tape the context's document.
    ///
    /// # Safety
    /// The tape was lent from this context by `icecore_begin`, and its first `node_count`
    /// nodes and first `arena_len` bytes were filled.
    pub(crate) unsafe fn fill_document(
        &mut self,
        stage: Option<&icecore_stage>,
        tape: &icecore_tape,
    ) -> Result<(), Error> {
        // SAFETY: lent from this context, and filled up to its counts.
        unsafe { self.filling.set_filled(tape) };
        let nodes = check_c_nodes(std::mem::take(&mut self.filling.nodes))?;
        let arena = std::mem::take(&mut self.filling.arena);
        let header = Some(tape.header).filter(|header| *header != ICECORE_NONE);
        self.document.tape_mut().fill(nodes, arena, tape.root, header);
        if let (Some(stage), 1..) = (stage, tape.has_own_names) {
            stage.codec.stage().format().named(self.document.tape_mut());
        }
        Ok(())
    }

    pub(crate) fn clear_output(&mut self) {
        if self.out.bytes.capacity() > MAX_KEPT_BYTES {
            self.out.bytes = Vec::new();
        }
        self.out.bytes.clear();
        self.out.ends.clear();
    }

    /// Writes the filled tape as the next part. Returns `false` if the format can't write this part; then the memory
    /// keeps its content.
    ///
    /// # Safety
    /// As for `fill_document`.
    unsafe fn write_part(&mut self, stage: &icecore_stage, tape: &icecore_tape) -> Result<bool, Error> {
        // SAFETY: lent from this context, and filled up to its counts.
        unsafe { self.fill_document(Some(stage), tape)? };
        if !self.progress.has_begun() || self.is_taken {
            self.clear_output();
        }
        self.is_taken = false;
        let written = stage.codec.write_part(&self.document, DocumentPart::Nodes(&mut self.progress), &mut self.out);
        // The caller may continue to fill the tape, so it gets the memory back, even if there is much of it.
        let (nodes, arena) = self.document.tape_mut().take_memory();
        self.filling = LentMemory { nodes: into_c_nodes(nodes), arena };
        Ok(written.is_some())
    }
}

/// Writes the filled nodes as the next part of a document, and empties the tape, so that a large document needs no more
/// memory than its bytes. Containers need their count; their end is ignored. `icecore_write` writes the last part.
///
/// Not every format and document can be written in parts: then the call returns
/// `ICECORE_UNSUPPORTED`. If that was the first part, the tape is unchanged, and the
/// caller continues to fill it; otherwise `icecore_begin` starts again.
///
/// # Safety
/// As for `icecore_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_write_part(
    context: *mut icecore_context,
    stage: *const icecore_stage,
    tape: *mut icecore_tape,
) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: handles, see `lib.rs`, and a struct that `icecore_begin` wrote.
        let (context, stage, tape) = unsafe { (context.as_mut(), stage.as_ref(), tape.as_mut()) };
        let (Some(context), Some(stage), Some(tape)) = (context, stage, tape) else {
            return Err(usage_error("a context, a stage and a tape", "null"));
        };
        // SAFETY: `tape` was lent from `context`, and filled up to its counts.
        if !unsafe { context.write_part(stage, tape)? } {
            return Err(Error::new(ErrorKind::Unsupported).finding("what can't be written in parts"));
        }
        tape.node_count = 0;
        tape.arena_len = 0;
        tape.root = 0;
        context.filling.lend_memory(tape);
        Ok(())
    })
}

/// Takes the output of `icecore_write_part` so far, so that the engine collects no more than a part; `icecore_write`
/// then returns only the output after it. The bytes are lent until the context is used again.
///
/// If a format may still change its output, the call returns `ICECORE_UNSUPPORTED`, and `icecore_write` returns all of
/// it.
///
/// # Safety
/// `context` is null or a context that no other call uses; `out` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_take_part(context: *mut icecore_context, out: *mut icecore_bytes) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let (Some(context), false) = (unsafe { context.as_mut() }, out.is_null()) else {
            return Err(usage_error("a context and a place for the result", "null"));
        };
        if !context.progress.is_final() || context.is_taken {
            return Err(Error::new(ErrorKind::Unsupported).finding("no part that may be taken away"));
        }
        context.is_taken = true;
        // SAFETY: checked above: `out` is not null, so it points to a struct.
        unsafe { out.write(icecore_bytes::from_slice(&context.out.bytes)) };
        Ok(())
    })
}

/// Takes back the memory of a tape for the next one. Memory beyond `MAX_KEPT_BYTES` is freed.
pub(crate) fn reclaim_memory(tape: &mut Tape, filling: &mut LentMemory) {
    let (nodes, arena) = tape.take_memory();
    if nodes.capacity() <= MAX_KEPT_BYTES / size_of::<Node>() {
        filling.nodes = into_c_nodes(nodes);
    }
    if arena.capacity() <= MAX_KEPT_BYTES {
        filling.arena = arena;
    }
}

/// Describes a loss of the last `icecore_write` or `icecore_convert_with_losses`, such as
/// `2 class names dropped, first at $[0]`. Lent until the context is used again.
///
/// # Safety
/// `context` is null or a context that no other call uses; `out` is null or
/// points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_loss(context: *const icecore_context, index: usize, out: *mut icecore_bytes) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let kept = unsafe { context.as_ref() }.and_then(|context| context.losses.get(index));
        match kept {
            Some(kept) if !out.is_null() => {
                // SAFETY: not null, so it points to a struct.
                unsafe { out.write(icecore_bytes::from_slice(kept.text.as_bytes())) };
                Ok(())
            }
            _ => Err(usage_error("the index of a loss", "another one")),
        }
    })
}

/// Like `icecore_loss`, with the kind, the number and the path.
///
/// # Safety
/// As for `icecore_loss`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_loss_parts(
    context: *const icecore_context,
    index: usize,
    out: *mut icecore_loss_part,
) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let kept = unsafe { context.as_ref() }.and_then(|context| context.losses.get(index));
        match kept {
            Some(kept) if !out.is_null() => {
                let parts = icecore_loss_part {
                    kind: icecore_bytes::from_slice(kept.loss.kind.as_str().as_bytes()),
                    path: icecore_bytes::from_slice(kept.loss.path.as_bytes()),
                    text: icecore_bytes::from_slice(kept.text.as_bytes()),
                    count: kept.loss.count,
                };
                // SAFETY: not null, so it points to a struct.
                unsafe { out.write(parts) };
                Ok(())
            }
            _ => Err(usage_error("the index of a loss", "another one")),
        }
    })
}

/// Returns the end of a value among several that `icecore_write` wrote as separate texts (`dumper:list`). Returns the
/// length of the result if there is no value with this index.
///
/// # Safety
/// `context` is null or a context that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_value_end(context: *const icecore_context, index: usize) -> usize {
    // SAFETY: a handle that no other call uses.
    unsafe { context.as_ref() }
        .map_or(0, |context| context.out.ends.get(index).copied().unwrap_or(context.out.bytes.len()))
}

/// Returns a view of the filled tape, for callers that copy a value without writing it. Both are lent until the context
/// is used again.
///
/// # Safety
/// `context` is null or a context that no other call uses; `tape` is null or
/// was lent from it by `icecore_begin`; `view` and `error` are null or point to structs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_view_tape(
    context: *mut icecore_context,
    tape: *const icecore_tape,
    view: *mut icecore_view,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: a handle that no other call uses, and a struct that `icecore_begin` wrote.
        let (context, tape) = unsafe { (context.as_mut(), tape.as_ref()) };
        let (Some(context), Some(tape), false) = (context, tape, view.is_null()) else {
            return Err(usage_error("a context, a tape and a view", "null"));
        };
        let filled = icecore_view {
            nodes: tape.nodes,
            node_count: tape.node_count,
            root: tape.root,
            header: tape.header,
            arena: tape.arena,
            arena_len: tape.arena_len,
            ..context.make_view(icecore_bytes { bytes: std::ptr::null(), len: 0 }, 0)
        };
        // SAFETY: checked above: `view` is not null, so it points to a struct.
        unsafe { view.write(filled) };
        Ok(())
    })
}
