//! The escapes of PHP's `addslashes`, with which Symfony Messenger stores serialized messages.

use super::{Changing, Unwrapped, Wrapper, WrapperEvidence, escapes};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::Settings;
use std::borrow::Cow;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "slashes",
    title: "text with backslashes before quotes, as PHP's addslashes writes",
    extension: "",
    text: None,
    layer: "text without its backslashes",
    options: &[],
    page: include_str!("slashes.md"),
    detect,
    evidence: WrapperEvidence::Envelope,
    head: None,
    needed_settings: None,
    stream: None,
    changing: Changing::Escaped(&[&escapes::Slashes { follows_c: false }, &escapes::Slashes { follows_c: true }]),
    unwrap,
    wrap,
};

/// Detects a serialized value whose first quote is escaped.
fn detect(input: &[u8]) -> bool {
    let Some(offset) = input.iter().position(|byte| *byte == b'"') else { return false };
    offset > 0 && input[offset - 1] == b'\\' && matches!(input, [b'a' | b's' | b'O' | b'C' | b'E', b':', ..])
}

fn unwrap<'a>(input: &'a [u8], _: &Settings, _: &Limits) -> Result<Unwrapped<'a>, Error> {
    let mut bytes = Vec::new();
    let mut rest = input;
    while let Some(offset) = rest.iter().position(|byte| *byte == b'\\') {
        bytes.extend_from_slice(&rest[..offset]);
        match rest.get(offset + 1) {
            Some(b'0') => bytes.push(0),
            Some(byte) => bytes.push(*byte),
            None => {
                return Err(Error::new(ErrorKind::Truncated)
                    .at(input.len())
                    .expecting("a character after the last backslash")
                    .finding("the end of the input"));
            }
        }
        rest = &rest[offset + 2..];
    }
    bytes.extend_from_slice(rest);
    Ok(Unwrapped::new(Cow::Owned(bytes), Vec::new()))
}

fn wrap(content: &[u8], _: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    out.reserve(content.len() + content.len() / 8);
    for byte in content {
        match byte {
            b'\'' | b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            0 => out.extend_from_slice(b"\\0"),
            byte => out.push(*byte),
        }
    }
    Ok(())
}
