//! What each database must do; the same for all of them.
//!
//! `ICECORE_ONLY=name` runs only the behaviours with this in their name.

use crate::common;

mod chains;
mod limits;
mod objects;
mod queue;
mod schedules;

use crate::common::{World, backends};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

type Behaviour = (&'static str, fn(&mut World));

macro_rules! behaviours {
    ($($name:ident)*) => { &[$((stringify!($name), $name as fn(&mut $crate::common::World))),*] };
}
pub(crate) use behaviours;

/// Behaviours that a database does not have: the database, the behaviour, and the reason.
const EXCLUDED: &[(&str, &str, &str)] = &[
    ("mongodb", "large_objects_round_trip", "a document has 16 MB; tests/mongo.rs has what is said then"),
    ("mongodb", "large_payloads_round_trip", "the same"),
];

/// Number of threads that run behaviours. It may be more than the number of cores, because many behaviours
/// only wait for time to pass.
const THREADS: usize = 4;

#[test]
fn every_database_behaves() {
    let only = std::env::var("ICECORE_ONLY").unwrap_or_default();
    let all: Vec<Behaviour> = [objects::ALL, queue::ALL, chains::ALL, limits::ALL, schedules::ALL].concat();
    let all: Vec<Behaviour> = all.into_iter().filter(|(name, _)| name.contains(&only)).collect();
    let failed = Mutex::new(Vec::new());
    for (backend, new_database) in backends() {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while let Some((name, behaviour)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let exclusion =
                            EXCLUDED.iter().find(|(database, excluded, _)| (*database, *excluded) == (backend, *name));
                        if let Some((.., why)) = exclusion {
                            println!("{backend}: {name}: EXCLUDED: {why}");
                            continue;
                        }
                        let has_passed =
                            catch_unwind(AssertUnwindSafe(|| behaviour(&mut World::new(new_database())))).is_ok();
                        common::remove_folders();
                        println!("{backend}: {name}: {}", if has_passed { "ok" } else { "FAILED" });
                        if !has_passed {
                            failed.lock().expect("no panic here").push(format!("{backend}: {name}"));
                        }
                    }
                });
            }
        });
    }
    let failed = failed.into_inner().expect("no panic here");
    assert!(failed.is_empty(), "{} of {} behaviours: {failed:#?}", failed.len(), all.len());
}
