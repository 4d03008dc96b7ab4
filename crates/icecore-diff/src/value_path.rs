//! Paths of values. Many paths are found in one walk.

use icecore::raw::{IS_KEY, KEY_NODE, NO_KEY, Name};
use icecore::{Document, Key, Kind};

/// An open container of a walk, and the current child.
struct OpenContainer {
    node: u32,
    end: u32,
    child: u32,
    key: Option<u32>,
    position: u32,
}

/// A step of a path for programs.
pub(crate) enum Step<'d> {
    /// An item of a list by its position.
    Item(u32),
    /// A key, with its map and the position of the child.
    Key(Key<'d>, u32, u32),
    /// An entry of a map by its position.
    Entry(u32),
    /// Any other child by its position.
    Part(u32),
}

/// The path to a value.
pub(crate) struct ValuePath<'w, 'd> {
    document: &'d Document<'d>,
    open: &'w [OpenContainer],
    /// Indexes of the containers that are steps in paths for people, in which an object and its body are one step.
    steps: &'w [usize],
}

/// Maximum number of steps of a path that are shown.
const MAX_SHOWN_STEPS: usize = 64;

impl<'d> ValuePath<'_, 'd> {
    /// Calls `visit` for each of these nodes, with its position among them and with its path.
    pub(crate) fn visit_nodes(
        document: &'d Document<'d>,
        nodes: &[u32],
        mut visit: impl FnMut(usize, ValuePath<'_, 'd>),
    ) {
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_unstable_by_key(|index| nodes[*index]);
        let mut order = order.into_iter().peekable();
        let (mut open, mut steps): (Vec<OpenContainer>, Vec<usize>) = (Vec::new(), Vec::new());
        let tape = document.nodes();
        let mut index = document.root().index();
        while let (Some(node), Some(_)) = (tape.get(index as usize), order.peek()) {
            while open.pop_if(|open| open.end <= index).is_some() {
                steps.pop_if(|step| *step == open.len());
            }
            if let Some(outer) = open.last_mut() {
                if node.key == IS_KEY {
                    (outer.child, outer.key) = (index, Some(index));
                } else {
                    outer.key = outer.key.filter(|_| node.key == KEY_NODE);
                    // The position is -1 before the first child.
                    outer.position = outer.position.wrapping_add(1);
                    outer.child = index;
                }
            }
            while let Some(wanted) = order.next_if(|wanted| nodes[*wanted] <= index) {
                visit(wanted, ValuePath { document, open: &open, steps: &steps });
            }
            let end = crate::tree::index_after(document, index);
            // A container without wanted nodes is skipped.
            let is_wanted = order.peek().is_some_and(|next| nodes[*next] < end);
            if !node.kind.is_container() || !is_wanted {
                index = end;
                continue;
            }
            if node.kind != Kind::Object {
                steps.push(open.len());
            }
            open.push(OpenContainer { node: index, end, child: index, key: None, position: u32::MAX });
            index += 1;
        }
    }

    /// Returns the paths of these nodes.
    pub(crate) fn find_paths(document: &'d Document<'d>, nodes: &[u32]) -> Vec<String> {
        let mut paths = vec![String::new(); nodes.len()];
        ValuePath::visit_nodes(document, nodes, |index, path| paths[index] = path.display_path());
        paths
    }

    /// Returns the path as text for people. A long path is shortened in the middle.
    pub(crate) fn display_path(&self) -> String {
        let step = |index: &usize| {
            let open = &self.open[*index];
            self.document.short_step(open.node, open.child, open.key, u64::from(open.position)).unwrap_or_default()
        };
        let mut path = String::from("$");
        let Some(omitted_count) = self.steps.len().checked_sub(MAX_SHOWN_STEPS).filter(|count| *count > 0) else {
            path.extend(self.steps.iter().map(step));
            return path;
        };
        path.extend(self.steps[..MAX_SHOWN_STEPS / 2].iter().map(step));
        path.push_str(&format!("…({omitted_count} more)…"));
        path.extend(self.steps[self.steps.len() - MAX_SHOWN_STEPS / 2..].iter().map(step));
        path
    }

    /// Returns the number of steps.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns the positions of the children on the path from the container at this node on; `None` if the path leads
    /// through a key.
    pub(crate) fn child_positions(&self, start: u32) -> Option<Vec<u32>> {
        let is_key = |open: &OpenContainer| self.document.at(open.child).is_none_or(|child| child.node().key == IS_KEY);
        let below = self.open.iter().filter(|open| open.node >= start);
        below.map(|open| (!is_key(open)).then_some(open.position)).collect()
    }

    /// Returns the steps. There is none between an object and its body if an item or an entry of the body follows.
    pub(crate) fn collect_steps(&self) -> impl Iterator<Item = Step<'d>> {
        let step = |open: &OpenContainer| -> Step<'d> {
            match self.document.nodes().get(open.node as usize).map(|node| node.kind) {
                Some(Kind::Array) => Step::Item(open.position),
                Some(Kind::Map | Kind::Attrs) => match child_key(self.document, open) {
                    Some(key) => Step::Key(key, open.node, open.position),
                    None => Step::Part(open.position),
                },
                _ => Step::Part(open.position),
            }
        };
        let is_object =
            |open: &OpenContainer| self.document.at(open.node).is_some_and(|cursor| cursor.kind() == Kind::Object);
        let mut following: Option<Step<'d>> = None;
        let mut steps: Vec<Step<'d>> = Vec::new();
        for open in self.open.iter().rev() {
            let is_omitted = is_object(open) && following.as_ref().is_some_and(|step| !matches!(step, Step::Part(_)));
            if !is_omitted {
                steps.extend(following.replace(step(open)));
            }
        }
        steps.extend(following);
        steps.into_iter().rev()
    }
}

/// Returns the key of the current child.
fn child_key<'d>(document: &'d Document<'d>, open: &OpenContainer) -> Option<Key<'d>> {
    let child = document.nodes().get(open.child as usize)?;
    match (child.key, open.key) {
        (NO_KEY, _) => None,
        (KEY_NODE, Some(key_index)) => {
            let key = document.at(key_index)?;
            let node = *key.node();
            Some(match node.kind.is_string() || node.kind == Kind::Int {
                true => Key::Name(Name { node, bytes: crate::tree::node_bytes(document, key.node()) }),
                false => Key::Value(key),
            })
        }
        (KEY_NODE | IS_KEY, _) => None,
        (id, _) => document.tape().keys().get(u32::from(id)).map(Key::Name),
    }
}
