//! A thread with a large stack, and the limits on the code that runs in it.
//!
//! jaq evaluates filters recursively: `def f: 1 + f; f` recurses until the stack overflows and the process crashes. So
//! filters run in a room: a thread with a large stack, in which each evaluated term first checks the remaining stack,
//! the amount of work, and whether an interrupt was requested. A filter that must stop unwinds to the entry of the
//! room, because the filter itself could catch errors.

use crate::memory;
pub use crate::stop::Stop;
pub(crate) use crate::stop::{Abort, catch_stop, stop_filter};
use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

/// The stack of a room. It is address space: memory is allocated as it is used.
const STACK_SIZE: usize = 640 << 20;
/// Reserve for code that does not check the stack: the longest path is dropped there, and a search runs there.
const RESERVE: usize = 128 << 20;
/// Stack size of iterators that together count as one step.
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
    /// The lowest allowed address of the stack; 0 outside of a room. Stacks grow down.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
    /// The stack address at the start of the run.
    static TOP: Cell<usize> = const { Cell::new(0) };
    /// Steps until the next check of the budget.
    static LEFT: Cell<u64> = const { Cell::new(STEPS_PER_CHECK) };
    static BUDGET: Cell<Budget> = const { Cell::new(Budget { steps: u64::MAX, interrupt: None }) };
}

/// Returns the current stack address.
#[inline]
fn stack_address() -> usize {
    let local = 0u8;
    std::hint::black_box(&raw const local) as usize
}

/// Runs `work` in a room: in the current thread if it is one, or in a new one.
///
/// ```
/// assert_eq!(icecore_query::on_query_thread(|| 1 + 1), 2);
/// ```
///
/// # Panics
/// If `work` panics; or if there is not enough address space for the stack.
pub fn on_query_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if is_on_query_thread() {
        return work();
    }
    let inside = || {
        FLOOR.set(stack_address().saturating_sub(STACK_SIZE - RESERVE).max(1));
        work()
    };
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("query".to_owned()).stack_size(STACK_SIZE);
        match builder.spawn_scoped(scope, inside).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(end)) => end,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(error) => panic!("can't start a thread with a stack of 640 MB: {error}"),
        }
    })
}

/// Whether this thread is a room.
fn is_on_query_thread() -> bool {
    FLOOR.get() != 0
}

/// Starts a run with this number of steps and this interrupt flag.
pub(crate) fn start_run(steps: u64, interrupt: Option<&'static AtomicBool>) {
    BUDGET.set(Budget { steps, interrupt });
    LEFT.set(STEPS_PER_CHECK);
    TOP.set(stack_address());
}

/// Raises the limit of steps, for an input.
pub(crate) fn raise_step_limit(more: u64) {
    let budget = BUDGET.get();
    BUDGET.set(Budget { steps: budget.steps.saturating_add(more), ..budget });
}

/// Counts a step of work, or a level of a walk; stops the filter at a limit.
#[inline]
pub(crate) fn count_step() {
    count_steps(1);
}

/// Counts a step that passes through all waiting iterators, as each item of `..` does; its cost depends on their
/// number.
#[inline]
pub(crate) fn count_iterator_step() {
    let waiting = TOP.get().saturating_sub(stack_address()) / STACK_PER_STEP;
    count_steps(1 + waiting as u64);
}

/// Counts this number of steps.
#[inline]
pub(crate) fn count_steps(count: u64) {
    if stack_address() < FLOOR.get() {
        stop_filter(Stop::Depth);
    }
    match LEFT.get().checked_sub(count) {
        Some(left) => LEFT.set(left),
        None => check_limits(count),
    }
}

#[cold]
fn check_limits(count: u64) {
    let budget = BUDGET.get();
    let done = STEPS_PER_CHECK.saturating_sub(LEFT.get()).saturating_add(count);
    LEFT.set(STEPS_PER_CHECK);
    let steps = budget.steps.checked_sub(done).unwrap_or_else(|| stop_filter(Stop::Steps));
    BUDGET.set(Budget { steps, ..budget });
    memory::check_allocator();
    if budget.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
        stop_filter(Stop::Interrupt);
    }
}

/// Returns the remaining steps.
#[cfg(test)]
pub(crate) fn remaining_steps() -> u64 {
    BUDGET.get().steps.saturating_sub(STEPS_PER_CHECK - LEFT.get())
}
