//! Programs in Perl, PHP and Ruby queue jobs within their own transactions, by `examples/dbi.pl`, `order.php` and
//! `order.rb`; the engine hands them out.

use crate::common::{HOUR, World, sql_backends};
use crate::languages::Example;
use icecore_store::{JobFilter, State};

/// The program and the format of its payloads; Perl keeps command-line arguments as strings.
const EXAMPLES: [(Example, &str, &str); 3] = [
    (Example::Perl("dbi.pl"), "storable", r#"{"order":"7","total":"250"}"#),
    (Example::Php("order.php"), "php", r#"{"order":7,"total":250}"#),
    (Example::Ruby("order.rb"), "marshal", r#"{"order":7,"total":250}"#),
];

#[test]
fn an_order_and_its_job_are_stored_together_or_not_at_all() {
    for (name, new_database) in sql_backends() {
        for (example, format, json) in EXAMPLES {
            let address = new_database();
            if let Some(missing) = example.is_missing(&address, false) {
                eprintln!("SKIPPED: {name} and {format}, as there is no {missing}");
                continue;
            }
            check_orders(&format!("{name}, {format}"), World::new(address), example, format, json);
        }
    }
}

fn check_orders(name: &str, mut world: World, example: Example, format: &str, json: &str) {
    let taken = example.run(&world.address, false, &["7", "250"], &[]);
    assert!(taken.status.success(), "{name}: {taken:?}");
    let refused = example.run(&world.address, false, &["8", "0"], &[]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && stderr.contains("an order of nothing"), "{name}: {stderr}");
    // Nothing of the rolled-back transaction remains.
    let orders = [[Some("7".to_owned()), Some("250".to_owned())]];
    assert_eq!(world.query_raw("SELECT id, total FROM orders"), orders, "{name}");
    assert_eq!(world.jobs(&JobFilter::default()).len(), 1, "{name}");

    let leases = world.store.claim("mail", "w", HOUR, 10).expect("claimed");
    assert_eq!(leases.len(), 1, "{name}");
    let job = &leases[0].job;
    assert_eq!((job.format.as_deref(), job.problem.as_deref()), (Some(format), None), "{name}");
    let mut parts: Vec<&str> = job.json.as_deref().expect("a readable copy").split([',', '{', '}']).collect();
    parts.sort_unstable();
    let mut expected: Vec<&str> = json.split([',', '{', '}']).collect();
    expected.sort_unstable();
    assert_eq!(parts, expected, "{name}");
    assert_eq!((job.queued_at, job.attempts, job.max_attempts), (job.run_at, 1, 20), "{name}");
    world.store.ack(job.id, &leases[0].token, Some(b"sent")).expect("done");
    let done = world.store.job(job.id).expect("asked").expect("there");
    assert_eq!((done.state, done.result.as_deref()), (State::Done, Some(&b"sent"[..])), "{name}");
}
