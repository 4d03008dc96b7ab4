//! What the drivers must do in addition to what all databases do: many connections at once, lost connections,
//! byte-exact names, large payloads.
//!
//! `scripts/servers.sh run cargo test -p icecore-store --features postgres,mysql --test store backends::`
//! runs them on servers; without servers only SQLite is tested.

use crate::common::{HOUR, Random, World, error_kind, query_raw, sql_backends, until};
use icecore_store::{Ack, Address, Backend, ErrorKind, Flow, Lease, ObjectFilter, Scheme, State, describe, open};
use std::collections::HashSet;
use std::time::{Duration, Instant};

const THREADS: usize = 8;

fn on_each_database(test: impl Fn(&mut World)) {
    for (name, new_database) in sql_backends() {
        eprintln!("{name}");
        test(&mut World::new(new_database()));
    }
}

fn run_threads<T: Send>(threads: usize, body: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let body = &body;
        let all: Vec<_> = (0..threads).map(|thread| scope.spawn(move || body(thread))).collect();
        all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn php_string(text: &str) -> Vec<u8> {
    format!("s:{}:\"{text}\";", text.len()).into_bytes()
}

#[test]
fn eight_programs_create_the_tables_once() {
    for (name, new_database) in sql_backends() {
        let address = new_database();
        let stores = run_threads(THREADS, |_| open(&address).unwrap_or_else(|error| panic!("{name}: {error}")));
        assert_eq!(stores.len(), THREADS);
        drop(stores);
        let version = query_raw(&address, "SELECT value FROM icecore_meta WHERE name = 'version'").expect("a version");
        assert_eq!(version.len(), 1);
        open(&address).expect("it is opened again");
    }
}

/// MySQL keeps each created table even if the program ends before the next one.
#[test]
fn an_interrupted_setup_is_completed() {
    for (_, new_database) in sql_backends() {
        let address = new_database();
        drop(open(&address).expect("a store"));
        if address.scheme() != Scheme::Mysql {
            continue;
        }
        let version = query_raw(&address, "SELECT value FROM icecore_meta").expect("a version");
        for sql in [
            "DROP TABLE icecore_audit",
            "DROP INDEX icecore_jobs_finished ON icecore_jobs",
            "UPDATE icecore_meta SET value = 0",
        ] {
            query_raw(&address, sql).expect(sql);
        }
        let mut world = World::new(address);
        let job = describe::describe_job("q", php_string("a"), None);
        world.store.push(&[job]).expect("a job is pushed");
        world.store.redrive("q", None, "ann").expect("that is noted");
        assert_eq!(world.query_raw("SELECT value FROM icecore_meta"), version);
        assert_eq!(world.query_raw("SHOW INDEX FROM icecore_jobs WHERE Key_name = 'icecore_jobs_finished'").len(), 1);
    }
}

#[test]
fn bytes_and_texts_round_trip() {
    on_each_database(|world| {
        let all_bytes: Vec<u8> = (0..=255).collect();
        let mut objects = vec![describe::describe_object(all_bytes, None), describe::describe_object(Vec::new(), None)];
        for (index, key) in ["a", "a ", "A", "ä", "a\u{308}", "日本", "🦀", "%_'\"\\"].iter().enumerate() {
            let mut object = describe::describe_object(php_string(key), None);
            object.key = Some((*key).to_owned());
            object.as_base64 = index % 2 == 0;
            objects.push(object);
        }
        let ids = world.store.put(&objects).expect("stored");
        for (id, object) in ids.iter().zip(&objects) {
            let found = world.store.object(*id).expect("an answer").expect("an object");
            assert_eq!((&found.bytes, &found.key), (&object.bytes, &object.key));
            assert_eq!((&found.json, &found.problem), (&object.description.json, &object.description.problem));
            if let Some(key) = &object.key {
                assert_eq!(world.store.object_named(key).expect("an answer").expect("an object").id, *id);
            }
        }
        assert!(world.store.object_named("b").expect("an answer").is_none());
        let mut repeated = describe::describe_object(php_string("x"), None);
        repeated.key = Some("a ".to_owned());
        let other = describe::describe_object(php_string("y"), None);
        assert_eq!(error_kind(world.store.put(&[other, repeated])), ErrorKind::Taken);
        assert_eq!(world.store.object_stats().expect("numbers").count, objects.len() as u64);
    });
}

#[test]
fn objects_whose_values_fit_no_column_are_kept() {
    on_each_database(|world| {
        // Anonymous classes of PHP have NUL in their names.
        let anonymous = b"O:18:\"class@anonymous\0/a\":1:{s:1:\"t\";s:3:\"x\0y\";}".to_vec();
        let long = format!("O:300:\"{}\":0:{{}}", "C".repeat(300)).into_bytes();
        for bytes in [anonymous, long] {
            world.store.index("$.t").expect("an index");
            let object = describe::describe_object(bytes.clone(), Some("php"));
            let id = world.store.put(&[object]).expect("stored")[0];
            let found = world.store.object(id).expect("an answer").expect("an object");
            assert_eq!(found.bytes, bytes);
            world.store.quarantine(id, "a\0b").expect("marked");
            world.store.quarantine(id, "a\0b").expect("marked once more");
        }
        let filter = ObjectFilter { class: Some("class@anonymous\0/a".to_owned()), ..ObjectFilter::default() };
        world.store.objects(0, 10, &filter, &mut |_| Ok(Flow::Continue)).expect("an answer");
        let job = describe::describe_job("q", php_string("x"), None);
        world.store.push(&[job]).expect("pushed");
        let lease = world.store.claim("q", "w", HOUR, 1).expect("an answer").remove(0);
        world.store.nack(lease.job.id, &lease.token, "a\0b", None).expect("given back");
        let long = "q".repeat(256);
        assert_eq!(
            error_kind(world.store.push(&[describe::describe_job(&long, php_string("x"), None)])),
            ErrorKind::Input
        );
        let mut object = describe::describe_object(php_string("x"), None);
        object.key = Some(long);
        assert_eq!(error_kind(world.store.put(&[object])), ErrorKind::Input);
    });
}

#[test]
fn objects_are_found_in_order() {
    on_each_database(|world| {
        let object = |number: usize| {
            let class = ["Cat", "Dog", "cat"][number % 3];
            let text = format!("O:{}:\"{class}\":1:{{s:1:\"n\";i:{number};}}", class.len());
            describe::describe_object(text.into_bytes(), Some("php"))
        };
        let objects: Vec<_> = (0..600).map(object).collect();
        let ids = world.store.put(&objects).expect("stored");
        let mut found = |max_objects: usize, filter: &ObjectFilter| {
            let mut found = Vec::new();
            let each = &mut |object: icecore_store::Object| {
                found.push(object.id);
                Ok(Flow::Continue)
            };
            world.store.objects(0, max_objects, filter, each).expect("an answer");
            found
        };
        let all = ObjectFilter::default();
        assert_eq!(found(usize::MAX, &all), ids);
        assert_eq!(found(300, &all), ids[..300]);
        assert_eq!(found(0, &all), []);
        let cats = ObjectFilter { class: Some("Cat".to_owned()), ..all.clone() };
        assert_eq!(found(usize::MAX, &cats), ids.iter().copied().step_by(3).collect::<Vec<_>>());
        let one = ObjectFilter { path_value: Some(("$.n".to_owned(), "7".to_owned())), ..all.clone() };
        assert_eq!(found(usize::MAX, &one), ids[7..8]);
        let marked = ObjectFilter { quarantined: Some(true), ..all };
        assert_eq!(found(usize::MAX, &marked), []);
        world.store.index("$.n").expect("an index");
        let mut by_index = Vec::new();
        let each = &mut |object: icecore_store::Object| {
            by_index.push(object.id);
            Ok(Flow::Continue)
        };
        world.store.objects(0, 9, &one, each).expect("an answer");
        assert_eq!(by_index, ids[7..8]);
        assert_eq!(world.store.remove(&ids[..2], "ann").expect("removed"), 2);
        assert_eq!(world.store.remove(&ids[..2], "ann").expect("nothing"), 0);
        let stats = world.store.object_stats().expect("numbers");
        assert_eq!((stats.count, stats.classes.len()), (598, 3));
    });
}

/// An index finds what is stored while it is created.
#[test]
fn an_index_finds_objects_stored_during_its_creation() {
    on_each_database(|world| {
        let address = world.address.clone();
        run_threads(4, |thread| {
            let mut store = open(&address).expect("a store");
            for number in 0..40 {
                if thread == 0 && number == 20 {
                    store.index("$").expect("an index");
                }
                store.put(&[describe::describe_object(php_string("x"), None)]).expect("stored");
            }
        });
        assert_eq!(world.raw_one("SELECT COUNT(*) FROM icecore_index_values").as_deref(), Some("160"));
    });
}

#[test]
fn jobs_are_pushed_claimed_and_finished() {
    on_each_database(|world| {
        let store = &mut world.store;
        for queue in ["mail", "mail ", "Mail"] {
            store.push(&[describe::describe_job(queue, php_string(queue), None)]).expect("pushed");
        }
        assert_eq!(store.queues().expect("queues").len(), 3);
        let lease = store.claim("mail ", "w", HOUR, 9).expect("an answer");
        assert_eq!(lease.len(), 1);
        assert_eq!(lease[0].job.bytes, php_string("mail "));
        let (id, token) = (lease[0].job.id, lease[0].token.clone());
        let until_first = store.extend(id, &token, HOUR).expect("kept");
        assert!(store.extend(id, &token, HOUR).expect("kept") >= until_first);
        assert_eq!(error_kind(store.ack(id, "another", None)), ErrorKind::Lease);
        store.ack(id, &token, Some(b"\0\xff")).expect("done");
        let done = store.job(id).expect("an answer").expect("a job");
        assert_eq!((done.state, done.result.as_deref()), (State::Done, Some(&b"\0\xff"[..])));

        let mut job = describe::describe_job("once", php_string("x"), None);
        (job.unique_key, job.max_attempts) = (Some("key ".to_owned()), Some(1));
        let first = store.push(&[job.clone()]).expect("pushed")[0];
        assert!(first.is_new);
        let repeated = store.push(&[job.clone()]).expect("pushed again")[0];
        assert_eq!((repeated.is_new, repeated.id), (false, first.id));
        let mut other = describe::describe_job("once", php_string("y"), None);
        other.unique_key = Some("key".to_owned());
        assert!(store.push(&[other]).expect("another key")[0].is_new);
        let leases = store.claim("once", "w", HOUR, 1).expect("an answer");
        assert_eq!(leases[0].job.id, first.id);
        let state = store.nack(first.id, &leases[0].token, "no", None).expect("given back");
        assert_eq!(state, State::Dead);
        assert_eq!(store.redrive("once", None, "ann").expect("again"), 1);
        let repeated = store.replay(first.id, "ann").expect("replayed");
        assert_eq!(store.job(repeated).expect("an answer").expect("a job").replay_of, Some(first.id));
        store.pause("once", true, "ann").expect("paused");
        assert!(store.claim("once", "w", HOUR, 1).expect("an answer").is_empty());
        store.pause("once", false, "ann").expect("goes on");
        assert_eq!(store.claim("once", "w", HOUR, 9).expect("an answer").len(), 3);
        let now = store.now().expect("the time");
        assert_eq!(store.remove_ended_jobs(now + 1_000).expect("forgotten"), 1);
    });
}

#[test]
fn every_job_is_claimed_once() {
    on_each_database(|world| {
        let jobs: Vec<_> =
            (0..400).map(|number| describe::describe_job("q", php_string(&number.to_string()), None)).collect();
        world.store.push(&jobs).expect("pushed");
        let address = &world.address;
        let claimed = run_threads(THREADS, |thread| {
            let mut store = open(address).expect("a store");
            let (mut own_ids, mut misses) = (Vec::new(), 0);
            while misses < 20 {
                let leases = store.claim("q", &format!("w{thread}"), HOUR, 1 + thread % 3).expect("an answer");
                misses = if leases.is_empty() { misses + 1 } else { 0 };
                for lease in leases {
                    store.ack(lease.job.id, &lease.token, None).expect("done");
                    own_ids.push(lease.job.id);
                }
            }
            own_ids
        });
        let all: Vec<_> = claimed.into_iter().flatten().collect();
        assert_eq!(all.len(), jobs.len());
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), jobs.len());
    });
}

#[test]
fn one_of_many_clients_gets_the_key() {
    on_each_database(|world| {
        let address = &world.address;
        for round in 0..10 {
            let pushed = run_threads(THREADS, |_| {
                let mut store = open(address).expect("a store");
                let mut job = describe::describe_job("q", php_string("x"), None);
                job.unique_key = Some(format!("key {round}"));
                store.push(&[job]).expect("an answer")[0]
            });
            assert_eq!(pushed.iter().filter(|pushed| pushed.is_new).count(), 1);
            assert_eq!(pushed.iter().map(|pushed| pushed.id).collect::<HashSet<_>>().len(), 1);
        }
    });
}

#[test]
fn a_job_is_claimed_again_after_its_lease_ends() {
    on_each_database(|world| {
        world.store.push(&[describe::describe_job("q", php_string("x"), None)]).expect("pushed");
        let first = world.store.claim("q", "a", Duration::from_millis(20), 1).expect("an answer").remove(0);
        let mut other = world.open();
        let second = until("the lease ends", || other.claim("q", "b", HOUR, 1).expect("an answer").pop());
        assert_eq!((second.job.id, second.job.attempts), (first.job.id, 2));
        assert_eq!(error_kind(world.store.ack(first.job.id, &first.token, None)), ErrorKind::Lease);
        other.ack(second.job.id, &second.token, None).expect("done");
    });
}

#[test]
fn objects_and_jobs_of_twenty_megabytes_round_trip() {
    on_each_database(|world| {
        let bytes: Vec<u8> = (0..20 << 20).map(|index: u32| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let id = world.store.put(&[describe::describe_object(bytes.clone(), None)]).expect("stored")[0];
        assert!(world.store.object(id).expect("an answer").expect("an object").bytes == bytes);
        // Readable: the copy is large too.
        let text = php_string(&"ab\u{1}".repeat(5 << 20));
        world.store.push(&[describe::describe_job("q", text.clone(), None)]).expect("pushed");
        let lease = world.store.claim("q", "w", HOUR, 1).expect("an answer").remove(0);
        assert!(lease.job.bytes == text && lease.job.json.is_some());
        world.store.ack(lease.job.id, &lease.token, Some(&text)).expect("done");
    });
}

#[test]
fn objects_too_large_for_the_server_are_refused_with_the_cause() {
    on_each_database(|world| {
        if world.address.scheme() != Scheme::Mysql {
            return;
        }
        let longest: usize = world.raw_one("SELECT @@max_allowed_packet").expect("a number").parse().expect("a number");
        let error = world.store.put(&[describe::describe_object(vec![0xff; longest + 1], None)]).expect_err("too long");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains("max_allowed_packet"), "{error}");
        world.store.put(&[describe::describe_object(vec![0xff; 10], None)]).expect("the next one is stored");
    });
}

/// Whatever the statistics contain and whenever they were made, no statement of the queue reads its whole table.
#[test]
fn statements_of_the_queue_follow_indexes() {
    on_each_database(|world| {
        if world.address.scheme() != Scheme::Postgres {
            return;
        }
        let mut random = Random::new();
        let mut sometimes = |world: &World| {
            if random.below(3) == 0 {
                world.query_raw("ANALYZE icecore_jobs");
            }
        };
        let mut pushed = 0;
        for round in 0..12 {
            sometimes(world);
            let jobs: Vec<_> = (0..200).map(|_| describe::describe_job("q", php_string("x"), None)).collect();
            let batch_size = [1, 7, 200][round % 3];
            pushed += world
                .store
                .push_checked(&jobs[..batch_size], &[("q", None)])
                .expect("pushed")
                .expect("none has one")
                .len();
            sometimes(world);
            for max_objects in [1, 30, 200] {
                let leases = world.store.claim("q", "w", HOUR, max_objects).expect("claimed");
                sometimes(world);
                let (one, others) = leases.split_at(leases.len().min(1));
                for Lease { job, token } in one {
                    world.store.extend(job.id, token, HOUR).expect("extended");
                    world.store.ack(job.id, token, None).expect("done");
                }
                let acks: Vec<Ack> = others
                    .iter()
                    .map(|Lease { job, token }| Ack { id: job.id, token: token.clone(), result: None })
                    .collect();
                assert!(world.store.ack_many(&acks).expect("recorded").iter().all(|recorded| recorded.is_ok()));
            }
        }
        // The statistics are complete when the connection has ended.
        world.store = open(&world.address).expect("another connection");
        let read = "SELECT seq_scan, n_tup_ins FROM pg_stat_user_tables WHERE relname = 'icecore_jobs' \
                    AND n_tup_ins >= ";
        let numbers = until("the server counts", || world.query_raw(&format!("{read}{pushed}")).pop());
        // The scans that created the indexes.
        let made: u32 = numbers[0].as_deref().and_then(|number| number.parse().ok()).expect("a number");
        assert!(made <= 10, "the table was read as a whole {made} times");
    });
}

/// Ends the connections of all others, as an administrator would.
fn end_connections(world: &World) {
    match world.address.scheme() {
        Scheme::Postgres => drop(world.query_raw(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
             AND pid <> pg_backend_pid()",
        )),
        Scheme::Mysql => {
            let sql = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()";
            for row in world.query_raw(sql) {
                // The connection may have ended by itself.
                let _ = query_raw(&world.address, &format!("KILL {}", row[0].as_deref().expect("a number")));
            }
        }
        _ => {}
    }
}

#[test]
fn a_lost_connection_is_opened_again() {
    on_each_database(|world| {
        let push = |store: &mut dyn Backend| store.push(&[describe::describe_job("q", php_string("x"), None)]);
        push(&mut *world.store).expect("pushed");
        end_connections(world);
        // A transaction that could not begin starts again on a new connection.
        push(&mut *world.store).expect("pushed again");
        end_connections(world);
        match world.store.now() {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::Away, "{error}"),
        }
        world.store.now().expect("the time");
        let leases = world.store.claim("q", "w", HOUR, 9).expect("an answer");
        assert_eq!(leases.len(), 2);
        end_connections(world);
        for lease in leases {
            let done = world.store.ack(lease.job.id, &lease.token, None);
            if done.is_err_and(|error| error.kind() == ErrorKind::Away) {
                world.store.ack(lease.job.id, &lease.token, None).expect("done");
            }
        }
    });
}

/// Nothing is stored of a transaction that was not committed when the connection was lost.
#[test]
fn an_interrupted_put_stores_nothing() {
    on_each_database(|world| {
        let address = &world.address;
        let objects: Vec<_> = (0..300).map(|_| describe::describe_object(php_string("x"), None)).collect();
        let mut put = 0;
        for _ in 0..20 {
            let outcome = std::thread::scope(|scope| {
                let putting = scope.spawn(|| {
                    let mut store = open(address)?;
                    store.put(&objects)
                });
                std::thread::sleep(Duration::from_millis(15));
                end_connections(world);
                putting.join().expect("no panic")
            });
            match outcome {
                Ok(_) => put += objects.len() as u64,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Away, "{error}"),
            }
        }
        let count = until("a new connection", || world.store.object_stats().ok()).count;
        assert_eq!(count % objects.len() as u64, 0);
        assert!(count >= put);
    });
}

#[test]
fn errors_have_kinds_and_no_passwords() {
    for (name, new_database) in sql_backends() {
        let address = new_database();
        if address.scheme() == Scheme::Sqlite {
            continue;
        }
        let refused = |address: &str| {
            let address: Address = address.parse().expect("an address");
            let error = open(&address).err().expect("no store");
            assert!(!error.to_string().contains("hunter"), "{error}");
            error.kind()
        };
        let text = address.to_string();
        let (scheme, rest) = text.split_once("://icecore@").expect("a user");
        assert_eq!(refused(&format!("{scheme}://icecore:hunter2@{rest}")), ErrorKind::Address, "{name}");
        assert_eq!(refused(&format!("{scheme}://icecore:hunter2@127.0.0.1:1/db")), ErrorKind::Away, "{name}");
        refused(&format!("{scheme}://icecore:hun/ter2@127.0.0.1:1/db"));
        let wrong =
            format!("{scheme}://icecore@{rest}").parse::<Address>().expect("an address").with_password("hunter2");
        assert_eq!(open(&wrong).err().expect("no store").kind(), ErrorKind::Address);
    }
}

/// A connection has the encryption that its address demands, or it is not opened.
#[test]
fn connections_are_encrypted_as_their_address_demands() {
    let servers = ["ICECORE_TEST_POSTGRES", "ICECORE_TEST_MYSQL"].map(std::env::var);
    let has_driver = [cfg!(feature = "postgres"), cfg!(feature = "mysql")];
    for (server, has_driver) in servers.into_iter().zip(has_driver) {
        let (Ok(server), true) = (server, has_driver) else { continue };
        let opened = |server: &str, query: &str| {
            let address: Address = format!("{server}?{query}").parse().expect("an address");
            open(&address).map(drop).map_err(|error| (error.kind(), error.to_string()))
        };
        let refused = |server: &str, query: &str| {
            let (kind, error) = opened(server, query).expect_err(query);
            assert_eq!(kind, ErrorKind::Address, "{query}: {error}");
        };
        opened(&server, "sslmode=disable").expect("a plain connection");
        opened(&server, "sslmode=prefer").expect("a connection");
        refused(&server, "sslmode=safe");
        let authority = std::env::var("ICECORE_TEST_AUTHORITY");
        let (Ok(authority), true) = (authority, cfg!(feature = "tls")) else {
            refused(&server, "sslmode=require");
            continue;
        };
        opened(&server, "sslmode=require").expect("any server");
        refused(&server, "sslmode=verify-full");
        refused(&server, &format!("sslmode=verify-full&sslrootcert={authority}.none"));
        opened(&server, &format!("sslmode=verify-full&sslrootcert={authority}")).expect("this server");
        // Its certificate is for 127.0.0.1.
        let other = server.replace("127.0.0.1", "localhost");
        opened(&other, &format!("sslmode=verify-ca&sslrootcert={authority}")).expect("a server of this authority");
        refused(&other, &format!("sslmode=verify-full&sslrootcert={authority}"));

        // A user who must use encryption.
        if !server.starts_with("mysql:") {
            continue;
        }
        let mysql = sql_backends().into_iter().find(|(name, _)| *name == "mysql").expect("it is there");
        let world_address = mysql.1();
        let sqls = ["CREATE OR REPLACE USER safe IDENTIFIED BY 'safe' REQUIRE SSL", "GRANT ALL ON icecore.* TO safe"];
        for sql in sqls {
            query_raw(&world_address, sql).expect(sql);
        }
        let (scheme, host) =
            (server.split_once("://").expect("a scheme").0, server.rsplit_once('@').expect("a host").1);
        let safe = format!("{scheme}://safe:safe@{host}");
        refused(&safe, "sslmode=disable");
        opened(&safe, "sslmode=require").expect("a connection");
        opened(&safe, "").expect("an encrypted connection, as it is preferred");
    }
}

#[test]
#[ignore = "prints how fast it is"]
fn speed_is_printed() {
    on_each_database(|world| {
        let count = 500;
        let begun = Instant::now();
        for _ in 0..count {
            world.store.push(&[describe::describe_job("q", php_string("x"), None)]).expect("pushed");
        }
        let pushes = f64::from(count) / begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let many: Vec<_> = (0..count * 4).map(|_| describe::describe_job("q", php_string("x"), None)).collect();
        world.store.push(&many).expect("pushed");
        let pushes_in_one = f64::from(count * 4) / begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        for _ in 0..count {
            let lease = world.store.claim("q", "w", HOUR, 1).expect("an answer").remove(0);
            world.store.ack(lease.job.id, &lease.token, None).expect("done");
        }
        let claims = f64::from(count) / begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let address = &world.address;
        run_threads(4, |_| {
            let mut store = open(address).expect("a store");
            for _ in 0..count / 2 {
                for lease in store.claim("q", "w", HOUR, 1).expect("an answer") {
                    store.ack(lease.job.id, &lease.token, None).expect("done");
                }
            }
        });
        let by_four = f64::from(count / 2 * 4) / begun.elapsed().as_secs_f64();
        eprintln!(
            "  a second: {pushes:.0} pushes, {pushes_in_one:.0} in one call, {claims:.0} claim and ack, \
             {by_four:.0} by four"
        );
    });
}
