//! Lists: filters, pages, the keyboard.

use super::{assert_no_messages, assert_shows, fail_job, open_browser, open_part};
use crate::client::Daemon;
use serde_json::json;

const ROWS: &str = "document.querySelectorAll('tbody tr').length";
const FOCUS: &str = "document.activeElement.dataset.row";

#[test]
fn jobs_are_filtered_and_have_pages() {
    let daemon = Daemon::start();
    let ids: Vec<String> = (0..60).map(|number| daemon.push("queue=mail", &number.to_string())).collect();
    daemon.push("queue=other&max_attempts=1", "1");
    fail_job(&daemon, "other", "no such user");
    let Some(mut page) = open_browser(&daemon, "jobs") else { return };
    page.wait(&format!("{ROWS} === 50"));
    assert_shows(&mut page, "no such user");
    page.click(".pages a:last-child");
    page.wait(&format!("{ROWS} === 11"));
    assert_shows(&mut page, &ids[0]);
    page.click(".pages a:first-child");
    page.wait(&format!("{ROWS} === 50"));
    page.click("#f-queue");
    page.type_text("other");
    page.key("Enter");
    page.wait(&format!("{ROWS} === 1"));
    assert_eq!(page.value("location.hash"), json!("#/jobs?queue=other"));
    page.value("(() => { const e = document.querySelector('#f-state'); e.value = 'ready'; e.dispatchEvent(new Event('change')); })()");
    assert_shows(&mut page, "There are no such jobs.");
    assert_eq!(page.value("location.hash"), json!("#/jobs?queue=other&state=ready"));
    page.value("history.back()");
    page.wait(&format!("{ROWS} === 1"));
    page.click("#f-id");
    page.type_text(&ids[7]);
    page.key("Enter");
    page.wait(&format!("location.hash === '#/jobs/{}'", ids[7]));
    assert_shows(&mut page, "Readable copy");
    open_part(&mut page, &daemon, "jobs/01890a5d-ac96-774b-bcce-b302099a8057");
    page.wait("document.querySelector('[role=alert]')?.innerText.includes('there is no job')");
}

#[test]
fn lists_can_be_used_with_the_keyboard() {
    let daemon = Daemon::start();
    let ids: Vec<String> = (0..3).map(|number| daemon.push("queue=mail", &number.to_string())).collect();
    let Some(mut page) = open_browser(&daemon, "jobs") else { return };
    page.wait(&format!("{ROWS} === 3"));
    page.key("/");
    page.wait("document.activeElement.id === 'f-queue'");
    page.key("Escape");
    page.wait("document.activeElement === document.body");
    for (key, id) in [("j", &ids[2]), ("j", &ids[1]), ("j", &ids[0]), ("j", &ids[0]), ("k", &ids[1])] {
        page.key(key);
        page.wait(&format!("{FOCUS} === '{id}'"));
    }
    // A job that arrives meanwhile does not take the focus away.
    daemon.push("queue=mail", "4");
    page.wait(&format!("{ROWS} === 4"));
    page.wait(&format!("{FOCUS} === '{}'", ids[1]));
    page.key("Enter");
    page.wait(&format!("location.hash === '#/jobs/{}'", ids[1]));
    assert_shows(&mut page, "Readable copy");
    page.key("Escape");
    page.wait("location.hash === '#/jobs'");
    page.wait(&format!("{FOCUS} === '{}'", ids[1]));
    page.key("?");
    page.wait("document.querySelector('dialog[open]')?.innerText.includes('to the filter')");
    page.key("Escape");
    page.wait("!document.querySelector('dialog')");
    assert_no_messages(&page);
}

/// The Tab key reaches everything that can be clicked, and each element has a name.
#[test]
fn every_control_is_reached_by_tab_and_has_a_name() {
    let daemon = Daemon::start();
    daemon.push("queue=mail&max_attempts=1", r#"{"a":[1]}"#);
    fail_job(&daemon, "mail", "no such user");
    let id = daemon.get("/jobs").str("/jobs/0/id");
    let object = daemon.post("/objects", b"\x04\x08[\x06").id();
    let Some(mut page) = open_browser(&daemon, "queues") else { return };
    for (part, expected) in [
        ("queues".to_owned(), "Redrive"),
        ("jobs".to_owned(), "no such user"),
        (format!("jobs/{id}"), "\"a\""),
        ("objects".to_owned(), &*object),
        (format!("objects/{object}"), "The first bytes"),
        ("compare".to_owned(), "Second"),
    ] {
        open_part(&mut page, &daemon, &part);
        assert_shows(&mut page, expected);
        let unnamed = page.value(
            "[...document.querySelectorAll('a, button, input, select, [role=tree], svg[role=img]')] \
             .filter((e) => e.checkVisibility() && !(e.innerText?.trim() || e.getAttribute('aria-label') || e.labels?.length)) \
             .map((e) => e.outerHTML)",
        );
        assert_eq!(unnamed, json!([]), "{part}");
        // Arrow keys reach the rows of a tree.
        page.value("window.left = new Set([...document.querySelectorAll('a, button, input, select, [role=treeitem][tabindex=\"0\"]')].filter((e) => e.checkVisibility() && e.tabIndex >= 0))");
        page.value("document.activeElement.blur()");
        let count = page.value("left.size").as_u64().expect("a number");
        for _ in 0..count + 30 {
            page.key("Tab");
            page.value("void left.delete(document.activeElement)");
        }
        assert_eq!(page.value("[...left].filter((e) => e.isConnected).map((e) => e.outerHTML)"), json!([]), "{part}");
    }
}
