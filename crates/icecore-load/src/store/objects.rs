//! `store each --json` with many small objects in SQLite: objects per second, and memory.

use super::StoreRun;
use super::database::DatabaseServer;
use super::model::{Peak, TimedSample, WalkMeasurement, rate_from_costs};
use icecore_lab::Error;
use icecore_lab::model::{Absent, Sample};
use icecore_lab::runner::ParticipantError;
use serde::Deserialize;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Number of files that are created and stored at a time.
const FILES_PER_GROUP: u32 = 10_000;
/// Maximum number of samples per number of objects, because they take long.
const MAX_SAMPLES: u32 = 5;
/// The time between two checks of the memory.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Measures all numbers of objects. Measures nothing if the command can't be bound to one core.
pub(super) fn measure_objects(run: &mut StoreRun<'_>) -> Result<Vec<WalkMeasurement>, Error> {
    if run.options.objects.is_empty() || run.is_stopped() {
        return Ok(Vec::new());
    }
    if Command::new("taskset").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        let reason = "taskset is missing, which keeps a program on one core".to_owned();
        let install = Some("apt-get install util-linux".to_owned());
        run.absent.push(Absent { competitor: "icecore/each".to_owned(), why: reason, install });
        return Ok(Vec::new());
    }
    match measure_counts(run) {
        Ok(objects) => Ok(objects),
        Err(error) => {
            run.mark_absent("icecore/each", error);
            Ok(Vec::new())
        }
    }
}

fn measure_counts(run: &mut StoreRun<'_>) -> Result<Vec<WalkMeasurement>, ParticipantError> {
    let folder = run.folder.join("objects");
    let database = DatabaseServer::Sqlite(folder.clone()).create_database("objects", run.queries)?;
    let mut store = Store { address: database.address.clone(), folder, count: 0, bytes: 0 };
    let mut counts = run.options.objects.clone();
    counts.sort_unstable();
    let mut measurements = Vec::new();
    for count in counts {
        (run.report_progress)(&format!("SQLite, objects: storing up to {count}"));
        store.store_objects(count, run)?;
        store.check_objects(run)?;
        run.record_check(format!(
            "icecore store each: {count} objects of three formats are read, each once, as they were made"
        ));
        let (mut samples, mut peaks) = (Vec::new(), Vec::new());
        for round in 0..run.options.rounds.min(MAX_SAMPLES) {
            let (ns, peak) = store.time_walk(run)?;
            samples.push(TimedSample { round, turn: 0, jobs: count, ns, p50: None, p99: None });
            peaks.push(Peak { bytes: peak });
        }
        let to_cost =
            |timed: &TimedSample| Sample { round: timed.round, turn: 0, ns: timed.ns / f64::from(timed.jobs) };
        let costs: Vec<Sample> = samples.iter().map(to_cost).collect();
        let per_second = rate_from_costs(&costs);
        measurements.push(WalkMeasurement { count, bytes: store.bytes, samples, per_second, peaks });
    }
    database.drop_database(run.queries)?;
    Ok(measurements)
}

/// A store that grows.
struct Store {
    address: String,
    folder: PathBuf,
    count: u32,
    bytes: u64,
}

impl Store {
    /// Stores files with the command until there are this many objects.
    fn store_objects(&mut self, count: u32, run: &StoreRun<'_>) -> Result<(), ParticipantError> {
        let files = self.folder.join("files");
        while self.count < count {
            if run.is_stopped() {
                return Err(ParticipantError::Stopped);
            }
            // The files of this group overwrite those of the previous one. A smaller group would leave some of them,
            // and they would be stored again, so they are removed first.
            let end = count.min(self.count + FILES_PER_GROUP);
            if end - self.count < FILES_PER_GROUP {
                let _ = fs::remove_dir_all(&files);
            }
            fs::create_dir_all(&files).map_err(|error| path_failure(&files, &error))?;
            for number in self.count..end {
                let bytes = freeze_employee(number).map_err(|error| ParticipantError::Failed(error.to_string()))?;
                let file = files.join(format!("{:05}", number % FILES_PER_GROUP));
                fs::write(&file, &bytes).map_err(|error| path_failure(&file, &error))?;
                self.bytes += bytes.len() as u64;
            }
            let result = self.store_command(&run.options.icecore, &["put"]).arg(&files).stdout(Stdio::null()).status();
            match result {
                Ok(status) if status.success() => self.count = end,
                Ok(status) => return Err(ParticipantError::Failed(format!("store put ended: {status}"))),
                Err(error) => return Err(path_failure(&run.options.icecore, &error)),
            }
        }
        Ok(())
    }

    fn store_command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(["-q", "store"]).args(arguments).env("ICECORE_DB", &self.address).stdin(Stdio::null());
        command
    }

    /// Checks that each object comes once, with its original value.
    fn check_objects(&self, run: &StoreRun<'_>) -> Result<(), ParticipantError> {
        let icecore = &run.options.icecore;
        let mut command = self.store_command(icecore, &["each", "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| path_failure(icecore, &error))?;
        let mut found = vec![false; self.count as usize];
        let lines = child.stdout.take().map(|output| BufReader::new(output).lines()).into_iter().flatten();
        let first_error = lines.map_while(Result::ok).find_map(|line| check_line(&line, &mut found).err());
        if first_error.is_some() {
            let _ = child.kill();
        }
        let status = child.wait().map_err(|error| path_failure(icecore, &error))?;
        let missing = found.iter().position(|is_found| !is_found);
        match (first_error, missing, status.success()) {
            (Some(reason), _, _) => Err(ParticipantError::Failed(reason)),
            (None, Some(number), _) => Err(ParticipantError::Failed(format!("object {number} is not there"))),
            (None, None, false) => Err(ParticipantError::Failed(format!("store each ended: {status}"))),
            (None, None, true) => Ok(()),
        }
    }

    /// Walks through all objects on one core. Returns the time and the peak memory.
    fn time_walk(&self, run: &StoreRun<'_>) -> Result<(f64, u64), ParticipantError> {
        let icecore =
            std::path::absolute(&run.options.icecore).map_err(|error| path_failure(&run.options.icecore, &error))?;
        let core = std::thread::available_parallelism().map_or(0, |cores| cores.get() - 1).to_string();
        let mut command = Command::new("taskset");
        command.args(["-c", &core]).arg(&icecore).args(["-q", "store", "each", "--json"]);
        command.env("ICECORE_DB", &self.address).stdin(Stdio::null()).stdout(Stdio::null());
        let began = Instant::now();
        let mut child = command.spawn().map_err(|error| path_failure(Path::new("taskset"), &error))?;
        let mut peak = 0;
        let status = loop {
            // The system records the peak itself, so only growth between the last check and the end is missed.
            peak = peak.max(read_peak_memory(&child).unwrap_or(0));
            if run.is_stopped() {
                let _ = child.kill();
                let _ = child.wait();
                return Err(ParticipantError::Stopped);
            }
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => std::thread::sleep(POLL_INTERVAL),
                Err(error) => return Err(path_failure(&icecore, &error)),
            }
        };
        let duration = began.elapsed().as_nanos() as f64;
        match status.success() && peak > 0 {
            true => Ok((duration, peak)),
            false => Err(ParticipantError::Failed(format!("store each ended ({status}), with {peak} bytes of memory"))),
        }
    }
}

fn path_failure(path: &Path, error: &std::io::Error) -> ParticipantError {
    ParticipantError::Failed(format!("{}: {error}", path.display()))
}

/// Returns an employee of the article, serialized by a format of Perl, PHP or Ruby, in turn.
fn freeze_employee(number: u32) -> Result<Vec<u8>, icecore::Error> {
    let age = 20 + number % 40;
    let (name, strings) = (format!("Employee_{number}"), if number % 3 == 2 { "text" } else { "bytes" });
    let value = match number % 3 {
        2 => format!(
            r#"{{"$map":[[{{"$symbol":"@id"}},{number}],[{{"$symbol":"@name"}},"{name}"],[{{"$symbol":"@age"}},{age}]]}}"#
        ),
        _ => format!(r#"{{"id":{number},"name":"{name}","age":{age}}}"#),
    };
    let typed = format!(r#"{{"$icecore":1,"$strings":"{strings}","$value":{{"$class":"Employee","$value":{value}}}}}"#);
    let format = ["storable", "php", "marshal"][(number % 3) as usize];
    icecore::convert(typed.as_bytes(), "json:typed", format)
}

/// Checks a line of `store each --json`.
fn check_line(line: &str, found: &mut [bool]) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Line {
        class: String,
        value: Employee,
    }
    #[derive(Deserialize)]
    struct Employee {
        id: u32,
        name: String,
        age: u32,
    }
    let message = || format!("not an employee: {line}");
    let Line { class, value } = serde_json::from_str(line).map_err(|_| message())?;
    let Employee { id, name, age } = value;
    if class != "Employee" || name != format!("Employee_{id}") || age != 20 + id % 40 {
        return Err(message());
    }
    match found.get_mut(id as usize) {
        Some(is_found) if !*is_found => *is_found = true,
        _ => return Err(format!("object {id} was returned twice or was never stored")),
    }
    Ok(())
}

/// Returns the peak of resident memory of a process so far, if the system reports it.
fn read_peak_memory(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_frozen_in_three_formats() {
        assert!(freeze_employee(0).expect("Storable").starts_with(b"pst0"));
        assert!(freeze_employee(1).expect("PHP").starts_with(br#"O:8:"Employee":3:{s:2:"id";i:1;"#));
        assert!(freeze_employee(2).expect("Marshal").starts_with(b"\x04\x08o:\x0dEmployee\x08:\x08@idi\x07"));
    }

    #[test]
    fn each_object_must_arrive_once_and_right() {
        let line = |id: u32, age: u32| {
            format!(r#"{{"class":"Employee","value":{{"id":{id},"name":"Employee_{id}","age":{age}}}}}"#)
        };
        let mut found = [false; 3];
        assert_eq!(check_line(&line(1, 21), &mut found), Ok(()));
        assert_eq!(found, [false, true, false]);
        for wrong in [line(1, 21), line(2, 21), line(3, 23), r#"{"class":"Employee","value":null}"#.to_owned()] {
            assert!(check_line(&wrong, &mut found).is_err(), "{wrong}");
        }
    }
}
