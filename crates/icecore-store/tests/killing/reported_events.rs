//! The answers that programs got, and the check that the database agrees. All tests that kill
//! programs use it.

use icecore_store::{Backend, Flow, Id, Job, Object, ObjectFilter, State, describe};
use std::collections::{HashMap, HashSet};

/// The answers that all programs reported, one line for each event:
///
/// ```text
/// opened
/// pushed ID                      an id was returned
/// put ID                         the same for an object
/// granted ID ATTEMPT LEASE END   a lease of LEASE milliseconds, and its end
/// extended ID ATTEMPT END
/// begun ID ATTEMPT               a command runs; the end of its lease is not known
/// releasing ID ATTEMPT           from here on another worker may have it
/// done ID ATTEMPT                an ack was accepted
/// ```
#[derive(Default)]
pub struct ReportedEvents {
    pub pushed: HashSet<Id>,
    pub put: HashSet<Id>,
    /// When the lease began and its last known end, by job and attempt.
    pub grants: HashMap<(Id, u32), (i64, i64)>,
    pub begun: HashSet<(Id, u32)>,
    released: HashSet<(Id, u32)>,
    pub done: HashMap<Id, u32>,
    pub extended: usize,
}

impl ReportedEvents {
    pub fn add_line(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let id = || words[1].parse::<Id>().expect("an id");
        let attempt = || words[2].parse::<u32>().expect("an attempt");
        let number = |index: usize| words[index].parse::<i64>().expect("a number");
        match words[0] {
            "opened" => {}
            "pushed" => assert!(self.pushed.insert(id()), "{line}: twice"),
            "put" => assert!(self.put.insert(id()), "{line}: twice"),
            "granted" => {
                let lease = (number(4) - number(3), number(4));
                let before = self.grants.insert((id(), attempt()), lease);
                let is_new = before.is_none() && !self.begun.contains(&(id(), attempt()));
                assert!(is_new, "attempt {} of {} was granted twice", attempt(), id());
            }
            "begun" => {
                let is_new = self.begun.insert((id(), attempt())) && !self.grants.contains_key(&(id(), attempt()));
                assert!(is_new, "attempt {} of {} was granted twice", attempt(), id());
            }
            "extended" => {
                self.extended += 1;
                let (_, last) = self.grants.get_mut(&(id(), attempt())).expect("it was granted before");
                *last = number(3);
            }
            "releasing" => assert!(self.released.insert((id(), attempt())), "{line}: twice"),
            "done" => assert_eq!(self.done.insert(id(), attempt()), None, "{} was done twice", id()),
            _ => panic!("what is {line:?}?"),
        }
    }

    /// Checks that no job had two leases at a time. Returns the number of checked leases that
    /// followed one that nobody had given back.
    pub fn check_leases(&self) -> usize {
        let mut by_job: HashMap<Id, Vec<(u32, i64, i64)>> = HashMap::new();
        for ((id, attempt), (begin, end)) in &self.grants {
            by_job.entry(*id).or_default().push((*attempt, *begin, *end));
        }
        let mut pairs = 0;
        for (id, mut grants) in by_job {
            grants.sort_unstable();
            for pair in grants.windows(2) {
                let ((first, _, end), (second, begin, _)) = (pair[0], pair[1]);
                if !self.released.contains(&(id, first)) {
                    pairs += 1;
                    assert!(
                        begin > end,
                        "job {id}: attempt {second} began at {begin}, attempt {first} lasted until {end}"
                    );
                }
            }
            if let (Some(done), Some((last, ..))) = (self.done.get(&id), grants.last()) {
                assert_eq!(done, last, "job {id} was granted after it was done");
            }
        }
        pairs
    }

    /// Checks that all reported jobs exist, acked jobs are done and have their results, and batches
    /// are complete.
    pub fn check_jobs(&self, jobs: &[Job]) {
        let stored: HashMap<Id, &Job> = jobs.iter().map(|job| (job.id, job)).collect();
        for id in &self.pushed {
            assert!(stored.contains_key(id), "job {id} is lost");
        }
        for (id, attempt) in &self.done {
            let job = stored.get(id).unwrap_or_else(|| panic!("job {id} is lost"));
            assert_eq!((job.state, job.attempts), (State::Done, *attempt), "{id}");
        }
        let mut batches: HashMap<&[u8], usize> = HashMap::new();
        for job in jobs {
            assert_eq!(job.checksum, describe::compute_checksum(&job.bytes));
            if job.state == State::Done {
                // Each worker gives the number of its attempt as the result.
                let result = job.result.as_deref().map(String::from_utf8_lossy);
                assert_eq!(result.as_deref(), Some(&*job.attempts.to_string()), "{}", job.id);
            }
            *batches.entry(&job.bytes).or_default() += 1;
        }
        for (batch, count) in batches {
            let text = String::from_utf8_lossy(batch);
            assert!(text.ends_with(&format!(",{count}]")), "{count} of batch {text}");
        }
    }

    /// Checks that all jobs are done, each by a worker that had it.
    pub fn check_end(&self, jobs: &[Job]) {
        self.check_jobs(jobs);
        for job in jobs {
            let attempt = (job.id, job.attempts);
            assert_eq!(job.state, State::Done, "{}", job.id);
            assert!(self.grants.contains_key(&attempt) || self.begun.contains(&attempt), "nobody did {attempt:?}");
        }
    }

    /// Checks that all reported objects exist and are complete.
    pub fn check_objects(&self, store: &mut dyn Backend) {
        let mut stored = HashSet::new();
        let mut visit = |object: Object| {
            assert_eq!(object.checksum, describe::compute_checksum(&object.bytes));
            stored.insert(object.id);
            Ok(Flow::Continue)
        };
        store.objects(0, usize::MAX, &ObjectFilter::default(), &mut visit).expect("a walk");
        assert!(self.put.is_subset(&stored), "objects are lost");
    }
}
