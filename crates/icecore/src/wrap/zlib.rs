//! Deflate in zlib's format.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::compress::zlib;
use crate::options::{OptionSpec, OptionType, Side};

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "zlib",
    title: "zlib-compressed data (RFC 1950)",
    extension: "zlib",
    text: Some(false),
    layer: "data in zlib",
    options: &[OptionSpec {
        name: "level",
        takes: OptionType::Number(0, 9),
        side: Side::Write,
        help: "compression level; 6 by default",
    }],
    page: include_str!("zlib.md"),
    detect: |input| matches!(input, [0x78, flags, ..] if u16::from_be_bytes([0x78, *flags]).is_multiple_of(31)),
    evidence: WrapperEvidence::Content,
    head: Some(|input, is_complete, _, max_len| {
        let (bytes, is_all) = zlib::head(input, max_len)?;
        // Two bytes are weak evidence: all of the data must be valid.
        let is_plausible = is_all || !is_complete || bytes.len() >= max_len;
        is_plausible.then(|| ContentHead::from_beginning((bytes, is_complete && is_all)))
    }),
    needed_settings: None,
    stream: zlib::STREAM,
    changing: Changing::OnRequest(None),
    unwrap: |input, _, limits| {
        zlib::decompress(input, limits.decompressed_from(input.len()), limits).map(Unwrapped::from_owned)
    },
    wrap: |content, settings, out| {
        out.extend_from_slice(&zlib::compress(content, super::compression_level(settings))?);
        Ok(())
    },
};
