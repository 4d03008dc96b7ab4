//! The appearance: light, dark, narrow. Nothing overflows, and all text is readable.

use super::{assert_no_messages, assert_shows, fail_job, open_browser, open_part};
use crate::client::Daemon;
use serde_json::json;

/// Finds texts with less contrast than the WCAG requires.
const FAINT: &str = r#"(() => {
    const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    // Colours that let others through are painted over these.
    const light = (colors) => {
        for (const color of colors) {
            paint.fillStyle = color;
            paint.fillRect(0, 0, 1, 1);
        }
        const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].map((n) => n / 255).map((n) => (n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const faint = new Set();
    for (const element of document.querySelectorAll('body *')) {
        const is_text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!is_text || !element.checkVisibility() || element.closest('.skip')) continue;
        const style = getComputedStyle(element);
        const behind = [];
        for (let here = element; here; here = here.parentElement) behind.unshift(getComputedStyle(here).backgroundColor);
        const [back, front] = [light(behind), light([...behind, element.closest('svg') ? style.fill : style.color])];
        const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
        if (contrast < 4.5) faint.add(`${element.tagName}.${element.className.baseVal ?? element.className} ${contrast.toFixed(1)}`);
    }
    return [...faint];
})()"#;

fn daemon_with_jobs() -> (Daemon, String) {
    let daemon = Daemon::start();
    for number in 0..12 {
        let user = format!(
            "O:4:\"User\":3:{{s:2:\"id\";i:{number};s:5:\"roles\";a:2:{{i:0;s:5:\"admin\";i:1;s:4:\"mail\";}}s:4:\"self\";r:1;}}"
        );
        daemon.post("/jobs?queue=mail&format=php&max_attempts=2", user);
        daemon.push("queue=thumbnails", &json!({ "picture": number, "sizes": [64, 128, 512] }).to_string());
    }
    let (id, token) = daemon.claim("mail");
    daemon.post_json(&format!("/jobs/{id}/ack"), json!({ "token": token, "result": { "sent": true } }).to_string());
    daemon.push("queue=broken&max_attempts=1", r#"{"to":"ann@example.com"}"#);
    fail_job(&daemon, "broken", "exit code 1: connection to mail.example.com timed out\n  at send (mail.rb:12)");
    daemon.post("/queues/thumbnails/pause", "");
    daemon.ask("PUT", "/queues/mail/limits?concurrency=4&rate=100/1m", &[], b"");
    for (name, query) in
        [("nightly", "timing=30+2+*+*+MON-FRI&zone=Europe/Berlin&queue=report"), ("pulse", "timing=every+5m")]
    {
        let set = daemon.ask("PUT", &format!("/schedules/{name}?{query}"), &["Content-Type: application/json"], b"{}");
        assert_eq!(set.code, 200, "{set:?}");
    }
    daemon.post("/schedules/pulse/pause", "");
    let dead = daemon.get("/jobs?state=dead").str("/jobs/0/id");
    daemon.post("/objects?key=session%3A7", b"O:7:\"Session\":1:{s:4:\"user\";i:7;}");
    daemon.post("/objects?format=marshal", b"\x04\x08[\x07i\x06");
    assert_ne!(dead, id);
    (daemon, id)
}

#[test]
fn nothing_overflows_and_all_text_has_contrast() {
    let (daemon, id) = daemon_with_jobs();
    let Some(mut page) = open_browser(&daemon, "queues") else { return };
    let object = daemon.get("/objects").str("/objects/0/id");
    for (name, width, height, scheme) in
        [("light", 1280, 900, "light"), ("dark", 1280, 900, "dark"), ("narrow", 360, 740, "light")]
    {
        page.set_window(width, height, scheme);
        for (part, expected, picture_name) in [
            ("queues".to_owned(), "thumbnails", "queues"),
            ("jobs".to_owned(), "timed out", "jobs"),
            (format!("jobs/{id}"), "\"roles\"", "job"),
            ("schedules".to_owned(), "Europe/Berlin", "schedules"),
            ("objects".to_owned(), "session:7", "objects"),
            (format!("objects/{object}"), "\"user\": 7", "object"),
            ("quarantine".to_owned(), "too early", "quarantine"),
            (format!("compare?left=jobs/{id}&right=objects/{object}"), "difference", "compare"),
        ] {
            open_part(&mut page, &daemon, &part);
            assert_shows(&mut page, expected);
            if picture_name == "job" {
                page.wait("document.querySelectorAll('[role=treeitem]').length > 5");
                page.value("document.querySelector('[role=treeitem]').focus()");
            }
            if picture_name == "queues" {
                page.wait("document.querySelector('svg.chart').dataset.points > 1");
            }
            // Colour transitions finish immediately.
            page.value("document.getAnimations().forEach((one) => one.finish())");
            let wide = page.value("[document.documentElement.scrollWidth, innerWidth]");
            assert!(wide[0].as_u64() <= wide[1].as_u64(), "{name} {part}: {wide}");
            assert_eq!(page.value(FAINT), json!([]), "{name} {part}");
            page.picture(&format!("{picture_name}-{name}"));
        }
    }
    assert_no_messages(&page);
}

#[test]
fn the_theme_is_chosen_and_kept() {
    let daemon = Daemon::start();
    let Some(mut page) = open_browser(&daemon, "queues") else { return };
    let dark = "getComputedStyle(document.documentElement).backgroundColor === 'rgb(20, 23, 27)'";
    page.wait(&format!("!({dark})"));
    page.click("#theme");
    page.wait("document.getElementById('theme').textContent === 'Light'");
    page.click("#theme");
    page.wait(dark);
    page.call("Page.reload", json!({}));
    page.wait(&format!("{dark} && document.getElementById('theme').textContent === 'Dark'"));
    page.click("#theme");
    page.wait(&format!("!({dark})"));
    page.set_window(1280, 900, "dark");
    page.wait(dark);
    assert_no_messages(&page);
}
