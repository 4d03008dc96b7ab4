//! Encryption of connections, as an address specifies it.
//!
//! `sslmode` and `sslrootcert` have the same meaning as in PostgreSQL's own programs. MySQL's names for these
//! settings are accepted too.

#[cfg(all(feature = "tls", feature = "postgres"))]
pub(super) mod stream;
#[cfg(all(feature = "tls", any(feature = "postgres", feature = "redis")))]
mod verifier;
#[cfg(all(feature = "tls", feature = "redis"))]
pub(crate) use verifier::client_config;

use crate::address::{Address, percent_decode};
use crate::error::{Error, ErrorKind, Result};
use std::path::PathBuf;

/// Required security of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Mode {
    /// Not encrypted.
    Disable,
    /// Encrypted if possible. This does not protect against anyone who can modify the traffic.
    Prefer,
    /// Encrypted, with any server.
    Require,
    /// The server's certificate must come from a trusted authority.
    VerifyAuthority,
    /// In addition, the certificate must match the host name.
    VerifyFull,
}

/// Encryption settings of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tls {
    pub(crate) mode: Mode,
    /// File with trusted authorities. If it is `None`, the authorities that browsers trust are used.
    pub(crate) authorities: Option<PathBuf>,
}

fn parse_mode(name: &str) -> Option<Mode> {
    Some(match name.to_ascii_lowercase().replace('_', "-").as_str() {
        "disable" | "disabled" => Mode::Disable,
        "allow" | "prefer" | "preferred" => Mode::Prefer,
        "require" | "required" => Mode::Require,
        "verify-ca" => Mode::VerifyAuthority,
        "verify-full" | "verify-identity" => Mode::VerifyFull,
        _ => return None,
    })
}

/// Splits an address into the address for a driver and the encryption settings.
pub(crate) fn split_address(address: &Address) -> Result<(String, Tls)> {
    let address_error = |message: &str| Error::new(ErrorKind::Address, format!("{address}: {message}"));
    let mut tls = Tls { mode: Mode::Prefer, authorities: None };
    let (text, query) = address.text_with_secrets().split_once('?').unwrap_or((address.text_with_secrets(), ""));
    let mut driver_parameters = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match name {
            "sslmode" | "ssl-mode" => {
                tls.mode = parse_mode(value).ok_or_else(|| {
                    address_error("sslmode must be disable, prefer, require, verify-ca or verify-full")
                })?;
            }
            "sslrootcert" | "ssl-ca" => tls.authorities = Some(PathBuf::from(percent_decode(value))),
            _ => driver_parameters.push(parameter),
        }
    }
    // As in PostgreSQL's own programs, naming an authority requires its verification.
    if tls.authorities.is_some() && tls.mode == Mode::Require {
        tls.mode = Mode::VerifyAuthority;
    }
    if cfg!(not(feature = "tls")) && tls.mode >= Mode::Require {
        return Err(address_error(
            "the address requires an encrypted connection, which this build does not support (feature tls)",
        ));
    }
    if let (Some(file), true) = (&tls.authorities, tls.mode != Mode::Disable)
        && let Err(error) = std::fs::File::open(file)
    {
        return Err(address_error(&format!("{}: {error}", file.display())));
    }
    let query = if driver_parameters.is_empty() { String::new() } else { format!("?{}", driver_parameters.join("&")) };
    Ok((format!("{text}{query}"), tls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_how_to_encrypt() {
        let split = |text: &str| split_address(&text.parse().expect("an address"));
        let (text, tls) = split("postgres://h/d?a=1&sslmode=disable&sslrootcert=/a%20b&c=2").expect("a driver's");
        assert_eq!(text, "postgres://h/d?a=1&c=2");
        assert_eq!(tls, Tls { mode: Mode::Disable, authorities: Some("/a b".into()) });
        assert_eq!(split("mysql://h/d").expect("a driver's").1.mode, Mode::Prefer);
        assert_eq!(split("mysql://h/d?sslmode=safe").expect_err("no mode").kind(), ErrorKind::Address);
        for (text, mode) in [
            ("postgres://h/d?sslmode=require", Mode::Require),
            (
                concat!("postgres://h/d?sslmode=require&sslrootcert=", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
                Mode::VerifyAuthority,
            ),
            ("mysql://h/d?ssl-mode=VERIFY_IDENTITY", Mode::VerifyFull),
        ] {
            match split(text) {
                Ok((_, tls)) => assert!(cfg!(feature = "tls") && tls.mode == mode),
                Err(error) => assert!(cfg!(not(feature = "tls")) && error.kind() == ErrorKind::Address),
            }
        }
    }
}
