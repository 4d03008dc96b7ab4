//! Schedules, limits and chains.

use super::{assert_no_messages, assert_shows, open_browser};
use crate::client::Daemon;
use serde_json::json;

fn put(daemon: &Daemon, path: &str) {
    let answer = daemon.ask("PUT", path, &["Content-Type: application/json"], b"{}");
    assert_eq!(answer.code, 200, "{answer:?}");
}

#[test]
fn a_schedule_is_paused_and_resumed() {
    let daemon = Daemon::start();
    let Some(mut page) = open_browser(&daemon, "schedules") else { return };
    assert_shows(&mut page, "There are no schedules");
    put(&daemon, "/schedules/nightly?timing=30+2+*+*+*&zone=Europe/Berlin&queue=report");
    assert_shows(&mut page, "30 2 * * *");
    assert_shows(&mut page, "Europe/Berlin");
    page.click("[data-act=pause]");
    page.wait("document.querySelector('[data-act=pause]')?.textContent === 'Resume'");
    assert_eq!(daemon.get("/schedules").json()["schedules"][0]["is_paused"], json!(true));
    page.click("[data-act=pause]");
    page.wait("document.querySelector('[data-act=pause]')?.textContent === 'Pause'");
    assert_eq!(daemon.get("/schedules").json()["schedules"][0]["is_paused"], json!(false));
    assert_no_messages(&page);
}

#[test]
fn limits_and_chains_are_shown() {
    let daemon = Daemon::start();
    put(&daemon, "/queues/mail/limits?concurrency=4&rate=100/1m");
    let first = daemon.push("queue=mail", "1");
    let second = daemon.push(&format!("queue=mail&after={first}"), "2");
    let Some(mut page) = open_browser(&daemon, "queues") else { return };
    assert_shows(&mut page, "4 at a time, 100/1m");
    page.wait("document.querySelector('.counts .waiting b').textContent === '1'");
    page.click(".counts .waiting");
    assert_shows(&mut page, &second);
    page.click(&format!("[data-row='{second}']"));
    assert_shows(&mut page, &first);
    assert_no_messages(&page);
}
