//! Formats with their options and limits, parsed once.

use crate::error::{ErrorOut, icecore_error, run_guarded, usage_error};
use crate::{ICECORE_OK, borrow_bytes};
use icecore::raw::Node;
use icecore::{Codec, Document, Error, Limits, Stage};
use std::ffi::c_char;

/// A format with its options, and the limits for reading and writing it.
pub struct icecore_stage {
    /// Its limits are `limits`, lowered to `memory`.
    pub(crate) codec: Codec,
    limits: Limits,
    /// Maximum number of bytes that a call may use.
    pub(crate) memory: u64,
    /// The name of the format, ending with 0.
    name: Vec<u8>,
    /// The complete stage as it was parsed, ending with 0.
    spec: Vec<u8>,
}

pub(crate) fn require_utf8<'a>(bytes: &'a [u8], expected: &'static str) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes).map_err(|_| usage_error(expected, "bytes that are not UTF-8"))
}

fn box_stage(stage: Stage) -> *mut icecore_stage {
    let mut name = stage.format().name.as_bytes().to_vec();
    name.push(0);
    let mut spec = stage.to_string().into_bytes();
    spec.push(0);
    let codec = Codec::new(stage);
    let limits = codec.limits.clone();
    Box::into_raw(Box::new(icecore_stage { codec, limits, memory: u64::MAX, name, spec }))
}

/// Returns limits under which a document, its decompressed data and its written form take about `memory` bytes each;
/// for the document, detail multiplies its memory by `detail`. With wrappers, a document and their content share the
/// memory.
pub(crate) fn lower_limits(limits: &Limits, memory: u64, is_wrapped: bool, detail: u64) -> Limits {
    let mut lowered = limits.clone();
    let node_memory = if is_wrapped { memory / 2 } else { memory };
    // A reader remembers some of the nodes as targets of links. The 8 bytes are for that.
    let nodes = node_memory / ((size_of::<Node>() + 8) as u64 * detail);
    lowered.nodes = lowered.nodes.min(u32::try_from(nodes).unwrap_or(u32::MAX));
    lowered.decompressed = lowered.decompressed.min(memory / 2);
    lowered.output = lowered.output.min(memory);
    lowered
}

/// Returns the memory of a document.
pub(crate) fn document_memory(document: &Document<'_>) -> u64 {
    let tape = document.tape();
    (size_of_val(tape.nodes()) + tape.arena().len()) as u64
}

impl icecore_stage {
    fn apply_memory_limit(&mut self) {
        let is_wrapped = !self.codec.stage().wrappers().is_empty();
        self.codec.limits = match self.memory {
            u64::MAX => self.limits.clone(),
            memory => lower_limits(&self.limits, memory, is_wrapped, 1),
        };
    }
}

/// Parses a stage in the syntax of the command: `sereal:compress=zstd,level=3`. Free it with `icecore_stage_free`.
/// Returns null on an error.
///
/// # Safety
/// `spec` points to `len` bytes; `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_new(
    spec: *const c_char,
    len: usize,
    error: *mut icecore_error,
) -> *mut icecore_stage {
    let mut stage = std::ptr::null_mut();
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: `spec` points to `len` bytes; the slice is dropped before the call returns.
        let spec = unsafe { borrow_bytes(spec.cast(), len) };
        let spec = require_utf8(spec, "a stage, as `sereal:compress=zstd`")?;
        stage = box_stage(Stage::parse(spec)?);
        Ok(())
    });
    stage
}

/// Detects the format of a document, and returns a stage for it. Free it with `icecore_stage_free`. Returns null if no
/// format matches.
///
/// # Safety
/// `bytes` points to `len` bytes; `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_detect(bytes: *const u8, len: usize, error: *mut icecore_error) -> *mut icecore_stage {
    let mut stage = std::ptr::null_mut();
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: `bytes` points to `len` bytes; the slice is dropped before the call returns.
        stage = box_stage(icecore::detect::stage_of(unsafe { borrow_bytes(bytes, len) })?);
        Ok(())
    });
    stage
}

/// Sets a limit of a stage: `depth`, `nodes`, `string`, `decompressed`, `ratio`, `expansion`, `digits`, `output`,
/// `growth` or `loss-paths`, each as in `Limits`. A value beyond the limit's type sets the maximum.
///
/// # Safety
/// `stage` is null or a stage that no other call uses; `name` points to `len` bytes;
/// `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_limit(
    stage: *mut icecore_stage,
    name: *const c_char,
    len: usize,
    value: u64,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: a handle, see `lib.rs`; no other call uses it.
        let Some(stage) = (unsafe { stage.as_mut() }) else { return Err(usage_error("a stage", "null")) };
        // SAFETY: `name` points to `len` bytes; the slice is dropped before the call returns.
        let name = unsafe { borrow_bytes(name.cast(), len) };
        stage.limits.set(require_utf8(name, "the name of a limit")?, value)?;
        stage.apply_memory_limit();
        Ok(())
    })
}

/// Limits the memory that a call with this stage may use in addition to the input: for the values of a document, for
/// decompressed data, and for output. `UINT64_MAX`, the default, means no limit. Exceeding it is an error with the
/// detail `ICECORE_DETAIL_SIZE` or `ICECORE_DETAIL_DECOMPRESSED`. Lower limits stay.
///
/// # Safety
/// `stage` is null or a stage that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_memory(stage: *mut icecore_stage, bytes: u64) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle, see `lib.rs`; no other call uses it.
        let Some(stage) = (unsafe { stage.as_mut() }) else { return Err(usage_error("a stage", "null")) };
        if stage.memory != bytes {
            stage.memory = bytes;
            stage.apply_memory_limit();
        }
        Ok(())
    })
}

/// Returns the name of the stage's format, ending with 0; it lives as long as the stage.
///
/// # Safety
/// `stage` is null or a stage.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_format(stage: *const icecore_stage) -> *const c_char {
    // SAFETY: a handle, see `lib.rs`; the name never changes, so the pointer outlives the reference.
    unsafe { stage.as_ref() }.map_or(std::ptr::null(), |stage| stage.name.as_ptr().cast())
}

/// Returns the complete stage in its syntax, with wrappers and options: `gzip/base64/php`. It ends with 0, and lives as
/// long as the stage.
///
/// # Safety
/// `stage` is null or a stage.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_spec(stage: *const icecore_stage) -> *const c_char {
    // SAFETY: a handle, see `lib.rs`; the text never changes, so the pointer outlives the reference.
    unsafe { stage.as_ref() }.map_or(std::ptr::null(), |stage| stage.spec.as_ptr().cast())
}

/// Frees a stage, or does nothing with null.
///
/// # Safety
/// `stage` is null or a stage; the caller does not use it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_free(stage: *mut icecore_stage) {
    if !stage.is_null() {
        // SAFETY: every stage comes from `Box::into_raw` in `box_stage`, and is freed once: the
        // caller does not use it again.
        drop(unsafe { Box::from_raw(stage) });
    }
}

const _: () = assert!(ICECORE_OK == 0);
