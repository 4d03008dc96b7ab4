//! Paths: `$.employees[3].name`.
//!
//! | step | meaning |
//! |---|---|
//! | `.name`, `["any key"]` | the entry of a map; `\xe4` in quotes is a byte that is not part of UTF-8 |
//! | `.name:protected`, `.name:Class:private` | a property of PHP that is not public |
//! | `["any name":protected]`, `["any name":"Class":private]` | the same, with any name |
//! | `[3]` | the item of an array; the entry of a map with the integer key 3 |
//! | `{3}` | the entry of a map by position, if the key is anything else |
//! | `^` | what a reference refers to |
//! | `#0` | a part of any other value: a payload, a pattern, an attribute's value |

use super::Document;
use super::key_text::{byte_of_char, key_text};
use super::naming::Visibility;
use super::node::{Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node};
use super::tape::Tape;
use crate::printable::is_printable;
use crate::shortened::shortened as shorten;
use std::fmt::Write;

/// Appends the step to the entry with this key.
pub(crate) fn push_key(path: &mut String, key: &str) {
    let Some((visibility, name)) = Visibility::of(key.as_bytes()) else { return push_plain_key(path, key) };
    // NUL bytes separate pieces of valid text, so the pieces are valid text as well.
    let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    let (name, class) = match visibility {
        Visibility::Protected => (text(name), None),
        Visibility::Private(class) => (text(name), Some(text(class))),
    };
    let is_class = |class: &str| class.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '\\' | ':'));
    if is_plain_word(name) && class.is_none_or(is_class) {
        let _ = match class {
            None => write!(path, ".{name}:protected"),
            Some(class) => write!(path, ".{name}:{class}:private"),
        };
        return;
    }
    path.push('[');
    push_quoted(path, name);
    match class {
        None => path.push_str(":protected]"),
        Some(class) => {
            path.push(':');
            push_quoted(path, class);
            path.push_str(":private]");
        }
    }
}

fn push_plain_key(path: &mut String, key: &str) {
    // Names of Ruby's instance and class variables are also words.
    let word = key.trim_start_matches('@');
    if key.len() - word.len() <= 2 && is_plain_word(word) {
        path.push('.');
        path.push_str(key);
    } else {
        path.push('[');
        push_quoted(path, key);
        path.push(']');
    }
}

fn is_plain_word(key: &str) -> bool {
    key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

pub(crate) fn push_quoted(path: &mut String, text: &str) {
    path.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                path.push('\\');
                path.push(c);
            }
            c if let Some(byte) = byte_of_char(c) => drop(write!(path, "\\x{byte:02x}")),
            c if !is_printable(c) => {
                let _ = match u16::try_from(u32::from(c)) {
                    Ok(unit) => write!(path, "\\u{unit:04x}"),
                    Err(_) => write!(path, "\\u{{{:x}}}", u32::from(c)),
                };
            }
            c => path.push(c),
        }
    }
    path.push('"');
}

/// The maximum length of a key that is shown in full in a path, and of a path: a longer one only shows the approximate
/// place.
pub(crate) const MAX_SHOWN_KEY: usize = 160;
const MAX_SHOWN_PATH: usize = 640;

/// Returns the path for messages: long paths are shortened in the middle.
pub(super) fn shorten_for_message(path: String) -> String {
    if path.len() <= MAX_SHOWN_PATH { path } else { shorten(&path, MAX_SHOWN_PATH).into_owned() }
}

/// Appends the step to the entry with this key, if it is a string or an integer. A key of more than
/// `max_len` bytes is shortened in the middle.
pub(crate) fn push_key_step(path: &mut String, key: &Node, bytes: &[u8], max_len: usize) -> Option<()> {
    match key.kind {
        Kind::Int => {
            let _ = write!(path, "[{}]", key.payload as i64);
        }
        kind if kind.is_string() && bytes.len() > max_len => push_key(path, &short_key(bytes, max_len)),
        kind if kind.is_string() => push_key(path, &key_text(bytes)),
        _ => return None,
    }
    Some(())
}

/// Returns a long key without its middle.
pub(super) fn short_key(bytes: &[u8], max_len: usize) -> String {
    let half = max_len / 2;
    let [front, back] = [&bytes[..half], &bytes[bytes.len() - half..]].map(key_text);
    format!("{front}…({} bytes)…{back}", bytes.len() - 2 * half)
}

/// The maximum number of steps of a path that is written in full; longer paths are shortened in the middle.
pub(super) const MAX_SHOWN_STEPS: usize = 64;

/// Appends the text that replaces the omitted steps of a long path.
pub(super) fn push_omission(path: &mut String, left_out: usize) {
    let _ = write!(path, "…({left_out} more)…");
}

/// Returns the path with these steps; a long one is shortened in the middle.
fn join_steps(mut steps: Vec<String>) -> String {
    let mut path = String::from("$");
    if steps.len() > MAX_SHOWN_STEPS {
        let left_out = steps.len() - MAX_SHOWN_STEPS;
        path.extend(steps.drain(..MAX_SHOWN_STEPS / 2));
        push_omission(&mut path, left_out);
        steps.drain(..left_out);
    }
    path.extend(steps);
    shorten_for_message(path)
}

/// Returns a path with this number of steps; only the steps that are shown are computed.
fn join_shown_steps(count: usize, step: impl Fn(usize) -> Option<String>) -> String {
    let mut path = String::from("$");
    if count <= MAX_SHOWN_STEPS {
        path.extend((0..count).filter_map(step));
        return shorten_for_message(path);
    }
    path.extend((0..MAX_SHOWN_STEPS / 2).filter_map(&step));
    push_omission(&mut path, count - MAX_SHOWN_STEPS);
    path.extend((count - MAX_SHOWN_STEPS / 2..count).filter_map(&step));
    shorten_for_message(path)
}

#[cfg(test)]
thread_local! {
    /// Number of path steps that were computed, to measure the cost.
    static COMPUTED_STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// A container on the way to the node that [`Tape::walk_paths`] visits.
#[derive(Clone, Copy)]
struct OpenContainer {
    node: u32,
    /// The index after everything in it.
    end: u32,
    /// The child that was reached last; `u32::MAX` before the first one.
    child: u32,
    /// The node of the key of that child, if there is one.
    key: Option<u32>,
    /// The position of that child; `u64::MAX` before the first one, so that adding 1 gives 0.
    position: u64,
}

impl Tape {
    /// Returns the path from the root to the node at `target`, which may be the next node to be appended. The time is
    /// linear in the number of siblings on the way.
    pub(crate) fn path_to(&self, target: u32, input: &[u8]) -> String {
        join_steps(self.steps_to(target, input, MAX_SHOWN_KEY))
    }

    pub(super) fn steps_to(&self, target: u32, input: &[u8], max_key_len: usize) -> Vec<String> {
        let mut steps = Vec::new();
        let mut index = if self.header.is_some_and(|header| target >= header && target < self.root) {
            self.header.unwrap_or(0)
        } else {
            self.root
        };
        while index < target && index < self.len() {
            let Some((step, child)) = self.step_towards(index, target, input, max_key_len) else { break };
            steps.extend(step);
            if child == target || child >= self.len() {
                break;
            }
            index = child;
        }
        steps
    }

    /// Returns the path to a future value with this key in the container at `parent`; `None` if the key is unknown.
    pub(crate) fn path_to_key(&self, parent: u32, key: u16, input: &[u8]) -> Option<String> {
        let name = self.keys.get(u32::from(key))?;
        let mut path = self.path_to(parent, input);
        push_key_step(&mut path, &name.node, name.bytes, MAX_SHOWN_KEY)?;
        Some(shorten_for_message(path))
    }

    /// Returns the paths of several nodes below the root, found in one walk. The cost of a path depends on the steps
    /// that are shown, not on its depth.
    pub(crate) fn paths_to(&self, targets: &[u32], input: &[u8]) -> Vec<String> {
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_unstable_by_key(|index| targets[*index]);
        let mut order = order.into_iter().peekable();
        let mut paths = vec![String::new(); targets.len()];
        self.walk_paths(input, |index, _, path| {
            while let Some(wanted) = order.next_if(|wanted| targets[*wanted] <= index) {
                paths[wanted] = path();
            }
            order.peek().is_some()
        });
        paths
    }

    /// Returns the first node whose path is shown like this in messages.
    pub(super) fn find_shown_path(&self, displayed: &str, input: &[u8]) -> Option<u32> {
        // A shortened path tells how many steps it omits, and so the number of all its steps.
        let step_count = displayed.split("…(").find_map(|part| part.split_once(" more)…")).and_then(|(left_out, _)| {
            let left_out: usize = left_out.parse().ok()?;
            left_out.checked_add(MAX_SHOWN_STEPS)
        });
        let mut found = None;
        self.walk_paths(input, |index, steps, path| {
            if self.nodes[index as usize].key != IS_KEY
                && step_count.is_none_or(|count| count == steps)
                && path() == displayed
            {
                found = Some(index);
            }
            found.is_none()
        });
        found
    }

    /// Walks the nodes below the root, and passes each with its number of steps and a function that computes its path,
    /// until `visit` returns `false`.
    fn walk_paths(&self, input: &[u8], mut visit: impl FnMut(u32, usize, &dyn Fn() -> String) -> bool) {
        let mut open: Vec<OpenContainer> = Vec::new();
        // Indexes in `open` of the containers that are steps of paths.
        let mut steps: Vec<usize> = Vec::new();
        for index in self.root..self.len() {
            while open.last().is_some_and(|container| index >= container.end) {
                open.pop();
                steps.pop_if(|step| *step == open.len());
            }
            let node = &self.nodes[index as usize];
            if let Some(top) = open.last_mut() {
                if node.key == IS_KEY {
                    (top.child, top.key) = (index, Some(index));
                } else {
                    top.position = top.position.wrapping_add(1);
                    top.key = top.key.filter(|key| self.index_after(*key) == index);
                    top.child = index;
                }
            }
            let path = || {
                join_shown_steps(steps.len(), |step| {
                    let OpenContainer { node, child, key, position, .. } = open[steps[step]];
                    self.child_step(&self.nodes[node as usize], child, key, position, input, MAX_SHOWN_KEY)
                })
            };
            if !visit(index, steps.len(), &path) {
                return;
            }
            if node.kind.is_container() {
                if node.kind != Kind::Object && !self.has_hook_list(node, index + 1) {
                    steps.push(open.len());
                }
                let end = self.index_after(index);
                open.push(OpenContainer { node: index, end, child: u32::MAX, key: None, position: u64::MAX });
            }
        }
    }

    /// Returns the step to the child of `index` that contains `target`, and that child.
    fn step_towards(&self, index: u32, target: u32, input: &[u8], max_key_len: usize) -> Option<(Option<String>, u32)> {
        let parent = &self.nodes[index as usize];
        if !parent.kind.is_container() {
            return None;
        }
        let mut child = index + 1;
        let mut position = if index == self.root { self.first_item } else { 0 };
        let mut key = None;
        while child < self.len() {
            crate::steps::count(1);
            let next = self.index_after(child);
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
        Some((self.child_step(parent, child, key, position, input, max_key_len), child))
    }

    /// Returns true if this is an object of a hook whose values are a list in its payload. Paths name the values as parts
    /// of the object, as in the document before.
    fn has_hook_list(&self, node: &Node, child: u32) -> bool {
        node.kind == Kind::Opaque
            && self
                .nodes
                .get(child as usize)
                .is_some_and(|child| child.kind == Kind::Array && child.form() == Form::Hook)
    }

    /// Returns the step from a container to its child; a key of more than `max_key_len` bytes is
    /// shortened in the middle.
    pub(super) fn child_step(
        &self,
        parent: &Node,
        child: u32,
        key: Option<u32>,
        position: u64,
        input: &[u8],
        max_key_len: usize,
    ) -> Option<String> {
        #[cfg(test)]
        COMPUTED_STEPS.set(COMPUTED_STEPS.get() + 1);
        match parent.kind {
            _ if self.has_hook_list(parent, child) => None,
            Kind::Array if parent.form() == Form::Hook => Some(format!("#{position}")),
            Kind::Array => Some(format!("[{position}]")),
            Kind::Map => Some(self.entry_step(child, key, position, input, max_key_len)),
            Kind::Ref => Some("^".to_owned()),
            Kind::Object => None,
            _ => Some(format!("#{position}")),
        }
    }

    /// Returns the step to the entry whose value is at `value`.
    pub(super) fn entry_step(
        &self,
        value: u32,
        key: Option<u32>,
        position: u64,
        input: &[u8],
        max_key_len: usize,
    ) -> String {
        let name = match (self.nodes.get(value as usize).map(|node| node.key), key) {
            (_, Some(key)) => {
                let node = self.nodes[key as usize];
                Some((node, if node.kind.has_bytes() { self.string_bytes(&node, input) } else { &[] }))
            }
            (Some(id), None) if id != NO_KEY && id != KEY_NODE && id != IS_KEY => {
                self.keys.get(u32::from(id)).map(|name| (name.node, name.bytes))
            }
            _ => None,
        };
        let mut step = String::new();
        if name.and_then(|(key, bytes)| push_key_step(&mut step, &key, bytes, max_key_len)).is_none() {
            let _ = write!(step, "{{{position}}}");
        }
        step
    }
}

impl<'a> Document<'a> {
    /// Returns the step from the container at `parent` to its child. `key` is the index of the key if that is a node of
    /// its own, `position` is the position among the children. An object and its body are a single step: there is none
    /// between them.
    pub fn step(&self, parent: u32, child: u32, key: Option<u32>, position: u64) -> Option<String> {
        let parent = self.tape.nodes.get(parent as usize)?;
        self.tape.child_step(parent, child, key, position, &self.input, usize::MAX)
    }

    /// As [`Document::step`], for people: a long key is shortened in the middle.
    pub fn short_step(&self, parent: u32, child: u32, key: Option<u32>, position: u64) -> Option<String> {
        let parent = self.tape.nodes.get(parent as usize)?;
        self.tape.child_step(parent, child, key, position, &self.input, MAX_SHOWN_KEY)
    }
}

#[cfg(test)]
mod tests {
    use super::COMPUTED_STEPS;
    use crate::document::{Builder, Document, IS_KEY};

    fn build_staff() -> Document<'static> {
        let mut b = Builder::new();
        let staff = b.begin_map().at();
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
    fn every_shown_path_can_be_found() {
        let document = build_staff();
        for index in 0..document.nodes().len() as u32 {
            let path = document.path(index);
            let found = document.find(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            // An object and its body have the same path.
            assert!(found.index() == index || document.path(found.index()) == path, "{path}");
        }
        assert_eq!(document.find("$.list[0][7]").unwrap().as_str(), Some("seven"));
        assert_eq!(document.find("$.list[0]{2}").unwrap().as_str(), Some("seven"));
        assert_eq!(document.find("list").unwrap_err().kind(), crate::ErrorKind::Usage);
        assert_eq!(document.find(".self.self.list[1]#0").unwrap().as_str(), Some("a+"));
        assert_eq!(document.find("").unwrap().index(), 0);
    }

    #[test]
    fn properties_are_found_by_their_names() {
        let keys: [(&[u8], &str); 11] = [
            (b"email", "$.email"),
            (b"\0*\0email", "$.email:protected"),
            (b"\0App\\User\0email", "$.email:App\\User:private"),
            (b"\0App::User\0email", "$.email:App::User:private"),
            (b"\0*\0first name", "$[\"first name\":protected]"),
            (b"\0a]\"b\0x", "$[\"x\":\"a]\\\"b\":private]"),
            (b"\0*\0", "$[\"\":protected]"),
            (b"email:protected", "$[\"email:protected\"]"),
            (b"\0\0x", "$[\"\\u0000\\u0000x\"]"),
            (b"\0*\0a\0b", "$[\"a\\u0000b\":protected]"),
            (b"\0*\0\xe9", "$[\"\\xe9\":protected]"),
        ];
        let mut b = Builder::new();
        b.begin_object("App\\User");
        b.begin_map();
        for (index, (key, _)) in keys.iter().enumerate() {
            b.bytes_key(key).int(index as i64);
        }
        b.end().end();
        let document = b.finish().unwrap();
        for (index, (_, path)) in keys.iter().enumerate() {
            let found = document.find(path).unwrap();
            assert_eq!((found.as_i64(), document.path(found.index())), (Some(index as i64), (*path).to_owned()));
        }
        // A bare name finds the public property first.
        assert_eq!(document.find("$.email").unwrap().as_i64(), Some(0));
        assert_eq!(document.find("$[\"first name\"]").unwrap().as_i64(), Some(4));
    }

    /// Returns a string in nested lists of this depth.
    fn nest(depth: u32) -> (Document<'static>, Vec<u32>) {
        let mut b = Builder::new();
        for level in 0..depth {
            if level % 2 == 0 {
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
        for level in (0..depth).rev() {
            b.end();
            if level % 2 == 0 {
                b.end();
            }
        }
        let document = b.finish().unwrap();
        let targets = (0..document.nodes().len() as u32).collect();
        (document, targets)
    }

    #[test]
    fn paths_to_many_nodes_equal_those_to_each() {
        for (document, mut targets) in [nest(5), nest(64), nest(65), nest(66), nest(200)] {
            targets.reverse();
            let paths = document.tape.paths_to(&targets, &document.input);
            for (index, path) in targets.into_iter().zip(paths) {
                assert_eq!(path, document.path(index));
            }
        }
        let document = build_staff();
        let targets: Vec<u32> = (0..document.nodes().len() as u32).collect();
        let paths = document.tape.paths_to(&targets, &document.input);
        // A key's path is that of its entry, but `path` returns another one.
        let is_same = |index: u32| {
            document.nodes()[index as usize].key == IS_KEY || paths[index as usize] == document.path(index)
        };
        assert!(targets.iter().all(|index| is_same(*index)), "{paths:?}");
    }

    /// With four times the depth and four times the targets, the work would be sixteen times as much if each target
    /// were followed from the root.
    #[test]
    fn many_deep_paths_take_linear_time() {
        let steps = |depth| {
            let (document, targets) = nest(depth);
            let before = COMPUTED_STEPS.get();
            assert_eq!(document.tape.paths_to(&targets, &document.input).len(), targets.len());
            COMPUTED_STEPS.get() - before
        };
        let (short, long) = (steps(1500), steps(6000));
        assert!(long < short * 5, "{short} {long}");
    }

    #[test]
    fn missing_values_are_explained() {
        let document = build_staff();
        for (path, message) in [
            ("$.lists[0]", "wrong option at $: expected something at `$.lists`, found the keys list, self at `$`"),
            ("$.list[9]", "wrong option at $.list: expected something at `$.list[9]`, found an array of 2 at `$.list`"),
            (
                "$.list[1].x",
                "wrong option at $.list[1]: expected something at `$.list[1].x`, found regexp at `$.list[1]`",
            ),
            (
                "$.list[",
                "wrong option: expected a step in the path `$.list[`: .name, [\"key\"], [:symbol], [3], {3}, ^ or #0, found `[`",
            ),
            (
                "$.list[\"x",
                "wrong option: expected a step in the path `$.list[\"x`: .name, [\"key\"], [:symbol], [3], {3}, ^ or #0, found `[\"x`",
            ),
            (
                "$é",
                "wrong option: expected a step in the path `$é`: .name, [\"key\"], [:symbol], [3], {3}, ^ or #0, found `é`",
            ),
        ] {
            assert_eq!(document.find(path).unwrap_err().to_string(), message);
        }
    }
}
