//! Deflate without a header, as PHP's `gzdeflate` and Symfony's `DeflateMarshaller` write it.

use super::{Changing, Unwrapped, Wrapper, WrapperEvidence};
use crate::compress::zlib;
use crate::options::{OptionSpec, OptionType, Side};

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "deflate",
    title: "deflated data without a frame (RFC 1951)",
    extension: "deflate",
    text: Some(false),
    layer: "deflated data",
    options: &[OptionSpec {
        name: "level",
        takes: OptionType::Number(0, 9),
        side: Side::Write,
        help: "compression level; 6 by default",
    }],
    page: include_str!("deflate.md"),
    // Nothing distinguishes it from other bytes.
    detect: |_| false,
    evidence: WrapperEvidence::Text,
    head: None,
    needed_settings: None,
    stream: None,
    changing: Changing::OnRequest(None),
    unwrap: |input, _, limits| {
        zlib::inflate_bare(input, limits.decompressed_from(input.len()), limits).map(Unwrapped::from_owned)
    },
    wrap: |content, settings, out| zlib::deflate_bare(content, super::compression_level(settings), out),
};
