//! A queue whose readers take the waiting items in groups.
//!
//! A reader is woken only when the number of items that it wants is there: waking a thread for each item takes longer
//! than queueing the item.

use crate::threads::{WorkError, lock_ignoring_poison};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Limits of groups.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Maximum number of waiting items; more are refused.
    pub longest: usize,
    /// Maximum number of items in a group.
    pub largest: usize,
    /// Maximum number of bytes in a group, if it has more than one item.
    pub heaviest: usize,
}

/// The queue. Each item has a weight in bytes.
pub struct GroupQueue<T> {
    bounds: Bounds,
    waiting: Mutex<QueueState<T>>,
    /// Held by the one reader that gathers.
    reading: Mutex<()>,
    wake: Condvar,
}

struct QueueState<T> {
    items: VecDeque<(usize, T)>,
    weight: usize,
    /// Number of items in the groups that readers are working on.
    in_progress: usize,
    /// Number of items at which the gathering reader is woken.
    wanted: usize,
    pace: GroupTiming,
    /// When the last group was done, and its size; `came` counts the items since then.
    done: Option<(Instant, usize)>,
    arrived: usize,
    is_open: bool,
}

/// A reader's current group: its size, and when the reader got it.
#[derive(Default)]
pub struct CurrentGroup(Option<(usize, Instant)>);

impl<T> GroupQueue<T> {
    pub fn new(bounds: Bounds) -> GroupQueue<T> {
        let waiting = QueueState {
            items: VecDeque::new(),
            weight: 0,
            in_progress: 0,
            wanted: usize::MAX,
            pace: GroupTiming::default(),
            done: None,
            arrived: 0,
            is_open: true,
        };
        GroupQueue { bounds, waiting: Mutex::new(waiting), reading: Mutex::new(()), wake: Condvar::new() }
    }

    /// Queues an item of `weight` bytes.
    pub fn push(&self, weight: usize, thing: T) -> Result<(), WorkError> {
        let mut waiting = lock_ignoring_poison(&self.waiting);
        if !waiting.is_open {
            return Err(WorkError::Stopping);
        }
        if waiting.items.len() >= self.bounds.longest {
            return Err(WorkError::Full);
        }
        waiting.items.push_back((weight, thing));
        waiting.weight += weight;
        waiting.arrived += 1;
        if let Some((at, _)) = waiting.done.filter(|(_, size)| *size == waiting.arrived) {
            waiting.pace.came_back = at.elapsed();
        }
        let is_time = self.has_enough_items(&waiting);
        drop(waiting);
        if is_time {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Accepts no new items. Waiting items are still handed out.
    pub fn close(&self) {
        lock_ignoring_poison(&self.waiting).is_open = false;
        self.wake.notify_all();
    }

    /// Returns the next group: the first item, and more items if waiting for them pays off. Returns `None` when the
    /// queue is closed and empty. A call with `turn` also reports that the reader's last group is done.
    pub fn next_group(&self, turn: &mut CurrentGroup) -> Option<Vec<T>> {
        if let Some((size, since)) = turn.0.take() {
            let mut waiting = lock_ignoring_poison(&self.waiting);
            let in_flight = waiting.in_progress + waiting.items.len();
            waiting.pace.record_group(in_flight, since.elapsed());
            waiting.in_progress -= size;
            (waiting.done, waiting.arrived) = (Some((Instant::now(), size)), 0);
        }
        let _reading = lock_ignoring_poison(&self.reading);
        let mut waiting = self.wait_for_items(lock_ignoring_poison(&self.waiting), 1, None);
        let (wanted, patience) = (waiting.pace.target_size().min(self.bounds.largest), waiting.pace.longest_wait());
        if wanted > 1 && !patience.is_zero() {
            waiting = self.wait_for_items(waiting, wanted, Some(Instant::now() + patience));
        }
        let (mut group, mut weight) = (Vec::with_capacity(waiting.items.len().min(self.bounds.largest)), 0);
        while group.len() < self.bounds.largest && weight < self.bounds.heaviest {
            let Some((one, thing)) = waiting.items.pop_front() else { break };
            weight += one;
            group.push(thing);
        }
        waiting.weight -= weight;
        if group.is_empty() {
            return None;
        }
        waiting.in_progress += group.len();
        turn.0 = Some((group.len(), Instant::now()));
        Some(group)
    }

    /// Waits for this number of items, until the given time, or until the queue is closed.
    fn wait_for_items<'g>(
        &self,
        mut waiting: MutexGuard<'g, QueueState<T>>,
        wanted: usize,
        until: Option<Instant>,
    ) -> MutexGuard<'g, QueueState<T>> {
        waiting.wanted = wanted;
        while waiting.is_open && !self.has_enough_items(&waiting) {
            waiting = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => break,
                Some(left) => self.wake.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            };
        }
        waiting.wanted = usize::MAX;
        waiting
    }

    fn has_enough_items(&self, waiting: &QueueState<T>) -> bool {
        waiting.items.len() >= waiting.wanted || (waiting.wanted < usize::MAX && waiting.weight >= self.bounds.heaviest)
    }
}

/// Timing of past groups, which determines the size of the next one.
#[derive(Clone, Copy, Debug, Default)]
struct GroupTiming {
    /// Number of items, waiting and in groups, at the end of the last two groups.
    in_flight: [usize; 2],
    /// How long the last group took.
    took: Duration,
    /// Time until as many new items came as the last group had.
    came_back: Duration,
}

impl GroupTiming {
    fn record_group(&mut self, in_flight: usize, took: Duration) {
        (self.in_flight, self.took) = ([in_flight, self.in_flight[0]], took);
    }

    /// Returns the target size of the next group. Clients need a moment to send the next request after an answer. If
    /// this is short compared to a transaction, all of them go into one group. Otherwise half of them do: while their
    /// transaction becomes durable, the others arrive.
    fn target_size(&self) -> usize {
        let all = self.in_flight[0].max(self.in_flight[1]);
        if all < 4 || self.came_back * 4 < self.took { all } else { all.div_ceil(2) }
    }

    /// Returns how long to wait for a full group: a part of the time that a transaction takes.
    fn longest_wait(&self) -> Duration {
        (self.took / 2).min(Duration::from_millis(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const BOUNDS: Bounds = Bounds { longest: 10, largest: 4, heaviest: 100 };

    #[test]
    fn groups_are_bounded_in_count_and_size() {
        let queue = GroupQueue::new(BOUNDS);
        for thing in 0..10 {
            queue.push(1, thing).expect("it has room");
        }
        assert_eq!(queue.push(1, 10), Err(WorkError::Full));
        let next = || queue.next_group(&mut CurrentGroup::default());
        assert_eq!((next(), next()), (Some(vec![0, 1, 2, 3]), Some(vec![4, 5, 6, 7])));
        queue.push(200, 10).expect("it has room");
        queue.push(200, 11).expect("it has room");
        assert_eq!((next(), next()), (Some(vec![8, 9, 10]), Some(vec![11])));
        queue.push(0, 12).expect("it has room");
        queue.close();
        assert_eq!(queue.push(1, 13), Err(WorkError::Stopping));
        assert_eq!((next(), next()), (Some(vec![12]), None));
    }

    #[test]
    fn the_target_size_follows_the_requests_in_flight() {
        let (short, long) = (Duration::from_micros(100), Duration::from_millis(1));
        let mut pace = GroupTiming::default();
        assert_eq!((pace.target_size(), pace.longest_wait()), (0, Duration::ZERO));
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
            pace.record_group(in_flight, long);
            pace.came_back = came_back;
            assert_eq!(pace.target_size(), wanted, "{pace:?}");
            assert!(pace.longest_wait() < long);
        }
    }

    /// Waiting for a group ends at some point: the missing items may never come.
    #[test]
    fn a_group_ends_when_its_time_has_passed() {
        let (queue, mut turn) = (GroupQueue::new(BOUNDS), CurrentGroup::default());
        for _ in 0..3 {
            queue.push(1, 0).expect("it has room");
        }
        assert_eq!(queue.next_group(&mut turn), Some(vec![0; 3]));
        std::thread::sleep(Duration::from_millis(1));
        queue.push(1, 1).expect("it has room");
        assert_eq!(queue.next_group(&mut turn), Some(vec![1]));
    }

    #[test]
    fn items_of_many_threads_arrive_once_and_in_order() {
        let queue = Arc::new(GroupQueue::new(BOUNDS));
        let bring = |from: u32| {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || {
                for thing in from * 1_000..from * 1_000 + 500 {
                    while queue.push(30, thing) == Err(WorkError::Full) {
                        std::thread::yield_now();
                    }
                }
            })
        };
        let read = |_| {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || {
                let (mut all, mut turn) = (Vec::new(), CurrentGroup::default());
                while let Some(group) = queue.next_group(&mut turn) {
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
        assert_eq!(lock_ignoring_poison(&queue.waiting).in_progress, 0);
    }
}
