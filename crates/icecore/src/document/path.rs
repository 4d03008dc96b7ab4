//! Paths: `$.employees[3].name`.
//!
//! | step | is |
//! |---|---|
//! | `.name`, `["any key"]` | the entry of a map |
//! | `{3}` | the entry of a map by position, where the key is no string |
//! | `[3]` | the item of an array |
//! | `^` | what a reference refers to |
//! | `#0` | a part of anything else: a payload, a pattern, an attribute's value |

use super::node::{IS_KEY, KEY_NODE, Kind, NO_KEY};
use super::tape::Tape;
use std::fmt::Write;

/// Appends the step to the entry with this key.
pub(crate) fn push_key(path: &mut String, key: &str) {
    let is_word = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
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
                c if c.is_control() => {
                    let _ = write!(path, "\\u{:04x}", u32::from(c));
                }
                c => path.push(c),
            }
        }
        path.push_str("\"]");
    }
}

/// The longest path that is written in full; the middle of a longer one is
/// left out.
const STEPS: usize = 64;

impl Tape {
    /// The path from the root to the node at `target`, which may be the one
    /// that would come next. Linear in the siblings on the way.
    pub(crate) fn path_to(&self, target: u32, input: &[u8]) -> String {
        let mut steps = Vec::new();
        let mut at = if self.header.is_some_and(|header| target >= header && target < self.root) {
            self.header.unwrap_or(0)
        } else {
            self.root
        };
        while at < target && at < self.len() {
            let Some((step, child)) = self.step_towards(at, target, input) else { break };
            steps.extend(step);
            if child == target || child >= self.len() {
                break;
            }
            at = child;
        }
        let mut path = String::from("$");
        if steps.len() > STEPS {
            let left_out = steps.len() - STEPS;
            path.extend(steps.drain(..STEPS / 2));
            let _ = write!(path, "…({left_out} more)…");
            steps.drain(..left_out);
        }
        path.extend(steps);
        path
    }

    /// The child of `at` that contains `target`, and the step to it.
    fn step_towards(&self, at: u32, target: u32, input: &[u8]) -> Option<(Option<String>, u32)> {
        let node = &self.nodes[at as usize];
        if !node.kind.is_container() {
            return None;
        }
        let mut child = at + 1;
        let mut position = 0u64;
        let mut key = None;
        while child < self.len() {
            let next = self.next(child);
            let is_key = self.nodes[child as usize].key == IS_KEY;
            if target < next {
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
        let step = match node.kind {
            Kind::Array => Some(format!("[{position}]")),
            Kind::Map => Some(self.entry_step(child, key, position, input)),
            Kind::Ref => Some("^".to_owned()),
            Kind::Object => None,
            _ => Some(format!("#{position}")),
        };
        Some((step, child))
    }

    /// The step to the entry whose value stands at `value`.
    pub(crate) fn entry_step(&self, value: u32, key: Option<u32>, position: u64, input: &[u8]) -> String {
        let name = match (self.nodes.get(value as usize).map(|node| node.key), key) {
            (_, Some(key)) => {
                let node = &self.nodes[key as usize];
                node.kind.is_string().then(|| self.bytes(node, input))
            }
            (Some(id), None) if id != NO_KEY && id != KEY_NODE && id != IS_KEY => {
                self.keys.get(u32::from(id)).filter(|name| name.node.kind.is_string()).map(|name| name.bytes)
            }
            _ => None,
        };
        let mut step = String::new();
        match name.map(std::str::from_utf8) {
            Some(Ok(name)) => push_key(&mut step, name),
            Some(Err(_)) => push_key(&mut step, &String::from_utf8_lossy(name.unwrap_or(&[]))),
            None => {
                let _ = write!(step, "{{{position}}}");
            }
        }
        step
    }
}
