//! The daemon of an article: it takes jobs as JSON, checks them, keeps a readable copy, and returns an id at once; a
//! worker in Perl runs them, and any of them can be replayed.

use super::clients::Language;
use super::daemon::Daemon;
use serde_json::{Value, json};

/// Returns the article's job.
fn job() -> Value {
    json!({
        "priority": 2,
        "clientref": "x".repeat(300),
        "jobid": "366107",
        "name": "send <b>Gr\u{fc}\u{df}e</b>",
        "args": { "empty": {}, "user_id": "1000", "rows": { "3146": { "price": "5.04", "count": "2" } }, "account_id": "4" },
        "type": "mail",
        "sessionid": "0123456789abcdef0123456789abcdef",
        "jobflags": 0,
    })
}

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["jobid", "name", "args", "type"],
        "properties": {
            "priority": { "type": "integer" },
            "sessionid": { "pattern": "^[0-9a-f]{32}$" },
            "args": {
                "required": ["user_id"],
                "properties": { "user_id": { "type": "string", "pattern": "^[0-9]+$" } },
            },
        },
    })
}

#[test]
fn json_jobs_are_checked_worked_in_perl_and_replayed() {
    if !Language::Perl.is_available() {
        eprintln!("SKIPPED: the client in Perl, as its module is not built");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(&format!("sqlite:{}", folder.path().join("jobs.db").display()), &[]);
    assert_eq!(daemon.ask("PUT", "/queues/jobs/schema", &schema().to_string()).code, 200);

    // An invalid job is not stored; the answer says where the error is.
    let mut wrong = job();
    wrong["args"]["user_id"] = json!("ten");
    let refused = daemon.ask("POST", "/jobs?queue=jobs", &wrong.to_string());
    assert_eq!((refused.code, refused.str("/error/path")), (400, "$.args.user_id".to_owned()), "{refused:?}");
    let broken = daemon.ask("POST", "/jobs?queue=jobs", "{\"jobid\":");
    assert_eq!(broken.code, 400, "{broken:?}");
    assert_eq!(daemon.ask("GET", "/jobs?queue=jobs", "").json()["jobs"], json!([]));

    let pushed = daemon.ask("POST", "/jobs?queue=jobs&priority=2", &job().to_string());
    assert_eq!(pushed.code, 201, "{pushed:?}");
    let id = pushed.str("/id");
    // The readable copy.
    let stored = daemon.ask("GET", &format!("/jobs/{id}"), "").json();
    assert_eq!((&stored["state"], &stored["payload"], &stored["priority"]), (&json!("ready"), &job(), &json!(2)));

    assert_eq!(work(&daemon, "5"), "1");
    let done = daemon.ask("GET", &format!("/jobs/{id}"), "").json();
    let total = |factor: f64| json!({ "user": "1000", "total": 5.04 * 2.0 * factor, "name": job()["name"] });
    assert_eq!((&done["state"], &done["result"]), (&json!("done"), &total(5.0)), "{done}");

    // Once more, by a worker with another result: both can be compared.
    let replay_id = daemon.ask("POST", &format!("/jobs/{id}/replay"), "").str("/id");
    assert_eq!(work(&daemon, "7"), "1");
    let replayed = daemon.ask("GET", &format!("/jobs/{replay_id}"), "").json();
    assert_eq!((&replayed["replay_of"], &replayed["payload"]), (&json!(id), &job()));
    assert_eq!((&replayed["state"], &replayed["result"]), (&json!("done"), &total(7.0)), "{replayed}");
    let same = daemon.ask("GET", &format!("/compare?left=jobs/{id}&right=jobs/{replay_id}"), "").json();
    assert_eq!(same["count"], json!(0), "{same}");

    // And a slightly different one.
    let mut other = job();
    other["args"]["account_id"] = json!("5");
    let other = daemon.ask("POST", "/jobs?queue=jobs", &other.to_string()).str("/id");
    let differs = daemon.ask("GET", &format!("/compare?left=jobs/{id}&right=jobs/{other}"), "").json();
    assert_eq!(
        (&differs["count"], &differs["differences"][0]["path"]),
        (&json!(1), &json!("$.args.account_id")),
        "{differs}"
    );

    // The error of a worker is reported, and a better worker does the job.
    assert_eq!(work(&daemon, "0"), "1");
    let failed = daemon.ask("GET", &format!("/jobs/{other}"), "").json();
    assert_eq!((&failed["state"], &failed["error"]), (&json!("ready"), &json!("a factor of nothing")), "{failed}");
}

/// Runs the waiting jobs; returns their number.
fn work(daemon: &Daemon, factor: &str) -> String {
    let output = Language::Perl.program("article", daemon.address).arg(factor).output().expect("perl");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}
