//! A document as rows: values, and the pieces of the input between them.

use crate::describe::summarize_known;
use icecore::{
    Document, Kind, Known,
    raw::{Extent, IS_KEY, KEY_NODE, NO_KEY, NO_NODE, Span},
};
use std::borrow::Cow;

/// Selects what is shown.
pub struct TreeOptions {
    /// The only value that is shown, with everything in it.
    pub top: Option<u32>,
    /// Maximum number of levels.
    pub depth: u32,
    /// Whether every piece of the input is shown.
    pub shows_spans: bool,
    /// Maximum number of items of a list.
    pub items: u64,
    /// Whether an object and its body are one row.
    pub fold: bool,
    /// Number of the root's items that were shown before, if it is shown part by part.
    pub earlier_items: u64,
    /// Number of items of the first value that are skipped.
    pub skip: u64,
}

impl Default for TreeOptions {
    fn default() -> TreeOptions {
        TreeOptions {
            top: None,
            depth: u32::MAX,
            shows_spans: false,
            items: u64::MAX,
            fold: false,
            earlier_items: 0,
            skip: 0,
        }
    }
}

/// A row.
#[derive(Clone, Debug)]
pub enum Row {
    /// The following rows are in the decompressed body.
    Layer,
    /// The following rows are in the user header.
    Header,
    /// The following rows are in the body after a user header.
    Body,
    /// A piece of the input.
    Span {
        /// The piece.
        span: Span,
        /// Number of values around it.
        depth: u32,
    },
    /// A value, and the step to it. If it is an object whose body does not have a row of its own, the row also has
    /// the body.
    Value {
        /// The value.
        node: u32,
        /// The body of an object.
        body: Option<u32>,
        /// Number of values around it.
        depth: u32,
        /// The last step of its path.
        step: String,
        /// Position of its bytes.
        extent: Option<Extent>,
    },
    /// The key of the next value, if the key is itself a value.
    Key {
        /// The key.
        node: u32,
        /// Number of values around it.
        depth: u32,
        /// Position of its bytes.
        extent: Option<Extent>,
    },
    /// A member of a set. The member is the key of a value.
    Member {
        /// The value whose key is the member.
        value: u32,
        /// Number of values around it.
        depth: u32,
    },
    /// Items that are omitted.
    More {
        /// Number of items.
        count: u64,
        /// Number of values around them.
        depth: u32,
    },
}

/// An open container.
struct OpenContainer {
    node: u32,
    end: u32,
    /// Number of children so far, without keys.
    position: u64,
    key: Option<u32>,
    depth: u32,
    /// Whether the keys are the members of a set.
    is_set: bool,
}

/// The rows of a document, one by one, in the order of the input.
pub struct Tree<'d> {
    document: &'d Document<'d>,
    options: TreeOptions,
    spans: Cow<'d, [Span]>,
    /// Index of the next span.
    next_span: usize,
    layer: u8,
    /// Index of the next node, and the index after the last one.
    next_index: u32,
    end: u32,
    stack: Vec<OpenContainer>,
    /// The depth of each value that was shown, by its node. A piece is one level below its value.
    depths: Vec<u32>,
    /// Rows that were already created, and are returned next.
    ready: std::collections::VecDeque<Row>,
}

/// Returns the pieces to be shown, in the order of the input: all of them, or only those of headers. A document has
/// many pieces, and usually they are already in order, so they are copied only if necessary.
fn select_spans(all: &[Span], is_all: bool) -> Cow<'_, [Span]> {
    let position_in_input = |span: &Span| (span.layer, span.start);
    if is_all && all.is_sorted_by_key(position_in_input) {
        return Cow::Borrowed(all);
    }
    let mut selected: Vec<Span> = all.iter().filter(|span| is_all || span.node == NO_NODE).copied().collect();
    selected.sort_by_key(position_in_input);
    Cow::Owned(selected)
}

impl<'d> Tree<'d> {
    /// Creates the rows of a document.
    pub fn new(document: &'d Document<'d>, options: TreeOptions) -> Tree<'d> {
        let spans =
            document.trace().map_or(Cow::Borrowed(&[][..]), |trace| select_spans(&trace.spans, options.shows_spans));
        let mut tree = Tree {
            document,
            spans,
            next_span: 0,
            layer: 0,
            next_index: options.top.unwrap_or(0),
            end: document.nodes().len() as u32,
            stack: Vec::new(),
            depths: Vec::new(),
            ready: std::collections::VecDeque::new(),
            options,
        };
        if let Some(top) = tree.options.top {
            tree.end = tree.index_after(top);
            match tree.find_extent(top) {
                Some(extent) if !extent.copied => {
                    tree.layer = extent.layer;
                    let is_inside = |span: &Span| {
                        span.layer == extent.layer && span.start >= extent.start && span.end <= extent.end
                    };
                    tree.spans = tree.spans.iter().filter(|span| is_inside(span)).copied().collect();
                }
                _ => tree.spans = Cow::Borrowed(&[]),
            }
        }
        tree
    }

    /// Returns the index after a node and everything in it.
    fn index_after(&self, node: u32) -> u32 {
        match self.document.nodes().get(node as usize) {
            Some(node_data) if !node_data.kind.is_container() => node + 1,
            Some(node_data) if node_data.end() != 0 => node_data.end(),
            _ => self.document.nodes().len() as u32,
        }
    }

    /// Returns the range of a value, if known.
    fn find_extent(&self, node: u32) -> Option<Extent> {
        let trace = self.document.trace()?;
        let mut extent = *trace.extents.get(node as usize)?;
        if extent.end == 0 {
            // Only the root starts at 0. For any other value, 0 means that the reader did not reach it.
            if extent.start == 0 && node != self.document.root().index() {
                return None;
            }
            // The reader stopped inside of the value, so the value extends to the end of the input or of the
            // decompressed body.
            let layer = if extent.layer == 0 { None } else { trace.layer.as_ref() };
            extent.end = layer.map_or(u64::MAX, |layer| layer.len() as u64);
        }
        Some(extent)
    }

    /// Adds rows for the spans before this position.
    fn push_spans_before(&mut self, layer: u8, start: u64) {
        while let Some(span) = self.spans.get(self.next_span).copied() {
            if (span.layer, span.start) >= (layer, start) {
                break;
            }
            self.next_span += 1;
            self.push_span(span);
        }
    }

    fn push_span(&mut self, span: Span) {
        if span.layer > self.layer {
            self.layer = span.layer;
            self.ready.push_back(Row::Layer);
        }
        let depth = if span.node == NO_NODE {
            0
        } else {
            match self.depths.get(span.node as usize) {
                Some(depth) => *depth + 1,
                // The span belongs to a value that follows, so it is one level below the open container.
                None => self.stack.last().map_or(0, |frame| frame.depth + 1),
            }
        };
        self.ready.push_back(Row::Span { span, depth });
    }

    /// Skips the spans of a value that is not shown.
    fn skip_spans(&mut self, extent: Option<Extent>) {
        let Some(extent) = extent.filter(|extent| !extent.copied) else { return };
        while self.spans.get(self.next_span).is_some_and(|span| (span.layer, span.start) < (extent.layer, extent.end)) {
            self.next_span += 1;
        }
    }

    /// Adds the rows of the next value, and moves past it or into it.
    fn push_value(&mut self) {
        let index = self.next_index;
        while self.stack.pop_if(|frame| frame.end <= index).is_some() {}
        let extent = self.find_extent(index);
        // The bytes of a copied value are at its original, so the pieces before them are not shown here.
        if let Some(extent) = extent.filter(|extent| !extent.copied) {
            self.push_spans_before(extent.layer, extent.start);
            if extent.layer > self.layer {
                self.layer = extent.layer;
                self.ready.push_back(Row::Layer);
            }
        }
        if self.options.top.is_none() && self.document.header().is_some() {
            if self.document.header().is_some_and(|header| header.index() == index) {
                self.ready.push_back(Row::Header);
            } else if self.document.root().index() == index {
                self.ready.push_back(Row::Body);
            }
        }
        let is_key = self.document.nodes()[index as usize].key == IS_KEY;
        let kind = self.document.nodes()[index as usize].kind;
        if let Some(frame) = self.stack.last().filter(|frame| frame.is_set) {
            if !is_key {
                return self.push_member(index);
            } else if frame.position >= self.options.items {
                return self.push_omitted();
            }
        }
        let (depth, step) = match self.stack.last_mut() {
            None => (0, "$".to_owned()),
            Some(frame) => {
                if frame.position >= self.options.items && !is_key {
                    return self.push_omitted();
                }
                let step = match self.options.fold {
                    true => self.document.short_step(frame.node, index, frame.key, frame.position),
                    false => self.document.step(frame.node, index, frame.key, frame.position),
                };
                if is_key {
                    frame.key = Some(index);
                } else {
                    frame.position += 1;
                    frame.key = None;
                }
                (frame.depth, step.unwrap_or_default())
            }
        };
        self.record_depth(index, depth);
        let is_member = is_key && self.stack.last().is_some_and(|frame| frame.is_set);
        let is_name = is_key && (kind.is_string() || kind == Kind::Int);
        if is_key && !is_name && !is_member {
            self.ready.push_back(Row::Key { node: index, depth, extent });
        }
        let is_complete_row = self.is_shown_completely(index, kind);
        let body = if kind == Kind::Object && self.options.fold && !is_complete_row {
            self.foldable_body(index)
        } else {
            None
        };
        if !is_key || is_member {
            let step = if is_member { "-".to_owned() } else { step };
            // If the root is shown part by part, only the first part has its row.
            if self.options.earlier_items == 0 || index > 0 {
                self.ready.push_back(Row::Value { node: index, body, depth, step, extent });
            }
        }
        let set = self.find_member_map(index, kind);
        let (node, is_set) = (set.or(body).unwrap_or(index), set.is_some());
        self.record_depth(node, depth);
        self.next_index = node + 1;
        if self.document.nodes()[node as usize].kind.is_container() {
            let end = self.index_after(index);
            if depth < self.options.depth && !is_complete_row {
                let position = if index == 0 { self.options.earlier_items } else { 0 };
                self.stack.push(OpenContainer { node, end, position, key: None, depth: depth + 1, is_set });
                if index == self.options.top.unwrap_or(0) {
                    self.skip_items();
                }
            } else {
                self.skip_spans(extent);
                self.next_index = end;
            }
        }
    }

    /// Skips the unwanted items of the container that was entered last.
    fn skip_items(&mut self) {
        let skip = self.options.skip;
        while let Some(frame) = self.stack.last().filter(|frame| frame.position < skip && self.next_index < frame.end) {
            // Members of a set are not skipped: each is one row, even if it is a container.
            if frame.is_set {
                break;
            }
            let index = self.next_index;
            self.skip_spans(self.find_extent(index));
            self.next_index = self.index_after(index);
            if let Some(frame) = self.stack.last_mut() {
                frame.position += u64::from(self.document.nodes()[index as usize].key != IS_KEY);
            }
        }
    }

    fn record_depth(&mut self, node: u32, depth: u32) {
        if self.options.shows_spans {
            self.depths.resize(node as usize + 1, depth);
            self.depths[node as usize] = depth;
        }
    }

    /// Adds a member of a set. The member is the key of the value at `index`. The value itself has no meaning. A key
    /// with a node of its own has a row already.
    fn push_member(&mut self, index: u32) {
        let Some(frame) = self.stack.last_mut() else { return };
        let has_id = !matches!(self.document.nodes()[index as usize].key, NO_KEY | KEY_NODE);
        if has_id && frame.position >= self.options.items {
            return self.push_omitted();
        }
        if has_id {
            self.ready.push_back(Row::Member { value: index, depth: frame.depth });
        }
        frame.position += u64::from(has_id || frame.key.take().is_some());
        self.next_index = self.index_after(index);
    }

    /// Returns the map whose keys are the members of the set at `index`, if they are shown as members.
    fn find_member_map(&self, index: u32, kind: Kind) -> Option<u32> {
        if kind != Kind::Object || !self.options.fold || self.options.shows_spans {
            return None;
        }
        match Known::of(self.document.at(index)?)? {
            Known::Set(members) => Some(members.map().index()),
            _ => None,
        }
    }

    /// Returns true if one row says everything about this value, which belongs to one of Ruby's own classes.
    fn is_shown_completely(&self, index: u32, kind: Kind) -> bool {
        let may_be_known =
            matches!(kind, Kind::Object | Kind::Opaque) && self.options.fold && !self.options.shows_spans;
        may_be_known
            && self.options.top != Some(index)
            && summarize_known(self.document, index, 0).is_some_and(|summary| summary.is_complete)
    }

    /// Returns the body of the object at `index`, if one row can show both.
    fn foldable_body(&self, index: u32) -> Option<u32> {
        let body = self.document.at(index)?.children().next()?;
        (body.kind() != Kind::Object && !body.kind().is_again()).then(|| body.index())
    }

    /// Skips the rest of a long list.
    fn push_omitted(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        let node = &self.document.nodes()[frame.node as usize];
        let declared_count = u64::from(node.aux);
        let count = if node.end() == 0 {
            let rest = self.document.at(frame.node).map_or(0, |list| list.children().count() as u64);
            rest.saturating_sub(frame.position)
        } else {
            declared_count.saturating_sub(frame.position)
        };
        self.ready.push_back(Row::More { count, depth: frame.depth });
        let extent = self.find_extent(frame.node);
        self.skip_spans(extent);
        self.next_index = frame.end;
    }
}

impl Iterator for Tree<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        while self.ready.is_empty() {
            if self.next_index < self.end {
                self.push_value();
            } else {
                let span = *self.spans.get(self.next_span)?;
                self.next_span += 1;
                self.push_span(span);
            }
        }
        self.ready.pop_front()
    }
}
