//! Every route.

use crate::client::Daemon;
use icecore_store::{Command, Job, Outcome};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

const MARSHAL: &[u8] = b"\x04\x08[\x06i\x06";

#[test]
fn a_job_is_queued_and_read() {
    let daemon = Daemon::start();
    let id = daemon.push("queue=mails&priority=7&delay=2m&unique=k&max_attempts=3", r#"{"to":"ann"}"#);
    let job = daemon.get(&format!("/jobs/{id}")).json();
    assert_eq!(job["id"], json!(id));
    assert_eq!(
        (&job["queue"], &job["state"], &job["priority"], &job["max_attempts"], &job["unique_key"]),
        (&json!("mails"), &json!("ready"), &json!(7), &json!(3), &json!("k"))
    );
    assert_eq!(job["payload"], json!({ "to": "ann" }));
    assert_eq!(job["run_at"].as_i64().unwrap() - job["queued_at"].as_i64().unwrap(), 120_000);
    assert!(job["queued_at_iso"].as_str().is_some_and(|text| text.ends_with('Z')), "{job}");
    assert_eq!((&job["format"], job["checksum"].as_str().map(str::len)), (&json!("json"), Some(64)));
    let payload = daemon.get(&format!("/jobs/{id}/payload"));
    assert_eq!((payload.code, payload.text()), (200, r#"{"to":"ann"}"#.to_owned()));

    let duplicate = daemon.post_json("/jobs?queue=mails&unique=k", "{}");
    assert_eq!((duplicate.code, duplicate.json()), (200, json!({ "id": id, "new": false })));
    assert_ne!(daemon.push("queue=others&unique=k", "{}"), id);
}

#[test]
fn pushing_or_putting_an_id_again_stores_nothing_new() {
    let daemon = Daemon::start();
    let id = "01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b";
    let push = |query: &str| daemon.post(&format!("/jobs?queue=q&id={id}{query}"), "[1]");
    let pushed = push("");
    assert_eq!((pushed.code, pushed.json()), (201, json!({ "id": id })));
    for query in ["", "&unique=k"] {
        let second_answer = push(query);
        assert_eq!((second_answer.code, second_answer.json()), (200, json!({ "id": id, "new": false })), "{query}");
    }
    let (claimed, token) = daemon.claim("q");
    assert_eq!(claimed, id);
    daemon.post_json(&format!("/jobs/{id}/ack"), json!({ "token": token }).to_string());
    assert_eq!(push("").code, 200);
    assert_eq!(daemon.get("/jobs").json()["jobs"].as_array().map(Vec::len), Some(1));

    let put = |query: &str| daemon.post(&format!("/objects?{query}"), MARSHAL);
    let stored = put(&format!("id={id}&key=k"));
    assert_eq!((stored.code, stored.id()), (201, id.to_owned()));
    let second_answer = put(&format!("id={id}&key=k"));
    assert_eq!((second_answer.code, second_answer.id()), (200, id.to_owned()));
    let taken = put("id=01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8c&key=k");
    assert_eq!((taken.code, taken.kind()), (409, "taken".into()));
    assert_eq!(daemon.get("/objects").json()["objects"].as_array().map(Vec::len), Some(1));
    for path in ["/jobs?id=7", "/objects?id=7"] {
        let refused = daemon.post(path, "[1]");
        assert_eq!((refused.code, refused.kind()), (400, "parameter".into()), "{path}");
    }
}

#[test]
fn one_id_pushed_by_many_clients_is_one_job() {
    let daemon = Daemon::start();
    let id = "01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b";
    std::thread::scope(|scope| {
        for number in 0..16 {
            let daemon = &daemon;
            let own_id = format!("01990f3a-7b11-7c0e-a1b2-{number:012}");
            scope.spawn(move || {
                for path in [format!("/jobs?id={id}"), format!("/jobs?id={own_id}"), format!("/objects?id={id}")] {
                    let answer = daemon.post(&path, "[1]");
                    assert!(matches!(answer.code, 200 | 201) && path.ends_with(&answer.id()), "{path}: {answer:?}");
                }
            });
        }
    });
    assert_eq!(daemon.get("/jobs").json()["jobs"].as_array().map(Vec::len), Some(17));
    assert_eq!(daemon.get("/objects").json()["objects"].as_array().map(Vec::len), Some(1));
}

#[test]
fn original_bytes_are_returned_on_request() {
    let daemon = Daemon::start();
    let base64 = json!(icecore::text::to_base64(MARSHAL));
    daemon.post("/jobs?queue=q", MARSHAL);
    let job = &daemon.post("/queues/q/claim?bytes=true&brief=true", "").json()["jobs"][0];
    assert_eq!((&job["bytes"], &job["payload"], &job["format"]), (&base64, &Value::Null, &json!("marshal")));
    let id = daemon.post("/objects", MARSHAL).id();
    for path in ["/objects?bytes=true".to_owned(), format!("/objects/{id}?bytes=true")] {
        let answer = daemon.get(&path).json();
        let object = answer.get("objects").map_or(&answer, |objects| &objects[0]);
        assert_eq!((&object["bytes"], &object["document"]), (&base64, &json!([1])), "{path}");
    }
    assert_eq!(daemon.get(&format!("/objects/{id}")).json().get("bytes"), None);
}

#[test]
fn jobs_without_a_queue_go_to_the_queue_default() {
    let daemon = Daemon::start();
    let id = daemon.post("/jobs", "[1]").id();
    assert_eq!(daemon.get(&format!("/jobs/{id}")).str("/queue"), "default");
}

#[test]
fn blobs_are_decoded_once() {
    let daemon = Daemon::start();
    for path in ["/jobs", "/jobs?format=marshal"] {
        let id = daemon.post(path, MARSHAL).id();
        let job = daemon.get(&format!("/jobs/{id}")).json();
        assert_eq!((&job["format"], &job["payload"]), (&json!("marshal"), &json!([1])));
        assert_eq!(daemon.get(&format!("/jobs/{id}/payload")).body, MARSHAL);
    }
}

#[test]
fn invalid_json_is_refused_with_its_path_and_offset() {
    let daemon = Daemon::start();
    let answer = daemon.post_json("/jobs", r#"{"user":{"id":}}"#);
    assert_eq!(answer.code, 400);
    let error = &answer.json()["error"];
    assert_eq!(
        (&error["kind"], &error["path"], &error["offset"]),
        (&json!("malformed"), &json!("$.user.id"), &json!(14))
    );
    assert_eq!(daemon.post_json("/jobs", "").code, 400);
    assert_eq!(daemon.post_json("/jobs?format=php", "a:0:{}").kind(), "format");
    assert_eq!(daemon.get("/queues").json(), json!({ "queues": [] }));
}

#[test]
#[cfg(feature = "schema")]
fn payloads_are_checked_against_the_schema() {
    let daemon = Daemon::start();
    assert_eq!(daemon.get("/queues/q/schema").code, 404);
    let schema = json!({
        "type": "object",
        "required": ["user"],
        "additionalProperties": false,
        "properties": { "user": { "required": ["id"], "properties": { "id": { "type": "integer" } } } },
    });
    let set = daemon.ask("PUT", "/queues/q/schema", &[], schema.to_string().as_bytes());
    assert_eq!((set.code, set.json()), (200, json!({ "queue": "q", "has_schema": true })));
    assert_eq!(daemon.get("/queues/q/schema").json(), schema);
    for (body, path) in [
        (r#"{"user":{"id":"x"}}"#, "$.user.id"),
        (r#"{"user":{}}"#, "$.user.id"),
        ("{}", "$.user"),
        (r#"{"user":{"id":1},"a b":1}"#, "$[\"a b\"]"),
        ("[]", "$"),
    ] {
        let answer = daemon.post_json("/jobs?queue=q", body);
        assert_eq!(
            (answer.code, answer.kind(), answer.str("/error/path")),
            (400, "schema".into(), path.into()),
            "{body}"
        );
    }
    assert_eq!(daemon.post("/jobs?queue=q", MARSHAL).str("/error/path"), "$");
    daemon.push("queue=q", r#"{"user":{"id":7}}"#);
    daemon.push("queue=other", "[]");
    // Another program changes the schema: the job is checked against the one in the database.
    let mut store = icecore_store::open(&crate::client::address(&daemon.folder)).expect("a database");
    let settings = |schema: &str| icecore_store::QueueSettings { schema: Some(schema.into()), ..Default::default() };
    store.configure("q", &settings(r#"{"type":"array"}"#)).expect("it is set");
    assert_eq!(daemon.post_json("/jobs?queue=q", r#"{"user":{"id":7}}"#).code, 400);
    daemon.push("queue=q", "[]");
    assert_eq!(daemon.ask("PUT", "/queues/q/schema", &[], b"").code, 200);
    daemon.push("queue=q", "7");
    for schema in ["{", r#"{"type":7}"#, r#"{"$ref":"http://127.0.0.1:1/a.json"}"#, r#"{"$ref":"file:///etc/passwd"}"#]
    {
        assert_eq!(daemon.ask("PUT", "/queues/q/schema", &[], schema.as_bytes()).kind(), "schema", "{schema}");
    }
}

#[test]
fn a_worker_claims_extends_and_acks() {
    let daemon = Daemon::start();
    let id = daemon.push("queue=q", r#"{"a":1}"#);
    let answer = daemon.post("/queues/q/claim?worker=w1&lease=30&max=5", "");
    let jobs = answer.json()["jobs"].clone();
    assert_eq!(jobs.as_array().map(Vec::len), Some(1));
    let job = &jobs[0];
    assert_eq!(
        (&job["id"], &job["attempt"], &job["payload"], &job["worker"]),
        (&json!(id), &json!(1), &json!({ "a": 1 }), &json!("w1"))
    );
    let (token, until) = (job["token"].as_str().unwrap(), job["lease_until"].as_i64().unwrap());
    assert_eq!(daemon.post("/queues/q/claim", "").json(), json!({ "jobs": [] }));

    let extended = daemon.post(&format!("/jobs/{id}/extend?token={token}&lease=10m"), "");
    assert!(extended.json()["lease_until"].as_i64().unwrap() > until, "{extended:?}");
    let other = daemon.post_json(&format!("/jobs/{id}/ack"), r#"{"token":"other"}"#);
    assert_eq!((other.code, other.kind()), (409, "lease".into()));
    assert_eq!(daemon.post(&format!("/jobs/{id}/ack"), "").code, 400);
    let body = json!({ "token": token, "result": { "sent": 3 } }).to_string();
    let acked = daemon.post_json(&format!("/jobs/{id}/ack"), &body);
    assert_eq!((acked.code, acked.str("/state")), (200, "done".into()));
    assert_eq!(daemon.post_json(&format!("/jobs/{id}/ack"), &body).code, 409);
    let job = daemon.get(&format!("/jobs/{id}")).json();
    assert_eq!((&job["state"], &job["result"]), (&json!("done"), &json!({ "sent": 3 })));
    assert!(job["finished_at_iso"].is_string());
    let nothing = "01890a5d-ac96-774b-bcce-b302099a8057";
    for action in ["ack", "nack", "extend"] {
        assert_eq!(daemon.post(&format!("/jobs/{nothing}/{action}?token=t"), "").code, 404, "{action}");
    }
}

#[test]
fn results_that_are_not_json_are_texts() {
    let daemon = Daemon::start();
    daemon.push("queue=q", "1");
    let (id, token) = daemon.claim("q");
    assert_eq!(daemon.post(&format!("/jobs/{id}/ack?token={token}&result=all%20done"), "").code, 200);
    assert_eq!(daemon.get(&format!("/jobs/{id}")).str("/result"), "all done");
}

#[test]
fn a_job_that_fails_too_often_is_dead_until_redriven() {
    let daemon = Daemon::start();
    let id = daemon.push("queue=q&max_attempts=2", "1");
    let (_, token) = daemon.claim("q");
    let body = json!({ "token": token, "error": "no such user", "delay": 0 }).to_string();
    assert_eq!(daemon.post_json(&format!("/jobs/{id}/nack"), &body).str("/state"), "ready");
    let (_, token) = daemon.claim("q");
    let nacked = daemon.post(&format!("/jobs/{id}/nack?token={token}&error=again"), "");
    assert_eq!((nacked.code, nacked.str("/state")), (200, "dead".into()));
    assert_eq!(daemon.get(&format!("/jobs/{id}")).str("/error"), "again");
    assert_eq!(daemon.get("/jobs?state=dead").str("/jobs/0/id"), id);
    assert_eq!(daemon.post("/queues/q/redrive", "").json(), json!({ "queue": "q", "redriven": 1 }));
    assert_eq!(daemon.claim("q").0, id);
    assert_eq!(daemon.post_json("/queues/q/redrive", r#"{"ids":["x"]}"#).code, 400);
    assert_eq!(daemon.post_json("/queues/q/redrive", json!({ "ids": [id] }).to_string()).json()["redriven"], json!(0));
}

#[test]
fn a_long_poll_ends_when_a_job_arrives() {
    let daemon = Daemon::start();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| daemon.post("/queues/q/claim?wait=60", ""));
        let id = daemon.push("queue=q", "1");
        assert_eq!(waiting.join().expect("an answer").str("/jobs/0/id"), id);
    });
}

#[test]
fn a_long_poll_gets_jobs_of_other_programs() {
    let daemon = Daemon::start();
    let mut store = icecore_store::open(&crate::client::address(&daemon.folder)).expect("a database");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| daemon.post("/queues/q/claim?wait=60", ""));
        let job = icecore_store::describe::describe_job("q", b"1".to_vec(), None);
        let id = store.push(&[job]).expect("it is stored")[0].id;
        assert_eq!(waiting.join().expect("an answer").str("/jobs/0/id"), id.to_string());
    });
    assert_eq!(daemon.post("/queues/q/claim?wait=50ms", "").json(), json!({ "jobs": [] }));
}

#[test]
fn queues_are_listed_paused_and_resumed() {
    let daemon = Daemon::start();
    let id = daemon.push("queue=q", "1");
    assert_eq!(daemon.post("/queues/q/pause", "").json(), json!({ "queue": "q", "is_paused": true }));
    assert_eq!(daemon.post("/queues/q/claim", "").json(), json!({ "jobs": [] }));
    let queues = daemon.get("/queues").json();
    let queue = &queues["queues"][0];
    assert_eq!((&queue["name"], &queue["ready"], &queue["is_paused"]), (&json!("q"), &json!(1), &json!(true)));
    assert_eq!(daemon.post("/queues/q/resume", "").code, 200);
    assert_eq!(daemon.claim("q").0, id);
}

#[test]
fn jobs_are_replayed() {
    let daemon = Daemon::start();
    let id = daemon.push("queue=q", r#"{"a":1}"#);
    let replay = daemon.post(&format!("/jobs/{id}/replay"), "");
    assert_eq!(replay.code, 201);
    let job = daemon.get(&format!("/jobs/{}", replay.id())).json();
    assert_eq!((&job["replay_of"], &job["payload"]), (&json!(id), &json!({ "a": 1 })));
    assert_eq!(daemon.post("/jobs/01890a5d-ac96-774b-bcce-b302099a8057/replay", "").code, 404);
}

#[test]
fn lists_have_pages() {
    let daemon = Daemon::start();
    let pushed: Vec<String> = (0..5).map(|number| daemon.push("queue=q", &number.to_string())).collect();
    daemon.push("queue=other", "1");
    let (mut listed_ids, mut after) = (Vec::new(), json!(0));
    while !after.is_null() {
        let page = daemon.get(&format!("/jobs?queue=q&state=ready&limit=2&after={after}")).json();
        listed_ids.extend(page["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().to_owned()));
        after = page["next"].clone();
    }
    assert_eq!(listed_ids, pushed);
    assert_eq!(daemon.get("/jobs?state=sleeping").code, 400);
}

#[test]
fn a_paused_queue_refuses_to_run_a_job_immediately() {
    let daemon = Daemon::with(|settings| {
        settings.commands.insert("q".into(), Arc::new(Command::new("cat")));
    });
    assert_eq!(daemon.post("/queues/q/pause", "").code, 200);
    let refused = daemon.post_json("/jobs?queue=q&run=now", "1");
    assert_eq!((refused.code, refused.kind()), (409, "paused".into()));
    assert_eq!(daemon.get("/jobs?queue=q").json()["jobs"], json!([]));
    // Without `run=now`, the job is queued.
    daemon.push("queue=q", "1");
    assert_eq!(daemon.post("/queues/q/resume", "").code, 200);
    assert_eq!(daemon.post_json("/jobs?queue=q&run=now", "7").str("/state"), "done");
}

#[test]
fn run_now_runs_the_command_of_the_queue() {
    let daemon = Daemon::with(|settings| {
        let mut command = Command::new("cat; test \"$ICECORE_JOB_QUEUE\" = q || { echo wrong >&2; exit 1; }");
        command.stop = settings.stop.clone();
        settings.commands.insert("q".into(), Arc::new(command));
        settings.commands.insert("fails".into(), Arc::new(Command::new("echo 'no user' >&2; exit 1")));
        settings.commands.insert("panics".into(), Arc::new(|_: &Job| -> Outcome { panic!("on purpose") }));
    });
    let ran = daemon.post_json("/jobs?queue=q&run=now", r#"{"a":1}"#);
    assert_eq!((ran.code, ran.str("/state")), (200, "done".into()));
    assert_eq!(ran.json()["result"], json!({ "a": 1 }));
    assert_eq!(daemon.get(&format!("/jobs/{}", ran.id())).str("/state"), "done");

    let failed = daemon.post_json("/jobs?queue=fails&run=now", "1");
    assert_eq!(
        (failed.code, failed.str("/state"), failed.str("/error")),
        (200, "ready".into(), "exit code 1: no user".into())
    );
    assert_eq!(daemon.post_json("/jobs?queue=panics&run=now", "1").str("/error"), "the command panicked");

    let none = daemon.post_json("/jobs?queue=none&run=now", "1");
    assert_eq!((none.code, none.kind()), (400, "no-command".into()));
    let id = daemon.push("queue=q&unique=u", "1");
    let existing = daemon.post_json("/jobs?queue=q&unique=u&run=now", "1");
    assert_eq!((existing.code, existing.json()), (200, json!({ "id": id, "new": false })));
}

#[test]
fn objects_are_stored_read_converted_and_removed() {
    let daemon = Daemon::start();
    let stored = daemon.post("/objects?key=k&expires=1h", MARSHAL);
    assert_eq!(stored.code, 201);
    let id = stored.id();
    let object = daemon.get(&format!("/objects/{id}")).json();
    assert_eq!((&object["key"], &object["format"], &object["document"]), (&json!("k"), &json!("marshal"), &json!([1])));
    let lifetime = object["expires_at"].as_i64().unwrap() - object["stored_at"].as_i64().unwrap();
    assert!((3_500_000..=3_600_000).contains(&lifetime), "{object}");
    assert_eq!(daemon.get(&format!("/objects/{id}/bytes")).body, MARSHAL);
    assert_eq!(daemon.get(&format!("/objects/{id}/bytes?to=php")).text(), "a:1:{i:0;i:1;}");
    assert_eq!(daemon.get(&format!("/objects/{id}/bytes?to=nothing")).code, 400);
    let symbol = daemon.post("/objects", b"\x04\x08:\x06a").id();
    let converted = daemon.get(&format!("/objects/{symbol}/bytes?to=json"));
    assert_eq!(converted.text(), "\"a\"");
    assert_eq!(converted.header("icecore-losses").as_deref(), Some("1 symbol written as a string, first at $"));
    let taken = daemon.post("/objects?key=k", "[]");
    assert_eq!((taken.code, taken.kind()), (409, "taken".into()));
    assert_eq!(daemon.get("/objects?key=k").str("/objects/0/id"), id);
    assert_eq!(daemon.ask("DELETE", &format!("/objects/{id}"), &[], b"").code, 200);
    assert_eq!(daemon.ask("DELETE", &format!("/objects/{id}"), &[], b"").code, 404);
    assert_eq!(daemon.get(&format!("/objects/{id}")).code, 404);
    let expired = daemon.post("/objects?expires=0", "[]").id();
    assert_eq!(daemon.get(&format!("/objects/{expired}")).code, 404);
}

#[test]
fn undecodable_objects_are_kept_and_marked() {
    let daemon = Daemon::start();
    let stored = daemon.post("/objects?format=marshal", b"\x04\x08[\x06");
    assert_eq!(stored.code, 201);
    assert!(stored.str("/problem").contains("too early"));
    let id = stored.id();
    assert_eq!(daemon.get(&format!("/objects/{id}")).json()["document"], Value::Null);
    assert_eq!(daemon.get(&format!("/objects/{id}/bytes")).body, b"\x04\x08[\x06");
    assert_eq!(daemon.get(&format!("/objects/{id}/bytes?to=json")).code, 400);
    assert_eq!(daemon.get("/objects?problem=true").str("/objects/0/id"), id);
    assert_eq!(daemon.get("/objects?problem=false").json()["objects"], json!([]));
}

#[test]
fn objects_are_found_by_class_and_value() {
    let daemon = Daemon::start();
    let ids: Vec<String> =
        (0..3).map(|number| daemon.post("/objects", format!(r#"{{"user":{{"id":{number}}}}}"#)).id()).collect();
    let ruby = daemon.post("/objects", b"\x04\x08o:\x09User\x00").id();
    assert_eq!(daemon.get("/objects?class=User").str("/objects/0/id"), ruby);
    let found = daemon.get("/objects?path=$.user.id&value=1").json();
    assert_eq!(found["objects"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["objects"][0]["id"], json!(ids[1]));
    assert_eq!(daemon.get("/objects?path=$.user.id").code, 400);
    let lines = daemon.ask("GET", "/objects?limit=2", &["Accept: application/x-ndjson"], b"").text();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((lines.len(), &lines[0]["id"], &lines[2]), (3, &json!(ids[0]), &json!({ "next": 2 })));
}

#[test]
fn the_openapi_description_lists_exactly_the_routes() {
    let daemon = Daemon::start();
    let document = daemon.get("/openapi.json").json();
    assert_eq!(document["openapi"], json!("3.1.0"));
    let mut seen = HashSet::new();
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            seen.insert(format!("{method} {path}"));
            assert!(operation["operationId"].is_string() && operation["summary"].is_string(), "{method} {path}");
            let concrete = path
                .replace("{id}", "01890a5d-ac96-774b-bcce-b302099a8057")
                .replace("{queue}", "q")
                .replace("{name}", "n");
            let answer = daemon.ask(&method.to_uppercase(), &concrete, &[], b"");
            let is_there = answer.code != 405 && !answer.text().contains("there is no such path");
            assert!(is_there, "{method} {path}: {answer:?}");
            let codes = operation["responses"].as_object().expect("answers");
            let is_told = codes.contains_key(&answer.code.to_string()) || answer.code >= 400;
            assert!(is_told, "{method} {path} answers {}", answer.code);
        }
        assert_eq!(daemon.ask("PATCH", path, &[], b"").code, 405, "{path}");
    }
    let expected = [
        "post /jobs",
        "get /jobs",
        "get /jobs/{id}",
        "get /jobs/{id}/payload",
        "get /jobs/{id}/inspect",
        "post /jobs/{id}/replay",
        "post /jobs/{id}/ack",
        "post /jobs/{id}/nack",
        "post /jobs/{id}/extend",
        "get /queues",
        "post /queues/{queue}/claim",
        "post /queues/{queue}/pause",
        "post /queues/{queue}/resume",
        "post /queues/{queue}/redrive",
        "put /queues/{queue}/schema",
        "get /queues/{queue}/schema",
        "put /queues/{queue}/limits",
        "get /schedules",
        "put /schedules/{name}",
        "delete /schedules/{name}",
        "post /schedules/{name}/pause",
        "post /schedules/{name}/resume",
        "post /objects",
        "get /objects",
        "get /objects/{id}",
        "get /objects/{id}/bytes",
        "get /objects/{id}/inspect",
        "get /compare",
        "delete /objects/{id}",
        "get /healthz",
        "get /metrics",
        "get /openapi.json",
    ];
    assert_eq!(seen, expected.iter().map(|&route| route.to_owned()).collect::<HashSet<_>>());
}

#[test]
fn health_and_metrics_are_reported() {
    let daemon = Daemon::start();
    assert_eq!(daemon.get("/healthz").json(), json!({ "status": "ok" }));
    daemon.push("queue=a%22b", "1");
    daemon.get("/nothing");
    let text = daemon.get("/metrics").text();
    for line in [
        "icecore_http_requests_total{method=\"GET\",route=\"/healthz\",code=\"200\"} 1",
        "icecore_http_requests_total{method=\"POST\",route=\"/jobs\",code=\"201\"} 1",
        "icecore_http_requests_total{method=\"GET\",route=\"other\",code=\"404\"} 1",
        "icecore_http_request_duration_seconds_count{route=\"/jobs\"} 1",
        "icecore_commits_total 1",
        "icecore_commit_size_sum 1",
        "icecore_jobs{queue=\"a\\\"b\",state=\"ready\"} 1",
        "icecore_database_up 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
}

#[test]
fn jobs_of_many_clients_at_once_are_all_stored() {
    let daemon = Daemon::start();
    let ids: HashSet<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..32)
            .map(|_| {
                scope.spawn(|| (0..4).map(|number| daemon.push("queue=q", &number.to_string())).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("its ids")).collect()
    });
    assert_eq!(ids.len(), 128);
    let page = daemon.get("/jobs?limit=1000").json();
    let existing = page["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().to_owned());
    assert_eq!(existing.collect::<HashSet<_>>(), ids);
}
