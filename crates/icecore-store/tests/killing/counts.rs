//! Counts that a test prints.

use super::ReportedEvents;
use std::collections::BTreeMap;
use std::io::Write;

/// What happened on one backend.
#[derive(Default)]
pub struct Counts {
    kills: BTreeMap<&'static str, u64>,
    jobs: usize,
    reported_ids: usize,
    leases: usize,
    begun_commands: usize,
    extended: usize,
    lost_leases: usize,
    done: usize,
    objects: usize,
}

impl Counts {
    /// Counts a kill of this kind.
    pub fn killed(&mut self, kind: &'static str) {
        *self.kills.entry(kind).or_default() += 1;
    }

    /// Adds the events of a database that kept all of them.
    pub fn add(&mut self, events: &ReportedEvents, jobs: usize, lost_leases: usize) {
        self.jobs += jobs;
        self.reported_ids += events.pushed.len();
        self.leases += events.grants.len();
        self.begun_commands += events.begun.len();
        self.extended += events.extended;
        self.lost_leases += lost_leases;
        self.done += events.done.len();
        self.objects += events.put.len();
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
            self.reported_ids,
            self.jobs,
            self.objects,
            self.leases,
            self.extended,
            self.lost_leases,
            self.begun_commands,
            self.done,
        );
        let enough = |count: usize| count as u64 >= rounds;
        assert!(enough(self.reported_ids) && enough(self.leases) && enough(self.done), "there was no load");
        assert!(self.kills.values().all(|count| *count >= rounds), "fewer kills than rounds: {:?}", self.kills);
    }
}
