//! One participant at one size: checks its output, and determines how many executions a sample needs.

use super::Options;
use super::blobs::{Blob, Blobs};
use super::point::Setup;
use crate::fidelity::{Eyes, fidelity};
use crate::model::{Fidelity, MemoryStep, Operation, Role, Sample};
use crate::runner::{Answer, Checked, Environment, Load, Participant, Seat, Trouble};
use crate::scenario;
use icecore::{Document, Limits, Stage};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// An execution that takes longer than this many seconds gives only one sample per process.
const LONG: f64 = 0.2;

/// If an execution takes longer than this many seconds, the operation is left out.
const TOO_LONG: f64 = 60.0;

/// No operation takes fewer nanoseconds than this.
const FASTEST: f64 = 0.2;

/// A competitor that takes part.
pub(super) struct Contender {
    pub participant: Participant,
    pub role: Role,
    pub fidelity: Fidelity,
    pub size: Option<u64>,
    pub memory: Vec<MemoryStep>,
    pub tasks: Vec<Task>,
    pub notes: Vec<String>,
    /// Seconds until it has loaded the data.
    pub start: f64,
}

/// A timed operation.
#[derive(Clone)]
pub(super) struct Task {
    pub operation: Operation,
    /// Number of executions in a sample.
    pub times: u64,
    /// Approximate nanoseconds per execution.
    pub ns: f64,
    pub samples: Vec<Sample>,
}

impl Task {
    /// Returns how many samples a process gives.
    pub fn turns(&self, options: &Options) -> u32 {
        if self.ns > LONG * 1e9 { 1 } else { options.turns }
    }

    /// Returns how many seconds a sample takes.
    pub fn seconds(&self) -> f64 {
        self.ns * self.times as f64 / 1e9
    }
}

/// Starts a participant and passes it the data.
pub(super) fn seat<'s>(
    place: &Setup<'_>,
    participant: &Participant,
    blob: &Blob,
    environment: &Environment<'s>,
) -> Result<Box<dyn Seat + 's>, Trouble> {
    let folder = folder(place, participant);
    let mut seat = participant.start(environment, &folder)?;
    let code = scenario::code(environment.folder, &place.scenario.name, participant.ending());
    let code = code.map_err(|error| Trouble::Failed(error.to_string()))?;
    seat.load(&Load {
        scenario: &place.scenario.name,
        medium: place.scenario.medium.name(),
        file: &blob.path,
        code: code.as_deref(),
        folder: &folder,
        parameters: &place.size.parameters,
    })?;
    Ok(seat)
}

fn folder(place: &Setup<'_>, participant: &Participant) -> PathBuf {
    place.folder.join(participant.id.replace(['/', ':', '=', ','], "-"))
}

/// Checks the output of a participant, and then measures how long its operations take.
pub(super) fn audition(
    place: &Setup<'_>,
    participant: &Participant,
    blobs: &Blobs<'_>,
    environment: &Environment<'_>,
    options: &Options,
) -> Result<Contender, Trouble> {
    let blob = blobs.get(&participant.reference).map_err(Trouble::Cannot)?;
    let before = Instant::now();
    let mut seat = seat(place, participant, blob, environment)?;
    let start = before.elapsed().as_secs_f64();
    let folder = folder(place, participant);
    let mut contender = Contender {
        participant: participant.clone(),
        role: participant.role,
        fidelity: Fidelity::Unchecked,
        size: None,
        memory: Vec::new(),
        tasks: Vec::new(),
        notes: Vec::new(),
        start,
    };
    let eyes = Eyes::of(&participant.reference);
    if participant.role != Role::Floor {
        let Checked { size, answer } = seat.check(&folder)?;
        contender.size = size;
        contender.fidelity = judge(&blob.expected, answer, eyes);
    }
    for operation in &place.scenario.operations {
        if participant.operations.contains(operation) {
            tune(&mut contender, seat.as_mut(), *operation, options)?;
        }
    }
    let made_json = contender.tasks.iter().any(|task| task.operation == Operation::ToJson);
    if made_json && let Err(why) = json(&blob.expected, &folder.join("json")) {
        contender.tasks.retain(|task| task.operation != Operation::ToJson);
        contender.notes.push(format!("{}: its JSON is not the value: {why}", participant.name));
    }
    contender.notes.extend(seat.notes().iter().map(|note| format!("{}: {note}", participant.name)));
    drop(seat);
    if place.scenario.memory && participant.role == Role::Competitor {
        let mut seat = self::seat(place, participant, blob, environment)?;
        contender.memory = seat.memory()?;
    }
    Ok(contender)
}

/// Compares the output with the input.
fn judge(expected: &Document<'_>, answer: Answer, eyes: Eyes) -> Fidelity {
    let wrong = |why: String| Fidelity::Differs { differences: vec![format!("what came back can't be read: {why}")] };
    match answer {
        Answer::Document(found) => fidelity(expected, &found, eyes),
        Answer::File(path, format) => match std::fs::read(&path) {
            Err(error) => wrong(error.to_string()),
            Ok(bytes) => match read(&bytes, &format) {
                Err(error) => wrong(error.to_string()),
                Ok(found) => fidelity(expected, &found, if format == "json" { AS_JSON } else { eyes }),
            },
        },
    }
}

/// JSON has no order and no classes; numbers are numbers.
const AS_JSON: Eyes = Eyes { unordered: true, loose_numbers: false, characters: true };

/// Checks that a JSON file has the same value as the expected document converted to JSON.
fn json(expected: &Document<'_>, path: &Path) -> Result<(), String> {
    let say = |error: &dyn std::fmt::Display| error.to_string();
    let plain = icecore::write(expected, "json").map_err(|error| say(&error))?;
    let plain = read(&plain, "json").map_err(|error| say(&error))?;
    let bytes = std::fs::read(path).map_err(|error| say(&error))?;
    let found = read(&bytes, "json").map_err(|error| say(&error))?;
    match fidelity(&plain, &found, AS_JSON) {
        Fidelity::Differs { differences } => Err(differences.join("; ")),
        _ => Ok(()),
    }
}

fn read<'b>(bytes: &'b [u8], format: &str) -> Result<Document<'b>, icecore::Error> {
    icecore::read_as(bytes, &Stage::parse(format)?, &Limits::new())
}

/// Determines how many executions last as long as a sample. This also warms up the operation.
fn tune(
    contender: &mut Contender,
    seat: &mut dyn Seat,
    operation: Operation,
    options: &Options,
) -> Result<(), Trouble> {
    let wanted = options.sample.as_nanos() as f64;
    let mut times = 1;
    let mut ns = seat.time(operation, times)?;
    for _ in 0..8 {
        if ns >= wanted / 2.0 {
            break;
        }
        // The number grows only gradually, because the first executions are slow.
        times = (times as f64 * (wanted / ns).clamp(2.0, 50.0)).ceil() as u64;
        ns = seat.time(operation, times)?;
    }
    let each = ns / times as f64;
    if each < FASTEST {
        return Err(Trouble::Failed(format!("it says that {times} times {operation} took {ns} ns, which can't be")));
    }
    if each > TOO_LONG * 1e9 {
        let (name, seconds) = (&contender.participant.name, each / 1e9);
        contender.notes.push(format!("{name}: {operation} is left out, as one takes {seconds:.0} seconds"));
        return Ok(());
    }
    let times = ((wanted / each).ceil() as u64).max(1);
    contender.tasks.push(Task { operation, times, ns: each, samples: Vec::new() });
    Ok(())
}
