//! Entries of CHI, the cache of Perl: times, flags, and a value that Storable froze.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::compress::zlib;
use crate::document::Metadata;
use crate::error::{Error, ErrorKind};
use crate::format::{self, Evidence};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};
use std::borrow::Cow;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "chi",
    title: "an entry of Perl's CHI cache: times and flags, then a value of Storable",
    extension: "dat",
    text: None,
    layer: "value of the CHI entry",
    options: &[
        time_option("created", "when the entry was created, in seconds since 1970; 0 by default"),
        time_option("early", "from when the entry may expire early, in seconds since 1970; never by default"),
        time_option("expires", "when the entry expires, in seconds since 1970; never by default"),
        OptionSpec {
            name: "compress",
            takes: OptionType::Flag,
            side: Side::Write,
            help: "compress the value with gzip",
        },
    ],
    page: include_str!("chi.md"),
    detect,
    evidence: WrapperEvidence::Envelope,
    head: Some(read_head),
    needed_settings: None,
    stream: None,
    changing: Changing::Allowed,
    unwrap,
    wrap,
};

const fn time_option(name: &'static str, help: &'static str) -> OptionSpec {
    OptionSpec { name, takes: OptionType::Number(0, NEVER as i64), side: Side::Write, help }
}

/// Length of the times, the flags and the version.
const HEADER_LEN: usize = 14;
/// The time that means never.
const NEVER: u32 = u32::MAX;
/// The value was a reference, and was frozen.
const SERIALIZED: u8 = 1;
/// The value was text, and was encoded in UTF-8.
const UTF8: u8 = 2;
/// The value was compressed with gzip.
const COMPRESSED: u8 = 4;
/// The version of the layout. CHI has only this one.
const VERSION: u8 = 1;

/// The header of an entry. CHI writes its integers in the byte order of the machine; nearly all are little-endian.
struct EntryHeader {
    created: u32,
    early: u32,
    expires: u32,
    flags: u8,
}

impl EntryHeader {
    fn parse(input: &[u8]) -> Option<(EntryHeader, &[u8])> {
        let (created, rest) = input.split_first_chunk()?;
        let (early, rest) = rest.split_first_chunk()?;
        let (expires, rest) = rest.split_first_chunk()?;
        let [flags, VERSION, value @ ..] = rest else { return None };
        let [created, early, expires] = [created, early, expires].map(|bytes| u32::from_le_bytes(*bytes));
        (*flags <= SERIALIZED | UTF8 | COMPRESSED)
            .then_some((EntryHeader { created, early, expires, flags: *flags }, value))
    }
}

/// Detects a frozen value, or compressed data, after a plausible header.
fn detect(input: &[u8]) -> bool {
    EntryHeader::parse(input).is_some_and(|(header, value)| {
        header.created <= header.early
            && header.flags & SERIALIZED != 0
            && match header.flags & COMPRESSED {
                0 => format::all()
                    .iter()
                    .any(|format| format.can.evidence == Evidence::Beginning && format.may_begin(value)),
                _ => value.starts_with(b"\x1f\x8b\x08"),
            }
    })
}

fn read_head<'a>(input: &'a [u8], is_complete: bool, _: &Settings, max_len: usize) -> Option<ContentHead<'a>> {
    let (header, value) = EntryHeader::parse(input)?;
    if header.flags & COMPRESSED == 0 {
        return Some(ContentHead { bytes: Cow::Borrowed(value), is_complete });
    }
    Some(ContentHead::from_beginning(zlib::gzip_head(value, max_len)?))
}

fn unwrap<'a>(input: &'a [u8], _: &Settings, limits: &Limits) -> Result<Unwrapped<'a>, Error> {
    let (header, value) = EntryHeader::parse(input).ok_or_else(|| {
        let error = Error::new(if input.len() < HEADER_LEN { ErrorKind::Truncated } else { ErrorKind::Malformed });
        error
            .at(input.len().min(HEADER_LEN - 2))
            .expecting("three times of 4 bytes, flags up to 7, and the version 1")
            .finding(if input.len() < HEADER_LEN { "the end of the input" } else { "other flags or another version" })
    })?;
    let is_compressed = header.flags & COMPRESSED != 0;
    let value = match is_compressed {
        true => Cow::Owned(zlib::gunzip(value, limits.decompressed_from(value.len()), limits)?.0),
        false => Cow::Borrowed(value),
    };
    let time_text = |time: u32| match time {
        NEVER => "never".to_owned(),
        time => format!("{time} (seconds since 1970)"),
    };
    let option = |time: u32, default: u32| (time != default).then(|| time.to_string());
    let mut unwrapped = Unwrapped::new(value, vec![("expires", time_text(header.expires))])
        .with_metadata(WRAPPER.name, "created", option(header.created, 0))
        .with_metadata(WRAPPER.name, "early", option(header.early, NEVER))
        .with_metadata(WRAPPER.name, "expires", option(header.expires, NEVER));
    if is_compressed {
        let value = "yes".to_owned();
        unwrapped.metadata.push(Metadata { wrapper: WRAPPER.name, option: "compress", value, is_form: true });
    }
    Ok(unwrapped)
}

fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    let time = |name, default| settings.number(name).and_then(|time| u32::try_from(time).ok()).unwrap_or(default);
    for time in [time("created", 0), time("early", NEVER), time("expires", NEVER)] {
        out.extend_from_slice(&time.to_le_bytes());
    }
    let is_compressed = settings.flag("compress");
    out.extend_from_slice(&[SERIALIZED | if is_compressed { COMPRESSED } else { 0 }, VERSION]);
    if is_compressed {
        out.extend_from_slice(&zlib::gzip(content, None)?);
    } else {
        out.extend_from_slice(content);
    }
    Ok(())
}
