//! A constant task of the lab that is timed repeatedly. It is always the same work, so any variation of its times
//! comes from the machine.

use crate::model::Sample;
use std::hint::black_box;
use std::time::Instant;

/// A size that fits into no cache.
const UNCACHED_BYTES: usize = 64 << 20;

/// The number of bytes that the task copies.
const COPIED_BYTES: usize = 4 << 20;
/// The number of steps of arithmetic in the task.
const ARITHMETIC_STEPS: usize = 1_000_000;

/// A task of copying and arithmetic that takes a few milliseconds.
pub struct Probe {
    source: Vec<u8>,
    target: Vec<u8>,
    samples: Vec<Sample>,
}

impl Probe {
    pub(super) fn new() -> Probe {
        let mut probe = Probe { source: vec![1; COPIED_BYTES], target: vec![0; COPIED_BYTES], samples: Vec::new() };
        // In the first execution, the system also provides the memory pages. So its time is not recorded.
        probe.take_sample(0, 0);
        probe.samples.clear();
        probe
    }

    /// Executes the task once.
    pub fn take_sample(&mut self, round: u32, turn: u32) {
        let before = Instant::now();
        let mut state = 1u64;
        for _ in 0..ARITHMETIC_STEPS {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        black_box(state);
        self.target.copy_from_slice(black_box(&self.source));
        black_box(&self.target);
        self.samples.push(Sample { round, turn, ns: before.elapsed().as_nanos() as f64 });
    }

    pub(super) fn samples(&self) -> &[Sample] {
        &self.samples
    }
}

/// Returns the nanoseconds to copy this many bytes, in the best of several attempts.
pub(super) fn time_memcpy(bytes: usize) -> f64 {
    const BYTES_PER_ATTEMPT: usize = 8 << 20;
    const ATTEMPTS: usize = 5;
    let source = vec![1u8; bytes];
    let mut target = vec![0u8; bytes];
    let times = BYTES_PER_ATTEMPT / bytes.max(1) + 1;
    let mut best = f64::INFINITY;
    for _ in 0..ATTEMPTS {
        let before = Instant::now();
        for _ in 0..times {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
        }
        best = best.min(before.elapsed().as_nanos() as f64 / times as f64);
    }
    best
}

/// Returns the speed of copying a block that fits into no cache, in bytes per nanosecond.
pub(super) fn measure_memcpy_rate() -> f64 {
    UNCACHED_BYTES as f64 / time_memcpy(UNCACHED_BYTES)
}
