//! Finds the value at a node in perl's terms: a scalar that has a value of its own, or a reference.

use crate::document::{Document, Form, Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::output::LossKind;

/// Identity of a value for `seen`: its node, as a variable or as the target of a
/// reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ValueId {
    Variable(u32),
    Container(u32),
}

/// Type of a reference's target, in Perl's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferentType {
    Array,
    Hash,
    Code,
    Regexp,
    /// A scalar variable.
    Scalar,
    Glob,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Referent {
    /// Its node; for a scalar, the content of the variable.
    pub(super) node: u32,
    pub(super) kind: ReferentType,
    pub(super) id: ValueId,
    /// The node of the object, if it is blessed.
    pub(super) object: Option<u32>,
    /// Whether a link or an alias may refer to it.
    pub(super) is_target: bool,
    /// Whether it was reached through one.
    pub(super) is_again: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub(super) node: u32,
    /// Whether a link or an alias may refer to it.
    pub(super) is_target: bool,
    /// Whether it was reached through one.
    pub(super) is_again: bool,
    /// Whether it is a link that Perl does not have: another variable with the same
    /// value.
    pub(super) is_copy: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum VariableContent {
    Leaf(Leaf),
    Reference(Referent),
}

/// Follows links, aliases and wrappers.
pub(super) struct ReferenceResolver<'d, L> {
    document: &'d Document<'d>,
    report_loss: L,
    /// Number of remaining steps. It is limited, because the links of a document that a caller built can form a
    /// circle.
    remaining: u32,
    is_target: bool,
    is_again: bool,
}

impl<'d, L: FnMut(LossKind, u32)> ReferenceResolver<'d, L> {
    /// Creates a resolver. `max_steps` is the maximum length of a chain; `report_loss` is called for losses.
    pub(super) fn new(document: &'d Document<'d>, max_steps: u32, report_loss: L) -> ReferenceResolver<'d, L> {
        ReferenceResolver { document, report_loss, remaining: max_steps, is_target: false, is_again: false }
    }

    fn visit_node(&mut self, index: u32) -> Result<Node, Error> {
        self.remaining = self.remaining.checked_sub(1).ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .on_path(self.document.path(index))
                .finding("links that form a circle, or too many wrappers")
        })?;
        let node = node_at(self.document, index);
        self.is_target |= node.has(flag::TARGET);
        Ok(node)
    }

    /// Returns the content of the variable at `index`.
    pub(super) fn resolve_variable(&mut self, mut index: u32) -> Result<VariableContent, Error> {
        loop {
            let node = self.visit_node(index)?;
            let is_variable = node.kind == Kind::Object && node.form() == Form::Variable;
            match node.kind {
                Kind::Alias => index = self.follow_link(&node),
                Kind::Attrs => index = self.skip_wrapper(LossKind::Attributes, index),
                Kind::Object if is_variable => index = self.skip_wrapper(LossKind::Class, index),
                Kind::Link => {
                    self.record_lost_flags(index, &node);
                    let target = self.follow_link(&node);
                    let named = node_at(self.document, target);
                    if !named.kind.is_container() && !named.kind.is_again() {
                        (self.report_loss)(LossKind::Sharing, index);
                        return Ok(self.leaf_content(target, true));
                    }
                    return self.resolve_referent(enclosing_object(self.document, target));
                }
                Kind::Tied if !is_reference(&node) => index = self.skip_wrapper(LossKind::Tied, index),
                _ if is_reference(&node) => return self.resolve_referent(index),
                _ => return Ok(self.leaf_content(index, false)),
            }
        }
    }

    /// Returns what a reference to the value at `index` refers to.
    fn resolve_referent(&mut self, mut index: u32) -> Result<VariableContent, Error> {
        let mut object = None;
        loop {
            let node = self.visit_node(index)?;
            self.record_lost_flags(index, &node);
            let kind = match node.kind {
                Kind::Link => {
                    index = self.follow_link(&node);
                    index = enclosing_object(self.document, index);
                    continue;
                }
                Kind::Attrs => {
                    index = self.skip_wrapper(LossKind::Attributes, index);
                    continue;
                }
                Kind::Object | Kind::Opaque if object.is_none() && !is_blessed_variable(&node) => {
                    if node.kind == Kind::Opaque {
                        (self.report_loss)(LossKind::Opaque, index);
                    } else if node.form() == Form::Struct {
                        (self.report_loss)(LossKind::Struct, index);
                    }
                    object = Some(index);
                    index += 1;
                    let body = node_at(self.document, index);
                    // The body of this object is another object or a link. In Perl, only a blessed scalar that refers
                    // to it has this form.
                    if matches!(body.kind, Kind::Object | Kind::Opaque | Kind::Link) {
                        return self.resolve_scalar(index, object);
                    }
                    continue;
                }
                Kind::Tied if is_reference(&node) => {
                    index = self.skip_wrapper(LossKind::Tied, index);
                    return self.resolve_variable(index);
                }
                Kind::Ref => return self.resolve_scalar(index + 1, object),
                Kind::Array => ReferentType::Array,
                Kind::Map => ReferentType::Hash,
                Kind::Code => ReferentType::Code,
                Kind::Regexp if !node.has(flag::BARE) => ReferentType::Regexp,
                _ => return self.resolve_scalar(index, object),
            };
            return Ok(self.reference_content(index, kind, ValueId::Container(index), object));
        }
    }

    /// Returns the variable at `index`, which is the target of a reference.
    fn resolve_scalar(&mut self, mut index: u32, mut object: Option<u32>) -> Result<VariableContent, Error> {
        loop {
            let node = self.visit_node(index)?;
            match node.kind {
                Kind::Alias => {
                    index = self.follow_link(&node);
                    object = object.or_else(|| blessing_object(self.document, index));
                }
                Kind::Attrs => index = self.skip_wrapper(LossKind::Attributes, index),
                Kind::Object if is_blessed_variable(&node) => {
                    object = object.or(Some(index));
                    index += 1;
                }
                _ => {
                    let is_glob = node.kind == Kind::Module && node.form() == Form::Variable;
                    let kind = if is_glob { ReferentType::Glob } else { ReferentType::Scalar };
                    return Ok(self.reference_content(index, kind, ValueId::Variable(index), object));
                }
            }
        }
    }

    fn reference_content(&self, node: u32, kind: ReferentType, id: ValueId, object: Option<u32>) -> VariableContent {
        let ReferenceResolver { is_target, is_again, .. } = *self;
        VariableContent::Reference(Referent { node, kind, id, object, is_target, is_again })
    }

    fn leaf_content(&self, node: u32, is_copy: bool) -> VariableContent {
        VariableContent::Leaf(Leaf { node, is_target: self.is_target, is_again: self.is_again, is_copy })
    }

    fn follow_link(&mut self, node: &Node) -> u32 {
        self.is_again = true;
        u32::try_from(node.payload).unwrap_or(u32::MAX)
    }

    fn skip_wrapper(&mut self, loss: LossKind, index: u32) -> u32 {
        (self.report_loss)(loss, index);
        index + 1
    }

    /// Reports flags that the text can't represent.
    fn record_lost_flags(&mut self, index: u32, node: &Node) {
        if node.has(flag::WEAK) {
            (self.report_loss)(LossKind::Weak, index);
        }
        if node.has(flag::OVERLOAD) {
            (self.report_loss)(LossKind::Overload, index);
        }
        if node.kind == Kind::Map {
            if node.has(flag::RESTRICTED) {
                (self.report_loss)(LossKind::Restricted, index);
            }
            if node.flags & (flag::IDENTITY | flag::DEFAULT) != 0 {
                (self.report_loss)(LossKind::MapKind, index);
            }
        }
    }
}

fn node_at(document: &Document<'_>, index: u32) -> Node {
    document.node(index)
}

/// Returns `true` if a variable contains this only by reference.
pub(super) fn is_reference(node: &Node) -> bool {
    match node.kind {
        Kind::Array | Kind::Map | Kind::Ref | Kind::Opaque | Kind::Code => true,
        Kind::Object => !is_blessed_variable(node),
        Kind::Regexp => !node.has(flag::BARE),
        Kind::Tied => matches!(node.form(), Form::TiedArray | Form::TiedHash),
        _ => false,
    }
}

fn is_blessed_variable(node: &Node) -> bool {
    node.kind == Kind::Object && node.form() == Form::Variable
}

/// Returns the object whose body is at `index`, otherwise `index`.
fn enclosing_object(document: &Document<'_>, index: u32) -> u32 {
    let is_body = matches!(
        node_at(document, index).kind,
        Kind::Array | Kind::Map | Kind::Ref | Kind::Code | Kind::Regexp | Kind::Tied | Kind::Attrs
    );
    let preceding = index.saturating_sub(1);
    let node = node_at(document, preceding);
    let is_object = node.kind == Kind::Object && !is_blessed_variable(&node) && node.end() > index;
    if is_body && index > preceding && is_object { preceding } else { index }
}

/// Returns the object that the variable at `index` is.
fn blessing_object(document: &Document<'_>, index: u32) -> Option<u32> {
    let preceding = index.checked_sub(1)?;
    let node = node_at(document, preceding);
    if is_blessed_variable(&node) {
        return Some(preceding);
    }
    let object = preceding.checked_sub(1).filter(|_| node.kind == Kind::Ref && node.end() > index)?;
    let node = node_at(document, object);
    (node.kind == Kind::Object && !is_blessed_variable(&node)).then_some(object)
}
