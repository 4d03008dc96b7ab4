//! Databases that were changed by hand, and disks that are full.
#![cfg(feature = "sqlite")]

use crate::common;

use crate::common::{HOUR, World, new_folder, new_sqlite_address};
use icecore_store::{
    BlobDescription, ErrorKind, Flow, Id, JobFilter, NewJob, NewObject, NewSchedule, ObjectFilter, QueueSettings,
    State, Timing, describe, open,
};
use std::time::Duration;

fn new_job(payload: &str) -> NewJob {
    describe::describe_job("mail", payload.as_bytes().to_vec(), Some("json"))
}

/// A database with one of everything. The first job and the first object are the ones that are
/// changed.
struct FilledDatabase {
    world: World,
    jobs: [Id; 2],
    objects: [Id; 2],
}

fn fill_database() -> FilledDatabase {
    let mut world = World::new(new_sqlite_address());
    world.store.index("$[0]").expect("an index");
    let object = || NewObject {
        key: Some(Id::new().to_string()),
        ..describe::describe_object(b"a:1:{i:0;O:1:\"A\":0:{}}".to_vec(), None)
    };
    let objects = world.store.put(&[object(), object()]).expect("put");
    let new = [NewJob { priority: 1, ..new_job("1") }, new_job("2")];
    world.store.push(&new).expect("pushed");
    world.store.configure("mail", &QueueSettings { max_attempts: Some(3), ..Default::default() }).expect("configured");
    for name in ["first", "second"] {
        let timing = Timing::new("every 1h", None).expect("a timing");
        world.store.set_schedule(&NewSchedule::new(name, "timed", timing, b"1".to_vec()), "ann").expect("set");
    }
    world.query_raw(
        "UPDATE icecore_schedules SET next_at = 1000, last_at = 0, zone = 'UTC', format = 'json', max_attempts = 2",
    );
    FilledDatabase { world, jobs: [new[0].id, new[1].id], objects: [objects[0], objects[1]] }
}

/// Makes every kind of call. The answers don't matter here: no call may panic or hang.
fn call_all(filled: &mut FilledDatabase) {
    let store = &mut filled.world.store;
    let _ = store.now();
    for id in filled.objects {
        let _ = store.object(id);
        let _ = store.quarantine(id, "changed");
    }
    for filter in [
        ObjectFilter::default(),
        ObjectFilter { class: Some("A".to_owned()), ..Default::default() },
        ObjectFilter { path_value: Some(("$[0]".to_owned(), "1".to_owned())), ..Default::default() },
        ObjectFilter { path_value: Some(("$".to_owned(), "1".to_owned())), ..Default::default() },
        ObjectFilter { quarantined: Some(true), before: Some(i64::MAX), ..Default::default() },
    ] {
        let _ = store.objects(0, usize::MAX, &filter, &mut |_| Ok(Flow::Continue));
    }
    let _ = store.index("$");
    let _ = store.indexes();
    let _ = store.object_stats();
    let _ = store.remove_expired();
    for id in filled.jobs {
        let _ = store.job(id);
        let _ = store.extend(id, "token", HOUR);
    }
    let _ = store.jobs(&JobFilter::default(), usize::MAX, &mut |_| Ok(Flow::Continue));
    let _ = store.queues();
    let _ = store.schema("mail");
    let _ = store.schedules();
    let _ = store.fire(10);
    let _ = store.pause_schedule("first", true, "ann");
    let _ = store.pause_schedule("first", false, "ann");
    let _ = store.remove_schedule("first", "ann");
    for _ in 0..3 {
        for lease in store.claim("mail", "ann", HOUR, 2).unwrap_or_default() {
            let _ = store.nack(lease.job.id, &lease.token, "no", Some(Duration::ZERO));
        }
    }
    let _ = store.redrive("mail", None, "ann");
    for id in filled.jobs {
        let _ = store.replay(id, "ann");
    }
    let _ = store.remove_ended_jobs(0);
    let _ = store.remove(&filled.objects[..1], "ann");
}

/// Values that no column has in normal use.
const STRANGE: [&str; 11] = [
    "NULL",
    "''",
    "'strange'",
    "X'ff00fe'",
    "CAST(X'ff00fe' AS TEXT)",
    "-1",
    "0.5",
    "9e999",
    "9223372036854775807",
    "-9223372036854775808",
    "'01890A5D-AC96-774B-BCCE-B302099A8057'",
];

#[test]
fn columns_changed_by_hand_do_not_panic() {
    let columns = |world: &World, table: &str| -> Vec<String> {
        world.query_raw(&format!("SELECT name FROM pragma_table_info('{table}')")).remove_names()
    };
    let tables = [
        "icecore_objects",
        "icecore_jobs",
        "icecore_queues",
        "icecore_schedules",
        "icecore_indexes",
        "icecore_index_values",
        "icecore_object_classes",
    ];
    let mut changed = 0;
    for table in tables {
        for column in columns(&fill_database().world, table) {
            for value in STRANGE {
                if column == "seq" && value == "9223372036854775807" {
                    continue; // No sequence can follow this one.
                }
                let mut filled = fill_database();
                let sql =
                    format!("UPDATE {table} SET {column} = {value} WHERE rowid = (SELECT MIN(rowid) FROM {table})");
                // Values that the database itself refuses need no test.
                if common::query_raw(&filled.world.address, &sql).is_err() {
                    continue;
                }
                changed += 1;
                call_all(&mut filled);
                check_others(&mut filled, &sql, table == "icecore_queues");
            }
        }
    }
    println!("{changed} changes");
    assert!(changed > 200);
}

trait RemoveNames {
    fn remove_names(self) -> Vec<String>;
}

impl RemoveNames for Vec<common::TextRow> {
    fn remove_names(self) -> Vec<String> {
        self.into_iter().map(|mut row| row.remove(0).expect("a name")).collect()
    }
}

/// Checks that the other object and the other job are unchanged, and that new ones are accepted.
fn check_others(filled: &mut FilledDatabase, sql: &str, is_queue: bool) {
    let store = &mut filled.world.store;
    assert!(store.object(filled.objects[1]).is_ok_and(|object| object.is_some()), "{sql}");
    let other = store.job(filled.jobs[1]).unwrap_or_else(|error| panic!("{sql}: {error}")).expect("there");
    // The change may have affected the settings of the queue: it may be paused.
    assert!(is_queue || other.attempts > 0, "{sql}: the other job was handed out: {other:?}");
    let second = store.schedules().expect("schedules").into_iter().find(|schedule| schedule.name == "second");
    let second = second.unwrap_or_else(|| panic!("{sql}: the other schedule is there"));
    assert!(second.last_at == Some(1000) && second.last_id.is_some(), "{sql}: it queued its job: {second:?}");
    let new = describe::describe_job("post", b"1".to_vec(), None);
    store.push(std::slice::from_ref(&new)).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let lease = store.claim("post", "ann", HOUR, 1).unwrap_or_else(|error| panic!("{sql}: {error}")).remove(0);
    store.ack(new.id, &lease.token, None).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

#[test]
fn unknown_states_are_reported_as_errors() {
    for state in ["READY", "running", "ready ", ""] {
        let mut filled = fill_database();
        filled.world.query_raw(&format!("UPDATE icecore_jobs SET state = '{state}' WHERE id = '{}'", filled.jobs[0]));
        let store = &mut filled.world.store;
        let error = store.job(filled.jobs[0]).expect_err("no state");
        assert!(error.kind() == ErrorKind::Database && error.to_string().contains(&format!("{state:?}")), "{error}");
        let error = store.jobs(&JobFilter::default(), 10, &mut |_| Ok(Flow::Continue)).expect_err("no state");
        assert!(error.to_string().contains("sequence 1"), "it says where: {error}");
        assert_eq!(store.claim("mail", "ann", HOUR, 10).expect("claimed").len(), 1, "the other one");
        assert_eq!(store.queues().expect("queues")[0].counts, [0, 1, 0, 0, 0]);
        // A walk can continue after it.
        let after_first = JobFilter { after: 1, ..Default::default() };
        let mut count = 0;
        let mut count_job = |_| {
            count += 1;
            Ok(Flow::Continue)
        };
        store.jobs(&after_first, 10, &mut count_job).expect("listed");
        assert_eq!(count, 1);
    }
}

#[test]
fn missing_tables_do_not_panic() {
    for table in
        ["icecore_jobs", "icecore_objects", "icecore_audit", "icecore_indexes", "icecore_queues", "icecore_meta"]
    {
        let mut filled = fill_database();
        filled.world.query_raw(&format!("DROP TABLE {table}"));
        call_all(&mut filled);
    }
}

#[test]
fn files_that_are_not_databases_are_refused() {
    let folder = new_folder();
    let file = folder.join("a.db");
    let address = format!("sqlite:{}", file.display()).parse().expect("an address");
    let long = "no database ".repeat(1_000);
    for (bytes, is_opened) in [
        (&b""[..], true),
        (b"x", false),
        (b"SQLite format 4\0", false),
        (long.as_bytes(), false),
        (b"SQLite format 3\0", false),
        (b"SQLite", false),
    ] {
        std::fs::write(&file, bytes).expect("written");
        let opened = open(&address);
        assert_eq!(opened.is_ok(), is_opened, "{}", bytes.escape_ascii());
        drop(opened);
        if !is_opened {
            assert_eq!(std::fs::read(&file).expect("read"), bytes, "it is left as it was");
        }
        for rest in ["a.db-wal", "a.db-shm"] {
            let _ = std::fs::remove_file(folder.join(rest));
        }
    }
    let none = format!("sqlite:{}", folder.join("none/a.db").display()).parse().expect("an address");
    assert_eq!(open(&none).err().map(|error| error.kind()), Some(ErrorKind::Away));
    let is_folder = format!("sqlite:{}", folder.display()).parse().expect("an address");
    assert!(open(&is_folder).is_err());
}

#[test]
fn overwritten_pages_do_not_panic() {
    let mut filled = fill_database();
    let address = filled.world.address.clone();
    for number in 0..300 {
        filled.world.store.push(&[new_job(&number.to_string())]).expect("pushed");
    }
    filled.world.query_raw("PRAGMA wal_checkpoint(TRUNCATE)");
    let FilledDatabase { world, jobs, objects } = filled;
    drop(world);
    let file = common::file_of(&address);
    let bytes = std::fs::read(&file).expect("read");
    let mut random = common::Random::new();
    for _ in 0..40 {
        let mut broken = bytes.clone();
        for _ in 0..1 + random.below(20) {
            let offset = 100 + random.below(bytes.len() as u64 - 100) as usize;
            broken[offset] = random.below(256) as u8;
        }
        let _ = std::fs::remove_file(format!("{file}-wal"));
        let _ = std::fs::remove_file(format!("{file}-shm"));
        std::fs::write(&file, &broken).expect("written");
        if let Ok(store) = open(&address) {
            call_all(&mut FilledDatabase { world: World { store, address: address.clone() }, jobs, objects });
        }
    }
}

/// A small disk in memory; `None` where creating one is not allowed.
struct Disk(std::path::PathBuf);

impl Disk {
    fn mount(kilobytes: usize) -> Option<Disk> {
        let path = new_folder();
        let size = format!("size={kilobytes}k");
        let mut mount = std::process::Command::new("mount");
        let answer = mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path).output();
        answer.is_ok_and(|output| output.status.success()).then_some(Disk(path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let Some(disk) = Disk::mount(24_000) else {
        eprintln!("SKIPPED: a full disk: a small file system can't be mounted here, which root may");
        return;
    };
    let ballast = disk.0.join("ballast");
    std::fs::write(&ballast, vec![0; 12_000_000]).expect("written");
    let address = format!("sqlite:{}", disk.0.join("a.db").display()).parse().expect("an address");
    let mut world = World::new(address);
    // Until nothing fits any more; each size fills the disk at a different point.
    let (mut jobs, mut objects) = (Vec::new(), Vec::new());
    for size in [200_000, 3_000, 100] {
        let bytes = vec![b'x'; size];
        let description =
            BlobDescription { checksum: describe::compute_checksum(&bytes), ..BlobDescription::default() };
        let error = loop {
            let new = [
                NewJob::new("mail", bytes.clone(), description.clone()),
                NewJob::new("mail", bytes.clone(), description.clone()),
            ];
            match world.store.push(&new) {
                Ok(pushed) => jobs.extend(pushed.iter().map(|pushed| pushed.id)),
                Err(error) => break error,
            }
            let object = NewObject { bytes: bytes.clone(), description: description.clone(), ..NewObject::default() };
            match world.store.put(&[object]) {
                Ok(put) => objects.extend(put),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::Full, "{error}");
    }
    println!("{} jobs, {} objects until the disk was full", jobs.len(), objects.len());
    assert!(jobs.len() > 4 && !objects.is_empty());
    // Existing data can be read, and another program that connects either works or gets a proper
    // error.
    assert_eq!(world.jobs(&JobFilter::default()).len(), jobs.len());
    if let Err(error) = open(&world.address) {
        assert_eq!(error.kind(), ErrorKind::Full, "{error}");
    }
    // Workers may or may not be able to claim jobs, but nothing is half done.
    for _ in 0..3 {
        match world.store.claim("mail", "ann", Duration::ZERO, 1) {
            Ok(leases) => assert!(leases.len() <= 1),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Full, "{error}"),
        }
    }
    std::fs::remove_file(&ballast).expect("there is room again");
    let all = |world: &mut World| -> Vec<Id> { world.jobs(&JobFilter::default()).iter().map(|job| job.id).collect() };
    assert_eq!(all(&mut world), jobs, "all that were acknowledged, and no others");
    for id in &objects {
        assert!(world.store.object(*id).expect("asked").is_some());
    }
    let last = new_job("1");
    world.store.push(std::slice::from_ref(&last)).expect("it goes on");
    jobs.push(last.id);
    // Another program connects after this one ends.
    let address = world.address.clone();
    drop(world);
    let mut world = World::new(address);
    assert_eq!(all(&mut world), jobs);
    assert_eq!(world.store.object_stats().expect("stats").count, objects.len() as u64);
    assert_eq!(world.raw_one("PRAGMA integrity_check").as_deref(), Some("ok"));
    let mut done = 0;
    while done < jobs.len() {
        let lease =
            common::until("all are handed out", || world.store.claim("mail", "ann", HOUR, 1).expect("claimed").pop());
        world.store.ack(lease.job.id, &lease.token, None).expect("ack");
        done += 1;
    }
    assert!(world.jobs(&JobFilter::default()).iter().all(|job| job.state == State::Done));
    drop(world);
}
