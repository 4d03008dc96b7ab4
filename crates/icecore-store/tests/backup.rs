//! Backups and restores, by the commands of docs/store.md.

use crate::common;

use crate::common::{AddressParts, TextRow, World, error_kind, file_of, sql_backends, until};
use icecore_store::{
    Address, ErrorKind, Flow, Id, Job, JobFilter, NewJob, NewObject, Object, ObjectFilter, QueueSettings, Scheme,
    describe, open,
};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const STORE_DOCUMENTATION: &str = include_str!("../../../docs/store.md");

/// Returns the command blocks in the section about backups that begin with this program.
fn find_commands(program: &str) -> String {
    let (_, section) = STORE_DOCUMENTATION.split_once("\n## Backup\n").expect("the section");
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let blocks = section.split("```sh\n").skip(1).filter_map(|block| block.split_once("```"));
    let block = blocks.map(|(block, _)| block).find(|block| block.starts_with(program));
    block.unwrap_or_else(|| panic!("docs/store.md has no block of {program}")).to_owned()
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Runs commands in a folder, with these environment variables.
fn run(script: &str, folder: &Path, environment: &[(&str, String)]) {
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", script]).current_dir(folder).envs(environment.iter().map(|(name, value)| (name, value)));
    let output = shell.output().expect("a shell runs");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the variables that the commands of a database need.
fn environment_of(address: &Address) -> Vec<(&'static str, String)> {
    let AddressParts { user, password, host, port, database } = AddressParts::of(address);
    let scheme = if address.scheme() == Scheme::Postgres { "postgres" } else { "mysql" };
    vec![
        ("ICECORE_DB", format!("{scheme}://{user}@{host}:{port}/{database}")),
        ("PGPASSWORD", password.clone()),
        ("MYSQL_PWD", password),
        ("DB_USER", user),
        ("DB_HOST", host),
        ("DB_PORT", port),
        ("DB_NAME", database),
    ]
}

/// Makes a backup in the folder.
fn back_up(address: &Address, folder: &Path) {
    match address.scheme() {
        Scheme::Sqlite => {
            let database_file = file_of(address);
            run(&find_commands("sqlite3"), Path::new(&database_file).parent().expect("a folder"), &[]);
            let copy = Path::new(&database_file).with_file_name("backup.db");
            std::fs::rename(copy, folder.join("backup.db")).expect("moved");
        }
        Scheme::Postgres => run(&find_commands("pg_dump"), folder, &environment_of(address)),
        _ => run(&find_commands("mariadb-dump"), folder, &environment_of(address)),
    }
}

/// Restores a backup into an empty database.
fn restore(address: &Address, folder: &Path) {
    match address.scheme() {
        Scheme::Sqlite => {
            let database_file = file_of(address);
            let database_folder = Path::new(&database_file).parent().expect("a folder");
            std::fs::copy(folder.join("backup.db"), database_folder.join("backup.db")).expect("copied");
            run(&find_commands("rm"), database_folder, &[]);
        }
        Scheme::Postgres => run(&find_commands("pg_restore"), folder, &environment_of(address)),
        _ => run(&find_commands("mariadb "), folder, &environment_of(address)),
    }
}

fn list_objects(world: &mut World) -> Vec<Object> {
    let mut all = Vec::new();
    let mut add = |object| {
        all.push(object);
        Ok(Flow::Continue)
    };
    world.store.objects(0, usize::MAX, &ObjectFilter::default(), &mut add).expect("objects");
    all
}

/// Everything that a backup must contain.
#[derive(Debug, PartialEq)]
struct BackupContent {
    objects: Vec<Object>,
    jobs: Vec<Job>,
    indexes: Vec<String>,
    /// Each queue with its settings.
    queues: Vec<TextRow>,
    classes: Vec<TextRow>,
    values: Vec<TextRow>,
    audit: Vec<TextRow>,
    version: Vec<TextRow>,
}

impl BackupContent {
    /// Reads everything up to these sequences of an object and of a job.
    fn of(world: &mut World, (object, job): (i64, i64)) -> BackupContent {
        BackupContent {
            objects: list_objects(world).into_iter().filter(|found| found.sequence <= object).collect(),
            jobs: world.jobs(&JobFilter::default()).into_iter().filter(|found| found.sequence <= job).collect(),
            indexes: world.store.indexes().expect("indexes"),
            queues: world.query_raw("SELECT * FROM icecore_queues ORDER BY name"),
            classes: world.query_raw(&format!(
                "SELECT seq, class FROM icecore_object_classes WHERE seq <= {object} ORDER BY seq, class"
            )),
            values: world
                .query_raw(&format!("SELECT * FROM icecore_index_values WHERE seq <= {object} ORDER BY seq, path")),
            audit: world.query_raw("SELECT * FROM icecore_audit ORDER BY seq"),
            version: world.query_raw("SELECT * FROM icecore_meta"),
        }
    }
}

/// Stores objects and jobs of each kind and state. Returns a job that a worker has, and its token.
fn store_one_of_everything(world: &mut World) -> (Id, String) {
    let every: Vec<u8> = (0..=255).collect();
    let php = b"O:4:\"User\":2:{s:2:\"id\";i:7;s:4:\"name\";s:4:\"Zo\xc3\xab\";}".to_vec();
    world.store.index("$.id").expect("an index");
    world
        .store
        .put(&[
            describe::describe_object(every.clone(), None),
            describe::describe_object(Vec::new(), None),
            NewObject { key: Some("Zo\u{eb} \u{1f980}'\\".to_owned()), ..describe::describe_object(php.clone(), None) },
            NewObject { as_base64: true, expires_at: Some(i64::MAX), ..describe::describe_object(php, None) },
        ])
        .expect("put");
    let job = |queue: &str, bytes: &[u8]| describe::describe_job(queue, bytes.to_vec(), None);
    let store = &mut world.store;
    store.configure("set", &QueueSettings { max_attempts: Some(1), ..QueueSettings::default() }).expect("set");
    store.pause("paused", true, "ann").expect("paused");
    store.push(&[job("done", &every), job("set", b"[1]"), job("paused", b"[2]")]).expect("pushed");
    let waiting = NewJob {
        delay: Duration::from_secs(3_600),
        priority: -3,
        unique_key: Some("k".to_owned()),
        ..job("ready", b"{\"a\":1}")
    };
    store.push(&[waiting]).expect("pushed");
    let done = store.claim("done", "w", common::HOUR, 1).expect("claimed").remove(0);
    store.ack(done.job.id, &done.token, Some(&every)).expect("done");
    let dead = store.claim("set", "w", common::HOUR, 1).expect("claimed").remove(0);
    store.nack(dead.job.id, &dead.token, "it can't be done", None).expect("dead");
    store.push(&[job("leased", b"[3]")]).expect("pushed");
    let leased = store.claim("leased", "w", Duration::from_secs(2), 1).expect("claimed").remove(0);
    (leased.job.id, leased.token)
}

#[test]
fn a_restored_backup_has_all_data() {
    for (name, new_database) in sql_backends() {
        let address = new_database();
        let needed: &[&str] = match address.scheme() {
            Scheme::Sqlite => &["sqlite3"],
            Scheme::Postgres => &["pg_dump", "pg_restore"],
            _ => &["mariadb-dump", "mariadb"],
        };
        if let Some(missing) = needed.iter().find(|program| !is_installed(program)) {
            eprintln!("SKIPPED: {name}, as {missing} is missing");
            continue;
        }
        let mut world = World::new(address);
        let (leased, token) = store_one_of_everything(&mut world);
        let folder = common::new_folder();
        let (is_over, written) = (AtomicBool::new(false), AtomicUsize::new(0));
        let acknowledged = std::thread::scope(|scope| {
            // Others continue to write: each object with its class, its value and its job.
            scope.spawn(|| {
                let mut store = open(&world.address).expect("a connection");
                while !is_over.load(Ordering::SeqCst) {
                    let user = describe::describe_object(br#"O:4:"User":1:{s:2:"id";i:8;}"#.to_vec(), None);
                    common::patiently(|| store.put(std::slice::from_ref(&user))).expect("put");
                    let job = describe::describe_job("more", b"[4]".to_vec(), None);
                    common::patiently(|| store.push(std::slice::from_ref(&job))).expect("pushed");
                    written.fetch_add(1, Ordering::SeqCst);
                }
            });
            until("something is written", || (written.load(Ordering::SeqCst) > 3).then_some(()));
            let acknowledged = written.load(Ordering::SeqCst);
            back_up(&world.address, &folder);
            is_over.store(true, Ordering::SeqCst);
            acknowledged
        });

        let empty = new_database();
        restore(&empty, &folder);
        let mut restored = World::new(empty);
        let last = (
            list_objects(&mut restored).last().expect("objects").sequence,
            restored.jobs(&JobFilter::default()).last().expect("jobs").sequence,
        );
        let (original, back) = (BackupContent::of(&mut world, last), BackupContent::of(&mut restored, last));
        assert_eq!(original, back, "{name}");
        assert!(back.objects.len() >= 4 + acknowledged && back.jobs.len() >= 5 + acknowledged, "{name}");
        assert!(
            back.objects.iter().all(|object| object.checksum == describe::compute_checksum(&object.bytes)),
            "{name}"
        );

        // The lease ends at its time, and from then on only the next worker's token is valid.
        let new_lease =
            until("the lease ends", || restored.store.claim("leased", "next", common::HOUR, 1).expect("asked").pop());
        assert_eq!((new_lease.job.id, new_lease.job.attempts), (leased, 2), "{name}");
        assert_eq!(error_kind(restored.store.ack(leased, &token, None)), ErrorKind::Lease, "{name}");
        restored.store.ack(leased, &new_lease.token, None).expect("done");
        // Sequences continue after the last one.
        let id = restored.store.put(&[describe::describe_object(b"[5]".to_vec(), None)]).expect("put")[0];
        assert!(restored.store.object(id).expect("asked").expect("there").sequence > last.0, "{name}");
    }
}
