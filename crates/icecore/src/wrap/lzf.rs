//! LZF, as phpredis writes it: without a header.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::compress::lz::{Lz, encode_lzf_literals};

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "lzf",
    title: "LZF-compressed data, as phpredis keeps it",
    extension: "lzf",
    text: Some(false),
    layer: "data in LZF",
    options: &[],
    page: include_str!("lzf.md"),
    // The data begins with literals.
    detect: |input| input.len() >= 3 && input[0] < 32,
    evidence: WrapperEvidence::Text,
    head: Some(|input, is_complete, _, max_len| {
        let (bytes, is_all) = Lz::Lzf.decompress_head(input, is_complete, max_len)?;
        Some(ContentHead::from_beginning((bytes, is_complete && is_all)))
    }),
    needed_settings: None,
    stream: None,
    changing: Changing::OnRequest(None),
    unwrap: |input, _, limits| {
        Lz::Lzf.decompress(input, limits.decompressed_from(input.len()), limits).map(Unwrapped::from_owned)
    },
    wrap: |content, _, out| {
        encode_lzf_literals(content, out);
        Ok(())
    },
};
