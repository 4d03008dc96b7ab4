//! Zstandard frames.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::compress::zstandard;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "zstd",
    title: "Zstandard-compressed data (RFC 8878)",
    extension: "zst",
    text: Some(false),
    layer: "data in zstd",
    options: &[OptionSpec {
        name: "level",
        takes: OptionType::Number(1, 22),
        side: Side::Write,
        help: "compression level; 3 by default",
    }],
    page: include_str!("zstd.md"),
    detect: |input| matches!(input, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]),
    evidence: WrapperEvidence::Magic,
    head: Some(|input, is_complete, _, max_len| {
        let (bytes, is_all) = zstandard::head(input, max_len)?;
        Some(ContentHead::from_beginning((bytes, is_complete && is_all)))
    }),
    needed_settings: None,
    stream: zstandard::STREAM,
    changing: Changing::OnRequest(None),
    unwrap,
    wrap: |content, settings, out| {
        out.extend_from_slice(&zstandard::compress(content, super::compression_level(settings))?);
        Ok(())
    },
};

fn unwrap<'a>(input: &'a [u8], _: &Settings, limits: &Limits) -> Result<Unwrapped<'a>, Error> {
    if input.is_empty() {
        return Err(Error::new(ErrorKind::Truncated)
            .at(0)
            .expecting("a frame of zstd")
            .finding("the end of the input"));
    }
    zstandard::decompress(input, limits.decompressed_from(input.len()), limits).map(Unwrapped::from_owned)
}
