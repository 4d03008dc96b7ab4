//! Session cookies of Plack: `Plack::Middleware::Session::Cookie`.

use super::{Changing, Unwrapped, Wrapper, WrapperEvidence};
use crate::base64;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};
use std::borrow::Cow;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "plack-session",
    title: "a session cookie of Plack: id, Base64 and a digest, with `:` between them",
    extension: "cookie",
    text: Some(true),
    layer: "session of the Plack cookie",
    options: &[
        OptionSpec {
            name: "key",
            takes: OptionType::Text,
            side: Side::Both,
            help: "the secret that checks and makes the digest",
        },
        OptionSpec { name: "id", takes: OptionType::Text, side: Side::Write, help: "the id of the session" },
    ],
    page: include_str!("plack_session.md"),
    detect: |input| {
        CookieParts::split(input).is_some_and(|parts| !parts.body.is_empty() && decode_body(parts.body).is_ok())
    },
    evidence: WrapperEvidence::Envelope,
    head: None,
    needed_settings: None,
    stream: None,
    changing: Changing::Never,
    unwrap,
    wrap,
};

/// The parts of a cookie. The digest is a dot if the application has no secret.
struct CookieParts<'a> {
    id: &'a str,
    body: &'a [u8],
    digest: &'a [u8],
}

impl CookieParts<'_> {
    fn split(input: &[u8]) -> Option<CookieParts<'_>> {
        let mut parts = input.trim_ascii_end().split(|byte| *byte == b':');
        let (id, body, digest) = (parts.next()?, parts.next()?, parts.next()?);
        let id = std::str::from_utf8(id).ok().filter(|id| id.bytes().all(|byte| byte.is_ascii_graphic()))?;
        let is_digest = digest == b"." || digest.len() == 40 && digest.iter().all(u8::is_ascii_hexdigit);
        (parts.next().is_none() && !id.is_empty() && is_digest).then_some(CookieParts { id, body, digest })
    }
}

fn decode_body(body: &[u8]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(body.len() / 4 * 3);
    base64::decode_base64(body, &mut bytes).map(|()| bytes).map_err(|offset| {
        let found = body.get(offset).map_or("its end".to_owned(), |byte| format!("the byte 0x{byte:02x}"));
        Error::new(ErrorKind::Malformed).at(offset.min(body.len())).expecting("Base64").finding(found)
    })
}

fn unwrap<'a>(input: &'a [u8], settings: &Settings, _: &Limits) -> Result<Unwrapped<'a>, Error> {
    let parts = CookieParts::split(input).ok_or_else(|| {
        Error::new(ErrorKind::Malformed)
            .expecting("an id, Base64, and a digest of 40 hex digits, with `:` between them")
            .finding("other text")
    })?;
    let verdict = match settings.text("key") {
        None => "not checked: no key was given",
        Some(key) => {
            check_digest(&parts, key)?;
            "fits the key"
        }
    };
    let digest = String::from_utf8_lossy(parts.digest);
    let remarks = vec![("id", parts.id.to_owned()), ("digest", format!("SHA-1 {digest}, {verdict}"))];
    let unchecked = settings.text("key").is_none().then_some("signature");
    Ok(Unwrapped { unchecked, ..Unwrapped::new(Cow::Owned(decode_body(parts.body)?), remarks) }.with_metadata(
        WRAPPER.name,
        "id",
        Some(parts.id.to_owned()),
    ))
}

#[cfg(feature = "signatures")]
fn check_digest(parts: &CookieParts<'_>, key: &str) -> Result<(), Error> {
    use super::signature::constant_time_eq;
    match constant_time_eq(&make_digest(parts.body, key), &parts.digest.to_ascii_lowercase()) {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Malformed)
            .expecting("a digest that fits the key")
            .finding("another one: the cookie or the key is wrong")),
    }
}

/// Returns the digest of the Base64 text in hex digits.
#[cfg(feature = "signatures")]
fn make_digest(body: &[u8], key: &str) -> Vec<u8> {
    use super::signature::{Digest, push_hex_digits};
    let mut digits = Vec::new();
    push_hex_digits(&Digest::Sha1.digest_message(key.as_bytes(), body), &mut digits);
    digits
}

#[cfg(feature = "signatures")]
fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    let required = |name: &str| {
        settings.text(name).ok_or_else(|| {
            let expected = format!("the option {name}: plack-session:key=…,id=…");
            Error::new(ErrorKind::Usage).expecting(expected).finding("none")
        })
    };
    let (key, id) = (required("key")?, required("id")?);
    out.extend_from_slice(format!("{id}:").as_bytes());
    let start = out.len();
    base64::encode_base64(content, out);
    let digest = make_digest(&out[start..], key);
    out.push(b':');
    out.extend_from_slice(&digest);
    Ok(())
}

#[cfg(not(feature = "signatures"))]
fn check_digest(_: &CookieParts<'_>, _: &str) -> Result<(), Error> {
    Err(super::rails_signed::unsupported_error())
}

#[cfg(not(feature = "signatures"))]
fn wrap(_: &[u8], _: &Settings, _: &mut Vec<u8>) -> Result<(), Error> {
    Err(super::rails_signed::unsupported_error())
}
