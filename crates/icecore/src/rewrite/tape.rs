//! Changes documents of formats that must be written again as a whole. The strings change on the tape, and the
//! spelling of everything else is replayed. The result is read again as a check.

use super::string_rewriter::{ProbeResult, StringRewriter};
use super::{Edits, StringRole, signed};
use crate::deep::{is_sealed, may_contain_nested};
use crate::document::{Document, Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node};
use crate::error::{Error, ErrorKind};
use crate::format::{Format, Request, Settings};
use crate::hash::SeededMap;
use crate::limits::Limits;

/// A string on the tape that becomes another one.
struct StringChange {
    node: u32,
    target: ChangeTarget,
    new_bytes: Vec<u8>,
}

enum ChangeTarget {
    /// The node itself.
    Node,
    /// The key with this id, wherever it occurs.
    Key(u16),
    /// The class with this id.
    Class(u32),
}

/// Returns the changes of a document.
pub(super) fn edit_through_tape(
    rewriter: &mut StringRewriter<'_>,
    format: &'static Format,
    settings: &Settings,
    bytes: &[u8],
    limits: &Limits,
    level: u32,
) -> Result<Edits, Error> {
    let outcome = format.read(bytes, settings, Request::new(limits).detailed());
    let body = outcome.document.input().len().saturating_sub(bytes.len()) as u64;
    let spent = outcome.error.as_ref().map_or(0, Error::decompressed_bytes);
    rewriter.limits.decompressed = rewriter.limits.decompressed.saturating_sub(spent + body);
    let consumed = outcome.consumed;
    let rest = bytes.get(consumed..).unwrap_or_default();
    let bytes = if format.ends_with_blanks(rest) { bytes.get(..consumed).unwrap_or(bytes) } else { bytes };
    let mut document = outcome.into_whole_document(bytes, format)?;
    let tally = rewriter.tally.clone();
    rewriter.change.begin_trial();
    let changed = collect_changes(rewriter, &document, level);
    let edits = match changed.is_empty() {
        true => Ok(Edits::new()),
        false => write_changed(format, settings, bytes, limits, &mut document, &changed),
    };
    rewriter.change.end_trial(edits.is_ok());
    if edits.is_err() {
        *rewriter.tally = tally;
    }
    edits
}

/// Returns the changes of a document with these changed strings.
fn write_changed(
    format: &'static Format,
    settings: &Settings,
    bytes: &[u8],
    limits: &Limits,
    document: &mut Document<'_>,
    changed: &[StringChange],
) -> Result<Edits, Error> {
    let write = |document: &Document<'_>| {
        let mut out = Vec::new();
        format.write(document, settings, limits, &mut out).map(|_| out)
    };
    // Other compressors write other bytes for the same content. Any other document must be written with the same
    // bytes, so that only the changed strings differ afterwards.
    let is_compressed = document.trace().is_some_and(|trace| trace.layer.is_some());
    if !is_compressed && write(document)? != bytes {
        return Err(not_reproducible_error());
    }
    apply_changes(document, changed)?;
    let reads_back = |new_bytes: &[u8], document: &Document<'_>| {
        let read = format.read(new_bytes, settings, Request::new(limits));
        read.error.is_none() && read.consumed == new_bytes.len() && read.document == *document
    };
    let new_bytes = write(document)?;
    if reads_back(&new_bytes, document) {
        return Ok(Edits::between(bytes, &new_bytes));
    }
    drop_changed_spelling(document, changed);
    let new_bytes = write(document)?;
    if reads_back(&new_bytes, document) { Ok(Edits::between(bytes, &new_bytes)) } else { Err(not_reproducible_error()) }
}

#[cold]
fn not_reproducible_error() -> Error {
    Error::new(ErrorKind::Unsupported)
        .expecting("data that can be written again with every byte kept")
        .finding("a form that only its own writer knows")
}

/// Returns the changed strings on the tape.
fn collect_changes(rewriter: &mut StringRewriter<'_>, document: &Document<'_>, level: u32) -> Vec<StringChange> {
    let tape = document.tape();
    let mut changed = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let (mut keys, mut classes) = (SeededMap::<u16, ()>::default(), SeededMap::<u32, ()>::default());
    let mut sealed = 0;
    let signed = signed::find_signed_nodes(document);
    // Each name is in a table once, so kept names are counted there. A key outside of the table is a node.
    for (names, role) in [(tape.keys(), StringRole::Key), (tape.classes(), StringRole::Class)] {
        for name in names.iter().filter(|name| name.node.kind.has_bytes()) {
            rewriter.count_kept_name(name.bytes, role);
        }
    }
    for (index, node) in (0u32..).zip(document.nodes()) {
        while open.pop_if(|container| tape.index_after(*container) <= index).is_some() {}
        if rewriter.options.keys
            && !matches!(node.key, NO_KEY | KEY_NODE | IS_KEY)
            && keys.insert(node.key, ()).is_none()
        {
            let name = tape.keys().get(u32::from(node.key)).filter(|name| name.node.kind.has_bytes());
            let new = name.and_then(|name| change_name(rewriter, name.bytes, StringRole::Key));
            changed.extend(new.map(|new| StringChange {
                node: index,
                target: ChangeTarget::Key(node.key),
                new_bytes: new,
            }));
        }
        if rewriter.options.classes && may_have_class(node) && classes.insert(node.class(), ()).is_none() {
            let new =
                document.class_name(node.class()).and_then(|name| change_name(rewriter, name.bytes, StringRole::Class));
            changed.extend(new.map(|new| StringChange {
                node: index,
                target: ChangeTarget::Class(node.class()),
                new_bytes: new,
            }));
        }
        if node.key == IS_KEY && node.kind.is_string() {
            if rewriter.options.keys {
                let new = change_name(rewriter, document.bytes(node), StringRole::Key);
                changed.extend(new.map(|new| StringChange { node: index, target: ChangeTarget::Node, new_bytes: new }));
            } else {
                rewriter.count_kept_name(document.bytes(node), StringRole::Key);
            }
        }
        if is_sealed(document, index, node) {
            sealed = sealed.max(tape.index_after(index));
        }
        let parent = open.last().and_then(|container| tape.nodes().get(*container as usize));
        let is_string = node.key != IS_KEY && matches!(node.kind, Kind::Bytes | Kind::Text | Kind::Encoded);
        if is_string && signed.binary_search(&index).is_ok() {
            let would_change = rewriter.would_change(document.bytes(node), level);
            rewriter.tally.signed += u64::from(would_change);
        } else if index >= sealed && is_string {
            let new = change_string(rewriter, document, node, parent, level);
            changed.extend(new.map(|new| StringChange { node: index, target: ChangeTarget::Node, new_bytes: new }));
        }
        if node.kind.is_container() {
            open.push(index);
        }
    }
    changed
}

/// Returns the new content of a string.
fn change_string(
    rewriter: &mut StringRewriter<'_>,
    document: &Document<'_>,
    node: &Node,
    parent: Option<&Node>,
    level: u32,
) -> Option<Vec<u8>> {
    let bytes = document.bytes(node);
    if !rewriter.may_contain_change(bytes) {
        return None;
    }
    let is_frozen_by_class = parent.is_some_and(|parent| parent.kind == Kind::Opaque);
    let edits = if !may_contain_nested(parent) || is_frozen_by_class {
        // Only the class knows what its payload means, so the payload is changed only if it is itself frozen data.
        let is_payload = parent.is_some_and(|parent| matches!(parent.form(), Form::Serializable | Form::UserDump));
        match rewriter.probe_text(bytes, level + 1) {
            ProbeResult::Frozen(edits) if is_payload => edits,
            _ => {
                let has_match = rewriter.has_match(bytes);
                rewriter.tally.opaque += u64::from(has_match);
                return None;
            }
        }
    } else {
        rewriter.change_value(bytes, level + 1)
    };
    if edits.is_empty() {
        return None;
    }
    let new = edits.apply(bytes);
    if node.kind == Kind::Text && std::str::from_utf8(bytes).is_ok() && std::str::from_utf8(&new).is_err() {
        rewriter.tally.unrepresentable += 1;
        return None;
    }
    Some(new)
}

fn change_name(rewriter: &mut StringRewriter<'_>, name: &[u8], role: StringRole) -> Option<Vec<u8>> {
    let edits = rewriter.change_plain_text(name, role);
    (!edits.is_empty()).then(|| edits.apply(name))
}

fn apply_changes(document: &mut Document<'_>, changed: &[StringChange]) -> Result<(), Error> {
    let (mut keys, mut classes) = (SeededMap::<u16, u16>::default(), SeededMap::<u32, u32>::default());
    for StringChange { node: index, target: change_target, new_bytes: new } in changed {
        match *change_target {
            ChangeTarget::Node => {
                let old = document.node(*index);
                let tape = document.tape_mut();
                let mut node = tape.new_owned_string(old.kind, new).in_form(old.form());
                (node.key, node.flags) = (old.key, old.flags);
                node.set_encoding(old.encoding());
                tape.replace_node(*index, node);
            }
            ChangeTarget::Key(id) => {
                let Some(name) = document.tape().keys().get(u32::from(id)).map(|name| name.node) else { continue };
                let mut key = Node::leaf(name.kind, 0).with(name.flags);
                key.set_encoding(name.encoding());
                keys.insert(id, document.tape_mut().intern_key(key, new).ok_or_else(not_reproducible_error)?);
            }
            ChangeTarget::Class(id) => {
                let Some(kind) = document.class_name(id).map(|name| name.node.kind) else { continue };
                classes.insert(id, document.tape_mut().intern_class(kind, new)?);
            }
        }
    }
    if keys.is_empty() && classes.is_empty() {
        return Ok(());
    }
    let tape = document.tape_mut();
    for index in 0..tape.len() {
        let node = tape.node(index);
        if let Some(new) = keys.get(&node.key) {
            tape.set_key(index, *new);
        }
        if may_have_class(&node)
            && let Some(new) = classes.get(&node.class())
        {
            tape.set_class(index, *new);
        }
    }
    Ok(())
}

fn may_have_class(node: &Node) -> bool {
    matches!(node.kind, Kind::Object | Kind::Opaque | Kind::Attrs)
}

/// Drops the spelling of the changed strings.
fn drop_changed_spelling(document: &mut Document<'_>, changed: &[StringChange]) {
    let ordinals = crate::document::Ordinals::from_tape(document.tape());
    let Some(mut spelling) = document.spelling().cloned() else { return };
    let mut gone: Vec<u32> = changed.iter().map(|changed| ordinals.node_to_ordinal(changed.node)).collect();
    gone.sort_unstable();
    spelling.notes.retain(|note| gone.binary_search(&note.ordinal).is_err());
    document.set_spelling(spelling);
}
