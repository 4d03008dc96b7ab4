//! Schedules.

use crate::common::{Cell, World, backends};
use icecore_store::{ErrorKind, Id, JobFilter, NewSchedule, State, Timing};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// One call on one of three schedules.
#[derive(Clone, Debug)]
enum Step {
    Set {
        name: usize,
        timing: usize,
        is_alone: bool,
    },
    Pause {
        name: usize,
        is_paused: bool,
    },
    Remove(usize),
    /// A schedule becomes due: this many of its times have passed.
    Due {
        name: usize,
        times: i64,
    },
    /// Another program wrote an invalid timing.
    Break(usize),
    Fire(usize),
    /// A worker finishes a job.
    Work,
}

const TIMINGS: [(&str, Option<&str>); 4] =
    [("* * * * *", None), ("0 3 * * *", Some("Europe/Berlin")), ("every 2m", None), ("@yearly", Some("UTC"))];

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3usize, 0..TIMINGS.len(), any::<bool>()).prop_map(|(name, timing, is_alone)| Step::Set { name, timing, is_alone }),
        1 => (0..3usize, any::<bool>()).prop_map(|(name, is_paused)| Step::Pause { name, is_paused }),
        1 => (0..3usize).prop_map(Step::Remove),
        4 => (0..3usize, 0..3i64).prop_map(|(name, times)| Step::Due { name, times }),
        1 => (0..3usize).prop_map(Step::Break),
        5 => (0..4usize).prop_map(Step::Fire),
        2 => Just(Step::Work),
    ]
}

#[derive(Clone, Debug)]
struct ExpectedSchedule {
    timing: usize,
    is_alone: bool,
    payload: Vec<u8>,
    is_paused: bool,
    is_broken: bool,
    /// The time that `Step::Due` set, until it is fired.
    due: Option<i64>,
    last_id: Option<Id>,
    last_at: Option<i64>,
    has_problem: bool,
}

/// An unfinished job. `key` is its schedule, if that queues no second job meanwhile.
struct ExpectedJob {
    id: Id,
    payload: Vec<u8>,
    key: Option<String>,
}

struct Model<'w> {
    world: &'w mut World,
    case: u64,
    schedules: BTreeMap<String, ExpectedSchedule>,
    /// Unfinished jobs, in the order of their creation.
    jobs: Vec<ExpectedJob>,
    /// Times at which a schedule was due.
    used_times: HashSet<i64>,
    /// Number of the current step.
    steps: usize,
}

type Outcome = Result<(), TestCaseError>;

impl Model<'_> {
    fn queue_name(&self) -> String {
        format!("case {}", self.case)
    }

    fn schedule_name(&self, number: usize) -> String {
        format!("case {} schedule {number}", self.case)
    }

    /// Changes the stored row of a schedule, as another program would.
    fn change_row(&mut self, name: &str, cells: &[(&str, Cell)]) {
        self.world.change("icecore_schedules", cells, &[("name", Cell::Text(name))]);
    }

    /// Makes a call, and compares the answer with the model's.
    fn run_step(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Set { name, timing, is_alone } => {
                let name = self.schedule_name(*name);
                let payload = format!("{}", self.steps).into_bytes();
                let (text, zone) = TIMINGS[*timing];
                let parsed_timing = Timing::new(text, zone).expect("a timing");
                let new = NewSchedule {
                    is_alone: *is_alone,
                    ..NewSchedule::new(&name, self.queue_name(), parsed_timing, payload.clone())
                };
                let next = self.world.store.set_schedule(&new, "ann").expect("set");
                prop_assert_eq!(
                    Some(next),
                    self.world
                        .store
                        .schedules()
                        .expect("asked")
                        .iter()
                        .find(|expected| expected.name == name)
                        .and_then(|expected| expected.next_at)
                );
                let old = self.schedules.remove(&name);
                let (last_id, last_at) = old.map_or((None, None), |old| (old.last_id, old.last_at));
                let (timing, is_alone) = (*timing, *is_alone);
                let expected = ExpectedSchedule {
                    timing,
                    is_alone,
                    payload,
                    last_id,
                    last_at,
                    is_paused: false,
                    is_broken: false,
                    due: None,
                    has_problem: false,
                };
                self.schedules.insert(name, expected);
            }
            Step::Pause { name, is_paused } => {
                let name = self.schedule_name(*name);
                let result = self.world.store.pause_schedule(&name, *is_paused, "ann").map_err(|error| error.kind());
                let Some(expected) = self.schedules.get_mut(&name) else {
                    prop_assert_eq!(result, Err(ErrorKind::Missing));
                    return Ok(());
                };
                let was_active = !expected.is_paused && !expected.has_problem;
                if !*is_paused && !was_active && expected.is_broken {
                    prop_assert_eq!(result, Err(ErrorKind::Input));
                    return Ok(());
                }
                prop_assert_eq!(result, Ok(()));
                if *is_paused || !was_active {
                    expected.due = None;
                }
                (expected.is_paused, expected.has_problem) = (*is_paused, false);
            }
            Step::Remove(name) => {
                let name = self.schedule_name(*name);
                let result = self.world.store.remove_schedule(&name, "ann").expect("asked");
                prop_assert_eq!(result, self.schedules.remove(&name).is_some());
            }
            Step::Due { name, times } => {
                let name = self.schedule_name(*name);
                let now = self.world.store.now().expect("the time");
                let Some(expected) = self.schedules.get_mut(&name) else { return Ok(()) };
                if expected.is_paused || expected.has_problem {
                    return Ok(());
                }
                // Each time is used once, because equal times share one job.
                let mut due_at = now - times * 120_000 - 1;
                while !self.used_times.insert(due_at) {
                    due_at -= 1;
                }
                expected.due = Some(due_at);
                self.change_row(&name, &[("next_at", Cell::Int(due_at))]);
            }
            Step::Break(name) => {
                let name = self.schedule_name(*name);
                if let Some(expected) = self.schedules.get_mut(&name) {
                    expected.is_broken = true;
                    self.change_row(&name, &[("timing", Cell::Text("never"))]);
                }
            }
            Step::Fire(max_schedules) => self.fire(*max_schedules)?,
            Step::Work => {
                let queue = self.queue_name();
                let leases = self.world.store.claim(&queue, "ann", crate::common::HOUR, 1).expect("claimed");
                for lease in leases {
                    self.world.store.ack(lease.job.id, &lease.token, None).expect("done");
                    let index = self.jobs.iter().position(|job| job.id == lease.job.id);
                    self.jobs.remove(index.expect("the model has it"));
                }
            }
        }
        Ok(())
    }

    /// Fires schedules, and compares the answer with the model's.
    fn fire(&mut self, max_schedules: usize) -> Outcome {
        let time_before = self.world.store.now().expect("the time");
        let result = self.world.store.fire(max_schedules).expect("fired");
        let time_after = self.world.store.now().expect("the time");
        let mut due: Vec<(i64, String)> =
            self.schedules.iter().filter_map(|(name, expected)| Some((expected.due?, name.clone()))).collect();
        due.sort();
        // Schedules whose minute began meanwhile may be included, because the test does not control the clock.
        let is_expected = |fired: &&icecore_store::Fired| due.iter().any(|(_, name)| *name == fired.schedule);
        prop_assert!(
            result.iter().filter(is_expected).count() == due.len().min(max_schedules) || result.len() == max_schedules
        );
        for fired in result {
            prop_assert_eq!(&fired.queue, &self.queue_name());
            let expected = self.schedules.get_mut(&fired.schedule).expect("the model has it");
            if expected.is_broken {
                prop_assert!(fired.problem.is_some() && fired.id.is_none() && !fired.is_new);
                (expected.has_problem, expected.due) = (true, None);
                continue;
            }
            prop_assert_eq!(&fired.problem, &None);
            let holder = self.jobs.iter().find(|job| job.key.as_ref() == Some(&fired.schedule)).map(|job| job.id);
            match holder.filter(|_| expected.is_alone) {
                Some(holder) => prop_assert_eq!((fired.id, fired.is_new), (Some(holder), false)),
                None => {
                    prop_assert!(fired.is_new);
                    let id = fired.id.expect("a job");
                    prop_assert!(self.jobs.iter().all(|expected| expected.id != id));
                    let key = expected.is_alone.then(|| fired.schedule.clone());
                    self.jobs.push(ExpectedJob { id, payload: expected.payload.clone(), key });
                }
            }
            expected.last_id = fired.id;
            let (text, zone) = TIMINGS[expected.timing];
            let timing = Timing::new(text, zone).expect("a timing");
            let stored = self.world.store.schedules().expect("asked");
            let stored = stored.into_iter().find(|stored| stored.name == fired.schedule).expect("it is there");
            let next = stored.next_at.expect("a next one");
            prop_assert!(
                timing.next(time_before).expect("one") <= next && next <= timing.next(time_after).expect("one")
            );
            match expected.due.take() {
                Some(due) => prop_assert_eq!(stored.last_at, Some(due)),
                None => prop_assert!(stored.last_at.is_some_and(|due_at| due_at <= time_after)),
            }
            expected.last_at = stored.last_at;
        }
        Ok(())
    }

    fn compare_with_store(&mut self) -> Outcome {
        let stored = self.world.store.schedules().expect("schedules");
        prop_assert_eq!(
            stored.iter().map(|one| &one.name).collect::<Vec<_>>(),
            self.schedules.keys().collect::<Vec<_>>()
        );
        for (stored, expected) in stored.iter().zip(self.schedules.values()) {
            prop_assert_eq!(&stored.bytes, &expected.payload);
            prop_assert_eq!(
                (stored.is_alone, stored.last_id, stored.last_at),
                (expected.is_alone, expected.last_id, expected.last_at)
            );
            prop_assert_eq!(
                (stored.paused_at.is_some(), stored.problem.is_some()),
                (expected.is_paused, expected.has_problem)
            );
            prop_assert_eq!(stored.next_at.is_none(), expected.is_paused || expected.has_problem);
        }
        let filter = JobFilter { queue: Some(self.queue_name()), state: Some(State::Ready), ..JobFilter::default() };
        let jobs: Vec<(Id, Vec<u8>)> = self.world.jobs(&filter).into_iter().map(|job| (job.id, job.bytes)).collect();
        let expected: Vec<(Id, Vec<u8>)> = self.jobs.iter().map(|job| (job.id, job.payload.clone())).collect();
        prop_assert_eq!(jobs, expected);
        Ok(())
    }
}

#[test]
fn schedules_behave_like_the_model() {
    for (backend, new_database) in backends() {
        println!("{backend}");
        let world = std::cell::RefCell::new(World::new(new_database()));
        let case = std::cell::Cell::new(0);
        let steps = proptest::collection::vec(any_step(), 1..40);
        let answer = super::runner().run(&steps, |steps| {
            case.set(case.get() + 1);
            let mut world = world.borrow_mut();
            let mut model = Model {
                world: &mut world,
                case: case.get(),
                schedules: BTreeMap::new(),
                jobs: Vec::new(),
                used_times: HashSet::new(),
                steps: 0,
            };
            // Removes what a failed case left.
            for table in ["icecore_schedules", "icecore_jobs"] {
                model.world.clear(table);
            }
            for (number, step) in steps.iter().enumerate() {
                model.steps = number;
                let answer = model.run_step(step).and_then(|()| model.compare_with_store());
                answer.map_err(|error| TestCaseError::fail(format!("step {number}, {step:?}: {error}")))?;
            }
            Ok(())
        });
        answer.unwrap_or_else(|error| panic!("{backend}: {error}"));
    }
}
