//! Files of SQLite that are renamed, deleted or replaced while they are open.
#![cfg(all(feature = "sqlite", unix))]

use icecore_store::{Address, Backend, ErrorKind, Id, NewJob, Outcome, Reopener, Stop, Worker, describe, open};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

struct DatabaseFolder {
    folder: tempfile::TempDir,
}

impl DatabaseFolder {
    fn new() -> DatabaseFolder {
        DatabaseFolder { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn address(&self, name: &str) -> Address {
        address_of_file(&self.path(name))
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).expect("renamed");
    }
}

fn address_of_file(path: &Path) -> Address {
    format!("sqlite:{}", path.display()).parse().expect("an address")
}

fn new_job() -> NewJob {
    describe::describe_job("mail", b"1".to_vec(), Some("json"))
}

fn push_job(store: &mut dyn Backend) -> Id {
    store.push(&[new_job()]).expect("pushed")[0].id
}

/// Checks that each kind of call is refused: one statement, a transaction and a query.
fn assert_refused(store: &mut dyn Backend) {
    let new = [new_job(), new_job()];
    for error in [
        store.push(&new[..1]).expect_err("one statement"),
        store.push(&new).expect_err("a transaction"),
        store.put(&[describe::describe_object(b"a:0:{}".to_vec(), None)]).expect_err("an object"),
        store.claim("mail", "ann", Duration::from_secs(60), 1).expect_err("a claim"),
        store.pause("mail", true, "ann").expect_err("a pause"),
        store.now().expect_err("a question"),
    ] {
        assert_eq!(error.kind(), ErrorKind::Moved, "{error}");
        assert!(error.is_passing());
        assert!(error.to_string().contains("a.db"), "{error}");
    }
}

/// Reads the jobs of a database by SQLite alone, without a log under another name.
fn read_job_ids(path: &Path) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy.db");
    fs::copy(path, &copy).expect("a copy");
    let connection = rusqlite::Connection::open(copy).expect("a database");
    let mut statement = connection.prepare("SELECT id FROM icecore_jobs ORDER BY seq").expect("the jobs");
    let ids = statement.query_map([], |row| row.get(0)).expect("ids");
    ids.collect::<Result<_, _>>().expect("ids")
}

#[test]
fn nothing_is_stored_in_a_renamed_file() {
    let folder = DatabaseFolder::new();
    let mut store = open(&folder.address("a.db")).expect("a store");
    let before = push_job(&mut *store);
    folder.rename("a.db", "b.db");
    assert_refused(&mut *store);
    assert!(!folder.path("a.db").exists(), "no new file was made");
    // All that was stored before is in the file itself, although its log kept the old name.
    assert_eq!(read_job_ids(&folder.path("b.db")), [before.to_string()]);
    folder.rename("b.db", "a.db");
    let after = push_job(&mut *store);
    drop(store);
    assert_eq!(read_job_ids(&folder.path("a.db")), [before.to_string(), after.to_string()]);
}

#[test]
fn nothing_is_stored_in_files_renamed_together() {
    let folder = DatabaseFolder::new();
    let mut store = open(&folder.address("a.db")).expect("a store");
    let before = push_job(&mut *store);
    for suffix in ["", "-wal", "-shm"] {
        folder.rename(&format!("a.db{suffix}"), &format!("b.db{suffix}"));
    }
    assert_refused(&mut *store);
    assert_eq!(read_job_ids(&folder.path("b.db")), [before.to_string()]);
    for suffix in ["", "-wal", "-shm"] {
        folder.rename(&format!("b.db{suffix}"), &format!("a.db{suffix}"));
    }
    push_job(&mut *store);
}

#[test]
fn nothing_is_stored_in_a_deleted_file() {
    let folder = DatabaseFolder::new();
    let mut store = open(&folder.address("a.db")).expect("a store");
    push_job(&mut *store);
    fs::remove_file(folder.path("a.db")).expect("deleted");
    assert_refused(&mut *store);
    assert!(!folder.path("a.db").exists());
}

#[test]
fn nothing_is_stored_in_a_replaced_file() {
    type Replace = fn(&DatabaseFolder);
    let by_rename: Replace = |folder| folder.rename("copy.db", "a.db");
    let by_copy: Replace = |folder| {
        // While the deleted file is open, its inode number is not given to the new one.
        fs::remove_file(folder.path("a.db")).expect("deleted");
        fs::copy(folder.path("copy.db"), folder.path("a.db")).expect("copied");
    };
    let by_link: Replace = |folder| {
        folder.rename("a.db", "old.db");
        std::os::unix::fs::symlink(folder.path("copy.db"), folder.path("a.db")).expect("a link");
    };
    let by_empty: Replace = |folder| {
        folder.rename("a.db", "old.db");
        fs::write(folder.path("a.db"), b"").expect("an empty file");
    };
    for replace in [by_rename, by_copy, by_link, by_empty] {
        let folder = DatabaseFolder::new();
        drop(open(&folder.address("copy.db")).expect("a store"));
        let mut store = open(&folder.address("a.db")).expect("a store");
        push_job(&mut *store);
        replace(&folder);
        let bytes = fs::read(folder.path("a.db")).expect("a file");
        assert_refused(&mut *store);
        drop(store);
        assert_eq!(fs::read(folder.path("a.db")).expect("a file"), bytes, "what is there now stays as it is");
    }
}

#[test]
fn nothing_is_stored_without_the_visible_log() {
    for suffix in ["-wal", "-shm"] {
        for is_made_again in [false, true] {
            let folder = DatabaseFolder::new();
            let mut store = open(&folder.address("a.db")).expect("a store");
            let before = push_job(&mut *store);
            let log = folder.path(&format!("a.db{suffix}"));
            fs::remove_file(&log).expect("deleted");
            if is_made_again {
                fs::write(&log, b"").expect("made again");
            }
            assert_refused(&mut *store);
            assert_eq!(read_job_ids(&folder.path("a.db")), [before.to_string()]);
            drop(store);
            // A log that another program put there is not this connection's to delete.
            assert_eq!(log.exists(), is_made_again, "{suffix}");
        }
    }
}

#[test]
fn renamed_folders_and_changed_links_are_noticed() {
    let folder = DatabaseFolder::new();
    fs::create_dir(folder.path("data")).expect("a folder");
    let mut store = open(&folder.address("data/a.db")).expect("a store");
    folder.rename("data", "moved");
    assert_refused(&mut *store);
    folder.rename("moved", "data");
    push_job(&mut *store);
    drop(store);
    // A link to the database is followed; another target is another database.
    drop(open(&folder.address("other.db")).expect("a store"));
    std::os::unix::fs::symlink("data/a.db", folder.path("link-to-a.db")).expect("a link");
    let mut store = open(&folder.address("link-to-a.db")).expect("a store");
    push_job(&mut *store);
    fs::remove_file(folder.path("link-to-a.db")).expect("deleted");
    std::os::unix::fs::symlink("other.db", folder.path("link-to-a.db")).expect("a link");
    assert_refused(&mut *store);
}

#[test]
fn use_by_others_does_not_count_as_a_move() {
    let folder = DatabaseFolder::new();
    let mut stores: Vec<_> = (0..3).map(|_| open(&folder.address("a.db")).expect("a store")).collect();
    for _ in 0..3 {
        for store in &mut stores {
            push_job(&mut **store);
        }
        // Checkpoints of other programs, and connections that open and close, do not replace a
        // file.
        let other = rusqlite::Connection::open(folder.path("a.db")).expect("a connection");
        let _ = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        other.execute_batch("VACUUM").expect("it is compacted");
    }
    drop(stores);
    assert_eq!(read_job_ids(&folder.path("a.db")).len(), 9);
}

#[test]
fn reopening_requires_the_same_file() {
    let folder = DatabaseFolder::new();
    let database = Reopener::new(folder.address("a.db"));
    let id = push_job(&mut *database.open().expect("a store"));
    let is_moved = || database.open().err().map(|error| error.kind()) == Some(ErrorKind::Moved);
    // Without an open connection: the last one removed the log.
    folder.rename("a.db", "b.db");
    assert!(is_moved());
    assert!(!folder.path("a.db").exists(), "no new file is made");
    fs::copy(folder.path("b.db"), folder.path("a.db")).expect("a copy");
    assert!(is_moved(), "a copy is another file");
    fs::remove_file(folder.path("b.db")).expect("deleted");
    fs::remove_file(folder.path("a.db")).expect("deleted");
    fs::write(folder.path("a.db"), b"").expect("a new file, with the old number or not");
    assert!(is_moved());
    drop(database);
    assert!(open(&folder.address("a.db")).expect("a store").job(id).expect("a question").is_none());
    // With an open connection whose log is gone: SQLite would mix two logs.
    let database = Reopener::new(folder.address("c.db"));
    let mut first = database.open().expect("a store");
    push_job(&mut *first);
    fs::remove_file(folder.path("c.db-wal")).expect("deleted");
    let error = database.open().err().expect("an error");
    assert_eq!(error.kind(), ErrorKind::Moved);
    assert!(!folder.path("c.db-wal").exists());
}

#[test]
fn the_log_of_a_new_database_is_not_deleted() {
    let folder = DatabaseFolder::new();
    let mut old = open(&folder.address("a.db")).expect("a store");
    let before = push_job(&mut *old);
    for suffix in ["", "-wal", "-shm"] {
        folder.rename(&format!("a.db{suffix}"), &format!("b.db{suffix}"));
    }
    let mut new = open(&folder.address("a.db")).expect("a store");
    let after = push_job(&mut *new);
    assert_refused(&mut *old);
    drop(old);
    assert!(folder.path("a.db-wal").exists() && folder.path("a.db-shm").exists());
    let second = push_job(&mut *new);
    drop(new);
    assert_eq!(read_job_ids(&folder.path("a.db")), [after.to_string(), second.to_string()]);
    assert_eq!(read_job_ids(&folder.path("b.db")), [before.to_string()]);
}

/// `mv` to another disk copies the file without its log and deletes it.
#[test]
fn a_log_with_the_last_commits_is_kept() {
    let folder = DatabaseFolder::new();
    let mut store = open(&folder.address("a.db")).expect("a store");
    let mut ids = vec![push_job(&mut *store)];
    let copy = rusqlite::Connection::open(folder.path("a.db")).expect("a connection");
    let _ = copy.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    drop(copy);
    ids.push(push_job(&mut *store));
    fs::copy(folder.path("a.db"), folder.path("copy.db")).expect("a copy");
    fs::remove_file(folder.path("a.db")).expect("deleted");
    assert_refused(&mut *store);
    drop(store);
    assert_eq!(read_job_ids(&folder.path("copy.db")).len(), 1);
    folder.rename("copy.db", "a.db");
    let mut store = open(&folder.address("a.db")).expect("a store");
    for id in ids {
        assert!(store.job(id).expect("a question").is_some());
    }
}

#[test]
fn a_worker_waits_until_its_file_returns() {
    let folder = Arc::new(DatabaseFolder::new());
    let database = Reopener::new(folder.address("a.db"));
    let ids: Vec<Id> = {
        let mut store = database.open().expect("a store");
        (0..2).map(|_| push_job(&mut *store)).collect()
    };
    let mut worker = Worker::new("mail", "ann");
    worker.until_empty = true;
    worker.idle = Duration::from_millis(10);
    let during = Arc::clone(&folder);
    let runner = move |job: &icecore_store::Job| {
        if during.path("b.db").exists() || job.id != ids[0] {
            return Outcome::Done(None);
        }
        during.rename("a.db", "b.db");
        Outcome::Done(None)
    };
    let mut moved = 0;
    let tally = worker.run(&|| database.open(), Arc::new(runner), &Stop::new(), &mut |event| {
        if let icecore_store::Event::Away(error) = event {
            assert_eq!(error.kind(), ErrorKind::Moved, "{error}");
            moved += 1;
            if moved == 3 {
                folder.rename("b.db", "a.db");
            }
        }
    });
    assert_eq!((tally.expect("it ends").done, moved), (2, 3));
}
