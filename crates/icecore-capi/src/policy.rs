//! Policies: which classes may be built.
//!
//! A host that stores its lists as `icecore_rules` needs one call, `icecore_class_verdict`. A host that stores its
//! lists as values of its language evaluates them layer by layer: `icecore_question_begin`, a call for each list, then
//! `icecore_question_answer`.

use crate::borrow_bytes;
use crate::context::icecore_context;
use crate::error::{ErrorOut, icecore_error, run_guarded, usage_error, write_text, zero_chars};
use crate::tape::icecore_bytes;
use icecore::policy::{
    Answer, ClassMessages, ClassName, Host, NameComparison, Otherwise, Question, Rules, State, Verdict, refused,
};
use icecore::{Document, Error, value::ClassUse};
use std::ffi::{c_char, c_void};

/// Names are compared as in PHP: ASCII letters without regard to case, and one leading `\` is ignored.
pub const ICECORE_NAMES_PHP: u32 = 1;
/// Flag of an answer: the host reports the class, once.
pub const ICECORE_REPORTED: u32 = 16;

/// The decision about a class.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_verdict {
    /// The document is refused.
    ICECORE_REFUSED = 0,
    /// Its objects may be built.
    ICECORE_ALLOWED = 1,
    /// A neutral record is built instead of an object.
    ICECORE_AS_RECORD = 2,
}

/// The rule for the classes that are in no list.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_otherwise {
    /// The next layer decides.
    ICECORE_ASK_ON = 0,
    /// All classes may be built.
    ICECORE_ANY = 1,
    /// All classes may be built, and each is reported.
    ICECORE_ANY_REPORTED = 2,
    /// A neutral record is built instead of an object.
    ICECORE_RECORD = 3,
    /// Nothing is built, and each class is reported with the rule that would allow it.
    ICECORE_REPORT = 4,
    /// Nothing is built, and later layers are not consulted.
    ICECORE_REFUSE = 5,
}

/// The kinds of use of a class in a document: bits.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_use {
    /// An object of it, in any form.
    ICECORE_USE_OBJECT = 1,
    /// An enum case.
    ICECORE_USE_ENUM = 2,
    /// A module mixed into a value.
    ICECORE_USE_MODULE = 4,
    /// The class or the module itself, as a value.
    ICECORE_USE_NAME = 8,
    /// A regular expression.
    ICECORE_USE_REGEXP = 16,
}

/// The language whose terms a message uses.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_host {
    /// Perl.
    ICECORE_PERL = 0,
    /// PHP.
    ICECORE_PHP = 1,
    /// Ruby.
    ICECORE_RUBY = 2,
}

/// A message about a class.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_words {
    /// Its name as a literal of the host.
    ICECORE_WORDS_LITERAL = 0,
    /// Its name, as a literal if it has characters that a class name can't have.
    ICECORE_WORDS_SHOWN = 1,
    /// A suggestion that allows it.
    ICECORE_WORDS_REMEDY = 2,
    /// The message that it is refused at a path, with the suggestion.
    ICECORE_WORDS_REFUSED = 3,
    /// The message that it was built, with the suggestion.
    ICECORE_WORDS_BUILT = 4,
}

/// The name of a class, or a pattern for such names, in which `*` matches any characters. Lent for the duration of the
/// call; the name of a question until it is answered.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct icecore_class_name {
    /// Its bytes.
    pub bytes: *const u8,
    /// Number of bytes.
    pub len: usize,
    /// Whether the bytes are UTF-8.
    pub is_text: u32,
}

impl icecore_class_name {
    /// # Safety
    /// `bytes` points to `len` bytes that stay as they are for `'n`.
    unsafe fn borrow_name<'n>(&self) -> (&'n [u8], bool) {
        // SAFETY: `bytes` and `len` belong together, and the bytes stay for `'n`.
        (unsafe { borrow_bytes(self.bytes, self.len) }, self.is_text != 0)
    }
}

/// A question about a class. The caller owns the struct; there is nothing to free.
#[repr(C)]
pub struct icecore_question {
    /// The class.
    pub name: icecore_class_name,
    /// `ICECORE_NAMES_PHP` or 0.
    pub flags: u32,
    /// The answer of the layers so far: one of `icecore_otherwise`, 0 if there is none.
    pub answer_so_far: u32,
    /// 1 if no further layer can change the answer.
    pub is_final: u32,
}

/// A layer of rules that the engine stores: names, patterns, and the rule for all other classes.
pub struct icecore_rules {
    rules: Rules,
}

fn names_from_flags(flags: u32) -> NameComparison {
    if flags & ICECORE_NAMES_PHP != 0 { NameComparison::Php } else { NameComparison::Exact }
}

fn otherwise_from_code(number: u32) -> Option<Otherwise> {
    use icecore_otherwise::*;
    [
        (ICECORE_ANY, Otherwise::Any),
        (ICECORE_ANY_REPORTED, Otherwise::AnyReported),
        (ICECORE_RECORD, Otherwise::Record),
        (ICECORE_REPORT, Otherwise::Report),
        (ICECORE_REFUSE, Otherwise::Refuse),
    ]
    .into_iter()
    .find(|(code, _)| *code as u32 == number)
    .map(|(_, otherwise)| otherwise)
}

fn otherwise_code(otherwise: Otherwise) -> u32 {
    use icecore_otherwise::*;
    let number = match otherwise {
        Otherwise::Any => ICECORE_ANY,
        Otherwise::AnyReported => ICECORE_ANY_REPORTED,
        Otherwise::Record => ICECORE_RECORD,
        Otherwise::Report => ICECORE_REPORT,
        Otherwise::Refuse => ICECORE_REFUSE,
    };
    number as u32
}

fn answer_code(answer: Answer) -> u32 {
    let verdict = match answer.verdict {
        Verdict::Refused => icecore_verdict::ICECORE_REFUSED,
        Verdict::Allowed => icecore_verdict::ICECORE_ALLOWED,
        Verdict::Record => icecore_verdict::ICECORE_AS_RECORD,
    };
    verdict as u32 | if answer.is_reported { ICECORE_REPORTED } else { 0 }
}

/// Returns the meaning of a word in a program's list: `any`, `any,report`, `record` or `report`, as one of
/// `icecore_otherwise`; `ICECORE_ASK_ON` means that it is the name of a class.
///
/// # Safety
/// `word` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_policy_word(word: *const c_char, len: usize) -> u32 {
    // SAFETY: `word` points to `len` bytes; the slice is dropped before the call returns.
    Otherwise::of_word(unsafe { borrow_bytes(word.cast(), len) }).map_or(0, otherwise_code)
}

/// Creates rules that allow nothing, which must be freed with `icecore_rules_free`. `flags` is `ICECORE_NAMES_PHP` or
/// 0.
#[unsafe(no_mangle)]
pub extern "C" fn icecore_rules_new(flags: u32) -> *mut icecore_rules {
    Box::into_raw(Box::new(icecore_rules { rules: Rules::new(names_from_flags(flags)) }))
}

/// Frees rules, or does nothing with null.
///
/// # Safety
/// `rules` is null or rules; the caller does not use them again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_rules_free(rules: *mut icecore_rules) {
    if !rules.is_null() {
        // SAFETY: all rules come from `Box::into_raw` in `icecore_rules_new`, and are freed
        // once: the caller does not use them again.
        drop(unsafe { Box::from_raw(rules) });
    }
}

/// Allows a class by its name, or the classes that match a pattern. `exactly` is 1 if `*` is an ordinary character.
/// The name is copied.
///
/// # Safety
/// `rules` is null or rules that no other call uses; `name` is null or points to a struct
/// whose `bytes` points to `len` bytes; `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_rules_allow(
    rules: *mut icecore_rules,
    name: *const icecore_class_name,
    exactly: u32,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: a handle that no other call uses, and an initialised struct.
        let (Some(rules), Some(name)) = (unsafe { rules.as_mut() }, unsafe { name.as_ref() }) else {
            return Err(usage_error("rules and a name", "null"));
        };
        // SAFETY: the caller filled `name`; the rules copy its bytes.
        let (bytes, is_text) = unsafe { name.borrow_name() };
        if exactly != 0 { rules.rules.allow_exactly(bytes, is_text) } else { rules.rules.allow(bytes, is_text) }
    })
}

/// Sets the rule for all other classes: one of `icecore_otherwise`.
///
/// # Safety
/// `rules` is null or rules that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_rules_otherwise(rules: *mut icecore_rules, otherwise: u32) -> u32 {
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: a handle that no other call uses.
        let (Some(rules), Some(otherwise)) = (unsafe { rules.as_mut() }, otherwise_from_code(otherwise)) else {
            return Err(usage_error("rules, and what is done otherwise", "something else"));
        };
        rules.rules.otherwise(otherwise);
        Ok(())
    })
}

/// Returns the layers of a chain.
///
/// # Safety
/// `layers` is null or points to `count` pointers, each null or to rules that no call changes
/// for `'r`.
unsafe fn layer_rules<'r>(layers: *const *const icecore_rules, count: usize) -> impl Iterator<Item = &'r Rules> {
    let layers = match layers.is_null() {
        true => &[][..],
        // SAFETY: not null, so it points to `count` pointers.
        false => unsafe { std::slice::from_raw_parts(layers, count) },
    };
    // SAFETY: each is null or a handle; it is only read.
    layers.iter().filter_map(|rules: &'r *const icecore_rules| unsafe { rules.as_ref() }).map(|layer| &layer.rules)
}

/// Returns the decision about a class by layers of rules: one of `icecore_verdict`, and `ICECORE_REPORTED`. The first
/// layer is that of the call; a null layer has no rules. A name in malformed UTF-8 is refused, and is an error.
///
/// # Safety
/// `layers` is null or points to `count` pointers, each null or to rules; `name` is null or
/// points to a struct whose `bytes` points to `len` bytes; `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_class_verdict(
    layers: *const *const icecore_rules,
    count: usize,
    name: *const icecore_class_name,
    flags: u32,
    error: *mut icecore_error,
) -> u32 {
    let mut answer = 0;
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: null or an initialised struct.
        let Some(name) = (unsafe { name.as_ref() }) else { return Err(usage_error("a name", "null")) };
        // SAFETY: the caller filled `name`; the question is dropped before the call returns.
        let (bytes, is_text) = unsafe { name.borrow_name() };
        let mut question = Question::new(ClassName::new(names_from_flags(flags), bytes, is_text)?);
        // SAFETY: `layers` and `count` belong together; no call changes the rules meanwhile.
        for rules in unsafe { layer_rules(layers, count) } {
            question.rules(rules);
            if question.is_final() {
                break;
            }
        }
        answer = answer_code(question.answer());
        Ok(())
    });
    answer
}

/// Begins a question about a class. Malformed UTF-8 in its name is an error.
///
/// # Safety
/// `question` is null or points to a struct; `name` is null or points to a struct whose `bytes`
/// points to `len` bytes that stay as they are until the question is answered; `error` is
/// null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_begin(
    question: *mut icecore_question,
    name: *const icecore_class_name,
    flags: u32,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: null or an initialised struct.
        let (Some(name), false) = (unsafe { name.as_ref() }, question.is_null()) else {
            return Err(usage_error("a question and a name", "null"));
        };
        // SAFETY: the caller filled `name`; the slice is dropped before the call returns.
        let (bytes, is_text) = unsafe { name.borrow_name() };
        ClassName::new(names_from_flags(flags), bytes, is_text)?;
        // SAFETY: checked above: `question` is not null, so it points to a struct.
        unsafe { question.write(icecore_question { name: *name, flags, answer_so_far: 0, is_final: 0 }) };
        Ok(())
    })
}

impl icecore_question {
    /// Continues the question. Returns 1 if later layers can't change the answer.
    ///
    /// # Safety
    /// `question` is null or was begun, and the bytes of its name did not change since.
    unsafe fn continue_with(question: *mut icecore_question, update: impl FnOnce(&mut Question<'_>)) -> u32 {
        let mut is_final = 0;
        run_guarded(ErrorOut::NONE, || {
            // SAFETY: null, or a struct that `icecore_question_begin` wrote; the caller owns it.
            let Some(raw_question) = (unsafe { question.as_mut() }) else { return Ok(()) };
            // SAFETY: it was begun, so its name has bytes, which did not change.
            let mut question = unsafe { raw_question.to_question() };
            update(&mut question);
            (raw_question.answer_so_far, raw_question.is_final) = match question.state() {
                State::Open => (0, 0),
                State::Unless(otherwise) => (otherwise_code(otherwise), 0),
                State::Final(otherwise) => (otherwise_code(otherwise), 1),
            };
            is_final = raw_question.is_final;
            Ok(())
        });
        is_final
    }

    /// # Safety
    /// The question was begun, and the bytes of its name stay as they are for `'n`.
    unsafe fn to_question<'n>(&self) -> Question<'n> {
        // SAFETY: `icecore_question_begin` copied the name; its bytes stay for `'n`.
        let (bytes, is_text) = unsafe { self.name.borrow_name() };
        let state = match (otherwise_from_code(self.answer_so_far), self.is_final) {
            (None, _) => State::Open,
            (Some(otherwise), 0) => State::Unless(otherwise),
            (Some(otherwise), _) => State::Final(otherwise),
        };
        Question::at(ClassName::checked(names_from_flags(self.flags), bytes, is_text), state)
    }
}

/// Evaluates a list that the caller stores: these names and patterns. Returns 1 if the answer is final: then the caller
/// needs no further lists.
///
/// # Safety
/// `question` is null or was begun, and the bytes of its name did not change since;
/// `items` is null or points to `count` structs, whose `bytes` point to `len` bytes each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_items(
    question: *mut icecore_question,
    items: *const icecore_class_name,
    count: usize,
) -> u32 {
    let items = match items.is_null() {
        true => &[][..],
        // SAFETY: not null, so it points to `count` structs.
        false => unsafe { std::slice::from_raw_parts(items, count) },
    };
    let update = |question: &mut Question<'_>| {
        for item in items {
            // SAFETY: the caller filled each item; the question does not keep its bytes.
            let (bytes, is_text) = unsafe { item.borrow_name() };
            question.item(ClassName::checked(question.name().names(), bytes, is_text));
        }
    };
    // SAFETY: null, or begun, with a name that did not change.
    unsafe { icecore_question::continue_with(question, update) }
}

/// Records that a list of the caller contains the class, for a list that the engine can't read, such as a hash or a
/// regular expression. Returns 1.
///
/// # Safety
/// `question` is null or was begun, and the bytes of its name did not change since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_allow(question: *mut icecore_question) -> u32 {
    // SAFETY: null, or begun, with a name that did not change.
    unsafe { icecore_question::continue_with(question, |question| question.allow()) }
}

/// Evaluates a layer that the engine stores. Returns 1 if the answer is final.
///
/// # Safety
/// `question` is null or was begun, and the bytes of its name did not change since;
/// `rules` is null or rules.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_rules(question: *mut icecore_question, rules: *const icecore_rules) -> u32 {
    // SAFETY: a handle; no call changes the rules meanwhile.
    let rules = unsafe { rules.as_ref() };
    let update = |question: &mut Question<'_>| {
        if let Some(rules) = rules {
            question.rules(&rules.rules);
        }
    };
    // SAFETY: null, or begun, with a name that did not change.
    unsafe { icecore_question::continue_with(question, update) }
}

/// Applies the rule of a layer of the caller for the classes that are not in its lists: one of `icecore_otherwise`.
/// Returns 1 if the answer is final.
///
/// # Safety
/// `question` is null or was begun, and the bytes of its name did not change since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_otherwise(question: *mut icecore_question, otherwise: u32) -> u32 {
    let update = |question: &mut Question<'_>| {
        if let Some(otherwise) = otherwise_from_code(otherwise) {
            question.otherwise(otherwise);
        }
    };
    // SAFETY: null, or begun, with a name that did not change.
    unsafe { icecore_question::continue_with(question, update) }
}

/// Returns the answer: one of `icecore_verdict`, and `ICECORE_REPORTED`. A class that no layer allows is refused.
///
/// # Safety
/// `question` is null or was begun, and the bytes of its name did not change since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_answer(question: *const icecore_question) -> u32 {
    // SAFETY: null, or a struct that `icecore_question_begin` wrote.
    let Some(question) = (unsafe { question.as_ref() }) else { return 0 };
    // SAFETY: it was begun, so its name has bytes, which did not change.
    answer_code(unsafe { question.to_question() }.answer())
}

fn class_use_code(class: &ClassUse) -> u32 {
    use icecore_use::*;
    let used = match class.kind {
        "enum" => ICECORE_USE_ENUM,
        "module" => ICECORE_USE_MODULE,
        "module-name" | "class-name" => ICECORE_USE_NAME,
        "regexp" => ICECORE_USE_REGEXP,
        _ => ICECORE_USE_OBJECT,
    };
    used as u32
}

/// A class that may not be built. Lent for the duration of the visit.
#[repr(C)]
pub struct icecore_refused_class {
    /// Name of the class.
    pub name: icecore_class_name,
    /// The path of the first place that contains it.
    pub path: icecore_bytes,
    /// 1 if the host reports the class.
    pub is_reported: u32,
}

/// Calls `visit` once for each class of the last document that may not be built. A host calls it before it builds the
/// first value. `uses` has the kinds of use that count, as bits of `icecore_use`.
///
/// # Safety
/// `context` is null or a context that no other call uses; `input` points to the `len`
/// bytes that its last view points to; `layers` is null or points to `count` pointers, each null
/// or to rules; `visit` is null, or a function that does not unwind, jump out or use the
/// context; `error` is null or points to a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_refused(
    context: *mut icecore_context,
    input: *const u8,
    len: usize,
    layers: *const *const icecore_rules,
    count: usize,
    flags: u32,
    uses: u32,
    visit: Option<unsafe extern "C" fn(*const icecore_refused_class, *mut c_void)>,
    data: *mut c_void,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: `error` is null or points to a struct, see above.
    let error = unsafe { ErrorOut::from_pointer(error) };
    run_guarded(error, || {
        // SAFETY: a handle that no other call uses.
        let (Some(context), Some(visit)) = (unsafe { context.as_mut() }, visit) else {
            return Err(usage_error("a context and a function", "null"));
        };
        // SAFETY: `layers` and `count` belong together; no call changes the rules meanwhile.
        let layers: Vec<_> = unsafe { layer_rules(layers, count) }.collect();
        // SAFETY: `input` points to `len` bytes; the document is dropped before the call returns.
        let input = unsafe { borrow_bytes(input, len) };
        let tape = std::mem::take(context.document.tape_mut());
        let document = Document::from_tape(input, tape);
        let refused_classes =
            refused(&document, &layers, names_from_flags(flags), |class| class_use_code(class) & uses != 0);
        *context.document.tape_mut() = document.into_tape();
        for class in refused_classes? {
            let name = icecore_bytes::from_slice(&class.name);
            let name = icecore_class_name { bytes: name.bytes, len: name.len, is_text: u32::from(class.is_text) };
            let path = icecore_bytes::from_slice(class.path.as_bytes());
            let class = icecore_refused_class { name, path, is_reported: u32::from(class.is_reported) };
            // SAFETY: `visit` returns normally; what `class` names outlives the call.
            unsafe { visit(&class, data) };
        }
        Ok(())
    })
}

/// Returns the length of a message about a class: `message_kind` is one of `icecore_words`, `host` one of
/// `icecore_host`. Copies as much of it to `text` as fits, ending with 0. Everything except the path is ASCII.
///
/// # Safety
/// `name` is null or points to a struct whose `bytes` points to `len` bytes; `path` points to
/// `path_len` bytes; `text` is null or points to `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_class_words(
    message_kind: u32,
    host: u32,
    name: *const icecore_class_name,
    flags: u32,
    path: *const c_char,
    path_len: usize,
    text: *mut c_char,
    capacity: usize,
) -> usize {
    let mut length = 0;
    run_guarded(ErrorOut::NONE, || {
        // SAFETY: null or an initialised struct.
        let Some(name) = (unsafe { name.as_ref() }) else { return Ok(()) };
        // SAFETY: `path` points to `path_len` bytes; the text is dropped before the call returns.
        let path = String::from_utf8_lossy(unsafe { borrow_bytes(path.cast(), path_len) });
        // SAFETY: the caller filled `name`; the slice is dropped before the call returns.
        let (bytes, is_text) = unsafe { name.borrow_name() };
        let message =
            class_message(message_kind, host, ClassName::checked(names_from_flags(flags), bytes, is_text), &path)?;
        length = message.len();
        if !text.is_null() && capacity > 0 {
            // SAFETY: not null, so it points to `capacity` bytes that may be written.
            write_text(&message, unsafe { zero_chars(text, capacity) });
        }
        Ok(())
    });
    length
}

fn class_message(message_kind: u32, host: u32, name: ClassName<'_>, path: &str) -> Result<String, Error> {
    use icecore_words::*;
    let hosts = [Host::Perl, Host::Php, Host::Ruby];
    let host = hosts.get(host as usize).ok_or_else(|| usage_error("a host", host.to_string()))?;
    let messages = ClassMessages::new(*host, name);
    Ok(match message_kind {
        kind if kind == ICECORE_WORDS_LITERAL as u32 => messages.literal(),
        kind if kind == ICECORE_WORDS_SHOWN as u32 => messages.display_name(),
        kind if kind == ICECORE_WORDS_REMEDY as u32 => messages.remedy(),
        kind if kind == ICECORE_WORDS_REFUSED as u32 => messages.refusal(path),
        kind if kind == ICECORE_WORDS_BUILT as u32 => messages.built(),
        other => return Err(usage_error("words about a class", other.to_string())),
    })
}
