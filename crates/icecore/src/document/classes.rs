//! The classes that a document names.

use super::Document;
use super::node::{Form, IS_KEY, Kind, flag};
use super::path::{MAX_SHOWN_KEY, MAX_SHOWN_STEPS, push_omission, shorten_for_message};
use crate::string_locations::{StringLocations, is_long_string};
use std::collections::HashMap;

/// A class that a document names, in one kind of use.
///
/// ```
/// let document = icecore::read(b"a:1:{i:0;O:1:\"A\":0:{}}")?;
/// let class = &document.classes()[0];
/// assert_eq!((&*class.name, class.kind, class.count, &*class.path), (&b"A"[..], "object", 1, "$[0]"));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassUse {
    /// Name of the class.
    pub name: Vec<u8>,
    /// Whether the name is text beyond ASCII; Perl distinguishes it from the bytes of its UTF-8.
    pub is_text: bool,
    /// Kind of the use: `object`, `hook`, `freeze`, `regexp`, …
    pub kind: &'static str,
    /// Number of uses.
    pub count: u64,
    /// Path of the first use.
    pub path: String,
}

/// A container that is being walked, and the current position in it.
struct ClassWalkFrame {
    node: u32,
    end: u32,
    child: u32,
    key: Option<u32>,
    position: u64,
    /// Number of steps in the path up to this container, without its own step.
    steps: usize,
}

impl Document<'_> {
    /// Returns the classes that the document names, in the order in which they first occur. An allow-list of these
    /// accepts the whole document.
    ///
    /// ```
    /// let mut b = icecore::Builder::new();
    /// b.begin_object("Employee");
    /// b.begin_map();
    /// b.end().end();
    /// let classes = b.finish()?.classes();
    /// assert_eq!(classes[0].name, b"Employee");
    /// assert_eq!((classes[0].kind, classes[0].count, &*classes[0].path), ("object", 1, "$"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn classes(&self) -> Vec<ClassUse> {
        let mut uses: Vec<ClassUse> = Vec::new();
        let mut known: HashMap<(&[u8], bool, &'static str), usize> = HashMap::new();
        // Long names that were met, for each kind of use.
        let mut long_names: HashMap<(bool, &'static str), StringLocations<usize>> = HashMap::new();
        let mut stack: Vec<ClassWalkFrame> = Vec::new();
        for node_index in 0..self.tape.len() {
            while stack.pop_if(|frame| frame.end <= node_index).is_some() {}
            let node = &self.tape.nodes[node_index as usize];
            let steps = match stack.last_mut() {
                Some(frame) => {
                    if frame.child != frame.node {
                        let is_key = self.tape.nodes[frame.child as usize].key == IS_KEY;
                        frame.key = is_key.then_some(frame.child);
                        frame.position += u64::from(!is_key);
                    }
                    frame.child = node_index;
                    frame.steps + usize::from(self.tape.nodes[frame.node as usize].kind != Kind::Object)
                }
                None => 0,
            };
            if let Some((name, is_text, kind)) = self.class_at(node_index) {
                let mut locations = is_long_string(name).then(|| long_names.entry((is_text, kind)).or_default());
                let located = locations.as_ref().and_then(|locations| locations.get(name));
                match located.or_else(|| known.get(&(name, is_text, kind)).copied()) {
                    Some(index) => {
                        uses[index].count += 1;
                        if let Some(locations) = &mut locations {
                            locations.set(name, index);
                        }
                    }
                    None => {
                        known.insert((name, is_text, kind), uses.len());
                        let path = self.path_of_stack(&stack, steps);
                        uses.push(ClassUse { name: name.to_vec(), is_text, kind, count: 1, path });
                    }
                }
            }
            if node.kind.is_container() {
                stack.push(ClassWalkFrame {
                    node: node_index,
                    end: self.tape.index_after(node_index),
                    child: node_index,
                    key: None,
                    position: 0,
                    steps,
                });
            }
        }
        uses
    }

    /// Returns the class that the node at `index` names, and the kind of the use.
    fn class_at(&self, index: u32) -> Option<(&[u8], bool, &'static str)> {
        let node = &self.tape.nodes[index as usize];
        let kind = match (node.kind, node.form()) {
            (Kind::Object, Form::Struct) => "struct",
            (Kind::Object, _) => "object",
            (Kind::Opaque, Form::Hook) => "hook",
            (Kind::Opaque, Form::Freeze) => "freeze",
            (Kind::Opaque, Form::Serializable) => "serializable",
            (Kind::Opaque, Form::UserDump) => "user-dump",
            (Kind::Opaque, Form::UserMarshal) => "user-marshal",
            (Kind::Opaque, Form::Data) => "data",
            (Kind::Opaque, _) => "opaque",
            (Kind::Attrs, Form::Subclass) => "subclass",
            (Kind::Attrs, Form::Module) => "module",
            (Kind::Attrs, _) => "attributes",
            (Kind::Regexp, _) if !node.has(flag::BARE) => return Some((b"Regexp", false, "regexp")),
            (Kind::Module, Form::Variable) => return None,
            (Kind::Module, Form::Module) => return Some((self.bytes(node), false, "module-name")),
            (Kind::Module, _) => return Some((self.bytes(node), false, "class-name")),
            (Kind::EnumCase, _) => {
                let case = self.bytes(node);
                return Some((case.split(|byte| *byte == b':').next().unwrap_or(case), false, "enum"));
            }
            _ => return None,
        };
        self.class_name(node.class()).map(|name| {
            let is_text = name.node.kind == Kind::Text && !name.bytes.is_ascii();
            (name.bytes, is_text, kind)
        })
    }

    /// Returns the path of the node that was just reached. A long path is shortened, so that the cost does not depend
    /// on the depth.
    fn path_of_stack(&self, stack: &[ClassWalkFrame], steps: usize) -> String {
        let mut path = String::from("$");
        let step = |frame: &ClassWalkFrame| {
            let node = &self.tape.nodes[frame.node as usize];
            self.tape.child_step(node, frame.child, frame.key, frame.position, &self.input, MAX_SHOWN_KEY)
        };
        if steps <= MAX_SHOWN_STEPS {
            path.extend(stack.iter().filter_map(step));
            return shorten_for_message(path);
        }
        path.extend(stack.iter().filter_map(step).take(MAX_SHOWN_STEPS / 2));
        push_omission(&mut path, steps - MAX_SHOWN_STEPS);
        let mut tail: Vec<_> = stack.iter().rev().filter_map(step).take(MAX_SHOWN_STEPS / 2).collect();
        tail.reverse();
        path.extend(tail);
        shorten_for_message(path)
    }
}
