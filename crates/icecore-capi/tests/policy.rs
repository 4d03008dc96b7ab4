//! The class policy of a host in C.

// The structure of each test meets the requirements of the functions: handles live until its end,
// buffers are arrays with their own lengths.
#![allow(clippy::undocumented_unsafe_blocks)]

use icecore_capi::icecore_host::*;
use icecore_capi::icecore_otherwise::*;
use icecore_capi::icecore_use::*;
use icecore_capi::icecore_verdict::*;
use icecore_capi::icecore_words::*;
use icecore_capi::*;
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

fn name(text: &str) -> icecore_class_name {
    icecore_class_name { bytes: text.as_ptr(), len: text.len(), is_text: 1 }
}

fn rules(flags: u32, names: &[&str]) -> *mut icecore_rules {
    let rules = icecore_rules_new(flags);
    for text in names {
        assert_eq!(unsafe { icecore_rules_allow(rules, &name(text), 0, null_mut()) }, ICECORE_OK);
    }
    rules
}

fn verdict(layers: &[*const icecore_rules], flags: u32, text: &str) -> u32 {
    unsafe { icecore_class_verdict(layers.as_ptr(), layers.len(), &name(text), flags, null_mut()) }
}

#[test]
fn one_call_asks_several_layers_of_rules() {
    let call = rules(ICECORE_NAMES_PHP, &["\\App\\User", "Cache\\*"]);
    let process = rules(ICECORE_NAMES_PHP, &[]);
    unsafe { assert_eq!(icecore_rules_otherwise(process, ICECORE_REPORT as u32), ICECORE_OK) };
    let layers = [call.cast_const(), null(), process.cast_const()];
    let ask = |text| verdict(&layers, ICECORE_NAMES_PHP, text);
    assert_eq!(ask("app\\user"), ICECORE_ALLOWED as u32);
    assert_eq!(ask("Cache\\Item"), ICECORE_ALLOWED as u32);
    assert_eq!(ask("App\\Users"), ICECORE_REFUSED as u32 | ICECORE_REPORTED);
    let mut error = MaybeUninit::<icecore_error>::uninit();
    let odd = icecore_class_name { bytes: b"\xff".as_ptr(), len: 1, is_text: 1 };
    unsafe {
        let answer = icecore_class_verdict(layers.as_ptr(), 3, &odd, 0, error.as_mut_ptr());
        assert_eq!(answer, ICECORE_REFUSED as u32);
        let message = CStr::from_ptr(error.assume_init_ref().message.as_ptr()).to_str().unwrap();
        assert!(message.contains("malformed UTF-8"), "{message}");
        assert_ne!(icecore_rules_allow(call, &odd, 0, null_mut()), ICECORE_OK);
        assert_ne!(icecore_rules_otherwise(process, 77), ICECORE_OK);
        icecore_rules_free(call);
        icecore_rules_free(process);
        icecore_rules_free(null_mut());
    }
}

#[test]
fn hosts_with_own_lists_ask_layer_by_layer() {
    let text = String::from("My::Thing");
    let mut question = MaybeUninit::<icecore_question>::uninit();
    let items = ["Other", "My::*"].map(name);
    unsafe {
        let begin = |question: &mut MaybeUninit<icecore_question>| {
            assert_eq!(icecore_question_begin(question.as_mut_ptr(), &name(&text), 0, null_mut()), ICECORE_OK);
        };
        let asked = question.as_mut_ptr();
        begin(&mut question);
        assert_eq!(icecore_question_items(asked, items.as_ptr(), 1), 0);
        assert_eq!(icecore_question_answer(asked), ICECORE_REFUSED as u32);
        assert_eq!(icecore_question_otherwise(asked, ICECORE_RECORD as u32), 0);
        assert_eq!(icecore_question_answer(asked), ICECORE_AS_RECORD as u32);
        assert_eq!(icecore_question_items(asked, items.as_ptr(), 2), 1);
        assert_eq!(icecore_question_answer(asked), ICECORE_ALLOWED as u32);

        begin(&mut question);
        assert_eq!(icecore_question_otherwise(asked, icecore_policy_word(c"any,report".as_ptr(), 10)), 1);
        assert_eq!(icecore_question_allow(asked), 1);
        assert_eq!(icecore_question_answer(asked), ICECORE_ALLOWED as u32 | ICECORE_REPORTED);

        begin(&mut question);
        let held = rules(0, &["My::Thing"]);
        assert_eq!(icecore_question_rules(asked, held), 1);
        assert_eq!(icecore_question_answer(asked), ICECORE_ALLOWED as u32);
        icecore_rules_free(held);
    }
}

unsafe extern "C" fn collect(class: *const icecore_refused_class, data: *mut c_void) {
    unsafe {
        let (class, found) = (&*class, &mut *data.cast::<Vec<String>>());
        let text = |bytes, len| std::str::from_utf8(std::slice::from_raw_parts(bytes, len)).unwrap();
        let name = text(class.name.bytes, class.name.len);
        found.push(format!("{name} at {}", text(class.path.bytes, class.path.len)));
    }
}

#[test]
fn classes_of_a_document_are_checked_before_it_is_built() {
    let input = b"a:3:{i:0;O:3:\"Foo\":0:{}i:1;O:3:\"Foo\":0:{}i:2;E:6:\"Suit:H\";}";
    unsafe {
        let (context, stage) = (icecore_context_new(), icecore_stage_new(c"php".as_ptr(), 3, null_mut()));
        let mut view = MaybeUninit::<icecore_view>::uninit();
        let read = icecore_read(context, stage, input.as_ptr(), input.len(), 0, view.as_mut_ptr(), null_mut());
        assert_eq!(read, ICECORE_OK);
        let view = view.assume_init();
        let refused = |uses: u32, layers: &[*const icecore_rules]| {
            let mut found: Vec<String> = Vec::new();
            let kind = icecore_refused(
                context,
                view.input,
                view.input_len,
                layers.as_ptr(),
                layers.len(),
                ICECORE_NAMES_PHP,
                uses,
                Some(collect),
                (&raw mut found).cast(),
                null_mut(),
            );
            assert_eq!(kind, ICECORE_OK);
            found
        };
        let both = ICECORE_USE_OBJECT as u32 | ICECORE_USE_ENUM as u32;
        assert_eq!(refused(both, &[]), ["Foo at $[0]", "Suit at $[2]"]);
        assert_eq!(refused(ICECORE_USE_ENUM as u32, &[]), ["Suit at $[2]"]);
        let held = rules(ICECORE_NAMES_PHP, &["foo"]);
        assert_eq!(refused(both, &[held.cast_const()]), ["Suit at $[2]"]);
        // The document still exists.
        let mut path = [0 as c_char; 8];
        assert_eq!(icecore_path(context, view.input, view.input_len, 1, path.as_mut_ptr(), 8), 4);
        icecore_rules_free(held);
        icecore_stage_free(stage);
        icecore_context_free(context);
    }
}

#[test]
fn texts_are_cut_to_the_size_of_the_buffer() {
    let mut text = [1 as c_char; 64];
    let texts = [
        (ICECORE_WORDS_LITERAL, "'App\\\\User'"),
        (ICECORE_WORDS_SHOWN, "App\\User"),
        (ICECORE_WORDS_REMEDY, "allow it with 'allowed_classes' => ['App\\\\User']"),
    ];
    for (texts, expected) in texts {
        let len = unsafe {
            let user = name("App\\User");
            icecore_class_words(texts as u32, ICECORE_PHP as u32, &user, 0, null(), 0, text.as_mut_ptr(), 64)
        };
        assert_eq!(unsafe { CStr::from_ptr(text.as_ptr()) }.to_str(), Ok(expected));
        assert_eq!(len, expected.len());
    }
    let refused = ICECORE_WORDS_REFUSED as u32;
    unsafe {
        let evil = name("Evil");
        let len =
            icecore_class_words(refused, ICECORE_RUBY as u32, &evil, 0, c"$[3]".as_ptr(), 4, text.as_mut_ptr(), 22);
        assert!(len > 60);
        assert_eq!(CStr::from_ptr(text.as_ptr()).to_str(), Ok("the class Evil at $[3"));
        assert_eq!(icecore_class_words(99, 0, &evil, 0, null(), 0, text.as_mut_ptr(), 64), 0);
        assert_eq!(icecore_class_words(0, 99, &evil, 0, null(), 0, text.as_mut_ptr(), 64), 0);
        assert_eq!(icecore_class_words(0, 0, null(), 0, null(), 0, null_mut(), 0), 0);
    }
}

#[test]
fn null_arguments_are_refused() {
    let usage = icecore_error_kind::ICECORE_USAGE as u32;
    unsafe {
        assert_eq!(icecore_class_verdict(null(), 3, null(), 0, null_mut()), ICECORE_REFUSED as u32);
        assert_eq!(icecore_question_begin(null_mut(), null(), 0, null_mut()), usage);
        assert_eq!(icecore_question_items(null_mut(), null(), 3), 0);
        assert_eq!(icecore_question_answer(null()), ICECORE_REFUSED as u32);
        assert_eq!(icecore_rules_allow(null_mut(), null(), 0, null_mut()), usage);
        assert_eq!(icecore_refused(null_mut(), null(), 0, null(), 0, 0, 0, None, null_mut(), null_mut()), usage);
    }
}
