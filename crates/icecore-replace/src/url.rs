//! The spellings of a URL.
//!
//! `https://old` is found as given, with the other one of `http` and `https`, and without a scheme; each of these also
//! with `\/` (once or twice escaped) and percent-encoded. A scheme other than the given one stays: NEW's scheme is used
//! only where OLD's was.

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
    fn parse(text: &[u8]) -> Result<Address, Error> {
        let (is_encrypted, rest) = match (text.strip_prefix(b"https://"), text.strip_prefix(b"http://")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => {
                let text = format!(
                    "{} is not an address: --url takes https://HOST or http://HOST, with a port and a path if need be; \
                     other text is a pair: OLD NEW, or -e OLD NEW",
                    format_for_message(text)
                );
                return Err(Error::new(text));
            }
        };
        let end = rest.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let rest = rest.get(..end).unwrap_or_default();
        let host = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
        let is_odd = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'\\' | b'<' | b'>' | b'@' | b'%');
        if host.is_empty() || host.iter().any(is_odd) || rest.iter().any(|byte| *byte <= b' ' || *byte == b'\\') {
            let text = format!(
                "{} is not the address of a host: --url takes https://HOST/PATH, without a user",
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
    Slash(&'static [u8]),
    /// Everything except letters of names is encoded, with these hexadecimal digits.
    Percent(&'static [u8; 16]),
    /// Only the colon, as Python's `quote` does.
    Colon(&'static [u8]),
}

const UPPER: &[u8; 16] = b"0123456789ABCDEF";
const LOWER: &[u8; 16] = b"0123456789abcdef";

const LETTERS: [UrlEscaping; 8] = [
    UrlEscaping::Plain,
    UrlEscaping::Slash(b"\\/"),
    // JSON in JSON, if both or only one of the two writes `\/`.
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

    fn to_spelling(self, scheme: Spelling) -> Spelling {
        match self {
            UrlEscaping::Plain => scheme,
            UrlEscaping::Slash(_) => Spelling::Json,
            UrlEscaping::Percent(_) | UrlEscaping::Colon(_) => Spelling::Percent,
        }
    }
}

/// Returns the pairs for a URL and its replacement; the first one is the given pair.
pub(crate) fn build_url_pairs(old: &[u8], new: &[u8]) -> Result<Vec<Pair>, Error> {
    let (old, new) = (Address::parse(old)?, Address::parse(new)?);
    let end = if old.has_path { End::Path } else { End::Host };
    let (own, other) = (old.is_encrypted, !old.is_encrypted);
    let schemes = [
        (Spelling::Given, Some(own), Some(new.is_encrypted)),
        (Spelling::OtherScheme, Some(other), Some(other)),
        (Spelling::NoScheme, None, None),
    ];
    let mut pairs = Vec::new();
    for letters in LETTERS {
        for (name, before, after) in schemes {
            pairs.push(Pair {
                old: letters.encode_text(&old.to_url(before)),
                new: letters.encode_text(&new.to_url(after)),
                spelling: letters.to_spelling(name),
                edges: Edges { no_scheme: before.is_none(), end },
            });
        }
    }
    Ok(pairs)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
