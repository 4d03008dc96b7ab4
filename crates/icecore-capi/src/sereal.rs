//! The position of the header of a Sereal document.

use crate::borrow_bytes;
use icecore::format::sereal;

/// Data from the first bytes of a Sereal document.
#[repr(C)]
pub struct icecore_sereal_header {
    /// The protocol, 1 to 15; 0 if the document was later encoded as UTF-8; -1 if it is not a Sereal document.
    pub protocol: i32,
    /// Offset of the first byte of the user header; 0 if there is none.
    pub user_header: usize,
    /// Offset of the first byte after the user header, where the body starts; 0 if there is no user header.
    pub body: usize,
}

/// Examines the first bytes of a Sereal document. Nothing is decoded.
///
/// # Safety
/// `bytes` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_sereal_find_header(bytes: *const u8, len: usize) -> icecore_sereal_header {
    // SAFETY: `bytes` points to `len` bytes, which are only read during this call.
    let bytes = unsafe { borrow_bytes(bytes, len) };
    let user_header = sereal::find_user_header(bytes);
    icecore_sereal_header {
        protocol: sereal::find_protocol(bytes).map_or(-1, i32::from),
        user_header: user_header.as_ref().map_or(0, |range| range.start),
        body: user_header.map_or(0, |range| range.end),
    }
}
