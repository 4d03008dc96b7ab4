//! Describes two different values by two different texts.
//!
//! The short description of a value has its kind, its class and the number of its items, so different values may have
//! the same one. In that case the description says what differs: the target of a link, the kind of a string, a
//! property of a map, a part of a long string, or the content of a list.

use super::known_values::describe_known;
use icecore::raw::{IS_KEY, flag};
use icecore::{Cursor, Key, Kind};
use icecore_inspect::describe::{self, Tone, ValueDescription, describe_value, quote_bytes};

/// Maximum number of bytes of an outline.
const MAX_OUTLINE_LEN: usize = 4096;
/// Maximum number of levels of an outline.
const MAX_LEVELS: usize = 6;
/// Number of characters shown before the first difference of two long texts.
const CONTEXT_LEN: usize = 16;

/// Maximum lengths of a description.
#[derive(Clone, Copy)]
pub struct MaxLengths {
    /// Characters of a string.
    pub string: usize,
    /// Characters of the whole description.
    pub total: usize,
    /// Whether links may be described by the path of their target. Finding one takes time for each value before it.
    pub may_search_paths: bool,
}

/// Describes a value in a few words.
pub fn describe(value: Cursor<'_>, lengths: MaxLengths) -> String {
    cut(&describe_fully(value.target(), lengths.string), lengths.total)
}

/// Describes two different values by two different texts.
pub fn contrast(left: Cursor<'_>, right: Cursor<'_>, lengths: MaxLengths) -> (String, String) {
    let (description, right_description) = (describe(left, lengths), describe(right, lengths));
    if description != right_description {
        return (description, right_description);
    }
    let (left_target, right_target) = (left.target(), right.target());
    let differs = |pair: &(String, String)| pair.0 != pair.1;
    let texts = describe_links(left, right, &description, lengths.may_search_paths)
        .filter(differs)
        .or_else(|| Some(describe_properties(left, right, &description)).filter(differs))
        .or_else(|| Some((describe_class(left_target), describe_class(right_target))).filter(differs))
        .or_else(|| show_string_difference(left_target, right_target, lengths))
        .or_else(|| Some((outline(left_target), outline(right_target))).filter(differs))
        .or_else(|| Some((outline_with_kinds(left_target), outline_with_kinds(right_target))).filter(differs));
    match texts {
        Some((left, right)) => cut_around_difference(&left, &right, lengths),
        None => (description.clone(), format!("{description} with other content")),
    }
}

/// Describes what distinguishes the key of a value from another key with the same text: its kind, and whether it is
/// locked.
pub fn describe_key(value: Cursor<'_>) -> Option<String> {
    let document = value.document();
    let name_flags = document.tape().keys().get(u32::from(value.node().key)).map(|name| name.node.flags);
    let (kind, flags) = match (describe::describe_key(document, value.index(), 0), name_flags) {
        (Some((kind, ..)), Some(flags)) => (kind, flags),
        _ => {
            let key = document.at(value.index().checked_sub(1)?).filter(|key| key.node().key == IS_KEY)?;
            (describe_value(document, key.index(), 0).kind, key.node().flags)
        }
    };
    let marks = [(flag::LOCKED, ", locked"), (flag::PLACEHOLDER, ", allowed but absent")];
    let marks = marks.into_iter().filter(|(mark, _)| flags & mark != 0).map(|(_, words)| words);
    Some(format!("{kind}{}", marks.collect::<String>()))
}

/// Returns the kind, the class and the content or the number of items of a value.
fn describe_fully(value: Cursor<'_>, max_chars: usize) -> String {
    if let Some(text) = describe_known(value) {
        return text;
    }
    let ValueDescription { kind, class, value, .. } = describe_value(value.document(), value.index(), max_chars.max(8));
    let class = class.map(|class| format!(" {class}")).unwrap_or_default();
    match value {
        Some((Tone::Count, count)) => format!("{kind}{class} of {count}"),
        Some((_, text)) if class.is_empty() => text,
        Some((_, text)) => format!("{kind}{class} {text}"),
        None => format!("{kind}{class}"),
    }
}

/// Describes links by their targets, if one of the values is a link. `description` is the text for a value that is
/// not a link.
fn describe_links(
    left: Cursor<'_>,
    right: Cursor<'_>,
    description: &str,
    may_search_paths: bool,
) -> Option<(String, String)> {
    let describe_link = |cursor: Cursor<'_>| match cursor.kind().is_again() {
        true => {
            let kind = describe_value(cursor.document(), cursor.index(), 0).kind;
            let path = may_search_paths.then(|| cursor.document().path(cursor.target().index()));
            format!("{kind} to {}", path.as_deref().unwrap_or(description))
        }
        false => description.to_owned(),
    };
    (left.kind().is_again() || right.kind().is_again()).then(|| (describe_link(left), describe_link(right)))
}

/// Adds to the description the kinds of the values if they differ, else their marks and forms.
fn describe_properties(left: Cursor<'_>, right: Cursor<'_>, description: &str) -> (String, String) {
    let (left_target, right_target) = (left.target(), right.target());
    let describe_node = |cursor: Cursor<'_>| describe_value(cursor.document(), cursor.index(), 0);
    let (left_description, right_description) = (describe_node(left_target), describe_node(right_target));
    if left_description.kind != right_description.kind {
        return (
            format!("{} {description}", left_description.kind),
            format!("{} {description}", right_description.kind),
        );
    }
    let add_marks = |cursor: Cursor<'_>, target: ValueDescription| {
        let mut marks = describe_node(cursor).marks;
        marks.extend(target.marks.iter().filter(|_| cursor.kind().is_again()));
        let form = if left_target.node().form() == right_target.node().form() {
            String::new()
        } else {
            describe_form(cursor.target())
        };
        let marks: Vec<&str> = marks.into_iter().chain([&*form]).filter(|mark| !mark.is_empty()).collect();
        if marks.is_empty() { description.to_owned() } else { format!("{description} ({})", marks.join(", ")) }
    };
    (add_marks(left, left_description), add_marks(right, right_description))
}

/// Returns the name of the form of an object or a similar value.
fn describe_form(value: Cursor<'_>) -> String {
    let has_form = value.kind().is_container() && !matches!(value.kind(), Kind::Array | Kind::Map);
    if has_form { format!("form {:?}", value.node().form()) } else { String::new() }
}

/// Returns the name of the class with all its bytes; empty if the value has no class.
fn describe_class(value: Cursor<'_>) -> String {
    if value.node().kind.has_class() {
        format!("class {}", quote_bytes(value.class(), MAX_OUTLINE_LEN))
    } else {
        String::new()
    }
}

/// Returns the parts of two strings that begin shortly before their first difference.
fn show_string_difference(left: Cursor<'_>, right: Cursor<'_>, lengths: MaxLengths) -> Option<(String, String)> {
    let (a, b) = (left.as_bytes()?, right.as_bytes()?);
    let common_len = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let mut start = common_len.saturating_sub(CONTEXT_LEN);
    // The parts must not begin inside a UTF-8 character.
    while start > 0 && a.get(start).is_some_and(|byte| byte & 0xc0 == 0x80) {
        start -= 1;
    }
    let max_chars = lengths.string.min(lengths.total);
    let tail = |bytes: &[u8]| {
        let rest = bytes.get(start..).unwrap_or_default();
        let text = quote_bytes(rest.get(..rest.len().min(max_chars.saturating_mul(4))).unwrap_or_default(), usize::MAX);
        if start == 0 { text } else { text.replacen('"', "\"…", 1) }
    };
    Some((tail(a), tail(b))).filter(|(a, b)| a != b)
}

/// Cuts two texts so that their first difference is visible.
fn cut_around_difference(left: &str, right: &str, lengths: MaxLengths) -> (String, String) {
    let max_chars = lengths.string.min(lengths.total);
    let common_len = left.chars().zip(right.chars()).take_while(|(a, b)| a == b).count();
    let is_visible =
        common_len + CONTEXT_LEN <= max_chars || left.chars().count().max(right.chars().count()) <= max_chars;
    let skipped_chars = if is_visible { 0 } else { common_len.saturating_sub(CONTEXT_LEN.min(max_chars / 3)) };
    let cut_part = |text: &str| match skipped_chars {
        0 => cut(text, max_chars),
        _ => cut(&['…'].into_iter().chain(text.chars().skip(skipped_chars)).collect::<String>(), max_chars),
    };
    (cut_part(left), cut_part(right))
}

/// Returns the content of a value as text, up to a length and a number of levels.
fn outline(value: Cursor<'_>) -> String {
    let mut outline = Outline { shows_kinds: false, text: String::new() };
    outline.push(value, MAX_LEVELS);
    outline.text
}

/// Like [`outline`], with the kinds of numbers and strings.
fn outline_with_kinds(value: Cursor<'_>) -> String {
    let mut outline = Outline { shows_kinds: true, text: String::new() };
    outline.push(value, MAX_LEVELS);
    outline.text
}

/// The content of a value as text, as far as it was written.
struct Outline {
    shows_kinds: bool,
    text: String,
}

impl Outline {
    fn is_full(&self) -> bool {
        self.text.len() > MAX_OUTLINE_LEN
    }

    fn push(&mut self, cursor: Cursor<'_>, levels: usize) {
        let node = cursor.node();
        let is_shown_as_text = !self.shows_kinds && describe_known(cursor).is_some();
        if !node.kind.is_container() || levels == 0 || self.is_full() || is_shown_as_text {
            return self.push_leaf(cursor);
        }
        if !matches!(node.kind, Kind::Array | Kind::Map) {
            let ValueDescription { kind, class, .. } = describe_value(cursor.document(), cursor.index(), 0);
            self.text.push_str(&class.map_or_else(|| format!("{kind} "), |class| format!("{kind} {class} ")));
        }
        match node.kind {
            Kind::Map => self.push_entries(cursor, levels),
            Kind::Attrs => {
                cursor.children().take(1).for_each(|value| self.push(value, levels - 1));
                self.text.push_str(" with ");
                self.push_entries(cursor, levels);
            }
            Kind::Object if cursor.len() == 1 => cursor.children().for_each(|body| self.push(body, levels - 1)),
            _ => self.push_items(cursor, levels),
        }
    }

    fn push_leaf(&mut self, cursor: Cursor<'_>) {
        let ValueDescription { kind, .. } = describe_value(cursor.document(), cursor.index(), 0);
        if cursor.kind().is_again() {
            return self.text.push_str(kind);
        }
        let text = describe_fully(cursor, MAX_OUTLINE_LEN);
        if self.shows_kinds && !cursor.kind().is_container() && text != kind {
            self.text.push_str(kind);
            self.text.push(' ');
        }
        self.text.push_str(&text);
    }

    fn push_items(&mut self, list: Cursor<'_>, levels: usize) {
        self.text.push('[');
        for (index, item) in list.children().enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            if self.is_full() {
                break;
            }
            self.push(item, levels - 1);
        }
        self.text.push(']');
    }

    /// Adds the entries of a map, and its default value, in braces.
    fn push_entries(&mut self, map: Cursor<'_>, levels: usize) {
        self.text.push('{');
        for (index, (key, value)) in map.entries().enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            if self.is_full() {
                break;
            }
            if let Some(kind) = describe_key(value).filter(|_| self.shows_kinds) {
                self.text.push_str(&format!("{kind} "));
            }
            match key {
                Key::Name(name) if name.node.kind == Kind::Int => {
                    self.text.push_str(&(name.node.payload as i64).to_string());
                }
                Key::Name(name) => self.text.push_str(&quote_bytes(name.bytes, MAX_OUTLINE_LEN)),
                Key::Value(key) => self.push(key, levels - 1),
            }
            self.text.push_str(": ");
            self.push(value, levels - 1);
        }
        if let Some(default) = map.default_value() {
            self.text.push_str(if map.is_empty() { "default: " } else { ", default: " });
            self.push(default, levels - 1);
        }
        self.text.push('}');
    }
}

/// Returns the text, cut to this width.
pub fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some(_) => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icecore::{Document, Limits, Stage};

    fn read<'b>(format: &str, bytes: &'b [u8]) -> Document<'b> {
        icecore::read_as(bytes, &Stage::parse(format).expect("a format"), &Limits::new()).expect("a document")
    }

    fn compare(format: &str, left: &[u8], right: &[u8], total: usize) -> String {
        let (a, b) = (read(format, left), read(format, right));
        let (a, b) = contrast(a.root(), b.root(), MaxLengths { string: 60, total, may_search_paths: true });
        format!("{a} -> {b}")
    }

    #[test]
    fn values_that_look_the_same_are_shown_by_their_difference() {
        let json = |left: &str, right: &str| compare("json", left.as_bytes(), right.as_bytes(), usize::MAX);
        assert_eq!(json("1", "2"), "1 -> 2");
        assert_eq!(json("[1,[2]]", "[1,[3]]"), "[1, [2]] -> [1, [3]]");
        assert_eq!(json(r#"{"a":1}"#, r#"{"b":1}"#), r#"{"a": 1} -> {"b": 1}"#);
        let long = |end: &str| format!("\"{}{end}\"", "x".repeat(100));
        assert_eq!(json(&long("a"), &long("b")), r#""…xxxxxxxxxxxxxxxxa" -> "…xxxxxxxxxxxxxxxxb""#);
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(9), "]".repeat(9));
        assert_eq!(json(&deep("1"), &deep("2")), "array of 1 item -> array of 1 item with other content");
        let objects = |field: &str| format!("O:1:\"A\":1:{{s:1:\"x\";i:{field};}}").into_bytes();
        assert_eq!(compare("php", &objects("1"), &objects("2"), 99), r#"object A {"x": 1} -> object A {"x": 2}"#);
        assert_eq!(
            compare("json", b"\"aaaaaaaaaaaaaaaaaaaaaaaaab\"", b"\"aaaaaaaaaaaaaaaaaaaaaaaaac\"", 20)
                .matches('…')
                .count(),
            2
        );
        assert_eq!(
            compare("marshal", b"\x04\x08\"\x06a", b"\x04\x08I\"\x06a\x06:\x06ET", 99),
            r#"bytes "a" -> text "a""#
        );
    }
}
