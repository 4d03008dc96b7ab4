//! A thread with a large stack, and the bounds on what runs in it.
//!
//! jaq walks filters by recursion: `def f: 1 + f; f` goes deeper until the stack ends, and the
//! process with it. So filters run in a room: a thread whose stack is large, where every term
//! that is evaluated first looks how much of the stack is left, how much work was done, and
//! whether somebody asked to stop. What has to stop unwinds to the door of the room, as errors
//! can be caught by the filter itself.

use crate::memory;
pub use crate::stop::Stop;
pub(crate) use crate::stop::{Broken, caught, stop};
use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

/// The stack of a room. It is address space: memory is taken as it is used.
const STACK: usize = 640 << 20;
/// What is left for code that does not look: the longest path is taken apart there, and a search runs there.
const RESERVE: usize = 128 << 20;
/// The stack of iterators that together take as long as a step.
const ITERATORS: usize = 4 << 10;
/// Steps between two looks at whether to stop.
const LOOK: u64 = 1 << 10;

/// What a run may still do, as it was when somebody looked the last time.
#[derive(Clone, Copy)]
struct Budget {
    steps: u64,
    interrupt: Option<&'static AtomicBool>,
}

thread_local! {
    /// The lowest place that the stack may reach; 0 outside of a room. Stacks grow down.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
    /// Where the stack was when the run began.
    static TOP: Cell<usize> = const { Cell::new(0) };
    /// Steps until somebody looks at the budget.
    static LEFT: Cell<u64> = const { Cell::new(LOOK) };
    static BUDGET: Cell<Budget> = const { Cell::new(Budget { steps: u64::MAX, interrupt: None }) };
}

/// Where the stack is now.
#[inline]
fn here() -> usize {
    let local = 0u8;
    std::hint::black_box(&raw const local) as usize
}

/// Runs this in a room: in the thread that is one, or in a new one.
///
/// ```
/// assert_eq!(icecore_query::in_room(|| 1 + 1), 2);
/// ```
///
/// # Panics
/// If `work` does; or if there is no address space for the stack.
pub fn in_room<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if is_inside() {
        return work();
    }
    let inside = || {
        FLOOR.set(here().saturating_sub(STACK - RESERVE).max(1));
        work()
    };
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("query".to_owned()).stack_size(STACK);
        match builder.spawn_scoped(scope, inside).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(end)) => end,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(error) => panic!("no thread with a stack of 640 MB: {error}"),
        }
    })
}

/// Whether this thread is a room.
fn is_inside() -> bool {
    FLOOR.get() != 0
}

/// From now on so many steps may be done, and this is looked at.
pub(crate) fn begin(steps: u64, interrupt: Option<&'static AtomicBool>) {
    BUDGET.set(Budget { steps, interrupt });
    LEFT.set(LOOK);
    TOP.set(here());
}

/// Lets the filter do so many steps more: what an input needs.
pub(crate) fn allow(more: u64) {
    let budget = BUDGET.get();
    BUDGET.set(Budget { steps: budget.steps.saturating_add(more), ..budget });
}

/// A step of work, or a level of a walk: stops where there may be no more.
#[inline]
pub(crate) fn step() {
    steps(1);
}

/// A step that passes through all iterators that wait for it, as each item of `..` does: it costs what these take.
#[inline]
pub(crate) fn step_through() {
    let waiting = TOP.get().saturating_sub(here()) / ITERATORS;
    steps(1 + waiting as u64);
}

/// So many steps of work.
#[inline]
pub(crate) fn steps(count: u64) {
    if here() < FLOOR.get() {
        stop(Stop::Depth);
    }
    match LEFT.get().checked_sub(count) {
        Some(left) => LEFT.set(left),
        None => look(count),
    }
}

#[cold]
fn look(count: u64) {
    let budget = BUDGET.get();
    let done = LOOK.saturating_sub(LEFT.get()).saturating_add(count);
    LEFT.set(LOOK);
    let steps = budget.steps.checked_sub(done).unwrap_or_else(|| stop(Stop::Steps));
    BUDGET.set(Budget { steps, ..budget });
    memory::look();
    if budget.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
        stop(Stop::Interrupt);
    }
}

/// The steps that are left.
#[cfg(test)]
pub(crate) fn left() -> u64 {
    BUDGET.get().steps.saturating_sub(LOOK - LEFT.get())
}
