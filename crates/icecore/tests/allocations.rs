//! Counts the bytes that a thread allocates: a cost that a test can bound without a clock.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes allocated since the thread started.
    static ASKED: Cell<u64> = const { Cell::new(0) };
    /// Bytes in use. Negative in a thread that frees what others allocated.
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    /// Most bytes in use since [`peak`] started.
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Returns the bytes that this thread allocates while `work` runs. Memory that is freed and
/// allocated again counts twice.
pub fn count_allocated_bytes(work: impl FnOnce()) -> u64 {
    let before = ASKED.get();
    work();
    ASKED.get() - before
}

/// Returns the most bytes that this thread has in use at once while `work` runs.
pub fn peak(work: impl FnOnce()) -> isize {
    let before = IN_USE.get();
    PEAK.set(before);
    work();
    PEAK.get() - before
}

fn count_allocated(size: usize) {
    // A thread that ends has lost its counters, but may still allocate.
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + size as u64));
    let _ = IN_USE.try_with(|in_use| {
        in_use.set(in_use.get() + size as isize);
        PEAK.with(|peak| peak.set(peak.get().max(in_use.get())));
    });
}

fn count_freed(size: usize) {
    let _ = IN_USE.try_with(|in_use| in_use.set(in_use.get() - size as isize));
}

struct CountingAllocator;

// SAFETY: each call goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocated(layout.size());
        // SAFETY: the caller's layout is passed on, so the contract of `System` holds.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_freed(layout.size());
        // SAFETY: the caller's pointer and layout are passed on, so the contract of `System` holds.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks exist while one is copied to the other.
        count_allocated(size);
        count_freed(layout.size());
        // SAFETY: the caller's pointer, layout and size are passed on, so the contract of `System` holds.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
