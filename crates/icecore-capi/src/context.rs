//! Reusable contexts, and reading with them.

use crate::borrow_bytes;
use crate::error::{ErrorOut, icecore_error, run_guarded, usage_error, write_text, zero_chars};
use crate::losses::KeptLoss;
use crate::stage::icecore_stage;
use crate::tape::{
    ICECORE_ASCII_BYTES, ICECORE_EACH, ICECORE_FOR_PERL, ICECORE_PARTIAL, LentMemory, icecore_bytes, icecore_long,
    icecore_names, icecore_node, icecore_view,
};
use icecore::{
    Cursor, Document, Error, Kind, Output,
    raw::{Node, PartProgress, Spare},
};
use std::ffi::c_char;

/// Data that is kept between calls: memory, and the names of keys and classes.
///
/// A context serves one call at a time. A host that may be called again during a call
/// (by a hook, for example) needs several.
#[derive(Default)]
pub struct icecore_context {
    /// Its tape is reused for each document.
    pub(crate) document: Document<'static>,
    /// The decompressed data of the last document.
    pub(crate) body: Vec<u8>,
    pub(crate) long: Vec<icecore_long>,
    pub(crate) filling: LentMemory,
    pub(crate) out: OutputBuffer,
    pub(crate) losses: Vec<KeptLoss>,
    /// The state of a document that is written in parts.
    pub(crate) progress: PartProgress,
    /// Whether the caller has taken the content of `out`.
    pub(crate) is_taken: bool,
}

impl icecore_context {
    fn trim_memory(&mut self, kept: usize) {
        let tape = self.document.tape();
        if tape.nodes().len() > kept / size_of::<icecore_node>() || tape.arena().len() > kept {
            drop(self.document.tape_mut().take_memory());
        }
        if self.body.len() > kept {
            self.body = Vec::new();
        }
        if self.out.bytes.len() > kept {
            self.out.bytes = Vec::new();
        }
    }

    /// Returns a view of the tape, whose strings are borrowed from the input.
    pub(crate) fn make_view(&mut self, input: icecore_bytes, consumed: usize) -> icecore_view {
        let tape = self.document.tape();
        self.long.clear();
        self.long.extend(tape.long_strings().map(icecore_long::from_location));
        icecore_view {
            nodes: tape.nodes().as_ptr().cast::<icecore_node>(),
            node_count: tape.nodes().len(),
            root: tape.root(),
            header: tape.header().unwrap_or(crate::ICECORE_NONE),
            input: input.bytes,
            input_len: input.len,
            arena: tape.arena().as_ptr(),
            arena_len: tape.arena().len(),
            keys: icecore_names::from_names(tape.keys()),
            classes: icecore_names::from_names(tape.classes()),
            encodings: icecore_names::from_names(tape.encodings()),
            long_strings: self.long.as_ptr(),
            long_count: self.long.len(),
            consumed,
            is_simple: 0,
        }
    }
}

/// The destination of writers.
#[derive(Default)]
pub(crate) struct OutputBuffer {
    pub(crate) bytes: Vec<u8>,
    /// The end of each of several values.
    pub(crate) ends: Vec<usize>,
    pub(crate) spare: Spare,
}

impl Output for OutputBuffer {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    fn end_value(&mut self) {
        self.ends.push(self.bytes.len());
    }

    fn take_spare(&mut self) -> Spare {
        std::mem::take(&mut self.spare)
    }

    fn return_spare(&mut self, spare: Spare) {
        self.spare = spare;
    }
}

/// Maximum number of bytes of each kind of memory that a context keeps for the next call.
pub(crate) const MAX_KEPT_BYTES: usize = 16 << 20;

/// Creates a context, which must be freed with `icecore_context_free`.
#[unsafe(no_mangle)]
pub extern "C" fn icecore_context_new() -> *mut icecore_context {
    Box::into_raw(Box::default())
}

/// Frees a context and everything lent from it, or does nothing with null.
///
/// # Safety
/// `context` is null or a context; the caller does not use it, or what was lent from
/// it, again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_context_free(context: *mut icecore_context) {
    if !context.is_null() {
        // SAFETY: every context comes from `Box::into_raw` in `icecore_context_new`, and is
        // freed once: the caller does not use it again.
        drop(unsafe { Box::from_raw(context) });
    }
}

/// Frees the memory of a large document beyond what a context keeps. Views and results that were lent before become
/// invalid. The call is cheap if there is nothing to free.
///
/// # Safety
/// `context` is null or a context that no other call uses; what
/// was lent from it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_context_trim(context: *mut icecore_context) {
    // SAFETY: a handle that no other call uses.
    let Some(context) = (unsafe { context.as_mut() }) else { return };
    context.trim_memory(MAX_KEPT_BYTES);
}

/// Like `icecore_context_trim`, with another limit: at most `bytes` of each kind of memory are kept.
///
/// # Safety
/// As for `icecore_context_trim`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_context_trim_to(context: *mut icecore_context, bytes: usize) {
    // SAFETY: a handle that no other call uses.
    let Some(context) = (unsafe { context.as_mut() }) else { return };
    context.trim_memory(bytes);
    if context.filling.nodes.capacity() > bytes / size_of::<icecore_node>() {
        context.filling.nodes = Vec::new();
    }
    if context.filling.arena.capacity() > bytes {
        context.filling.arena = Vec::new();
    }
}

/// Returns the number of bytes that a context uses: nodes, strings, decompressed and written data.
///
/// # Safety
/// `context` is null or a context that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_context_memory(context: *const icecore_context) -> usize {
    // SAFETY: a handle that no other call uses.
    let Some(context) = (unsafe { context.as_ref() }) else { return 0 };
    let tape = context.document.tape();
    let filled = size_of_val(tape.nodes()) + tape.arena().len();
    let lent = context.filling.nodes.capacity() * size_of::<icecore_node>() + context.filling.arena.capacity();
    filled + lent + context.body.len() + context.out.bytes.len()
}

/// Reads a document and fills a view of its tape. The view is lent until the context is used again; the input must stay
/// valid as long, because strings are borrowed from it.
///
/// # Safety
/// `context` is null or a context that no other call uses; `stage` is null or a
/// stage; `bytes` points to `len` bytes that stay as they are as long as the view is used;
/// `view` and `error` are null or point to structs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_read(
    context: *mut icecore_context,
    stage: *const icecore_stage,
    bytes: *const u8,
    len: usize,
    flags: u32,
    view: *mut icecore_view,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: handles, see `lib.rs`: no other call uses the context, the stage is only read.
        let (context, stage) = unsafe { (context.as_mut(), stage.as_ref()) };
        let (Some(context), Some(stage), false) = (context, stage, view.is_null()) else {
            return Err(usage_error("a context, a stage and a view", "null"));
        };
        // SAFETY: `bytes` points to `len` bytes, which don't change as long as the view is used.
        let mut input = unsafe { borrow_bytes(bytes, len) };
        let codec = &stage.codec;
        let filled = codec.read(input, context.document.tape_mut());
        if let Some(error) = filled.error {
            if flags & ICECORE_PARTIAL != 0 {
                if let Some(body) = filled.body {
                    context.body = body;
                    input = &context.body;
                }
                let input = icecore_bytes::from_slice(input);
                let partial_view = context.make_view(input, filled.consumed);
                // SAFETY: checked above: `view` is not null, so it points to a struct.
                unsafe { view.write(partial_view) };
            }
            return Err(codec.stage().format().explain(error));
        }
        if filled.consumed < len && flags & ICECORE_EACH == 0 {
            return Err(codec.stage().format().explain(Error::trailing(input, filled.consumed)));
        }
        if let Some(body) = filled.body {
            context.body = body;
            input = &context.body;
        }
        // Several nodes may refer to one string of the input. A host copies the string for each of them, so the total
        // size of all copies is limited.
        let format = codec.stage().format();
        if format.can.names_strings_again && !filled.is_simple {
            let checked = context.document.tape().check_strings(&codec.limits, input.len());
            checked.map_err(|error| format.explain(error))?;
        }
        // `to_perl` changes only nodes of other kinds, so a document without them stays as it is.
        let is_plain = |node: &Node| node.kind <= Kind::Text || matches!(node.kind, Kind::Array | Kind::Map);
        if flags & ICECORE_FOR_PERL != 0 && (!format.can.like_perl || !context.document.nodes().iter().all(is_plain)) {
            context.document.tape_mut().to_perl(input, &codec.limits)?;
        }
        if flags & ICECORE_ASCII_BYTES != 0 {
            context.document.tape_mut().ascii_to_bytes(input);
        }
        let input = icecore_bytes::from_slice(input);
        let filled_view =
            icecore_view { is_simple: u32::from(filled.is_simple), ..context.make_view(input, filled.consumed) };
        // SAFETY: checked above: `view` is not null, so it points to a struct.
        unsafe { view.write(filled_view) };
        Ok(())
    })
}

/// Returns the length of the path of a node of the document that was read last, such as `$.staff[3].name`; copies as
/// much of it to `path` as fits, ending with 0.
///
/// # Safety
/// `context` is null or a context that no other call uses; `input` names the
/// `len` bytes that its last view points to; `path` is null or points to `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_path(
    context: *mut icecore_context,
    input: *const u8,
    len: usize,
    node: u32,
    path: *mut c_char,
    capacity: usize,
) -> usize {
    let mut length = 0;
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let Some(context) = (unsafe { context.as_mut() }) else { return Ok(()) };
        // SAFETY: `input` points to `len` bytes; the document is dropped before the call returns.
        let input = unsafe { borrow_bytes(input, len) };
        let tape = std::mem::take(context.document.tape_mut());
        let document = Document::from_tape(input, tape);
        let text = document.at(node).as_ref().map(Cursor::path).unwrap_or_default();
        *context.document.tape_mut() = document.into_tape();
        length = text.len();
        if !path.is_null() && capacity > 0 {
            // SAFETY: not null, so it points to `capacity` bytes that may be written.
            write_text(&text, unsafe { zero_chars(path, capacity) });
        }
        Ok(())
    });
    length
}
