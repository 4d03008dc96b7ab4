//! One job, one object, and the differences between two.

use super::{assert_no_messages, assert_shows, fail_job, open_browser, open_part};
use crate::client::Daemon;
use serde_json::json;

const PHP: &[u8] = b"O:4:\"User\":2:{s:4:\"name\";s:5:\"Alice\";s:3:\"ids\";a:2:{i:0;i:7;i:1;i:8;}}";

#[test]
fn a_job_shows_its_content_and_its_state() {
    let daemon = Daemon::start();
    let id = daemon.post("/jobs?queue=mail&format=php&max_attempts=1", PHP).id();
    let (_, token) = daemon.claim("mail");
    let Some(mut page) = open_browser(&daemon, &format!("jobs/{id}")) else { return };
    assert_shows(&mut page, "leased");
    page.wait("document.querySelectorAll('[role=treeitem]').length > 5");
    let tree = page.value("document.querySelector('[role=tree]').innerText");
    let tree = tree.as_str().expect("a text");
    for text in ["User", ".name", "“Alice”", ".ids", "2 items", "[0]", "7", "00000000 4f 3a 34", "0000002f"] {
        assert!(tree.contains(text), "{text} in {tree}");
    }
    assert_shows(&mut page, "\"name\": \"Alice\"");
    // Changes of its state are shown without a reload.
    let nack = json!({ "token": token, "error": "no such user <b>" }).to_string();
    daemon.post_json(&format!("/jobs/{id}/nack"), nack);
    assert_shows(&mut page, "no such user <b>");
    assert_shows(&mut page, "dead");
    page.click("[data-act=redrive]");
    page.click("[data-confirm]");
    page.wait("document.querySelector('.badge').textContent === 'ready'");
    let (_, token) = daemon.claim("mail");
    let ack = json!({ "token": token, "result": { "sent": 12345678901234567890_u64 } }).to_string();
    assert_eq!(daemon.post_json(&format!("/jobs/{id}/ack"), ack).code, 200);
    assert_shows(&mut page, "\"sent\": 12345678901234567890");
    assert_no_messages(&page);
}

#[test]
fn a_tree_is_opened_and_closed() {
    let daemon = Daemon::start();
    let id = daemon.push("queue=q", r#"{"a":{"b":{"c":{"d":{"e":1}}}},"f":"g"}"#);
    let Some(mut page) = open_browser(&daemon, &format!("jobs/{id}")) else { return };
    let shown = "[...document.querySelectorAll('[role=treeitem]')].filter((e) => !e.hidden).length";
    page.wait(&format!("{shown} === 5"));
    page.click("[role=treeitem]:nth-child(4)");
    page.wait(&format!("{shown} === 6"));
    page.click("[role=treeitem]:nth-child(2)");
    page.wait(&format!("{shown} === 3"));
    // Closed values are skipped.
    page.key("j");
    page.wait("document.activeElement.innerText.includes('.f')");
    page.key("k");
    page.wait("document.activeElement.innerText.includes('.a')");
    page.key("ArrowRight");
    page.wait(&format!("{shown} === 6"));
    page.key("ArrowDown");
    page.key("ArrowDown");
    page.key("ArrowDown");
    page.wait("document.querySelector('.path').innerText === '$.a.b.c.d'");
    page.key("Enter");
    page.wait(&format!("{shown} === 7"));
    page.key("ArrowLeft");
    page.wait(&format!("{shown} === 6"));
    assert_no_messages(&page);
}

#[test]
fn frozen_strings_are_opened() {
    let daemon = Daemon::start();
    let inner = r#"O:3:"Job":1:{s:4:"data";s:16:"{"deep":[1,2,3]}";}"#;
    let id = daemon.push("queue=q", &json!({ "command": inner, "other": 1 }).to_string());
    let Some(mut page) = open_browser(&daemon, &format!("jobs/{id}")) else { return };
    assert_shows(&mut page, "php inside");
    let rows = "document.querySelectorAll('[role=treeitem]').length";
    page.wait(&format!("{rows} === 3"));
    page.click("[role=treeitem]:nth-child(2)");
    page.wait(&format!("{rows} === 6"));
    assert_shows(&mut page, "json inside");
    page.click("[role=treeitem]:nth-child(5)");
    assert_shows(&mut page, ".deep");
    page.wait(&format!("{rows} === 11"));
    page.value("document.querySelector('[role=treeitem]:nth-child(8)').focus()");
    page.wait("document.querySelector('.path').innerText === '$.command.data.deep[0]'");
    page.picture("inside");
    page.click("[role=treeitem]:nth-child(2)");
    page.wait("[...document.querySelectorAll('[role=treeitem]')].filter((e) => !e.hidden).length === 3");
    assert_no_messages(&page);
}

#[test]
fn a_replay_is_compared_with_its_job() {
    let daemon = Daemon::start();
    let id = daemon.push("queue=mail", r#"{"to":"ann","n":[1,2],"same":true}"#);
    let Some(mut page) = open_browser(&daemon, &format!("jobs/{id}")) else { return };
    page.click("[data-act=replay]");
    page.key("Escape");
    page.wait("!document.querySelector('dialog')");
    assert_eq!(daemon.get("/jobs").json()["jobs"].as_array().map(Vec::len), Some(1));
    page.click("[data-act=replay]");
    page.click("[data-confirm]");
    page.wait(&format!("location.hash.startsWith('#/jobs/') && !location.hash.includes('{id}')"));
    assert_shows(&mut page, "Replay of");
    page.click("[data-act=difference]");
    assert_shows(&mut page, "They are equal");
    let other = daemon.push("queue=mail", r#"{"to":"bob","n":[1],"new":null,"same":true}"#);
    page.key("/");
    page.wait("document.activeElement.id === 'c-right'");
    page.value("document.activeElement.select()");
    page.type_text(&other);
    page.key("Enter");
    assert_shows(&mut page, "3 differences.");
    let rows = page.value(
        "[...document.querySelectorAll('tbody tr')].map((e) => e.className + ' ' + e.querySelector('code').innerText)",
    );
    assert_eq!(rows, json!(["changed $.to", "removed $.n[1]", "added $.new"]));
    page.picture("difference");
    // An object compared with a job.
    let object = daemon.post("/objects", r#"{"to":"bob","n":[1],"new":null,"same":true}"#).id();
    open_part(&mut page, &daemon, &format!("compare?left=jobs/{other}&right=objects/{object}"));
    assert_shows(&mut page, "They are equal");
    assert_no_messages(&page);
}

#[test]
fn quarantined_objects_show_their_reason() {
    let daemon = Daemon::start();
    let id = daemon.post("/objects?format=marshal", b"\x04\x08[\x07i\x06").id();
    daemon.post("/objects?key=k", b"\x04\x08o:\x09User\x00");
    let Some(mut page) = open_browser(&daemon, "quarantine") else { return };
    assert_shows(&mut page, "too early");
    assert_eq!(page.value("document.querySelectorAll('tbody tr').length"), json!(1));
    page.picture("quarantine");
    page.click(&format!("[data-row='{id}']"));
    assert_shows(&mut page, "In quarantine");
    assert_shows(&mut page, "The first bytes");
    assert_shows(&mut page, "00000000  04 08 5b 07");
    // The readable part is shown.
    page.click("#as");
    page.type_text("marshal");
    page.key("Enter");
    page.wait("document.querySelector('[role=tree]').innerText.includes('then cut')");
    assert_shows(&mut page, "expected 1 byte of a value");
    page.key("Escape");
    page.key("Escape");
    page.wait("location.hash === '#/quarantine'");
    open_part(&mut page, &daemon, "objects");
    page.wait("document.querySelectorAll('tbody tr').length === 2");
    page.click("#f-class");
    page.type_text("User");
    page.key("Enter");
    page.wait("document.querySelectorAll('tbody tr').length === 1");
    assert_no_messages(&page);
}

#[test]
fn long_lists_load_a_hundred_items_at_a_time() {
    let daemon = Daemon::start();
    let list: Vec<u32> = (0..10_000).collect();
    let id = daemon.push("queue=q", &json!({ "list": list }).to_string());
    fail_job(&daemon, "q", "");
    let Some(mut page) = open_browser(&daemon, &format!("jobs/{id}")) else { return };
    let rows = "document.querySelectorAll('[role=treeitem]').length";
    page.wait(&format!("{rows} === 102"));
    assert_shows(&mut page, "… 9,900 more");
    page.click("[data-row=more]");
    page.wait(&format!("{rows} === 202"));
    assert_shows(&mut page, "[199]");
    assert_shows(&mut page, "… 9,800 more");
    page.wait("document.activeElement.innerText.includes('[100]')");
    assert_no_messages(&page);
}
