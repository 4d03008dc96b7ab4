//! Server and connection settings, parsed from an address.

use crate::address::{Address, percent_decode};
#[cfg(feature = "redis")]
use crate::driver::tls;
use crate::error::{Error, ErrorKind, Result};
use std::path::PathBuf;
use std::time::Duration;

/// Default for how long a server may be silent.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Tcp(String, u16),
    Unix(PathBuf),
}

#[derive(Clone)]
pub(super) struct ServerAddress {
    pub(super) host: Host,
    #[cfg_attr(not(feature = "redis"), allow(dead_code, reason = "only Redis needs it"))]
    pub(super) user: Option<String>,
    #[cfg_attr(not(feature = "redis"), allow(dead_code, reason = "only Redis needs it"))]
    pub(super) password: Option<String>,
    /// Number of the Redis database.
    #[cfg_attr(not(feature = "redis"), allow(dead_code, reason = "only Redis needs it"))]
    pub(super) database: u64,
    /// How long the server may be silent.
    pub(super) patience: Duration,
    #[cfg(feature = "redis")]
    #[cfg_attr(not(feature = "tls"), allow(dead_code, reason = "only encrypted connections need it"))]
    pub(super) tls: Option<tls::Tls>,
    /// Address without a password.
    pub(super) display_address: String,
}

impl ServerAddress {
    /// Parses an address. `port` is the default port.
    pub(super) fn from_address(address: &Address, port: u16) -> Result<ServerAddress> {
        let displayed = address.to_string();
        let address_error = |message: &str| Error::new(ErrorKind::Address, format!("{displayed}: {message}"));
        #[cfg(feature = "redis")]
        let (text, tls) = tls::split_address(address)?;
        #[cfg(not(feature = "redis"))]
        let text = address.text_with_secrets().to_owned();
        let (scheme, rest) = text.split_once("://").unwrap_or((&text, ""));
        let (authority, rest) = rest.split_at(address.find_authority_end(rest));
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = user.split_once(':').map_or((user, None), |(user, password)| (user, Some(password)));
        let mut server = ServerAddress {
            host: Host::Unix(PathBuf::new()),
            user: Some(percent_decode(user)).filter(|user| !user.is_empty()),
            password: password.map(percent_decode).or_else(|| address.password().map(str::to_owned)),
            database: 0,
            patience: DEFAULT_TIMEOUT,
            #[cfg(feature = "redis")]
            tls: select_encryption(scheme, tls).map_err(address_error)?,
            display_address: displayed.clone(),
        };
        let parse_database =
            |text: &str| text.parse().map_err(|_| address_error("the database of Redis must be a number"));
        if scheme.ends_with("+unix") {
            if path.is_empty() || !host.is_empty() {
                return Err(address_error("the address of a socket must look like redis+unix:///run/redis.sock?db=0"));
            }
            server.host = Host::Unix(PathBuf::from(percent_decode(path)));
        } else {
            server.host = parse_tcp_host(host, port)
                .ok_or_else(|| address_error("the address of a server must look like redis://host:6379/0"))?;
            match path.trim_matches('/') {
                "" => {}
                database if scheme.starts_with("redis") => server.database = parse_database(database)?,
                _ => return Err(address_error("memcached has no databases")),
            }
        }
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "timeout" => {
                    let seconds = value.parse().ok().filter(|seconds: &u64| (1..=86_400).contains(seconds));
                    let seconds =
                        seconds.ok_or_else(|| address_error("timeout must be a number of seconds from 1 to 86400"))?;
                    server.patience = Duration::from_secs(seconds);
                }
                "db" if scheme.starts_with("redis") => server.database = parse_database(value)?,
                // The message does not quote the parameter, because it may be a secret.
                _ => {
                    return Err(address_error(
                        "it accepts the parameters timeout and db, and with rediss: also sslmode and sslrootcert",
                    ));
                }
            }
        }
        Ok(server)
    }
}

/// Returns the encryption settings. `rediss` verifies certificate and host name, unless `sslmode` says otherwise.
#[cfg(feature = "redis")]
fn select_encryption(scheme: &str, mut settings: tls::Tls) -> std::result::Result<Option<tls::Tls>, &'static str> {
    use tls::Mode;
    match (scheme, settings.mode) {
        ("rediss", Mode::Disable) => Err("rediss: is always encrypted; use redis: for an unencrypted connection"),
        ("rediss", _) if cfg!(not(feature = "tls")) => {
            Err("this build does not support encrypted connections (feature tls)")
        }
        ("rediss", mode) => {
            settings.mode = if mode == Mode::Prefer { Mode::VerifyFull } else { mode };
            Ok(Some(settings))
        }
        (_, Mode::Prefer | Mode::Disable) if settings.authorities.is_none() => Ok(None),
        _ => Err("use rediss: for an encrypted connection"),
    }
}

/// Parses `host`, `host:port` or `[address]:port`.
fn parse_tcp_host(text: &str, port: u16) -> Option<Host> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port = match rest.strip_prefix(':') {
        Some(digits) => digits.parse().ok()?,
        None if rest.is_empty() => port,
        None => return None,
    };
    let host = if host.is_empty() { "localhost".to_owned() } else { percent_decode(host) };
    Some(Host::Tcp(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_address(text: &str) -> Result<ServerAddress> {
        ServerAddress::from_address(&text.parse()?, 1)
    }

    #[test]
    fn addresses_of_memcached_are_parsed() {
        for (text, host, port) in [
            ("memcached://cache", "cache", 1),
            ("memcached://cache:11211", "cache", 11211),
            ("memcached://", "localhost", 1),
            ("memcached://[::1]:5/?timeout=2", "::1", 5),
        ] {
            let place = parse_address(text).expect(text);
            assert_eq!(place.host, Host::Tcp(host.to_owned(), port), "{text}");
        }
        let place = parse_address("memcached+unix:///run/a%20b?timeout=3").expect("a socket");
        assert_eq!((place.host, place.patience), (Host::Unix("/run/a b".into()), Duration::from_secs(3)));
    }

    #[test]
    #[cfg(feature = "redis")]
    fn addresses_of_redis_are_parsed() {
        let place = parse_address("redis://ann:se%40c:r@[::1]:7/3?timeout=9").expect("an address");
        assert_eq!(place.host, Host::Tcp("::1".to_owned(), 7));
        assert_eq!((place.user.as_deref(), place.password.as_deref()), (Some("ann"), Some("se@c:r")));
        assert_eq!((place.database, &*place.display_address), (3, "redis://ann@[::1]:7/3?timeout=9"));
        let place = self::parse_address("redis+unix://:secret@/run/redis.sock?db=2").expect("a socket");
        assert_eq!((place.user, place.password.as_deref(), place.database), (None, Some("secret"), 2));
        #[cfg(feature = "tls")]
        {
            let mode = |text: &str| self::parse_address(text).expect(text).tls.map(|tls| tls.mode);
            assert_eq!(mode("rediss://h"), Some(tls::Mode::VerifyFull));
            assert_eq!(mode("rediss://h?sslmode=require"), Some(tls::Mode::Require));
            assert_eq!(mode("redis://h"), None);
        }
    }

    #[test]
    fn refused_addresses_are_not_shown() {
        for text in [
            "memcached://h:x/",
            "memcached://h/1",
            "memcached://[::1",
            "memcached://h?hunter2=1",
            "memcached://h?timeout=0",
            "memcached+unix://",
            "memcached+unix://h/run/a",
        ] {
            let error = parse_address(text).map(|_| ()).expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Address, "{text}");
        }
        #[cfg(feature = "redis")]
        for text in
            ["redis://:hunter2@h/x", "redis://:hunter2@h?sslmode=require", "rediss://:hunter2@h?sslmode=disable"]
        {
            let error = parse_address(text).map(|_| ()).expect_err(text);
            assert!(!error.to_string().contains("hunter"), "{error}");
        }
    }
}
