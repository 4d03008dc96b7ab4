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
    head: Some(|input, whole, _, most| {
        let (bytes, is_all) = Lz::Lzf.decompress_head(input, whole, most)?;
        Some(ContentHead::from_beginning((bytes, whole && is_all)))
    }),
    wants: None,
    stream: None,
    changing: Changing::Asked(None),
    unwrap: |input, _, limits| {
        Lz::Lzf.decompress(input, limits.decompressed_from(input.len()), limits).map(Unwrapped::from_owned)
    },
    wrap: |inside, _, out| {
        encode_lzf_literals(inside, out);
        Ok(())
    },
};
