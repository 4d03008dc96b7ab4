//! Objects that a Perl class froze by a hook: a string of the class, and values that it refers to.

use super::Document;
use super::node::{Form, Kind, Node, flag};
use super::rewrite::{Rewrite, same_node};
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
                Some(hook) if hook.is_left_out(index, node, self) => {
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

/// Returns true if this is an object that a hook froze, and that has more than its string and its empty body.
fn has_hook_values(node: &Node) -> bool {
    node.kind == Kind::Opaque && node.form() == Form::Hook && node.aux > 2 && node.end() != 0
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
    /// Returns true if a child is not part of the list: the empty body, and a link to a value inside of the object,
    /// which is in the list itself.
    fn is_left_out(&self, index: u32, node: &Node, document: &Document<'_>) -> bool {
        let is_body = document.tape().index_after(index) >= self.end;
        let is_own_value =
            node.kind == Kind::Link && (u64::from(self.first) + 1..u64::from(index)).contains(&node.payload);
        is_body || is_own_value
    }

    fn set_count(&self, rewrite: &mut Rewrite) {
        if let Some(list) = rewrite.nodes.get_mut(self.list as usize) {
            list.aux = self.count;
        }
    }
}
