//! Containers: made of a document when they are first looked into, shared until they are changed.

use super::{Origin, Value};
use crate::memory::{Charge, PIECE};
use crate::room::{self, Stop};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// What a container holds.
pub trait Contents: Clone + Default {
    /// What stands there in a document.
    fn of(origin: &Origin) -> Self;

    /// How many bytes it takes beside itself.
    fn size(&self) -> usize;

    /// The depth of the deepest value in it.
    fn depth(&self) -> u32;

    /// Takes out the containers in it.
    fn take_deep(&mut self, into: &mut Vec<Value>);
}

/// What a container takes beside itself and what it holds.
const OWN: usize = PIECE;

/// A container.
#[derive(Debug)]
pub struct Held<T: Contents> {
    contents: OnceCell<T>,
    origin: Option<Origin>,
    is_changed: bool,
    /// How deep values are in it, at most; those of a document are not counted.
    depth: Cell<u32>,
    /// Its memory.
    charge: Charge,
}

/// How deep values may be in values that a filter makes, and how often in a row it may look for something in null or
/// take a part of a part. A path is as long as that, and the language takes paths apart by recursion.
pub const DEEPEST: u32 = 1 << 17;

/// One level deeper. Stops the filter where that is too deep.
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
    /// One that a filter made.
    pub fn new(contents: T) -> Held<T> {
        let depth = Cell::new(below(contents.depth()));
        let contents = OnceCell::from(contents);
        let held = Held { contents, origin: None, is_changed: true, depth, charge: Charge::default() };
        held.charge.set(held.size());
        held
    }

    /// One of a document.
    pub fn of(origin: Origin) -> Held<T> {
        let charge = Charge::new(OWN + size_of::<Self>());
        Held { contents: OnceCell::new(), origin: Some(origin), is_changed: false, depth: Cell::new(0), charge }
    }

    /// The bytes that it takes.
    fn size(&self) -> usize {
        OWN + size_of::<Self>() + self.contents.get().map_or(0, T::size)
    }

    /// What it holds.
    pub fn get(&self) -> &T {
        if self.contents.get().is_none() {
            let contents = self.origin.as_ref().map_or_else(T::default, T::of);
            self.charge.set(OWN + size_of::<Self>() + contents.size());
            return self.contents.get_or_init(|| contents);
        }
        self.contents.get_or_init(T::default)
    }

    /// How deep values are in it, at most.
    pub fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// Something so deep came in.
    pub fn deepen(&self, depth: u32) {
        if depth >= self.depth.get() {
            self.depth.set(below(depth));
        }
    }

    /// Where it stands in a document, or stood before it was changed.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Whether it is as it stands in its document.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Where it stands, if nobody looked into it.
    pub fn untouched(&self) -> Option<&Origin> {
        self.origin.as_ref().filter(|_| self.contents.get().is_none())
    }

    /// The same container with other contents, which are made of those it has: its class stays.
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

    /// What it holds, as a value of its own.
    pub fn into_contents(mut held: Rc<Held<T>>) -> T {
        match Rc::get_mut(&mut held).and_then(|held| held.contents.take()) {
            Some(contents) => contents,
            None => held.get().clone(),
        }
    }
}

/// Containers in containers are dropped one after the other: their depth costs no stack.
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

/// Takes the containers out of one that nobody else has.
fn take<T: Contents>(held: &mut Rc<Held<T>>, pending: &mut Vec<Value>) {
    if let Some(contents) = Rc::get_mut(held).and_then(|held| held.contents.get_mut()) {
        contents.take_deep(pending);
    }
}
