//! Counts that a test prints.

use super::Told;
use std::collections::BTreeMap;
use std::io::Write;

/// What happened on one backend.
#[derive(Default)]
pub struct Counts {
    kills: BTreeMap<&'static str, u64>,
    jobs: usize,
    told: usize,
    leases: usize,
    begun: usize,
    extended: usize,
    taken_over: usize,
    done: usize,
    objects: usize,
}

impl Counts {
    /// Counts a kill of this kind.
    pub fn killed(&mut self, kind: &'static str) {
        *self.kills.entry(kind).or_default() += 1;
    }

    /// Adds the events of a database that kept all of them.
    pub fn add(&mut self, told: &Told, jobs: usize, taken_over: usize) {
        self.jobs += jobs;
        self.told += told.pushed.len();
        self.leases += told.grants.len();
        self.begun += told.begun.len();
        self.extended += told.extended;
        self.taken_over += taken_over;
        self.done += told.done.len();
        self.objects += told.put.len();
    }

    /// Prints one line. Panics if there was no load: then the test showed nothing.
    pub fn print(&self, backend: &str, rounds: u64) {
        let all: u64 = self.kills.values().sum();
        let kinds: Vec<String> = self.kills.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        // Not `println!`: its output is shown for failed tests only.
        let _ = writeln!(
            std::io::stderr(),
            "KILLS {backend}: {all} kills ({}); told: {} ids of {} jobs, {} objects, {} leases ({} extended, {} taken \
             over), {} commands begun, {} jobs done; lost 0, two live leases 0",
            kinds.join(", "),
            self.told,
            self.jobs,
            self.objects,
            self.leases,
            self.extended,
            self.taken_over,
            self.begun,
            self.done,
        );
        let enough = |count: usize| count as u64 >= rounds;
        assert!(enough(self.told) && enough(self.leases) && enough(self.done), "there was no load");
        assert!(self.kills.values().all(|count| *count >= rounds), "fewer kills than rounds: {:?}", self.kills);
    }
}
