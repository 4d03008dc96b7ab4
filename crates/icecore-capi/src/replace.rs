//! Replaces text inside documents; every other byte stays the same.

use crate::borrow_bytes;
use crate::convert::icecore_buffer;
use crate::error::{ErrorOut, icecore_error, run_guarded, usage_error, write_text};
use crate::stage::require_utf8;
use icecore::raw::ErrorDetail;
use icecore::rewrite::{Broken, Rewriting, Tally, document, value};
use icecore::{Error, ErrorKind, Limits, Stage};
use icecore_replace::{Replacing, Rules};
use std::ffi::{CStr, c_char};

/// Keys of arrays and names of properties are changed as well.
pub const ICECORE_REPLACE_KEYS: u32 = 1;
/// Names of classes are changed as well.
pub const ICECORE_REPLACE_CLASSES: u32 = 2;
/// The content of Base64 and compressed data is changed as well.
pub const ICECORE_REPLACE_BASE64: u32 = 4;
/// Data with wrong lengths is repaired, and then changed.
pub const ICECORE_REPLACE_MEND: u32 = 8;
/// The searched texts are regular expressions; `$1` and `${name}` in replacements are groups, `$$` is a dollar.
pub const ICECORE_REPLACE_REGEX: u32 = 16;
/// `A` and `a` are equal.
pub const ICECORE_REPLACE_IGNORE_CASE: u32 = 32;
/// Pairs are URLs, `https://old` and `https://new`: their spellings in JSON, in other URLs and without a scheme are
/// searched as well.
pub const ICECORE_REPLACE_URL: u32 = 64;

const ALL_FLAGS: u32 = 127;

/// A text and its replacement. Lent for the duration of the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct icecore_pair {
    /// The searched bytes.
    pub from: *const u8,
    /// Number of searched bytes.
    pub from_len: usize,
    /// The replacement.
    pub to: *const u8,
    /// Number of bytes of the replacement.
    pub to_len: usize,
}

/// Results and counts of a replacement.
#[repr(C)]
pub struct icecore_replaced {
    /// 1 if the buffer contains the new bytes; 0 if nothing changed, and the buffer is empty.
    pub is_changed: u32,
    /// Strings that were changed.
    pub strings: u64,
    /// Number of replacements in them.
    pub occurrences: u64,
    /// Frozen data that was processed, at all levels.
    pub frozen: u64,
    /// Texts that look frozen and can't be read: they were changed as plain text.
    pub broken: u64,
    /// Texts with wrong lengths that were repaired.
    pub mended: u64,
    /// Number of these that are guesses: no known kind of damage explains all of their lengths.
    pub guessed: u64,
    /// Payloads that only their own class understands and that contain a searched text: they stayed unchanged.
    pub opaque: u64,
    /// Changes that can't be represented at their place, such as bytes that are not UTF-8 in JSON: the strings stayed
    /// unchanged.
    pub unsayable: u64,
    /// Signed or encrypted data that contains a searched text: it stayed unchanged.
    pub signed_values: u64,
    /// The first broken text: its format, where it breaks off and why; empty if there is none. Truncated if it is
    /// longer. Ends with 0.
    pub first_broken: [c_char; 256],
    /// The causes of repaired damage with their counts, sorted by name: `latin1=2,line-ends=1`. The last ones are left
    /// out if the text is too long. Ends with 0.
    pub explanations: [c_char; 256],
}

/// Prepared pairs with flags, a format and limits. A host keeps one handle, and prepares it before each document;
/// unchanged settings are not prepared again.
pub struct icecore_replacer {
    prepared: Option<PreparedRules>,
    options: Rewriting,
    /// Maximum memory in bytes for replacements and their positions.
    memory: u64,
}

/// The requested settings, and what was prepared from them.
struct PreparedRules {
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
    format: String,
    flags: u32,
    rules: Rules,
    stage: Option<Stage>,
}

/// Several threads may use one handle at the same time: `icecore_replacer_apply` only reads it.
const _: () = {
    const fn is_sync<T: Sync>() {}
    is_sync::<icecore_replacer>();
};

type BorrowedPair<'a> = (&'a [u8], &'a [u8]);

impl icecore_pair {
    /// # Safety
    /// `pairs` is null or points to `count` structs, each of whose pointers points to as many bytes as its length says;
    /// none of this changes for `'a`.
    unsafe fn borrow_pairs<'a>(
        pairs: *const icecore_pair,
        count: usize,
    ) -> impl ExactSizeIterator<Item = BorrowedPair<'a>> + Clone {
        let pairs: &'a [icecore_pair] = match pairs.is_null() || count == 0 {
            true => &[],
            // SAFETY: `pairs` is not null and `count` is not 0, so `pairs` points to `count` initialised structs.
            false => unsafe { std::slice::from_raw_parts(pairs, count) },
        };
        // SAFETY: the caller has filled each struct, and the bytes stay unchanged for `'a`.
        pairs.iter().map(|pair| unsafe { (borrow_bytes(pair.from, pair.from_len), borrow_bytes(pair.to, pair.to_len)) })
    }
}

impl PreparedRules {
    fn new<'a>(
        pairs: impl Iterator<Item = BorrowedPair<'a>> + Clone,
        format: &str,
        flags: u32,
    ) -> Result<PreparedRules, Error> {
        if flags & !ALL_FLAGS != 0 {
            return Err(usage_error("flags of ICECORE_REPLACE_", format!("{flags:#x}")));
        }
        let has = |flag: u32| flags & flag != 0;
        if has(ICECORE_REPLACE_URL) && has(ICECORE_REPLACE_REGEX) {
            return Err(usage_error("pairs that are addresses, or pairs that are regular expressions", "both"));
        }
        let mut builder =
            Rules::builder().regex(has(ICECORE_REPLACE_REGEX)).ignore_case(has(ICECORE_REPLACE_IGNORE_CASE));
        for (from, to) in pairs.clone() {
            builder = if has(ICECORE_REPLACE_URL) { builder.url(from, to) } else { builder.pair(from, to) };
        }
        let rules = builder.build().map_err(|error| Error::new(ErrorKind::Usage).finding(error.to_string()))?;
        let stage = if format.is_empty() { None } else { Some(Stage::parse(format)?) };
        let pairs = pairs.map(|(from, to)| (from.to_vec(), to.to_vec())).collect();
        Ok(PreparedRules { pairs, format: format.to_owned(), flags, rules, stage })
    }

    fn matches_request<'a>(
        &self,
        pairs: impl ExactSizeIterator<Item = BorrowedPair<'a>>,
        format: &str,
        flags: u32,
    ) -> bool {
        let is_same =
            |(own, requested): (&(Vec<u8>, Vec<u8>), BorrowedPair<'a>)| own.0 == requested.0 && own.1 == requested.1;
        let has_same_settings = self.flags == flags && self.format == format && self.pairs.len() == pairs.len();
        has_same_settings && self.pairs.iter().zip(pairs).all(is_same)
    }

    /// Returns the bytes with all replacements; `None` if nothing changed.
    fn apply(
        &self,
        bytes: &[u8],
        rewriting: &Rewriting,
        memory: u64,
    ) -> Result<(Option<Vec<u8>>, icecore_replaced), Error> {
        let max_bytes = max_output(bytes.len(), &rewriting.limits).min(memory);
        let mut replacing = self.rules.replacing().with_encoded(rewriting.base64).with_insert_limit(max_bytes);
        // With a memory limit, each replacement also counts the memory of its position.
        if memory != u64::MAX {
            replacing = replacing.with_change_cost(EDIT_COST);
        }
        let mut tally = Tally::default();
        let edits = match &self.stage {
            None => value(bytes, &mut replacing, rewriting, &mut tally),
            Some(stage) => document(bytes, stage, &mut replacing, rewriting, &mut tally)?,
        };
        if replacing.is_full() {
            return Err(Error::new(ErrorKind::Limit)
                .detailing(ErrorDetail::Size)
                .finding("the data would grow too much")
                .helping("replace by something shorter, or fewer places at once"));
        }
        let changed = (!edits.is_empty()).then(|| edits.apply(bytes));
        let replaced = icecore_replaced::from_tally(&tally, &replacing, changed.is_some());
        Ok((changed, replaced))
    }
}

impl icecore_replaced {
    fn from_tally(tally: &Tally, replacing: &Replacing<'_>, is_changed: bool) -> icecore_replaced {
        let mut first_broken = [0; 256];
        if let Some(Broken { format, offset, reason, .. }) = tally.first_broken.first() {
            write_text(&format!("{format} at offset {offset}: {reason}"), &mut first_broken);
        }
        let mut explanations = [0; 256];
        write_text(&list_explanations(tally, explanations.len() - 1), &mut explanations);
        icecore_replaced {
            is_changed: u32::from(is_changed),
            strings: tally.changed,
            occurrences: replacing.counts().values().sum(),
            frozen: tally.frozen.total(),
            broken: tally.broken,
            mended: tally.repaired,
            guessed: tally.guessed,
            opaque: tally.opaque,
            // A change in a serialized string inside of other text can't be written there, so it counts as one that
            // the format can't represent.
            unsayable: tally.unrepresentable + tally.embedded,
            signed_values: tally.signed,
            first_broken,
            explanations,
        }
    }
}

/// Returns the explanations that fit into the buffer.
fn list_explanations(tally: &Tally, max_len: usize) -> String {
    let mut list = String::new();
    for (name, count) in &tally.explanations {
        let comma = if list.is_empty() { "" } else { "," };
        let entry = format!("{comma}{name}={count}");
        if list.len() + entry.len() > max_len {
            break;
        }
        list += &entry;
    }
    list
}

/// Bytes of memory for the position of a replacement. While strings are nested, it is in the list of each of them.
const EDIT_COST: u64 = 128;

/// Returns the maximum number of inserted bytes. There is a limit because hostile data may contain a short text in
/// very many places.
fn max_output(len: usize, limits: &Limits) -> u64 {
    /// This number of bytes is always allowed.
    const ALWAYS_ALLOWED: u64 = 64 << 20;
    (len as u64).saturating_mul(limits.growth).max(ALWAYS_ALLOWED).min(limits.output)
}

fn rewriting_from_flags(flags: u32) -> Rewriting {
    let mut options = Rewriting::default();
    options.keys = flags & ICECORE_REPLACE_KEYS != 0;
    options.classes = flags & ICECORE_REPLACE_CLASSES != 0;
    options.base64 = flags & ICECORE_REPLACE_BASE64 != 0;
    options.repair = flags & ICECORE_REPLACE_MEND != 0;
    options
}

/// Writes the result to the caller's structs.
///
/// # Safety
/// `out` points to a struct; `counts` is null or points to one.
unsafe fn write_results(
    (changed, replaced): (Option<Vec<u8>>, icecore_replaced),
    out: *mut icecore_buffer,
    counts: *mut icecore_replaced,
) {
    let buffer = changed.map_or(icecore_buffer::NONE, icecore_buffer::from_vec);
    // SAFETY: `out` points to a struct, which may be written.
    unsafe { out.write(buffer) };
    if !counts.is_null() {
        // SAFETY: not null, so it points to a struct.
        unsafe { counts.write(replaced) };
    }
}

/// Replaces text in a value, like `icecore replace`: all pairs at once, in every string of frozen data, at any depth,
/// with correct lengths and escapes. Every other byte stays the same.
///
/// If `format` is null or empty, the value may be frozen data of any format, or plain text; otherwise a value that
/// can't be read in that format is an error. `flags` are bits of `ICECORE_REPLACE_`. If nothing changes, `out` is
/// empty, and `is_changed` in `counts` is 0.
///
/// `out` and `counts` are written only if the result is ICECORE_OK.
///
/// # Safety
/// `bytes` points to `len` bytes; `format` is null or a text that ends with 0; `pairs` is null or
/// points to `count` structs, whose pointers point to as many bytes as their lengths say; `out`,
/// `counts` and `error` are null or point to structs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_replace(
    bytes: *const u8,
    len: usize,
    format: *const c_char,
    pairs: *const icecore_pair,
    count: usize,
    flags: u32,
    out: *mut icecore_buffer,
    counts: *mut icecore_replaced,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        if out.is_null() {
            return Err(usage_error("a buffer", "null"));
        }
        let format = match format.is_null() {
            true => "",
            // SAFETY: not null, so it points to a text that ends with 0.
            false => require_utf8(unsafe { CStr::from_ptr(format) }.to_bytes(), "a stage")?,
        };
        // SAFETY: `pairs` and `count` belong together; the pairs are copied.
        let prepared = PreparedRules::new(unsafe { icecore_pair::borrow_pairs(pairs, count) }, format, flags)?;
        // SAFETY: `bytes` points to `len` bytes; the slice is dropped before the call returns.
        let replaced = prepared.apply(unsafe { borrow_bytes(bytes, len) }, &rewriting_from_flags(flags), u64::MAX)?;
        // SAFETY: `out` is not null, so it points to a struct; `counts` is null or points to one.
        unsafe { write_results(replaced, out, counts) };
        Ok(())
    })
}

/// Creates a replacer without pairs, which must be freed with `icecore_replacer_free`.
#[unsafe(no_mangle)]
pub extern "C" fn icecore_replacer_new() -> *mut icecore_replacer {
    Box::into_raw(Box::new(icecore_replacer { prepared: None, options: Rewriting::default(), memory: u64::MAX }))
}

/// Prepares a replacer for these pairs, this format (empty: it is detected) and these flags, as for `icecore_replace`,
/// with the default limits. If the settings are the same as before, nothing is prepared again. After an error it has no
/// pairs.
///
/// # Safety
/// `replacer` is null or a replacer that no other call uses; `pairs` is null or points to `count`
/// structs, whose pointers point to as many bytes as their lengths say; `format` points to
/// `format_len` bytes; `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_replacer_prepare(
    replacer: *mut icecore_replacer,
    pairs: *const icecore_pair,
    count: usize,
    format: *const c_char,
    format_len: usize,
    flags: u32,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: a handle that no other call uses.
        let Some(replacer) = (unsafe { replacer.as_mut() }) else { return Err(usage_error("a replacer", "null")) };
        // SAFETY: `pairs` and `count` belong together; the pairs are copied.
        let pairs = unsafe { icecore_pair::borrow_pairs(pairs, count) };
        // SAFETY: `format` points to `format_len` bytes; the slice is dropped before the return.
        let format = require_utf8(unsafe { borrow_bytes(format.cast(), format_len) }, "a stage, as `gzip/php`");
        replacer.options = rewriting_from_flags(flags);
        replacer.memory = u64::MAX;
        if let (Some(prepared), Ok(format)) = (&replacer.prepared, &format)
            && prepared.matches_request(pairs.clone(), format, flags)
        {
            return Ok(());
        }
        replacer.prepared = None;
        replacer.prepared = Some(PreparedRules::new(pairs, format?, flags)?);
        Ok(())
    })
}

/// Sets a limit of the following calls, by the names of `icecore_stage_limit`, until the replacer is prepared again.
/// `memory` is an additional limit: the maximum number of bytes for replacements and their positions.
///
/// # Safety
/// `replacer` is null or a replacer that no other call uses; `name` points to `len` bytes;
/// `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_replacer_limit(
    replacer: *mut icecore_replacer,
    name: *const c_char,
    len: usize,
    value: u64,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: a handle that no other call uses.
        let Some(replacer) = (unsafe { replacer.as_mut() }) else { return Err(usage_error("a replacer", "null")) };
        // SAFETY: `name` points to `len` bytes; the slice is dropped before the call returns.
        let name = unsafe { borrow_bytes(name.cast(), len) };
        match require_utf8(name, "the name of a limit")? {
            "memory" => replacer.memory = value,
            name => Limits::set(&mut replacer.options.limits, name, value)?,
        }
        Ok(())
    })
}

/// Replaces text in a value, as `icecore_replace` does.
///
/// `out` and `counts` are written only if the result is ICECORE_OK.
///
/// # Safety
/// `replacer` is null or a replacer; `bytes` points to `len` bytes; `out`, `counts` and `error`
/// are null or point to structs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_replacer_apply(
    replacer: *const icecore_replacer,
    bytes: *const u8,
    len: usize,
    out: *mut icecore_buffer,
    counts: *mut icecore_replaced,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: a handle, see `lib.rs`; it is only read.
        let replacer = unsafe { replacer.as_ref() };
        let (Some(icecore_replacer { prepared: Some(prepared), options, memory }), false) = (replacer, out.is_null())
        else {
            return Err(usage_error("a replacer that was prepared, and a buffer", "null, or one that was not"));
        };
        // SAFETY: `bytes` points to `len` bytes; the slice is dropped before the call returns.
        let replaced = prepared.apply(unsafe { borrow_bytes(bytes, len) }, options, *memory)?;
        // SAFETY: `out` is not null, so it points to a struct; `counts` is null or points to one.
        unsafe { write_results(replaced, out, counts) };
        Ok(())
    })
}

/// Frees a replacer, or does nothing with null.
///
/// # Safety
/// `replacer` is null or a replacer; the caller does not use it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_replacer_free(replacer: *mut icecore_replacer) {
    if !replacer.is_null() {
        // SAFETY: every replacer comes from `Box::into_raw` in `icecore_replacer_new`, and is
        // freed once: the caller does not use it again.
        drop(unsafe { Box::from_raw(replacer) });
    }
}
