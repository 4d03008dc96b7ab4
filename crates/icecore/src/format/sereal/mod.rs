//! Sereal, protocol 1 to 5: what `Sereal::Encoder` writes.
//!
//! ```
//! use icecore::{Limits, format::sereal};
//! let bytes = b"=\xF3rl\x05\x00\x51\x62id\x07";
//! let document = sereal::read(bytes, &sereal::ReadOptions::default(), &Limits::default())?;
//! assert_eq!(document.root().get("id").and_then(|id| id.as_i64()), Some(7));
//!
//! let mut out = Vec::new();
//! sereal::write(&document, &sereal::WriteOptions::default(), &Limits::default(), &mut out)?;
//! assert_eq!(out, bytes);
//! # Ok::<(), icecore::Error>(())
//! ```

mod body;
mod bytes;
mod compress;
mod deferred_bless;
mod document_reader;
mod header;
mod keys;
mod links;
mod options;
mod read;
mod read_fast;
mod read_fast_body;
mod skim;
mod spelling;
mod spelling_replay;
mod tag;
mod write;
mod write_fast;
mod write_fast_body;

pub use header::{find_protocol, find_user_header};
pub use options::{Compress, ReadOptions, SortKeys, WriteOptions};

use crate::format::Restart;
use crate::format::prelude::*;
use crate::format::skim::{Input, Skim};

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: "sereal",
    aliases: &["srl"],
    title: "Sereal, protocol 1 to 5 (Perl's Sereal::Encoder and Sereal::Decoder)",
    options: options::TABLE,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: "srl",
        restarts: &[Restart::from_signature(b"=\xF3rl"), Restart::from_signature(b"=srl")],
        names_strings_again: true,
        hands_over: true,
        naming: Naming::Perl,
        ..Capabilities::BINARY
    },
    detect,
    begins: Some(begins_document),
    detect_in_string: None,
    strings: None,
    hides: Some(has_compressed_body),
    reader: |settings| Box::new(ReadOptions::from_settings(settings)),
    writer: |settings| Box::new(WriteOptions::from_settings(settings)),
};

/// Reads a document. Bytes after it are an error.
///
/// ```
/// use icecore::{Limits, format::sereal};
/// let document = sereal::read(b"=\xF3rl\x05\x00\x42\x01\x02", &sereal::ReadOptions::default(), &Limits::default())?;
/// assert_eq!(document.root().len(), 2);
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Format`, if it is not a Sereal document; `Truncated`, `Malformed` or `BadLink`, if it
/// is damaged; `Unsupported`, if an option refuses it or the build lacks its compression; `Limit`,
/// if it costs too much; `Trailing`, if the input is longer than the document.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    options.read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

/// Writes a document, and reports what Sereal could not represent.
///
/// A document that was read from Sereal with its spelling is written as it was, unless options
/// require something else.
///
/// ```
/// use icecore::Limits;
/// use icecore::format::sereal::{self, Compress, WriteOptions};
/// let document = icecore::read(b"[1, 2, 3]")?;
/// let mut options = WriteOptions::default();
/// options.compress = Some(Compress::Zstd);
/// let mut out = Vec::new();
/// let losses = sereal::write(&document, &options, &Limits::default(), &mut out)?;
/// assert!(losses.is_empty());
/// // Too short to be compressed.
/// assert_eq!(out, b"=\xF3rl\x05\x00\x43\x01\x02\x03");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Usage`, if options contradict each other; `Unsupported`, if the build lacks the
/// compression; `Unrepresentable`, for a key that can't become a string; `Output`, if the output
/// was closed.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    write::write_document(document, options, limits, out).map_err(|error| error.in_format(FORMAT.name))
}

impl Reader for ReadOptions {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        document_reader::read(input, self, request)
    }

    fn fill_tape(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        document_reader::fill(input, self, limits, tape)
    }

    fn read_windows<'a>(
        &self,
        input: &'a [u8],
        store: &'a Store,
        limits: &Limits,
        receive: ReceiveWindow<'_, 'a>,
    ) -> Rest<'a> {
        document_reader::read_windows(input, store, self, limits, receive)
    }

    fn new_skimmer<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        (*self == ReadOptions::default()).then(|| skim::skim(input))
    }
}

impl Writer for WriteOptions {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }

    fn write_part(
        &self,
        document: &Document<'_>,
        part: DocumentPart<'_>,
        limits: &Limits,
        out: &mut dyn Output,
    ) -> Option<Written> {
        let DocumentPart::Nodes(parts) = part else { return None };
        write_fast_body::write_part(document, self, parts, out).then(|| Ok(Losses::with_limits(limits)))
    }
}

fn detect(input: &[u8]) -> Option<Guess> {
    let (version, encoding) = header::parse_version(input)?;
    let encoding = header::Encoding::ALL.into_iter().find(|known| *known as u8 == encoding)?;
    let known = (1..=5).contains(&version);
    known.then(|| Guess { certainty: Certainty::Sure, variant: format!("protocol {version}, {}", encoding.name()) })
}

/// Returns `true` if the body is compressed.
fn has_compressed_body(input: &[u8]) -> bool {
    header::parse_version(input).is_some_and(|(_, encoding)| encoding != header::Encoding::Raw as u8)
}

fn begins_document(input: &[u8]) -> bool {
    [&b"=srl"[..], b"=\xf3rl", "=\u{f3}rl".as_bytes()].iter().any(|magic| input.starts_with(magic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_names_version_and_compression() {
        let variant = |input: &[u8]| detect(input).map(|guess| guess.variant);
        assert_eq!(variant(b"=\xF3rl\x05\x00\x25").as_deref(), Some("protocol 5, raw"));
        assert_eq!(variant(b"=srl\x22\x00").as_deref(), Some("protocol 2, incremental snappy"));
        assert_eq!(variant(b"=\xF3rl\x44\x00").as_deref(), Some("protocol 4, zstd"));
        for other in [&b"=srl\x05\x00"[..], b"=\xF3rl\x02\x00", b"=\xF3rl\x06\x00", b"=\xF3rl\x75\x00", b"=srl", b""] {
            assert_eq!(variant(other), None);
        }
    }
}
