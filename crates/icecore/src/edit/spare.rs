//! Memory of texts that are done, for those that come: a dump has millions of short ones, and a
//! tenth of the work was asking for memory.

use std::cell::RefCell;
use std::thread::LocalKey;

/// How many of a kind are kept by a thread: one for each layer of what is frozen in another.
const KEPT: usize = 8;
/// The largest that is kept, in bytes.
pub(super) const LARGEST: usize = 64 << 10;

/// Vectors of one kind that were used.
pub(super) type Spare<T> = RefCell<Vec<Vec<T>>>;

/// A vector that was used, with what is still in it; or a new one.
pub(super) fn take<T>(spare: &'static LocalKey<Spare<T>>) -> Vec<T> {
    spare.try_with(|kept| kept.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// The same, empty.
pub(super) fn take_empty<T>(spare: &'static LocalKey<Spare<T>>) -> Vec<T> {
    let mut vec = take(spare);
    vec.clear();
    vec
}

/// Keeps a vector for the next, if it is worth it.
pub(super) fn give<T>(spare: &'static LocalKey<Spare<T>>, vec: Vec<T>) {
    let bytes = vec.capacity() * size_of::<T>();
    if bytes == 0 || bytes > LARGEST {
        return;
    }
    // A thread that ends keeps nothing.
    let _ = spare.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < KEPT {
            kept.push(vec);
        }
    });
}
