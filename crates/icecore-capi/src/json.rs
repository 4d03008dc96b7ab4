//! JSON as written and read by Perl's modules, without a stage: for objects that are made for one call.

use crate::borrow_bytes;
use crate::context::icecore_context;
use crate::error::{ErrorOut, icecore_error, run_guarded, usage_error};
use crate::tape::{ICECORE_EACH, icecore_bytes, icecore_tape, icecore_view};
use crate::write::reclaim_memory;
use icecore::format::json::perl::{self, Beyond, NonFiniteStyle, Style};
use icecore::{Error, ErrorKind};

/// Options for writing JSON.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct icecore_json_style {
    /// Characters that are written unescaped: all, as UTF-8 (0); those below 256, as one byte each (1); ASCII (2);
    /// ASCII, and the bytes of all others are escaped as `\xe9` (3).
    pub beyond: u8,
    /// Form of infinity and "not a number": bare (0), null (1), in quotes (2), in quotes and without a sign (3).
    pub inf_nan: u8,
    /// 1 if each value is on a line of its own.
    pub has_lines: u8,
    /// Number of blanks of indentation for each level.
    pub indent: u8,
    /// 1 if there is a blank before the colon.
    pub space_before: u8,
    /// 1 if there is a blank after the colon.
    pub space_after: u8,
    /// 1 if `/` is written as `\/`.
    pub escape_slash: u8,
    /// 1 if integral floats get a `.0`.
    pub point_zero: u8,
    /// 1 if every number is written in quotes.
    pub all_strings: u8,
}

impl icecore_json_style {
    fn to_style(self) -> Style {
        Style {
            beyond: match self.beyond {
                1 => Beyond::Latin1,
                2 => Beyond::Ascii,
                3 => Beyond::Binary,
                _ => Beyond::Utf8,
            },
            inf_nan: match self.inf_nan {
                1 => NonFiniteStyle::Null,
                2 => NonFiniteStyle::Quoted,
                3 => NonFiniteStyle::Unified,
                _ => NonFiniteStyle::Bare,
            },
            indent: (self.has_lines != 0).then_some(self.indent),
            space_before: self.space_before != 0,
            space_after: self.space_after != 0,
            escape_slash: self.escape_slash != 0,
            point_zero: self.point_zero != 0,
            all_strings: self.all_strings != 0,
        }
    }
}

/// Writes the filled tape as JSON. The bytes are lent until the context is used again.
///
/// # Safety
/// As for `icecore_write`; `style` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_json_write(
    context: *mut icecore_context,
    style: *const icecore_json_style,
    tape: *const icecore_tape,
    out: *mut icecore_bytes,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: a handle that no other call uses, and structs, see `lib.rs`: both were
        // filled, so they are initialised.
        let (context, style, tape) = unsafe { (context.as_mut(), style.as_ref(), tape.as_ref()) };
        let (Some(context), Some(style), Some(tape), false) = (context, style, tape, out.is_null()) else {
            return Err(usage_error("a context, a style, a tape and a place for the result", "null"));
        };
        // SAFETY: `tape` was lent from `context`, and filled up to its counts.
        unsafe { context.fill_document(None, tape)? };
        context.clear_output();
        let written = perl::write(&context.document, &style.to_style(), &mut context.out);
        reclaim_memory(context.document.tape_mut(), &mut context.filling);
        written?;
        // SAFETY: checked above: `out` is not null, so it points to a struct.
        unsafe { out.write(icecore_bytes::from_slice(&context.out.bytes)) };
        Ok(())
    })
}

/// Reads common JSON of at most `depth` levels, like `icecore_read`. It returns `ICECORE_UNSUPPORTED` for errors and
/// for everything uncommon: then `icecore_read` reads the document, or describes the error.
///
/// # Safety
/// As for `icecore_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_json_read(
    context: *mut icecore_context,
    bytes: *const u8,
    len: usize,
    depth: u32,
    flags: u32,
    view: *mut icecore_view,
) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let (Some(context), false) = (unsafe { context.as_mut() }, view.is_null()) else {
            return Err(usage_error("a context and a view", "null"));
        };
        // SAFETY: `bytes` points to `len` bytes, which don't change as long as the view is used.
        let input = unsafe { borrow_bytes(bytes, len) };
        let tape = context.document.tape_mut();
        tape.clear();
        let outcome = perl::read(input, depth as usize, tape);
        let Some((end, has_ids)) = outcome.filter(|(end, _)| *end == len || flags & ICECORE_EACH != 0) else {
            return Err(Error::new(ErrorKind::Unsupported));
        };
        let filled_view =
            icecore_view { is_simple: u32::from(has_ids), ..context.make_view(icecore_bytes::from_slice(input), end) };
        // SAFETY: checked above: `view` is not null, so it points to a struct.
        unsafe { view.write(filled_view) };
        Ok(())
    })
}
