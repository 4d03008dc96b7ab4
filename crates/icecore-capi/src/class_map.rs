//! Maps from old to new class names, for hosts that build objects of renamed classes.

use crate::borrow_bytes;
use crate::error::{ErrorOut, icecore_error, run_guarded, usage_error};
use icecore::ClassMap;
use std::ffi::c_char;

/// A parsed map from old to new class names.
pub struct icecore_class_map(ClassMap);

/// Parses a map of classes: lines of `OLD=NEW`, in which `*` matches any characters, as in the option `class-map`. Free
/// it with `icecore_class_map_free`. Returns null on an error.
///
/// # Safety
/// `text` points to `len` bytes; `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_class_map_new(
    text: *const c_char,
    len: usize,
    error: *mut icecore_error,
) -> *mut icecore_class_map {
    let mut map = std::ptr::null_mut();
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: `text` points to `len` bytes.
        let text = unsafe { borrow_bytes(text.cast(), len) };
        let text = std::str::from_utf8(text).map_err(|_| usage_error("a map of classes in UTF-8", "other bytes"))?;
        map = Box::into_raw(Box::new(icecore_class_map(ClassMap::parse(text)?)));
        Ok(())
    });
    map
}

/// Looks up the new name of a class. Copies at most `capacity` bytes of it to `new_name`, and returns its full length in
/// bytes; 0 if the map does not rename the class.
///
/// # Safety
/// `map` is null or a map; `name` points to `len` bytes; `new_name` is null or points to
/// `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_class_map_name(
    map: *const icecore_class_map,
    name: *const c_char,
    len: usize,
    new_name: *mut c_char,
    capacity: usize,
) -> usize {
    let mut length = 0;
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: `map` is null or a valid map, which is only read.
        let Some(map) = (unsafe { map.as_ref() }) else { return Ok(()) };
        // SAFETY: `name` points to `len` bytes.
        let name = unsafe { borrow_bytes(name.cast(), len) };
        let Some(renamed) = map.0.rename(name) else { return Ok(()) };
        length = renamed.len();
        if !new_name.is_null() {
            // SAFETY: `new_name` is not null, so it points to `capacity` bytes, and no more are written. `renamed` is
            // a vector of its own, so the two do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(renamed.as_ptr().cast(), new_name, length.min(capacity)) };
        }
        Ok(())
    });
    length
}

/// Frees a map. Null is ignored.
///
/// # Safety
/// `map` is null or a map; the caller does not use it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_class_map_free(map: *mut icecore_class_map) {
    if !map.is_null() {
        // SAFETY: every map comes from `Box::into_raw` in `icecore_class_map_new`, and is freed
        // once: the caller does not use it again.
        drop(unsafe { Box::from_raw(map) });
    }
}
