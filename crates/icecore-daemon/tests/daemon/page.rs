//! The page and its requests, over HTTP.

use crate::client::{Answer, Daemon, read};
use serde_json::{Value, json};
use std::io::Write;

const PHP: &[u8] = b"O:4:\"User\":2:{s:4:\"name\";s:5:\"Alice\";s:3:\"ids\";a:2:{i:0;i:7;i:1;i:8;}}";
const NOBODY: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

fn items(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.code, 200, "{answer:?}");
    answer.json()["items"].as_array().expect("items").clone()
}

/// Returns the files that an HTML file or a module names.
fn list_names(text: &str) -> Vec<String> {
    let quoted = text.split('"').skip(1).step_by(2);
    let own_paths = quoted.filter(|word| word.starts_with("page/") || word.starts_with("./"));
    own_paths.map(|word| format!("/page/{}", word.trim_start_matches("page/").trim_start_matches("./"))).collect()
}

#[test]
fn the_page_is_served_with_a_strict_policy() {
    let daemon = Daemon::with(|settings| settings.token = Some("secret".into()));
    let (mut waiting, mut seen) = (vec!["/".to_owned()], Vec::new());
    while let Some(path) = waiting.pop() {
        if seen.contains(&path) {
            continue;
        }
        let answer = daemon.get(&path);
        assert_eq!(answer.code, 200, "{path}");
        let policy = answer.header("content-security-policy").expect("a policy");
        for word in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.split("; ").any(|known| known == word), "{word} in {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        assert_eq!(answer.header("x-content-type-options").as_deref(), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy").as_deref(), Some("no-referrer"), "{path}");
        let media = answer.header("content-type").expect("a type");
        let expected_type = match path.rsplit_once('.').map(|(_, end)| end) {
            Some("js") => "text/javascript",
            Some("css") => "text/css",
            Some("svg") => "image/svg+xml",
            _ => "text/html",
        };
        assert!(media.starts_with(expected_type), "{path} {media}");
        let text = answer.text();
        for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://", "https://"] {
            let is_known =
                word == "http://" && text.matches(word).count() == text.matches("http://www.w3.org/2000/svg").count();
            assert!(!text.contains(word) || is_known, "{word} in {path}");
        }
        waiting.extend(list_names(&text));
        seen.push(path);
    }
    assert!(seen.len() > 15, "{seen:?}");
    assert_eq!(daemon.get("/page/nothing.js").code, 401);
    assert_eq!(daemon.post("/", "").code, 401);
    assert_eq!(daemon.ask("POST", "/", &["Authorization: Bearer secret"], b"").code, 405);
    let head = daemon.ask("HEAD", "/", &[], b"");
    assert_eq!((head.code, head.body.len()), (200, 0));
}

#[test]
fn the_files_of_the_page_do_not_count_as_requests() {
    let rate = icecore_daemon::Rate { per_second: 0.001, burst: 1.0 };
    let daemon = Daemon::with(|settings| settings.rate = Some(rate));
    for _ in 0..30 {
        assert_eq!(daemon.get("/page/main.js").code, 200);
    }
    assert_eq!(daemon.get("/queues").code, 200);
    assert_eq!(daemon.get("/queues").code, 429);
}

/// Requests that a browser sends without a preflight are refused if they come from another page.
#[test]
fn other_pages_cannot_change_anything() {
    let daemon = Daemon::start();
    let id = daemon.push("queue=q", "1");
    let object = daemon.post("/objects", "1").id();
    let changes = [
        ("POST", "/jobs".to_owned()),
        ("POST", format!("/jobs/{id}/replay")),
        ("POST", "/queues/q/claim".to_owned()),
        ("POST", "/queues/q/pause".to_owned()),
        ("POST", "/queues/q/redrive".to_owned()),
        ("PUT", "/queues/q/schema".to_owned()),
        ("DELETE", format!("/objects/{object}")),
    ];
    let lines: [&[&str]; 5] = [
        &["Origin: http://evil.example", "Sec-Fetch-Site: cross-site"],
        &["Origin: null"],
        &["Sec-Fetch-Site: cross-site"],
        // A server on another port of this machine.
        &["Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"],
        &["Sec-Fetch-Site: same-site", "Content-Type: text/plain"],
    ];
    for (method, path) in &changes {
        for lines in lines {
            let answer = daemon.ask(method, path, lines, b"1");
            assert_eq!((answer.code, answer.kind()), (403, "origin".into()), "{method} {path} {lines:?}");
        }
    }
    // Other pages can't read anything either, as an image or a script.
    assert_eq!(daemon.ask("GET", "/jobs", &["Sec-Fetch-Site: cross-site"], b"").code, 403);
    // A host name that was made to resolve to this address.
    let rebound = "Host: evil.example\r\nOrigin: http://evil.example\r\nSec-Fetch-Site: same-origin";
    for path in ["/jobs", "/queues/q/pause"] {
        let mut stream = daemon.connect();
        let head = format!("POST {path} HTTP/1.1\r\n{rebound}\r\nConnection: close\r\nContent-Length: 1\r\n\r\n1");
        stream.write_all(head.as_bytes()).expect("it is sent");
        assert_eq!(read(&mut stream).code, 403, "{path}");
    }
    assert_eq!(daemon.get("/jobs").json()["jobs"].as_array().map(Vec::len), Some(1));
    let queue = &daemon.get("/queues").json()["queues"][0];
    assert_eq!((&queue["ready"], &queue["is_paused"], &queue["has_schema"]), (&json!(1), &json!(false), &json!(false)));
    assert_eq!(daemon.get(&format!("/objects/{object}")).code, 200);
    // Requests of the page itself and of programs.
    let own_headers = ["Origin: http://localhost", "Sec-Fetch-Site: same-origin"];
    assert_eq!(daemon.ask("POST", "/queues/q/pause", &own_headers, b"").code, 200);
    assert_eq!(daemon.post("/queues/q/resume", "").code, 200);
    // The page itself contains no secrets: links to it work.
    assert_eq!(daemon.ask("GET", "/", &["Sec-Fetch-Site: cross-site"], b"").code, 200);
}

#[test]
fn a_payload_is_inspected() {
    let daemon = Daemon::start();
    let id = daemon.post("/jobs?format=php", PHP).id();
    let complete = daemon.get(&format!("/jobs/{id}/inspect"));
    assert_eq!(
        (complete.str("/format"), &complete.json()["size"], &complete.json()["error"]),
        ("php".into(), &json!(PHP.len()), &Value::Null)
    );
    let found = items(&complete);
    let name = found.iter().find(|item| item["step"] == ".name").expect("a name");
    assert_eq!(
        (&name["type"], &name["value"], &name["start"], &name["end"]),
        (&json!("bytes"), &json!("Alice"), &json!(25), &json!(37))
    );
    assert_eq!(name["bytes"], json!(icecore::text::to_base64(b"s:5:\"Alice\";")));
    assert!(found.iter().any(|item| item["class"] == "User"));
    // The same as the command prints.
    let list = found.iter().find(|item| item["step"] == ".ids").expect("a list");
    let part = items(&daemon.get(&format!("/jobs/{id}/inspect?node={}&skip=1&items=1&depth=1", list["node"])));
    let shown: Vec<_> = part.iter().map(|item| (item["step"].as_str(), item["value"].as_i64())).collect();
    assert_eq!(shown, [(Some("$"), None), (Some("[1]"), Some(8))]);
    let other = daemon.get(&format!("/jobs/{id}/inspect?format=json")).json();
    assert_eq!((&other["format"], other["error"]["offset"].as_u64()), (&json!("json"), Some(0)));
    assert_eq!(daemon.get(&format!("/jobs/{id}/inspect?format=nothing")).code, 400);
    assert_eq!(daemon.get(&format!("/jobs/{id}/inspect?node=x")).code, 400);
    assert_eq!(daemon.get(&format!("/jobs/{NOBODY}/inspect")).code, 404);
    assert_eq!(daemon.get(&format!("/objects/{NOBODY}/inspect")).code, 404);
    let readable = daemon.get(&format!("/jobs/{id}/payload?to=json:indent=2,cycles=null"));
    assert!(readable.text().contains("\n  \"name\": \"Alice\""), "{readable:?}");
}

#[test]
fn frozen_strings_are_inspected() {
    let daemon = Daemon::start();
    let inner = r#"a:1:{i:0;s:16:"{"deep":[1,2,3]}";}"#;
    let id = daemon.push("queue=q", &json!({ "command": inner, "plain": "x" }).to_string());
    let found = items(&daemon.get(&format!("/jobs/{id}/inspect")));
    let command = found.iter().find(|item| item["step"] == ".command").expect("a command");
    assert_eq!(command["inside"], json!("php"));
    let php = daemon.get(&format!("/jobs/{id}/inspect?within={}", command["node"]));
    let text = items(&php).into_iter().find(|item| item["step"] == "[0]").expect("a text");
    assert_eq!((php.str("/format"), &text["inside"], &text["start"]), ("php".into(), &json!("json"), &json!(9)));
    let json = daemon.get(&format!("/jobs/{id}/inspect?within={},{}&depth=9", command["node"], text["node"]));
    assert_eq!(items(&json).iter().filter_map(|item| item["value"].as_i64()).collect::<Vec<_>>(), [1, 2, 3]);
    let plain_item = found.iter().find(|item| item["step"] == ".plain").expect("a text");
    for within in [plain_item["node"].to_string(), "0".into(), "4294967295".into()] {
        let answer = daemon.get(&format!("/jobs/{id}/inspect?within={within}"));
        assert_eq!((items(&answer).len(), answer.str("/error/kind")), (0, "format".into()), "{within}");
    }
    for within in ["x", "-1", &"1,".repeat(17)] {
        assert_eq!(daemon.get(&format!("/jobs/{id}/inspect?within={within}")).code, 400, "{within}");
    }
}

#[test]
fn the_readable_part_of_a_broken_object_is_shown() {
    let daemon = Daemon::start();
    let broken = daemon.post("/objects?format=marshal", b"\x04\x08[\x07i\x06").id();
    let answer = daemon.get(&format!("/objects/{broken}/inspect?format=marshal"));
    let error = &answer.json()["error"];
    assert_eq!((&error["kind"], &error["offset"]), (&json!("truncated"), &json!(6)));
    assert!(items(&answer).iter().any(|item| item["value"] == 1), "{answer:?}");
    assert_eq!(answer.str("/start"), icecore::text::to_base64(b"\x04\x08[\x07i\x06"));
    let nothing = daemon.post("/objects", b"\x00\x01 not known to anybody").id();
    let answer = daemon.get(&format!("/objects/{nothing}/inspect"));
    assert_eq!((items(&answer).len(), &answer.json()["format"]), (0, &Value::Null));
    assert!(answer.json()["error"]["message"].is_string());
}

#[test]
fn answers_about_large_content_are_small() {
    let daemon = Daemon::start();
    let long = "é".repeat(1_000_000);
    let wide: Vec<u32> = (0..10_000).collect();
    let deep = format!("{}{}", "[".repeat(900), "]".repeat(900));
    let payload = format!(r#"{{"{long}":"{long}","wide":{},"deep":{deep}}}"#, json!(wide));
    let id = daemon.push("queue=q", &payload);
    for query in ["", "?depth=1000", "?depth=1000&items=1000&limit=2000", "?depth=4294967295&skip=18446744073709551615"]
    {
        let answer = daemon.get(&format!("/jobs/{id}/inspect{query}"));
        assert!(items(&answer).len() <= 2_000 && answer.body.len() < 1_000_000, "{query}: {}", answer.body.len());
    }
    let complete = daemon.get(&format!("/jobs/{id}/inspect?depth=1000&items=1000&limit=2000"));
    assert_eq!(complete.json()["is_cut"], json!(false));
    let cut = daemon.get(&format!("/jobs/{id}/inspect?depth=1000&items=1000&limit=100"));
    assert_eq!((items(&cut).len(), &cut.json()["is_cut"]), (100, &json!(true)));
    let first = items(&complete)[1].clone();
    assert_eq!(first["size"], json!(2_000_000));
    let text = daemon.get(&format!("/jobs/{id}/inspect?node={}&depth=0&longest=99999999", first["node"]));
    assert_eq!(items(&text)[0]["value"].as_str().map(str::len), Some(1 << 20));
    // More values than are examined.
    let many = daemon.push("queue=q", &format!("[{}1]", "1,".repeat(600_000)));
    let answer = daemon.get(&format!("/jobs/{many}/inspect"));
    assert_eq!((answer.str("/error/kind"), items(&answer).len()), ("limit".into(), 101));
    assert_eq!(daemon.get("/healthz").code, 200);
}

#[test]
fn two_payloads_are_compared() {
    let daemon = Daemon::start();
    let first = daemon.push("queue=q", r#"{"to":"ann","n":[1,2],"same":{"a":null}}"#);
    let second = daemon.push("queue=q", r#"{"to":"bob","n":[1],"same":{"a":null},"new":"<b>"}"#);
    let answer = daemon.get(&format!("/compare?left=jobs/{first}&right=jobs/{second}")).json();
    let shown: Vec<_> =
        answer["differences"].as_array().expect("a list").iter().map(|one| (&one["what"], &one["path"])).collect();
    assert_eq!(json!(shown), json!([["changed", "$.to"], ["removed", "$.n[1]"], ["added", "$.new"]]));
    assert_eq!(answer["differences"][0]["right"]["text"], json!("\"bob\""));
    assert_eq!((&answer["count"], &answer["is_equal"], &answer["is_whole"]), (&json!(3), &json!(false), &json!(true)));
    let one = daemon.get(&format!("/compare?left=jobs/{first}&right=jobs/{second}&limit=1")).json();
    assert_eq!((one["differences"].as_array().map(Vec::len), &one["count"]), (Some(1), &json!(3)));
    let replay = daemon.post(&format!("/jobs/{first}/replay"), "").id();
    let object = daemon.post("/objects", r#"{"to":"ann","n":[1,2],"same":{"a":null}}"#).id();
    for right in [format!("jobs/{replay}"), format!("objects/{object}")] {
        assert_eq!(daemon.get(&format!("/compare?left=jobs/{first}&right={right}")).json()["is_equal"], json!(true));
    }
    let broken = daemon.post("/objects?format=marshal", b"\x04\x08[\x07i\x06").id();
    let refused = daemon.get(&format!("/compare?left=jobs/{first}&right=objects/{broken}"));
    assert_eq!(refused.code, 400);
    assert!(refused.str("/error/message").starts_with("right: "), "{refused:?}");
    for (query, code) in [
        ("", 400),
        ("?left=jobs/x&right=jobs/y", 404),
        (&*format!("?left=jobs/{NOBODY}&right=jobs/{first}"), 404),
        (&*format!("?left={first}&right={first}"), 400),
        (&*format!("?left=queues/q&right=jobs/{first}"), 400),
    ] {
        assert_eq!(daemon.get(&format!("/compare{query}")).code, code, "{query}");
    }
}

#[test]
fn lists_are_brief_and_begin_with_the_newest() {
    let daemon = Daemon::start();
    let pushed: Vec<String> = (0..5).map(|number| daemon.push("queue=q", &number.to_string())).collect();
    let (mut listed_ids, mut before) = (Vec::new(), json!(i64::MAX));
    while !before.is_null() {
        let page = daemon.get(&format!("/jobs?queue=q&limit=2&before={before}&brief=true")).json();
        for job in page["jobs"].as_array().expect("jobs") {
            assert_eq!((&job["payload"], &job["format"]), (&Value::Null, &json!("json")));
            listed_ids.push(job["id"].as_str().expect("an id").to_owned());
        }
        before = page["next"].clone();
    }
    listed_ids.reverse();
    assert_eq!(listed_ids, pushed);
    let id = &pushed[0];
    assert_eq!(daemon.get(&format!("/jobs/{id}?brief=true")).json()["payload"], Value::Null);
    assert_eq!(daemon.get(&format!("/jobs/{id}?brief=false")).json()["payload"], json!(0));
    assert_eq!(daemon.get("/jobs?brief=yes").code, 400);
    let object = daemon.post("/objects", "[1]").id();
    assert_eq!(daemon.get("/objects?brief=true").json()["objects"][0]["document"], Value::Null);
    assert_eq!(daemon.get(&format!("/objects/{object}?brief=true")).json()["document"], Value::Null);
    assert_eq!(daemon.get(&format!("/objects/{object}")).json()["document"], json!([1]));
}
