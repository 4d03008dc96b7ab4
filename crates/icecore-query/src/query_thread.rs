//! A thread with a large stack, and the limits on the code that runs in it.
//!
//! jaq evaluates filters recursively. For example, `def f: 1 + f; f` recurses until the stack overflows and the
//! process crashes. So filters run on a query thread, a thread with a large stack. Each evaluated term first checks
//! the remaining stack, the amount of work, and whether an interrupt was requested. A filter that must stop is
//! unwound to the start of its run. An error would not be enough, because the filter itself could catch it.

use crate::memory;
pub use crate::stop::Stop;
pub(crate) use crate::stop::{Abort, catch_stop, stop_filter};
use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stack size of a query thread. It takes only address space, because the system allocates memory when it is first
/// used.
const STACK_SIZE: usize = 640 << 20;
/// The part of the stack that is reserved for code that does not check it, such as dropping the longest path or a
/// search with a regular expression.
const STACK_RESERVE: usize = 128 << 20;
/// Number of bytes of the stack that count as one step. A few waiting iterators use about as many.
const STACK_PER_STEP: usize = 4 << 10;
/// Number of steps between two checks.
const STEPS_PER_CHECK: u64 = 1 << 10;

/// The remaining budget of a run at the last check.
#[derive(Clone, Copy)]
struct Budget {
    steps: u64,
    interrupt: Option<&'static AtomicBool>,
}

thread_local! {
    /// The lowest allowed address of the stack, because stacks grow down. It is 0 outside of a query thread.
    static STACK_LIMIT: Cell<usize> = const { Cell::new(0) };
    /// The stack address at the start of the run.
    static RUN_START: Cell<usize> = const { Cell::new(0) };
    /// Steps until the next check of the budget.
    static STEPS_TO_CHECK: Cell<u64> = const { Cell::new(STEPS_PER_CHECK) };
    static BUDGET: Cell<Budget> = const { Cell::new(Budget { steps: u64::MAX, interrupt: None }) };
}

/// Returns the current stack address.
#[inline]
fn stack_address() -> usize {
    let local = 0u8;
    std::hint::black_box(&raw const local) as usize
}

/// Runs `work` on a query thread. This is the current thread if it is a query thread, and otherwise a new one.
///
/// ```
/// assert_eq!(icecore_query::on_query_thread(|| 1 + 1), 2);
/// ```
///
/// # Panics
/// If `work` panics, or if there is not enough address space for the stack.
pub fn on_query_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if is_on_query_thread() {
        return work();
    }
    let run = || {
        STACK_LIMIT.set(stack_address().saturating_sub(STACK_SIZE - STACK_RESERVE).max(1));
        work()
    };
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("query".to_owned()).stack_size(STACK_SIZE);
        match builder.spawn_scoped(scope, run).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(error) => panic!("can't start a thread with a stack of 640 MB: {error}"),
        }
    })
}

/// Returns true if this thread is a query thread.
fn is_on_query_thread() -> bool {
    STACK_LIMIT.get() != 0
}

/// Starts a run with this number of steps and this interrupt flag.
pub(crate) fn start_run(steps: u64, interrupt: Option<&'static AtomicBool>) {
    BUDGET.set(Budget { steps, interrupt });
    STEPS_TO_CHECK.set(STEPS_PER_CHECK);
    RUN_START.set(stack_address());
}

/// Raises the limit of steps, because an input was read.
pub(crate) fn raise_step_limit(added_steps: u64) {
    let budget = BUDGET.get();
    BUDGET.set(Budget { steps: budget.steps.saturating_add(added_steps), ..budget });
}

/// Counts a step of work, or a level of a walk. Stops the filter if a limit is reached.
#[inline]
pub(crate) fn count_step() {
    count_steps(1);
}

/// Counts a step that passes through all waiting iterators, as each item of `..` does. Its cost is estimated from the
/// stack that the iterators use.
#[inline]
pub(crate) fn count_iterator_step() {
    let waiting = RUN_START.get().saturating_sub(stack_address()) / STACK_PER_STEP;
    count_steps(1 + waiting as u64);
}

/// Counts this number of steps.
#[inline]
pub(crate) fn count_steps(count: u64) {
    if stack_address() < STACK_LIMIT.get() {
        stop_filter(Stop::Depth);
    }
    match STEPS_TO_CHECK.get().checked_sub(count) {
        Some(remaining) => STEPS_TO_CHECK.set(remaining),
        None => check_limits(count),
    }
}

#[cold]
fn check_limits(count: u64) {
    let budget = BUDGET.get();
    // The steps since the last check are those by which the countdown fell, and the `count` that did not fit any
    // more.
    let counted_steps = STEPS_PER_CHECK.saturating_sub(STEPS_TO_CHECK.get()).saturating_add(count);
    STEPS_TO_CHECK.set(STEPS_PER_CHECK);
    let steps = budget.steps.checked_sub(counted_steps).unwrap_or_else(|| stop_filter(Stop::Steps));
    BUDGET.set(Budget { steps, ..budget });
    memory::check_allocator();
    if budget.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
        stop_filter(Stop::Interrupt);
    }
}

/// Returns the remaining steps.
#[cfg(test)]
pub(crate) fn remaining_steps() -> u64 {
    BUDGET.get().steps.saturating_sub(STEPS_PER_CHECK - STEPS_TO_CHECK.get())
}
