//! Keeps the memory of finished texts for later ones. A dump has millions of short texts, and without this a tenth of
//! the time is spent on allocations.

use std::cell::RefCell;
use std::thread::LocalKey;

/// Maximum number of vectors that a thread keeps. Nested frozen data needs one vector for each layer.
const MAX_KEPT_VECS: usize = 8;
/// Maximum size of a kept vector in bytes.
pub(super) const MAX_KEPT_BYTES: usize = 64 << 10;

/// Used vectors of one type.
pub(super) type SparePool<T> = RefCell<Vec<Vec<T>>>;

/// Returns a used vector with its old content, or a new one.
pub(super) fn take_spare<T>(spare: &'static LocalKey<SparePool<T>>) -> Vec<T> {
    spare.try_with(|kept| kept.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// Returns an empty vector, used or new.
pub(super) fn take_empty_spare<T>(spare: &'static LocalKey<SparePool<T>>) -> Vec<T> {
    let mut vec = take_spare(spare);
    vec.clear();
    vec
}

/// Keeps a vector for the next text, unless it is empty or too large.
pub(super) fn give_back<T>(spare: &'static LocalKey<SparePool<T>>, vec: Vec<T>) {
    let bytes = vec.capacity() * size_of::<T>();
    if bytes == 0 || bytes > MAX_KEPT_BYTES {
        return;
    }
    // A thread that is ending keeps nothing.
    let _ = spare.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < MAX_KEPT_VECS {
            kept.push(vec);
        }
    });
}
