//! Queues.

use crate::common::{HOUR, World, backends, until};
use icecore_store::{Ack, Error, ErrorKind, Id, Job, JobFilter, NewJob, Pushed, QueueSettings, Rate, State, describe};
use proptest::collection::vec;
use proptest::prelude::*;
use std::time::Duration;

/// One call. Jobs and tokens are given by their number from the last one that was created. `ends` tells whether the
/// lease ends immediately.
#[derive(Clone, Debug)]
enum Step {
    Push {
        queue: usize,
        /// The priority, the key, the maximum number of attempts, and whether it is delayed, of each job.
        jobs: Vec<(i32, Option<u8>, u32, bool)>,
    },
    /// Pushes jobs that each follow another one.
    Chain {
        queue: usize,
        /// The predecessor (`None`: the previous job of the call), the key, and whether it is delayed, of each job.
        jobs: Vec<(Option<usize>, Option<u8>, bool)>,
    },
    /// Sets how many jobs of a queue may be leased at a time, and how many may be handed out per hour.
    Limit {
        queue: usize,
        concurrency: u32,
        rate: u32,
    },
    /// Pushes a job that was pushed before.
    PushAgain(usize),
    PushAndClaim {
        queue: usize,
        key: Option<u8>,
        ends: bool,
    },
    Claim {
        queue: usize,
        max_jobs: usize,
        ends: bool,
    },
    Ack {
        job: usize,
        token: usize,
        result: Option<u8>,
    },
    /// Acks several jobs of any queue: the job, the token, and the result of each.
    AckMany(Vec<(usize, usize, Option<u8>)>),
    Nack {
        job: usize,
        token: usize,
        delay: Option<bool>,
    },
    Extend {
        job: usize,
        token: usize,
        ends: bool,
    },
    Redrive {
        queue: usize,
        ids: Option<Vec<usize>>,
    },
    Replay(usize),
    Pause {
        queue: usize,
        is_paused: bool,
    },
    RemoveEnded,
}

fn any_step() -> impl Strategy<Value = Step> {
    let key = || proptest::option::weighted(0.5, 0..3u8);
    let ends = || proptest::bool::weighted(0.3);
    // Numbers count from the last item, so most calls are about recent items.
    let recent = || prop_oneof![4 => 0..2usize, 2 => 0..6usize, 1 => 0..100usize];
    prop_oneof![
        6 => (0..2usize, vec((-1..2i32, key(), 1..4u32, proptest::bool::weighted(0.1)), 1..4))
            .prop_map(|(queue, jobs)| Step::Push { queue, jobs }),
        1 => recent().prop_map(Step::PushAgain),
        4 => (0..2usize, vec((proptest::option::of(recent()), key(), proptest::bool::weighted(0.1)), 1..4))
            .prop_map(|(queue, jobs)| Step::Chain { queue, jobs }),
        1 => (0..2usize, 0..4u32, prop_oneof![2 => Just(0u32), 1 => 1..40u32])
            .prop_map(|(queue, concurrency, rate)| Step::Limit { queue, concurrency, rate }),
        1 => (0..2usize, key(), ends()).prop_map(|(queue, key, ends)| Step::PushAndClaim { queue, key, ends }),
        8 => (0..2usize, 0..4usize, ends()).prop_map(|(queue, max_jobs, ends)| Step::Claim { queue, max_jobs, ends }),
        5 => (recent(), recent(), any::<Option<u8>>()).prop_map(|(job, token, result)| Step::Ack { job, token, result }),
        3 => vec((recent(), recent(), any::<Option<u8>>()), 0..6).prop_map(Step::AckMany),
        6 => (recent(), recent(), proptest::option::weighted(0.9, proptest::bool::weighted(0.1)))
            .prop_map(|(job, token, delay)| Step::Nack { job, token, delay }),
        2 => (recent(), recent(), ends()).prop_map(|(job, token, ends)| Step::Extend { job, token, ends }),
        2 => (0..2usize, proptest::option::of(vec(recent(), 0..4))).prop_map(|(queue, ids)| Step::Redrive { queue, ids }),
        1 => recent().prop_map(Step::Replay),
        1 => (0..2usize, proptest::bool::weighted(0.3)).prop_map(|(queue, is_paused)| Step::Pause { queue, is_paused }),
        1 => Just(Step::RemoveEnded),
    ]
}

/// A lease as the model knows it.
#[derive(Clone, Debug)]
struct ExpectedLease {
    token: String,
    has_ended: bool,
}

/// A job as the model knows it.
#[derive(Clone, Debug)]
struct ExpectedJob {
    new: NewJob,
    queue: usize,
    state: State,
    attempts: u32,
    max_attempts: u32,
    /// Whether no other job can have its unique key. It ends with the job.
    has_key: bool,
    lease: Option<ExpectedLease>,
    /// The time that the store reported.
    run_at: i64,
    /// Whether it is delayed by an hour.
    is_late: bool,
    worker: Option<String>,
    error: Option<String>,
    result: Option<Vec<u8>>,
    is_removed: bool,
}

struct Model<'w> {
    world: &'w mut World,
    case: u64,
    jobs: Vec<ExpectedJob>,
    tokens: Vec<String>,
    paused: [bool; 2],
    /// The maximum number of leases at a time, and of jobs per hour; 0 means no limit.
    limits: [(u32, u32); 2],
    /// The number of jobs that were handed out while a rate was set.
    handed_out: [u32; 2],
    steps: usize,
}

/// Returns the index of the item that is `number` before the last one. The numbers wrap around.
fn index_from_end<T>(all: &[T], number: usize) -> Option<usize> {
    all.len().checked_sub(1 + number % all.len().max(1))
}

/// Returns the length of a lease: zero if it shall end during the test.
fn lease_length(ends: bool) -> Duration {
    if ends { Duration::ZERO } else { HOUR }
}

/// The number of attempts of a job without a maximum of its own.
const DEFAULT_MAX_ATTEMPTS: u32 = 20;

type Outcome = Result<(), TestCaseError>;

impl Model<'_> {
    fn queue_name(&self, queue: usize) -> String {
        format!("case {} queue {queue}", self.case)
    }

    /// Returns the job that has a unique key now.
    fn key_holder(&self, queue: usize, key: &str) -> Option<usize> {
        self.jobs.iter().position(|job| {
            !job.is_removed && job.has_key && job.queue == queue && job.new.unique_key.as_deref() == Some(key)
        })
    }

    fn add_job(&mut self, new: NewJob, queue: usize, state: State) -> usize {
        self.jobs.push(ExpectedJob {
            queue,
            state,
            attempts: 0,
            max_attempts: new.max_attempts.unwrap_or(DEFAULT_MAX_ATTEMPTS),
            has_key: new.unique_key.is_some(),
            lease: None,
            run_at: 0,
            is_late: new.delay > Duration::ZERO,
            worker: None,
            error: None,
            result: None,
            is_removed: false,
            new,
        });
        self.jobs.len() - 1
    }

    fn new_job(&self, queue: usize, priority: i32, key: Option<u8>, max_attempts: u32, is_late: bool) -> NewJob {
        NewJob {
            priority,
            unique_key: key.map(|key| format!("key {key}")),
            max_attempts: Some(max_attempts),
            delay: if is_late { HOUR } else { Duration::ZERO },
            ..describe::describe_job(&self.queue_name(queue), format!("{}", self.jobs.len()).into_bytes(), Some("json"))
        }
    }

    /// Returns the answer that the store must give to a new job.
    fn expect_push(&mut self, new: NewJob, queue: usize) -> Pushed {
        if let Some(holder) = new.unique_key.as_deref().and_then(|key| self.key_holder(queue, key)) {
            return Pushed { id: self.jobs[holder].new.id, is_new: false };
        }
        if self.jobs.iter().any(|job| job.new.id == new.id && !job.is_removed) {
            return Pushed { id: new.id, is_new: false };
        }
        let pushed = Pushed { id: new.id, is_new: true };
        self.add_job(new, queue, State::Ready);
        pushed
    }

    /// Waits until a lease has ended, if it shall end.
    fn wait_for_lease_end(&mut self, end: Option<i64>, ends: bool) {
        let end = end.expect("an end");
        if ends {
            until("the clock goes on", || (self.world.store.now().expect("the time") > end).then_some(()));
        }
    }

    /// Returns an error if this token does not permit changes to this job.
    fn check_token(&self, job: usize, token: &str) -> Result<(), ErrorKind> {
        match &self.jobs[job] {
            job if job.is_removed => Err(ErrorKind::Missing),
            ExpectedJob { state: State::Leased, lease: Some(lease), .. }
                if !lease.has_ended && lease.token == token =>
            {
                Ok(())
            }
            _ => Err(ErrorKind::Lease),
        }
    }

    /// Releases the ended leases of a queue, as the store does when a worker claims.
    fn release_ended_leases(&mut self, queue: usize) {
        for job in &mut self.jobs {
            let is_over = job.state == State::Leased && job.lease.as_ref().is_some_and(|lease| lease.has_ended);
            if job.queue == queue && is_over && !job.is_removed {
                job.lease = None;
                job.error = Some("the lease ended".to_owned());
                job.state = if job.attempts >= job.max_attempts { State::Dead } else { State::Ready };
                job.has_key &= job.state == State::Ready;
            }
        }
    }

    /// Returns how many jobs the limits of the queue allow to hand out, at most `max_jobs`.
    fn count_claimable(&self, queue: usize, max_jobs: usize) -> usize {
        let (concurrency, rate) = self.limits[queue];
        let leased = |job: &&ExpectedJob| job.queue == queue && job.state == State::Leased && !job.is_removed;
        let leased = self.jobs.iter().filter(leased).count();
        let mut claimable = max_jobs;
        if concurrency > 0 {
            claimable = claimable.min((concurrency as usize).saturating_sub(leased));
        }
        if rate > 0 {
            claimable = claimable.min(rate.saturating_sub(self.handed_out[queue]) as usize);
        }
        claimable
    }

    /// Counts jobs that were handed out, if the queue has a rate.
    fn count_handed_out(&mut self, queue: usize, count: usize) {
        let (_, rate) = self.limits[queue];
        if rate > 0 {
            self.handed_out[queue] += count as u32;
        }
    }

    /// Returns the jobs that can be handed out, in order.
    fn next_jobs(&self, queue: usize, max_jobs: usize) -> Vec<usize> {
        let is_next =
            |job: &ExpectedJob| job.queue == queue && job.state == State::Ready && !job.is_late && !job.is_removed;
        let mut next: Vec<usize> = (0..self.jobs.len()).filter(|index| is_next(&self.jobs[*index])).collect();
        next.sort_by_key(|index| (-i64::from(self.jobs[*index].new.priority), self.jobs[*index].run_at, *index));
        next.truncate(max_jobs);
        next
    }

    /// Returns the jobs that the store must have handed out. If enough jobs are ready, the store may skip the check
    /// for ended leases. Otherwise it checks, either before it hands out jobs, or after it has handed out those that
    /// were ready. The jobs of the second case may have a lower priority than those of the first.
    fn expect_claim(&mut self, queue: usize, max_jobs: usize, returned: &[Id]) -> Result<Vec<usize>, TestCaseError> {
        let is_over = |job: &&ExpectedJob| {
            let is_over = job.lease.as_ref().is_some_and(|lease| lease.has_ended);
            job.queue == queue && job.state == State::Leased && is_over && !job.is_removed
        };
        let ended: Vec<(Id, u32)> = self.jobs.iter().filter(is_over).map(|job| (job.new.id, job.attempts)).collect();
        let ready = self.next_jobs(queue, self.count_claimable(queue, max_jobs));
        let is_as_before = |(id, attempts): &(Id, u32)| {
            let stored = self.world.store.job(*id).expect("asked").expect("it is there");
            stored.state == State::Leased && stored.attempts == *attempts
        };
        let has_checked = ended.is_empty() || !ended.iter().all(is_as_before);
        let ids = |all: &[usize]| all.iter().map(|index| self.jobs[*index].new.id).collect::<Vec<Id>>();
        if !has_checked {
            prop_assert_eq!(ready.len(), max_jobs, "there is less than is asked for");
            prop_assert_eq!(returned, ids(&ready));
            return Ok(ready);
        }
        self.release_ended_leases(queue);
        let claimable = self.count_claimable(queue, max_jobs);
        let checked_before = self.next_jobs(queue, claimable);
        let mut checked_after = self.next_jobs(queue, usize::MAX);
        checked_after.retain(|index| !ready.contains(index));
        checked_after.truncate(claimable - ready.len());
        checked_after.extend(ready);
        let all = self.next_jobs(queue, usize::MAX);
        checked_after.sort_by_key(|index| all.iter().position(|other| other == index));
        let ids = |all: &[usize]| all.iter().map(|index| self.jobs[*index].new.id).collect::<Vec<Id>>();
        if returned == ids(&checked_after) {
            return Ok(checked_after);
        }
        prop_assert_eq!(returned, ids(&checked_before));
        Ok(checked_before)
    }

    fn expect_ack(
        &mut self,
        index: usize,
        token: &str,
        result: Option<Vec<u8>>,
        returned: icecore_store::Result<()>,
    ) -> Outcome {
        let expected = self.check_token(index, token);
        prop_assert_eq!(returned.map_err(|error| error.kind()), expected);
        if expected.is_ok() {
            let job = &mut self.jobs[index];
            (job.state, job.lease, job.error) = (State::Done, None, None);
            (job.has_key, job.result) = (false, result);
            let id = job.new.id;
            for job in &mut self.jobs {
                if job.state == State::Waiting && job.new.after == Some(id) {
                    job.state = State::Ready;
                }
            }
        }
        Ok(())
    }

    /// Returns the answer to new jobs that follow others; `None` if one of those does not exist.
    fn expect_chain(&mut self, new: Vec<NewJob>, queue: usize) -> Option<Vec<Pushed>> {
        let jobs_before = self.jobs.clone();
        // A new job with the id or the key of an existing one is not stored. Jobs that follow it follow the existing
        // one.
        let mut existing_ids = std::collections::HashMap::new();
        let mut result = Vec::new();
        for mut job in new {
            job.after = job.after.map(|id| existing_ids.get(&id).copied().unwrap_or(id));
            let predecessor = job.after.and_then(|id| self.jobs.iter().rposition(|job| job.new.id == id));
            let state = match (job.after, predecessor.map(|index| &self.jobs[index])) {
                (None, _) => State::Ready,
                (_, Some(job)) if !job.is_removed && job.state == State::Done => State::Ready,
                (_, Some(job)) if !job.is_removed => State::Waiting,
                _ => {
                    self.jobs = jobs_before;
                    return None;
                }
            };
            let id = job.id;
            let pushed = self.expect_push(job, queue);
            match pushed.is_new {
                true => self.jobs.last_mut().expect("it is new").state = state,
                false => drop(existing_ids.insert(id, pushed.id)),
            }
            result.push(pushed);
        }
        Some(result)
    }

    /// Makes a call, and compares the answer with the model's.
    fn run_step(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Push { queue, jobs } => {
                let new: Vec<NewJob> = jobs
                    .iter()
                    .map(|(priority, key, max_attempts, is_late)| {
                        self.new_job(*queue, *priority, *key, *max_attempts, *is_late)
                    })
                    .collect();
                let answer = self.world.store.push(&new).expect("pushed");
                let expected: Vec<Pushed> = new.into_iter().map(|job| self.expect_push(job, *queue)).collect();
                prop_assert_eq!(answer, expected);
            }
            Step::Chain { queue, jobs } => {
                let mut new: Vec<NewJob> = Vec::new();
                for (predecessor, key, is_late) in jobs {
                    let mut job = self.new_job(*queue, 0, *key, 2, *is_late);
                    let chosen = predecessor.and_then(|number| self.find_job(number));
                    job.after = chosen.map(|index| self.jobs[index].new.id).or_else(|| new.last().map(|last| last.id));
                    new.push(job);
                }
                let answer = self.world.store.push(&new);
                match self.expect_chain(new, *queue) {
                    Some(expected) => prop_assert_eq!(answer.expect("pushed"), expected),
                    None => prop_assert_eq!(answer.map_err(|error| error.kind()), Err(ErrorKind::Missing)),
                }
            }
            Step::Limit { queue, concurrency, rate } => {
                let settings = QueueSettings {
                    concurrency: Some(*concurrency),
                    rate: Some(Rate { count: *rate, period: HOUR }),
                    ..QueueSettings::default()
                };
                self.world.store.configure(&self.queue_name(*queue), &settings).expect("configured");
                self.limits[*queue] = (*concurrency, *rate);
            }
            Step::PushAgain(number) => {
                let Some(index) = self.find_job(*number) else { return Ok(()) };
                let (new, queue) = (self.jobs[index].new.clone(), self.jobs[index].queue);
                let answer = self.world.store.push(std::slice::from_ref(&new));
                // A job that existed before is a duplicate, whatever happened to its predecessor.
                let is_known = !self.jobs[index].is_removed;
                let expected = match new.after {
                    Some(_) if is_known => Some(vec![self.expect_push(new, queue)]),
                    _ => self.expect_chain(vec![new], queue),
                };
                match expected {
                    Some(expected) => prop_assert_eq!(answer.expect("pushed"), expected),
                    None => prop_assert_eq!(answer.map_err(|error| error.kind()), Err(ErrorKind::Missing)),
                }
            }
            Step::PushAndClaim { queue, key, ends } => {
                let new = self.new_job(*queue, 0, *key, 2, false);
                let answer = self.world.store.push_and_claim(&new, "pusher", lease_length(*ends));
                if self.paused[*queue] {
                    prop_assert_eq!(answer.map_err(|error| error.kind()), Err(ErrorKind::Paused));
                    return Ok(());
                }
                if self.count_claimable(*queue, 1) == 0 {
                    prop_assert_eq!(answer.map_err(|error| error.kind()), Err(ErrorKind::Limited));
                    return Ok(());
                }
                let answer = answer.expect("asked");
                let expected = self.expect_push(new, *queue);
                prop_assert_eq!(answer.is_some(), expected.is_new);
                if let Some(answer) = answer {
                    prop_assert_eq!(answer.job.id, expected.id);
                    self.wait_for_lease_end(answer.job.lease_until, *ends);
                    self.count_handed_out(*queue, 1);
                    let job = self.jobs.last_mut().expect("it is new");
                    (job.state, job.attempts) = (State::Leased, 1);
                    job.lease = Some(ExpectedLease { token: answer.token.clone(), has_ended: *ends });
                    job.worker = Some("pusher".to_owned());
                    self.tokens.push(answer.token);
                }
            }
            Step::Claim { queue, max_jobs, ends } => {
                let worker = format!("worker {}", self.steps);
                // The time of a job that was given back may be this very millisecond.
                let answer = self
                    .world
                    .store
                    .claim(&self.queue_name(*queue), &worker, lease_length(*ends), *max_jobs)
                    .expect("claimed");
                if *max_jobs == 0 || self.paused[*queue] {
                    prop_assert_eq!(answer, []);
                    return Ok(());
                }
                let ids: Vec<Id> = answer.iter().map(|lease| lease.job.id).collect();
                let next = self.expect_claim(*queue, *max_jobs, &ids)?;
                self.count_handed_out(*queue, next.len());
                for (index, answer) in next.into_iter().zip(answer) {
                    self.wait_for_lease_end(answer.job.lease_until, *ends);
                    let job = &mut self.jobs[index];
                    (job.state, job.attempts, job.worker) = (State::Leased, job.attempts + 1, Some(worker.clone()));
                    job.lease = Some(ExpectedLease { token: answer.token.clone(), has_ended: *ends });
                    prop_assert_eq!(answer.job.attempts, job.attempts);
                    self.tokens.push(answer.token);
                }
            }
            Step::Ack { job, token, result } => {
                let (Some(index), Some(token)) = (self.find_job(*job), self.find_token(*job, *token)) else {
                    return Ok(());
                };
                let result = result.map(|byte| vec![byte]);
                let answer = self.world.store.ack(self.jobs[index].new.id, &token, result.as_deref());
                self.expect_ack(index, &token, result, answer)?;
            }
            Step::AckMany(acks) => {
                let chosen = acks.iter().filter_map(|(job, token, result)| {
                    let (index, token) = (self.find_job(*job)?, self.find_token(*job, *token)?);
                    Some((index, Ack { id: self.jobs[index].new.id, token, result: result.map(|byte| vec![byte]) }))
                });
                let (chosen, acks): (Vec<usize>, Vec<Ack>) = chosen.unzip();
                let answer = self.world.store.ack_many(&acks).expect("acked");
                prop_assert_eq!(answer.len(), acks.len());
                for ((index, ack), answer) in chosen.into_iter().zip(acks).zip(answer) {
                    self.expect_ack(index, &ack.token, ack.result, answer)?;
                }
            }
            Step::Nack { job, token, delay } => {
                let (Some(index), Some(token)) = (self.find_job(*job), self.find_token(*job, *token)) else {
                    return Ok(());
                };
                let error = format!("error {}", self.steps);
                let given_delay = delay.map(|is_late| if is_late { HOUR } else { Duration::ZERO });
                let answer = self.world.store.nack(self.jobs[index].new.id, &token, &error, given_delay);
                let expected = self.check_token(index, &token);
                let is_dead = self.jobs[index].attempts >= self.jobs[index].max_attempts;
                let state = if is_dead { State::Dead } else { State::Ready };
                prop_assert_eq!(answer.map_err(|error: Error| error.kind()), expected.map(|()| state));
                if expected.is_ok() {
                    let job = &mut self.jobs[index];
                    (job.state, job.lease, job.error) = (state, None, Some(error));
                    job.has_key &= state == State::Ready;
                    // The default of the queue is one hour.
                    job.is_late = delay.unwrap_or(true);
                }
            }
            Step::Extend { job, token, ends } => {
                let (Some(index), Some(token)) = (self.find_job(*job), self.find_token(*job, *token)) else {
                    return Ok(());
                };
                let answer = self.world.store.extend(self.jobs[index].new.id, &token, lease_length(*ends));
                let expected = self.check_token(index, &token);
                let end = answer.as_ref().ok().copied();
                prop_assert_eq!(answer.map(drop).map_err(|error| error.kind()), expected);
                if expected.is_ok() {
                    self.wait_for_lease_end(end, *ends);
                    self.jobs[index].lease = Some(ExpectedLease { token, has_ended: *ends });
                }
            }
            Step::Redrive { queue, ids } => {
                let chosen: Vec<usize> = match ids {
                    Some(ids) => ids.iter().filter_map(|number| self.find_job(*number)).collect(),
                    None => (0..self.jobs.len()).collect(),
                };
                let given: Vec<Id> = chosen.iter().map(|index| self.jobs[*index].new.id).collect();
                let given = ids.as_ref().map(|_| &*given);
                let answer = self.world.store.redrive(&self.queue_name(*queue), given, "ann").expect("redriven");
                let mut count = 0;
                for index in chosen {
                    let job = &self.jobs[index];
                    if job.queue == *queue && job.state == State::Dead && !job.is_removed {
                        let key = job.new.unique_key.clone();
                        let has_key = key.is_some_and(|key| self.key_holder(*queue, &key).is_none());
                        let job = &mut self.jobs[index];
                        (job.state, job.attempts, job.is_late, job.has_key) = (State::Ready, 0, false, has_key);
                        count += 1;
                    } else if given.is_some() && job.queue == *queue && job.state == State::Ready && job.is_late {
                        self.jobs[index].is_late = false;
                        count += 1;
                    }
                }
                prop_assert_eq!(answer, count);
            }
            Step::Replay(number) => {
                let Some(index) = self.find_job(*number) else { return Ok(()) };
                let replayed = self.jobs[index].clone();
                match self.world.store.replay(replayed.new.id, "ann") {
                    Ok(id) => {
                        prop_assert!(!replayed.is_removed);
                        let max_attempts = Some(replayed.max_attempts);
                        let mut new =
                            NewJob { id, unique_key: None, delay: Duration::ZERO, max_attempts, ..replayed.new };
                        new.after = None;
                        new.replay_of = Some(self.jobs[index].new.id);
                        self.add_job(new, replayed.queue, State::Ready);
                    }
                    Err(error) => prop_assert!(replayed.is_removed && error.kind() == ErrorKind::Missing),
                }
            }
            Step::Pause { queue, is_paused } => {
                self.world.store.pause(&self.queue_name(*queue), *is_paused, "ann").expect("paused");
                self.paused[*queue] = *is_paused;
            }
            Step::RemoveEnded => {
                // This also removes jobs of other cases. Nobody needs them any more.
                self.world.store.remove_ended_jobs(i64::MAX).expect("removed");
                let mut has_removed = false;
                for job in &mut self.jobs {
                    let is_over = matches!(job.state, State::Done | State::Dead) && !job.is_removed;
                    (job.is_removed, has_removed) = (job.is_removed || is_over, has_removed || is_over);
                }
                let ids: Vec<(Id, bool)> = self.jobs.iter().map(|job| (job.new.id, job.is_removed)).collect();
                for job in self.jobs.iter_mut().filter(|job| job.state == State::Waiting && has_removed) {
                    let predecessor = ids.iter().rfind(|(id, _)| Some(*id) == job.new.after);
                    if predecessor.is_none_or(|(_, is_removed)| *is_removed) {
                        (job.state, job.has_key) = (State::Dead, false);
                        job.error = Some("the job that this one waited for was removed before it was done".to_owned());
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the index of a job by its number from the last. If a removed job was pushed again, returns the new
    /// one.
    fn find_job(&self, number: usize) -> Option<usize> {
        let id = self.jobs[index_from_end(&self.jobs, number)?].new.id;
        self.jobs.iter().rposition(|job| job.new.id == id)
    }

    /// Returns the token of the job, or of another one.
    fn find_token(&self, job: usize, token: usize) -> Option<String> {
        let own = self.find_job(job).and_then(|index| self.jobs[index].lease.as_ref()).map(|lease| lease.token.clone());
        match (token, own) {
            // Most calls use the right token.
            (0..4, Some(own)) => Some(own),
            _ => index_from_end(&self.tokens, token).map(|index| self.tokens[index].clone()),
        }
    }

    /// Compares the stored data with the model.
    fn compare_with_store(&mut self) -> Outcome {
        for queue in 0..2 {
            let name = self.queue_name(queue);
            let stored = self.world.jobs(&JobFilter { queue: Some(name.clone()), ..JobFilter::default() });
            let expected: Vec<usize> = (0..self.jobs.len())
                .filter(|index| self.jobs[*index].queue == queue && !self.jobs[*index].is_removed)
                .collect();
            prop_assert_eq!(stored.len(), expected.len());
            for (stored, index) in stored.iter().zip(&expected) {
                self.jobs[*index].run_at = stored.run_at;
                compare_job(stored, &self.jobs[*index])?;
            }
            let count = |state| stored.iter().filter(|job| job.state == state).count() as u64;
            let counts = State::ALL.map(count);
            let ready_count = count(State::Ready);
            let late_count = expected
                .iter()
                .filter(|index| self.jobs[**index].state == State::Ready && self.jobs[**index].is_late)
                .count();
            let all = self.world.store.queues().expect("queues");
            let status = all.into_iter().find(|queue| queue.name == name).expect("it is configured");
            prop_assert_eq!(status.counts, counts);
            prop_assert_eq!(status.delayed, late_count as u64);
            prop_assert_eq!(status.oldest.is_some(), ready_count > late_count as u64);
            prop_assert_eq!(status.paused_at.is_some(), self.paused[queue]);
            let limits = (status.concurrency.unwrap_or(0), status.rate.map_or(0, |rate| rate.count));
            prop_assert_eq!(limits, self.limits[queue]);
        }
        Ok(())
    }
}

fn compare_job(stored: &Job, expected: &ExpectedJob) -> Outcome {
    prop_assert_eq!(stored.id, expected.new.id);
    prop_assert_eq!(
        (stored.state, stored.attempts, stored.max_attempts),
        (expected.state, expected.attempts, expected.max_attempts)
    );
    prop_assert_eq!((&stored.bytes, stored.priority), (&expected.new.bytes, expected.new.priority));
    prop_assert_eq!(
        (&stored.worker, &stored.error, &stored.result),
        (&expected.worker, &expected.error, &expected.result)
    );
    prop_assert_eq!((&stored.unique_key, stored.replay_of), (&expected.new.unique_key, expected.new.replay_of));
    prop_assert_eq!(stored.after, expected.new.after);
    prop_assert_eq!(stored.lease_until.is_some(), expected.state == State::Leased);
    prop_assert_eq!(stored.finished_at.is_some(), matches!(expected.state, State::Done | State::Dead));
    Ok(())
}

#[test]
fn queues_behave_like_the_model() {
    for (backend, new_database) in backends() {
        println!("{backend}");
        // All cases share one database: each has its own queues.
        let world = std::cell::RefCell::new(World::new(new_database()));
        let case = std::cell::Cell::new(0);
        let steps = vec(any_step(), 1..60);
        let answer = super::runner().run(&steps, |steps| {
            case.set(case.get() + 1);
            let mut world = world.borrow_mut();
            let mut model = Model {
                world: &mut world,
                case: case.get(),
                jobs: Vec::new(),
                tokens: Vec::new(),
                paused: [false; 2],
                limits: [(0, 0); 2],
                handed_out: [0; 2],
                steps: 0,
            };
            for queue in 0..2 {
                let settings = icecore_store::QueueSettings { backoff: Some(HOUR), ..Default::default() };
                let name = model.queue_name(queue);
                model.world.store.configure(&name, &settings).expect("configured");
            }
            for (number, step) in steps.iter().enumerate() {
                model.steps = number;
                let answer = model.run_step(step).and_then(|()| model.compare_with_store());
                answer.map_err(|error| TestCaseError::fail(format!("step {number}, {step:?}: {error}")))?;
            }
            // The other cases need not read these.
            model.world.clear("icecore_queues");
            model.world.clear("icecore_jobs");
            Ok(())
        });
        answer.unwrap_or_else(|error| panic!("{backend}: {error}"));
    }
}
