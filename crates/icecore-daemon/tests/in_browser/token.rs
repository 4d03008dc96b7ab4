//! The token: asked for, kept for the tab, and in no address.

use super::{assert_shows, open_browser};
use crate::client::Daemon;
use serde_json::json;

#[test]
fn the_token_is_asked_for_and_kept_only_for_the_tab() {
    let daemon = Daemon::with(|settings| settings.token = Some("secret".into()));
    let push = ["Authorization: Bearer secret", "Content-Type: application/json"];
    assert_eq!(daemon.ask("POST", "/jobs?queue=mail", &push, b"1").code, 201);
    let Some(mut page) = open_browser(&daemon, "queues") else { return };
    page.wait("document.querySelector('dialog[open]')?.innerText.includes('The token of the daemon')");
    page.picture("token");
    page.wait("document.activeElement.id === 'token'");
    // A closed dialog opens again; what was typed before is discarded.
    page.value("document.querySelector('dialog').dataset.first = 'yes'");
    page.key("Escape");
    page.wait("document.querySelector('dialog[open]:not([data-first])')?.contains(document.activeElement)");
    page.type_text("wrong");
    page.key("Enter");
    page.wait("document.querySelector('dialog[open]')?.innerText.includes('is not accepted')");
    page.wait("document.activeElement.id === 'token'");
    page.type_text("secret");
    page.key("Enter");
    assert_shows(&mut page, "mail");
    assert_eq!(page.value("document.querySelectorAll('dialog').length"), json!(0));
    assert_eq!(page.value("Object.values(sessionStorage)"), json!(["secret"]));
    assert_eq!(page.value("Object.values(localStorage).concat(document.cookie || [])"), json!([]));
    assert_eq!(
        page.value("location.href.includes('secret') || document.body.innerHTML.includes('secret')"),
        json!(false)
    );
    // The token is kept after a reload.
    page.call("Page.reload", json!({}));
    assert_shows(&mut page, "mail");
    let others: Vec<_> = page.complaints.iter().filter(|complaint| !complaint.contains("401")).collect();
    assert_eq!(others, [""; 0]);
}
