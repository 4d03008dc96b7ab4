//! The differential targets: the real modules must accept and refuse the same input as we do, and read the same values.
//!
//! Where we differ on purpose, or where the comparison has no meaning, the difference has a name here, and
//! `fuzz/README.md` explains it.

use crate::perl::PerlAnswer;
use icecore::{
    Cursor, Document, Error, ErrorKind, Key, Kind, Limits, Request, Stage,
    raw::{Node, Outcome, flag},
    value::{Comparison, Form},
};
use std::collections::HashSet;

/// The result of a comparison.
pub enum Verdict {
    /// Both accept, and the values are equal.
    Equal,
    /// Both refuse.
    BothRefuse,
    /// They differ in an allowed way.
    Allowed(&'static str),
    /// They differ in another way, which is described.
    Differs(String),
}

/// A format that perl also reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// `Storable::thaw` and `retrieve`.
    Storable,
    /// `Sereal::Decoder`.
    Sereal,
}

impl Rival {
    /// Returns the rival with this name.
    pub fn from_name(name: &str) -> Option<Rival> {
        match name {
            "storable_diff" => Some(Rival::Storable),
            "sereal_diff" => Some(Rival::Sereal),
            _ => None,
        }
    }

    /// Returns the name of the format.
    pub fn format(self) -> &'static str {
        match self {
            Rival::Storable => "storable",
            Rival::Sereal => "sereal",
        }
    }

    /// Returns the files whose blobs are the seeds.
    pub fn seed_files(self) -> &'static [&'static str] {
        match self {
            Rival::Storable => &["storable.jsonl"],
            Rival::Sereal => &["sereal.jsonl"],
        }
    }
}

/// Limits that are small enough that perl need not build slow values.
fn perl_limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 400;
    limits.nodes = 20_000;
    limits.decompressed = 1 << 20;
    limits
}

/// Returns why perl is not run at all: it would run out of memory or crash.
pub fn skip_reason(rival: Rival, data: &[u8]) -> Option<&'static str> {
    let limits = perl_limits();
    let outcome = read_blob(rival, data, &limits);
    match &outcome.error {
        Some(error) if error.kind() == ErrorKind::Limit => Some("a limit of ours"),
        Some(error) if error.kind() == ErrorKind::Truncated => {
            // Perl allocates before it checks.
            Some("truncated: it allocates the declared size, or gives undef without an error")
        }
        _ if outcome.document.tape().classes().iter().any(|name| is_renamed_by_perl(name.bytes)) => {
            // After that, it also changes the normal name.
            Some("a class name that perl changes, such as `main::A` or one with a NUL")
        }
        _ => None,
    }
}

/// Returns true if perl would change this class name.
fn is_renamed_by_perl(name: &[u8]) -> bool {
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match std::str::from_utf8(name) {
        Ok(name) if name.is_ascii() => name.starts_with("main::") || !name.split("::").all(is_word),
        Ok(name) => !name.split("::").all(|part| part.chars().all(char::is_alphanumeric) && !part.is_empty()),
        Err(_) => true,
    }
}

fn read_blob<'a>(rival: Rival, data: &'a [u8], limits: &Limits) -> Outcome<'a> {
    let stage = Stage::parse(rival.format()).expect("a stage");
    stage.format().read(data, stage.settings(), Request::new(limits))
}

/// Compares our result for a blob with that of perl.
pub fn compare_with_perl(rival: Rival, data: &[u8], answer: &PerlAnswer) -> Verdict {
    let limits = perl_limits();
    let ours = read_blob(rival, data, &limits);
    match (&ours.error, answer) {
        (_, PerlAnswer::Died) => Verdict::Allowed("perl died"),
        (Some(_), PerlAnswer::Refused(_)) => Verdict::BothRefuse,
        (Some(error), PerlAnswer::Typed(_) | PerlAnswer::NotUtf8) => match explain_our_refusal(rival, data, error) {
            Some(name) => Verdict::Allowed(name),
            None => Verdict::Differs(format!("we refuse it: {error}\nperl reads {answer:?}")),
        },
        (None, PerlAnswer::NotUtf8) => Verdict::Allowed("perl can't represent text that is not UTF-8 as json:typed"),
        (None, PerlAnswer::Refused(reason)) => match explain_perl_refusal(rival, &ours.document, reason) {
            Some(name) => Verdict::Allowed(name),
            None => Verdict::Differs(format!("perl refuses it: {reason}\nwe read\n{:?}", ours.document)),
        },
        (None, PerlAnswer::Typed(typed)) => compare_values(rival, data, &ours.document, typed),
    }
}

/// Compares a document with the same one as perl read it. `typed` is that one in the format json:typed.
fn compare_values(rival: Rival, data: &[u8], document: &Document<'_>, typed: &str) -> Verdict {
    let stage = Stage::parse("json:typed").expect("a stage");
    let theirs = match icecore::read_as(typed.as_bytes(), &stage, &Limits::default()) {
        Ok(theirs) => theirs,
        Err(error) => match explain_unreadable(&error, typed) {
            Some(name) => return Verdict::Allowed(name),
            None => return Verdict::Differs(format!("what perl says can't be read: {error}\n{typed}\n{document:?}")),
        },
    };
    let comparison = Comparison::new().any_order();
    if comparison.equal(document, &theirs) {
        return Verdict::Equal;
    }
    if comparison.any_ascii().equal(document, &theirs) {
        return Verdict::Allowed("ASCII that is flagged as UTF-8");
    }
    if without_hidden_details(document).is_some_and(|ours| comparison.any_ascii().equal(&ours, &theirs)) {
        return Verdict::Equal;
    }
    match explain_other_value(rival, data, document, &theirs) {
        Some(name) => Verdict::Allowed(name),
        None => {
            let ours =
                icecore::write(document, "json:typed,sort_keys").map(|out| String::from_utf8_lossy(&out).into_owned());
            Verdict::Differs(format!(
                "other values\nours   {}\ntheirs {typed}\n{document:?}",
                ours.unwrap_or_else(|error| error.to_string())
            ))
        }
    }
}

/// Returns the document without the details that a walk through perl's values can't show: that a variable itself is
/// blessed, and the contents of a frozen object.
fn without_hidden_details(document: &Document<'_>) -> Option<Document<'static>> {
    let typed = String::from_utf8(icecore::write(document, "json:typed").ok()?).ok()?;
    let mut text = typed.replace("\"$form\":\"variable\",", "");
    for body in ["{}", "[]", "null"] {
        text = text.replace(&format!(",\"$body\":{body}"), "");
    }
    let stage = Stage::parse("json:typed").ok()?;
    icecore::read_as(text.as_bytes(), &stage, &Limits::default()).ok().map(Document::into_owned)
}

/// Returns the name for input that we refuse on purpose.
fn explain_our_refusal(rival: Rival, data: &[u8], error: &Error) -> Option<&'static str> {
    let expected = error.expected().unwrap_or_default();
    match error.kind() {
        ErrorKind::Malformed if rival == Rival::Storable && expected.contains("v-string") => {
            Some("a v-string whose value is not a string")
        }
        ErrorKind::Malformed if rival == Rival::Storable && expected.contains("hook") => {
            Some("a hook record that nothing writes")
        }
        ErrorKind::Malformed if expected.contains("the pattern of a regular expression") => {
            Some("a pattern that is not a string")
        }
        ErrorKind::Malformed if rival == Rival::Sereal && expected.contains("at most 64 bits") => {
            Some("a number of more than 64 bits: Sereal's wraps around")
        }
        ErrorKind::Malformed if rival == Rival::Sereal && expected.starts_with("a body ") => {
            Some("a body that does not decompress: Sereal takes what was in memory for the rest")
        }
        ErrorKind::Malformed if rival == Rival::Storable && expected == "a value after the class" => {
            Some("a class before a back-reference or another class: Storable drops it")
        }
        // Offsets of protocol 1 count from the start of the document.
        ErrorKind::BadLink if data.starts_with(b"=srl\x01") && expected.starts_with("an offset from") => {
            Some("a COPY into the header")
        }
        ErrorKind::BadLink if expected.ends_with("to a tracked item") && tracks_pattern(data) => {
            Some("a link to the pattern of a regular expression")
        }
        _ if rival == Rival::Sereal && error.offset() < user_header_end(data) => {
            Some("a broken user header: Sereal skips it")
        }
        ErrorKind::Malformed if expected.contains("not marked as absent") => {
            Some("an absent key with a value: Storable forgets the value")
        }
        ErrorKind::BadLink if rival == Rival::Storable && is_negative(error, expected) => {
            Some("a negative number of an object or a class: Storable counts from the last one")
        }
        ErrorKind::BadLink if expected == "the number of a value" => Some("a link to a key that is a scalar"),
        _ if rival == Rival::Storable && error.offset() == Some(0) && data.first().is_some_and(|byte| *byte < 2) => {
            Some("an image in memory from before 0.6: only files are read")
        }
        ErrorKind::BadLink if expected == "the number of an existing value" => {
            Some("a link to the value of an absent key: Storable's own undef")
        }
        ErrorKind::Malformed if expected == "a reference to bless" => {
            Some("an object that is not a reference: Sereal does not bless it")
        }
        ErrorKind::Malformed if expected == "a reference to an array after OBJECT_FREEZE" => {
            Some("OBJECT_FREEZE of an object or a link to one: Sereal takes the array in it")
        }
        ErrorKind::Malformed if expected == "a reference after WEAKEN" => {
            Some("WEAKEN of a value that is not a reference")
        }
        ErrorKind::BadLink if expected == "ALIAS to a variable" => Some("ALIAS to an array or hash itself"),
        // CVE-2026-8796: arbitrary memory is used as the target.
        ErrorKind::BadLink
            if rival == Rival::Sereal && (expected.starts_with("an offset from") || expected.contains("COPY")) =>
        {
            Some("a COPY to nowhere: Sereal reads beyond the document")
        }
        ErrorKind::Unsupported if expected.starts_with("a string as the key") => Some("a key that is not a string"),
        ErrorKind::Limit => Some("a limit of ours"),
        ErrorKind::Truncated => Some("truncated"),
        ErrorKind::Trailing => Some("bytes after the document"),
        _ => None,
    }
}

/// Returns true if perl takes the number in this error for a negative one.
fn is_negative(error: &Error, expected: &str) -> bool {
    let min_number = if expected.starts_with("the number of a class") { 1 << 31 } else { 1 << 63 };
    error.found().and_then(|found| found.parse().ok()).is_some_and(|number: u64| number >= min_number)
}

/// Returns the end of the user header, if there is one.
fn user_header_end(data: &[u8]) -> Option<u64> {
    let (mut len, mut offset) = (0u64, 5);
    loop {
        let byte = *data.get(offset)?;
        len |= u64::from(byte & 0x7F).checked_shl(7 * (offset as u32 - 5))?;
        offset += 1;
        if byte < 0x80 {
            break;
        }
    }
    (data.get(offset)? & 1 == 1).then_some(offset as u64 + len)
}

/// Returns the name for input that perl refuses and we read.
fn explain_perl_refusal(rival: Rival, document: &Document<'_>, reason: &str) -> Option<&'static str> {
    let contains_any = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    if has_kind(document, |kind| kind == Kind::Regexp) {
        return Some("it compiles regular expressions");
    }
    if is_tied_to_nothing(document)
        && contains_any(&["Can't call method", "on an undefined value", "Can't locate object method"])
    {
        return Some("tied to a value that is not an object");
    }
    if contains_any(&["Modification of a read-only value"]) && has_kind(document, |kind| kind == Kind::Object) {
        return Some("a blessed undef or boolean: perl can't bless its own");
    }
    if contains_any(&["panic: ", "sv_upgrade from"]) {
        return Some("perl died");
    }
    if has_misplaced_container(document) {
        return Some("a container where only a reference to one is allowed: perl breaks");
    }
    if contains_any(&["Malformed UTF-8", "a character beyond Unicode"]) {
        return Some("perl can't represent text that is not UTF-8 as json:typed");
    }
    match rival {
        Rival::Storable => match () {
            () if contains_any(&["on an undefined value"]) && has_weak(document) => {
                Some("a weak reference to what nothing else holds: perl frees it")
            }
            () if contains_any(&["Byte order", "Integer size", "Long integer size", "Pointer size", "Double size"]) => {
                Some("an image of another machine")
            }
            () if contains_any(&["more recent than"]) => Some("a version of the future"),
            () if contains_any(&["Corrupted", "contains data of type 3"])
                && has_kind(document, |kind| kind == Kind::Bool) =>
            {
                Some("booleans of version 2.12, which Storable 3.26 does not know")
            }
            () if contains_any(&[
                "Cannot restore overloading",
                "Can't locate",
                "Bareword in require",
                "Attempt to reload",
            ]) =>
            {
                Some("overloading needs the class")
            }
            () => None,
        },
        Rival::Sereal => match () {
            () if contains_any(&["FLOAT_128 not supported"]) => Some("FLOAT_128, which needs another perl"),
            () if contains_any(&["Can't bless non-reference"]) && has_weak(document) => {
                Some("a weak reference to what nothing else holds: perl frees it")
            }
            () if contains_any(&["bad COPY tag"]) => Some("a key that is a COPY of a tracked string"),
            () if contains_any(&["duplicate key"]) => Some("a key twice: Sereal refuses it"),
            () => None,
        },
    }
}

/// Returns the name for values that may differ.
fn explain_other_value(rival: Rival, data: &[u8], ours: &Document<'_>, theirs: &Document<'_>) -> Option<&'static str> {
    let any_node = |matches: fn(&Node) -> bool| ours.nodes().iter().any(matches);
    if ours.header().is_some_and(|header| matches!(header.kind(), Kind::Null)) {
        return Some("a header that is undef: perl does not tell it from none");
    }
    if theirs.header().is_none()
        && ours.header().is_some()
        && (all_cursors(ours).any(is_invalid_utf8) || has_odd_key(ours))
    {
        return Some("perl can't represent text that is not UTF-8 as json:typed");
    }
    if has_duplicate_keys(ours) {
        return Some("a key twice: in perl the last one wins");
    }
    if has_weak(ours) {
        return Some("a weak reference to what nothing else holds: perl frees it");
    }
    let refers_to = |kind: Kind, is_target: fn(Kind) -> bool| {
        ours.nodes()
            .iter()
            .filter(|node| node.kind == kind)
            .any(|node| ours.nodes().get(node.payload as usize).is_some_and(|target| is_target(target.kind)))
    };
    if refers_to(Kind::Alias, |kind| matches!(kind, Kind::Bool | Kind::Null | Kind::Hole)) {
        return Some("an alias of undef or of a boolean: perl has one of each");
    }
    if is_tied_to_nothing(ours) {
        return Some("tied to a value that is not an object");
    }
    if all_cursors(ours).any(|map| {
        let is_absent = |(key, _): (Key<'_>, Cursor<'_>)| key.node().has(flag::PLACEHOLDER);
        map.kind() == Kind::Map && !map.node().has(flag::RESTRICTED) && map.entries().any(is_absent)
    }) {
        return Some("absent keys of a hash that is not restricted");
    }
    if has_misplaced_container(ours) {
        return Some("a container where only a reference to one is allowed: perl breaks");
    }
    let any_string_of = |kind: Kind, matches: fn(&[u8]) -> bool| {
        all_cursors(ours)
            .filter(|cursor| cursor.kind() == kind)
            .any(|cursor| cursor.children().any(|part| part.as_bytes().is_some_and(matches)))
    };
    match rival {
        Rival::Sereal if theirs.header().is_some() && ours.header().is_none() => {
            Some("what Sereal takes for a header where the document says that there is none")
        }
        Rival::Sereal
            if ours.header().is_some() && any_node(|node| node.kind == Kind::Regexp && node.has(flag::BARE)) =>
        {
            Some("a bare regexp and a header: perl takes what was in the variable")
        }
        Rival::Sereal if copies_object(data) => Some("a COPY of an object: Sereal blesses the copy only"),
        _ if all_cursors(ours).any(has_odd_flags) => Some("a regexp's flags in another order than perl's"),
        _ if any_string_of(Kind::Regexp, has_unicode_escape) => {
            Some("a pattern with \\p, \\N or the like: perl adds a flag")
        }
        _ if any_string_of(Kind::Regexp, begins_with_flags) => {
            Some("a pattern that begins with flags: perl takes them out")
        }
        _ if any_string_of(Kind::Regexp, |text| text.contains(&b'#')) => {
            Some("a pattern with a comment: perl ends its line")
        }
        Rival::Sereal if any_string_of(Kind::Regexp, |text| !text.is_ascii() && text.contains(&b'\\')) => {
            Some("a pattern of bytes that names a character by its number: perl makes text of it")
        }
        Rival::Sereal if any_node(|node| node.kind == Kind::Float128) => {
            Some("a float beyond 64 bits: this perl rounds it")
        }
        Rival::Storable if has_note(data, |code, value| code == 1 && value == 31) => {
            Some("SVUNDEF_ELEM outside of an array: Storable takes it for an absent key")
        }
        Rival::Storable if has_odd_key_flags(data) => {
            Some("a key whose flags exclude each other, or that is not UTF-8")
        }
        Rival::Storable
            if any_node(|node| node.kind == Kind::Map && node.has(flag::RESTRICTED))
                && any_node(|node| matches!(node.kind, Kind::Null | Kind::Bool)) =>
        {
            Some("undef or a boolean in a restricted hash: perl's own are read-only")
        }
        Rival::Storable
            if any_node(|node| node.kind == Kind::Alias)
                && all_cursors(ours).any(|map| map.entries().any(|(key, _)| key.node().has(flag::LOCKED))) =>
        {
            Some("a value that is locked and has an alias: in perl the variable is locked")
        }
        Rival::Storable if refers_to_text_of_code(ours) => Some("a link to the text of code: in perl it is a copy"),
        Rival::Storable if any_string_of(Kind::Code, |text| text.contains(&0)) => {
            Some("code with a NUL: Storable cuts it off")
        }
        Rival::Storable if any_string_of(Kind::Regexp, |text| !text.is_ascii()) => {
            Some("a pattern beyond ASCII: Storable does not keep its flag")
        }
        Rival::Storable if theirs.nodes().iter().any(is_marked_as_overloaded) => {
            Some("a class that overloads: perl marks all references to its objects")
        }
        Rival::Storable if any_node(|node| node.kind == Kind::Opaque) => Some("hooks"),
        Rival::Storable if any_node(|node| node.kind == Kind::Tied) && any_node(|node| node.kind == Kind::Alias) => {
            Some("an object that several tied variables share")
        }
        Rival::Storable if any_node(|node| node.kind == Kind::Object) && any_node(|node| node.kind == Kind::Code) => {
            Some("blessed code: Storable reads it unblessed")
        }
        Rival::Storable if any_node(|node| node.kind == Kind::Regexp && node.has(flag::BARE)) => {
            Some("a bare regexp: Storable blesses it")
        }
        Rival::Storable if any_node(|node| node.kind == Kind::Map && node.has(flag::RESTRICTED) && node.aux == 0) => {
            Some("an empty restricted hash: Storable forgets that it is restricted")
        }
        _ => None,
    }
}

/// Returns true if this is a reference to an object whose class overloads operators.
fn is_marked_as_overloaded(node: &Node) -> bool {
    node.has(flag::OVERLOAD) && (node.kind.is_container() || node.kind == Kind::Link)
}

/// Returns true if the spelling of a Storable image has such a note.
fn has_note(data: &[u8], matches: impl Fn(u16, u64) -> bool) -> bool {
    let limits = perl_limits();
    let stage = Stage::parse("storable").expect("a stage");
    let document = stage.format().read(data, stage.settings(), Request::new(&limits).detailed()).document;
    document.spelling().is_some_and(|spelling| spelling.notes.iter().any(|note| matches(note.code, note.value)))
}

/// Returns true if the pattern of a regular expression is tracked.
fn tracks_pattern(data: &[u8]) -> bool {
    let limits = perl_limits();
    let stage = Stage::parse("sereal").expect("a stage");
    let document = stage.format().read(data, stage.settings(), Request::new(&limits).detailed()).document;
    let Some(trace) = document.trace() else { return false };
    trace.spans.iter().any(|span| {
        let bytes = if span.layer == 0 { data } else { trace.layer.as_deref().unwrap_or_default() };
        let previous_node = span.node.checked_sub(1).and_then(|index| document.nodes().get(index as usize));
        let is_pattern = previous_node.is_some_and(|node| node.kind == Kind::Regexp);
        let is_tag = matches!(span.name, "SHORT_BINARY" | "BINARY" | "STR_UTF8" | "COPY" | "PAD");
        is_pattern && is_tag && bytes.get(span.start as usize).is_some_and(|byte| *byte >= 0x80)
    })
}

/// Returns true if a COPY contains an object.
fn copies_object(data: &[u8]) -> bool {
    let limits = perl_limits();
    let stage = Stage::parse("sereal").expect("a stage");
    let document = stage.format().read(data, stage.settings(), Request::new(&limits).detailed()).document;
    let extents = document.trace().map_or(&[][..], |trace| &trace.extents);
    let is_object = |node: &Node| matches!(node.kind, Kind::Object | Kind::Opaque | Kind::Regexp);
    // The copy itself begins with the tag COPY; its contents are copied.
    document.nodes().iter().zip(extents.iter().skip(1)).any(|(node, inside)| inside.copied && is_object(node))
}

/// Returns true if a key has both of the flags that exclude each other, for UTF-8 and for downgraded from UTF-8, or
/// is flagged as UTF-8 and is not.
fn has_odd_key_flags(data: &[u8]) -> bool {
    /// Code of the note with the flags of a key.
    const KEY_FLAGS: u16 = 4;
    /// Both flags.
    const ALL_FLAGS: u64 = 3;
    let limits = perl_limits();
    let stage = Stage::parse("storable").expect("a stage");
    let document = stage.format().read(data, stage.settings(), Request::new(&limits)).document;
    has_note(data, |code, value| code == KEY_FLAGS && value & ALL_FLAGS == ALL_FLAGS) || has_odd_key(&document)
}

/// Returns true if a key is text that is not UTF-8.
fn has_odd_key(document: &Document<'_>) -> bool {
    let is_odd =
        |name: &icecore::raw::Name<'_>| name.node.kind == Kind::Text && std::str::from_utf8(name.bytes).is_err();
    all_cursors(document).any(|map| map.entries().any(|(key, _)| matches!(key, Key::Name(name) if is_odd(&name))))
}

/// Returns true if an alias refers to the text of code.
fn refers_to_text_of_code(document: &Document<'_>) -> bool {
    let is_text = |index: u64| {
        let previous_node = index.checked_sub(1).and_then(|previous| document.nodes().get(previous as usize));
        previous_node.is_some_and(|node| node.kind == Kind::Code)
    };
    document.nodes().iter().any(|node| node.kind == Kind::Alias && is_text(node.payload))
}

/// Returns true if the value of a tied variable is not an object.
fn is_tied_to_nothing(document: &Document<'_>) -> bool {
    all_cursors(document).filter(|cursor| cursor.kind() == Kind::Tied).any(|tied| {
        tied.children().next().is_none_or(|object| {
            let object = object.target();
            !matches!(object.kind(), Kind::Object | Kind::Opaque) || object.node().form() == Form::Variable
        })
    })
}

/// Returns true if a container is in a variable that should hold a reference.
fn has_misplaced_container(document: &Document<'_>) -> bool {
    let is_container = |node: &Node| match node.kind {
        Kind::Array | Kind::Map | Kind::Link | Kind::Opaque | Kind::Code => true,
        Kind::Object => node.form() != Form::Variable,
        Kind::Tied => matches!(node.form(), Form::TiedArray | Form::TiedHash),
        _ => false,
    };
    let roots = [Some(document.root()), document.header()];
    if roots.iter().flatten().any(|root| is_container(root.node()) && !root.node().has(flag::REF)) {
        return true;
    }
    all_cursors(document)
        .filter(|cursor| matches!(cursor.kind(), Kind::Array | Kind::Map | Kind::Tied | Kind::Ref))
        .any(|cursor| {
            let previous_node = cursor.index().checked_sub(1).and_then(|index| document.nodes().get(index as usize));
            let is_synthetic =
                cursor.kind() == Kind::Ref && previous_node.is_some_and(|node| node.kind == Kind::Object);
            !is_synthetic && cursor.children().any(|child| is_container(child.node()) && !child.node().has(flag::REF))
        })
}

fn all_cursors<'d>(document: &'d Document<'_>) -> impl Iterator<Item = Cursor<'d>> {
    (0..document.nodes().len() as u32).filter_map(|index| document.at(index))
}

/// Returns the name for an answer of perl that is not valid json:typed. Its parts for the header and the body were
/// written separately.
fn explain_unreadable(error: &Error, typed: &str) -> Option<&'static str> {
    let twice = error.expected().is_some_and(|expected| expected.contains("number of its own"));
    (twice && typed.contains("$header")).then_some("links in a header: each walk of perl counts from 1")
}

/// Returns true if a pattern has an escape that is only meaningful by the rules of Unicode.
fn has_unicode_escape(pattern: &[u8]) -> bool {
    pattern.windows(2).any(|pair| pair[0] == b'\\' && matches!(pair[1], b'p' | b'P' | b'N' | b'x' | b'o'))
}

/// Returns true if a pattern begins like `(?ix)`.
fn begins_with_flags(pattern: &[u8]) -> bool {
    let flags =
        pattern.strip_prefix(b"(?").map_or(&[][..], |rest| rest.split(|byte| *byte == b')').next().unwrap_or(rest));
    !flags.is_empty() && flags.iter().all(|byte| byte.is_ascii_alphabetic() || b"^-".contains(byte))
}

fn has_odd_flags(cursor: Cursor<'_>) -> bool {
    let mut known_flags = b"umsixnp".iter();
    let flags = cursor.children().nth(1).and_then(|flags| flags.as_bytes()).unwrap_or_default();
    cursor.kind() == Kind::Regexp && !flags.iter().all(|flag| known_flags.any(|known| known == flag))
}

fn has_weak(document: &Document<'_>) -> bool {
    let refers = |node: &Node| node.kind.is_container() || node.kind == Kind::Link;
    document.nodes().iter().any(|node| node.has(flag::WEAK) && refers(node))
}

fn is_invalid_utf8(cursor: Cursor<'_>) -> bool {
    cursor.kind() == Kind::Text && cursor.as_str().is_none()
}

fn has_kind(document: &Document<'_>, kind: impl Fn(Kind) -> bool) -> bool {
    document.nodes().iter().any(|node| kind(node.kind))
}

fn has_duplicate_keys(document: &Document<'_>) -> bool {
    all_cursors(document).any(repeats_key)
}

/// Returns true if two keys of a map are the same key to perl.
fn repeats_key(map: Cursor<'_>) -> bool {
    let mut known = HashSet::new();
    map.entries().any(|(key, _)| match key {
        Key::Name(name) => !known.insert(match name.node.kind {
            // To perl, the same characters are the same key.
            Kind::Text => name.bytes.to_vec(),
            _ => name.bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes(),
        }),
        Key::Value(_) => false,
    })
}
