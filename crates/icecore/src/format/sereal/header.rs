//! The header of a document: all bytes before the body.

use super::{ReadOptions, tag};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;
use std::ops::Range;

/// The magic number of protocols 1 and 2.
pub(super) const OLD_MAGIC: [u8; 4] = *b"=srl";
/// The magic number from protocol 3 on. Its second byte is not UTF-8.
pub(super) const MAGIC: [u8; 4] = *b"=\xF3rl";
/// [`MAGIC`] after it was decoded as Latin-1 and encoded as UTF-8.
const MANGLED_MAGIC: [u8; 5] = *b"=\xC3\xB3rl";
/// Bit of the first byte of a header suffix: a user header follows.
pub(super) const HAS_USER_HEADER: u8 = 1;

/// The encoding of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Raw = 0,
    /// Protocol 1 only: the compressed body extends to the end of the input.
    Snappy = 1,
    SnappyIncremental = 2,
    Zlib = 3,
    Zstd = 4,
}

impl Encoding {
    pub(super) const ALL: [Encoding; 5] =
        [Encoding::Raw, Encoding::Snappy, Encoding::SnappyIncremental, Encoding::Zlib, Encoding::Zstd];

    /// Returns its common name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Encoding::Raw => "raw",
            Encoding::Snappy => "snappy",
            Encoding::SnappyIncremental => "incremental snappy",
            Encoding::Zlib => "zlib",
            Encoding::Zstd => "zstd",
        }
    }
}

/// The header of a document.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) version: u8,
    pub(super) encoding: Encoding,
    /// Offset of the length of the suffix.
    pub(super) length_offset: usize,
    /// Offset of the suffix.
    pub(super) suffix_offset: usize,
    /// Offset of the body, or of the numbers before its compressed form.
    pub(super) end: usize,
    /// Whether a user header follows the first byte of the suffix.
    pub(super) has_user_header: bool,
}

impl Header {
    /// Returns the offset that tags such as REFP and COPY use for the first byte of the body. In protocol 1, offsets
    /// count from the start of the document; later, the body begins at offset 1.
    pub(super) fn first_offset(&self) -> u64 {
        if self.version == 1 { self.end as u64 } else { 1 }
    }
}

/// Returns the protocol version and the encoding byte of an input that starts like a document.
pub(super) fn parse_version(input: &[u8]) -> Option<(u8, u8)> {
    let (magic, rest) = input.split_first_chunk::<4>()?;
    let byte = *rest.first()?;
    let (version, encoding) = (byte & 15, byte >> 4);
    let fits = match *magic {
        OLD_MAGIC => matches!(version, 1 | 2),
        MAGIC => version >= 3,
        _ => false,
    };
    fits.then_some((version, encoding))
}

/// Returns the protocol at the start of the bytes, from 1 to 15, whether or not the rest is a
/// document. 0 means that they were a document that was later encoded as UTF-8.
///
/// ```
/// use icecore::format::sereal::find_protocol;
/// assert_eq!(find_protocol(b"=\xF3rl\x04\x00\x01"), Some(4));
/// assert_eq!(find_protocol(b"=\xC3\xB3rl\x04\x00"), Some(0));
/// assert_eq!(find_protocol(b"no document"), None);
/// ```
pub fn find_protocol(input: &[u8]) -> Option<u8> {
    match parse_version(input) {
        Some((version, _)) => Some(version),
        None => input.starts_with(&MANGLED_MAGIC).then_some(0),
    }
}

/// Returns the offsets of the user header of a document; the body follows it. `None` if there is
/// none, or if it is cut off.
///
/// ```
/// use icecore::format::sereal::find_user_header;
/// // A suffix of two bytes: its flags, and the header, which is the number 7.
/// assert_eq!(find_user_header(b"=\xF3rl\x04\x02\x01\x07\x01"), Some(7..8));
/// ```
pub fn find_user_header(input: &[u8]) -> Option<Range<usize>> {
    let header = Header::read(input, &ReadOptions::default()).ok()?;
    let start = header.suffix_offset + 1;
    (header.has_user_header && start < header.end).then_some(start..header.end)
}

impl Header {
    pub(super) fn read(input: &[u8], options: &ReadOptions) -> Result<Header, Error> {
        let mut scan = Scan::new(input);
        check_magic(input)?;
        let mut head = [0; 5];
        head.copy_from_slice(scan.read_bytes(5, "the Sereal header")?);
        let Some((version, encoding)) = parse_version(&head) else {
            return Err(Error::new(ErrorKind::Malformed)
                .at(4)
                .expecting("a protocol version that goes with the magic number (=srl: 1 and 2, =\\xF3rl: 3 and above)")
                .finding(format!("version {}", head[4] & 15)));
        };
        if version > 5 {
            return Err(Error::new(ErrorKind::Unsupported)
                .at(4)
                .expecting("Sereal protocol 1 to 5")
                .finding(format!("protocol {version}")));
        }
        let encoding = encoding_of(version, encoding)?;
        check_refused_encoding(encoding, options)?;
        let length_offset = scan.offset;
        let length = super::read::read_varint(&mut scan, "the length of the header")?;
        let suffix_offset = scan.offset;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let suffix = scan.read_bytes(length, "the header")?;
        let has_user_header = version > 1 && suffix.first().is_some_and(|bits| bits & HAS_USER_HEADER != 0);
        Ok(Header { version, encoding, length_offset, suffix_offset, end: scan.offset, has_user_header })
    }
}

fn check_magic(input: &[u8]) -> Result<(), Error> {
    if input.starts_with(&OLD_MAGIC) || input.starts_with(&MAGIC) {
        return Ok(());
    }
    if input.len() < 4 && (OLD_MAGIC.starts_with(input) || MAGIC.starts_with(input)) {
        return Err(Scan { input, offset: 0 }.truncated_error(4, "the magic number"));
    }
    let error = Error::new(ErrorKind::Format).at(0).expecting("a Sereal document (=srl or =\\xF3rl)");
    Err(if input.starts_with(&MANGLED_MAGIC) {
        error.finding("one whose bytes were encoded as UTF-8").helping("convert it from UTF-8 to Latin-1 first")
    } else {
        error.finding("another start")
    })
}

fn encoding_of(version: u8, number: u8) -> Result<Encoding, Error> {
    let known = Encoding::ALL.into_iter().find(|encoding| *encoding as u8 == number);
    let since = match known {
        Some(Encoding::Zlib | Encoding::Zstd) => 3,
        _ => 1,
    };
    // The perl decoder reads plain Snappy in any protocol.
    known.filter(|_| version >= since).ok_or_else(|| {
        Error::new(ErrorKind::Malformed)
            .at(4)
            .expecting("encoding 0 to 4 (raw, snappy, incremental snappy; from protocol 3 on zlib and zstd)")
            .finding(format!("encoding {number} with protocol {version}"))
    })
}

fn check_refused_encoding(encoding: Encoding, options: &ReadOptions) -> Result<(), Error> {
    let refuses = match encoding {
        Encoding::Raw => None,
        Encoding::Snappy | Encoding::SnappyIncremental => options.refuse_snappy.then_some("refuse_snappy"),
        Encoding::Zlib => options.refuse_zlib.then_some("refuse_zlib"),
        Encoding::Zstd => options.refuse_zstd.then_some("refuse_zstd"),
    };
    match refuses {
        None => Ok(()),
        Some(option) => Err(Error::new(ErrorKind::Unsupported)
            .at(4)
            .expecting("a body without this compression")
            .finding(encoding.name())
            .helping(format!("the option `{option}` is set"))),
    }
}

/// What is needed to convert an offset after a tag such as REFP or COPY to an index in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct OffsetBase {
    /// The offset that these tags use for the first byte of the body.
    pub(super) first_offset: u64,
    /// Its index in the buffer.
    pub(super) start: usize,
}

impl OffsetBase {
    /// Returns the index of the item at this offset. An item after the tag that refers to it, which is at `tag_index`,
    /// is an error; a reference may refer to itself.
    pub(super) fn index_of_item(self, offset: u64, tag_index: usize) -> Result<usize, Error> {
        let index = offset
            .checked_sub(self.first_offset)
            .and_then(|distance| usize::try_from(distance).ok()?.checked_add(self.start));
        index.filter(|index| *index <= tag_index).ok_or_else(|| {
            let last_offset = (tag_index - self.start) as u64 + self.first_offset;
            Error::new(ErrorKind::BadLink)
                .at(tag_index)
                .expecting(format!("an offset from {} to {last_offset}", self.first_offset))
                .finding(format!("{offset}"))
        })
    }
}

/// Returns the description of a tag for an error.
pub(super) fn describe_tag(byte: u8) -> String {
    format!("{} (0x{byte:02x})", tag::name_of(byte))
}
