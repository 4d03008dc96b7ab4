//! Which classes may be built.
//!
//! A host that keeps its lists as `icecore_rules` asks with one call,
//! `icecore_class_verdict`. One whose lists are values of its own asks layer by layer:
//! `icecore_question_begin`, then what its lists and words say, then
//! `icecore_question_answer`.

use crate::context::icecore_context;
use crate::error::{guard, icecore_error, put, usage};
use crate::lent;
use crate::tape::icecore_bytes;
use icecore::policy::{Answer, ClassName, Host, Names, Otherwise, Question, Rules, State, Verdict, Words, refused};
use icecore::{ClassUse, Document, Error};
use std::ffi::{c_char, c_void};

/// Names are compared as PHP does: ASCII letters without regard to case, and one leading
/// `\` does not count.
pub const ICECORE_NAMES_PHP: u32 = 1;
/// Flag of an answer: the host says so, once for each class.
pub const ICECORE_REPORTED: u32 = 16;

/// What may be done with a class.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_verdict {
    /// Nothing: the document is refused.
    ICECORE_REFUSED = 0,
    /// Its objects may be built.
    ICECORE_ALLOWED = 1,
    /// A neutral record is built in the place of an object.
    ICECORE_AS_RECORD = 2,
}

/// What is said of the classes that no list has.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_otherwise {
    /// Nothing: the next layer is asked.
    ICECORE_ASK_ON = 0,
    /// All classes may be built.
    ICECORE_ANY = 1,
    /// All classes may be built, and each is reported.
    ICECORE_ANY_REPORTED = 2,
    /// A neutral record is built in the place of an object.
    ICECORE_RECORD = 3,
    /// Nothing is built, and each class is reported with what would allow it.
    ICECORE_REPORT = 4,
    /// Nothing is built, and what comes behind this is not asked.
    ICECORE_REFUSE = 5,
}

/// In which ways a document uses a class: bits.
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

/// Whose words a message has.
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

/// What is said about a class.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_words {
    /// Its name as a literal of the host.
    ICECORE_WORDS_LITERAL = 0,
    /// Its name, as a literal if there is something odd about it.
    ICECORE_WORDS_SHOWN = 1,
    /// What allows it.
    ICECORE_WORDS_REMEDY = 2,
    /// That it is refused at a path, and what would allow it.
    ICECORE_WORDS_REFUSED = 3,
    /// That it was built, and what would allow it without a word.
    ICECORE_WORDS_BUILT = 4,
}

/// The name of a class, or a pattern for such names, in which `*` stands for any
/// characters. Lent for the time of the call; that of a question until it is answered.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct icecore_class_name {
    /// Its bytes.
    pub bytes: *const u8,
    /// How many there are.
    pub len: usize,
    /// Whether they are UTF-8.
    pub is_text: u32,
}

impl icecore_class_name {
    /// # Safety
    /// `bytes` names `len` bytes that stay as they are for `'n`.
    unsafe fn lent<'n>(&self) -> (&'n [u8], bool) {
        // SAFETY: the caller promises it.
        (unsafe { lent(self.bytes, self.len) }, self.is_text != 0)
    }
}

/// A class that is asked about. The caller owns it; there is nothing to free.
#[repr(C)]
pub struct icecore_question {
    /// The class.
    pub name: icecore_class_name,
    /// `ICECORE_NAMES_PHP` or 0.
    pub flags: u32,
    /// What was said so far, one of `icecore_otherwise`.
    pub said: u32,
    /// 1: nothing further on can change the answer.
    pub is_final: u32,
}

/// A layer of rules that the engine holds: names, patterns, and what is said of all
/// other classes.
pub struct icecore_rules {
    rules: Rules,
}

fn names_of(flags: u32) -> Names {
    if flags & ICECORE_NAMES_PHP != 0 { Names::Php } else { Names::Exact }
}

fn otherwise_of(number: u32) -> Option<Otherwise> {
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

fn number_of(otherwise: Otherwise) -> u32 {
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

fn answer_of(answer: Answer) -> u32 {
    let verdict = match answer.verdict {
        Verdict::Refused => icecore_verdict::ICECORE_REFUSED,
        Verdict::Allowed => icecore_verdict::ICECORE_ALLOWED,
        Verdict::Record => icecore_verdict::ICECORE_AS_RECORD,
    };
    verdict as u32 | if answer.is_reported { ICECORE_REPORTED } else { 0 }
}

/// What a word of a program means: `any`, `any,report`, `record` or `report`, as one of
/// `icecore_otherwise`; `ICECORE_ASK_ON`: it is the name of a class.
///
/// # Safety
/// `word` names `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_policy_word(word: *const c_char, len: usize) -> u32 {
    // SAFETY: `word` names `len` bytes, which are only read here.
    Otherwise::of_word(unsafe { lent(word.cast(), len) }).map_or(0, number_of)
}

/// New rules, which allow nothing, to be freed with `icecore_rules_free`. `flags`:
/// `ICECORE_NAMES_PHP` or 0.
#[unsafe(no_mangle)]
pub extern "C" fn icecore_rules_new(flags: u32) -> *mut icecore_rules {
    Box::into_raw(Box::new(icecore_rules { rules: Rules::new(names_of(flags)) }))
}

/// Frees rules, or does nothing with null.
///
/// # Safety
/// `rules` are rules that are not used any more, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_rules_free(rules: *mut icecore_rules) {
    if !rules.is_null() {
        // SAFETY: it came from `Box::into_raw` in `icecore_rules_new`, and the caller
        // gives it away.
        drop(unsafe { Box::from_raw(rules) });
    }
}

/// Allows a class by its name, or those that fit a pattern. `exactly`: 1, if `*` is a
/// character as any other. The name is copied.
///
/// # Safety
/// `rules` are such; `name` names a struct whose bytes are there; `error` is null or
/// names a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_rules_allow(
    rules: *mut icecore_rules,
    name: *const icecore_class_name,
    exactly: u32,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: each pointer is null or names what its type says; the bytes of the name
    // are copied before the call returns.
    unsafe {
        guard(error, || {
            let (Some(rules), Some(name)) = (rules.as_mut(), name.as_ref()) else {
                return Err(usage("rules and a name", "null"));
            };
            let (bytes, is_text) = name.lent();
            if exactly != 0 { rules.rules.allow_exactly(bytes, is_text) } else { rules.rules.allow(bytes, is_text) }
        })
    }
}

/// Says what is done with all other classes: one of `icecore_otherwise`.
///
/// # Safety
/// `rules` are such.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_rules_otherwise(rules: *mut icecore_rules, otherwise: u32) -> u32 {
    // SAFETY: `rules` is null or came from `icecore_rules_new`, and nobody else uses it
    // during the call.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let (Some(rules), Some(otherwise)) = (rules.as_mut(), otherwise_of(otherwise)) else {
                return Err(usage("rules, and what is done otherwise", "something else"));
            };
            rules.rules.otherwise(otherwise);
            Ok(())
        })
    }
}

/// The layers of a chain.
///
/// # Safety
/// `layers` names `count` pointers, each null or to rules that nobody changes for `'r`.
unsafe fn chain<'r>(layers: *const *const icecore_rules, count: usize) -> Vec<&'r Rules> {
    if layers.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller promises that there are so many, and that each is null or rules.
    unsafe { std::slice::from_raw_parts(layers, count).iter().filter_map(|rules| rules.as_ref()) }
        .map(|layer| &layer.rules)
        .collect()
}

/// What may be done with a class, by layers of rules, those of the call first: one of
/// `icecore_verdict`, and `ICECORE_REPORTED`. A null layer says nothing. What is wrong
/// with the name (malformed UTF-8) is in `error`, and refused.
///
/// # Safety
/// `layers` names `count` pointers to rules, or null ones; `name` names a struct whose
/// bytes are there; `error` is null or names a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_class_verdict(
    layers: *const *const icecore_rules,
    count: usize,
    name: *const icecore_class_name,
    flags: u32,
    error: *mut icecore_error,
) -> u32 {
    let mut answer = 0;
    // SAFETY: the pointers name what their types say, and are read during the call only.
    unsafe {
        guard(error, || {
            let Some(name) = name.as_ref() else { return Err(usage("a name", "null")) };
            let (bytes, is_text) = name.lent();
            let mut question = Question::new(ClassName::new(names_of(flags), bytes, is_text)?);
            let layers = if layers.is_null() { &[][..] } else { std::slice::from_raw_parts(layers, count) };
            for layer in layers.iter().filter_map(|layer| layer.as_ref()) {
                question.rules(&layer.rules);
                if question.is_final() {
                    break;
                }
            }
            answer = answer_of(question.answer());
            Ok(())
        });
    }
    answer
}

/// Begins a question about a class. An error, if its name is malformed UTF-8.
///
/// # Safety
/// `question` names a struct; `name` names one whose bytes stay as they are until the
/// question is answered; `error` is null or names a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_begin(
    question: *mut icecore_question,
    name: *const icecore_class_name,
    flags: u32,
    error: *mut icecore_error,
) -> u32 {
    // SAFETY: the pointers are null or name what their types say; `question` is written
    // whole, as it may be uninitialised.
    unsafe {
        guard(error, || {
            let (Some(name), false) = (name.as_ref(), question.is_null()) else {
                return Err(usage("a question and a name", "null"));
            };
            let (bytes, is_text) = name.lent();
            ClassName::new(names_of(flags), bytes, is_text)?;
            question.write(icecore_question { name: *name, flags, said: 0, is_final: 0 });
            Ok(())
        })
    }
}

impl icecore_question {
    /// Goes on with the question, and says whether it is answered for good.
    ///
    /// # Safety
    /// `question` is null or was begun, and the bytes of its name are still there.
    unsafe fn go_on(question: *mut icecore_question, say: impl FnOnce(&mut Question<'_>)) -> u32 {
        let mut is_final = 0;
        // SAFETY: the caller promises it; no panic leaves `guard`.
        unsafe {
            guard(std::ptr::null_mut(), || {
                let Some(asked) = question.as_mut() else { return Ok(()) };
                let mut question = asked.question();
                say(&mut question);
                (asked.said, asked.is_final) = match question.state() {
                    State::Open => (0, 0),
                    State::Unless(otherwise) => (number_of(otherwise), 0),
                    State::Final(otherwise) => (number_of(otherwise), 1),
                };
                is_final = asked.is_final;
                Ok(())
            });
        }
        is_final
    }

    /// # Safety
    /// The bytes of its name are still there.
    unsafe fn question<'n>(&self) -> Question<'n> {
        // SAFETY: the caller promises it.
        let (bytes, is_text) = unsafe { self.name.lent() };
        let state = match (otherwise_of(self.said), self.is_final) {
            (None, _) => State::Open,
            (Some(otherwise), 0) => State::Unless(otherwise),
            (Some(otherwise), _) => State::Final(otherwise),
        };
        Question::at(ClassName::checked(names_of(self.flags), bytes, is_text), state)
    }
}

/// A list of the caller's own has these names and patterns. Returns 1, if the question
/// is answered for good: nothing more needs to be said.
///
/// # Safety
/// `question` was begun; `items` names `count` structs whose bytes are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_items(
    question: *mut icecore_question,
    items: *const icecore_class_name,
    count: usize,
) -> u32 {
    // SAFETY: the items and their bytes are there during the call, and the question was
    // begun.
    unsafe {
        let items = if items.is_null() { &[][..] } else { std::slice::from_raw_parts(items, count) };
        icecore_question::go_on(question, |question| {
            for item in items {
                let (bytes, is_text) = item.lent();
                question.item(ClassName::checked(question.name().names(), bytes, is_text));
            }
        })
    }
}

/// A list of the caller's own has the class: one that only the caller can read, as a
/// hash or a regular expression. Returns 1.
///
/// # Safety
/// `question` was begun.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_allow(question: *mut icecore_question) -> u32 {
    // SAFETY: the question was begun, so its name is there.
    unsafe { icecore_question::go_on(question, |question| question.allow()) }
}

/// A layer that the engine holds. Returns 1, if the question is answered for good.
///
/// # Safety
/// `question` was begun; `rules` are such, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_rules(question: *mut icecore_question, rules: *const icecore_rules) -> u32 {
    // SAFETY: `rules` is null or came from `icecore_rules_new` and is not changed during
    // the call; the question was begun.
    unsafe {
        let rules = rules.as_ref();
        icecore_question::go_on(question, |question| {
            if let Some(rules) = rules {
                question.rules(&rules.rules);
            }
        })
    }
}

/// What a layer says of the classes that its lists don't have: one of
/// `icecore_otherwise`. Returns 1, if the question is answered for good.
///
/// # Safety
/// `question` was begun.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_otherwise(question: *mut icecore_question, otherwise: u32) -> u32 {
    // SAFETY: the question was begun, so its name is there.
    unsafe {
        icecore_question::go_on(question, |question| {
            if let Some(otherwise) = otherwise_of(otherwise) {
                question.otherwise(otherwise);
            }
        })
    }
}

/// The answer: one of `icecore_verdict`, and `ICECORE_REPORTED`. What nobody allowed is
/// refused.
///
/// # Safety
/// `question` was begun, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_question_answer(question: *const icecore_question) -> u32 {
    // SAFETY: a question that was begun has a name whose bytes are there until now.
    unsafe { question.as_ref().map_or(0, |question| answer_of(question.question().answer())) }
}

fn use_of(class: &ClassUse) -> u32 {
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

/// A class that may not be built. Lent for the time of the visit.
#[repr(C)]
pub struct icecore_refused_class {
    /// Its name.
    pub name: icecore_class_name,
    /// The path of the first place that names it.
    pub path: icecore_bytes,
    /// Whether the host says so.
    pub is_reported: u32,
}

/// Calls `visit` for each class that may not be built, once, of the document that was
/// read last; nothing was built yet. `uses`: which uses of a class count, bits of
/// `icecore_use`.
///
/// # Safety
/// `context` is one that read a document; `input` names the `len` bytes that its view
/// names; `layers` names `count` pointers to rules, or null ones; `visit` does not
/// unwind, jump out or use the context; `error` is null or names a struct.
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
    // SAFETY: the pointers name what their types say for the time of the call; `visit`
    // returns, and gets what lives longer than its call.
    unsafe {
        guard(error, || {
            let (Some(context), Some(visit)) = (context.as_mut(), visit) else {
                return Err(usage("a context and a function", "null"));
            };
            let layers = chain(layers, count);
            let tape = std::mem::take(context.document.tape_mut());
            let document = Document::from_tape(lent(input, len), tape);
            let found = refused(&document, &layers, names_of(flags), |class| use_of(class) & uses != 0);
            *context.document.tape_mut() = document.into_tape();
            for class in found? {
                let name = icecore_bytes::of(&class.name);
                let name = icecore_class_name { bytes: name.bytes, len: name.len, is_text: u32::from(class.is_text) };
                let path = icecore_bytes::of(class.path.as_bytes());
                visit(&icecore_refused_class { name, path, is_reported: u32::from(class.is_reported) }, data);
            }
            Ok(())
        })
    }
}

/// Words about a class: `what` is one of `icecore_words`, `host` one of `icecore_host`.
/// Returns their length; `text` gets as much of them as fits, ending with 0. They are
/// ASCII, but for the path.
///
/// # Safety
/// `name` names a struct whose bytes are there; `path` names `path_len` bytes; `text`
/// names `room` bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn icecore_class_words(
    what: u32,
    host: u32,
    name: *const icecore_class_name,
    flags: u32,
    path: *const c_char,
    path_len: usize,
    text: *mut c_char,
    room: usize,
) -> usize {
    let mut length = 0;
    // SAFETY: the pointers name as many bytes as is said beside them.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let Some(name) = name.as_ref() else { return Ok(()) };
            let path = String::from_utf8_lossy(lent(path.cast(), path_len));
            let (bytes, is_text) = name.lent();
            let said = said(what, host, ClassName::checked(names_of(flags), bytes, is_text), &path)?;
            length = said.len();
            if !text.is_null() && room > 0 {
                text.write_bytes(0, room);
                put(&said, std::slice::from_raw_parts_mut(text, room));
            }
            Ok(())
        });
    }
    length
}

fn said(what: u32, host: u32, name: ClassName<'_>, path: &str) -> Result<String, Error> {
    use icecore_words::*;
    let hosts = [Host::Perl, Host::Php, Host::Ruby];
    let host = hosts.get(host as usize).ok_or_else(|| usage("a host", host.to_string()))?;
    let words = Words::new(*host, name);
    Ok(match what {
        what if what == ICECORE_WORDS_LITERAL as u32 => words.literal(),
        what if what == ICECORE_WORDS_SHOWN as u32 => words.shown(),
        what if what == ICECORE_WORDS_REMEDY as u32 => words.remedy(),
        what if what == ICECORE_WORDS_REFUSED as u32 => words.refusal(path),
        what if what == ICECORE_WORDS_BUILT as u32 => words.built(),
        other => return Err(usage("words about a class", other.to_string())),
    })
}
