//! One participant at one size: checks its output, and determines how many executions a sample needs.

use super::Options;
use super::blobs::{Blob, Blobs};
use super::point::Setup;
use crate::fidelity::{ComparisonRules, check_fidelity};
use crate::model::{Fidelity, MemoryStep, Operation, Role, Sample};
use crate::runner::{Answer, Environment, Load, Participant, ParticipantError, RoundTrip, RunningParticipant};
use crate::scenario;
use icecore::{Document, Limits, Stage};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// An execution that takes longer than this many seconds gives only one sample per process.
const MAX_REPEATED_SECONDS: f64 = 0.2;

/// If an execution takes longer than this many seconds, the operation is left out.
const MAX_TIMED_SECONDS: f64 = 60.0;

/// No operation can take fewer nanoseconds than this, because it is about one cycle of a processor.
const MIN_NS: f64 = 0.2;

/// A competitor that takes part.
pub(super) struct Contender {
    pub participant: Participant,
    pub role: Role,
    pub fidelity: Fidelity,
    pub size: Option<u64>,
    pub memory: Vec<MemoryStep>,
    pub tasks: Vec<Task>,
    pub notes: Vec<String>,
    /// The time in seconds from the start of the process until it has loaded the data.
    pub start_seconds: f64,
}

/// A timed operation.
#[derive(Clone)]
pub(super) struct Task {
    pub operation: Operation,
    /// Number of executions in a sample.
    pub executions: u64,
    /// Approximate time of an execution.
    pub ns_per_execution: f64,
    pub samples: Vec<Sample>,
}

impl Task {
    /// Returns how many samples a process gives.
    pub fn turn_count(&self, options: &Options) -> u32 {
        if self.ns_per_execution > MAX_REPEATED_SECONDS * 1e9 { 1 } else { options.turns }
    }

    /// Returns how many seconds a sample takes.
    pub fn sample_seconds(&self) -> f64 {
        self.ns_per_execution * self.executions as f64 / 1e9
    }
}

/// Starts a participant and passes it the data.
pub(super) fn start_participant<'s>(
    setup: &Setup<'_>,
    participant: &Participant,
    blob: &Blob,
    environment: &Environment<'s>,
) -> Result<Box<dyn RunningParticipant + 's>, ParticipantError> {
    let folder = participant_folder(setup, participant);
    let mut runner = participant.start(environment, &folder)?;
    let code = scenario::extract_code(environment.folder, &setup.scenario.name, participant.file_extension());
    let code = code.map_err(|error| ParticipantError::Failed(error.to_string()))?;
    runner.load(&Load {
        scenario: &setup.scenario.name,
        medium: setup.scenario.medium.name(),
        file: &blob.path,
        code: code.as_deref(),
        folder: &folder,
        parameters: &setup.size.parameters,
    })?;
    Ok(runner)
}

fn participant_folder(setup: &Setup<'_>, participant: &Participant) -> PathBuf {
    setup.folder.join(participant.id.replace(['/', ':', '=', ','], "-"))
}

/// Checks the output of a participant, and then measures how long its operations take.
pub(super) fn prepare_contender(
    setup: &Setup<'_>,
    participant: &Participant,
    blobs: &Blobs<'_>,
    environment: &Environment<'_>,
    options: &Options,
) -> Result<Contender, ParticipantError> {
    let blob = blobs.get(&participant.reference).map_err(ParticipantError::Cannot)?;
    let began = Instant::now();
    let mut runner = start_participant(setup, participant, blob, environment)?;
    let start_seconds = began.elapsed().as_secs_f64();
    let folder = participant_folder(setup, participant);
    let mut contender = Contender {
        participant: participant.clone(),
        role: participant.role,
        fidelity: Fidelity::Unchecked,
        size: None,
        memory: Vec::new(),
        tasks: Vec::new(),
        notes: Vec::new(),
        start_seconds,
    };
    let rules = ComparisonRules::from_reference(&participant.reference);
    if participant.role != Role::Floor {
        let RoundTrip { size, answer } = runner.check_round_trip(&folder)?;
        contender.size = size;
        contender.fidelity = check_answer(&blob.expected, answer, rules);
    }
    for operation in &setup.scenario.operations {
        if participant.operations.contains(operation) {
            tune_operation(&mut contender, runner.as_mut(), *operation, options)?;
        }
    }
    let has_json = contender.tasks.iter().any(|task| task.operation == Operation::ToJson);
    if has_json && let Err(reason) = check_json(&blob.expected, &folder.join("json")) {
        contender.tasks.retain(|task| task.operation != Operation::ToJson);
        contender.notes.push(format!("{}: its JSON is not the value: {reason}", participant.name));
    }
    contender.notes.extend(runner.notes().iter().map(|note| format!("{}: {note}", participant.name)));
    drop(runner);
    if setup.scenario.memory && participant.role == Role::Competitor {
        let mut runner = start_participant(setup, participant, blob, environment)?;
        contender.memory = runner.measure_memory()?;
    }
    Ok(contender)
}

/// Compares the output with the input.
fn check_answer(expected: &Document<'_>, answer: Answer, rules: ComparisonRules) -> Fidelity {
    let undecodable = |reason: String| Fidelity::Differs {
        differences: vec![format!("the value that was read back can't be decoded: {reason}")],
    };
    match answer {
        Answer::Document(found) => check_fidelity(expected, &found, rules),
        Answer::File(path, format) => match std::fs::read(&path) {
            Err(error) => undecodable(error.to_string()),
            Ok(bytes) => match read_document(&bytes, &format) {
                Err(error) => undecodable(error.to_string()),
                Ok(found) => check_fidelity(expected, &found, if format == "json" { JSON_RULES } else { rules }),
            },
        },
    }
}

/// The rules for comparing JSON: the order of members does not count, and a number is not equal to a string with its
/// digits.
const JSON_RULES: ComparisonRules = ComparisonRules { unordered: true, loose_numbers: false, characters: true };

/// Checks that a JSON file has the same value as the expected document converted to JSON.
fn check_json(expected: &Document<'_>, path: &Path) -> Result<(), String> {
    let describe = |error: &dyn std::fmt::Display| error.to_string();
    let json_bytes = icecore::write(expected, "json").map_err(|error| describe(&error))?;
    let json_document = read_document(&json_bytes, "json").map_err(|error| describe(&error))?;
    let bytes = std::fs::read(path).map_err(|error| describe(&error))?;
    let found = read_document(&bytes, "json").map_err(|error| describe(&error))?;
    match check_fidelity(&json_document, &found, JSON_RULES) {
        Fidelity::Differs { differences } => Err(differences.join("; ")),
        _ => Ok(()),
    }
}

fn read_document<'b>(bytes: &'b [u8], format: &str) -> Result<Document<'b>, icecore::Error> {
    icecore::read_as(bytes, &Stage::parse(format)?, &Limits::new())
}

/// Determines how many executions last as long as a sample, and adds the operation to the tasks. This also warms up
/// the operation. An operation that takes too long is left out, with a note.
fn tune_operation(
    contender: &mut Contender,
    runner: &mut dyn RunningParticipant,
    operation: Operation,
    options: &Options,
) -> Result<(), ParticipantError> {
    const MAX_ATTEMPTS: usize = 8;
    let sample_ns = options.sample.as_nanos() as f64;
    let mut executions = 1;
    let mut ns = runner.time_operation(operation, executions)?;
    for _ in 0..MAX_ATTEMPTS {
        if ns >= sample_ns / 2.0 {
            break;
        }
        // The first executions are slow, so `ns` is too large at first. If `executions` followed it in one
        // step, the sample could become far too long, so one step is at most a factor of 50.
        executions = (executions as f64 * (sample_ns / ns).clamp(2.0, 50.0)).ceil() as u64;
        ns = runner.time_operation(operation, executions)?;
    }
    let ns_per_execution = ns / executions as f64;
    if ns_per_execution < MIN_NS {
        return Err(ParticipantError::Failed(format!(
            "it reports that {executions} times {operation} took {ns} ns, which is impossible"
        )));
    }
    if ns_per_execution > MAX_TIMED_SECONDS * 1e9 {
        let (name, seconds) = (&contender.participant.name, ns_per_execution / 1e9);
        contender.notes.push(format!("{name}: {operation} is left out, as one takes {seconds:.0} seconds"));
        return Ok(());
    }
    let executions = ((sample_ns / ns_per_execution).ceil() as u64).max(1);
    contender.tasks.push(Task { operation, executions, ns_per_execution, samples: Vec::new() });
    Ok(())
}
