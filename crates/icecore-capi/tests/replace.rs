//! Replacing, through the C functions.

// The structure of each test meets the requirements of the functions: handles live until its end,
// buffers are arrays with their own lengths.
#![allow(clippy::undocumented_unsafe_blocks)]

use icecore_capi::*;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

const USAGE: u32 = icecore_error_kind::ICECORE_USAGE as u32;

fn pair(from: &[u8], to: &[u8]) -> icecore_pair {
    icecore_pair { from: from.as_ptr(), from_len: from.len(), to: to.as_ptr(), to_len: to.len() }
}

/// The new bytes (`None` if nothing changed) and the counts.
type Outcome = Result<(Option<Vec<u8>>, icecore_replaced), (u32, String)>;

fn outcome(call: impl FnOnce(*mut icecore_buffer, *mut icecore_replaced, *mut icecore_error) -> u32) -> Outcome {
    let (mut out, mut counts) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let mut error = Box::new(MaybeUninit::<icecore_error>::uninit());
    let kind = call(out.as_mut_ptr(), counts.as_mut_ptr(), error.as_mut_ptr());
    if kind != ICECORE_OK {
        let error = unsafe { error.assume_init() };
        let message = unsafe { CStr::from_ptr(error.message.as_ptr()) }.to_str().unwrap();
        assert_eq!(error.kind, kind);
        return Err((kind, message.to_owned()));
    }
    let (mut out, counts): (icecore_buffer, icecore_replaced) = unsafe { (out.assume_init(), counts.assume_init()) };
    let bytes = (counts.is_changed == 1).then(|| unsafe { std::slice::from_raw_parts(out.bytes, out.len) }.to_vec());
    assert_eq!(out.bytes.is_null(), bytes.is_none());
    unsafe { icecore_buffer_free(&mut out) };
    Ok((bytes, counts))
}

fn replace(bytes: &[u8], format: &str, pairs: &[icecore_pair], flags: u32) -> Outcome {
    let format = CString::new(format).unwrap();
    outcome(|out, counts, error| unsafe {
        let (len, count) = (bytes.len(), pairs.len());
        icecore_replace(bytes.as_ptr(), len, format.as_ptr(), pairs.as_ptr(), count, flags, out, counts, error)
    })
}

fn prepare(replacer: *mut icecore_replacer, pairs: &[icecore_pair], format: &[u8], flags: u32) -> u32 {
    let format_at = format.as_ptr().cast();
    unsafe {
        icecore_replacer_prepare(replacer, pairs.as_ptr(), pairs.len(), format_at, format.len(), flags, null_mut())
    }
}

fn apply(replacer: *const icecore_replacer, bytes: &[u8]) -> Outcome {
    outcome(|out, counts, error| unsafe {
        icecore_replacer_apply(replacer, bytes.as_ptr(), bytes.len(), out, counts, error)
    })
}

const PHP: &[u8] = br#"a:2:{s:3:"old";s:7:"an old ";i:0;O:3:"Old":0:{}}"#;

#[test]
fn replacing_updates_lengths() {
    let pairs = [pair(b"old", b"brand new")];
    let (bytes, counts) = replace(PHP, "", &pairs, 0).unwrap();
    assert_eq!(bytes.unwrap(), br#"a:2:{s:3:"old";s:13:"an brand new ";i:0;O:3:"Old":0:{}}"#);
    assert_eq!((counts.strings, counts.occurrences, counts.broken), (1, 1, 0));
    let all = ICECORE_REPLACE_KEYS | ICECORE_REPLACE_CLASSES | ICECORE_REPLACE_IGNORE_CASE;
    let pairs = [pair(b"old", b"brand_new")];
    let (bytes, counts) = replace(PHP, "php", &pairs, all).unwrap();
    assert_eq!(bytes.unwrap(), br#"a:2:{s:9:"brand_new";s:13:"an brand_new ";i:0;O:9:"brand_new":0:{}}"#);
    assert_eq!((counts.strings, counts.occurrences), (3, 3));
}

#[test]
fn plain_text_is_replaced_as_text() {
    let pairs = [pair(b"a", b"b"), pair(b"b", b"a")];
    let (bytes, counts) = replace(b"ab and ba", "", &pairs, 0).unwrap();
    assert_eq!(bytes.unwrap(), b"ba bnd ab");
    assert_eq!((counts.strings, counts.occurrences, counts.frozen), (1, 5, 0));
    let (bytes, _) = replace(b"joe@old", "", &[pair(br"(\w+)@old", b"$1@new")], ICECORE_REPLACE_REGEX).unwrap();
    assert_eq!(bytes.unwrap(), b"joe@new");
    let urls = [pair(b"https://old.example", b"https://new.example")];
    let (bytes, _) = replace(br"http:\/\/old.example\/a", "", &urls, ICECORE_REPLACE_URL).unwrap();
    assert_eq!(bytes.unwrap(), br"http:\/\/new.example\/a");
    // Text that becomes empty is a change too.
    let (bytes, counts) = replace(b"a", "", &[pair(b"a", b"")], 0).unwrap();
    assert_eq!((bytes.unwrap().len(), counts.is_changed), (0, 1));
}

#[test]
fn unchanged_input_gives_no_output() {
    for (bytes, format) in [(PHP, ""), (PHP, "php"), (&b"text"[..], ""), (b"", "")] {
        let (bytes, counts) = replace(bytes, format, &[pair(b"none", b"some")], 0).unwrap();
        assert!(bytes.is_none());
        assert_eq!((counts.is_changed, counts.strings, counts.occurrences), (0, 0, 0));
    }
}

#[test]
fn broken_frozen_data_is_changed_as_text() {
    let broken = br#"a:1:{i:0;s:99:"old";}"#;
    let (bytes, counts) = replace(broken, "", &[pair(b"old", b"brand new")], 0).unwrap();
    assert_eq!(bytes.unwrap(), br#"a:1:{i:0;s:99:"brand new";}"#);
    let reason = unsafe { CStr::from_ptr(counts.first_broken.as_ptr()) }.to_str().unwrap();
    assert_eq!(counts.broken, 1);
    assert!(reason.starts_with("php at offset "), "{reason}");
    let (bytes, counts) = replace(broken, "", &[pair(b"old", b"brand new")], ICECORE_REPLACE_MEND).unwrap();
    assert_eq!(bytes.unwrap(), br#"a:1:{i:0;s:9:"brand new";}"#);
    assert_eq!((counts.broken, counts.mended, counts.guessed), (0, 1, 0));
    let explanations = |counts: &icecore_replaced| {
        unsafe { CStr::from_ptr(counts.explanations.as_ptr()) }.to_str().unwrap().to_owned()
    };
    assert_eq!(explanations(&counts), "replaced-text=1");
    let latin1 = "a:2:{i:0;s:5:\"Grüße\";i:1;s:3:\"old\";}".as_bytes();
    let (_, counts) = replace(latin1, "", &[pair(b"old", b"new")], ICECORE_REPLACE_MEND).unwrap();
    assert_eq!((explanations(&counts).as_str(), counts.guessed), ("latin1=1", 0));
    // With a format it is an error.
    let (kind, _) = replace(broken, "php", &[pair(b"old", b"brand new")], 0).err().unwrap();
    assert_ne!(kind, USAGE);
}

#[test]
fn wrong_arguments_get_advice() {
    let refused = |pairs: &[icecore_pair], format: &str, flags: u32| replace(b"x", format, pairs, flags).err().unwrap();
    let one = [pair(b"a", b"b")];
    for ((kind, message), words) in [
        (refused(&[], "", 0), "give OLD and NEW"),
        (refused(&[pair(b"", b"b")], "", 0), "give a text"),
        (refused(&[pair(b"a", b"b"), pair(b"a", b"c")], "", 0), "give it once"),
        (refused(&[pair(b"(", b"b")], "", ICECORE_REPLACE_REGEX), "`(`"),
        (refused(&[pair(b"a", b"$2")], "", ICECORE_REPLACE_REGEX), "no group `2`"),
        (refused(&one, "", ICECORE_REPLACE_URL), "https://"),
        (refused(&one, "", 1 << 20), "ICECORE_REPLACE_"),
        (refused(&one, "", ICECORE_REPLACE_URL | ICECORE_REPLACE_REGEX), "both"),
    ] {
        assert_eq!(kind, USAGE, "{message}");
        assert!(message.contains(words), "{message}: {words}");
    }
    let (_, message) = refused(&one, "phb", 0);
    assert!(message.contains("php"), "{message}");
}

#[test]
fn null_arguments_are_usage_errors() {
    let (pairs, bytes) = ([pair(b"a", b"b")], b"a");
    unsafe {
        let replacer = icecore_replacer_new();
        let mut out = MaybeUninit::uninit();
        assert_eq!(icecore_replace(null(), 0, null(), null(), 0, 0, null_mut(), null_mut(), null_mut()), USAGE);
        assert_eq!(icecore_replacer_prepare(null_mut(), null(), 0, null(), 0, 0, null_mut()), USAGE);
        assert_eq!(icecore_replacer_prepare(replacer, null(), 5, null(), 5, 0, null_mut()), USAGE);
        assert_eq!(icecore_replacer_limit(null_mut(), null(), 0, 1, null_mut()), USAGE);
        assert_eq!(icecore_replacer_limit(replacer, null(), 0, 1, null_mut()), USAGE);
        assert_eq!(icecore_replacer_apply(null(), null(), 0, null_mut(), null_mut(), null_mut()), USAGE);
        assert_eq!(icecore_replacer_apply(replacer, null(), 0, out.as_mut_ptr(), null_mut(), null_mut()), USAGE);
        icecore_replacer_free(null_mut());
        icecore_replacer_free(replacer);
        // Counts and the error may be null.
        let ended =
            icecore_replace(bytes.as_ptr(), 1, null(), pairs.as_ptr(), 1, 0, out.as_mut_ptr(), null_mut(), null_mut());
        assert_eq!(ended, ICECORE_OK);
        icecore_buffer_free(out.as_mut_ptr());
    }
}

#[test]
fn a_replacer_uses_its_last_preparation() {
    let replacer = icecore_replacer_new();
    let (one, two) = ([pair(b"a", b"b")], [pair(b"a", b"c")]);
    let replace_a = |replacer| apply(replacer, b"a A").unwrap().0.unwrap();
    assert_eq!(apply(replacer, b"a").err().map(|(kind, _)| kind), Some(USAGE));
    for (pairs, flags, expected) in
        [(&one, 0, b"b A"), (&one, 0, b"b A"), (&two, 0, b"c A"), (&two, ICECORE_REPLACE_IGNORE_CASE, b"c c")]
    {
        assert_eq!(prepare(replacer, pairs, b"", flags), ICECORE_OK);
        assert_eq!((replace_a(replacer), replace_a(replacer)), (expected.to_vec(), expected.to_vec()));
    }
    // With a format, and then without one again.
    assert_eq!(prepare(replacer, &one, b"json", 0), ICECORE_OK);
    assert!(apply(replacer, b"a A").is_err());
    assert_eq!(prepare(replacer, &one, b"", 0), ICECORE_OK);
    assert_eq!(replace_a(replacer), b"b A");
    // After a wrong call, nothing is prepared.
    assert_eq!(prepare(replacer, &one, b"\xff", 0), USAGE);
    assert_eq!(apply(replacer, b"a").err().map(|(kind, _)| kind), Some(USAGE));
    unsafe { icecore_replacer_free(replacer) };
}

#[test]
fn limits_apply_until_the_next_preparation() {
    let replacer = icecore_replacer_new();
    let pairs = [pair(b"a", b"b")];
    let deep = br#"a:1:{i:0;a:1:{i:0;s:1:"a";}}"#;
    assert_eq!(prepare(replacer, &pairs, b"php", 0), ICECORE_OK);
    assert!(apply(replacer, deep).is_ok());
    let limit = unsafe { icecore_replacer_limit(replacer, c"depth".as_ptr(), 5, 1, null_mut()) };
    assert_eq!(limit, ICECORE_OK);
    let kind = apply(replacer, deep).err().map(|(kind, _)| kind);
    assert_eq!(kind, Some(icecore_error_kind::ICECORE_LIMIT as u32));
    assert_eq!(prepare(replacer, &pairs, b"php", 0), ICECORE_OK);
    assert!(apply(replacer, deep).is_ok());
    unsafe { icecore_replacer_free(replacer) };
}

#[test]
fn replacements_that_grow_too_much_are_refused() {
    let (many, long) = (vec![b'a'; 100_000], vec![b'b'; 100_000]);
    let (kind, message) = replace(&many, "", &[pair(b"a", &long)], 0).err().unwrap();
    assert_eq!(kind, icecore_error_kind::ICECORE_LIMIT as u32);
    assert!(message.contains("would grow too much (replace by something shorter"), "{message}");
    let (bytes, _) = replace(&many[..100], "", &[pair(b"a", &long)], 0).unwrap();
    assert_eq!(bytes.unwrap().len(), 100 * 100_000);
    let replacer = icecore_replacer_new();
    assert_eq!(prepare(replacer, &[pair(b"a", b"bb")], b"", 0), ICECORE_OK);
    unsafe { icecore_replacer_limit(replacer, c"output".as_ptr(), 6, 10, null_mut()) };
    assert!(apply(replacer, b"aaaaa").is_ok());
    assert!(apply(replacer, b"aaaaaa").is_err());
    unsafe { icecore_replacer_free(replacer) };
}
