//! Objects and jobs in a transaction of the caller: kept if it commits, gone if it does not.

use crate::common;

use crate::common::{World, error_kind, sql_backends};
use icecore_store::within::{self, TransactionStore};
use icecore_store::{Address, ErrorKind, JobFilter, NewJob, NewObject, Scheme, describe};

/// A transaction of any of the drivers.
trait Caller {
    /// Runs a statement of the caller itself.
    fn run(&mut self, sql: &str);
    fn within(&mut self) -> icecore_store::Result<TransactionStore<'_>>;
}

#[cfg(feature = "sqlite")]
impl Caller for within::rusqlite::Transaction<'_> {
    fn run(&mut self, sql: &str) {
        self.execute_batch(sql).expect(sql);
    }

    fn within(&mut self) -> icecore_store::Result<TransactionStore<'_>> {
        within::sqlite(self)
    }
}

#[cfg(feature = "postgres")]
impl Caller for within::postgres::Transaction<'_> {
    fn run(&mut self, sql: &str) {
        self.batch_execute(sql).expect(sql);
    }

    fn within(&mut self) -> icecore_store::Result<TransactionStore<'_>> {
        within::postgres(self)
    }
}

#[cfg(feature = "mysql")]
impl Caller for within::mysql::Transaction<'_> {
    fn run(&mut self, sql: &str) {
        within::mysql::prelude::Queryable::query_drop(self, sql).expect(sql);
    }

    fn within(&mut self) -> icecore_store::Result<TransactionStore<'_>> {
        within::mysql(self)
    }
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TransactionEnd {
    Commit,
    Rollback,
}

/// Runs `body` in a transaction over a connection that is not the store's.
fn run_transaction(address: &Address, end: TransactionEnd, body: &mut dyn FnMut(&mut dyn Caller)) {
    match address.scheme() {
        #[cfg(feature = "sqlite")]
        Scheme::Sqlite => {
            let mut connection = within::rusqlite::Connection::open(common::file_of(address)).expect("a connection");
            let mut transaction = connection.transaction().expect("begun");
            body(&mut transaction);
            if end == TransactionEnd::Commit { transaction.commit() } else { transaction.rollback() }.expect("ended");
        }
        #[cfg(feature = "postgres")]
        Scheme::Postgres => {
            use within::postgres::{Client, NoTls};
            let mut client = Client::connect(&common::address_with_password(address), NoTls).expect("a connection");
            let mut transaction = client.transaction().expect("begun");
            body(&mut transaction);
            if end == TransactionEnd::Commit { transaction.commit() } else { transaction.rollback() }.expect("ended");
        }
        #[cfg(feature = "mysql")]
        Scheme::Mysql => {
            use within::mysql::{Conn, Opts, TxOpts};
            let mut conn = Conn::new(Opts::from_url(&common::address_with_password(address)).expect("an address"))
                .expect("a connection");
            let mut transaction = conn.start_transaction(TxOpts::default()).expect("begun");
            body(&mut transaction);
            if end == TransactionEnd::Commit { transaction.commit() } else { transaction.rollback() }.expect("ended");
        }
        #[allow(unreachable_patterns, reason = "all drivers may be enabled")]
        scheme => panic!("no driver for {scheme:?}"),
    }
}

fn object_with_key(key: &str) -> NewObject {
    let bytes = br#"O:4:"User":1:{s:2:"id";i:7;}"#;
    NewObject { key: Some(key.to_owned()), ..describe::describe_object(bytes.to_vec(), None) }
}

fn job_with_key(unique_key: &str) -> NewJob {
    NewJob { unique_key: Some(unique_key.to_owned()), ..describe::describe_job("mail", b"[7]".to_vec(), None) }
}

fn count_rows(world: &World, table: &str) -> String {
    world.raw_one(&format!("SELECT COUNT(*) FROM {table}")).expect("a number")
}

/// Counts the rows of the caller's table, of objects and their side tables, and of jobs.
fn count_all_rows(world: &World) -> [String; 5] {
    ["orders", "icecore_objects", "icecore_object_classes", "icecore_index_values", "icecore_jobs"]
        .map(|table| count_rows(world, table))
}

fn each_world(test: impl Fn(&mut World)) {
    for (name, new_database) in sql_backends() {
        eprintln!("{name}");
        let mut world = World::new(new_database());
        world.query_raw("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
        world.store.index("$.id").expect("an index");
        test(&mut world);
    }
}

#[test]
fn only_committed_objects_and_jobs_are_stored() {
    each_world(|world| {
        for end in [TransactionEnd::Rollback, TransactionEnd::Commit] {
            run_transaction(&world.address, end, &mut |caller| {
                caller.run("INSERT INTO orders VALUES (1)");
                let mut within = caller.within().expect("the tables are there");
                assert_eq!(within.put(&[object_with_key("a"), object_with_key("b")]).expect("put").len(), 2);
                let pushed = within.push(&[job_with_key("k"), job_with_key("l"), job_with_key("k")]).expect("pushed");
                assert_eq!(pushed.iter().map(|pushed| pushed.is_new).collect::<Vec<_>>(), [true, true, false]);
                assert_eq!(pushed[0].id, pushed[2].id, "the transaction sees its own");
                drop(within);
                caller.run("INSERT INTO orders VALUES (2)");
            });
            let expected = if end == TransactionEnd::Commit { ["2", "2", "2", "2", "2"] } else { ["0"; 5] };
            assert_eq!(count_all_rows(world), expected, "{end:?}");
        }
        let found = world.store.object_named("a").expect("asked").expect("there");
        assert_eq!((found.format.as_deref(), found.class.as_deref()), (Some("php"), Some("User")));
        let now = world.store.now().expect("the time");
        assert!((now - 600_000..=now).contains(&found.stored_at), "{} {now}", found.stored_at);
        let jobs = world.jobs(&JobFilter::default());
        assert!(jobs.iter().all(|job| job.json.is_none() && job.bytes == b"[7]"));
        assert_eq!(world.store.claim("mail", "w", common::HOUR, 10).expect("claimed").len(), 2);
    });
}

#[test]
fn a_taken_key_leaves_the_transaction_intact() {
    each_world(|world| {
        world.store.put(&[object_with_key("a")]).expect("put");
        run_transaction(&world.address, TransactionEnd::Commit, &mut |caller| {
            caller.run("INSERT INTO orders VALUES (1)");
            let mut within = caller.within().expect("the tables are there");
            within.put(&[object_with_key("b")]).expect("put");
            // A call stores everything or nothing.
            assert_eq!(error_kind(within.put(&[object_with_key("c"), object_with_key("a")])), ErrorKind::Taken);
            // The database itself refuses this one: the id exists.
            let duplicate =
                NewObject { id: Some(within.put(&[object_with_key("d")]).expect("put")[0]), ..object_with_key("e") };
            assert_eq!(error_kind(within.put(&[duplicate])), ErrorKind::Taken);
            assert_eq!(
                error_kind(within.push(&[job_with_key("k"), NewJob { queue: String::new(), ..job_with_key("l") }])),
                ErrorKind::Input
            );
            within.push(&[job_with_key("m")]).expect("pushed");
            drop(within);
            caller.run("INSERT INTO orders VALUES (2)");
        });
        assert_eq!(count_all_rows(world), ["2", "3", "3", "3", "1"]);
        for (key, is_there) in [("a", true), ("b", true), ("c", false), ("d", true), ("e", false)] {
            assert_eq!(world.store.object_named(key).expect("asked").is_some(), is_there, "{key}");
        }
    });
}

/// Missing tables are not created, because in some databases that would commit the work of the caller.
#[test]
fn missing_tables_are_an_error_and_the_transaction_continues() {
    for (name, new_database) in sql_backends() {
        let address = new_database();
        run_transaction(&address, TransactionEnd::Commit, &mut |caller| {
            caller.run("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
            let error = caller.within().err().expect("no tables");
            assert_eq!(error.kind(), ErrorKind::Schema, "{name}: {error}");
            caller.run("INSERT INTO orders VALUES (1)");
        });
        assert_eq!(count_rows(&World::new(address), "orders"), "1", "{name}");
    }
}

/// An index finds what is stored while its creation begins, although the caller's transaction sees
/// the rest of the database as it was when the transaction began.
#[cfg(feature = "mysql")]
#[test]
fn an_index_created_during_a_transaction_finds_its_objects() {
    for (name, new_database) in sql_backends() {
        let mut world = World::new(new_database());
        if world.address.scheme() != Scheme::Mysql {
            continue;
        }
        let address = world.address.clone();
        run_transaction(&address, TransactionEnd::Commit, &mut |caller| {
            // MariaDB's default is REPEATABLE READ: from here on it sees no changes by others.
            caller.run("SELECT COUNT(*) FROM icecore_objects");
            world.store.index("$.id").expect("an index");
            caller.within().expect("the tables are there").put(&[object_with_key("a")]).expect("put");
        });
        assert_eq!(count_rows(&world, "icecore_index_values"), "1", "{name}");
    }
}
