//! A queue whose reader takes what waits in groups.
//!
//! Its reader is woken when as many are there as it wants, and not before: to wake a thread
//! for each one takes longer than to queue it.

use crate::threads::{Refused, lock};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How large groups are.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// How many wait at most before who brings more is refused.
    pub longest: usize,
    /// How many are in a group.
    pub largest: usize,
    /// How many bytes, if it has more than one.
    pub heaviest: usize,
}

/// The queue. Each thing in it has a weight, in bytes.
pub struct Gathering<T> {
    bounds: Bounds,
    waiting: Mutex<Waiting<T>>,
    /// One reader gathers at a time.
    reading: Mutex<()>,
    wake: Condvar,
}

struct Waiting<T> {
    things: VecDeque<(usize, T)>,
    weight: usize,
    /// How many are in the groups that readers have.
    taken: usize,
    /// The reader that gathers sleeps until there are so many.
    wanted: usize,
    pace: Pace,
    /// When the last group was done, how many it had, and how many came since.
    done: Option<(Instant, usize)>,
    came: usize,
    is_open: bool,
}

/// What a reader does with its groups: how many are in the last one, and since when it has it.
#[derive(Default)]
pub struct Turn(Option<(usize, Instant)>);

impl<T> Gathering<T> {
    pub fn new(bounds: Bounds) -> Gathering<T> {
        let waiting = Waiting {
            things: VecDeque::new(),
            weight: 0,
            taken: 0,
            wanted: usize::MAX,
            pace: Pace::default(),
            done: None,
            came: 0,
            is_open: true,
        };
        Gathering { bounds, waiting: Mutex::new(waiting), reading: Mutex::new(()), wake: Condvar::new() }
    }

    /// Queues a thing of so many bytes.
    pub fn push(&self, weight: usize, thing: T) -> Result<(), Refused> {
        let mut waiting = lock(&self.waiting);
        if !waiting.is_open {
            return Err(Refused::Stopping);
        }
        if waiting.things.len() >= self.bounds.longest {
            return Err(Refused::Full);
        }
        waiting.things.push_back((weight, thing));
        waiting.weight += weight;
        waiting.came += 1;
        if let Some((at, _)) = waiting.done.filter(|(_, size)| *size == waiting.came) {
            waiting.pace.came_back = at.elapsed();
        }
        let is_time = self.is_enough(&waiting);
        drop(waiting);
        if is_time {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Takes nothing new. What waits is still handed out.
    pub fn close(&self) {
        lock(&self.waiting).is_open = false;
        self.wake.notify_all();
    }

    /// The next group: the first that comes, and those that are worth to wait for. `None` when
    /// nothing will come. With the turn a reader says that it is done with its last one.
    pub fn next(&self, turn: &mut Turn) -> Option<Vec<T>> {
        if let Some((size, since)) = turn.0.take() {
            let mut waiting = lock(&self.waiting);
            let in_flight = waiting.taken + waiting.things.len();
            waiting.pace.done(in_flight, since.elapsed());
            waiting.taken -= size;
            (waiting.done, waiting.came) = (Some((Instant::now(), size)), 0);
        }
        let _reading = lock(&self.reading);
        let mut waiting = self.wait(lock(&self.waiting), 1, None);
        let (wanted, patience) = (waiting.pace.wanted().min(self.bounds.largest), waiting.pace.patience());
        if wanted > 1 && !patience.is_zero() {
            waiting = self.wait(waiting, wanted, Some(Instant::now() + patience));
        }
        let (mut group, mut weight) = (Vec::with_capacity(waiting.things.len().min(self.bounds.largest)), 0);
        while group.len() < self.bounds.largest && weight < self.bounds.heaviest {
            let Some((one, thing)) = waiting.things.pop_front() else { break };
            weight += one;
            group.push(thing);
        }
        waiting.weight -= weight;
        if group.is_empty() {
            return None;
        }
        waiting.taken += group.len();
        turn.0 = Some((group.len(), Instant::now()));
        Some(group)
    }

    /// Waits for so many, until then, or for the end.
    fn wait<'g>(
        &self,
        mut waiting: MutexGuard<'g, Waiting<T>>,
        wanted: usize,
        until: Option<Instant>,
    ) -> MutexGuard<'g, Waiting<T>> {
        waiting.wanted = wanted;
        while waiting.is_open && !self.is_enough(&waiting) {
            waiting = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => break,
                Some(left) => self.wake.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            };
        }
        waiting.wanted = usize::MAX;
        waiting
    }

    fn is_enough(&self, waiting: &Waiting<T>) -> bool {
        waiting.things.len() >= waiting.wanted
            || (waiting.wanted < usize::MAX && waiting.weight >= self.bounds.heaviest)
    }
}

/// How groups went, and from that how large the next one is worth to be.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// How many there were at once, waiting and in groups.
    in_flight: [usize; 2],
    /// How long a group took.
    took: Duration,
    /// How long it took until as many came as were answered.
    came_back: Duration,
}

impl Pace {
    fn done(&mut self, in_flight: usize, took: Duration) {
        (self.in_flight, self.took) = ([in_flight, self.in_flight[0]], took);
    }

    /// How many a group has. Who asks anew when it got its answer takes a while for that. Where
    /// it is short beside what a transaction takes, all go into one. Else half of them: while
    /// their transaction becomes durable, the others come.
    fn wanted(&self) -> usize {
        let all = self.in_flight[0].max(self.in_flight[1]);
        if all < 4 || self.came_back * 4 < self.took { all } else { all.div_ceil(2) }
    }

    /// For how long they are waited for: a part of what their transaction takes.
    fn patience(&self) -> Duration {
        (self.took / 2).min(Duration::from_millis(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const BOUNDS: Bounds = Bounds { longest: 10, largest: 4, heaviest: 100 };

    #[test]
    fn groups_have_bounds() {
        let queue = Gathering::new(BOUNDS);
        for thing in 0..10 {
            queue.push(1, thing).expect("it has room");
        }
        assert_eq!(queue.push(1, 10), Err(Refused::Full));
        let next = || queue.next(&mut Turn::default());
        assert_eq!((next(), next()), (Some(vec![0, 1, 2, 3]), Some(vec![4, 5, 6, 7])));
        queue.push(200, 10).expect("it has room");
        queue.push(200, 11).expect("it has room");
        assert_eq!((next(), next()), (Some(vec![8, 9, 10]), Some(vec![11])));
        queue.push(0, 12).expect("it has room");
        queue.close();
        assert_eq!(queue.push(1, 13), Err(Refused::Stopping));
        assert_eq!((next(), next()), (Some(vec![12]), None));
    }

    #[test]
    fn a_group_is_as_large_as_is_worth_to_wait_for() {
        let (short, long) = (Duration::from_micros(100), Duration::from_millis(1));
        let mut pace = Pace::default();
        assert_eq!((pace.wanted(), pace.patience()), (0, Duration::ZERO));
        for (in_flight, came_back, wanted) in [
            (1, short, 1),
            (3, long, 3),
            (32, short, 32),
            (1, short, 32),
            (32, long, 16),
            (32, long, 16),
            (5, long, 16),
            (5, long, 3),
        ] {
            pace.done(in_flight, long);
            pace.came_back = came_back;
            assert_eq!(pace.wanted(), wanted, "{pace:?}");
            assert!(pace.patience() < long);
        }
    }

    /// A group that is waited for ends at last: who is waited for may never come.
    #[test]
    fn a_group_ends_when_its_time_is_over() {
        let (queue, mut turn) = (Gathering::new(BOUNDS), Turn::default());
        for _ in 0..3 {
            queue.push(1, 0).expect("it has room");
        }
        assert_eq!(queue.next(&mut turn), Some(vec![0; 3]));
        std::thread::sleep(Duration::from_millis(1));
        queue.push(1, 1).expect("it has room");
        assert_eq!(queue.next(&mut turn), Some(vec![1]));
    }

    #[test]
    fn all_come_once_and_in_their_order() {
        let queue = Arc::new(Gathering::new(BOUNDS));
        let bring = |from: u32| {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || {
                for thing in from * 1_000..from * 1_000 + 500 {
                    while queue.push(30, thing) == Err(Refused::Full) {
                        std::thread::yield_now();
                    }
                }
            })
        };
        let read = |_| {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || {
                let (mut all, mut turn) = (Vec::new(), Turn::default());
                while let Some(group) = queue.next(&mut turn) {
                    assert!((1..=4).contains(&group.len()));
                    all.extend(group);
                }
                all
            })
        };
        let (readers, threads) = ([1, 2].map(read), [1, 2, 3].map(bring));
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        queue.close();
        let read = readers.map(|reader| reader.join().expect("it ends"));
        for (from, of_reader) in [1, 2, 3].into_iter().flat_map(|from| read.iter().map(move |all| (from, all))) {
            let of_one: Vec<u32> = of_reader.iter().copied().filter(|thing| thing / 1_000 == from).collect();
            assert!(of_one.is_sorted());
        }
        let mut all = read.concat();
        all.sort_unstable();
        let brought = |from: u32| from * 1_000..from * 1_000 + 500;
        assert_eq!(all, [1, 2, 3].into_iter().flat_map(brought).collect::<Vec<u32>>());
        assert_eq!(lock(&queue.waiting).taken, 0);
    }
}
