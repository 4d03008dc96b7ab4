//! Helpers that several files of these tests use; the first two come from the tests of the store.

pub use crate::patience::until;
pub use crate::random_numbers::Random;

/// Returns the amount of work: `usual` in `make test`; `full` with `ICECORE_FULL=1`, which `make test-all` sets.
pub fn usual_or_full<T>(usual: T, full: T) -> T {
    if std::env::var_os("ICECORE_FULL").is_some() { full } else { usual }
}
