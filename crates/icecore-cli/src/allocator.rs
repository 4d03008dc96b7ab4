//! The system's allocator, with a count of the bytes that each thread has in use.
//!
//! The language of `icecore query` allocates in a library that does not report its memory use. The memory limit
//! includes these allocations, so the thread that runs a filter needs its own count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that the thread allocated minus those that it freed. Negative if it freed memory of other threads.
    static BYTES_IN_USE: Cell<i64> = const { Cell::new(0) };
}

/// Returns the bytes that this thread has in use: those that it allocated, minus those that it freed.
pub fn bytes_in_use() -> i64 {
    BYTES_IN_USE.get()
}

/// Adds to the count of this thread. Does not allocate: a constant thread-local variable without a destructor needs
/// no registration, and exists for the whole life of its thread.
fn count_bytes(bytes: i64) {
    BYTES_IN_USE.set(BYTES_IN_USE.get().wrapping_add(bytes));
}

struct CountingAllocator;

// SAFETY: each call goes to the system's allocator unchanged, and counting does not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_bytes(layout.size() as i64);
        // SAFETY: the caller keeps the contract of `alloc`, which is that of the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_bytes(layout.size() as i64);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is that of the system's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count_bytes(-(layout.size() as i64));
        // SAFETY: the caller keeps the contract of `dealloc`, and the block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_bytes(size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps the contract of `realloc`, and the block came from the system's allocator.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
