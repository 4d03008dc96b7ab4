//! The lab's own constant task, timed repeatedly: any variation comes from the machine.

use crate::model::Sample;
use std::hint::black_box;
use std::time::Instant;

/// A size that fits into no cache.
const LARGE: usize = 64 << 20;

/// A task of copying and arithmetic that takes a few milliseconds.
pub struct Probe {
    from: Vec<u8>,
    to: Vec<u8>,
    samples: Vec<Sample>,
}

impl Probe {
    pub(super) fn new() -> Probe {
        let mut probe = Probe { from: vec![1; 4 << 20], to: vec![0; 4 << 20], samples: Vec::new() };
        // The first execution also allocates the memory pages.
        probe.take_sample(0, 0);
        probe.samples.clear();
        probe
    }

    /// Executes the task once.
    pub fn take_sample(&mut self, round: u32, turn: u32) {
        let before = Instant::now();
        let mut state = 1u64;
        for _ in 0..1_000_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        black_box(state);
        self.to.copy_from_slice(black_box(&self.from));
        black_box(&self.to);
        self.samples.push(Sample { round, turn, ns: before.elapsed().as_nanos() as f64 });
    }

    pub(super) fn samples(&self) -> &[Sample] {
        &self.samples
    }
}

/// Returns the nanoseconds to copy this many bytes: the best of several attempts.
pub(super) fn time_memcpy(bytes: usize) -> f64 {
    let from = vec![1u8; bytes];
    let mut to = vec![0u8; bytes];
    let times = (8 << 20) / bytes.max(1) + 1;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let before = Instant::now();
        for _ in 0..times {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
        best = best.min(before.elapsed().as_nanos() as f64 / times as f64);
    }
    best
}

/// Returns the speed of copying a block that fits into no cache, in bytes per nanosecond.
pub(super) fn measure_memcpy_rate() -> f64 {
    LARGE as f64 / time_memcpy(LARGE)
}
