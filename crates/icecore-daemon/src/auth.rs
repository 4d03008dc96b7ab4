//! Who may ask.

use crate::failure::Failure;
use axum::http::{HeaderMap, StatusCode, header};
use icecore_store::describe::checksum;

/// Checks who asks.
pub struct Auth {
    /// The checksum of the token.
    wanted: Option<String>,
}

impl Auth {
    pub fn new(token: Option<&str>) -> Auth {
        Auth { wanted: token.map(|token| checksum(token.as_bytes())) }
    }

    /// Whether this request may be answered.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let Some(wanted) = &self.wanted else { return check_browser(headers) };
        let given = headers.get(header::AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
        let is_bearer = given.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"bearer "));
        let token = if is_bearer { given[7..].trim_ascii() } else { &[] };
        if is_bearer && is_same(checksum(token).as_bytes(), wanted.as_bytes()) {
            return Ok(());
        }
        let message = "this needs the header `Authorization: Bearer TOKEN` with the token of the daemon";
        Err(Failure::new(StatusCode::UNAUTHORIZED, "token", message))
    }
}

/// Compares in the same time wherever the difference is. Of the checksums of tokens, so
/// that the time does not depend on their length either.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let difference = left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right));
    left.len() == right.len() && std::hint::black_box(difference) == 0
}

/// Without a token the daemon trusts the programs of this machine. A page in a browser is
/// none: it says where it comes from, or which name it took this address for.
fn check_browser(headers: &HeaderMap) -> Result<(), Failure> {
    const SITE: &str = "sec-fetch-site";
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let host = text(header::HOST.as_str()).unwrap_or("localhost");
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let is_own = name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok();
    let is_same = text(header::ORIGIN.as_str()).is_none_or(|origin| {
        origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
    });
    // What comes without `Origin`, as an image of another page, says at least this.
    let is_near = text(SITE).is_none_or(|site| matches!(site, "same-origin" | "none"));
    if is_own && is_same && is_near {
        return Ok(());
    }
    let message = "pages of other sites may not ask a daemon that has no token";
    Err(Failure::new(StatusCode::FORBIDDEN, "origin", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }

    #[test]
    fn the_token_has_to_be_there() {
        let auth = Auth::new(Some("secret"));
        for (value, is_right) in [
            ("Bearer secret", true),
            ("bearer  secret", true),
            ("Bearer secre", false),
            ("Basic secret", false),
            ("", false),
        ] {
            assert_eq!(auth.check(&headers(&[(header::AUTHORIZATION, value)])).is_ok(), is_right, "{value}");
        }
        assert!(auth.check(&HeaderMap::new()).is_err());
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let auth = Auth::new(None);
        let own = "http://localhost:7340";
        for (host, origin, site, is_right) in [
            ("127.0.0.1:7340", None, None, true),
            ("[::1]:7340", None, None, true),
            ("localhost:7340", Some(own), None, true),
            ("localhost:7340", Some(own), Some("same-origin"), true),
            ("localhost:7340", None, Some("none"), true),
            ("localhost:7340", None, Some("cross-site"), false),
            // Another port of this machine.
            ("localhost:7340", None, Some("same-site"), false),
            ("localhost:7340", Some("http://localhost:3000"), Some("same-site"), false),
            ("localhost:7340", Some("http://evil.example"), None, false),
            ("localhost:7340", Some("null"), None, false),
            ("evil.example:7340", None, None, false),
            // A name that an attacker lets this address have.
            ("evil.example:7340", Some("http://evil.example:7340"), Some("same-origin"), false),
            ("127.0.0.1.evil.example:7340", None, None, false),
        ] {
            let mut pairs = vec![(header::HOST, host)];
            pairs.extend(origin.map(|origin| (header::ORIGIN, origin)));
            pairs.extend(site.map(|site| (header::HeaderName::from_static("sec-fetch-site"), site)));
            assert_eq!(auth.check(&headers(&pairs)).is_ok(), is_right, "{host} {origin:?} {site:?}");
        }
    }
}
