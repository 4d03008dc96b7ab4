//! Counts the memory that an input takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static ALL: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a count.
pub struct CountingAllocator;

/// Maximum memory for an input.
const MAX_BYTES: usize = 1 << 30;

static RUNNING: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn count_allocation(size: usize) {
    ALL.fetch_add(size, Relaxed);
    let now = NOW.fetch_add(size, Relaxed) + size;
    MOST.fetch_max(now, Relaxed);
    if now > MAX_BYTES
        && let Ok(data) = RUNNING.try_lock()
    {
        let kept = std::fs::write("finding-memory", &*data)
            .map_or_else(|error| error.to_string(), |()| "finding-memory".into());
        eprintln!("too much memory: a GB\nthe input is in {kept}");
        std::process::abort();
    }
}

// SAFETY: everything is done by the system's allocator; only counts are kept.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Starts counting for this input.
pub fn start_counting(data: &[u8]) {
    let mut running = RUNNING.lock().unwrap();
    running.clear();
    running.extend_from_slice(data);
    drop(running);
    BEFORE.store(NOW.load(Relaxed), Relaxed);
    MOST.store(NOW.load(Relaxed), Relaxed);
    ALL.store(0, Relaxed);
}

/// Returns the maximum memory in use since then.
pub fn peak_bytes() -> usize {
    MOST.load(Relaxed).saturating_sub(BEFORE.load(Relaxed))
}

/// Returns all memory allocated since then, whether it was freed or not: a measure of the work that does not depend on
/// the load of the machine.
pub fn allocated_bytes() -> usize {
    ALL.load(Relaxed)
}
