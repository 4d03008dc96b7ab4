//! Keeps the layout of texts whose writer does not keep blanks. Unchanged values are copied from the text before the
//! alterations.

use super::draft::{Draft, Origin};
use crate::document::{Document, Extent, IS_KEY, KEY_NODE};
use crate::format::Request;
use crate::limits::Limits;
use crate::stage::Stage;

/// Returns the text of a draft: unchanged values come from `body`, the text before the alterations. All others come
/// from `rewritten`, the text that the writer made of the draft. Returns `None` if the values can't be matched.
pub(super) fn merge_with_source(
    draft: &Draft<'_>,
    body: &[u8],
    rewritten: &[u8],
    stage: &Stage,
    limits: &Limits,
) -> Option<Vec<u8>> {
    let read = stage.format().read(rewritten, stage.settings(), Request::new(limits).detailed());
    let changed_document = draft.document();
    let is_alike = read.error.is_none() && read.document.nodes().len() == changed_document.nodes().len();
    let source = PlacedText::from_document(draft.source, body)?;
    let rewritten_text = PlacedText::from_document(&read.document, rewritten)?;
    let has_same_kinds =
        read.document.nodes().iter().zip(changed_document.nodes()).all(|(read, drafted)| read.kind == drafted.kind);
    if !is_alike || !has_same_kinds {
        return None;
    }
    let breaks = count_breaks(&draft.origins);
    let mut merger = LayoutMerger {
        source,
        rewritten: rewritten_text,
        origins: &draft.origins,
        breaks,
        out: Vec::new(),
        open: Vec::new(),
    };
    let (start, end) = merger.source.find_extent(draft.source.root().index())?;
    merger.out.extend_from_slice(body.get(..start)?);
    merger.write_document(changed_document.root().index())?;
    merger.out.extend_from_slice(body.get(end..)?);
    Some(merger.out)
}

/// A document, and the positions of its nodes in a text.
struct PlacedText<'t> {
    document: &'t Document<'t>,
    bytes: &'t [u8],
    extents: &'t [Extent],
}

impl<'t> PlacedText<'t> {
    fn from_document(document: &'t Document<'t>, bytes: &'t [u8]) -> Option<PlacedText<'t>> {
        let trace = document.trace().filter(|trace| trace.layer.is_none())?;
        Some(PlacedText { document, bytes, extents: &trace.extents })
    }

    fn find_extent(&self, index: u32) -> Option<(usize, usize)> {
        let extent = self.extents.get(index as usize).filter(|extent| !extent.copied && extent.start < extent.end)?;
        Some((usize::try_from(extent.start).ok()?, usize::try_from(extent.end).ok()?))
    }

    fn value_bytes(&self, index: u32) -> Option<&'t [u8]> {
        let (start, end) = self.find_extent(index)?;
        self.bytes.get(start..end)
    }

    /// Returns the children of a container, without keys.
    fn collect_children(&self, index: u32) -> Vec<u32> {
        let tape = self.document.tape();
        let (mut children, mut next) = (Vec::new(), index + 1);
        while next < tape.index_after(index) {
            if tape.node(next).key != IS_KEY {
                children.push(next);
            }
            next = tape.index_after(next);
        }
        children
    }

    /// Returns the text before a child, from the end of the previous child or from the beginning of the container.
    fn bytes_before(&self, container: u32, previous: Option<u32>, child: u32) -> Option<&'t [u8]> {
        let start = match previous {
            Some(previous) => self.find_extent(previous)?.1,
            None => self.find_extent(container)?.0,
        };
        self.bytes.get(start..self.find_extent(child)?.0)
    }

    /// Returns the text after the last child.
    fn closing_bytes(&self, container: u32, last_child: u32) -> Option<&'t [u8]> {
        self.bytes.get(self.find_extent(last_child)?.1..self.find_extent(container)?.1)
    }
}

/// Returns for each node how many nodes up to it do not follow the same node as in the source.
fn count_breaks(origins: &[Origin]) -> Vec<u32> {
    let mut count = 0;
    let mut expected_node = None;
    let breaks_so_far = |origin: &Origin| {
        let follows = origin.node.is_some() && origin.node == expected_node && !origin.is_touched && !origin.is_renamed;
        expected_node = origin.node.map(|node| node + 1);
        count += u32::from(!follows);
        count
    };
    origins.iter().map(breaks_so_far).collect()
}

struct LayoutMerger<'t> {
    /// The document before the alterations, and its text.
    source: PlacedText<'t>,
    rewritten: PlacedText<'t>,
    origins: &'t [Origin],
    breaks: Vec<u32>,
    out: Vec<u8>,
    open: Vec<LayoutFrame>,
}

/// A container in which something changed.
struct LayoutFrame {
    /// The container in the draft.
    container: u32,
    /// The container in the source.
    source_container: u32,
    children: Vec<u32>,
    source_children: Vec<u32>,
    /// Position of the next child.
    next_child: usize,
}

impl<'t> LayoutMerger<'t> {
    fn write_document(&mut self, root: u32) -> Option<()> {
        self.write_value(root)?;
        while let Some(frame) = self.open.last_mut() {
            let position = frame.next_child;
            frame.next_child += 1;
            match frame.children.get(position).copied() {
                Some(child) => {
                    self.write_gap(position)?;
                    self.write_value(child)?;
                }
                None => {
                    let frame = self.open.pop()?;
                    self.out.extend_from_slice(
                        self.source.closing_bytes(frame.source_container, *frame.source_children.last()?)?,
                    );
                }
            }
        }
        Some(())
    }

    /// Writes an unchanged value, a new value, or the beginning of a changed one.
    fn write_value(&mut self, index: u32) -> Option<()> {
        let Some(source_node) = self.origin_node(index) else {
            self.out.extend_from_slice(self.rewritten.value_bytes(index)?);
            return Some(());
        };
        if self.is_unchanged(index, source_node) {
            self.out.extend_from_slice(self.source.value_bytes(source_node)?);
            return Some(());
        }
        let (children, source_children) =
            (self.rewritten.collect_children(index), self.source.collect_children(source_node));
        if children.is_empty() || source_children.is_empty() {
            self.out.extend_from_slice(self.rewritten.value_bytes(index)?);
            return Some(());
        }
        self.open.push(LayoutFrame {
            container: index,
            source_container: source_node,
            children,
            source_children,
            next_child: 0,
        });
        Some(())
    }

    fn has_same_key(&self, source_node: u32, index: u32) -> bool {
        let key = |document: &'t Document<'t>, index: u32| {
            let key = document.tape().node(index).key;
            document.tape().keys().get(u32::from(key)).map(|name| (key != KEY_NODE, name.node.kind, name.bytes))
        };
        let (source_key, new_key) = (key(self.source.document, source_node), key(self.rewritten.document, index));
        source_key == new_key && source_key.is_none_or(|(is_plain, ..)| is_plain)
    }

    fn origin_node(&self, index: u32) -> Option<u32> {
        self.origins.get(index as usize)?.node
    }

    /// Returns `true` if nothing in the value changed.
    fn is_unchanged(&self, index: u32, source_node: u32) -> bool {
        let end = self.rewritten.document.tape().index_after(index);
        let len = self.source.document.tape().index_after(source_node) - source_node;
        let breaks = |index: u32| self.breaks.get(index as usize).copied();
        let is_touched = self.origins.get(index as usize).is_some_and(|origin| origin.is_touched);
        !is_touched && end - index == len && breaks(end - 1) == breaks(index)
    }

    /// Writes the text before the next child. If the key and the previous sibling are those of the source, it is the
    /// text of the source; otherwise it is the writer's text with the blanks that are usual here.
    fn write_gap(&mut self, position: usize) -> Option<()> {
        let frame = self.open.last()?;
        let child = *frame.children.get(position)?;
        let previous = position.checked_sub(1).and_then(|before| frame.children.get(before)).copied();
        let source_position = |position: usize| {
            let child = *frame.children.get(position)?;
            match self.origin_node(child) {
                Some(source_node) => frame.source_children.binary_search(&source_node).ok(),
                // A value that was set takes the place of one of the source.
                None if frame.children.len() == frame.source_children.len() => {
                    self.has_same_key(*frame.source_children.get(position)?, child).then_some(position)
                }
                None => None,
            }
        };
        let (found, found_before) = (source_position(position), position.checked_sub(1).and_then(source_position));
        let is_renamed = self.origins.get(child as usize).is_some_and(|origin| origin.is_renamed);
        let source_gap = |position: usize| {
            let previous = position.checked_sub(1).and_then(|before| frame.source_children.get(before)).copied();
            self.source.bytes_before(frame.source_container, previous, *frame.source_children.get(position)?)
        };
        // The first child was also the first one before. Any other child must follow the same sibling as before.
        let is_same =
            |found: usize| if position == 0 { found == 0 } else { found > 0 && found.checked_sub(1) == found_before };
        let rewritten_bytes = self.rewritten.bytes_before(frame.container, previous, child)?;
        if let Some(found) = found.filter(|found| !is_renamed && is_same(*found)) {
            let gap = source_gap(found)?;
            self.out.extend_from_slice(gap);
            return Some(());
        }
        let model = match (position, found) {
            (0, _) => 0,
            (_, Some(found)) if found > 0 => found,
            _ => frame.source_children.len() - 1,
        };
        let gap = apply_blank_style(rewritten_bytes, source_gap(model)?);
        self.out.extend_from_slice(&gap);
        Some(())
    }
}

/// Returns a writer's text with the blanks that another text has after its first character and at its end.
fn apply_blank_style(rewritten_bytes: &[u8], model: &[u8]) -> Vec<u8> {
    let blanks = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (Some((first, rest)), Some((model_first, model_rest))) = (rewritten_bytes.split_first(), model.split_first())
    else {
        return rewritten_bytes.to_vec();
    };
    if first != model_first || blanks(rest) > 0 {
        return rewritten_bytes.to_vec();
    }
    let lead = &model_rest[..blanks(model_rest)];
    let trimmed = rest.trim_ascii_end();
    let tail = &model_rest[model_rest.trim_ascii_end().len().max(lead.len())..];
    [&rewritten_bytes[..1], lead, trimmed, if trimmed.len() == rest.len() { tail } else { &rest[trimmed.len()..] }]
        .concat()
}
