//! Errors in the C interface.

use icecore::raw::ErrorDetail;
use icecore::{Error, ErrorKind};
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// No error.
pub const ICECORE_OK: u32 = 0;
/// A defect in the library: please report it.
pub const ICECORE_PANIC: u32 = 255;

/// An error. The caller owns it; there is nothing to free.
#[repr(C)]
pub struct icecore_error {
    /// Kind: one of `icecore_error_kind`, 0 for no error.
    pub kind: u32,
    /// Detail: one of `icecore_error_detail`, or 0.
    pub detail: u32,
    /// Offset in the input, in bytes; -1 if not applicable.
    pub offset: i64,
    /// Path in the document, such as `$.staff[3].name`; empty if unknown. Truncated if it is longer. Ends with 0.
    pub path: [c_char; 512],
    /// The complete message, with offset and path. Truncated if it is longer. Ends with 0.
    pub message: [c_char; 1016],
    /// The offset at which the original reader of the format reports the error; -1 if unknown.
    pub original_offset: i64,
}

/// The kinds of errors.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_error_kind {
    /// The input ends before the document does.
    ICECORE_TRUNCATED = 1,
    /// The document ends before the input does.
    ICECORE_TRAILING = 2,
    /// The bytes break the rules of the format.
    ICECORE_MALFORMED = 3,
    /// A link names something that does not exist, or is not allowed as its target.
    ICECORE_BAD_LINK = 4,
    /// The format allows this, but this library can't read or write it.
    ICECORE_UNSUPPORTED = 5,
    /// A limit was reached.
    ICECORE_LIMIT = 6,
    /// The format is not known, or the input is not in it.
    ICECORE_FORMAT = 7,
    /// An option or an argument is wrong.
    ICECORE_USAGE = 8,
    /// The document can't be represented in the target format.
    ICECORE_UNREPRESENTABLE = 9,
    /// The receiver of the output stopped.
    ICECORE_OUTPUT = 10,
    /// Any other error.
    ICECORE_OTHER = 11,
}

/// Details for hosts that report errors with their own message.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_error_detail {
    /// Values are nested deeper than the limit.
    ICECORE_DETAIL_DEPTH = 1,
    /// An integer is beyond 64 bits; an option of the format clamps it.
    ICECORE_DETAIL_WIDE_INTEGER = 2,
    /// The number of entries is beyond 64 bits.
    ICECORE_DETAIL_WIDE_COUNT = 3,
    /// The input ends before the number of entries.
    ICECORE_DETAIL_NO_COUNT = 4,
    /// A key was expected.
    ICECORE_DETAIL_NO_KEY = 5,
    /// A value was expected.
    ICECORE_DETAIL_NO_VALUE = 6,
    /// The name of an enum case is unknown.
    ICECORE_DETAIL_NO_CASE = 7,
    /// A payload that a class wrote itself is shorter than its declared length, or that length is negative.
    ICECORE_DETAIL_SHORT_PAYLOAD = 8,
    /// A link counts values inside a payload that only its class understands.
    ICECORE_DETAIL_OPAQUE_LINK = 9,
    /// There are more values or more output than the limit allows; or memory ran out.
    ICECORE_DETAIL_SIZE = 10,
    /// Decompression produces more than the limit allows.
    ICECORE_DETAIL_DECOMPRESSED = 11,
}

fn detail_code(detail: ErrorDetail) -> u32 {
    use icecore_error_detail::*;
    let code = match detail {
        ErrorDetail::Depth => ICECORE_DETAIL_DEPTH,
        ErrorDetail::WideInteger => ICECORE_DETAIL_WIDE_INTEGER,
        ErrorDetail::WideCount => ICECORE_DETAIL_WIDE_COUNT,
        ErrorDetail::NoCount => ICECORE_DETAIL_NO_COUNT,
        ErrorDetail::NoKey => ICECORE_DETAIL_NO_KEY,
        ErrorDetail::NoValue => ICECORE_DETAIL_NO_VALUE,
        ErrorDetail::NoCase => ICECORE_DETAIL_NO_CASE,
        ErrorDetail::ShortPayload => ICECORE_DETAIL_SHORT_PAYLOAD,
        ErrorDetail::OpaqueLink => ICECORE_DETAIL_OPAQUE_LINK,
        ErrorDetail::Size => ICECORE_DETAIL_SIZE,
        ErrorDetail::Decompressed => ICECORE_DETAIL_DECOMPRESSED,
        _ => return 0,
    };
    code as u32
}

fn error_code(kind: ErrorKind) -> u32 {
    use icecore_error_kind::*;
    let code = match kind {
        ErrorKind::Truncated => ICECORE_TRUNCATED,
        ErrorKind::Trailing => ICECORE_TRAILING,
        ErrorKind::Malformed => ICECORE_MALFORMED,
        ErrorKind::BadLink => ICECORE_BAD_LINK,
        ErrorKind::Unsupported => ICECORE_UNSUPPORTED,
        ErrorKind::Limit => ICECORE_LIMIT,
        ErrorKind::Format => ICECORE_FORMAT,
        ErrorKind::Usage => ICECORE_USAGE,
        ErrorKind::Unrepresentable => ICECORE_UNREPRESENTABLE,
        ErrorKind::Output => ICECORE_OUTPUT,
        _ => ICECORE_OTHER,
    };
    code as u32
}

/// Copies a text to a C field, and ends it with 0. A text that is too long is cut at a character boundary.
pub(crate) fn write_text(text: &str, field: &mut [c_char]) {
    let Some(max_len) = field.len().checked_sub(1) else { return };
    let mut end = text.len().min(max_len);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // For C a byte 0 ends the text. A path may contain such a byte, so it is replaced.
    for (target, byte) in field.iter_mut().zip(text.as_bytes()[..end].iter()) {
        *target = if *byte == 0 { b'?' } else { *byte } as c_char;
    }
    field[end] = 0;
}

/// Returns a field of the caller for a text, initialised with zeros.
///
/// # Safety
/// `field` points to `capacity` bytes that may be written for `'a`, and nothing else points to them.
pub(crate) unsafe fn zero_chars<'a>(field: *mut c_char, capacity: usize) -> &'a mut [c_char] {
    // SAFETY: `field` points to `capacity` bytes. Bytes need no alignment. The first line
    // initialises them, before the slice is made.
    unsafe {
        field.write_bytes(0, capacity);
        std::slice::from_raw_parts_mut(field, capacity)
    }
}

impl icecore_error {
    #[cold]
    fn set_from_error(&mut self, error: &Error) -> u32 {
        let offset = |offset: Option<u64>| offset.and_then(|offset| i64::try_from(offset).ok()).unwrap_or(-1);
        self.kind = error_code(error.kind());
        self.detail = error.detail().map_or(0, detail_code);
        self.offset = offset(error.offset());
        self.original_offset = offset(error.original_offset());
        write_text(error.path().unwrap_or(""), &mut self.path);
        write_text(&error.to_string(), &mut self.message);
        self.kind
    }
}

/// Destination of the error of a call: a struct of the caller, or none.
pub(crate) struct ErrorOut(*mut icecore_error);

impl ErrorOut {
    /// For calls that only return the kind of the error.
    pub(crate) const NONE: ErrorOut = ErrorOut(std::ptr::null_mut());

    /// # Safety
    /// `error` is null, or points to a struct that may be written until the call of the C
    /// interface returns. It may be uninitialised.
    #[inline]
    pub(crate) unsafe fn from_pointer(error: *mut icecore_error) -> ErrorOut {
        ErrorOut(error)
    }
}

/// Runs the body of a call, and turns its error or panic into a code for C.
#[inline]
pub(crate) fn run_guarded(error: ErrorOut, run: impl FnOnce() -> Result<(), Error>) -> u32 {
    // A panic may leave a handle partly changed. This is safe to observe, because each call clears a handle before it
    // fills it.
    let result = catch_unwind(AssertUnwindSafe(run));
    let failed = match result {
        Ok(Ok(())) => return ICECORE_OK,
        Ok(Err(error)) => Some(error),
        Err(_) => None,
    };
    report_error(error, failed)
}

/// Fills the caller's error, and returns the kind.
#[cold]
fn report_error(ErrorOut(error): ErrorOut, failed: Option<Error>) -> u32 {
    let kind = failed.as_ref().map_or(ICECORE_PANIC, |failed| error_code(failed.kind()));
    if error.is_null() {
        return kind;
    }
    // SAFETY: `error` is not null, so `ErrorOut::from_pointer` was called with a struct that may be written. A
    // reference needs initialised fields. So the zeros are written before the reference is made; zeros are valid in
    // each field.
    let error = unsafe {
        error.write_bytes(0, 1);
        &mut *error
    };
    match failed {
        Some(failed) => error.set_from_error(&failed),
        None => {
            error.kind = ICECORE_PANIC;
            error.offset = -1;
            error.original_offset = -1;
            write_text("this is a bug in Icecore: please report it", &mut error.message);
            ICECORE_PANIC
        }
    }
}

/// Returns an error of kind `Usage`.
#[cold]
pub(crate) fn usage_error(expected: &'static str, found: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage).expecting(expected).finding(found.into())
}
