//! What is wrapped in something else: compressed data, Base64, hex.

use super::{Finding, Sample, identify_in};
use crate::format::Certainty;
use crate::limits::Limits;
use crate::options::Settings;
use crate::wrap;

/// How much of what is wrapped is looked at.
const INSIDE: usize = 1 << 20;

/// The names and titles of the wrappers.
pub(super) static WRAPPERS: &[(&str, &str)] = &[
    ("gzip", "gzip-compressed data"),
    ("zlib", "zlib-compressed data"),
    ("zstd", "Zstandard-compressed data"),
    ("bzip2", "bzip2-compressed data"),
    ("base64", "Base64 text"),
    ("hex", "hexadecimal text"),
];

/// What was unwrapped, and whether that is all of it.
type Inside = Option<(Vec<u8>, bool)>;

pub(super) fn detect(sample: &Sample<'_>, level: u32) -> Option<Finding> {
    let input = sample.bytes;
    match input {
        [0x1f, 0x8b, 8, flags, ..] if flags & 0xe0 == 0 => Some(compressed("gzip", gzip(input), level)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            Some(compressed("zstd", zstd(input), level))
        }
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => {
            Some(compressed("bzip2", None, level))
        }
        [0x78, flags, ..] if u16::from_be_bytes([0x78, *flags]).is_multiple_of(31) => zlib(sample, level),
        _ => framed(sample, level).or_else(|| text(sample, level)),
    }
}

fn title(name: &str) -> &'static str {
    WRAPPERS.iter().find(|(known, _)| *known == name).map_or("", |(_, title)| title)
}

/// Compressed data is itself, whatever is in it.
fn compressed(name: &'static str, inside: Inside, level: u32) -> Finding {
    inside.and_then(|inside| wrapped(name, &inside, level)).unwrap_or_else(|| Finding {
        name,
        title: title(name),
        variant: String::new(),
        certainty: Certainty::Sure,
        wrappers: Vec::new(),
        is_read: false,
        format: None,
    })
}

/// What is inside, if that can be told.
fn wrapped(name: &'static str, (bytes, whole): &(Vec<u8>, bool), level: u32) -> Option<Finding> {
    let mut finding = identify_in(&Sample { bytes, whole: *whole }, level + 1)?;
    if finding.certainty < Certainty::Likely {
        return None;
    }
    finding.wrappers.insert(0, name);
    finding.is_read &= wrap::by_name(name).is_some();
    Some(finding)
}

/// What programs put around frozen data, if something known is inside.
fn framed(sample: &Sample<'_>, level: u32) -> Option<Finding> {
    let limits = Limits::default();
    wrap::all().iter().filter(|wrapper| (wrapper.detect)(sample.bytes)).find_map(|wrapper| {
        let inside = (wrapper.unwrap)(sample.bytes, &Settings::new(), &limits).ok()?;
        wrapped(wrapper.name, &(inside.bytes.into_owned(), sample.whole), level)
    })
}

/// Behind the header of a gzip file stands a raw deflate stream.
fn gzip(input: &[u8]) -> Inside {
    let flags = *input.get(3)?;
    let mut rest = input.get(10..)?;
    if flags & 4 != 0 {
        let len = usize::from(u16::from_le_bytes(*rest.first_chunk::<2>()?));
        rest = rest.get(2 + len..)?;
    }
    for _ in 0..(flags >> 3 & 1) + (flags >> 4 & 1) {
        rest = rest.get(rest.iter().position(|byte| *byte == 0)? + 1..)?;
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    inflate(rest, false)
}

/// A zlib header is weak: the data behind it must be right.
fn zlib(sample: &Sample<'_>, level: u32) -> Option<Finding> {
    let inside = inflate(sample.bytes, true)?;
    if inside.0.is_empty() || sample.whole && !inside.1 && inside.0.len() < INSIDE {
        return None;
    }
    Some(compressed("zlib", Some(inside), level))
}

#[cfg(feature = "zlib")]
fn inflate(input: &[u8], header: bool) -> Inside {
    use flate2::{Decompress, FlushDecompress, Status};
    let mut inflater = Decompress::new(header);
    let mut out = Vec::with_capacity(INSIDE.min(64 << 10));
    loop {
        let rest = input.get(usize::try_from(inflater.total_in()).ok()?..)?;
        let before = (inflater.total_in(), out.len());
        let status = inflater.decompress_vec(rest, &mut out, FlushDecompress::None).ok()?;
        if status == Status::StreamEnd {
            return Some((out, true));
        }
        if out.len() >= INSIDE || before == (inflater.total_in(), out.len()) && out.len() < out.capacity() {
            return Some((out, false));
        }
        out.reserve(64 << 10);
    }
}

#[cfg(not(feature = "zlib"))]
fn inflate(_input: &[u8], _header: bool) -> Inside {
    None
}

#[cfg(feature = "zstd")]
fn zstd(input: &[u8]) -> Inside {
    use std::io::Read;
    let mut decoder = zstd::stream::read::Decoder::with_buffer(input).ok()?;
    // The window is memory that the header alone asks for.
    decoder.window_log_max(23).ok()?;
    let mut out = Vec::new();
    let end = decoder.take(INSIDE as u64).read_to_end(&mut out);
    let whole = end.is_ok() && out.len() < INSIDE;
    Some((out, whole))
}

#[cfg(not(feature = "zstd"))]
fn zstd(_input: &[u8]) -> Inside {
    None
}

/// Base64 and hex are only worth a word if something known is inside.
fn text(sample: &Sample<'_>, level: u32) -> Option<Finding> {
    let input = sample.bytes;
    if !input.iter().take(64).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
        return None;
    }
    let try_one = |name, decoded: Option<Vec<u8>>| wrapped(name, &(decoded?, sample.whole), level);
    try_one("hex", hex(input)).or_else(|| try_one("base64", base64(input)))
}

fn hex(input: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut half = None;
    for byte in input.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = char::from(*byte).to_digit(16)? as u8;
        match half.take() {
            Some(high) => out.push(high << 4 | digit),
            None => half = Some(digit),
        }
        if out.len() >= INSIDE {
            return Some(out);
        }
    }
    (half.is_none() && out.len() >= 4).then_some(out)
}

/// Both alphabets, with and without padding.
fn base64(input: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut count, mut padding) = (0u32, 0, 0);
    for byte in input.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' if padding < 2 => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        bits = bits << 6 | u32::from(digit);
        count += 1;
        if count == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
            if out.len() >= INSIDE {
                return Some(out);
            }
        }
    }
    match count {
        2 => out.push((bits >> 4) as u8),
        3 => out.extend_from_slice(&((bits >> 2) as u16).to_be_bytes()),
        1 => return None,
        _ => {}
    }
    (out.len() >= 8).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_and_hex_are_decoded() {
        assert_eq!(base64(b"aGVsbG8gd29ybGQ=\n").unwrap(), b"hello world");
        assert_eq!(base64(b"aGVsbG8gd29ybGQ").unwrap(), b"hello world");
        assert_eq!(base64(b"aGVsbG8gd29ybA==").unwrap(), b"hello worl");
        assert_eq!(base64(b"aGVsbG8=gd29ybGQ"), None);
        assert_eq!(hex(b"68 65\n6c6C6f").unwrap(), b"hello");
        assert_eq!(hex(b"68656c6c6"), None);
    }
}
