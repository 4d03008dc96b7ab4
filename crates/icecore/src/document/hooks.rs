//! Objects that a Perl class froze by a hook: a string of the class, and values that it refers to.

use super::node::{Form, Kind, Node, flag};
use super::rewrite::{Rewrite, same_node};
use super::{Cursor, Document};
use std::borrow::Cow;

impl Document<'_> {
    /// Returns the same document with the values of a hook in its payload, for formats that only write the payload. The
    /// payload becomes a list: the string, the values that are stored inside of the object, and links to values that
    /// are stored elsewhere. Borrows the document if no hook has values.
    pub(crate) fn with_hook_values_in_payload(&self) -> Cow<'_, Document<'_>> {
        // Each of these objects has a class.
        if self.tape().classes().is_empty() || !self.nodes().iter().any(has_hook_values) {
            return Cow::Borrowed(self);
        }
        let nodes = self.nodes();
        let mut rewrite = Rewrite::new(nodes.len());
        // The open objects, innermost last.
        let mut hooks: Vec<Hook> = Vec::new();
        let mut index = 0;
        while let Some(node) = nodes.get(index as usize) {
            while let Some(hook) = hooks.pop_if(|hook| hook.end <= index) {
                hook.set_count(&mut rewrite);
            }
            rewrite.reach_node(index);
            match hooks.last_mut().filter(|hook| hook.next_child == index) {
                Some(hook) if hook.is_left_out(index, node, self.tape().index_after(index)) => {
                    hook.next_child = self.tape().index_after(index);
                    index = hook.next_child;
                    rewrite.remove_node(index);
                    continue;
                }
                Some(hook) => {
                    hook.next_child = self.tape().index_after(index);
                    hook.count += 1;
                }
                None => {}
            }
            if has_hook_values(node) {
                rewrite.keep_node(Node { aux: 1, ..*node });
                let list = Node::open(Kind::Array, 0).with(flag::REF).in_form(Form::Hook);
                let list = rewrite.open_container(list, node.end());
                hooks.push(Hook { first: index, end: node.end(), next_child: index + 1, list, count: 0 });
            } else {
                rewrite.keep_node(*node);
            }
            index += 1;
        }
        for hook in hooks {
            hook.set_count(&mut rewrite);
        }
        rewrite.relink_targets(nodes.len() as u32, same_node);
        let mut tape = self.tape().clone();
        rewrite.finish(&mut tape);
        Cow::Owned(Document::new(self.input(), tape))
    }
}

impl<'d> Cursor<'d> {
    /// Returns the values of an object that a hook of Perl froze: its string and the values that it refers to, as they
    /// are shown in a list. Returns `None` for any other value, and for a hook that has only a string.
    pub fn hook_values(&self) -> Option<impl Iterator<Item = Cursor<'d>>> {
        let (first, end) = (self.index(), self.node().end());
        let is_shown =
            move |child: &Cursor<'d>| !is_left_out(first, end, child.index(), child.node(), child.index_after());
        has_hook_values(self.node()).then(|| self.children().filter(is_shown))
    }
}

/// Returns true if this is an object that a hook froze, and that has more than its string and its empty body.
fn has_hook_values(node: &Node) -> bool {
    node.kind == Kind::Opaque && node.form() == Form::Hook && node.aux > 2 && node.end() != 0
}

/// Returns true if a child of the object `first..end` is not part of the list. These are the empty body, and links to
/// values inside of the object, because the list has these values themselves. `index_after` is the node after the child.
fn is_left_out(first: u32, end: u32, index: u32, node: &Node, index_after: u32) -> bool {
    let is_own_value = node.kind == Kind::Link && (u64::from(first) + 1..u64::from(index)).contains(&node.payload);
    index_after >= end || is_own_value
}

/// An object whose values are being moved into its payload.
struct Hook {
    /// Its node, and the node after it.
    first: u32,
    end: u32,
    /// Its next child.
    next_child: u32,
    /// The new list, and the number of its items so far.
    list: u32,
    count: u32,
}

impl Hook {
    fn is_left_out(&self, index: u32, node: &Node, index_after: u32) -> bool {
        is_left_out(self.first, self.end, index, node, index_after)
    }

    fn set_count(&self, rewrite: &mut Rewrite) {
        if let Some(list) = rewrite.nodes.get_mut(self.list as usize) {
            list.aux = self.count;
        }
    }
}
