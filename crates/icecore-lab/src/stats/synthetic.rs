//! Timings with known results, for the tests.

use super::summarize_samples;
use crate::model::{Cell, Entry, Fidelity, Operation, Point, Role, Sample};
use fastrand::Rng;

/// A simulated machine.
#[derive(Clone, Copy)]
pub(crate) struct SimulatedMachine {
    pub rounds: u32,
    pub turns: u32,
    /// Difference between processes of one program: the standard deviation of the logarithms.
    pub process: f64,
    /// Difference between turns of one process.
    pub noise: f64,
    /// How much slower the machine is at the end; 1 means twice as slow.
    pub drift: f64,
}

impl Default for SimulatedMachine {
    fn default() -> SimulatedMachine {
        SimulatedMachine { rounds: 5, turns: 20, process: 0.02, noise: 0.03, drift: 0.0 }
    }
}

impl SimulatedMachine {
    /// Returns two programs, of which the first is `ratio` times faster and the second takes 100 ns, measured side by
    /// side.
    pub fn sample_pair(self, seed: u64, ratio: f64) -> (Vec<Sample>, Vec<Sample>) {
        let mut random = Rng::with_seed(seed);
        (self.sample_program(&mut random, 100.0 / ratio), self.sample_program(&mut random, 100.0))
    }

    /// Returns the samples of one program that takes `ns`.
    pub fn sample_program(self, random: &mut Rng, ns: f64) -> Vec<Sample> {
        let mut samples = Vec::new();
        for round in 0..self.rounds {
            let process = self.process * random_normal(random);
            for turn in 0..self.turns {
                let gone = f64::from(round * self.turns + turn) / f64::from(self.rounds * self.turns);
                let slower = 1.0 + self.drift * gone;
                let ns = ns * (process + self.noise * random_normal(random)).exp() * slower;
                samples.push(Sample { round, turn, ns });
            }
        }
        samples
    }
}

/// Returns the samples of a program that takes 100 ns.
pub(crate) fn sample_run(seed: u64, rounds: u32, turns: u32, process: f64, noise: f64) -> Vec<Sample> {
    SimulatedMachine { rounds, turns, process, noise, drift: 0.0 }.sample_program(&mut Rng::with_seed(seed), 100.0)
}

/// Returns these times as samples of one process.
pub(crate) fn samples_from_times(times: &[f64]) -> Vec<Sample> {
    times.iter().zip(0..).map(|(&ns, turn)| Sample { round: 0, turn, ns }).collect()
}

/// Returns a normally distributed number, by the Box-Muller transform.
fn random_normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// Returns a competitor that is exact, with the samples of its operations.
pub(crate) fn make_entry(id: &str, size: u64, cells: Vec<(Operation, Vec<Sample>)>) -> Entry {
    let cell = |(operation, samples): (_, Vec<Sample>)| {
        let summary = summarize_samples(&samples);
        Cell { operation, samples, summary, against: None }
    };
    Entry {
        id: id.to_owned(),
        name: id.to_owned(),
        version: String::new(),
        role: Role::Competitor,
        fidelity: Fidelity::Exact,
        size: Some(size),
        cells: cells.into_iter().map(cell).collect(),
        memory: Vec::new(),
    }
}

/// Returns a size with these competitors.
pub(crate) fn make_point(position: f64, entries: Vec<Entry>) -> Point {
    Point { name: position.to_string(), at: position, parameters: [].into(), entries, memcpy_ns: None }
}
