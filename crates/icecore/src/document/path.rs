//! Paths: `$.employees[3].name`.
//!
//! | step | is |
//! |---|---|
//! | `.name`, `["any key"]` | the entry of a map |
//! | `[3]` | the item of an array; the entry of a map under the integer 3 |
//! | `{3}` | the entry of a map by position, where the key is anything else |
//! | `^` | what a reference refers to |
//! | `#0` | a part of anything else: a payload, a pattern, an attribute's value |

use super::Document;
use super::cursor::{Cursor, Key};
use super::naming::unmangled;
use super::node::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node};
use super::tape::Tape;
use crate::error::{Error, ErrorKind};
use crate::printable::is_printable;
use crate::shortened::shortened as middle_left_out;
use std::fmt::Write;

/// Appends the step to the entry with this key.
pub(crate) fn push_key(path: &mut String, key: &str) {
    // Ruby's variables of instances and classes are words as well.
    let word = key.trim_start_matches('@');
    let is_word = key.len() - word.len() <= 2
        && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if is_word {
        path.push('.');
        path.push_str(key);
    } else {
        path.push_str("[\"");
        for c in key.chars() {
            match c {
                '"' | '\\' => {
                    path.push('\\');
                    path.push(c);
                }
                c if !is_printable(c) => {
                    let _ = match u16::try_from(u32::from(c)) {
                        Ok(unit) => write!(path, "\\u{unit:04x}"),
                        Err(_) => write!(path, "\\u{{{:x}}}", u32::from(c)),
                    };
                }
                c => path.push(c),
            }
        }
        path.push_str("\"]");
    }
}

/// The longest key that a path says in full, and the longest path: a longer one names
/// no more than where about it is.
pub(super) const KEY: usize = 160;
const PATH: usize = 640;

/// The path for messages: the middle of a long one is left out.
pub(super) fn told(path: String) -> String {
    if path.len() <= PATH { path } else { middle_left_out(&path, PATH).into_owned() }
}

/// Appends the step to the entry with this key, if it is a string or an integer; the
/// middle of a key of more than `most` bytes is left out.
fn push_name(path: &mut String, key: &Node, bytes: &[u8], most: usize) -> Option<()> {
    match key.kind {
        Kind::Int => {
            let _ = write!(path, "[{}]", key.payload as i64);
        }
        kind if kind.is_string() && bytes.len() > most => push_key(path, &short_key(bytes, most)),
        kind if kind.is_string() => push_key(path, &String::from_utf8_lossy(bytes)),
        _ => return None,
    }
    Some(())
}

/// A long key without its middle.
fn short_key(bytes: &[u8], most: usize) -> String {
    let half = most / 2;
    let [front, back] = [&bytes[..half], &bytes[bytes.len() - half..]].map(String::from_utf8_lossy);
    format!("{front}…({} bytes)…{back}", bytes.len() - 2 * half)
}

/// The longest path that is written in full; the middle of a longer one is
/// left out.
pub(super) const STEPS: usize = 64;

/// What stands in a long path for the steps that are left out.
pub(super) fn push_gap(path: &mut String, left_out: usize) {
    let _ = write!(path, "…({left_out} more)…");
}

/// A path of these steps; of a long one the middle is left out.
fn joined(mut steps: Vec<String>) -> String {
    let mut path = String::from("$");
    if steps.len() > STEPS {
        let left_out = steps.len() - STEPS;
        path.extend(steps.drain(..STEPS / 2));
        push_gap(&mut path, left_out);
        steps.drain(..left_out);
    }
    path.extend(steps);
    told(path)
}

/// A path of so many steps, of which only those are made that are shown.
fn shortened(count: usize, step: impl Fn(usize) -> Option<String>) -> String {
    let mut path = String::from("$");
    if count <= STEPS {
        path.extend((0..count).filter_map(step));
        return told(path);
    }
    path.extend((0..STEPS / 2).filter_map(&step));
    push_gap(&mut path, count - STEPS);
    path.extend((count - STEPS / 2..count).filter_map(&step));
    told(path)
}

#[cfg(test)]
thread_local! {
    /// How many steps of paths were made, to count what they cost.
    static MADE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

impl Tape {
    /// The path from the root to the node at `target`, which may be the one
    /// that would come next. Linear in the siblings on the way.
    pub(crate) fn path_to(&self, target: u32, input: &[u8]) -> String {
        joined(self.steps_to(target, input, KEY))
    }

    fn steps_to(&self, target: u32, input: &[u8], most: usize) -> Vec<String> {
        let mut steps = Vec::new();
        let mut at = if self.header.is_some_and(|header| target >= header && target < self.root) {
            self.header.unwrap_or(0)
        } else {
            self.root
        };
        while at < target && at < self.len() {
            let Some((step, child)) = self.step_towards(at, target, input, most) else { break };
            steps.extend(step);
            if child == target || child >= self.len() {
                break;
            }
            at = child;
        }
        steps
    }

    /// The path to the value with this key in the container at `parent`, which is
    /// not there yet; `None` if it has no such key.
    pub(crate) fn path_to_key(&self, parent: u32, key: u16, input: &[u8]) -> Option<String> {
        let name = self.keys.get(u32::from(key))?;
        let mut path = self.path_to(parent, input);
        push_name(&mut path, &name.node, name.bytes, KEY)?;
        Some(told(path))
    }

    /// The paths of several nodes below the root, found in one walk; a path costs
    /// the steps that are shown of it, however deep it is.
    pub(crate) fn paths_to(&self, targets: &[u32], input: &[u8]) -> Vec<String> {
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_unstable_by_key(|at| targets[*at]);
        let mut order = order.into_iter().peekable();
        let mut paths = vec![String::new(); targets.len()];
        self.walk(input, |at, _, path| {
            while let Some(wanted) = order.next_if(|wanted| targets[*wanted] <= at) {
                paths[wanted] = path();
            }
            order.peek().is_some()
        });
        paths
    }

    /// The first node that has this path, as messages shorten it.
    fn shown_as(&self, shown: &str, input: &[u8]) -> Option<u32> {
        let gap = shown.split("…(").find_map(|part| part.split_once(" more)…")).and_then(|(left_out, _)| {
            let left_out: usize = left_out.parse().ok()?;
            left_out.checked_add(STEPS)
        });
        let mut found = None;
        self.walk(input, |at, steps, path| {
            if self.nodes[at as usize].key != IS_KEY && gap.is_none_or(|gap| gap == steps) && path() == shown {
                found = Some(at);
            }
            found.is_none()
        });
        found
    }

    /// Goes over the nodes below the root with the number of steps to each, and what makes
    /// its path, until `visit` says that it is enough.
    fn walk(&self, input: &[u8], mut visit: impl FnMut(u32, usize, &dyn Fn() -> String) -> bool) {
        // Containers that are open: node, end, child, key of the child, position.
        let mut open: Vec<(u32, u32, u32, Option<u32>, u64)> = Vec::new();
        // Which of them are a step of paths.
        let mut steps: Vec<usize> = Vec::new();
        for at in self.root..self.len() {
            while open.last().is_some_and(|(_, end, ..)| at >= *end) {
                open.pop();
                steps.pop_if(|step| *step == open.len());
            }
            let node = &self.nodes[at as usize];
            if let Some((_, _, child, key, position)) = open.last_mut() {
                if node.key == IS_KEY {
                    (*child, *key) = (at, Some(at));
                } else {
                    // It starts before the first.
                    *position = position.wrapping_add(1);
                    *key = key.filter(|key| self.next(*key) == at);
                    *child = at;
                }
            }
            let path = || {
                shortened(steps.len(), |step| {
                    let (parent, _, child, key, position) = open[steps[step]];
                    self.child_step(self.nodes[parent as usize].kind, child, key, position, input, KEY)
                })
            };
            if !visit(at, steps.len(), &path) {
                return;
            }
            if node.kind.is_container() {
                if node.kind != Kind::Object {
                    steps.push(open.len());
                }
                open.push((at, self.next(at), u32::MAX, None, u64::MAX));
            }
        }
    }

    /// The child of `at` that contains `target`, and the step to it.
    fn step_towards(&self, at: u32, target: u32, input: &[u8], most: usize) -> Option<(Option<String>, u32)> {
        let node = &self.nodes[at as usize];
        if !node.kind.is_container() {
            return None;
        }
        let mut child = at + 1;
        let mut position = if at == self.root { self.first_item } else { 0 };
        let mut key = None;
        while child < self.len() {
            let next = self.next(child);
            let is_key = self.nodes[child as usize].key == IS_KEY;
            let node = &self.nodes[child as usize];
            let is_open = node.kind.is_container() && node.end() == 0;
            if target < next || is_open {
                break;
            }
            if is_key {
                key = Some(child);
            } else {
                key = None;
                position += 1;
            }
            child = next;
        }
        Some((self.child_step(node.kind, child, key, position, input, most), child))
    }

    /// The step from a container of this kind to its child; the middle of a key of
    /// more than `most` bytes is left out.
    pub(super) fn child_step(
        &self,
        parent: Kind,
        child: u32,
        key: Option<u32>,
        position: u64,
        input: &[u8],
        most: usize,
    ) -> Option<String> {
        #[cfg(test)]
        MADE.set(MADE.get() + 1);
        match parent {
            Kind::Array => Some(format!("[{position}]")),
            Kind::Map => Some(self.entry_step(child, key, position, input, most)),
            Kind::Ref => Some("^".to_owned()),
            Kind::Object => None,
            _ => Some(format!("#{position}")),
        }
    }

    /// The step to the entry whose value stands at `value`.
    pub(super) fn entry_step(&self, value: u32, key: Option<u32>, position: u64, input: &[u8], most: usize) -> String {
        let name = match (self.nodes.get(value as usize).map(|node| node.key), key) {
            (_, Some(key)) => {
                let node = self.nodes[key as usize];
                Some((node, if node.kind.has_bytes() { self.bytes(&node, input) } else { &[] }))
            }
            (Some(id), None) if id != NO_KEY && id != KEY_NODE && id != IS_KEY => {
                self.keys.get(u32::from(id)).map(|name| (name.node, name.bytes))
            }
            _ => None,
        };
        let mut step = String::new();
        if name.and_then(|(key, bytes)| push_name(&mut step, &key, bytes, most)).is_none() {
            let _ = write!(step, "{{{position}}}");
        }
        step
    }
}

impl<'a> Document<'a> {
    /// The step of a path from the container at `parent` to its child, whose
    /// key stands at `key` if it is a node of its own, and which is at
    /// `position` among the children. An object and its body are one step:
    /// there is none between them.
    pub fn step(&self, parent: u32, child: u32, key: Option<u32>, position: u64) -> Option<String> {
        let kind = self.tape.nodes.get(parent as usize)?.kind;
        self.tape.child_step(kind, child, key, position, &self.input, usize::MAX)
    }

    /// As [`Document::step`], for people: of a long key the middle is left out.
    pub fn short_step(&self, parent: u32, child: u32, key: Option<u32>, position: u64) -> Option<String> {
        let kind = self.tape.nodes.get(parent as usize)?.kind;
        self.tape.child_step(kind, child, key, position, &self.input, KEY)
    }

    /// The value on this path, which is written as errors, losses and
    /// [`Cursor::path`] write it. Links, aliases and objects are looked
    /// through on the way. `$` may be left out.
    ///
    /// ```
    /// let document = icecore::read(br#"{"staff": [{"name": "Alice"}]}"#)?;
    /// let name = document.find("$.staff[0].name")?;
    /// assert_eq!(name.as_str(), Some("Alice"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Usage`, if the path is broken; the same with [`Error::path`], as far as the
    /// document has it, if nothing is there.
    pub fn find(&self, path: &str) -> Result<Cursor<'_>, Error> {
        let found = self.find_from(self.root(), path);
        found.or_else(|error| {
            let header = self.header().and_then(|header| self.find_from(header, path).ok());
            // Messages leave out the middle of long paths.
            let shown = || path.contains('…').then(|| self.tape.shown_as(path, &self.input)).flatten();
            header.or_else(|| shown().map(|at| Cursor::new(self, at))).ok_or(error)
        })
    }

    /// The path of the node at this index, however long it is. [`Document::path`] is for
    /// people: it leaves out the middle of a long one.
    ///
    /// ```
    /// let document = icecore::read(format!("{}1{}", "[".repeat(100), "]".repeat(100)).as_bytes())?;
    /// let path = document.full_path(100);
    /// assert_eq!(path, format!("${}", "[0]".repeat(100)));
    /// assert_eq!(document.find(&document.path(100))?.index(), 100);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn full_path(&self, node: u32) -> String {
        std::iter::once("$".to_owned()).chain(self.tape.steps_to(node, &self.input, usize::MAX)).collect()
    }

    fn find_from<'d>(&'d self, from: Cursor<'d>, path: &str) -> Result<Cursor<'d>, Error> {
        let (here, rest) = descend(from, path)?;
        let Some((_, behind)) = Step::parse(rest) else { return Ok(here) };
        let so_far = &path[..path.len() - rest.len()];
        let so_far = if so_far.is_empty() { "$" } else { so_far };
        Err(Error::new(ErrorKind::Usage)
            .expecting(format!("something at `{}`", &path[..path.len() - behind.len()]))
            .finding(format!("{} at `{so_far}`", describe(here)))
            .on_path(so_far))
    }

    /// Follows a path as far as the document has it: the value there, and the rest of the
    /// path, which is empty if it was found.
    ///
    /// ```
    /// let document = icecore::read(br#"{"staff": ["Alice"]}"#)?;
    /// let (value, rest) = document.follow("$.staff[0].name")?;
    /// assert_eq!((value.as_str(), rest), (Some("Alice"), ".name"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Usage`, if the path is broken.
    pub fn follow<'p>(&self, path: &'p str) -> Result<(Cursor<'_>, &'p str), Error> {
        descend(self.root(), path)
    }
}

/// Follows a path as far as it leads; says what is left of it.
fn descend<'d, 'p>(from: Cursor<'d>, path: &'p str) -> Result<(Cursor<'d>, &'p str), Error> {
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    if !rest.is_empty() && !rest.starts_with(['.', '[', '{', '^', '#']) {
        return Err(no_step(path, rest));
    }
    let mut here = from;
    while !rest.is_empty() {
        let (step, behind) = Step::parse(rest).ok_or_else(|| no_step(path, rest))?;
        let Some(next) = step.take(here) else { break };
        (here, rest) = (next, behind);
    }
    Ok((here, rest))
}

#[cold]
fn no_step(path: &str, rest: &str) -> Error {
    Error::new(ErrorKind::Usage)
        .expecting(format!("a step in the path `{path}`: .name, [\"key\"], [3], {{3}}, ^ or #0"))
        .finding(format!("`{rest}`"))
}

enum Step {
    Key(String),
    Item(i64),
    Entry(usize),
    Referent,
    Part(usize),
}

impl Step {
    /// The first step of this text, and what is behind it.
    fn parse(text: &str) -> Option<(Step, &str)> {
        if let Some(rest) = text.strip_prefix("[\"") {
            let (key, rest) = quoted(rest)?;
            return Some((Step::Key(key), rest.strip_prefix(']')?));
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
                (end > 0).then(|| (Step::Key(rest[..end].to_owned()), &rest[end..]))
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

    fn take<'d>(&self, from: Cursor<'d>) -> Option<Cursor<'d>> {
        match self {
            Step::Key(name) => entry(from.body(), name),
            Step::Item(number) => {
                let map = from.body();
                if map.kind() == Kind::Map {
                    return integer_entry(map, *number);
                }
                from.item(usize::try_from(*number).ok()?)
            }
            Step::Entry(position) => {
                let map = from.body();
                if map.kind() == Kind::Map { map.children().nth(*position) } else { None }
            }
            Step::Referent => {
                let reference = through_objects(from);
                if reference.kind() == Kind::Ref { reference.children().next() } else { None }
            }
            Step::Part(position) => {
                let whole = through_objects(from);
                let has_parts = !matches!(whole.kind(), Kind::Array | Kind::Map | Kind::Ref);
                if has_parts { whole.children().nth(*position) } else { None }
            }
        }
    }
}

/// What is behind links, aliases and objects, but not behind attributes.
fn through_objects(mut here: Cursor<'_>) -> Cursor<'_> {
    here = here.target();
    for _ in 0..16 {
        if here.kind() != Kind::Object {
            break;
        }
        here = match here.children().next() {
            Some(body) => body.target(),
            None => break,
        };
    }
    here
}

/// The entry of a map whose key is shown as this; the last one, if there are
/// several.
fn entry<'d>(map: Cursor<'d>, name: &str) -> Option<Cursor<'d>> {
    let is_it = |key: &Key<'_>| {
        key.node().kind.is_string()
            && (key.bytes() == name.as_bytes()
                || std::str::from_utf8(key.bytes()).is_err() && String::from_utf8_lossy(key.bytes()) == name)
    };
    // A member of an object may be called by its name alone, as it is shown.
    let is_member = |key: &Key<'_>| {
        let bytes = key.bytes();
        let bare = bytes.strip_prefix(b"@").or_else(|| unmangled(bytes));
        key.node().kind.is_string() && bare == Some(name.as_bytes())
    };
    let last =
        |is_it: &dyn Fn(&Key<'d>) -> bool| map.entries().filter(|(key, _)| is_it(key)).map(|(_, value)| value).last();
    let is_shown_short = |key: &Key<'_>| {
        let bytes = key.bytes();
        key.node().kind.is_string() && bytes.len() > KEY && short_key(bytes, KEY) == name
    };
    let short = || name.contains('…').then(|| last(&is_shown_short)).flatten();
    last(&is_it).or_else(|| last(&is_member)).or_else(short)
}

/// The entry of a map under this integer; the last one, if there are several.
fn integer_entry<'d>(map: Cursor<'d>, number: i64) -> Option<Cursor<'d>> {
    let is_it = |key: &Key<'_>| key.node().kind == Kind::Int && key.node().payload as i64 == number;
    map.entries().filter(|(key, _)| is_it(key)).map(|(_, value)| value).last()
}

/// A quoted key up to its closing quote, and what is behind that.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut key = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((key, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                c @ ('"' | '\\') => key.push(c),
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

/// What is there instead, for errors.
fn describe(here: Cursor<'_>) -> String {
    let body = here.body();
    match body.kind() {
        Kind::Array => format!("an array of {}", body.len()),
        Kind::Map => {
            let names = body.entries().take(9).filter(|(key, _)| key.node().kind.is_string());
            let mut names: Vec<_> = names.map(|(key, _)| String::from_utf8_lossy(key.bytes()).into_owned()).collect();
            if names.len() > 8 {
                names.truncate(8);
                names.push("…".to_owned());
            }
            if names.is_empty() { "a map without such keys".into() } else { format!("the keys {}", names.join(", ")) }
        }
        kind => format!("{kind:?}").to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::MADE;
    use crate::document::{Builder, Document, IS_KEY};

    fn staff() -> Document<'static> {
        let mut b = Builder::new();
        let staff = b.begin_map();
        b.text_key("list");
        b.begin_array();
        b.begin_object("Employee");
        b.begin_map();
        b.text_key("first name").text("Alice");
        b.bytes_key(b"caf\xe9 \"x\"\x01").text("latin");
        b.int_key(7).text("seven");
        b.text_key("r");
        b.begin_ref();
        b.int(5).end();
        b.end().end();
        b.regexp("a+", "i");
        b.end();
        b.text_key("self").link(staff);
        b.end();
        b.finish().unwrap()
    }

    #[test]
    fn every_path_that_is_shown_can_be_found() {
        let document = staff();
        for at in 0..document.nodes().len() as u32 {
            let path = document.path(at);
            let found = document.find(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            // An object and its body have the same path.
            assert!(found.index() == at || document.path(found.index()) == path, "{path}");
        }
        assert_eq!(document.find("$.list[0][7]").unwrap().as_str(), Some("seven"));
        assert_eq!(document.find("$.list[0]{2}").unwrap().as_str(), Some("seven"));
        assert_eq!(document.find("list").unwrap_err().kind(), crate::ErrorKind::Usage);
        assert_eq!(document.find(".self.self.list[1]#0").unwrap().as_str(), Some("a+"));
        assert_eq!(document.find("").unwrap().index(), 0);
    }

    /// A string in each of so many lists, each in the one before.
    fn nested(depth: u32) -> (Document<'static>, Vec<u32>) {
        let mut b = Builder::new();
        for at in 0..depth {
            if at % 2 == 0 {
                b.begin_object("Node");
                b.begin_map();
                b.text_key("text").text("x");
                b.text_key("next");
            } else {
                b.begin_array();
                b.text("x");
            }
        }
        b.null();
        for at in (0..depth).rev() {
            b.end();
            if at % 2 == 0 {
                b.end();
            }
        }
        let document = b.finish().unwrap();
        let targets = (0..document.nodes().len() as u32).collect();
        (document, targets)
    }

    #[test]
    fn many_paths_are_the_same_as_each() {
        for (document, mut targets) in [nested(5), nested(64), nested(65), nested(66), nested(200)] {
            targets.reverse();
            let paths = document.tape.paths_to(&targets, &document.input);
            for (at, path) in targets.into_iter().zip(paths) {
                assert_eq!(path, document.path(at));
            }
        }
        let document = staff();
        let targets: Vec<u32> = (0..document.nodes().len() as u32).collect();
        let paths = document.tape.paths_to(&targets, &document.input);
        // A key's path is that of its entry, but `path` does not say so.
        let is_same = |at: u32| document.nodes()[at as usize].key == IS_KEY || paths[at as usize] == document.path(at);
        assert!(targets.iter().all(|at| is_same(*at)), "{paths:?}");
    }

    /// Four times as deep, and as many targets: sixteen times the work, if each
    /// target were followed all the way down.
    #[test]
    fn many_deep_paths_cost_what_is_shown_of_them() {
        let steps = |depth| {
            let (document, targets) = nested(depth);
            let before = MADE.get();
            assert_eq!(document.tape.paths_to(&targets, &document.input).len(), targets.len());
            MADE.get() - before
        };
        let (short, long) = (steps(1500), steps(6000));
        assert!(long < short * 5, "{short} {long}");
    }

    #[test]
    fn what_is_not_there_is_explained() {
        let document = staff();
        for (path, message) in [
            ("$.lists[0]", "wrong option at $: expected something at `$.lists`, found the keys list, self at `$`"),
            ("$.list[9]", "wrong option at $.list: expected something at `$.list[9]`, found an array of 2 at `$.list`"),
            (
                "$.list[1].x",
                "wrong option at $.list[1]: expected something at `$.list[1].x`, found regexp at `$.list[1]`",
            ),
            (
                "$.list[",
                "wrong option: expected a step in the path `$.list[`: .name, [\"key\"], [3], {3}, ^ or #0, found `[`",
            ),
            (
                "$.list[\"x",
                "wrong option: expected a step in the path `$.list[\"x`: .name, [\"key\"], [3], {3}, ^ or #0, found `[\"x`",
            ),
            ("$é", "wrong option: expected a step in the path `$é`: .name, [\"key\"], [3], {3}, ^ or #0, found `é`"),
        ] {
            assert_eq!(document.find(path).unwrap_err().to_string(), message);
        }
    }
}
