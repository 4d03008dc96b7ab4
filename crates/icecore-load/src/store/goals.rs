//! Goals, and whether they were reached.

use super::model::{Entry, Goal, GoalResult, Group, Operation, WalkMeasurement};
use icecore_lab::model::Interval;
use icecore_lab::stats;

/// The daemon must take at least this many times as many jobs per second as the design of the articles.
const MIN_SPEEDUP: f64 = 5.0;
/// Number of clients with which daemons are compared.
const COMPARED_CLIENTS: u32 = 32;
/// Minimum number of objects per second in a walk.
const MIN_OBJECTS_PER_SECOND: f64 = 300_000.0;
/// Number of objects in the walk whose speed and memory are judged.
const LARGE_COUNT: u32 = 1_000_000;
/// Maximum growth of memory when the number of objects grows tenfold.
const MAX_MEMORY_GROWTH: f64 = 1.1;

/// Judges all goals.
pub(crate) fn judge_goals(groups: &[Group], walks: &[WalkMeasurement]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for database in ["SQLite", "PostgreSQL"] {
        let group = groups.iter().find(|group| {
            group.operation == Operation::Turnaround && group.database == database && group.clients == COMPARED_CLIENTS
        });
        let pair = group.and_then(|group| Some((group.find_entry("icecore/serve")?, group.find_fastest("perl/")?)));
        let job_speedup =
            pair.and_then(|(ours, theirs)| stats::compute_speedup(&ours.costs_per_job(), &theirs.costs_per_job()));
        let p99 = |entry: &Entry| entry.collect_samples(|timed| timed.p99);
        let p99_speedup = pair.and_then(|(ours, theirs)| stats::compute_speedup(&p99(ours), &p99(theirs)));
        let rival = "the faster of the Perl daemons";
        let text = format!(
            "{database}, {COMPARED_CLIENTS} clients: at least {MIN_SPEEDUP} times the jobs a second of {rival}"
        );
        goals.push(judge_minimum(text, MIN_SPEEDUP, job_speedup));
        let text = format!("{database}, {COMPARED_CLIENTS} clients: a lower p99 than {rival} (theirs over ours)");
        goals.push(judge_minimum(text, 1.0, p99_speedup));
    }
    for (operation, description) in [
        (Operation::Push, "jobs queued one in a transaction"),
        (Operation::PushMany, "jobs queued many in a transaction"),
        (Operation::Work, "jobs taken and done"),
    ] {
        let group = groups.iter().find(|group| group.operation == operation);
        let pair = group.and_then(|group| Some((group.find_entry("icecore/library")?, group.find_entry("river")?)));
        let speedup =
            pair.and_then(|(ours, theirs)| stats::compute_speedup(&ours.costs_per_job(), &theirs.costs_per_job()));
        goals.push(judge_minimum(
            format!("PostgreSQL: at least as many {description} a second as River"),
            1.0,
            speedup,
        ));
    }
    let largest_walk = walks.iter().find(|walk| walk.count == LARGE_COUNT);
    let text = "SQLite: 1,000,000 objects walked through, decoded, at 300,000 a second or more on one core";
    goals.push(judge_minimum(text.to_owned(), MIN_OBJECTS_PER_SECOND, largest_walk.map(|walk| walk.per_second)));
    goals.push(judge_memory(walks, largest_walk));
    goals
}

/// Judges whether memory is constant: whether the walk through the most objects needs hardly more memory than the
/// walk through the fewest.
fn judge_memory(walks: &[WalkMeasurement], largest_walk: Option<&WalkMeasurement>) -> Goal {
    let text = "SQLite: in constant memory, that of the most objects over that of the fewest".to_owned();
    let compared = walks.first().zip(largest_walk).filter(|(smallest, largest)| smallest.count < largest.count);
    let max_peak = |walk: &WalkMeasurement| walk.peaks.iter().map(|peak| peak.bytes).max();
    let growth = compared.and_then(|(smallest, largest)| Some(max_peak(largest)? as f64 / max_peak(smallest)? as f64));
    let result = match growth {
        None => GoalResult::Unmeasured,
        Some(growth) if growth <= MAX_MEMORY_GROWTH => GoalResult::Yes,
        Some(_) => GoalResult::No,
    };
    Goal { text, wanted: MAX_MEMORY_GROWTH, at_most: true, measured: growth.map(stats::exact_interval), met: result }
}

fn judge_minimum(text: String, minimum: f64, measured: Option<Interval>) -> Goal {
    let result = match &measured {
        None => GoalResult::Unmeasured,
        Some(measured) if measured.low >= minimum => GoalResult::Yes,
        Some(measured) if measured.high < minimum => GoalResult::No,
        Some(_) => GoalResult::Open,
    };
    Goal { text, wanted: minimum, at_most: false, measured, met: result }
}

impl Group {
    /// Returns the entry with this id.
    pub fn find_entry(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// Returns the fastest entry whose id has this prefix.
    pub fn find_fastest(&self, prefix: &str) -> Option<&Entry> {
        let all = self.entries.iter().filter(|entry| entry.id.starts_with(prefix));
        all.max_by(|left, right| left.per_second.estimate.total_cmp(&right.per_second.estimate))
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::{Peak, TimedSample};
    use super::*;

    fn entry(id: &str, ns: f64) -> Entry {
        let p99 = Some(ns / 10.0);
        // Samples differ slightly, as real ones do.
        let samples = (0..9).map(|round| {
            let ns = ns * (1.0 + f64::from(round % 3) * 0.01);
            TimedSample { round, turn: 0, jobs: 100, ns, p50: None, p99 }
        });
        Entry::new(id, id, "1", samples.collect())
    }

    fn group(operation: Operation, database: &str, entries: Vec<Entry>) -> Group {
        Group { operation, database: database.to_owned(), clients: 32, entries }
    }

    /// Index of the goal for `Operation::Work`: it follows two goals for each database and two others for River.
    const WORK_GOAL: usize = 6;
    /// Index of the first goal for walks.
    const FIRST_WALK_GOAL: usize = 7;

    #[test]
    fn goals_are_judged_against_the_fastest_rival() {
        let entries = vec![entry("icecore/serve", 1e8), entry("perl/loop", 9e8), entry("perl/fork", 4e8)];
        let goals = judge_goals(&[group(Operation::Turnaround, "SQLite", entries)], &[]);
        let met: Vec<GoalResult> = goals.iter().map(|goal| goal.met).collect();
        assert_eq!(met[..3], [GoalResult::No, GoalResult::Yes, GoalResult::Unmeasured], "{goals:?}");
        let speedup = goals[0].measured.expect("it was measured").estimate;
        assert!((speedup - 4.0).abs() < 0.1, "{speedup}");
    }

    #[test]
    fn the_goal_against_river_is_missed_only_if_river_is_faster() {
        let judge = |ours, theirs| {
            let entries = vec![entry("icecore/library", ours), entry("river", theirs)];
            judge_goals(&[group(Operation::Work, "PostgreSQL", entries)], &[])[WORK_GOAL].met
        };
        assert_eq!(
            [judge(1e8, 2e8), judge(2e8, 1e8), judge(1e8, 1e8)],
            [GoalResult::Yes, GoalResult::No, GoalResult::Yes]
        );
    }

    #[test]
    fn the_goal_for_memory_needs_a_constant_peak() {
        let walk = |count, bytes| {
            let samples = entry("", 1e5).samples;
            let per_second = Interval { estimate: 1e6, low: 9e5, high: 1.1e6 };
            WalkMeasurement { count, bytes: 1, samples, per_second, peaks: vec![Peak { bytes }] }
        };
        let met = |walks: &[WalkMeasurement]| {
            judge_goals(&[], walks)[FIRST_WALK_GOAL..].iter().map(|goal| goal.met).collect::<Vec<_>>()
        };
        assert_eq!(met(&[]), [GoalResult::Unmeasured, GoalResult::Unmeasured]);
        assert_eq!(met(&[walk(100_000, 100), walk(1_000_000, 105)]), [GoalResult::Yes, GoalResult::Yes]);
        assert_eq!(met(&[walk(100_000, 100), walk(1_000_000, 200)]), [GoalResult::Yes, GoalResult::No]);
        assert_eq!(met(&[walk(2_000, 100), walk(20_000, 105)]), [GoalResult::Unmeasured, GoalResult::Unmeasured]);
    }
}
