//! Conversion in one call.

use crate::borrow_bytes;
use crate::context::icecore_context;
use crate::error::{ErrorOut, icecore_error, run_guarded, usage_error};
use crate::losses::KeptLoss;
use crate::stage::{document_memory, icecore_stage, lower_limits, require_utf8};
use icecore::{Error, Limits, Losses, Request, Stage, read_as, read_with};
use std::ffi::{CStr, c_char};
use std::ptr::null_mut;

/// Bytes that the library allocated, to be freed with `icecore_buffer_free`.
#[repr(C)]
pub struct icecore_buffer {
    /// The bytes.
    pub bytes: *mut u8,
    /// Number of bytes.
    pub len: usize,
    /// Number of allocated bytes.
    pub capacity: usize,
}

/// Converts a document from one stage to another, like `icecore convert`: for example from `storable` to `json`. If
/// `from` is null or empty, the format is detected. If both formats are the same, the original byte forms are kept.
///
/// `out` is written only if the result is ICECORE_OK.
///
/// # Safety
/// `bytes` points to `len` bytes; `from` and `to` are null or texts that end with 0; `out`
/// and `error` are null or point to structs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_convert(
    bytes: *const u8,
    len: usize,
    from: *const c_char,
    to: *const c_char,
    out: *mut icecore_buffer,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: what the caller guarantees is the same.
    unsafe { icecore_convert_within(null_mut(), bytes, len, from, to, u64::MAX, out, null_mut(), error) }
}

/// Like `icecore_convert`, with about `memory` bytes in addition to the input. Exceeding it is an error with the detail
/// `ICECORE_DETAIL_SIZE` or `ICECORE_DETAIL_DECOMPRESSED`. The context keeps the losses, unless it is null:
/// `loss_count` gets the number of kinds, and `icecore_loss_parts` describes each.
///
/// # Safety
/// As for `icecore_convert`; `context` is null or a context that no other call uses, and `loss_count` is null or
/// points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_convert_within(
    context: *mut icecore_context,
    bytes: *const u8,
    len: usize,
    from: *const c_char,
    to: *const c_char,
    memory: u64,
    out: *mut icecore_buffer,
    loss_count: *mut usize,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        if out.is_null() || to.is_null() {
            return Err(usage_error("a stage to convert to, and a buffer", "null"));
        }
        // SAFETY: `bytes` points to `len` bytes; the slice is dropped before the call returns.
        let input = unsafe { borrow_bytes(bytes, len) };
        let from = match from.is_null() {
            true => "",
            // SAFETY: not null, so it points to a text that ends with 0.
            false => require_utf8(unsafe { CStr::from_ptr(from) }.to_bytes(), "a stage")?,
        };
        // SAFETY: checked above: not null, so it points to a text that ends with 0.
        let to = require_utf8(unsafe { CStr::from_ptr(to) }.to_bytes(), "a stage")?;
        let from = if from.is_empty() { icecore::detect::stage_of(input)? } else { Stage::parse(from)? };
        let (converted, losses) = convert_within(input, &from, &Stage::parse(to)?, memory)?;
        // SAFETY: checked above: `out` is not null, so it points to a struct.
        unsafe { out.write(icecore_buffer::from_vec(converted)) };
        // SAFETY: what the caller guarantees is the same.
        unsafe { keep_losses(context, &losses, loss_count) };
        Ok(())
    })
}

/// Lets the context keep the losses, and writes their number. Does nothing with what is null.
///
/// # Safety
/// `context` is null or a context that no other call uses; `loss_count` is null or points to a number.
unsafe fn keep_losses(context: *mut icecore_context, losses: &Losses, loss_count: *mut usize) {
    // SAFETY: a handle that no other call uses.
    let Some(context) = (unsafe { context.as_mut() }) else { return };
    context.losses.clear();
    context.losses.extend(KeptLoss::keep_all(losses));
    if !loss_count.is_null() {
        // SAFETY: not null, so it points to a number.
        unsafe { loss_count.write(context.losses.len()) };
    }
}

fn convert_within(input: &[u8], from: &Stage, to: &Stage, memory: u64) -> Result<(Vec<u8>, Losses), Error> {
    /// Spelling and spans take more than the values themselves.
    const DETAIL: u64 = 8;
    let keeps_spelling = std::ptr::eq(from.format(), to.format());
    let factor = if keeps_spelling { DETAIL } else { 1 };
    let limits = lower_limits(&Limits::default(), memory, !from.wrappers().is_empty(), factor);
    let mut request = Request::new(&limits);
    request.detail = keeps_spelling;
    let document = read_with(input, from, request)?;
    let rest = memory.saturating_sub(document_memory(&document).saturating_mul(factor));
    // A wrapper is written around a copy of the content, so each of the two gets half of the memory.
    let rest = if to.wrappers().is_empty() { rest } else { rest / 2 };
    let mut converted = Vec::new();
    let losses = icecore::write_to(&document, to, &lower_limits(&Limits::default(), rest, false, 1), &mut converted)?;
    Ok((converted, losses))
}

/// Converts a document from one stage to another, within the limits of each. Original byte forms are not kept.
///
/// `out` is written only if the result is ICECORE_OK.
///
/// # Safety
/// `from` and `to` are null or stages; `bytes` points to `len` bytes; `out` and `error` are
/// null or point to structs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_convert_stages(
    from: *const icecore_stage,
    bytes: *const u8,
    len: usize,
    to: *const icecore_stage,
    out: *mut icecore_buffer,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: what the caller guarantees is the same.
        unsafe { convert_stages(from, bytes, len, to, out) }.map(drop)
    })
}

/// Like `icecore_convert_stages`. The context keeps the losses: `loss_count` gets the number of kinds, and
/// `icecore_loss_parts` describes each.
///
/// `out` and `loss_count` are written only if the result is ICECORE_OK.
///
/// # Safety
/// As for `icecore_convert_stages`; `context` is null or a context that no other call uses, and `loss_count` is
/// null or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_convert_with_losses(
    context: *mut icecore_context,
    from: *const icecore_stage,
    bytes: *const u8,
    len: usize,
    to: *const icecore_stage,
    out: *mut icecore_buffer,
    loss_count: *mut usize,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        if context.is_null() || loss_count.is_null() {
            return Err(usage_error("a context, and a number", "null"));
        }
        // SAFETY: what the caller guarantees is the same.
        let losses = unsafe { convert_stages(from, bytes, len, to, out) }?;
        // SAFETY: what the caller guarantees is the same.
        unsafe { keep_losses(context, &losses, loss_count) };
        Ok(())
    })
}

/// Converts a document, and writes the result to `out`.
///
/// # Safety
/// As for `icecore_convert_stages`.
unsafe fn convert_stages(
    from: *const icecore_stage,
    bytes: *const u8,
    len: usize,
    to: *const icecore_stage,
    out: *mut icecore_buffer,
) -> Result<Losses, Error> {
    // SAFETY: handles, see `lib.rs`; they are only read.
    let (from, to) = unsafe { (from.as_ref(), to.as_ref()) };
    let (Some(from), Some(to), false) = (from, to, out.is_null()) else {
        return Err(usage_error("two stages, and a buffer", "null"));
    };
    // SAFETY: `bytes` points to `len` bytes; the document is dropped before the call returns.
    let input = unsafe { borrow_bytes(bytes, len) };
    let document = read_as(input, from.codec.stage(), &from.codec.limits)?;
    let mut converted = Vec::new();
    let losses = match from.memory {
        u64::MAX => to.codec.write(&document, &mut converted)?,
        // The memory that the document does not use is for the output.
        memory => {
            let limits = lower_limits(&to.codec.limits, memory.saturating_sub(document_memory(&document)), false, 1);
            icecore::write_to(&document, to.codec.stage(), &limits, &mut converted)?
        }
    };
    // SAFETY: checked above: `out` is not null, so it points to a struct.
    unsafe { out.write(icecore_buffer::from_vec(converted)) };
    Ok(losses)
}

impl icecore_buffer {
    pub(crate) const NONE: icecore_buffer = icecore_buffer { bytes: std::ptr::null_mut(), len: 0, capacity: 0 };

    pub(crate) fn from_vec(converted: Vec<u8>) -> icecore_buffer {
        let mut converted = std::mem::ManuallyDrop::new(converted);
        icecore_buffer { bytes: converted.as_mut_ptr(), len: converted.len(), capacity: converted.capacity() }
    }
}

/// Frees the bytes of a buffer, and empties it.
///
/// # Safety
/// `buffer` is null, or points to a struct that a function of this library filled or that is
/// all zeros; the caller did not change it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_buffer_free(buffer: *mut icecore_buffer) {
    // SAFETY: null, or a struct that was filled, so it is initialised.
    let Some(buffer) = (unsafe { buffer.as_mut() }) else { return };
    if !buffer.bytes.is_null() {
        // SAFETY: pointer, length and capacity are those of the vector that
        // `icecore_buffer::from_vec` forgot. It is dropped once: the struct is emptied below.
        drop(unsafe { Vec::from_raw_parts(buffer.bytes, buffer.len, buffer.capacity) });
    }
    *buffer = icecore_buffer::NONE;
}
