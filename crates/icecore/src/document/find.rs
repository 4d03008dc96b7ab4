//! Finding the value on a path, including shortened paths.

use super::Document;
use super::cursor::{Cursor, Key};
use super::key_text::{byte_of_char, key_bytes, key_text, push_byte};
use super::naming::strip_visibility;
use super::node::Kind;
use super::path::{MAX_SHOWN_KEY, push_quoted, short_key};
use crate::error::{Error, ErrorKind};
use std::borrow::Cow;
use std::collections::HashSet;

impl Document<'_> {
    /// Returns the value on this path. Paths have the syntax of errors, losses and [`Cursor::path`]. Links, aliases and
    /// objects on the way are followed. `$` may be left out.
    ///
    /// ```
    /// let document = icecore::read(br#"{"staff": [{"name": "Alice"}]}"#)?;
    /// let name = document.find("$.staff[0].name")?;
    /// assert_eq!(name.as_str(), Some("Alice"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Usage` if the path is malformed, or if nothing is there; then [`Error::path`] is the part of the path
    /// that exists in the document.
    pub fn find(&self, path: &str) -> Result<Cursor<'_>, Error> {
        self.find_from(self.root(), path).or_else(|error| {
            // The path may come from a message. Two keys may look alike there, and the middle of a long path is left
            // out. So the other values that it may mean are searched, too.
            let alike = || search_lookalikes(self.root(), path);
            let header = || self.header().and_then(|header| self.find_from(header, path).ok());
            let displayed = || path.contains('…').then(|| self.tape.find_shown_path(path, self.input())).flatten();
            alike().or_else(header).or_else(|| displayed().map(|index| Cursor::new(self, index))).ok_or(error)
        })
    }

    /// Returns the path of the node at this index, however long it is. [`Document::path`] is meant for people: it
    /// leaves out the middle of a long path.
    ///
    /// ```
    /// let json = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    /// let document = icecore::read(json.as_bytes())?;
    /// let path = document.full_path(100);
    /// assert_eq!(path, format!("${}", "[0]".repeat(100)));
    /// assert_eq!(document.find(&document.path(100))?.index(), 100);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn full_path(&self, node: u32) -> String {
        std::iter::once("$".to_owned()).chain(self.tape.steps_to(node, self.input(), usize::MAX)).collect()
    }

    fn find_from<'d>(&'d self, start: Cursor<'d>, path: &str) -> Result<Cursor<'d>, Error> {
        let (reached, rest) = follow_existing(start, path)?;
        let Some((_, after)) = Step::parse(rest) else { return Ok(reached) };
        let so_far = &path[..path.len() - rest.len()];
        let so_far = if so_far.is_empty() { "$" } else { so_far };
        Err(Error::new(ErrorKind::Usage)
            .expecting(format!("something at `{}`", &path[..path.len() - after.len()]))
            .finding(format!("{} at `{so_far}`", describe_value(reached)))
            .on_path(so_far))
    }

    /// Follows a path as long as the document has its steps. Returns the value reached and the rest of the path, empty
    /// if the value was found.
    ///
    /// ```
    /// let document = icecore::read(br#"{"staff": ["Alice"]}"#)?;
    /// let (value, rest) = document.follow("$.staff[0].name")?;
    /// assert_eq!((value.as_str(), rest), (Some("Alice"), ".name"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Usage` if the path is malformed.
    pub fn follow<'p>(&self, path: &'p str) -> Result<(Cursor<'_>, &'p str), Error> {
        follow_existing(self.root(), path)
    }

    /// Checks the syntax of a path, for any document.
    ///
    /// ```
    /// use icecore::Document;
    /// assert!(Document::check_path("$.staff[0].name").is_ok());
    /// assert!(Document::check_path("$.staff[").is_err());
    /// ```
    ///
    /// # Errors
    /// Of kind `Usage`, with the malformed step.
    pub fn check_path(path: &str) -> Result<(), Error> {
        let mut rest = strip_root(path)?;
        while !rest.is_empty() {
            (_, rest) = Step::parse(rest).ok_or_else(|| invalid_step_error(path, rest))?;
        }
        Ok(())
    }
}

/// Returns a step without the dot that jq requires between `]` and `[`, and at the beginning of a path.
pub(crate) fn without_dot_before_bracket(step: &str) -> &str {
    step.strip_prefix('.').filter(|rest| rest.starts_with('[')).unwrap_or(step)
}

/// Returns the value on a path, trying all keys that look like the one in each step.
fn search_lookalikes<'d>(start: Cursor<'d>, path: &str) -> Option<Cursor<'d>> {
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut candidates = vec![start];
    while !rest.is_empty() {
        let (step, after) = Step::parse(rest)?;
        let mut visited = HashSet::new();
        let next =
            candidates.iter().flat_map(|start| step.find_all(*start)).filter(|value| visited.insert(value.index()));
        (candidates, rest) = (next.collect(), after);
    }
    candidates.first().copied()
}

/// Follows a path as long as its steps exist; returns the value and the rest of the path.
fn follow_existing<'d, 'p>(start: Cursor<'d>, path: &'p str) -> Result<(Cursor<'d>, &'p str), Error> {
    let mut rest = strip_root(path)?;
    let mut current = start;
    while !rest.is_empty() {
        let (step, after) = Step::parse(rest).ok_or_else(|| invalid_step_error(path, rest))?;
        let Some(next) = step.follow_from(current) else { break };
        (current, rest) = (next, after);
    }
    Ok((current, rest))
}

/// Returns the steps of a path, without the `$` of the root.
fn strip_root(path: &str) -> Result<&str, Error> {
    // `.` is the whole value in jq.
    let steps = if path == "." { "" } else { path.strip_prefix('$').unwrap_or(path) };
    match steps.is_empty() || steps.starts_with(['.', '[', '{', '^', '#']) {
        true => Ok(steps),
        false => Err(invalid_step_error(path, steps)),
    }
}

#[cold]
fn invalid_step_error(path: &str, rest: &str) -> Error {
    Error::new(ErrorKind::Usage)
        .expecting(format!("a step in the path `{path}`: .name, [\"key\"], [:symbol], [3], {{3}}, ^ or #0"))
        .finding(format!("`{rest}`"))
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    /// A key that is a symbol of Ruby: a map may also have a string with the same name.
    Symbol(String),
    Item(i64),
    Entry(usize),
    Referent,
    Part(usize),
}

impl Step {
    /// Parses the first step of this text; returns it and the rest.
    pub(crate) fn parse(text: &str) -> Option<(Step, &str)> {
        let text = without_dot_before_bracket(text);
        if let Some(rest) = text.strip_prefix("[\"") {
            let (key, rest) = parse_quoted_key(rest)?;
            return Some((Step::Key(key), rest));
        }
        if let Some(rest) = text.strip_prefix("[:\"") {
            let (name, rest) = parse_quoted_text(rest)?;
            return Some((Step::Symbol(name), rest.strip_prefix(']')?));
        }
        if let Some(rest) = text.strip_prefix("[:") {
            let (name, rest) = rest.split_once(']')?;
            return is_symbol_name(name).then(|| (Step::Symbol(name.to_owned()), rest));
        }
        let number = |rest: &'_ str, close: &str| -> Option<(usize, usize)> {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest[digits..].starts_with(close).then_some(())?;
            Some((rest[..digits].parse().ok()?, digits + close.len()))
        };
        let rest = text.get(1..)?;
        match text.as_bytes().first()? {
            b'.' => {
                let end = rest.find(['.', '[', '{', '^', '#']).unwrap_or(rest.len());
                (end > 0).then(|| (Step::Key(parse_bare_key(&rest[..end])), &rest[end..]))
            }
            b'[' => {
                let end = rest.find(']')?;
                Some((Step::Item(rest[..end].parse().ok()?), &rest[end + 1..]))
            }
            b'{' => number(rest, "}").map(|(n, end)| (Step::Entry(n), &rest[end..])),
            b'#' => number(rest, "").map(|(n, end)| (Step::Part(n), &rest[end..])),
            b'^' => Some((Step::Referent, rest)),
            _ => None,
        }
    }

    /// Returns all values that the step may mean, the likeliest first.
    fn find_all<'d>(&self, start: Cursor<'d>) -> Vec<Cursor<'d>> {
        let Step::Key(name) = self else { return self.follow_from(start).into_iter().collect() };
        let mut all: Vec<_> = start.body().entries().filter(|(key, _)| may_mean_key(key, name)).collect();
        all.reverse();
        all.into_iter().map(|(_, value)| value).collect()
    }

    /// Returns the value that the step leads to.
    pub(crate) fn follow_from<'d>(&self, start: Cursor<'d>) -> Option<Cursor<'d>> {
        match self {
            Step::Key(name) => find_entry(start.body(), name),
            Step::Symbol(name) => find_symbol_entry(start.body(), name),
            Step::Item(number) => {
                let map = start.body();
                if map.kind() == Kind::Map {
                    return find_integer_entry(map, *number);
                }
                start.item(usize::try_from(*number).ok()?)
            }
            Step::Entry(position) => {
                let map = start.body();
                if map.kind() == Kind::Map { map.children().nth(*position) } else { None }
            }
            Step::Referent => {
                let reference = through_objects(start);
                if reference.kind() == Kind::Ref { reference.children().next() } else { None }
            }
            Step::Part(position) => {
                let target = through_objects(start);
                let has_parts = !matches!(target.kind(), Kind::Array | Kind::Map | Kind::Ref);
                if has_parts { target.children().nth(*position) } else { None }
            }
        }
    }
}

/// Follows links, aliases and objects, but not attributes.
fn through_objects(mut current: Cursor<'_>) -> Cursor<'_> {
    current = current.target();
    for _ in 0..16 {
        if current.kind() != Kind::Object {
            break;
        }
        current = match current.children().next() {
            Some(body) => body.target(),
            None => break,
        };
    }
    current
}

/// Maximum number of keys in the description of a map.
const MAX_LISTED_KEYS: usize = 8;

/// Returns the entry of a map whose key is shown as this name; the last one, if there are several.
fn find_entry<'d>(map: Cursor<'d>, name: &str) -> Option<Cursor<'d>> {
    let last_entry = |is_it: fn(&Key<'_>, &str) -> bool| {
        crate::steps::count(map.len());
        map.entries().filter(|(key, _)| is_it(key, name)).map(|(_, value)| value).last()
    };
    let short = || name.contains('…').then(|| last_entry(is_shortened)).flatten();
    last_entry(has_exact_name).or_else(|| last_entry(has_member_name)).or_else(short)
}

fn may_mean_key(key: &Key<'_>, name: &str) -> bool {
    key.node().kind.is_string() && match_rank(key.bytes(), name).is_some()
}

/// Returns how well a string key matches this name. If several keys match, the lowest rank wins. If several keys have
/// this rank, the last one wins.
pub(crate) fn match_rank(key: &[u8], name: &str) -> Option<u8> {
    if equals_name(key, name) {
        Some(0)
    } else if strip_member_marks(key) == Some(name.as_bytes()) {
        Some(1)
    } else {
        (name.contains('…') && key.len() > MAX_SHOWN_KEY && short_key(key, MAX_SHOWN_KEY) == name).then_some(2)
    }
}

/// Returns the names under which a string key is found, with the rank of each.
pub(crate) fn lookup_names(key: &[u8]) -> impl Iterator<Item = (u8, Cow<'_, [u8]>)> {
    let name = match key_text(key) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    let short = (key.len() > MAX_SHOWN_KEY).then(|| (2, Cow::Owned(short_key(key, MAX_SHOWN_KEY).into_bytes())));
    [(0, name)].into_iter().chain(strip_member_marks(key).map(|bare| (1, Cow::Borrowed(bare)))).chain(short)
}

fn has_exact_name(key: &Key<'_>, name: &str) -> bool {
    key.node().kind.is_string() && equals_name(key.bytes(), name)
}

fn equals_name(bytes: &[u8], name: &str) -> bool {
    match name.contains(|c| byte_of_char(c).is_some()) {
        true => key_text(bytes) == name,
        false => bytes == name.as_bytes(),
    }
}

/// Returns `true` if this is the bare name of a member, as it is shown.
fn has_member_name(key: &Key<'_>, name: &str) -> bool {
    key.node().kind.is_string() && strip_member_marks(key.bytes()) == Some(name.as_bytes())
}

fn strip_member_marks(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(b"@").or_else(|| strip_visibility(bytes))
}

/// Returns `true` if this is the key with its middle left out, as long keys are shown.
fn is_shortened(key: &Key<'_>, name: &str) -> bool {
    let bytes = key.bytes();
    key.node().kind.is_string() && bytes.len() > MAX_SHOWN_KEY && short_key(bytes, MAX_SHOWN_KEY) == name
}

/// Returns the entry of a map whose key is this symbol; the last one, if there are several.
fn find_symbol_entry<'d>(map: Cursor<'d>, name: &str) -> Option<Cursor<'d>> {
    crate::steps::count(map.len());
    let is_it = |key: &Key<'_>| key.node().kind == Kind::Symbol && equals_name(key.bytes(), name);
    map.entries().filter(|(key, _)| is_it(key)).map(|(_, value)| value).last()
}

/// Returns true if the step `[:name]` needs no quotes for this name. A slice `[:5]` begins alike.
pub(crate) fn is_symbol_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '$' | '?' | '!' | '=');
    name.chars().all(is_letter) && name.starts_with(|c: char| !c.is_ascii_digit())
}

/// Returns the entry of a map with this integer key; the last one, if there are several.
fn find_integer_entry<'d>(map: Cursor<'d>, number: i64) -> Option<Cursor<'d>> {
    crate::steps::count(map.len());
    let is_it = |key: &Key<'_>| key.node().kind == Kind::Int && key.node().payload as i64 == number;
    map.entries().filter(|(key, _)| is_it(key)).map(|(_, value)| value).last()
}

/// Returns the key that a step `.name` means: `.name:protected` and `.name:Class:private` are properties of PHP.
fn parse_bare_key(text: &str) -> String {
    if let Some(name) = text.strip_suffix(":protected") {
        return mangle_property("*", name);
    }
    match text.strip_suffix(":private").and_then(|text| text.split_once(':')) {
        Some((name, class)) => mangle_property(class, name),
        None => text.to_owned(),
    }
}

/// Parses the rest of a step `["name"]` after the first quote; returns the key and the text after the step.
fn parse_quoted_key(text: &str) -> Option<(String, &str)> {
    let (name, rest) = parse_quoted_text(text)?;
    if let Some(after) = rest.strip_prefix(']') {
        return Some((name, after));
    }
    if let Some(after) = rest.strip_prefix(":protected]") {
        return Some((mangle_property("*", &name), after));
    }
    let (class, rest) = parse_quoted_text(rest.strip_prefix(":\"")?)?;
    Some((mangle_property(&class, &name), rest.strip_prefix(":private]")?))
}

/// Returns the name under which PHP stores a property that is not public.
fn mangle_property(class: &str, name: &str) -> String {
    format!("\0{class}\0{name}")
}

/// Parses a quoted text up to its closing quote; returns it and the text after it.
fn parse_quoted_text(text: &str) -> Option<(String, &str)> {
    let mut key = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            // Several bytes together may be a character.
            '"' => return Some((key_text(&key_bytes(&key)).into_owned(), &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                c @ ('"' | '\\') => key.push(c),
                'x' => {
                    push_byte(&mut key, u8::from_str_radix(text.get(at + 2..at + 4)?, 16).ok()?);
                    chars.nth(1)?;
                }
                'u' => {
                    let rest = text.get(at + 2..)?;
                    let (digits, len) = match rest.strip_prefix('{') {
                        Some(braced) => braced.find('}').map(|end| (&braced[..end], end + 2))?,
                        None => (rest.get(..4)?, 4),
                    };
                    key.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    chars.nth(len - 1)?;
                }
                _ => return None,
            },
            c => key.push(c),
        }
    }
    None
}

/// Returns a key as a step of a path has it: without the visibility of a property, and in quotes if it is not a name.
fn describe_key(key: &[u8]) -> String {
    let name = key_text(strip_visibility(key).unwrap_or(key)).into_owned();
    let is_special = |c: char| c.is_ascii_punctuation() && c != '_' || c.is_whitespace() || byte_of_char(c).is_some();
    let is_name = !name.is_empty() && !name.contains(is_special);
    if is_name || name.starts_with('@') {
        return name;
    }
    let mut quoted = String::new();
    push_quoted(&mut quoted, &name);
    quoted
}

/// Describes the existing value, for errors.
fn describe_value(value: Cursor<'_>) -> String {
    let body = value.body();
    match body.kind() {
        Kind::Array => format!("an array of {}", body.len()),
        Kind::Map => {
            let names = body.entries().take(MAX_LISTED_KEYS).filter(|(key, _)| key.node().kind.is_string());
            let mut names: Vec<_> = names.map(|(key, _)| describe_key(key.bytes())).collect();
            if body.len() > MAX_LISTED_KEYS && !names.is_empty() {
                names.push("…".to_owned());
            }
            if names.is_empty() { "a map without such keys".into() } else { format!("the keys {}", names.join(", ")) }
        }
        kind => format!("{kind:?}").to_lowercase(),
    }
}
