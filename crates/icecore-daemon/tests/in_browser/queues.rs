//! Queues: counts, rates, pauses, redrives.

use super::{assert_no_messages, assert_shows, fail_job, open_browser};
use crate::client::Daemon;
use serde_json::json;

const READY: &str = "document.querySelector('.counts .ready b')?.textContent";

#[test]
fn counts_and_charts_are_refreshed() {
    let daemon = Daemon::start();
    let Some(mut page) = open_browser(&daemon, "queues") else { return };
    assert_shows(&mut page, "There are no queues yet");
    daemon.push("queue=mail", "1");
    page.wait(&format!("{READY} === '1'"));
    daemon.push("queue=mail", "2");
    page.wait(&format!("{READY} === '2'"));
    page.wait("document.querySelector('svg.chart').dataset.points > 0");
    let label = page.value("document.querySelector('svg.chart').getAttribute('aria-label')");
    assert!(label.as_str().is_some_and(|label| label.starts_with("Jobs per second: in ")), "{label}");
    assert_eq!(page.value("document.querySelectorAll('svg.chart').length"), json!(2));
    // A frozen view does not refresh.
    page.click("#live");
    page.wait("document.getElementById('status').textContent === 'frozen'");
    daemon.push("queue=mail", "3");
    page.click("#live");
    page.wait(&format!("{READY} === '3'"));
    daemon.push("queue=other", "1");
    page.wait("document.querySelectorAll('.card').length === 2");
    page.picture("charts");
    page.click("#filter");
    page.type_text("oth");
    page.wait("document.querySelectorAll('.card').length === 1");
    assert_no_messages(&page);
}

#[test]
fn a_queue_is_paused_and_resumed() {
    let daemon = Daemon::start();
    daemon.push("queue=mail", "1");
    let Some(mut page) = open_browser(&daemon, "queues") else { return };
    page.click("[data-act=pause]");
    assert_shows(&mut page, "paused since");
    assert_eq!(daemon.post("/queues/mail/claim", "").json(), json!({ "jobs": [] }));
    page.wait("document.querySelector('[data-act=pause]').textContent === 'Resume'");
    page.click("[data-act=pause]");
    page.wait("document.querySelector('.badge.paused').hidden");
    daemon.claim("mail");
    assert_no_messages(&page);
}

#[test]
fn dead_jobs_are_redriven_after_a_confirmation() {
    let daemon = Daemon::start();
    for number in 0..2 {
        daemon.push("queue=mail&max_attempts=1", &number.to_string());
        fail_job(&daemon, "mail", "no such user");
    }
    let Some(mut page) = open_browser(&daemon, "queues") else { return };
    page.click("[data-act=redrive]");
    page.wait("document.querySelector('dialog[open]')?.innerText.includes('Redrive 2 dead jobs?')");
    page.key("Escape");
    page.wait("!document.querySelector('dialog')");
    assert_eq!(daemon.get("/queues").json()["queues"][0]["dead"], json!(2));
    page.click("[data-act=redrive]");
    page.click("[data-confirm]");
    page.wait("document.querySelector('.counts .ready b').textContent === '2'");
    assert_eq!(daemon.get("/queues").json()["queues"][0]["dead"], json!(0));
    assert_no_messages(&page);
}
