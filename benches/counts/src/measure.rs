//! Measures all benchmarks. As many run at the same time as there are processors: this does not change the counts.

use crate::callgrind::{self, Program};
use crate::compare::{Counts, Measured};
use crate::engine;
use crate::process::{self, Built, ProcessBenchmark};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The function of this program whose instructions are counted. The first asterisk matches the path of its module.
const FUNCTION: &str = "*run_measured*";

/// Measures benchmarks.
pub struct Measurer {
    program: PathBuf,
    work: PathBuf,
    processes: Vec<ProcessBenchmark>,
    /// For unique names of files.
    runs: AtomicUsize,
}

/// Whether a benchmark is one of the requested ones.
pub fn is_wanted(name: &str, only: &str) -> bool {
    name.contains(only)
}

impl Measurer {
    /// Finds this program, and writes the inputs of the others.
    ///
    /// # Errors
    /// If the folder for inputs can't be written.
    pub fn new(built: &Built) -> Result<Measurer, String> {
        let describe = |error: std::io::Error| format!("{}: {error}", built.work.display());
        std::fs::create_dir_all(&built.work).map_err(describe)?;
        let processes = process::benchmarks(built).map_err(describe)?;
        let program = std::env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
        Ok(Measurer { program, work: built.work.clone(), processes, runs: AtomicUsize::new(0) })
    }

    /// Measures all benchmarks whose names contain the word. `reason_against` returns why the benchmarks of a
    /// language are left out.
    pub fn measure_all(&self, only: &str, reason_against: impl Fn(&str) -> Option<String>) -> Counts {
        let mut counts = Counts::new();
        let mut tasks: Vec<(&str, Option<&[Program; 2]>)> = Vec::new();
        let engine = engine::benchmarks();
        // Processes take longest, so they start first, and the short benchmarks fill the time at the end.
        for benchmark in self.processes.iter().filter(|benchmark| is_wanted(&benchmark.name, only)) {
            let reason = benchmark.language.and_then(&reason_against);
            match (&benchmark.programs, &reason) {
                (_, Some(reason)) | (Err(reason), None) => {
                    counts.insert(benchmark.name.clone(), Measured::LeftOut(reason.clone()));
                }
                (Ok(programs), None) => tasks.push((&benchmark.name, Some(programs))),
            }
        }
        tasks.extend(
            engine
                .iter()
                .filter(|benchmark| is_wanted(&benchmark.name, only))
                .map(|benchmark| (benchmark.name.as_str(), None)),
        );

        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some((name, programs)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let measured = match programs {
                            Some(programs) => self.measure_process(programs),
                            None => self.measure_engine(name),
                        };
                        done.lock().expect("no thread panics with the lock").push(((*name).to_owned(), measured));
                    }
                });
            }
        });
        counts.extend(done.into_inner().expect("no thread panics with the lock"));
        counts
    }

    /// Measures a benchmark of the engine. A first run without callgrind checks the answer, so the counted run does
    /// not.
    pub fn measure_engine(&self, name: &str) -> Measured {
        match Command::new(&self.program).arg("try").arg(name).output() {
            Ok(done) if done.status.success() => {}
            Ok(done) => {
                let said = String::from_utf8_lossy(&done.stderr).trim().replace('\n', " ");
                return Measured::Failed(format!("its answer is wrong: {said}"));
            }
            Err(error) => return Measured::Failed(format!("it can't be run: {error}")),
        }
        let program = Program::new(self.program.clone()).arg("run").arg(name);
        match callgrind::count(&program, Some(FUNCTION), &self.new_file()) {
            Ok(0) => Measured::Failed("callgrind did not see the function that is counted".to_owned()),
            Ok(count) => Measured::Count(count),
            Err(reason) => Measured::Failed(reason),
        }
    }

    /// Measures a process with its work, and without.
    fn measure_process(&self, [full, empty]: &[Program; 2]) -> Measured {
        let count = |program| callgrind::count(program, None, &self.new_file());
        match (count(full), count(empty)) {
            (Ok(full), Ok(empty)) if full > empty => Measured::Count(full - empty),
            (Ok(_), Ok(_)) => Measured::Failed("the work takes no instructions".to_owned()),
            (Err(reason), _) | (_, Err(reason)) => Measured::Failed(reason),
        }
    }

    fn new_file(&self) -> PathBuf {
        self.work.join(format!("callgrind.{}.{}", std::process::id(), self.runs.fetch_add(1, Ordering::Relaxed)))
    }
}
