//! Object numbers. A back-reference, the tag `OBJECT`, refers to a value by its number.

use crate::document::Form;
use crate::document::{IS_KEY, Kind, Node, Tape, flag};

/// A value with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberedValue {
    /// The variable at this node: a scalar, or the reference that the node's `REF` flag
    /// represents.
    Variable(u32),
    /// The array, hash, code… itself at this node.
    Referent(u32),
    /// A key that is a scalar, which a document can't refer to.
    Key,
}

const REFERENT: u64 = 1 << 32;
const KEY: u64 = 1 << 33;

/// The numbers assigned so far.
///
/// Most documents do not have a back-reference. So the table is built from the tape only at the first back-reference,
/// or before a record whose numbers do not follow from the tape.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Each with the flags `REFERENT` and `KEY`.
    encoded_values: Vec<u64>,
    is_built: bool,
}

impl Numbers {
    /// Assigns the next number, if the table is built. Before this, it does nothing, because the numbers follow from
    /// the tape.
    #[inline]
    pub(super) fn assign_next(&mut self, value: NumberedValue) {
        if self.is_built {
            self.encoded_values.push(match value {
                NumberedValue::Variable(index) => u64::from(index),
                NumberedValue::Referent(index) => u64::from(index) | REFERENT,
                NumberedValue::Key => KEY,
            });
        }
    }

    /// Returns the value with this number.
    pub(super) fn get(&self, number: u64) -> Option<NumberedValue> {
        let entry = *self.encoded_values.get(usize::try_from(number).ok()?)?;
        let node = entry as u32;
        Some(match entry {
            KEY.. => NumberedValue::Key,
            REFERENT.. => NumberedValue::Referent(node),
            _ => NumberedValue::Variable(node),
        })
    }

    /// Returns how many numbers were assigned, once the table is built.
    pub(super) fn len(&self) -> usize {
        self.encoded_values.len()
    }

    /// Returns `true` if the table is built.
    #[inline]
    pub(super) fn is_built(&self) -> bool {
        self.is_built
    }

    /// Builds the table from the tape. The root is a referent itself.
    pub(super) fn build(&mut self, tape: &Tape) {
        if self.is_built {
            return;
        }
        self.is_built = true;
        // Wrappers of a value that have no number.
        let mut object = None;
        let mut synthetic_ref = true;
        let mut inside_regexp = 0;
        for (index, node) in (0u32..).zip(tape.nodes()) {
            if node.key == IS_KEY || index < inside_regexp {
                continue;
            }
            if node.kind == Kind::Regexp {
                inside_regexp = node.end();
            }
            self.assign_node_numbers(index, node, &mut object, synthetic_ref);
            synthetic_ref = node.kind == Kind::Object && node.form() == Form::Usual;
        }
    }

    /// Assigns the numbers of one node. `object` is the object that the previous node
    /// opened. With `is_synthetic`, a `Ref` here only means that the object is reached by
    /// reference.
    fn assign_node_numbers(&mut self, index: u32, node: &Node, object: &mut Option<u32>, is_synthetic: bool) {
        let around = object.take();
        // The root's reference is implied and has no number.
        if node.has(flag::REF) && index > 0 {
            self.assign_next(NumberedValue::Variable(index));
        }
        match node.kind {
            Kind::Object => *object = Some(index),
            Kind::Ref if is_synthetic => {}
            Kind::Ref if node.has(flag::REF) => {}
            Kind::Link | Kind::Alias => {}
            Kind::Array | Kind::Map => self.assign_next(NumberedValue::Referent(around.unwrap_or(index))),
            Kind::Regexp if !node.has(flag::BARE) => self.assign_next(NumberedValue::Referent(around.unwrap_or(index))),
            _ => self.assign_next(NumberedValue::Variable(index)),
        }
    }
}
