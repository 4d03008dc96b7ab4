//! The web page at `/`: static files that use the routes like any other client. They contain no data, so they need no
//! token.

use crate::answer::build_response;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;

/// Route name under which all files of the page are counted.
pub const ROUTE: &str = "/";

/// Scripts, images and requests are allowed only from this origin, and no other page may embed this one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every file.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-cache"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A file of the page.
pub struct Asset {
    pub path: &'static str,
    media: &'static str,
    text: &'static str,
}

impl Asset {
    pub fn to_response(&self) -> Response {
        let mut response = build_response(StatusCode::OK, self.media, self.text);
        for (name, value) in HEADERS {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JS: &str = "text/javascript; charset=utf-8";

macro_rules! asset {
    ($file:literal, $media:expr) => {
        Asset { path: concat!("/page/", $file), media: $media, text: include_str!(concat!("page/", $file)) }
    };
}

/// All files of the page.
pub static ASSETS: &[Asset] = &[
    Asset { path: "/", media: HTML, text: include_str!("page/index.html") },
    asset!("style.css", CSS),
    asset!("icon.svg", SVG),
    asset!("main.js", JS),
    asset!("api.js", JS),
    asset!("ask.js", JS),
    asset!("chart.js", JS),
    asset!("compare.js", JS),
    asset!("content.js", JS),
    asset!("dom.js", JS),
    asset!("history.js", JS),
    asset!("job.js", JS),
    asset!("jobs.js", JS),
    asset!("keys.js", JS),
    asset!("live.js", JS),
    asset!("object.js", JS),
    asset!("objects.js", JS),
    asset!("queues.js", JS),
    asset!("schedules.js", JS),
    asset!("table.js", JS),
    asset!("text.js", JS),
    asset!("theme.js", JS),
    asset!("tree.js", JS),
];
