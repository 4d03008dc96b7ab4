//! One size of a scenario: its competitors, and rounds of turns.

use super::blobs::Blobs;
use super::measure::{Contender, Task, prepare_contender, start_participant};
use super::participants::FoundCompetitors;
use super::probe::{Probe, time_memcpy};
use super::{MeasuredSize, Options, Progress};
use crate::model::{Absent, Cell, Entry, Fidelity, Interval, Operation, Point, Role, Sample};
use crate::runner::{Environment, Participant, ParticipantError, RunningParticipant};
use crate::scenario::{Processes, Scenario, Size};
use crate::{Error, stats};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Minimum number of rounds, even if they take longer than the budget.
const MIN_ROUNDS: u32 = 3;

/// The share of a size's progress that the checks before the rounds count for.
const CHECK_SHARE: f64 = 0.3;

/// A size to measure, and its folder.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'p> {
    /// The scenario.
    pub scenario: &'p Scenario,
    /// One of its sizes.
    pub size: &'p Size,
    /// Folder for this size. It does not exist yet.
    pub folder: &'p Path,
    /// Seed of the random order.
    pub seed: u64,
}

/// Measures all participants at one size.
pub(super) fn measure_point(
    setup: &Setup<'_>,
    competitors: &FoundCompetitors,
    environment: &Environment<'_>,
    options: &Options,
    probe: &mut Probe,
    progress: &mut Progress<'_>,
) -> Result<MeasuredSize, Error> {
    std::fs::create_dir_all(setup.folder).map_err(|error| Error::io(setup.folder, &error))?;
    let document = setup.scenario.make_document(setup.size)?;
    let (participants, mut absent) = competitors.select_participants(setup.scenario, options)?;
    let formats: BTreeSet<&str> = participants.iter().map(|participant| participant.reference.as_str()).collect();
    let blobs = Blobs::new(setup.folder, &document, formats.iter().copied());
    let mut notes = Vec::new();
    for format in formats {
        match blobs.get(format) {
            Ok(blob) => notes.extend(blob.losses.iter().map(|loss| format!("as {format} the data loses: {loss}"))),
            Err(reason) => notes.push(format!("the data can't be written as {format}: {reason}")),
        }
    }

    let mut contenders = Vec::new();
    for (done, participant) in participants.iter().enumerate() {
        if environment.stop.load(Ordering::Relaxed) {
            break;
        }
        let activity = format!("{}{}: checking {}", setup.scenario.name, setup.size_suffix(), participant.name);
        progress.report_progress(&activity, CHECK_SHARE * done as f64 / participants.len() as f64, None);
        match prepare_contender(setup, participant, &blobs, environment, options) {
            Ok(contender) => contenders.push(contender),
            Err(ParticipantError::Stopped) => break,
            Err(error) => absent.push(make_absent(participant, error)),
        }
    }
    let baseline = choose_baseline(&contenders, setup.scenario);
    add_twin(&mut contenders, baseline.as_deref());
    let mut rounds = RoundRunner { setup, environment, options, probe, blobs: &blobs, rng: Rng::with_seed(setup.seed) };
    absent.extend(rounds.run_all(&mut contenders, progress));
    progress.finish_part();

    notes.extend(contenders.iter().flat_map(|contender| contender.notes.iter().cloned()));
    let (entries, twin) = build_entries(contenders, baseline.as_deref());
    let exact = entries.iter().filter(|entry| entry.role == Role::Competitor && entry.fidelity == Fidelity::Exact);
    let memcpy_ns = exact.filter_map(|entry| entry.size).min().map(|size| time_memcpy(size as usize));
    let point = Point {
        name: setup.size.name.clone(),
        at: setup.size.at,
        parameters: setup.size.parameters.clone(),
        entries,
        memcpy_ns,
    };
    Ok(MeasuredSize { points: vec![point], absent, notes, twin, baseline })
}

fn make_absent(participant: &Participant, error: ParticipantError) -> Absent {
    let reason = match error {
        ParticipantError::Cannot(reason) => format!("it can't carry this: {reason}"),
        ParticipantError::Failed(reason) => reason,
        ParticipantError::Stopped => "the run was stopped".to_owned(),
    };
    Absent { competitor: participant.id.clone(), why: reason, install: None }
}

/// Returns the competitor that the others are compared with: the baseline, or for the user's own data the first one
/// that is exact.
fn choose_baseline(contenders: &[Contender], scenario: &Scenario) -> Option<String> {
    let was_timed = |contender: &&Contender| contender.role == Role::Competitor && !contender.tasks.is_empty();
    let named = contenders
        .iter()
        .filter(was_timed)
        .find(|contender| scenario.baseline.as_ref() == Some(&contender.participant.id));
    let first = || {
        contenders
            .iter()
            .filter(was_timed)
            .find(|contender| scenario.has_given_data() && contender.fidelity == Fidelity::Exact)
    };
    named.or_else(first).map(|contender| contender.participant.id.clone())
}

/// Adds the baseline a second time, as its twin. Both do the same work, so any difference between them is noise.
fn add_twin(contenders: &mut Vec<Contender>, baseline: Option<&str>) {
    let is_baseline = |contender: &&Contender| baseline == Some(&*contender.participant.id);
    if let Some(contender) = contenders.iter().find(is_baseline) {
        let twin = Contender {
            participant: contender.participant.clone(),
            role: Role::Twin,
            fidelity: Fidelity::Unchecked,
            size: None,
            memory: Vec::new(),
            tasks: contender.tasks.clone(),
            notes: Vec::new(),
            start_seconds: contender.start_seconds,
        };
        contenders.push(twin);
    }
}

impl Setup<'_> {
    /// Returns the name of the size for the end of a title, as `, large`.
    fn size_suffix(&self) -> String {
        if self.size.name.is_empty() { String::new() } else { format!(", {}", self.size.name) }
    }
}

/// The rounds of one size.
struct RoundRunner<'r, 'e> {
    setup: &'r Setup<'r>,
    environment: &'r Environment<'e>,
    options: &'r Options,
    probe: &'r mut Probe,
    blobs: &'r Blobs<'r>,
    rng: Rng,
}

impl<'e> RoundRunner<'_, 'e> {
    /// Runs all rounds. Competitors that fail are removed and returned.
    fn run_all(&mut self, contenders: &mut Vec<Contender>, progress: &mut Progress<'_>) -> Vec<Absent> {
        let rounds = self.count_fitting_rounds(contenders);
        let began = Instant::now();
        let mut absent = Vec::new();
        for round in 0..rounds {
            let spent_seconds = began.elapsed().as_secs_f64();
            let round_seconds =
                if round == 0 { self.estimate_round_seconds(contenders) } else { spent_seconds / f64::from(round) };
            let remaining_time = Duration::from_secs_f64((round_seconds * f64::from(rounds - round)).clamp(0.0, 1e6));
            let activity =
                format!("{}{}: round {} of {rounds}", self.setup.scenario.name, self.setup.size_suffix(), round + 1);
            progress.report_progress(
                &activity,
                CHECK_SHARE + (1.0 - CHECK_SHARE) * f64::from(round) / f64::from(rounds),
                Some(remaining_time),
            );
            let mut order: Vec<usize> = (0..contenders.len()).collect();
            self.rng.shuffle(&mut order);
            let mut failed: Vec<(usize, ParticipantError)> = match self.setup.scenario.processes {
                Processes::Together => self.run_together(contenders, &order, round),
                Processes::Alone => self.run_one_at_a_time(contenders, &order, round),
            };
            // The highest index is removed first, so that the other indexes stay valid.
            failed.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
            for (index, error) in failed {
                if error != ParticipantError::Stopped {
                    absent.push(make_absent(&contenders.remove(index).participant, error));
                }
            }
            if self.is_stopped() {
                break;
            }
        }
        absent
    }

    fn is_stopped(&self) -> bool {
        self.environment.stop.load(Ordering::Relaxed)
    }

    /// Estimates how many seconds a round takes.
    fn estimate_round_seconds(&self, contenders: &[Contender]) -> f64 {
        let round_seconds_of = |contender: &Contender| -> f64 {
            // In addition to its turns, each task is executed once to warm up.
            let task_seconds = |task: &Task| task.sample_seconds() * f64::from(task.turn_count(self.options) + 1);
            contender.start_seconds + contender.tasks.iter().map(task_seconds).sum::<f64>()
        };
        contenders.iter().map(round_seconds_of).sum()
    }

    /// Returns how many rounds fit into the budget.
    fn count_fitting_rounds(&self, contenders: &[Contender]) -> u32 {
        let Some(budget) = self.options.budget else { return self.options.rounds };
        let sizes = self.setup.scenario.sizes(self.options.small).count().max(1);
        // The budget is for the scenario, so each size gets an equal part.
        let fitting_rounds = budget.as_secs_f64() / sizes as f64 / self.estimate_round_seconds(contenders).max(1e-3);
        (fitting_rounds as u32).clamp(MIN_ROUNDS.min(self.options.rounds), self.options.rounds)
    }

    fn start_contender(&self, contender: &Contender) -> Result<Box<dyn RunningParticipant + 'e>, ParticipantError> {
        let blob = self.blobs.get(&contender.participant.reference).map_err(ParticipantError::Cannot)?;
        start_participant(self.setup, &contender.participant, blob, self.environment)
    }

    /// Runs a round in which all processes exist at the same time. They take turns for each operation, in a new random
    /// order each time.
    fn run_together(
        &mut self,
        contenders: &mut [Contender],
        order: &[usize],
        round: u32,
    ) -> Vec<(usize, ParticipantError)> {
        let mut failed = Vec::new();
        let mut runners = Vec::new();
        for index in order {
            match self
                .start_contender(&contenders[*index])
                .and_then(|mut runner| warm_up(&contenders[*index], runner.as_mut()).map(|()| runner))
            {
                Ok(runner) => runners.push((*index, runner)),
                Err(error) => failed.push((*index, error)),
            }
        }
        for turn in 0..self.options.turns {
            self.probe.take_sample(round, turn);
            for operation in &self.setup.scenario.operations {
                self.rng.shuffle(&mut runners);
                for (index, runner) in &mut runners {
                    if self.is_stopped() {
                        return failed;
                    }
                    let time =
                        take_sample(&mut contenders[*index], runner.as_mut(), *operation, round, turn, self.options);
                    failed.extend(time.err().map(|error| (*index, error)));
                }
                runners.retain(|(index, _)| failed.iter().all(|(failed, _)| failed != index));
            }
        }
        failed
    }

    /// Runs a round in which one process exists at a time.
    fn run_one_at_a_time(
        &mut self,
        contenders: &mut [Contender],
        order: &[usize],
        round: u32,
    ) -> Vec<(usize, ParticipantError)> {
        let mut failed = Vec::new();
        for index in order {
            if self.is_stopped() {
                return failed;
            }
            self.probe.take_sample(round, 0);
            if let Err(error) = self.run_contender(&mut contenders[*index], round) {
                failed.push((*index, error));
            }
        }
        failed
    }

    fn run_contender(&self, contender: &mut Contender, round: u32) -> Result<(), ParticipantError> {
        let mut runner = self.start_contender(contender)?;
        for turn in 0..self.options.turns {
            for operation in &self.setup.scenario.operations {
                if self.is_stopped() {
                    return Err(ParticipantError::Stopped);
                }
                take_sample(contender, runner.as_mut(), *operation, round, turn, self.options)?;
            }
        }
        Ok(())
    }
}

/// Executes every operation of a new process once, without recording the time.
fn warm_up(contender: &Contender, runner: &mut dyn RunningParticipant) -> Result<(), ParticipantError> {
    contender.tasks.iter().try_for_each(|task| runner.time_operation(task.operation, task.executions).map(drop))
}

fn take_sample(
    contender: &mut Contender,
    runner: &mut dyn RunningParticipant,
    operation: Operation,
    round: u32,
    turn: u32,
    options: &Options,
) -> Result<(), ParticipantError> {
    let task = contender.tasks.iter_mut().find(|task| task.operation == operation);
    let Some(task) = task.filter(|task| turn < task.turn_count(options)) else { return Ok(()) };
    let ns = runner.time_operation(operation, task.executions)? / task.executions as f64;
    task.samples.push(Sample { round, turn, ns });
    Ok(())
}

/// Returns the measurements compared with the baseline, and how far the baseline's twin is from the baseline.
fn build_entries(contenders: Vec<Contender>, baseline: Option<&str>) -> (Vec<Entry>, Vec<Interval>) {
    let is_baseline =
        |contender: &&Contender| contender.role != Role::Twin && baseline == Some(&*contender.participant.id);
    let baseline: Vec<Task> =
        contenders.iter().find(is_baseline).map_or_else(Vec::new, |contender| contender.tasks.clone());
    let baseline_task = |task: &Task| baseline.iter().find(|other| other.operation == task.operation);
    let compare_twin = |contender: &Contender| -> Vec<(Operation, Interval)> {
        let compare =
            |task: &Task| Some((task.operation, stats::compute_speedup(&task.samples, &baseline_task(task)?.samples)?));
        contender.tasks.iter().filter_map(compare).collect()
    };
    let twins: Vec<(Operation, Interval)> =
        contenders.iter().filter(|contender| contender.role == Role::Twin).flat_map(compare_twin).collect();
    let resolution = |operation: Operation| {
        let twin = twins.iter().find(|(twin_operation, _)| *twin_operation == operation).map(|(_, interval)| *interval);
        stats::assess_noise(&[], twin).resolution
    };
    let to_cell = |task: &Task, is_baseline: bool| Cell {
        operation: task.operation,
        samples: task.samples.clone(),
        summary: stats::summarize_samples(&task.samples),
        against: baseline_task(task)
            .filter(|_| !is_baseline)
            .and_then(|other| stats::compare_samples(&task.samples, &other.samples, resolution(task.operation))),
    };
    let to_entry = |contender: &Contender| Entry {
        id: contender.participant.id.clone(),
        name: contender.participant.name.clone(),
        version: contender.participant.version.clone(),
        role: contender.role,
        fidelity: contender.fidelity.clone(),
        size: contender.size,
        cells: contender
            .tasks
            .iter()
            .filter(|task| !task.samples.is_empty())
            .map(|task| to_cell(task, is_baseline(&contender)))
            .collect(),
        memory: contender.memory.clone(),
    };
    let entries = contenders.iter().map(to_entry).collect();
    (entries, twins.into_iter().map(|(_, interval)| interval).collect())
}
