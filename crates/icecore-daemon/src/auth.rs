//! Authentication of requests.

use crate::failure::Failure;
use crate::host::Host;
use axum::http::{HeaderMap, StatusCode, header};
use icecore_store::describe::compute_checksum;

/// Checks whether a client may make a request.
pub struct Auth {
    /// The checksum of the token.
    token_checksum: Option<String>,
}

impl Auth {
    pub fn new(token: Option<&str>) -> Auth {
        Auth { token_checksum: token.map(|token| compute_checksum(token.as_bytes())) }
    }

    /// Checks whether a request with these headers, for this host name, may be answered.
    pub fn check_request(&self, host: Option<&Host>, headers: &HeaderMap) -> Result<(), Failure> {
        let Some(token_checksum) = &self.token_checksum else { return check_browser(host, headers) };
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        // If the request has two such headers, both are ignored, because it is ambiguous which one counts.
        let authorization = values.next().filter(|_| values.next().is_none()).map_or(&[][..], |value| value.as_bytes());
        let is_bearer = authorization.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"bearer "));
        let token = if is_bearer { authorization[7..].trim_ascii() } else { &[] };
        if is_bearer && equals_in_constant_time(compute_checksum(token).as_bytes(), token_checksum.as_bytes()) {
            return Ok(());
        }
        let message = "this request needs the header `Authorization: Bearer TOKEN` with the daemon's token";
        Err(Failure::new(StatusCode::UNAUTHORIZED, "token", message))
    }

    /// Returns whether requests need a token.
    pub fn has_token(&self) -> bool {
        self.token_checksum.is_some()
    }
}

/// Compares two values in constant time. Callers pass checksums of tokens, so that the time does not depend on the
/// length of a token either.
fn equals_in_constant_time(left: &[u8], right: &[u8]) -> bool {
    let difference = left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right));
    left.len() == right.len() && std::hint::black_box(difference) == 0
}

/// Checks a request to a daemon without a token. Such a daemon trusts local programs, but not the web pages in local
/// browsers. A request of a page has the header `Origin`, and this header must name the daemon. With DNS rebinding,
/// the host name of a page resolves to the address of the daemon, and the page sends this name as its host. So only
/// IP addresses and `localhost` are accepted as hosts, because a name server does not control them. A request of
/// HTTP/1.0 without a host does not come from a browser.
fn check_browser(host: Option<&Host>, headers: &HeaderMap) -> Result<(), Failure> {
    // Returns the only value of a header: `None` if there are several values or it is not text, `Some(None)` if there
    // is not a value.
    let single_value = |name: &str| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Some(None),
            (Some(value), None) => value.to_str().ok().map(Some),
            _ => None,
        }
    };
    let is_trusted_host = host.is_none_or(Host::is_address_or_localhost);
    let is_same_origin = match single_value(header::ORIGIN.as_str()) {
        Some(None) => true,
        Some(Some(origin)) => host.is_some_and(|host| host.matches_origin(origin)),
        None => false,
    };
    // Requests without `Origin`, such as for an image on another page, have at least this header.
    let is_same_site = match single_value("sec-fetch-site") {
        Some(site) => site.is_none_or(|site| matches!(site, "same-origin" | "none")),
        None => false,
    };
    if is_trusted_host && is_same_origin && is_same_site {
        return Ok(());
    }
    let message =
        "pages of other sites may not send requests to a daemon without a token; use its address or localhost";
    Err(Failure::new(StatusCode::FORBIDDEN, "origin", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host;
    use axum::http::{Method, Uri, Version};

    fn host(headers: &HeaderMap) -> Option<Host> {
        host::find_requested_host(&Method::GET, &Uri::from_static("/"), Version::HTTP_10, headers).expect("a host")
    }

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }

    #[test]
    fn requests_without_the_token_are_refused() {
        let auth = Auth::new(Some("secret"));
        for (value, is_right) in [
            ("Bearer secret", true),
            ("bearer  secret", true),
            ("Bearer secre", false),
            ("Basic secret", false),
            ("", false),
        ] {
            assert_eq!(
                auth.check_request(None, &headers(&[(header::AUTHORIZATION, value)])).is_ok(),
                is_right,
                "{value}"
            );
        }
        assert!(auth.check_request(None, &HeaderMap::new()).is_err());
        let mut two = headers(&[(header::AUTHORIZATION, "Bearer secret")]);
        two.append(header::AUTHORIZATION, "Bearer secret".parse().expect("a value"));
        assert!(auth.check_request(None, &two).is_err());
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let auth = Auth::new(None);
        let own_origin = "http://localhost:7340";
        for (host, origin, site, is_right) in [
            ("127.0.0.1:7340", None, None, true),
            ("[::1]:7340", None, None, true),
            ("localhost:7340", Some(own_origin), None, true),
            ("localhost:7340", Some(own_origin), Some("same-origin"), true),
            ("localhost:7340", None, Some("none"), true),
            ("localhost:7340", None, Some("cross-site"), false),
            // Another port of this machine.
            ("localhost:7340", None, Some("same-site"), false),
            ("localhost:7340", Some("http://localhost:3000"), Some("same-site"), false),
            ("localhost:7340", Some("http://evil.example"), None, false),
            ("localhost:7340", Some("null"), None, false),
            ("evil.example:7340", None, None, false),
            // A name that an attacker makes resolve to this address.
            ("evil.example:7340", Some("http://evil.example:7340"), Some("same-origin"), false),
            ("127.0.0.1.evil.example:7340", None, None, false),
        ] {
            let mut pairs = vec![(header::HOST, host)];
            pairs.extend(origin.map(|origin| (header::ORIGIN, origin)));
            pairs.extend(site.map(|site| (header::HeaderName::from_static("sec-fetch-site"), site)));
            let headers = headers(&pairs);
            assert_eq!(
                auth.check_request(self::host(&headers).as_ref(), &headers).is_ok(),
                is_right,
                "{host} {origin:?} {site:?}"
            );
        }
    }

    #[test]
    fn repeated_headers_are_refused() {
        let auth = Auth::new(None);
        for (name, value) in [("origin", "http://localhost:7340"), ("sec-fetch-site", "same-origin")] {
            let mut all = headers(&[(header::HOST, "localhost:7340")]);
            for is_right in [true, false] {
                all.append(header::HeaderName::from_static(name), value.parse().expect("a value"));
                assert_eq!(auth.check_request(host(&all).as_ref(), &all).is_ok(), is_right, "{name}");
            }
        }
        // Without a host name, no origin can be equal to it.
        assert!(auth.check_request(None, &HeaderMap::new()).is_ok());
        assert!(auth.check_request(None, &headers(&[(header::ORIGIN, "http://localhost")])).is_err());
    }
}
