//! The functions as C calls them, including wrong arguments.

// The structure of each test meets the requirements of the functions: handles live until its end, buffers are arrays
// with their own lengths.
#![allow(clippy::undocumented_unsafe_blocks)]

use icecore_capi::*;
use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

fn stage(spec: &str) -> *mut icecore_stage {
    let mut error = MaybeUninit::<icecore_error>::uninit();
    let stage = unsafe { icecore_stage_new(spec.as_ptr().cast(), spec.len(), error.as_mut_ptr()) };
    assert!(!stage.is_null(), "{spec}");
    stage
}

fn message(error: &icecore_error) -> &str {
    unsafe { CStr::from_ptr(error.message.as_ptr()) }.to_str().unwrap()
}

/// Reads the bytes. Returns the view or the error.
fn read(
    context: *mut icecore_context,
    stage: *const icecore_stage,
    input: &[u8],
    flags: u32,
) -> Result<icecore_view, Box<icecore_error>> {
    let mut view = MaybeUninit::uninit();
    let mut error = Box::new(MaybeUninit::<icecore_error>::uninit());
    unsafe {
        match icecore_read(context, stage, input.as_ptr(), input.len(), flags, view.as_mut_ptr(), error.as_mut_ptr()) {
            ICECORE_OK => Ok(view.assume_init()),
            kind => {
                let error = error.assume_init();
                assert_eq!(error.kind, kind);
                Err(error)
            }
        }
    }
}

#[test]
fn null_arguments_are_usage_errors() {
    let mut error = MaybeUninit::<icecore_error>::uninit();
    unsafe {
        let usage = icecore_error_kind::ICECORE_USAGE as u32;
        assert_eq!(icecore_read(null_mut(), null_mut(), null_mut(), 0, 0, null_mut(), error.as_mut_ptr()), usage);
        assert_eq!(icecore_write(null_mut(), null_mut(), null_mut(), null_mut(), null_mut(), null_mut()), usage);
        assert_eq!(icecore_begin(null_mut(), null_mut()), usage);
        assert_eq!(icecore_convert(null_mut(), 0, null_mut(), null_mut(), null_mut(), null_mut()), usage);
        assert_eq!(icecore_stage_limit(null_mut(), null_mut(), 0, 1, null_mut()), usage);
        assert_eq!(icecore_key(null_mut(), 8, 0, null_mut(), 0), 0);
        assert_eq!(icecore_class(null_mut(), 8, null_mut(), 0), 0);
        assert!(icecore_stage_format(null_mut()).is_null());
        assert!(icecore_detect(null_mut(), 0, null_mut()).is_null());
        assert_eq!(icecore_path(null_mut(), null_mut(), 0, 0, null_mut(), 0), 0);
        icecore_stage_free(null_mut());
        icecore_context_free(null_mut());
        icecore_context_trim(null_mut());
        icecore_buffer_free(null_mut());
    }
}

#[test]
fn errors_have_kind_offset_path_and_message() {
    let (context, json) = (icecore_context_new(), stage("json"));
    let error = read(context, json, br#"{"staff": [1, x]}"#, 0).err().unwrap();
    assert_eq!((error.kind, error.offset), (icecore_error_kind::ICECORE_MALFORMED as u32, 14));
    assert_eq!((error.detail, error.original_offset), (0, -1));
    // The other fields keep their places for programs that were compiled before this one existed.
    assert_eq!((size_of::<icecore_error>(), std::mem::offset_of!(icecore_error, message)), (1552, 528));
    assert_eq!(unsafe { CStr::from_ptr(error.path.as_ptr()) }.to_str(), Ok("$.staff[1]"));
    assert!(message(&error).contains("at offset 14 at $.staff[1]"), "{}", message(&error));
    // A path that is too long is cut off between characters.
    let deep = format!("{}{}", "{\"\u{263a}\u{263a}\u{263a}\":".repeat(200), "x");
    let error = read(context, json, deep.as_bytes(), 0).err().unwrap();
    let path = unsafe { CStr::from_ptr(error.path.as_ptr()) };
    assert!(path.to_str().is_ok() && path.to_bytes().len() > 500);
    unsafe {
        icecore_stage_free(json);
        icecore_context_free(context);
    }
}

/// If requested, an error comes with a view of the data that was read before it.
#[test]
fn a_partial_view_contains_the_values_before_the_error() {
    // An image of Storable in network order: a list of two items, the second of which is missing. And the same in
    // Sereal.
    let storable = b"\x05\x0b\x02\0\0\0\x02\x11\x04Evil\x02\0\0\0\0\x0a";
    let body = b"\x28\x2b\x02\x2c\x64Evil\x28\x2b\0";
    let sereal = [b"=\xf3rl\x05\0".as_slice(), body].concat();
    let context = icecore_context_new();
    for (spec, input) in [("storable", storable.as_slice()), ("sereal", sereal.as_slice())] {
        let stage = stage(spec);
        let mut error = Box::new(MaybeUninit::<icecore_error>::uninit());
        let mut view = MaybeUninit::<icecore_view>::zeroed();
        let flags = ICECORE_EACH | ICECORE_PARTIAL;
        let kind = unsafe {
            icecore_read(context, stage, input.as_ptr(), input.len(), flags, view.as_mut_ptr(), error.as_mut_ptr())
        };
        assert_eq!(kind, icecore_error_kind::ICECORE_TRUNCATED as u32, "{spec}");
        let view = unsafe { view.assume_init() };
        let nodes = unsafe { std::slice::from_raw_parts(view.nodes, view.node_count) };
        assert!(
            nodes.iter().any(|node| node.kind == 35),
            "{spec}: no object in {:?}",
            nodes.iter().map(|node| node.kind).collect::<Vec<_>>()
        );
        // Without the flag the view is unchanged.
        let mut view = MaybeUninit::<icecore_view>::zeroed();
        unsafe {
            icecore_read(
                context,
                stage,
                input.as_ptr(),
                input.len(),
                ICECORE_EACH,
                view.as_mut_ptr(),
                error.as_mut_ptr(),
            );
            assert!(view.assume_init().nodes.is_null());
            icecore_stage_free(stage);
        }
    }
    unsafe { icecore_context_free(context) };
}

#[test]
fn keys_keep_their_ids_from_view_to_view() {
    let (context, json) = (icecore_context_new(), stage("json"));
    let first = read(context, json, br#"{"name": "Alice", "id": 1}"#, 0).ok().unwrap();
    let nodes = unsafe { std::slice::from_raw_parts(first.nodes, first.node_count) };
    assert_eq!(nodes.iter().map(|node| node.kind).collect::<Vec<_>>(), [33, 9, 2]);
    let ids = (nodes[1].key, nodes[2].key);
    let generation = first.keys.generation;
    let second = read(context, json, br#"[{"id": 1}, {"name": 2}]"#, 0).ok().unwrap();
    let nodes = unsafe { std::slice::from_raw_parts(second.nodes, second.node_count) };
    assert_eq!((nodes[4].key, nodes[2].key), ids);
    assert_eq!(second.keys.generation, generation);

    let mut path = [0 as c_char; 64];
    let len = unsafe { icecore_path(context, second.input, second.input_len, 4, path.as_mut_ptr(), path.len()) };
    assert_eq!(unsafe { CStr::from_ptr(path.as_ptr()) }.to_str(), Ok("$[1].name"));
    assert_eq!(len, 9);
    let len = unsafe { icecore_path(context, second.input, second.input_len, 4, path.as_mut_ptr(), 4) };
    assert_eq!((len, unsafe { CStr::from_ptr(path.as_ptr()) }.to_str()), (9, Ok("$[1")));

    assert!(read(context, json, b"1 2", 0).is_err());
    assert_eq!(read(context, json, b"1 2", ICECORE_EACH).ok().unwrap().consumed, 2);
    unsafe {
        icecore_stage_free(json);
        icecore_context_free(context);
    }
}

#[test]
fn reading_obeys_the_limits() {
    let (context, json) = (icecore_context_new(), stage("json"));
    unsafe {
        assert_eq!(icecore_stage_limit(json, c"depth".as_ptr(), 5, 3, null_mut()), ICECORE_OK);
        assert_ne!(icecore_stage_limit(json, c"width".as_ptr(), 5, 3, null_mut()), ICECORE_OK);
    }
    assert!(read(context, json, b"[[[]]]", 0).is_ok());
    let error = read(context, json, b"[[[[]]]]", 0).err().unwrap();
    assert_eq!(error.kind, icecore_error_kind::ICECORE_LIMIT as u32);
    unsafe {
        icecore_stage_free(json);
        icecore_context_free(context);
    }
}

#[test]
fn icecore_convert_converts_json_to_storable() {
    let (mut out, mut error) = (MaybeUninit::uninit(), MaybeUninit::<icecore_error>::uninit());
    let to = CString::new("storable:memory,netorder").unwrap();
    unsafe {
        let kind = icecore_convert(b"[1]".as_ptr(), 3, null_mut(), to.as_ptr(), out.as_mut_ptr(), error.as_mut_ptr());
        assert_eq!(kind, ICECORE_OK);
        let mut out: icecore_buffer = out.assume_init();
        assert_eq!(std::slice::from_raw_parts(out.bytes, out.len), b"\x05\x0b\x02\0\0\0\x01\x08\x81");
        icecore_buffer_free(&mut out);
        assert!(out.bytes.is_null());
        icecore_buffer_free(&mut out);
    }
}

#[test]
fn a_conversion_reports_its_losses() {
    let (context, php, json) = (icecore_context_new(), stage("php"), stage("json"));
    let mut error = MaybeUninit::<icecore_error>::uninit();
    let text = |bytes: icecore_bytes| unsafe { std::slice::from_raw_parts(bytes.bytes, bytes.len) };
    let convert = |bytes: &[u8], error: *mut icecore_error| {
        let (mut out, mut count) = (MaybeUninit::<icecore_buffer>::uninit(), usize::MAX);
        let kind = unsafe {
            let pointer = out.as_mut_ptr();
            icecore_convert_with_losses(context, php, bytes.as_ptr(), bytes.len(), json, pointer, &mut count, error)
        };
        (kind == ICECORE_OK).then(|| unsafe {
            let mut out = out.assume_init();
            let converted = std::slice::from_raw_parts(out.bytes, out.len).to_vec();
            icecore_buffer_free(&mut out);
            (converted, count)
        })
    };
    assert_eq!(convert(b"i:1;", error.as_mut_ptr()), Some((b"1".to_vec(), 0)));
    let object = b"a:1:{i:0;O:1:\"A\":1:{s:1:\"a\";i:1;}}";
    assert_eq!(convert(object, error.as_mut_ptr()), Some((b"[{\"a\":1}]".to_vec(), 1)));
    unsafe {
        let mut parts = MaybeUninit::<icecore_loss_part>::uninit();
        assert_eq!(icecore_loss_parts(context, 0, parts.as_mut_ptr()), ICECORE_OK);
        let parts = parts.assume_init();
        assert_eq!((text(parts.kind), text(parts.path), parts.count), (&b"class"[..], &b"$[0]"[..], 1));
        assert_eq!(text(parts.text), b"1 class name dropped, first at $[0]");
        let mut whole = MaybeUninit::<icecore_bytes>::uninit();
        assert_eq!(icecore_loss(context, 0, whole.as_mut_ptr()), ICECORE_OK);
        assert_eq!(text(whole.assume_init()), text(parts.text));
        assert_ne!(icecore_loss_parts(context, 1, MaybeUninit::uninit().as_mut_ptr()), ICECORE_OK);
        assert_ne!(icecore_loss_parts(context, 0, null_mut()), ICECORE_OK);
        assert_ne!(icecore_loss_parts(null_mut(), 0, MaybeUninit::uninit().as_mut_ptr()), ICECORE_OK);
    }
    assert_eq!(convert(b"a:1:{", error.as_mut_ptr()), None);
    let null = unsafe {
        let mut out = MaybeUninit::<icecore_buffer>::uninit();
        icecore_convert_with_losses(null_mut(), php, null_mut(), 0, json, out.as_mut_ptr(), null_mut(), null_mut())
    };
    assert_ne!(null, ICECORE_OK);
    unsafe {
        icecore_stage_free(php);
        icecore_stage_free(json);
        icecore_context_free(context);
    }
}
