//! Hostile content is shown as text, and the page stays usable.

use super::{assert_no_messages, assert_shows, fail_job, open_browser, open_part};
use crate::client::Daemon;
use serde_json::json;

const EVIL: &str =
    "</code><img src=x onerror=\"window.evil=1\"><script>window.evil=1</script>\u{202e}txt\u{0}\u{1b}[31m\u{200b}";

#[test]
fn markup_in_data_is_shown_as_text() {
    let daemon = Daemon::start();
    let payload = json!({ EVIL: [EVIL, { "deep": EVIL }], "javascript:window.evil=1": 1 }).to_string();
    let queue: String = "%3Cimg%20src=x%20onerror=%22window.evil=1%22%3E".into();
    let answer = daemon.post_json(&format!("/jobs?queue={queue}&max_attempts=1"), payload);
    let id = answer.id();
    fail_job(&daemon, &queue, EVIL);
    let object = daemon
        .post("/objects?key=%3Cscript%3Ewindow.evil=1%3C/script%3E", b"\x04\x08o:\x1e<b onmouseover=evil()>Use\x00")
        .id();
    daemon.post("/objects?format=marshal", EVIL);
    let Some(mut page) = open_browser(&daemon, "queues") else { return };
    for (part, expected) in [
        ("queues".to_owned(), "<img src=x"),
        ("jobs".to_owned(), "<img src=x"),
        (format!("jobs/{id}"), "<script>window.evil=1</script>\\u{202e}txt"),
        ("objects".to_owned(), "<script>"),
        (format!("objects/{object}"), "<b onmouseover"),
        ("quarantine".to_owned(), "offset"),
        (format!("compare?left=jobs/{id}&right=objects/{object}"), "difference"),
        ("%3Cimg%20src=x%20onerror=window.evil=1%3E".to_owned(), "Nothing here"),
        ("jobs/%3Cimg%20src=x%3E".to_owned(), "<img src=x>"),
    ] {
        open_part(&mut page, &daemon, &part);
        assert_shows(&mut page, expected);
        assert_eq!(
            page.value("document.querySelectorAll('main img, main script, main b[onmouseover], main style').length"),
            json!(0)
        );
        assert_eq!(page.value("window.evil"), json!(null), "{part}");
        // Direction marks and invisible characters do not appear unescaped.
        let unseen = page.value("/[\\u202e\\u200b\\u0000\\u001b]/.test(document.querySelector('main').textContent)");
        assert_eq!(unseen, json!(false), "{part}");
    }
    // Only scripts that are files of the page run.
    let before = page.complaints.len();
    page.value(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.evil = 1' }))",
    );
    page.value(
        "document.body.append(Object.assign(document.createElement('img'), { src: 'http://127.0.0.1:1/a.png' }))",
    );
    page.wait("true");
    page.value("new Promise((done) => setTimeout(done))");
    assert_eq!(page.value("window.evil"), json!(null));
    let refused = page.complaints[before..].iter().filter(|text| text.contains("Content Security Policy")).count();
    assert_eq!(refused, 2, "{:?}", page.complaints);
}

#[test]
fn the_page_stays_usable_with_long_and_deep_content() {
    let daemon = Daemon::start();
    let long = "x".repeat(2_000_000);
    let deep = format!("{}{}", "[".repeat(900), "]".repeat(900));
    let payload = format!("{{\"long\":\"{long}\",\"deep\":{deep},\"{long}\":1}}");
    let id = daemon.push("queue=q", &payload);
    let Some(mut page) = open_browser(&daemon, &format!("jobs/{id}")) else { return };
    page.set_window(360, 740, "light");
    assert_shows(&mut page, "… 2,000,000 bytes in all");
    assert!(page.value("document.querySelector('main').textContent.length").as_u64() < Some(20_000));
    page.click(".string + button");
    page.wait("document.querySelector('.string').innerText.includes('more characters')");
    // One level after the other, without deeper and deeper indentation.
    page.wait("document.querySelectorAll('[role=treeitem]').length >= 4");
    for level in 1..40 {
        let last = format!(
            "[...document.querySelectorAll('[role=treeitem][aria-level=\"{}\"][aria-expanded]')].at(-1)",
            level + 1
        );
        page.wait(&last);
        if page.value(&format!("{last}.getAttribute('aria-expanded')")) == json!("false") {
            page.value(&format!("{last}.click()"));
        }
    }
    let wide = page.value("document.documentElement.scrollWidth - innerWidth");
    assert!(wide.as_i64() <= Some(0), "{wide}");
    page.wait("document.querySelector('.copy button')?.innerText.includes('Show the readable copy of 4')");
    page.click(".copy button");
    assert_shows(&mut page, "\"long\": \"xxx");
    assert_no_messages(&page);
}
