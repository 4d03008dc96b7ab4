//! The page as people use it: in Chromium, by clicks and keys. Without Chromium these tests report
//! that and check nothing.

mod browser;
mod hostile;
mod items;
mod lists;
mod looks;
mod queues;
mod schedules;
mod token;

use crate::client::Daemon;
use browser::Browser;

/// Returns a browser that shows the page of this daemon.
fn open_browser(daemon: &Daemon, part: &str) -> Option<Browser> {
    let Some(mut browser) = Browser::start() else {
        eprintln!("left out: chromium is missing");
        return None;
    };
    browser.set_window(1280, 900, "light");
    open_part(&mut browser, daemon, part);
    Some(browser)
}

/// Opens a part of the page.
fn open_part(browser: &mut Browser, daemon: &Daemon, part: &str) {
    browser.open(&format!("http://{}/#/{part}", daemon.address));
    browser.wait("document.querySelector('h1')");
}

/// Waits until the page contains this text.
fn assert_shows(browser: &mut Browser, text: &str) {
    browser.wait(&format!("document.querySelector('main')?.innerText.includes({})", browser::quoted(text)));
}

/// Checks that the page refused nothing, threw nothing and gave no warning.
fn assert_no_messages(browser: &Browser) {
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

/// Takes a job of a queue and fails it for good.
fn fail_job(daemon: &Daemon, queue: &str, error: &str) {
    let (id, token) = daemon.claim(queue);
    let body = serde_json::json!({ "token": token, "error": error, "delay": 0 }).to_string();
    assert_eq!(daemon.post_json(&format!("/jobs/{id}/nack"), body).code, 200);
}
