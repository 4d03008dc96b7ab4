//! Counts the memory that an input takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Number of bytes in use.
static IN_USE: AtomicUsize = AtomicUsize::new(0);
/// Number of bytes in use when the current input began.
static IN_USE_BEFORE: AtomicUsize = AtomicUsize::new(0);
/// Maximum number of bytes in use since then.
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Number of bytes allocated since then.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a count.
pub struct CountingAllocator;

/// Maximum memory for an input.
const MAX_BYTES: usize = 1 << 30;

/// The current input, for the report if it needs too much memory.
static CURRENT_INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn count_allocation(size: usize) {
    ALLOCATED.fetch_add(size, Relaxed);
    let in_use = IN_USE.fetch_add(size, Relaxed) + size;
    PEAK.fetch_max(in_use, Relaxed);
    if in_use > MAX_BYTES
        && let Ok(data) = CURRENT_INPUT.try_lock()
    {
        let place = std::fs::write("finding-memory", &*data)
            .map_or_else(|error| error.to_string(), |()| "finding-memory".into());
        eprintln!("too much memory: a GB\nthe input is in {place}");
        std::process::abort();
    }
}

// SAFETY: everything is done by the system's allocator; only counts are kept.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        // SAFETY: the caller keeps the contract, which is that of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract, which is that of the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation(size);
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract, which is that of the system's allocator.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// Starts counting for this input.
pub fn start_counting(data: &[u8]) {
    let mut current_input = CURRENT_INPUT.lock().unwrap();
    current_input.clear();
    current_input.extend_from_slice(data);
    drop(current_input);
    IN_USE_BEFORE.store(IN_USE.load(Relaxed), Relaxed);
    PEAK.store(IN_USE.load(Relaxed), Relaxed);
    ALLOCATED.store(0, Relaxed);
}

/// Returns the maximum memory that was in use since `start_counting`.
pub fn peak_bytes() -> usize {
    PEAK.load(Relaxed).saturating_sub(IN_USE_BEFORE.load(Relaxed))
}

/// Returns all memory allocated since `start_counting`, whether it was freed or not: a measure of the work that does
/// not depend on the load of the machine.
pub fn allocated_bytes() -> usize {
    ALLOCATED.load(Relaxed)
}
