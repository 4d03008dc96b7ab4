//! Formats with their options and limits, parsed once.

use crate::error::{guard, icecore_error, usage};
use crate::{ICECORE_OK, lent};
use icecore::{Codec, Error, Stage};
use std::ffi::c_char;

/// A format with its options, and the limits for reading and writing it.
pub struct icecore_stage {
    pub(crate) codec: Codec,
    /// The name of the format, ending with 0.
    name: Vec<u8>,
}

pub(crate) fn text<'a>(bytes: &'a [u8], what: &'static str) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes).map_err(|_| usage(what, "bytes that are not UTF-8"))
}

fn boxed(stage: Stage) -> *mut icecore_stage {
    let mut name = stage.format().name.as_bytes().to_vec();
    name.push(0);
    Box::into_raw(Box::new(icecore_stage { codec: Codec::new(stage), name }))
}

/// Parses a stage as the command takes it: `sereal:compress=zstd,level=3`. To be
/// freed with `icecore_stage_free`. Null, if there is an error.
///
/// # Safety
/// `spec` names `len` bytes; `error` is null or names a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_new(
    spec: *const c_char,
    len: usize,
    error: *mut icecore_error,
) -> *mut icecore_stage {
    let mut made = std::ptr::null_mut();
    // SAFETY: the caller promises what both need.
    unsafe {
        guard(error, || {
            let spec = text(lent(spec.cast(), len), "a stage, as `sereal:compress=zstd`")?;
            made = boxed(Stage::parse(spec)?);
            Ok(())
        });
    }
    made
}

/// The stage for a document whose format is not known. To be freed with
/// `icecore_stage_free`. Null, if no format fits.
///
/// # Safety
/// `bytes` names `len` bytes; `error` is null or names a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_detect(bytes: *const u8, len: usize, error: *mut icecore_error) -> *mut icecore_stage {
    let mut made = std::ptr::null_mut();
    // SAFETY: the caller promises what both need.
    unsafe {
        guard(error, || {
            made = boxed(icecore::stage_of(lent(bytes, len))?);
            Ok(())
        });
    }
    made
}

/// Sets a limit of a stage: `depth`, `nodes`, `string`, `decompressed`, `ratio`,
/// `expansion`, `digits`, `output`, `growth` or `loss-paths`, each as in `Limits`. What
/// is more than the limit can be is the most that it can be.
///
/// # Safety
/// `stage` is a stage; `name` names `len` bytes; `error` is null or names a
/// struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_limit(
    stage: *mut icecore_stage,
    name: *const c_char,
    len: usize,
    value: u64,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: the caller promises what all need.
    unsafe {
        guard(error, || {
            let Some(stage) = stage.as_mut() else { return Err(usage("a stage", "null")) };
            stage.codec.limits.set(text(lent(name.cast(), len), "the name of a limit")?, value)
        })
    }
}

/// The name of the stage's format, ending with 0; it lives as long as the stage.
///
/// # Safety
/// `stage` is a stage.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_format(stage: *const icecore_stage) -> *const c_char {
    // SAFETY: the caller promises it.
    unsafe { stage.as_ref() }.map_or(std::ptr::null(), |stage| stage.name.as_ptr().cast())
}

/// Frees a stage, or does nothing with null.
///
/// # Safety
/// `stage` is a stage that is not used any more, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_stage_free(stage: *mut icecore_stage) {
    if !stage.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller gives it away.
        drop(unsafe { Box::from_raw(stage) });
    }
}

const _: () = assert!(ICECORE_OK == 0);
