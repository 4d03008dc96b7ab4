//! The format of gzip.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::compress::zlib;
use crate::error::Error;
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};
use std::borrow::Cow;

/// The row in the registry.
pub static WRAPPER: Wrapper = Wrapper {
    name: "gzip",
    title: "gzip-compressed data (RFC 1952)",
    extension: "gz",
    text: Some(false),
    layer: "data in gzip",
    options: &[OptionSpec {
        name: "level",
        takes: OptionType::Number(0, 9),
        side: Side::Write,
        help: "compression level; 6 by default",
    }],
    page: include_str!("gzip.md"),
    detect: |input| matches!(input, [0x1f, 0x8b, 8, flags, ..] if flags & 0xe0 == 0),
    evidence: WrapperEvidence::Magic,
    head: Some(|input, is_complete, _, max_len| {
        let (bytes, is_all) = zlib::gzip_head(input, max_len)?;
        Some(ContentHead::from_beginning((bytes, is_complete && is_all)))
    }),
    needed_settings: None,
    stream: zlib::GZIP_STREAM,
    changing: Changing::OnRequest(None),
    unwrap,
    wrap: |content, settings, out| {
        out.extend_from_slice(&zlib::gzip(content, super::compression_level(settings))?);
        Ok(())
    },
};

fn unwrap<'a>(input: &'a [u8], _: &Settings, limits: &Limits) -> Result<Unwrapped<'a>, Error> {
    let (bytes, header) = zlib::gunzip(input, limits.decompressed_from(input.len()), limits)?;
    let mut remarks = Vec::new();
    if let Some(name) = header.name {
        remarks.push(("file name", String::from_utf8_lossy(&name).into_owned()));
    }
    if header.time > 0 {
        remarks.push(("file time", format!("{} (seconds since 1970)", header.time)));
    }
    Ok(Unwrapped::new(Cow::Owned(bytes), remarks))
}
