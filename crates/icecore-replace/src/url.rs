//! The spellings of a URL.
//!
//! `https://old` is found as given, with the other one of `http` and `https`, and without a scheme. Each of these is
//! also found with `\/` (once or twice escaped), and percent-encoded. The scheme of the new URL replaces only the
//! given scheme of the old one. Another scheme stays.

use crate::error::{Error, format_for_message};
use crate::pair::{Edges, End, Pair, Spelling};

/// A URL as given to `--url`.
struct Address {
    is_encrypted: bool,
    /// Host, port and path, without a slash at the end.
    rest: Vec<u8>,
    has_path: bool,
}

impl Address {
    /// Parses an address: `https://` or `http://`, a host, and optionally a port and a path.
    fn parse(text: &[u8]) -> Result<Address, Error> {
        let (is_encrypted, rest) = match (text.strip_prefix(b"https://"), text.strip_prefix(b"http://")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => {
                let text = format!(
                    "{} is not an address: --url takes https://HOST or http://HOST, with a port and a path if needed; \
                     other text is a pair: OLD NEW, or -e OLD NEW",
                    format_for_message(text)
                );
                return Err(Error::new(text));
            }
        };
        let end = rest.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let rest = rest.get(..end).unwrap_or_default();
        let host = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
        let is_invalid = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'\\' | b'<' | b'>' | b'@' | b'%');
        if host.is_empty() || host.iter().any(is_invalid) || rest.iter().any(|byte| *byte <= b' ' || *byte == b'\\') {
            let text = format!(
                "{} is not an address of a host: --url takes https://HOST/PATH, without a user",
                format_for_message(text)
            );
            return Err(Error::new(text));
        }
        Ok(Address { is_encrypted, rest: rest.to_vec(), has_path: host.len() < rest.len() })
    }

    /// Returns the URL with this scheme, or without one.
    fn to_url(&self, is_encrypted: Option<bool>) -> Vec<u8> {
        let scheme: &[u8] = match is_encrypted {
            Some(true) => b"https://",
            Some(false) => b"http://",
            None => b"//",
        };
        [scheme, &self.rest].concat()
    }
}

/// How slashes, colons and the like are written.
#[derive(Clone, Copy)]
enum UrlEscaping {
    Plain,
    /// A slash is written as these bytes.
    Slash(&'static [u8]),
    /// Everything except letters of names is encoded, with these hexadecimal digits.
    Percent(&'static [u8; 16]),
    /// Only the colon is encoded, as by Python's `quote`.
    Colon(&'static [u8]),
}

const UPPER: &[u8; 16] = b"0123456789ABCDEF";
const LOWER: &[u8; 16] = b"0123456789abcdef";

/// All ways in which a URL is written.
const ESCAPINGS: [UrlEscaping; 8] = [
    UrlEscaping::Plain,
    UrlEscaping::Slash(b"\\/"),
    // JSON in JSON: first if both write `\/`, then if only one does.
    UrlEscaping::Slash(b"\\\\\\/"),
    UrlEscaping::Slash(b"\\\\/"),
    UrlEscaping::Percent(UPPER),
    UrlEscaping::Percent(LOWER),
    UrlEscaping::Colon(b"%3A"),
    UrlEscaping::Colon(b"%3a"),
];

impl UrlEscaping {
    fn encode_text(self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        for byte in text {
            match self {
                UrlEscaping::Slash(slash) if *byte == b'/' => out.extend_from_slice(slash),
                UrlEscaping::Colon(colon) if *byte == b':' => out.extend_from_slice(colon),
                UrlEscaping::Percent(digits) if !is_unreserved(*byte) => {
                    let digit = |value: u8| digits.get(usize::from(value)).copied().unwrap_or(b'0');
                    out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
                }
                _ => out.push(*byte),
            }
        }
        out
    }

    fn to_spelling(self, unescaped: Spelling) -> Spelling {
        match self {
            UrlEscaping::Plain => unescaped,
            UrlEscaping::Slash(_) => Spelling::Json,
            UrlEscaping::Percent(_) | UrlEscaping::Colon(_) => Spelling::Percent,
        }
    }
}

/// Returns the host that a URL should not leave: the host of the old one, if it has no path and the new one has another
/// host.
pub(crate) fn replaced_host(old: &[u8], new: &[u8]) -> Option<String> {
    let (old, new) = (Address::parse(old).ok()?, Address::parse(new).ok()?);
    let new_host = new.rest.split(|byte| *byte == b'/').next()?;
    let is_replaced = !old.has_path && !old.rest.eq_ignore_ascii_case(new_host);
    is_replaced.then(|| String::from_utf8(old.rest).ok()).flatten()
}

/// Returns the pairs for a URL and its replacement; the first one is the given pair.
pub(crate) fn build_url_pairs(old: &[u8], new: &[u8]) -> Result<Vec<Pair>, Error> {
    let (old, new) = (Address::parse(old)?, Address::parse(new)?);
    let end = if old.has_path { End::Path } else { End::Host };
    let schemes = [
        (Spelling::Given, Some(old.is_encrypted), Some(new.is_encrypted)),
        (Spelling::OtherScheme, Some(!old.is_encrypted), Some(!old.is_encrypted)),
        (Spelling::NoScheme, None, None),
    ];
    let mut pairs = Vec::new();
    for escaping in ESCAPINGS {
        for (spelling, old_scheme, new_scheme) in schemes {
            pairs.push(Pair {
                old: escaping.encode_text(&old.to_url(old_scheme)),
                new: escaping.encode_text(&new.to_url(new_scheme)),
                spelling: escaping.to_spelling(spelling),
                edges: Edges { no_scheme: old_scheme.is_none(), end },
            });
        }
    }
    Ok(pairs)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
