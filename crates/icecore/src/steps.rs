//! Counts steps of work for the engine's own tests: a count shows whether work is linear and, unlike a time, does not
//! depend on the machine. Only tests compile it.

/// Counts this number of steps.
#[inline(always)]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    tests::COUNT.set(tests::COUNT.get() + steps as u64);
    #[cfg(not(test))]
    let _ = steps;
}

#[cfg(test)]
pub(crate) use tests::{counted, is_linear};

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    thread_local! {
        pub(super) static COUNT: Cell<u64> = const { Cell::new(0) };
    }

    /// Returns the number of steps that `run` takes.
    pub(crate) fn counted(run: impl FnOnce()) -> u64 {
        let before = COUNT.get();
        run();
        COUNT.get() - before
    }

    /// Doubles the size four times. Each time, the steps may grow by a factor of at most 2.5; quadratic work would grow
    /// by a factor of four.
    pub(crate) fn is_linear(name: &str, first: usize, run: impl Fn(usize)) {
        let steps: Vec<u64> = (0..5).map(|times| counted(|| run(first << times))).collect();
        assert!(steps[0] > 0, "{name}: nothing was counted");
        assert!(steps.windows(2).all(|pair| 2 * pair[1] <= 5 * pair[0]), "{name}: {steps:?}");
    }

    #[test]
    fn is_linear_detects_quadratic_work() {
        is_linear("once", 100, super::count);
        let all_before = |size: usize| (0..size).for_each(super::count);
        assert!(std::panic::catch_unwind(|| is_linear("again and again", 100, all_before)).is_err());
    }
}
