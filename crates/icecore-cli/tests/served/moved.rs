//! The file of the database is renamed, deleted or replaced while clients push.
//!
//! The answers to clients are the reference: a job with 201 is in the file that was served, and no request that begins
//! after the change gets one.

use super::client::ask;
use super::daemon::Daemon;
use crate::common::until;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

const CLIENTS: usize = 4;

/// Returns the ids of the jobs in a file, without a log that is elsewhere.
fn jobs(path: &Path) -> HashSet<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy.db");
    fs::copy(path, &copy).expect("a copy");
    let connection = rusqlite::Connection::open(copy).expect("a database");
    let mut statement = connection.prepare("SELECT id FROM icecore_jobs").expect("the jobs");
    let ids = statement.query_map([], |row| row.get(0)).expect("ids");
    ids.collect::<Result<_, _>>().expect("ids")
}

/// Lets clients push until each was refused after the change. Returns the ids of the stored jobs.
fn push_while(daemon: &Daemon, change: impl FnOnce()) -> HashSet<String> {
    let (has_changed, stored) = (AtomicBool::new(false), Mutex::new(HashSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                loop {
                    let is_late = has_changed.load(Ordering::SeqCst);
                    let answer = ask(daemon.address, "POST", "/jobs?queue=q", "1").expect("an answer");
                    match answer.code {
                        201 if !is_late => drop(stored.lock().expect("ids").insert(answer.str("/id"))),
                        503 => {
                            assert_eq!(answer.str("/error/kind"), "moved", "{answer:?}");
                            assert!(answer.text.contains("a.db"), "{answer:?}");
                            if is_late {
                                return;
                            }
                        }
                        _ => panic!("after the change: {is_late}, {answer:?}"),
                    }
                }
            });
        }
        until("clients have pushed", || (stored.lock().expect("ids").len() >= 50).then_some(()));
        change();
        has_changed.store(true, Ordering::SeqCst);
    });
    stored.into_inner().expect("ids")
}

struct ServedDatabase {
    folder: tempfile::TempDir,
    daemon: Daemon,
}

impl ServedDatabase {
    fn new() -> ServedDatabase {
        let folder = tempfile::tempdir().expect("a folder");
        let daemon = Daemon::start(&format!("sqlite:{}", folder.path().join("a.db").display()), &[]);
        ServedDatabase { folder, daemon }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).expect("renamed");
    }

    /// Asserts that every request is refused, and that `/healthz` says why.
    fn assert_refused(&self) {
        for (method, path) in [
            ("POST", "/jobs"),
            ("POST", "/objects"),
            ("POST", "/queues/q/claim"),
            ("POST", "/queues/q/pause"),
            ("GET", "/jobs"),
            ("GET", "/queues"),
        ] {
            let answer = self.daemon.ask(method, path, if path == "/jobs" && method == "POST" { "1" } else { "" });
            assert_eq!((answer.code, &*answer.str("/error/kind")), (503, "moved"), "{method} {path}");
        }
        let health = self.daemon.ask("GET", "/healthz", "");
        assert_eq!(health.code, 503);
        assert!(health.str("/problem").contains("moved, deleted or replaced"), "{health:?}");
    }

    /// Asserts that clients can read all of these jobs, and push new ones.
    fn assert_served(&self, stored: &HashSet<String>) {
        until("it is well", || (self.daemon.ask("GET", "/healthz", "").code == 200).then_some(()));
        for id in stored {
            assert_eq!(self.daemon.ask("GET", &format!("/jobs/{id}?brief=true"), "").code, 200);
        }
        let answer = self.daemon.ask("POST", "/jobs?queue=q", "1");
        assert_eq!(answer.code, 201);
    }
}

#[test]
fn a_renamed_database_has_all_acknowledged_jobs() {
    for suffixes in [&[""][..], &["", "-wal", "-shm"], &["-wal", "-shm", ""]] {
        let database = ServedDatabase::new();
        let stored = push_while(&database.daemon, || {
            suffixes.iter().for_each(|suffix| database.rename(&format!("a.db{suffix}"), &format!("b.db{suffix}")));
        });
        until("all is in the file", || {
            database.assert_refused();
            stored.is_subset(&jobs(&database.path("b.db"))).then_some(())
        });
        assert!(!database.path("a.db").exists());
        suffixes.iter().for_each(|suffix| database.rename(&format!("b.db{suffix}"), &format!("a.db{suffix}")));
        database.assert_served(&stored);
    }
}

#[test]
fn a_deleted_or_replaced_database_is_noticed() {
    type Change = fn(&ServedDatabase);
    let delete: Change = |database| fs::remove_file(database.path("a.db")).expect("deleted");
    let replace: Change = |database| {
        drop(rusqlite::Connection::open(database.path("new.db")).map(|new| new.execute_batch("CREATE TABLE t (a)")));
        database.rename("new.db", "a.db");
    };
    let copy: Change = |database| {
        database.rename("a.db", "b.db");
        fs::copy(database.path("b.db"), database.path("a.db")).expect("copied");
    };
    let rename_folder: Change = |database| {
        fs::rename(database.folder.path(), database.folder.path().with_extension("moved")).expect("renamed");
    };
    for (number, change) in [delete, replace, copy, rename_folder].into_iter().enumerate() {
        let mut database = ServedDatabase::new();
        push_while(&database.daemon, || change(&database));
        database.assert_refused();
        match number {
            // A user who restarts it wants the file that is there then.
            0 => {
                for suffix in ["-wal", "-shm"] {
                    fs::remove_file(database.path(&format!("a.db{suffix}"))).expect("deleted");
                }
                database.daemon.kill_and_restart();
                database.assert_served(&HashSet::new());
            }
            3 => {
                fs::rename(database.folder.path().with_extension("moved"), database.folder.path()).expect("renamed");
                database.assert_served(&HashSet::new());
            }
            _ => {}
        }
    }
}

#[test]
fn a_deleted_log_is_noticed() {
    for suffix in ["-wal", "-shm"] {
        let mut database = ServedDatabase::new();
        let stored = push_while(&database.daemon, || {
            fs::remove_file(database.path(&format!("a.db{suffix}"))).expect("deleted");
        });
        until("all is in the file", || {
            database.assert_refused();
            stored.is_subset(&jobs(&database.path("a.db"))).then_some(())
        });
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(database.path(&format!("a.db{suffix}")));
        }
        database.daemon.kill_and_restart();
        database.assert_served(&stored);
    }
}

/// The daemon serves the file that exists when it starts, even if the first request comes later.
#[test]
fn the_daemon_serves_the_file_that_existed_at_its_start() {
    let database = ServedDatabase::new();
    until("it has opened the file", || database.path("a.db-shm").exists().then_some(()));
    database.rename("a.db", "b.db");
    database.assert_refused();
    assert!(!database.path("a.db").exists());
}
