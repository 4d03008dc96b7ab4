//! A queue whose readers take the waiting items in groups.
//!
//! A reader is woken only when the queue has as many items as the reader waits for. Waking a thread takes longer than
//! queueing an item, so a reader is not woken for each item.

use crate::threads::{WorkError, lock_ignoring_poison};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Limits of groups.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Maximum number of waiting items. Further items are refused.
    pub max_waiting: usize,
    /// Maximum number of items in a group.
    pub max_group_items: usize,
    /// Number of bytes at which a group is full. The item that reaches this number is still a part of the group.
    pub max_group_bytes: usize,
}

/// The queue. Each item has a size in bytes.
pub struct GroupQueue<T> {
    bounds: Bounds,
    state: Mutex<QueueState<T>>,
    /// Held by the reader that waits for items. Other readers wait for this lock, so at most one reader waits for
    /// `wake`.
    reading: Mutex<()>,
    wake: Condvar,
}

struct QueueState<T> {
    items: VecDeque<(usize, T)>,
    /// Total size of the waiting items in bytes.
    size: usize,
    /// Number of items in the groups that readers are working on.
    in_progress: usize,
    /// Number of items at which the waiting reader is woken; `usize::MAX` if no reader waits.
    wake_count: usize,
    timing: GroupTiming,
    /// When the last group was done, and how many items it had.
    last_done: Option<(Instant, usize)>,
    /// Number of items that arrived since the last group was done.
    arrived_count: usize,
    is_open: bool,
}

/// A reader's current group: how many items it has, and when the reader got it.
#[derive(Default)]
pub struct CurrentGroup(Option<(usize, Instant)>);

impl<T> GroupQueue<T> {
    pub fn new(bounds: Bounds) -> GroupQueue<T> {
        let state = QueueState {
            items: VecDeque::new(),
            size: 0,
            in_progress: 0,
            wake_count: usize::MAX,
            timing: GroupTiming::default(),
            last_done: None,
            arrived_count: 0,
            is_open: true,
        };
        GroupQueue { bounds, state: Mutex::new(state), reading: Mutex::new(()), wake: Condvar::new() }
    }

    /// Queues an item of `size` bytes.
    pub fn push(&self, size: usize, item: T) -> Result<(), WorkError> {
        let mut state = lock_ignoring_poison(&self.state);
        if !state.is_open {
            return Err(WorkError::Stopping);
        }
        if state.items.len() >= self.bounds.max_waiting {
            return Err(WorkError::Full);
        }
        state.items.push_back((size, item));
        state.size += size;
        state.arrived_count += 1;
        // As many items arrived as the last group had, so probably all of its clients sent their next request.
        if let Some((done_at, _)) = state.last_done.filter(|(_, count)| *count == state.arrived_count) {
            state.timing.return_time = done_at.elapsed();
        }
        let has_enough = self.has_enough_items(&state);
        drop(state);
        // One notification is enough, because only the reader that holds `reading` waits.
        if has_enough {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Accepts no new items. Waiting items are still handed out.
    pub fn close(&self) {
        lock_ignoring_poison(&self.state).is_open = false;
        self.wake.notify_all();
    }

    /// Waits for the first item, and for more items if the timing of past groups says that this saves time. Returns
    /// all of them as the next group. Returns `None` when the queue is closed and empty. If `current` has a group,
    /// the call also records that this group is done.
    pub fn next_group(&self, current: &mut CurrentGroup) -> Option<Vec<T>> {
        if let Some((count, since)) = current.0.take() {
            let mut state = lock_ignoring_poison(&self.state);
            // The group that just ended is still a part of `in_progress` here, so its clients count as in flight.
            let in_flight = state.in_progress + state.items.len();
            state.timing.record_group(in_flight, since.elapsed());
            state.in_progress -= count;
            (state.last_done, state.arrived_count) = (Some((Instant::now(), count)), 0);
        }
        let _reading = lock_ignoring_poison(&self.reading);
        let mut state = self.wait_for_items(lock_ignoring_poison(&self.state), 1, None);
        let (target, max_wait) = (state.timing.target_size().min(self.bounds.max_group_items), state.timing.max_wait());
        if target > 1 && !max_wait.is_zero() {
            state = self.wait_for_items(state, target, Some(Instant::now() + max_wait));
        }
        let (mut group, mut size) = (Vec::with_capacity(state.items.len().min(self.bounds.max_group_items)), 0);
        while group.len() < self.bounds.max_group_items && size < self.bounds.max_group_bytes {
            let Some((item_size, item)) = state.items.pop_front() else { break };
            size += item_size;
            group.push(item);
        }
        state.size -= size;
        // The first wait ends without an item only if the queue was closed.
        if group.is_empty() {
            return None;
        }
        state.in_progress += group.len();
        current.0 = Some((group.len(), Instant::now()));
        Some(group)
    }

    /// Waits for this number of items, until the deadline, or until the queue is closed.
    fn wait_for_items<'g>(
        &self,
        mut state: MutexGuard<'g, QueueState<T>>,
        count: usize,
        deadline: Option<Instant>,
    ) -> MutexGuard<'g, QueueState<T>> {
        state.wake_count = count;
        while state.is_open && !self.has_enough_items(&state) {
            state = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => break,
                Some(remaining) => self.wake.wait_timeout(state, remaining).unwrap_or_else(PoisonError::into_inner).0,
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        // From here on no reader waits, so `push` need not notify one.
        state.wake_count = usize::MAX;
        state
    }

    fn has_enough_items(&self, state: &QueueState<T>) -> bool {
        state.items.len() >= state.wake_count
            || (state.wake_count < usize::MAX && state.size >= self.bounds.max_group_bytes)
    }
}

/// Timing of past groups. It determines the size of the next group.
#[derive(Clone, Copy, Debug, Default)]
struct GroupTiming {
    /// Number of items, waiting and in groups, at the end of the last two groups.
    in_flight: [usize; 2],
    /// How long the last group took.
    duration: Duration,
    /// How long it took until as many new items arrived as the last group had.
    return_time: Duration,
}

impl GroupTiming {
    fn record_group(&mut self, in_flight: usize, duration: Duration) {
        (self.in_flight, self.duration) = ([in_flight, self.in_flight[0]], duration);
    }

    /// Returns the target size of the next group. Clients need a moment to send the next request after an answer. If
    /// this moment is short compared to a transaction, one group waits for the requests of all clients. Otherwise a
    /// group has half of the requests: while its transaction becomes durable, the other half arrives.
    fn target_size(&self) -> usize {
        let in_flight = self.in_flight[0].max(self.in_flight[1]);
        if in_flight < 4 || self.return_time * 4 < self.duration { in_flight } else { in_flight.div_ceil(2) }
    }

    /// Returns how long to wait for a full group. Waiting is limited to half of the time that a transaction takes.
    fn max_wait(&self) -> Duration {
        (self.duration / 2).min(Duration::from_millis(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const BOUNDS: Bounds = Bounds { max_waiting: 10, max_group_items: 4, max_group_bytes: 100 };

    #[test]
    fn groups_are_bounded_in_count_and_size() {
        let queue = GroupQueue::new(BOUNDS);
        for item in 0..10 {
            queue.push(1, item).expect("it has room");
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
        let mut timing = GroupTiming::default();
        assert_eq!((timing.target_size(), timing.max_wait()), (0, Duration::ZERO));
        for (in_flight, return_time, expected_size) in [
            (1, short, 1),
            (3, long, 3),
            (32, short, 32),
            (1, short, 32),
            (32, long, 16),
            (32, long, 16),
            (5, long, 16),
            (5, long, 3),
        ] {
            timing.record_group(in_flight, long);
            timing.return_time = return_time;
            assert_eq!(timing.target_size(), expected_size, "{timing:?}");
            assert!(timing.max_wait() < long);
        }
    }

    /// Waiting for a group ends at some point: the missing items may never come.
    #[test]
    fn a_group_ends_when_its_time_has_passed() {
        let (queue, mut current_group) = (GroupQueue::new(BOUNDS), CurrentGroup::default());
        for _ in 0..3 {
            queue.push(1, 0).expect("it has room");
        }
        assert_eq!(queue.next_group(&mut current_group), Some(vec![0; 3]));
        std::thread::sleep(Duration::from_millis(1));
        queue.push(1, 1).expect("it has room");
        assert_eq!(queue.next_group(&mut current_group), Some(vec![1]));
    }

    #[test]
    fn items_of_many_threads_arrive_once_and_in_order() {
        let queue = Arc::new(GroupQueue::new(BOUNDS));
        let push_items = |thread: u32| {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || {
                for item in thread * 1_000..thread * 1_000 + 500 {
                    while queue.push(30, item) == Err(WorkError::Full) {
                        std::thread::yield_now();
                    }
                }
            })
        };
        let read_items = |_| {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || {
                let (mut all, mut current_group) = (Vec::new(), CurrentGroup::default());
                while let Some(group) = queue.next_group(&mut current_group) {
                    assert!((1..=4).contains(&group.len()));
                    all.extend(group);
                }
                all
            })
        };
        let (readers, threads) = ([1, 2].map(read_items), [1, 2, 3].map(push_items));
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        queue.close();
        let items_of_readers = readers.map(|reader| reader.join().expect("it ends"));
        for (thread, of_reader) in
            [1, 2, 3].into_iter().flat_map(|thread| items_of_readers.iter().map(move |all| (thread, all)))
        {
            let of_thread: Vec<u32> = of_reader.iter().copied().filter(|item| item / 1_000 == thread).collect();
            assert!(of_thread.is_sorted());
        }
        let mut all = items_of_readers.concat();
        all.sort_unstable();
        let items_of_thread = |thread: u32| thread * 1_000..thread * 1_000 + 500;
        assert_eq!(all, [1, 2, 3].into_iter().flat_map(items_of_thread).collect::<Vec<u32>>());
        assert_eq!(lock_ignoring_poison(&queue.state).in_progress, 0);
    }
}
