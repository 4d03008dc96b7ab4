//! The C interface of Icecore: `include/icecore.h`.
//!
//! Any program can use [`icecore_convert`]: bytes in, bytes out. The language modules use the rest: [`icecore_read`]
//! returns a *view* of the tape of a document; [`icecore_begin`] lends a *tape*, which the caller fills and
//! [`icecore_write`] writes. So a module needs one call for a document, not one for each value.
//!
//! Rules for every function:
//!
//! - It returns [`ICECORE_OK`] or the kind of the error, and describes the error
//!   in a struct that the caller owns; the struct may be null.
//! - It never unwinds: a panic is returned as `ICECORE_PANIC`.
//! - Handles are used by one thread at a time. There is no other state.
//! - Bytes are lent for the duration of the call, unless the function's description says otherwise.
//!
//! Guarantees of callers, on which the SAFETY comments rely:
//!
//! - *Handles.* A pointer to a context, a stage, rules or a replacer is null, or a function of this
//!   library returned it and it was not freed. During a call that changes a handle no
//!   other call uses it.
//! - *Structs.* A pointer to a struct is null, or points to an aligned one. A struct for results may be uninitialised:
//!   it is written as a whole, and never borrowed before.
//! - *Bytes.* A pointer with a length points to this number of bytes, which do not change while they are lent. With the
//!   length 0 it may be anything.
#![allow(non_camel_case_types, reason = "these are the names in C")]

mod class_map;
mod classes;
mod context;
mod convert;
mod error;
mod filling;
mod json;
mod kinds;
mod losses;
mod policy;
mod replace;
mod sereal;
mod stage;
mod tape;
mod write;

pub use class_map::{icecore_class_map, icecore_class_map_free, icecore_class_map_name, icecore_class_map_new};
pub use classes::{icecore_class_use, icecore_classes};
pub use context::{
    icecore_context, icecore_context_free, icecore_context_memory, icecore_context_new, icecore_context_trim,
    icecore_context_trim_to, icecore_path, icecore_read,
};
pub use convert::{
    icecore_buffer, icecore_buffer_free, icecore_convert, icecore_convert_stages, icecore_convert_with_losses,
    icecore_convert_within,
};
pub use error::{ICECORE_OK, ICECORE_PANIC, icecore_error, icecore_error_detail, icecore_error_kind};
pub use filling::{
    icecore_begin, icecore_class, icecore_encoded_class, icecore_encoding, icecore_grow_arena, icecore_grow_nodes,
    icecore_key, icecore_long_string,
};
pub use json::{icecore_json_read, icecore_json_style, icecore_json_write};
pub use kinds::{
    ICECORE_FLAG_BARE, ICECORE_FLAG_DEFAULT, ICECORE_FLAG_HINT, ICECORE_FLAG_IDENTITY, ICECORE_FLAG_ITEM,
    ICECORE_FLAG_LOCKED, ICECORE_FLAG_NEGATIVE, ICECORE_FLAG_OVERLOAD, ICECORE_FLAG_OWN, ICECORE_FLAG_PLACEHOLDER,
    ICECORE_FLAG_REF, ICECORE_FLAG_RESTRICTED, ICECORE_FLAG_TARGET, ICECORE_FLAG_VARIABLE, ICECORE_FLAG_WAS_TEXT,
    ICECORE_FLAG_WEAK, ICECORE_IN_ARENA, ICECORE_IS_KEY, ICECORE_KEY_PRECEDES, ICECORE_LONG,
    ICECORE_MAX_ENTRIES_WITH_IDS, ICECORE_NO_KEY, ICECORE_OFFSET, icecore_form, icecore_kind,
};
pub use losses::icecore_loss_part;
pub use policy::{
    ICECORE_NAMES_PHP, ICECORE_REPORTED, icecore_class_name, icecore_class_verdict, icecore_class_words, icecore_host,
    icecore_otherwise, icecore_policy_word, icecore_question, icecore_question_allow, icecore_question_answer,
    icecore_question_begin, icecore_question_items, icecore_question_otherwise, icecore_question_rules,
    icecore_refused, icecore_refused_class, icecore_rules, icecore_rules_allow, icecore_rules_free, icecore_rules_new,
    icecore_rules_otherwise, icecore_use, icecore_verdict, icecore_words,
};
pub use replace::{
    ICECORE_REPLACE_BASE64, ICECORE_REPLACE_CLASSES, ICECORE_REPLACE_IGNORE_CASE, ICECORE_REPLACE_KEYS,
    ICECORE_REPLACE_MEND, ICECORE_REPLACE_REGEX, ICECORE_REPLACE_URL, icecore_pair, icecore_replace, icecore_replaced,
    icecore_replacer, icecore_replacer_apply, icecore_replacer_free, icecore_replacer_limit, icecore_replacer_new,
    icecore_replacer_prepare,
};
pub use sereal::{icecore_sereal_find_header, icecore_sereal_header};
pub use stage::{
    icecore_detect, icecore_stage, icecore_stage_format, icecore_stage_free, icecore_stage_limit, icecore_stage_memory,
    icecore_stage_new, icecore_stage_spec,
};
pub use tape::{
    ICECORE_ASCII_BYTES, ICECORE_EACH, ICECORE_FOR_PERL, ICECORE_NONE, ICECORE_PARTIAL, ICECORE_TAPE_VERSION,
    icecore_bytes, icecore_long, icecore_name, icecore_names, icecore_node, icecore_tape, icecore_tape_version,
    icecore_view,
};
pub use write::{
    icecore_loss, icecore_loss_parts, icecore_take_part, icecore_value_end, icecore_view_tape, icecore_write,
    icecore_write_part,
};

use std::ffi::c_char;

/// Returns the version of the library, such as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn icecore_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the bytes that a caller lends. A null pointer means no bytes.
///
/// # Safety
/// `ptr` is null, or `len` is 0, or `ptr` points to `len` bytes that do not change for `'a`.
unsafe fn borrow_bytes<'a>(ptr: *const u8, len: usize) -> &'a [u8] {
    if ptr.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: `ptr` is not null and `len` is not 0, so `ptr` points to `len` initialised bytes. Bytes need no
    // alignment.
    unsafe { std::slice::from_raw_parts(ptr, len) }
}
