//! Signed messages and cookies of Rails: `ActiveSupport::MessageVerifier`.

use super::rails_envelope::{MessageEnvelope, open_envelope};
use super::{Changing, Unwrapped, Wrapper, WrapperEvidence};
use crate::base64;
use crate::document::Metadata;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};
use std::borrow::Cow;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "rails-signed",
    title: "a signed message or cookie of Rails: Base64, `--` and a digest",
    extension: "signed",
    text: Some(true),
    layer: "signed message",
    options: &[
        OptionSpec {
            name: "key",
            takes: OptionType::Text,
            side: Side::Both,
            help: "the key that checks and makes the digest; with `salt`, the secret that the key is derived from",
        },
        OptionSpec {
            name: "salt",
            takes: OptionType::Text,
            side: Side::Both,
            help: "derive the key from a secret, for a cookie with the salt `signed cookie`",
        },
        OptionSpec {
            name: "iterations",
            takes: OptionType::Number(1, 1 << 20),
            side: Side::Both,
            help: "how often the derivation is repeated; 1000 by default",
        },
        OptionSpec {
            name: "derive",
            takes: OptionType::Choice(&["sha256", "sha1", "sha512"]),
            side: Side::Both,
            help: "the digest that a key is derived with: sha256 since Rails 7.0, sha1 before",
        },
        OptionSpec {
            name: "digest",
            takes: OptionType::Choice(&["sha1", "sha256", "sha512"]),
            side: Side::Write,
            help: "the digest that a message is signed with",
        },
        OptionSpec {
            name: "expires",
            takes: OptionType::Text,
            side: Side::Write,
            help: "when the message expires, as `2030-01-01T00:00:00.000Z`; never by default",
        },
        OptionSpec {
            name: "purpose",
            takes: OptionType::Text,
            side: Side::Write,
            help: "the purpose of the message; it is valid only for this purpose",
        },
        OptionSpec {
            name: "envelope",
            takes: OptionType::Choice(&["message", "data"]),
            side: Side::Write,
            help: "how expiry and purpose are written: around Base64, or, since Rails 7.1, around the JSON itself",
        },
        OptionSpec {
            name: "percent",
            takes: OptionType::Flag,
            side: Side::Write,
            help: "write `+`, `/` and `=` as browsers and servers escape them in cookies: `%2B`, `%2F`, `%3D`",
        },
    ],
    page: include_str!("rails_signed.md"),
    detect,
    evidence: WrapperEvidence::Envelope,
    head: None,
    needed_settings: None,
    stream: None,
    changing: Changing::Never,
    unwrap,
    wrap,
};

/// The text before the digest.
const SEPARATOR: &[u8] = b"--";

/// Splits the input into the message, the digest in hex digits, and the digest in bytes.
fn split_message(input: &[u8]) -> Option<(&[u8], &str, Vec<u8>)> {
    let input = input.trim_ascii_end();
    let digits = input.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (front, digest) = input.split_at(input.len() - digits);
    let message = front.strip_suffix(SEPARATOR)?;
    let digest = std::str::from_utf8(digest).ok().filter(|digest| matches!(digest.len(), 40 | 64 | 128))?;
    let bytes = (0..digest.len()).step_by(2).map(|start| u8::from_str_radix(&digest[start..start + 2], 16));
    Some((message, digest, bytes.collect::<Result<_, _>>().ok()?))
}

fn detect(input: &[u8]) -> bool {
    split_message(input).is_some_and(|(message, ..)| !message.is_empty() && decode_message(message).is_ok())
}

/// Decodes Base64 in either alphabet, with or without padding; `%3D` and the like are unescaped, because browsers
/// escape them.
fn decode_message(message: &[u8]) -> Result<Vec<u8>, Error> {
    let mut text = Vec::with_capacity(message.len() + 3);
    let mut rest = message;
    while let [byte, after @ ..] = rest {
        rest = after;
        text.push(match (byte, after) {
            (b'-', _) => b'+',
            (b'_', _) => b'/',
            (b'%', [b'3', b'D' | b'd', more @ ..]) => {
                rest = more;
                b'='
            }
            (b'%', [b'2', b'B' | b'b', more @ ..]) => {
                rest = more;
                b'+'
            }
            (b'%', [b'2', b'F' | b'f', more @ ..]) => {
                rest = more;
                b'/'
            }
            // Rack breaks Base64 into lines.
            (b'%', [b'0', b'A' | b'a', more @ ..]) => {
                rest = more;
                continue;
            }
            (b'\n', _) => continue,
            _ => *byte,
        });
    }
    if text.last() != Some(&b'=') {
        text.resize(text.len().next_multiple_of(4), b'=');
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    base64::decode_base64(&text, &mut out).map(|()| out).map_err(|offset| {
        let found = message.get(offset).map_or("its end".to_owned(), |byte| format!("the byte 0x{byte:02x}"));
        Error::new(ErrorKind::Malformed).at(offset.min(message.len())).expecting("Base64").finding(found)
    })
}

fn unwrap<'a>(input: &'a [u8], settings: &Settings, limits: &Limits) -> Result<Unwrapped<'a>, Error> {
    let (message, digits, digest) = split_message(input).ok_or_else(|| {
        Error::new(ErrorKind::Malformed)
            .at(input.len())
            .expecting("`--` and a digest of 40, 64 or 128 hex digits at the end")
            .finding("none")
    })?;
    let digest_name = match digits.len() {
        40 => "SHA-1",
        64 => "SHA-256",
        _ => "SHA-512",
    };
    let verdict = match settings.text("key") {
        None => "not checked: no key was given",
        Some(_) => {
            // The signature was made before the message was escaped for the browser.
            let message = unescape_percent(message);
            check_signature(&message, &digest, settings)?;
            "fits the key"
        }
    };
    let mut remarks = vec![("digest", format!("{digest_name} {digits}, {verdict}"))];
    let bytes = decode_message(message)?;
    let (bytes, details) =
        open_envelope(&bytes, limits, decode_message).unwrap_or_else(|| (bytes, MessageEnvelope::default()));
    remarks.extend(
        [("expires", &details.expires), ("purpose", &details.purpose)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.clone()?))),
    );
    let unchecked = settings.text("key").is_none().then_some("signature");
    let mut unwrapped = Unwrapped { unchecked, ..Unwrapped::new(Cow::Owned(bytes), remarks) }
        .with_metadata(WRAPPER.name, "expires", details.expires)
        .with_metadata(WRAPPER.name, "purpose", details.purpose);
    if details.has_data {
        let value = "data".to_owned();
        unwrapped.metadata.push(Metadata { wrapper: WRAPPER.name, option: "envelope", value, is_form: true });
    }
    if message.contains(&b'%') {
        let value = "yes".to_owned();
        unwrapped.metadata.push(Metadata { wrapper: WRAPPER.name, option: "percent", value, is_form: true });
    }
    // A message that is signed again gets the same kind of digest.
    let value = digest_name.replace('-', "").to_ascii_lowercase();
    unwrapped.metadata.push(Metadata { wrapper: WRAPPER.name, option: "digest", value, is_form: true });
    Ok(unwrapped)
}

/// Decodes `%3D` and the like, which browsers write for characters of Base64.
fn unescape_percent(message: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(message);
    text.replace("%3D", "=")
        .replace("%3d", "=")
        .replace("%2B", "+")
        .replace("%2b", "+")
        .replace("%2F", "/")
        .replace("%2f", "/")
        .replace("%0A", "\n")
        .replace("%0a", "\n")
        .into_bytes()
}

#[cfg(feature = "signatures")]
fn signing_key(settings: &Settings) -> Option<Vec<u8>> {
    use super::signature::Digest;
    let key = settings.text("key")?.as_bytes();
    let iterations = settings.number("iterations").and_then(|count| u32::try_from(count).ok()).unwrap_or(1000);
    Some(match settings.text("salt") {
        Some(salt) => {
            let digest = Digest::from_name(settings.choice("derive").or(Some("sha256")));
            digest.derive_key(key, salt.as_bytes(), iterations)
        }
        None => key.to_vec(),
    })
}

#[cfg(feature = "signatures")]
fn check_signature(message: &[u8], digest: &[u8], settings: &Settings) -> Result<(), Error> {
    use super::signature::{Digest, constant_time_eq};
    let algorithm = Digest::from_length(digest.len());
    let fits = algorithm
        .zip(signing_key(settings))
        .is_some_and(|(algorithm, key)| constant_time_eq(&algorithm.digest_message(&key, message), digest));
    match fits {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Malformed)
            .expecting("a digest that fits the key")
            .finding("another one: the message or the key is wrong")
            .helping("a cookie needs salt='signed cookie', one of Rails before 7.0 derive=sha1 as well")),
    }
}

#[cfg(feature = "signatures")]
fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    use super::rails_envelope::make_envelope;
    use super::signature::{Digest, push_hex_digits};
    let key = signing_key(settings).ok_or_else(|| {
        Error::new(ErrorKind::Usage)
            .expecting("a key to sign with: the option `key`, and for a cookie also `salt`, as 'signed cookie'")
            .finding("none")
    })?;
    let envelope = MessageEnvelope {
        has_data: settings.choice("envelope") == Some("data"),
        expires: settings.text("expires").map(str::to_owned),
        purpose: settings.text("purpose").map(str::to_owned),
    };
    let start = out.len();
    if envelope.expires.is_some() || envelope.purpose.is_some() {
        base64::encode_base64(&make_envelope(content, &envelope)?, out);
    } else {
        base64::encode_base64(content, out);
    }
    let digest = Digest::from_name(settings.choice("digest")).digest_message(&key, &out[start..]);
    if settings.flag("percent") {
        let message = out.split_off(start);
        for byte in message {
            match byte {
                b'+' => out.extend_from_slice(b"%2B"),
                b'/' => out.extend_from_slice(b"%2F"),
                b'=' => out.extend_from_slice(b"%3D"),
                _ => out.push(byte),
            }
        }
    }
    out.extend_from_slice(SEPARATOR);
    push_hex_digits(&digest, out);
    Ok(())
}

#[cfg(not(feature = "signatures"))]
pub(super) fn unsupported_error() -> Error {
    Error::new(ErrorKind::Unsupported)
        .expecting("no key")
        .finding("one")
        .helping("this build of icecore lacks digests: build it with the feature `signatures`")
}

#[cfg(not(feature = "signatures"))]
fn check_signature(_: &[u8], _: &[u8], _: &Settings) -> Result<(), Error> {
    Err(unsupported_error())
}

#[cfg(not(feature = "signatures"))]
fn wrap(_: &[u8], _: &Settings, _: &mut Vec<u8>) -> Result<(), Error> {
    Err(unsupported_error())
}
