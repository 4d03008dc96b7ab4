//! The one call for everyone.

use crate::error::{guard, icecore_error, usage};
use crate::lent;
use crate::stage::text;
use std::ffi::{CStr, c_char};

/// Bytes that the library allocated, to be freed with `icecore_buffer_free`.
#[repr(C)]
pub struct icecore_buffer {
    /// The bytes.
    pub bytes: *mut u8,
    /// How many there are.
    pub len: usize,
    /// How many were allocated.
    pub capacity: usize,
}

/// Converts a document from one stage to another, as `icecore convert` does:
/// `storable` to `json`, say. A null or empty `from` finds the format out. Where
/// both are the same format, the byte form is kept.
///
/// `out` is written only if the result is ICECORE_OK.
///
/// # Safety
/// `bytes` names `len` bytes; `from` and `to` end with 0 (`from` may be null);
/// `out` names a struct; `error` is null or names one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_convert(
    bytes: *const u8,
    len: usize,
    from: *const c_char,
    to: *const c_char,
    out: *mut icecore_buffer,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(error, || {
            if out.is_null() || to.is_null() {
                return Err(usage("a stage to convert to, and a buffer", "null"));
            }
            let input = lent(bytes, len);
            let from = if from.is_null() { "" } else { text(CStr::from_ptr(from).to_bytes(), "a stage")? };
            let to = text(CStr::from_ptr(to).to_bytes(), "a stage")?;
            let converted = if from.is_empty() {
                icecore::convert(input, icecore::stage_of(input)?.format().name, to)?
            } else {
                icecore::convert(input, from, to)?
            };
            let mut converted = std::mem::ManuallyDrop::new(converted);
            out.write(icecore_buffer {
                bytes: converted.as_mut_ptr(),
                len: converted.len(),
                capacity: converted.capacity(),
            });
            Ok(())
        })
    }
}

/// Frees the bytes of a buffer, and empties it.
///
/// # Safety
/// `buffer` is null or was filled by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_buffer_free(buffer: *mut icecore_buffer) {
    // SAFETY: the caller promises it.
    let Some(buffer) = (unsafe { buffer.as_mut() }) else { return };
    if !buffer.bytes.is_null() {
        // SAFETY: these are the parts of a vector that was not dropped.
        drop(unsafe { Vec::from_raw_parts(buffer.bytes, buffer.len, buffer.capacity) });
    }
    *buffer = icecore_buffer { bytes: std::ptr::null_mut(), len: 0, capacity: 0 };
}
