//! Finds the nodes whose tags must be tracked, before they are written.

use crate::document::{Kind, Node, flag};
use std::collections::HashMap;

/// Targets of all links and aliases of a document.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Variables that an alias refers to, by node.
    pub(super) variables: HashMap<u32, LinkTarget>,
    /// Containers, objects and the like that a link refers to, by node.
    pub(super) referents: HashMap<u32, LinkTarget>,
}

/// A target.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkTarget {
    /// Offset of its tag, once it is written.
    pub(super) offset: Option<u64>,
    /// Whether any strong reference holds it.
    has_strong_reference: bool,
    /// The last weak reference to it.
    last_weak: u32,
    /// Number of aliases of it that are still to be written.
    pub(super) remaining: u32,
}

impl LinkTarget {
    fn add_holder(&mut self, holder: u32, is_weak: bool) {
        if is_weak {
            self.last_weak = self.last_weak.max(holder);
        } else {
            self.has_strong_reference = true;
        }
    }
}

/// How a weak reference is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weakness {
    Strong,
    Weak,
    /// It is the only reference to its target; a reader would lose the target.
    Needed,
}

fn follow_chain(nodes: &[Node], mut index: u32, kind: Kind) -> u32 {
    for _ in 0..64 {
        match nodes.get(index as usize) {
            Some(node) if node.kind == kind => index = node.payload as u32,
            _ => break,
        }
    }
    index
}

/// Returns the variable that an alias refers to.
pub(super) fn resolve_variable(nodes: &[Node], alias: u32) -> u32 {
    follow_chain(nodes, alias, Kind::Alias)
}

/// Returns the target of a link.
pub(super) fn resolve_referent(nodes: &[Node], link: u32) -> u32 {
    follow_chain(nodes, follow_chain(nodes, follow_chain(nodes, link, Kind::Link), Kind::Alias), Kind::Link)
}

fn is_weak(nodes: &[Node], index: u32) -> bool {
    nodes.get(index as usize).is_some_and(|node| node.has(flag::WEAK))
}

/// Returns the reference whose only child is at `index`.
fn reference_to(nodes: &[Node], index: u32) -> Option<u32> {
    let parent = index.checked_sub(1)?;
    nodes.get(parent as usize).filter(|node| node.kind == Kind::Ref).map(|_| parent)
}

impl Links {
    /// Finds all targets, except those for which `is_left_out` returns true for the
    /// link and the variable.
    pub(super) fn from_nodes(nodes: &[Node], is_left_out: impl Fn(u32, u32) -> bool) -> Links {
        let mut links = Links::default();
        for (index, node) in (0u32..).zip(nodes) {
            match node.kind {
                Kind::Alias => {
                    let reference = reference_to(nodes, index);
                    let target = resolve_variable(nodes, index);
                    if is_left_out(reference.unwrap_or(index), target) {
                        continue;
                    }
                    let named = links.variables.entry(target).or_default();
                    named.remaining += 1;
                    named
                        .add_holder(reference.unwrap_or(index), reference.is_some_and(|holder| is_weak(nodes, holder)));
                }
                Kind::Link => links
                    .referents
                    .entry(resolve_referent(nodes, index))
                    .or_default()
                    .add_holder(index, node.has(flag::WEAK)),
                _ => {}
            }
        }
        for (referent, named) in &mut links.referents {
            named.add_holder(*referent, is_weak(nodes, *referent));
        }
        for (variable, named) in &mut links.variables {
            match reference_to(nodes, *variable) {
                Some(reference) => named.add_holder(reference, is_weak(nodes, reference)),
                None => named.has_strong_reference = true,
            }
        }
        links
    }

    /// Returns how the reference at `index` is written.
    pub(super) fn find_weakness(&self, nodes: &[Node], index: u32) -> Weakness {
        let Some(node) = nodes.get(index as usize).filter(|node| node.has(flag::WEAK)) else { return Weakness::Strong };
        let named = match node.kind {
            Kind::Link => self.referents.get(&resolve_referent(nodes, index)),
            Kind::Ref => self.referents.get(&index).or_else(|| self.variables.get(&resolve_variable(nodes, index + 1))),
            _ => self.referents.get(&index),
        };
        // Perl itself holds its own undef.
        let is_own_undef = |node: &Node| node.kind == Kind::Null && node.has(flag::OWN);
        match named {
            _ if node.kind == Kind::Ref && nodes.get(index as usize + 1).is_some_and(is_own_undef) => Weakness::Weak,
            Some(named) if named.has_strong_reference || named.last_weak != index => Weakness::Weak,
            _ => Weakness::Needed,
        }
    }
}
