//! A program in Perl queues jobs within a transaction of its own, by `examples/dbi.pl`; the
//! engine hands them out.

mod common;

use common::{HOUR, Parts, World, file_of, sql_backends};
use icecore_store::{Address, JobFilter, Scheme, State};
use std::path::Path;
use std::process::{Command, Output};

/// The module of a database.
fn module(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Sqlite => "DBD::SQLite",
        Scheme::Postgres => "DBD::Pg",
        _ => "DBD::MariaDB",
    }
}

fn has(module: &str) -> bool {
    let asked = Command::new("perl").args(["-MDBI", &format!("-M{module}"), "-e1"]).output();
    asked.is_ok_and(|output| output.status.success())
}

/// Runs the example.
fn take_order(address: &Address, order: &str, total: &str) -> Output {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/dbi.pl");
    let mut perl = Command::new("perl");
    let dsn = match address.scheme() {
        Scheme::Sqlite => format!("dbi:SQLite:{}", file_of(address)),
        scheme => {
            let Parts { user, password, host, port, database } = Parts::of(address);
            perl.env("DBI_USER", user).env("DBI_PASS", password);
            let (driver, name) = if scheme == Scheme::Mysql { ("MariaDB", "database") } else { ("Pg", "dbname") };
            format!("dbi:{driver}:{name}={database};host={host};port={port}")
        }
    };
    perl.arg(example).args([&dsn, order, total]).output().expect("perl runs")
}

#[test]
fn an_order_and_its_job_are_there_or_neither() {
    for (name, fresh) in sql_backends() {
        let address = fresh();
        let module = module(address.scheme());
        if !has(module) {
            eprintln!("SKIPPED: {name}, as perl has no {module}");
            continue;
        }
        let mut world = World::new(address);
        let taken = take_order(&world.address, "7", "250");
        assert!(taken.status.success(), "{name}: {taken:?}");
        let refused = take_order(&world.address, "8", "0");
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("an order of nothing"), "{name}: {said}");
        // What was rolled back is nowhere.
        let orders = [[Some("7".to_owned()), Some("250".to_owned())]];
        assert_eq!(world.raw("SELECT id, total FROM orders"), orders, "{name}");
        assert_eq!(world.jobs(&JobFilter::default()).len(), 1, "{name}");

        let leases = world.store.claim("mail", "w", HOUR, 10).expect("claimed");
        assert_eq!(leases.len(), 1, "{name}");
        let job = &leases[0].job;
        assert_eq!((job.format.as_deref(), job.problem.as_deref()), (Some("storable"), None), "{name}");
        // Perl keeps what stood on its command line as strings.
        let json = job.json.as_deref().expect("a readable copy");
        assert!(json.contains(r#""order":"7""#) && json.contains(r#""total":"250""#), "{name}: {json}");
        assert_eq!((job.queued_at, job.attempts, job.max_attempts), (job.run_at, 1, 20), "{name}");
        world.store.ack(job.id, &leases[0].token, Some(b"sent")).expect("done");
        let done = world.store.job(job.id).expect("asked").expect("there");
        assert_eq!((done.state, done.result.as_deref()), (State::Done, Some(&b"sent"[..])), "{name}");
    }
}
