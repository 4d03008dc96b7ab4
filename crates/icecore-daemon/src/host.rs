//! Host name that a client requests. It is in the header `Host`, or in the authority of an absolute request target.
//!
//! A name that is accepted here has only one interpretation. Some names are read as an address by some programs and
//! as a host name by others. Such a name is refused for every path, with or without a token.

use crate::failure::Failure;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, Uri, Version, header};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Host that a client requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    name: HostName,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostName {
    Address(IpAddr),
    /// Host name in lower case.
    Registered(String),
}

impl Host {
    /// Parses `host [ ":" port ]`, as in RFC 9110 (7.2) and RFC 3986 (3.2.2). Anything else, such as a user or a
    /// space, is an error. Only the address syntax of the RFC counts as an address. So `127.1`, `0x7f.0.0.1` and
    /// anything with a trailing dot are names.
    fn parse(text: &str) -> Option<Host> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']')?;
                // Zones and future address versions are refused, because browsers do not send them.
                let address = IpAddr::V6(address.parse::<Ipv6Addr>().ok()?);
                let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
                (HostName::Address(address), port)
            }
            None => {
                let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
                if name.is_empty() || !is_registered_name(name) {
                    return None;
                }
                let name = match name.parse::<Ipv4Addr>() {
                    Ok(address) => HostName::Address(IpAddr::V4(address)),
                    Err(_) => HostName::Registered(name.to_ascii_lowercase()),
                };
                (name, port)
            }
        };
        let port = match port {
            // The RFC allows an empty port.
            None | Some("") => None,
            // Rust's parser also accepts a sign, but a port can't have one. So all bytes must be digits.
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
            Some(_) => return None,
        };
        Some(Host { name, port })
    }

    /// Returns whether this host is an address or `localhost`. A name server does not control such a host.
    pub fn is_address_or_localhost(&self) -> bool {
        match &self.name {
            HostName::Address(_) => true,
            HostName::Registered(name) => name == "localhost",
        }
    }

    /// Returns whether this host is the host of an origin such as `http://localhost:7340`.
    pub fn matches_origin(&self, origin: &str) -> bool {
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.and_then(Host::parse).is_some_and(|host| host == *self)
    }
}

/// Returns whether a name has only the characters of a registered name. In the RFC these are the unreserved
/// characters, the sub-delims, and `%XX`.
fn is_registered_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    while let Some(byte) = bytes.next() {
        let is_allowed = match byte {
            b'%' => {
                [bytes.next(), bytes.next()].iter().all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit()))
            }
            byte => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte),
        };
        if !is_allowed {
            return false;
        }
    }
    true
}

/// Returns the host that a request names. Returns `None` if the request does not name one, as HTTP/1.0 allows.
///
/// # Errors
/// If the request names several hosts or an invalid host, or if it names none although HTTP/1.1 requires one.
pub fn find_requested_host(
    method: &Method,
    target: &Uri,
    version: Version,
    headers: &HeaderMap,
) -> Result<Option<Host>, Failure> {
    let mut values = headers.get_all(header::HOST).iter();
    let header_host = match (values.next(), values.next()) {
        (Some(_), Some(_)) => return Err(host_failure("the request has more than one header `Host`")),
        (Some(value), None) => {
            let host = value.to_str().ok().and_then(Host::parse);
            Some(host.ok_or_else(|| host_failure("the header `Host` is not a host with or without a port"))?)
        }
        (None, _) if version >= Version::HTTP_11 => return Err(host_failure("the request has no header `Host`")),
        (None, _) => None,
    };
    let Some(authority) = target.authority().map(Authority::as_str) else { return Ok(header_host) };
    let target = Host::parse(authority).filter(|_| method != Method::CONNECT);
    let target = target.ok_or_else(|| host_failure("the target of the request does not belong to this daemon"))?;
    // The RFC gives the target precedence over the header. Honest clients send the same host in both, so a difference
    // is refused. 80 is the port of a host without a port.
    if header_host.is_some_and(|host| host.name != target.name || host.port.unwrap_or(80) != target.port.unwrap_or(80))
    {
        return Err(host_failure("the target of the request and the header `Host` name different hosts"));
    }
    Ok(Some(target))
}

fn host_failure(message: &str) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "host", message).closing_connection()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `None` if the text is not a valid host, otherwise whether that host needs no name server.
    fn needs_no_name_server(text: &str) -> Option<bool> {
        Host::parse(text).map(|host| host.is_address_or_localhost())
    }

    #[test]
    fn host_names_are_parsed_strictly() {
        for local in [
            "localhost",
            "LocalHost",
            "localhost:7340",
            "localhost:",
            "localhost:0007340",
            "127.0.0.1",
            "127.0.0.1:7340",
            "0.0.0.0:1",
            "10.1.2.3",
            "[::1]",
            "[::1]:7340",
            "[::]:1",
            "[::ffff:127.0.0.1]:7340",
            "[FE80::1]",
            "[::1]:",
        ] {
            assert_eq!(needs_no_name_server(local), Some(true), "{local}");
        }
        for foreign in [
            "evil.example",
            "evil.example:7340",
            "localhost.",
            "localhost.:7340",
            "localhost.evil",
            "localhost.evil:7340",
            "evil.localhost",
            "127.0.0.1.evil",
            "127.0.0.1.",
            "127.0.0.1.:7340",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "127.0.0.01",
            "%6cocalhost",
            "localhost%00",
            "localhost%2eevil",
            "localhos",
            "localhostt",
            "xn--localhost",
            "a,b",
            "localhost,evil",
            "localhost;evil",
            "1.2.3.4.5",
            "256.0.0.1",
        ] {
            assert_eq!(needs_no_name_server(foreign), Some(false), "{foreign}");
        }
        for none in [
            "",
            ":",
            ":7340",
            "[::1].evil",
            "[::1].evil:7340",
            "[::1]evil",
            "[::1]evil:7340",
            "[::1]:7340.evil",
            "[::1",
            "::1]",
            "::1",
            "::1:7340",
            "1::2:7340",
            "[]",
            "[]:1",
            "[127.0.0.1]",
            "[localhost]",
            "[::1%25lo]",
            "[::1%lo]",
            "[v1.x]",
            "[[::1]]",
            "[::1][::1]",
            "[::1]:7340:7340",
            "[::1]::",
            "localhost:7340:7340",
            "localhost::",
            "localhost:+80",
            "localhost:-1",
            "localhost:65536",
            "localhost:99999999999999999999",
            "localhost:http",
            "localhost:80 ",
            " localhost",
            "localhost ",
            "local host",
            "user@localhost",
            "localhost@evil.example",
            "user:pass@127.0.0.1",
            "@localhost",
            "localhost/",
            "localhost/evil",
            "localhost#",
            "localhost?",
            "localhost\\",
            "http://localhost",
            "//localhost",
            "localhost, evil.example",
            "localhost\t",
            "localhost\0",
            "lok\u{e4}lhost",
            "\u{ff4c}ocalhost",
            "%",
            "%4",
            "%zz",
            "localhost%",
            "\"localhost\"",
            "<localhost>",
            "{localhost}",
            "localhost^",
            "localhost|",
            "localhost`",
        ] {
            assert_eq!(needs_no_name_server(none), None, "{none:?}");
        }
    }

    /// Compares with the URI parser of another crate, for names that both accept.
    #[test]
    fn another_uri_parser_agrees_on_host_names() {
        let pieces = [
            "localhost",
            "evil.example",
            "127.0.0.1",
            "[::1]",
            "::1",
            "[",
            "]",
            ":",
            ":7340",
            "@",
            ".",
            "..",
            "%6c",
            "/",
            "?",
            "#",
            "\\",
            " ",
            "\t",
            ",",
            ";",
            "0",
            "x",
            "",
            "%",
            "[::ffff:7f00:1]",
            "user",
            "\u{e4}",
        ];
        let mut counts = [0, 0];
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    let text = format!("{first}{second}{third}");
                    let Some(host) = Host::parse(&text) else {
                        counts[0] += 1;
                        continue;
                    };
                    counts[1] += 1;
                    // The other parser does not accept `%XX` in a name.
                    let Ok(uri) = format!("http://{text}/").parse::<Uri>() else {
                        assert!(text.contains('%') && !host.is_address_or_localhost(), "{text:?}");
                        continue;
                    };
                    let name = match &host.name {
                        HostName::Address(IpAddr::V6(address)) => format!("[{address}]"),
                        HostName::Address(address) => address.to_string(),
                        HostName::Registered(name) => name.clone(),
                    };
                    let found = uri.host().expect("a host").to_ascii_lowercase();
                    let parse_address = |host: &str| host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
                    assert!(
                        found == name
                            || parse_address(&found).is_some_and(|address| parse_address(&name) == Some(address)),
                        "{text:?}"
                    );
                    assert_eq!(uri.port_u16(), host.port, "{text:?}");
                    assert!(
                        !host.is_address_or_localhost() || found == "localhost" || parse_address(&found).is_some(),
                        "{text:?}"
                    );
                }
            }
        }
        assert!(counts.iter().all(|count| *count > 1_000), "{counts:?}");
    }

    #[test]
    fn a_request_must_name_exactly_one_host() {
        let ask = |target: &str, version, hosts: &[&str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, host.parse().expect("a value"));
            }
            find_requested_host(&Method::GET, &target.parse().expect("a target"), version, &headers)
        };
        let (old, new) = (Version::HTTP_10, Version::HTTP_11);
        for (target, version, hosts) in [
            ("/", new, &["localhost"][..]),
            ("/", old, &["localhost:1"]),
            ("http://localhost/", new, &["localhost"]),
            ("http://LOCALHOST:1/", new, &["localhost:1"]),
            ("http://localhost:80/", new, &["localhost"]),
            ("http://localhost/", old, &[]),
            ("*", new, &["localhost"]),
        ] {
            let host = ask(target, version, hosts).unwrap_or_else(|_| panic!("{target} {hosts:?}"));
            assert!(host.is_some_and(|host| host.is_address_or_localhost()), "{target} {hosts:?}");
        }
        assert!(ask("/", old, &[]).is_ok_and(|host| host.is_none()));
        assert!(
            ask("http://evil.example/", old, &[])
                .is_ok_and(|host| host.is_some_and(|host| !host.is_address_or_localhost()))
        );
        for (target, version, hosts) in [
            ("/", new, &[][..]),
            ("/", new, &[""]),
            ("/", old, &[""]),
            ("/", new, &["localhost", "localhost"]),
            ("/", new, &["localhost", "evil.example"]),
            ("/", old, &["evil.example", "localhost"]),
            ("/", new, &["[::1].evil"]),
            ("http://localhost/", new, &[]),
            ("http://localhost/", new, &["evil.example"]),
            ("http://evil.example/", new, &["localhost"]),
            ("http://localhost:1/", new, &["localhost:2"]),
            ("http://user@localhost/", new, &["localhost"]),
            ("http://localhost/", new, &["localhost", "localhost"]),
        ] {
            let failure = ask(target, version, hosts).expect_err("refused");
            assert_eq!((failure.code, &*failure.body.kind), (StatusCode::BAD_REQUEST, "host"), "{target} {hosts:?}");
        }
    }

    #[test]
    fn an_http_or_https_origin_matches_by_host_and_port() {
        let host = Host::parse("localhost:7340").expect("a host");
        for (origin, is_same) in [
            ("http://localhost:7340", true),
            ("https://LOCALHOST:7340", true),
            ("http://localhost", false),
            ("http://localhost:7341", false),
            ("http://evil.example:7340", false),
            ("http://user@localhost:7340", false),
            ("http://localhost:7340/", false),
            ("ftp://localhost:7340", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(host.matches_origin(origin), is_same, "{origin}");
        }
    }
}
