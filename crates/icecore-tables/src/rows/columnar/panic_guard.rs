//! Work that may panic.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs foreign code on untrusted data, and converts a panic to an error with its message.
///
/// Readers of Parquet and Arrow check most declarations of files, but not all. Some damage causes a panic because an
/// index is out of bounds. After an error, do not use the reader of the file again.
pub fn catch_panic<T, E: ToString>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous_hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                previous_hook(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    IS_QUIET.set(false);
    match outcome {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
            Err(text.unwrap_or("its reader stopped").to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::catch_panic;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(catch_panic(|| Ok::<_, String>(5)), Ok(5));
        assert_eq!(catch_panic(|| Err::<(), _>("no")), Err("no".to_owned()));
        let index = std::hint::black_box(7);
        let message = catch_panic(|| Ok::<_, String>([1, 2][index])).unwrap_err();
        assert!(message.contains("out of bounds"), "{message}");
    }
}
