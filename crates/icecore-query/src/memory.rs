//! Memory of filters. Each value counts its bytes while it exists.
//!
//! Only memory that grows with the work of a filter is counted: strings, the items of containers, big integers,
//! documents that `fromjson` reads, and the contexts that unfinished filters keep. A filter that needs more than its
//! limit stops before it allocates more.
//!
//! Memory that the language itself holds, such as closures of nested calls and the keys of long paths, is not counted
//! here. A program with a counting allocator can report this memory with
//! [`Running::allocated_bytes`](crate::Running::allocated_bytes). Then it counts as well.

use crate::stop::{Stop, stop_filter};
use std::cell::Cell;

thread_local! {
    /// Bytes that values in this thread hold.
    static COUNTED_BYTES: Cell<u64> = const { Cell::new(0) };
    /// The limit of counted bytes.
    static MAX_BYTES: Cell<u64> = const { Cell::new(u64::MAX) };
    /// The maximum of counted bytes so far.
    static PEAK_BYTES: Cell<u64> = const { Cell::new(0) };
    static METER: Cell<AllocatorMeter> = const { Cell::new(AllocatorMeter { allocator: None, start: 0, max_bytes: u64::MAX }) };
}

/// The limit for the memory that the program's allocator reports.
#[derive(Clone, Copy)]
struct AllocatorMeter {
    allocator: Option<fn() -> i64>,
    /// The allocator's count at the start of the run.
    start: i64,
    max_bytes: u64,
}

impl AllocatorMeter {
    /// Returns how much memory the run has allocated.
    fn allocated_bytes(self) -> u64 {
        self.allocator
            .map_or(0, |allocated_bytes| u64::try_from(allocated_bytes().saturating_sub(self.start)).unwrap_or(0))
    }
}

/// Estimated number of bytes that each allocation needs in addition to its contents. It includes the counts of an
/// `Rc`.
pub(crate) const ALLOCATION_OVERHEAD: usize = 32;

/// Sets the limit of a filter that starts. The filter may use this number of bytes in addition to those of the values
/// that exist now.
pub(crate) fn start_metering(max_bytes: u64, allocator: Option<fn() -> i64>) {
    MAX_BYTES.set(COUNTED_BYTES.get().saturating_add(max_bytes));
    PEAK_BYTES.set(COUNTED_BYTES.get());
    METER.set(AllocatorMeter { allocator, start: allocator.map_or(0, |allocated_bytes| allocated_bytes()), max_bytes });
}

/// Runs work whose memory is not charged to the filter, such as reading its next input. Raises the start of the meter
/// by the memory that the work has allocated, so that the difference stays the same.
pub(crate) fn run_uncharged<T>(work: impl FnOnce() -> T) -> T {
    let before = METER.get().allocator.map_or(0, |allocated_bytes| allocated_bytes());
    let result = work();
    let meter = METER.get();
    let allocated = meter.allocator.map_or(0, |allocated_bytes| allocated_bytes()).saturating_sub(before);
    METER.set(AllocatorMeter { start: meter.start.saturating_add(allocated), ..meter });
    result
}

/// Stops the filter if the allocator reports too much memory.
pub(crate) fn check_allocator() {
    let meter = METER.get();
    if meter.allocated_bytes() > meter.max_bytes {
        stop_filter(Stop::Memory);
    }
}

/// Raises the limit of the filter, because it has taken a further input.
pub(crate) fn raise_memory_limit(bytes: u64) {
    MAX_BYTES.set(MAX_BYTES.get().saturating_add(bytes));
    let meter = METER.get();
    METER.set(AllocatorMeter { max_bytes: meter.max_bytes.saturating_add(bytes), ..meter });
}

/// Returns the remaining memory.
pub(crate) fn remaining_bytes() -> u64 {
    let meter = METER.get();
    MAX_BYTES.get().saturating_sub(COUNTED_BYTES.get()).min(meter.max_bytes.saturating_sub(meter.allocated_bytes()))
}

/// Returns the maximum since the start of the run.
#[cfg(test)]
pub(crate) fn peak_bytes() -> u64 {
    PEAK_BYTES.get()
}

/// Stops the filter if this number of additional bytes would exceed the limit.
pub(crate) fn require_bytes(bytes: u64) {
    if bytes > remaining_bytes() {
        stop_filter(Stop::Memory);
    }
}

/// Counts bytes that are already allocated.
pub(crate) fn count_bytes(bytes: usize) {
    COUNTED_BYTES.set(COUNTED_BYTES.get().saturating_add(bytes as u64));
    PEAK_BYTES.set(PEAK_BYTES.get().max(COUNTED_BYTES.get()));
}

/// Subtracts counted bytes.
pub(crate) fn release_bytes(bytes: usize) {
    COUNTED_BYTES.set(COUNTED_BYTES.get().saturating_sub(bytes as u64));
}

/// Bytes that are counted while this value lives.
#[derive(Debug, Default)]
pub struct Charge(Cell<usize>);

impl Charge {
    /// Counts this number of bytes. Stops the filter if they exceed the limit.
    pub fn new(bytes: usize) -> Charge {
        let charge = Charge::default();
        charge.set(bytes);
        charge
    }

    /// Changes the count to this number of bytes. Stops the filter if they exceed the limit.
    pub fn set(&self, bytes: usize) {
        let before = self.0.replace(bytes);
        if bytes > before {
            count_bytes(bytes - before);
            if COUNTED_BYTES.get() > MAX_BYTES.get() {
                stop_filter(Stop::Memory);
            }
        } else {
            release_bytes(before - bytes);
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        release_bytes(self.0.get());
    }
}

/// Counts bytes that [`release_bytes`] subtracts. Stops the filter before they exceed the limit.
pub(crate) fn charge_bytes(bytes: usize) {
    require_bytes(bytes as u64);
    count_bytes(bytes);
}
