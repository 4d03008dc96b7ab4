//! The classes that a document names.

use crate::borrow_bytes;
use crate::error::{ErrorOut, icecore_error, run_guarded, usage_error};
use crate::stage::icecore_stage;
use crate::tape::icecore_bytes;
use icecore::read_as;
use std::ffi::c_void;

/// A class that a document names. Lent for the duration of the visit.
#[repr(C)]
pub struct icecore_class_use {
    /// Name of the class.
    pub name: icecore_bytes,
    /// Kind of use: `object`, `hook`, `freeze`, `regexp`, …
    pub kind: icecore_bytes,
    /// The path of the first use.
    pub path: icecore_bytes,
    /// Number of uses.
    pub count: u64,
}

/// Calls `visit` for each class that the document names.
///
/// # Safety
/// `stage` is null or a stage; `bytes` points to `len` bytes; `visit` is null, or a function
/// that does not unwind or jump out; `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_classes(
    stage: *const icecore_stage,
    bytes: *const u8,
    len: usize,
    visit: Option<unsafe extern "C" fn(*const icecore_class_use, *mut c_void)>,
    data: *mut c_void,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: a handle, see `lib.rs`; it is only read.
        let (Some(stage), Some(visit)) = (unsafe { stage.as_ref() }, visit) else {
            return Err(usage_error("a stage and a function", "null"));
        };
        // SAFETY: `bytes` points to `len` bytes; the document is dropped before the call returns.
        let bytes = unsafe { borrow_bytes(bytes, len) };
        let document = read_as(bytes, stage.codec.stage(), &stage.codec.limits)?;
        for class in document.classes() {
            let used = icecore_class_use {
                name: icecore_bytes::from_slice(&class.name),
                kind: icecore_bytes::from_slice(class.kind.as_bytes()),
                path: icecore_bytes::from_slice(class.path.as_bytes()),
                count: class.count,
            };
            // SAFETY: `visit` returns normally; what `used` names outlives the call.
            unsafe { visit(&used, data) };
        }
        Ok(())
    })
}
