//! Containers: created from a document when they are first accessed, and shared until they are changed.

use super::{Origin, Value};
use crate::memory::{Charge, PIECE};
use crate::room::{self, Stop};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// The contents of a container.
pub trait Contents: Clone + Default {
    /// Creates the contents from a container of a document.
    fn of(origin: &Origin) -> Self;

    /// Returns the memory in bytes in addition to the value itself.
    fn size(&self) -> usize;

    /// Returns the depth of the deepest value in it.
    fn depth(&self) -> u32;

    /// Moves the containers in it out of it.
    fn take_deep(&mut self, into: &mut Vec<Value>);
}

/// Memory of a container in addition to itself and its contents.
const OWN: usize = PIECE;

/// A container.
#[derive(Debug)]
pub struct Held<T: Contents> {
    contents: OnceCell<T>,
    origin: Option<Origin>,
    is_changed: bool,
    /// Maximum depth of the values in it; values of a document are not counted.
    depth: Cell<u32>,
    /// Counts its memory.
    charge: Charge,
}

/// Maximum depth of values that a filter makes, and maximum number of consecutive lookups in null or parts of parts.
/// This also limits the length of a path, and the language drops paths recursively.
pub const DEEPEST: u32 = 1 << 17;

/// Returns the next depth. Stops the filter if that is too deep.
pub fn below(depth: u32) -> u32 {
    if depth >= DEEPEST {
        room::stop(Stop::Depth);
    }
    depth + 1
}

impl<T: Contents> Clone for Held<T> {
    fn clone(&self) -> Held<T> {
        let charge = Charge::new(self.size());
        Held {
            contents: self.contents.clone(),
            origin: self.origin.clone(),
            is_changed: self.is_changed,
            depth: self.depth.clone(),
            charge,
        }
    }
}

impl<T: Contents> Held<T> {
    /// A container that a filter made.
    pub fn new(contents: T) -> Held<T> {
        let depth = Cell::new(below(contents.depth()));
        let contents = OnceCell::from(contents);
        let held = Held { contents, origin: None, is_changed: true, depth, charge: Charge::default() };
        held.charge.set(held.size());
        held
    }

    /// A container of a document.
    pub fn of(origin: Origin) -> Held<T> {
        let charge = Charge::new(OWN + size_of::<Self>());
        Held { contents: OnceCell::new(), origin: Some(origin), is_changed: false, depth: Cell::new(0), charge }
    }

    /// Returns its memory in bytes.
    fn size(&self) -> usize {
        OWN + size_of::<Self>() + self.contents.get().map_or(0, T::size)
    }

    /// Returns the contents.
    pub fn get(&self) -> &T {
        if self.contents.get().is_none() {
            let contents = self.origin.as_ref().map_or_else(T::default, T::of);
            self.charge.set(OWN + size_of::<Self>() + contents.size());
            return self.contents.get_or_init(|| contents);
        }
        self.contents.get_or_init(T::default)
    }

    /// Returns the maximum depth of the values in it.
    pub fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// Records that a value of this depth was added.
    pub fn deepen(&self, depth: u32) {
        if depth >= self.depth.get() {
            self.depth.set(below(depth));
        }
    }

    /// Returns its origin in a document, even after a change.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Whether it differs from its document.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns its origin if its contents were never accessed.
    pub fn untouched(&self) -> Option<&Origin> {
        self.origin.as_ref().filter(|_| self.contents.get().is_none())
    }

    /// Changes the contents of a container; its class stays.
    pub fn change<R>(held: &mut Rc<Held<T>>, change: impl FnOnce(&mut T) -> R) -> R {
        held.get();
        let held = Rc::make_mut(held);
        held.is_changed = true;
        let mut contents = held.contents.take().unwrap_or_default();
        let result = change(&mut contents);
        held.contents = OnceCell::from(contents);
        held.charge.set(held.size());
        result
    }

    /// Returns the contents as an owned value.
    pub fn into_contents(mut held: Rc<Held<T>>) -> T {
        match Rc::get_mut(&mut held).and_then(|held| held.contents.take()) {
            Some(contents) => contents,
            None => held.get().clone(),
        }
    }
}

/// Nested containers are dropped iteratively, so that their depth needs no stack.
impl<T: Contents> Drop for Held<T> {
    fn drop(&mut self) {
        let mut pending = Vec::new();
        if let Some(contents) = self.contents.get_mut() {
            contents.take_deep(&mut pending);
        }
        while let Some(value) = pending.pop() {
            match value {
                Value::List(mut list) => take(&mut list, &mut pending),
                Value::Map(mut map) => take(&mut map, &mut pending),
                Value::Odd(mut odd) => pending.extend(Rc::get_mut(&mut odd).map(|odd| std::mem::take(&mut odd.plain))),
                _ => {}
            }
        }
    }
}

/// Moves the containers out of one that is not shared.
fn take<T: Contents>(held: &mut Rc<Held<T>>, pending: &mut Vec<Value>) {
    if let Some(contents) = Rc::get_mut(held).and_then(|held| held.contents.get_mut()) {
        contents.take_deep(pending);
    }
}
