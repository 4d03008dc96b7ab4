//! Containers. The contents are created from a document when they are first accessed. A container is shared until it
//! is changed.

use super::{Origin, Value};
use crate::memory::{ALLOCATION_OVERHEAD, Charge};
use crate::query_thread::{self, Stop};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// The contents of a container.
pub trait Contents: Clone + Default {
    /// Creates the contents from a container of a document.
    fn from_origin(origin: &Origin) -> Self;

    /// Returns the number of bytes that the contents allocate, in addition to the size of `Self`.
    fn size(&self) -> usize;

    /// Returns the depth of the deepest value in the contents.
    fn max_depth(&self) -> u32;

    /// Moves the containers out of the contents, and leaves null in their places.
    fn take_containers(&mut self, out: &mut Vec<Value>);
}

/// Memory of a container in addition to itself and its contents.
const CONTAINER_OVERHEAD: usize = ALLOCATION_OVERHEAD;

/// A container.
#[derive(Debug)]
pub struct LazyContainer<T: Contents> {
    contents: OnceCell<T>,
    origin: Option<Origin>,
    is_changed: bool,
    /// Maximum depth of the values in the container. Values of a document are not counted.
    depth: Cell<u32>,
    /// Counts the memory of the container.
    charge: Charge,
}

/// Maximum depth of values that a filter makes. It is also the maximum number of consecutive lookups in null, and of
/// slices of slices. So it limits the length of a path too. jaq drops a path recursively, and the stack of a query
/// thread is large enough for a path of this length.
pub const MAX_DEPTH: u32 = 1 << 17;

/// Returns the depth of a value that contains a value of this depth. Stops the filter if it is too deep.
pub fn next_depth(depth: u32) -> u32 {
    if depth >= MAX_DEPTH {
        query_thread::stop_filter(Stop::Depth);
    }
    depth + 1
}

impl<T: Contents> Clone for LazyContainer<T> {
    fn clone(&self) -> LazyContainer<T> {
        let charge = Charge::new(self.size());
        LazyContainer {
            contents: self.contents.clone(),
            origin: self.origin.clone(),
            is_changed: self.is_changed,
            depth: self.depth.clone(),
            charge,
        }
    }
}

impl<T: Contents> LazyContainer<T> {
    /// Creates a container that a filter made.
    pub fn new(contents: T) -> LazyContainer<T> {
        let depth = Cell::new(next_depth(contents.max_depth()));
        let contents = OnceCell::from(contents);
        let container = LazyContainer { contents, origin: None, is_changed: true, depth, charge: Charge::default() };
        container.charge.set(container.size());
        container
    }

    /// Creates a container of a document.
    pub fn from_origin(origin: Origin) -> LazyContainer<T> {
        let charge = Charge::new(CONTAINER_OVERHEAD + size_of::<Self>());
        LazyContainer {
            contents: OnceCell::new(),
            origin: Some(origin),
            is_changed: false,
            depth: Cell::new(0),
            charge,
        }
    }

    /// Returns the memory of the container in bytes.
    fn size(&self) -> usize {
        CONTAINER_OVERHEAD + size_of::<Self>() + self.contents.get().map_or(0, T::size)
    }

    /// Returns the contents.
    pub fn get(&self) -> &T {
        if self.contents.get().is_none() {
            let contents = self.origin.as_ref().map_or_else(T::default, T::from_origin);
            self.charge.set(CONTAINER_OVERHEAD + size_of::<Self>() + contents.size());
            return self.contents.get_or_init(|| contents);
        }
        self.contents.get_or_init(T::default)
    }

    /// Returns the maximum depth of the values in the container.
    pub fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// Records that a value of this depth was added.
    pub fn raise_depth(&self, depth: u32) {
        if depth >= self.depth.get() {
            self.depth.set(next_depth(depth));
        }
    }

    /// Returns the origin of the container in a document, even after a change.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Returns true if a filter has made or changed the container.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns the origin if the contents were never accessed. The caller can then use the document directly.
    pub fn unread_origin(&self) -> Option<&Origin> {
        self.origin.as_ref().filter(|_| self.contents.get().is_none())
    }

    /// Changes the contents of a container. Its class stays. If the container is shared, a copy is changed.
    pub fn change_contents<R>(container: &mut Rc<LazyContainer<T>>, change: impl FnOnce(&mut T) -> R) -> R {
        // The contents are created before a possible copy, so that both containers have them.
        container.get();
        let inner = Rc::make_mut(container);
        inner.is_changed = true;
        let mut contents = inner.contents.take().unwrap_or_default();
        let result = change(&mut contents);
        inner.contents = OnceCell::from(contents);
        inner.charge.set(inner.size());
        result
    }

    /// Returns the contents as an owned value.
    pub fn into_contents(mut container: Rc<LazyContainer<T>>) -> T {
        match Rc::get_mut(&mut container).and_then(|inner| inner.contents.take()) {
            Some(contents) => contents,
            None => container.get().clone(),
        }
    }
}

/// Nested containers are dropped by a loop and not by recursion, so that a deep value does not exhaust the stack.
impl<T: Contents> Drop for LazyContainer<T> {
    fn drop(&mut self) {
        let mut pending = Vec::new();
        if let Some(contents) = self.contents.get_mut() {
            contents.take_containers(&mut pending);
        }
        while let Some(value) = pending.pop() {
            match value {
                Value::List(mut list) => take_inner_containers(&mut list, &mut pending),
                Value::Map(mut map) => take_inner_containers(&mut map, &mut pending),
                Value::Preserved(mut preserved) => {
                    pending.extend(Rc::get_mut(&mut preserved).map(|preserved| std::mem::take(&mut preserved.value)))
                }
                _ => {}
            }
        }
    }
}

/// Moves the containers out of a container that is not shared. A shared container stays as it is, because another
/// value still uses it.
fn take_inner_containers<T: Contents>(container: &mut Rc<LazyContainer<T>>, pending: &mut Vec<Value>) {
    if let Some(contents) = Rc::get_mut(container).and_then(|inner| inner.contents.get_mut()) {
        contents.take_containers(pending);
    }
}
