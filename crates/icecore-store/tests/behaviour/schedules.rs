//! Schedules: what the model does not try.

use super::queue::{claim_jobs, read_job};
use super::{Behaviour, behaviours};
use crate::common::{Cell, World, error_kind};
use icecore_store::{ErrorKind, NewSchedule, Timing};

pub const ALL: &[Behaviour] = behaviours! {
    a_schedule_is_stored_replaced_and_removed
    names_of_schedules_have_a_maximum_length
    the_job_of_a_schedule_has_its_settings
    many_due_schedules_create_their_jobs
    invalid_schedules_do_not_block_others
};

fn new_schedule(name: &str, payload: &[u8]) -> NewSchedule {
    NewSchedule::new(name, "mail", Timing::new("every 1h", None).expect("a timing"), payload.to_vec())
}

fn make_due(world: &World, name: &str) {
    world.change("icecore_schedules", &[("next_at", Cell::Int(1_000))], &[("name", Cell::Text(name))]);
}

fn a_schedule_is_stored_replaced_and_removed(world: &mut World) {
    let payload: Vec<u8> = (0..=255).collect();
    let schedule = NewSchedule {
        timing: Timing::new("30 2 * * MON-FRI", Some("Europe/Berlin")).expect("a timing"),
        format: Some("split:char=31".to_owned()),
        priority: -7,
        max_attempts: Some(3),
        is_alone: true,
        ..new_schedule("nightly 'é🦀'", &payload)
    };
    let next = world.store.set_schedule(&schedule, "ann").expect("set");
    assert!(next > world.store.now().expect("the time"));
    let stored = world.store.schedules().expect("schedules").remove(0);
    assert_eq!((&*stored.name, &*stored.queue), ("nightly 'é🦀'", "mail"));
    assert_eq!((&*stored.timing, stored.zone.as_deref()), ("30 2 * * MON-FRI", Some("Europe/Berlin")));
    assert_eq!((stored.next_at, stored.last_at, stored.last_id), (Some(next), None, None));
    assert_eq!((stored.priority, stored.max_attempts, stored.is_alone), (-7, Some(3), true));
    assert_eq!((stored.format.as_deref(), &stored.bytes), (Some("split:char=31"), &payload));
    // Fields that the new schedule does not set do not keep the values of the old one.
    world.store.set_schedule(&new_schedule("nightly 'é🦀'", b"1"), "ann").expect("set");
    let stored = world.store.schedules().expect("schedules").remove(0);
    assert_eq!((stored.zone, stored.format, stored.max_attempts, stored.is_alone), (None, None, None, false));
    let notes = world.select("icecore_audit", &["what", "who"], &[]);
    assert_eq!(notes, vec![vec![Some("schedule".to_owned()), Some("ann".to_owned())]; 2]);
    assert!(world.store.remove_schedule("nightly 'é🦀'", "ann").expect("removed"));
    assert!(!world.store.remove_schedule("nightly 'é🦀'", "ann").expect("asked"));
    assert!(world.store.schedules().expect("schedules").is_empty());
}

fn names_of_schedules_have_a_maximum_length(world: &mut World) {
    let (longest, long) = ("x".repeat(200), "x".repeat(201));
    for name in ["", "a\nb", &long] {
        assert_eq!(
            error_kind(world.store.set_schedule(&new_schedule(name, b"1"), "ann")),
            ErrorKind::Input,
            "{name:?}"
        );
        assert_eq!(error_kind(world.store.pause_schedule(name, true, "ann")), ErrorKind::Input, "{name:?}");
        assert_eq!(error_kind(world.store.remove_schedule(name, "ann")), ErrorKind::Input, "{name:?}");
    }
    let nowhere = NewSchedule { queue: String::new(), ..new_schedule("a", b"1") };
    assert_eq!(error_kind(world.store.set_schedule(&nowhere, "ann")), ErrorKind::Input);
    assert_eq!(error_kind(world.store.pause_schedule("a", true, "ann")), ErrorKind::Missing);
    world.store.set_schedule(&NewSchedule { is_alone: true, ..new_schedule(&longest, b"1") }, "ann").expect("set");
    make_due(world, &longest);
    assert!(world.store.fire(9).expect("fired")[0].is_new);
}

fn the_job_of_a_schedule_has_its_settings(world: &mut World) {
    let schedule = NewSchedule {
        format: Some("marshal".to_owned()),
        priority: 5,
        max_attempts: Some(2),
        ..new_schedule("a", b"\x04\x08[\x06i\x0c")
    };
    world.store.set_schedule(&schedule, "ann").expect("set");
    assert!(world.store.fire(9).expect("fired").is_empty());
    make_due(world, "a");
    let fired = world.store.fire(9).expect("fired").remove(0);
    assert_eq!((&*fired.schedule, &*fired.queue, fired.is_new), ("a", "mail", true));
    let queued = read_job(world, fired.id.expect("a job"));
    assert_eq!((queued.priority, queued.max_attempts, queued.json.as_deref()), (5, 2, Some("[7]")));
    assert_eq!((queued.format.as_deref(), queued.bytes), (Some("marshal"), schedule.bytes));
    let stored = world.store.schedules().expect("schedules").remove(0);
    assert_eq!((stored.last_at, stored.last_id), (Some(1_000), fired.id));
    // The same time again, for example after a change of the clock: it has its job already.
    make_due(world, "a");
    let fired_again = world.store.fire(9).expect("fired").remove(0);
    assert_eq!((fired_again.id, fired_again.is_new), (fired.id, false));
    assert_eq!(world.count("icecore_jobs"), 1);
}

fn many_due_schedules_create_their_jobs(world: &mut World) {
    for number in 0..50 {
        world.store.set_schedule(&new_schedule(&format!("{number:02}"), b"1"), "ann").expect("set");
        make_due(world, &format!("{number:02}"));
    }
    assert_eq!(world.store.fire(20).expect("fired").len(), 20);
    let fired = world.store.fire(1_000).expect("fired");
    assert_eq!(
        fired.iter().map(|fired| &*fired.schedule).collect::<Vec<_>>(),
        (20..50).map(|number| number.to_string()).collect::<Vec<_>>()
    );
    assert_eq!(claim_jobs(world, "mail", 100).len(), 50);
}

fn invalid_schedules_do_not_block_others(world: &mut World) {
    for name in ["a", "b", "c", "d"] {
        world.store.set_schedule(&new_schedule(name, b"1"), "ann").expect("set");
        make_due(world, name);
    }
    let broken: [(&str, &[(&str, Cell<'_>)]); 3] = [
        ("a", &[("timing", Cell::Text("61 * * * *"))]),
        ("b", &[("timing", Cell::Text("@daily")), ("zone", Cell::Text("Mars/Base"))]),
        ("c", &[("queue", Cell::Text(""))]),
    ];
    for (name, cells) in broken {
        world.change("icecore_schedules", cells, &[("name", Cell::Text(name))]);
    }
    let fired = world.store.fire(9).expect("fired");
    let problems: Vec<bool> = fired.iter().map(|fired| fired.problem.is_some()).collect();
    assert_eq!(problems, [true, true, true, false]);
    assert!(world.store.fire(9).expect("fired").is_empty(), "each problem is reported once");
    let all = world.store.schedules().expect("schedules");
    assert!(all[..3].iter().all(|one| one.problem.is_some() && one.next_at.is_none()));
    assert_eq!(claim_jobs(world, "mail", 9).len(), 1);
    // Setting it again lets it continue.
    world.store.set_schedule(&new_schedule("a", b"1"), "ann").expect("set");
    let stored = world.store.schedules().expect("schedules").remove(0);
    assert!(stored.problem.is_none() && stored.next_at.is_some());
}
