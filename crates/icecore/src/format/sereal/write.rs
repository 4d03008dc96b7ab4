//! The writer: choice of protocol and compression, header, body.

use super::body::Body;
use super::compress::compress;
use super::header::{Encoding, HAS_USER_HEADER, MAGIC, OLD_MAGIC};
use super::spelling::{header as code, varint_width};
use super::tag::TRACK;
use super::write_fast_body::{fast_body, write_fast_body};
use super::{Compress, FORMAT, SortKeys, WriteOptions};
use crate::document::{Document, Naming, Spelling, find_shadowed};
use crate::error::{Error, ErrorKind};
use crate::format::{check_and_expand, write_named};
use crate::limits::Limits;
use crate::output::{LossKind, Losses, MeteredOutput, Output, Written, write_metered};

/// Bodies shorter than this are not compressed.
const THRESHOLD: u64 = 1024;

/// Returns `true` if a float is written as FLOAT.
pub(super) fn fits_in_f32(value: f64) -> bool {
    f64::from(value as f32) == value || value.is_nan()
}

/// Choices made before the first byte.
#[derive(Debug)]
pub(super) struct Plan<'d> {
    pub(super) version: u8,
    encoding: Encoding,
    /// Whether the encoding is that of the document that was read, whatever the size.
    encoding_is_spelled: bool,
    /// The spelling of the header, and of the values if it is replayed.
    header: Option<&'d Spelling>,
    pub(super) values: Option<&'d Spelling>,
    pub(super) options: &'d WriteOptions,
    pub(super) order: SortKeys,
    pub(super) limits: &'d Limits,
}

impl<'d> Plan<'d> {
    fn new(document: &'d Document<'_>, options: &'d WriteOptions, limits: &'d Limits) -> Result<Plan<'d>, Error> {
        let header = document.spelling_of("sereal").filter(|_| !options.no_spelling);
        let spelled = |code| header.and_then(|spelling| spelling.get(code)).and_then(|value| u8::try_from(value).ok());
        let spelled_version = spelled(code::VERSION).filter(|version| (1..=5).contains(version));
        let version = options.protocol.or(spelled_version).unwrap_or(5);
        if !(1..=5).contains(&version) {
            return Err(usage_error("protocol 1 to 5", format!("protocol {version}")));
        }
        let same_version = spelled_version == Some(version);
        let spelled_encoding = spelled(code::ENCODING)
            .and_then(|number| Encoding::ALL.into_iter().find(|encoding| *encoding as u8 == number))
            .filter(|_| same_version);
        let encoding = match options.compress {
            None => spelled_encoding.unwrap_or(Encoding::Raw),
            Some(Compress::None) => Encoding::Raw,
            Some(Compress::Snappy) => Encoding::SnappyIncremental,
            Some(Compress::SnappyToEnd) => Encoding::Snappy,
            Some(Compress::Zlib) => Encoding::Zlib,
            Some(Compress::Zstd) => Encoding::Zstd,
        };
        if version > 1 && options.compress == Some(Compress::SnappyToEnd) {
            return Err(usage_error("protocol 1 for Snappy up to the end", format!("protocol {version}")));
        }
        if version < 3 && matches!(encoding, Encoding::Zlib | Encoding::Zstd) {
            return Err(usage_error("protocol 3 or above for this compression", format!("protocol {version}")));
        }
        if encoding == Encoding::Zlib && options.level.is_some_and(|level| !(1..=9).contains(&level)) {
            return Err(usage_error("level 1 to 9 for zlib", format!("level {}", options.level.unwrap_or(0))));
        }
        Ok(Plan {
            version,
            encoding,
            encoding_is_spelled: options.compress.is_none() && spelled_encoding.is_some(),
            header: header.filter(|_| same_version),
            values: header.filter(|_| same_version && !options.changes_values()),
            options,
            order: options.sort_order(),
            limits,
        })
    }

    fn spelled_value(&self, code: u16) -> Option<u64> {
        self.header.and_then(|spelling| spelling.get(code))
    }
}

fn usage_error(expected: &'static str, found: String) -> Error {
    Error::new(ErrorKind::Usage).expecting(expected).finding(found)
}

/// Writes a document.
pub(super) fn write_document(
    document: &Document<'_>,
    options: &WriteOptions,
    limits: &Limits,
    out: &mut dyn Output,
) -> Written {
    // Maps of a running program have no duplicate keys, and the size of the output is not
    // limited by the size of an input.
    if document.tape().has_live_values()
        && write_fast_body(document, options, limits.output_from(document.input_size()), out)
    {
        out.allow_flush()?;
        return Ok(Losses::with_limits(limits));
    }
    write_metered(document, limits, out, |out| {
        // A document with duplicate keys is not simple.
        let is_simple = document.spelling().is_some()
            || find_shadowed(document, Naming::Perl).is_empty() && !document.has_moved_classes();
        if is_simple && !document.tape().has_live_values() && write_fast_body(document, options, u64::MAX, out) {
            out.allow_flush()?;
            return Ok(Losses::with_limits(limits));
        }
        if is_simple && let Some(body) = fast_body(document, options, out) {
            let plan = Plan::new(document, options, limits)?;
            let head = [&MAGIC[..], &[plan.version | (plan.encoding as u8) << 4, 0]].concat();
            write_compressed(&plan, head, &body, out)?;
            return Ok(Losses::with_limits(limits));
        }
        let document = &*check_and_expand(document, limits)?;
        write_named(document, &FORMAT, limits, |document| write_whole(document, options, limits, out))
    })
}

fn write_whole(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let plan = Plan::new(document, options, limits)?;
    let mut losses = Losses::with_limits(limits);
    let suffix = build_suffix(document, &plan, &mut losses)?;
    let mut head = Vec::with_capacity(16 + suffix.len());
    head.extend_from_slice(if plan.version < 3 { &OLD_MAGIC } else { &MAGIC });
    head.push(plan.version | (plan.encoding as u8) << 4);
    let min_width = plan.spelled_value(code::LENGTH_WIDTH).and_then(|width| usize::try_from(width).ok()).unwrap_or(0);
    push_varint(&mut head, suffix.len() as u64, min_width);
    head.extend_from_slice(&suffix);
    let first = if plan.version == 1 { head.len() as u64 } else { 1 };
    let root = document.root().index();

    if plan.encoding == Encoding::Raw && !options.aliased_dedupe_strings {
        out.buffer().extend_from_slice(&head);
        Body::new(document, &plan, first, &mut losses, out).write(root)?;
        return Ok(losses);
    }

    let mut body = Vec::new();
    let tracks = {
        let mut out = MeteredOutput::new(document, limits, &mut body);
        Body::new(document, &plan, first, &mut losses, &mut out).write(root)?
    };
    set_tracks(&mut body, &tracks);
    write_compressed(&plan, head, &body, out)?;
    Ok(losses)
}

/// Writes a body after its header, compressed if the options require it and it gets
/// smaller.
fn write_compressed(plan: &Plan<'_>, mut head: Vec<u8>, body: &[u8], out: &mut dyn Output) -> Result<(), Error> {
    let options = plan.options;
    let compressed = match plan.encoding {
        Encoding::Raw => None,
        _ if !plan.encoding_is_spelled && (body.len() as u64) < options.threshold.unwrap_or(THRESHOLD) => None,
        encoding => Some(compress(encoding, body, options.level)?),
    };
    let small = compressed.filter(|small| plan.encoding_is_spelled || small.len() < body.len());
    match small {
        Some(small) => {
            if plan.encoding == Encoding::Zlib {
                push_varint(&mut head, body.len() as u64, 0);
            }
            if plan.encoding != Encoding::Snappy {
                push_varint(&mut head, small.len() as u64, 0);
            }
            out.buffer().extend_from_slice(&head);
            out.buffer().extend_from_slice(&small);
        }
        None => {
            head[4] = plan.version;
            out.buffer().extend_from_slice(&head);
            out.buffer().extend_from_slice(body);
        }
    }
    out.allow_flush()
}

/// Returns the header's suffix, with the user header.
fn build_suffix(document: &Document<'_>, plan: &Plan<'_>, losses: &mut Losses) -> Result<Vec<u8>, Error> {
    let kept = plan.header.map_or(&[][..], |spelling| match spelling.get(code::SUFFIX) {
        Some(range) => spelling.stored_bytes(range),
        None => &[],
    });
    let Some(header) = document.header().filter(|_| !plan.options.no_header) else {
        return Ok(if document.header().is_none() { kept.to_vec() } else { Vec::new() });
    };
    if plan.version == 1 {
        losses.add(LossKind::Header, || header.path());
        return Ok(Vec::new());
    }
    let bits = plan.spelled_value(code::BITS).and_then(|bits| u8::try_from(bits).ok()).unwrap_or(HAS_USER_HEADER);
    let mut suffix = Vec::new();
    let tracks = Body::new(document, plan, 1, losses, &mut suffix).write(header.index())?;
    set_tracks(&mut suffix, &tracks);
    suffix.insert(0, bits);
    suffix.extend_from_slice(kept);
    Ok(suffix)
}

/// Sets the tracking bit of the tags at these positions.
fn set_tracks(body: &mut [u8], tracks: &[u64]) {
    for offset in tracks {
        if let Some(tag) = usize::try_from(*offset).ok().and_then(|index| body.get_mut(index)) {
            *tag |= TRACK;
        }
    }
}

/// Appends a varint, padded to `min_width` bytes if it needs fewer.
fn push_varint(out: &mut Vec<u8>, mut value: u64, min_width: usize) {
    for _ in 1..varint_width(value).max(min_width.min(10)) {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
