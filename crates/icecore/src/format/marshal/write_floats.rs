//! Finds equal floats of a document.
//!
//! Ruby stores most floats in the reference itself, so equal floats are one object and
//! are written once. A short loop looks all of them up before the first is written: its
//! lookups are independent, so the processor can wait for many of them at the same time.
//! Between two writes it would wait for each.

use super::number::{is_immediate, narrow_float128};
use crate::document::{Document, Kind, Node};
use crate::hash::SeededState;
use std::hash::BuildHasher;

#[derive(Debug, Default)]
pub(super) struct FloatNumbers {
    is_filled: bool,
    /// The nodes of floats that Ruby stores in the reference.
    nodes: Vec<u32>,
    /// For each of them, the index in this list of the first equal one.
    first_equal: Vec<u32>,
    /// For each of those, its object number, plus one.
    numbers: Vec<u32>,
    /// The index of the float that is probably next.
    predicted: usize,
}

/// Returns the bits that a float is written from.
fn immediate_bits(document: &Document<'_>, node: &Node) -> Option<u64> {
    let bits = match node.kind {
        Kind::Float => node.payload,
        Kind::Float32 => f64::from(f32::from_bits(node.payload as u32)).to_bits(),
        Kind::Float128 => narrow_float128(document.bytes(node)).0.to_bits(),
        _ => return None,
    };
    is_immediate(bits).then_some(bits)
}

impl FloatNumbers {
    /// Returns the object number of the float at `node`, plus one, to read and to set;
    /// `None` if it is not one of these.
    #[inline]
    pub(super) fn number_slot(&mut self, document: &Document<'_>, node: u32) -> Option<&mut u32> {
        if !self.is_filled {
            self.index_floats(document);
        }
        if self.nodes.get(self.predicted) != Some(&node) {
            self.predicted = self.nodes.binary_search(&node).ok()?;
        }
        let first = *self.first_equal.get(self.predicted)?;
        self.predicted += 1;
        self.numbers.get_mut(first as usize)
    }

    #[cold]
    fn index_floats(&mut self, document: &Document<'_>) {
        self.is_filled = true;
        let mut values = Vec::new();
        for (index, node) in (0u32..).zip(document.nodes()) {
            if let Some(bits) = immediate_bits(document, node) {
                self.nodes.push(index);
                values.push(bits);
            }
        }
        self.numbers.resize(values.len(), 0);
        // A slot contains the upper half of a hash, and the position plus one.
        let mut places = vec![0u64; (2 * values.len()).next_power_of_two()];
        let (seeded, mask) = (SeededState::default(), places.len() - 1);
        for (position, value) in (0u32..).zip(&values) {
            let hash = seeded.hash_one(*value);
            let mut slot = hash as usize & mask;
            let first = loop {
                let place = places[slot];
                if place == 0 {
                    places[slot] = hash & !0xFFFF_FFFF | u64::from(position + 1);
                    break position;
                }
                let known = place as u32 - 1;
                if (place ^ hash) >> 32 == 0 && values[known as usize] == *value {
                    break known;
                }
                slot = (slot + 1) & mask;
            };
            self.first_equal.push(first);
        }
    }
}
