//! The header of an image: the version of Storable and the machine that wrote it.

use super::super::Scan;
use super::ReadOptions;
use super::spelling::header as code;
use crate::document::{Detail, NO_NODE, Recorder, Sink, Spelling};
use crate::error::{Error, ErrorKind};
use crate::format::Restart;
use std::borrow::Cow;

/// The magic of a file.
pub(super) const MAGIC: &[u8] = b"pst0";
/// The magic of a file before 0.6.
pub(super) const OLD_MAGIC: &[u8] = b"perl-store";

/// The highest known version: 2.12.
pub(super) const MAJOR: i8 = 2;
pub(super) const MINOR: u8 = 12;

/// The most common byte order: little-endian, 64 bits.
const NATIVE_BYTE_ORDER: &[u8] = b"12345678";
/// Number of digits of the byte order of a 64-bit perl. Others write fewer.
const MAX_BYTE_ORDER_LEN: u8 = 8;

/// Content of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// Whether there is a magic, as in a file.
    pub(super) has_magic: bool,
    /// Whether the magic is that from before 0.6.
    pub(super) has_old_magic: bool,
    /// -1 (`perl-store` without a version), 0, 1 or 2.
    pub(super) major: i8,
    pub(super) minor: u8,
    pub(super) netorder: bool,
    /// The order of the bytes of an integer as digits, least significant is `1`: `12345678`.
    pub(super) byteorder: Cow<'static, [u8]>,
    /// Size of a C `int` in bytes; the following fields are such sizes, too.
    pub(super) int_size: u8,
    pub(super) long_size: u8,
    pub(super) pointer_size: u8,
    /// The size of a float.
    pub(super) nv_size: u8,
    /// The size of an integer.
    pub(super) iv_size: u8,
}

/// The beginnings of documents at which reading can start again: a file, an image of a 64-bit little-endian machine,
/// and an image in network order. The header of the last one has only the version.
pub(super) static RESTARTS: [Restart; 11] = [
    Restart::from_signature(MAGIC),
    Restart::from_context(b"", b"\x04\x0b\x0812345678"),
    Restart::from_context(b"", b"\x04\x0a\x0812345678"),
    Restart::from_context(b"", b"\x04\x09\x0812345678"),
    Restart::from_context(b"", b"\x04\x08\x0812345678"),
    Restart::from_context(b"", b"\x04\x07\x0812345678"),
    Restart::from_context(b"", b"\x05\x0b"),
    Restart::from_context(b"", b"\x05\x0a"),
    Restart::from_context(b"", b"\x05\x09"),
    Restart::from_context(b"", b"\x05\x08"),
    Restart::from_context(b"", b"\x05\x07"),
];

/// Returns `true` if an image may begin like this: with a magic, or with the version byte of an image
/// without one.
pub(super) fn may_begin_document(input: &[u8]) -> bool {
    let is_version = |byte: &u8| (1..=MAJOR as u8).contains(&(byte >> 1));
    input.first().is_some_and(is_version) || input.starts_with(MAGIC) || input.starts_with(OLD_MAGIC)
}

impl Image {
    /// Returns the header that perl writes on a 64-bit little-endian machine.
    pub(super) fn native() -> Image {
        Image {
            has_magic: true,
            has_old_magic: false,
            major: MAJOR,
            minor: 11,
            netorder: false,
            byteorder: Cow::Borrowed(NATIVE_BYTE_ORDER),
            int_size: 4,
            long_size: 8,
            pointer_size: 8,
            nv_size: 8,
            iv_size: 8,
        }
    }

    /// Returns `true` if a perl on a 64-bit little-endian machine reads the numbers of this image.
    pub(super) fn has_native_order(&self) -> bool {
        let own =
            |image: &Image| (image.netorder, image.byteorder.clone(), image.iv_size, image.nv_size, image.long_size);
        own(self) == own(&Image::native()) && (self.int_size, self.pointer_size) == (4, 8)
    }

    /// Returns `true` if the least significant byte of a 32-bit integer comes first.
    pub(super) fn is_little(&self) -> bool {
        !self.netorder && self.byteorder.first() < self.byteorder.last()
    }

    /// Returns `true` if the order of integers is neither big- nor little-endian.
    pub(super) fn is_mixed(&self) -> bool {
        let rising = self.byteorder.windows(2).all(|pair| pair[0] < pair[1]);
        let falling = self.byteorder.windows(2).all(|pair| pair[0] > pair[1]);
        !self.netorder && !rising && !falling
    }

    /// Returns `true` if classes follow the values that they bless (before 0.7).
    pub(super) fn is_old(&self) -> bool {
        self.major < 2
    }

    /// Returns `true` if values are tagged with their former address, and items with marks (before
    /// 0.6).
    pub(super) fn has_addresses(&self) -> bool {
        self.major < 1
    }

    /// Returns `true` if the header contains the size of a float.
    fn has_nv_size(&self) -> bool {
        self.major >= 2 && self.minor >= 2
    }

    /// Describes the image in words: `file, 2.11, native 64-bit little-endian`.
    pub(super) fn describe(&self) -> String {
        let place = if self.has_magic { "file" } else { "memory image" };
        let version = match (self.major, self.minor) {
            (2, minor) => format!("version 2.{minor}"),
            (-1, _) => "version 0, first form".to_owned(),
            (major, _) => format!("version {major}"),
        };
        if self.netorder {
            return format!("{place}, {version}, network order");
        }
        let end = match (self.is_mixed(), self.is_little()) {
            (true, _) => "mixed-endian",
            (_, true) => "little-endian",
            (_, false) => "big-endian",
        };
        let float = if self.nv_size == 8 { String::new() } else { format!(", {}-byte floats", self.nv_size) };
        format!("{place}, {version}, native {}-bit {end}{float}", u32::from(self.iv_size) * 8)
    }

    /// Reads a header. The options give what some headers lack: the size of an integer (perl
    /// 5.6) and of a float (before 2.2).
    pub(super) fn read<S: Sink>(scan: &mut Scan<'_>, options: &ReadOptions, sink: &mut S) -> Result<Image, Error> {
        let mut image = Image::native();
        let start = scan.offset;
        image.has_magic = scan.input[start..].starts_with(MAGIC);
        image.has_old_magic = scan.input[start..].starts_with(OLD_MAGIC);
        if image.has_magic {
            scan.offset += MAGIC.len();
        } else if image.has_old_magic {
            scan.offset += OLD_MAGIC.len();
            image.has_magic = true;
        }
        record_header_piece(sink, start, scan.offset, "magic");
        let version_start = scan.offset;
        let version = scan.read_u8("the version")?;
        image.major = if image.has_old_magic && version > 1 { -1 } else { (version >> 1) as i8 };
        image.netorder = image.major >= 0 && version & 1 == 1;
        if image.major > MAJOR || image.major < 1 && !image.has_old_magic {
            return Err(Error::new(ErrorKind::Format)
                .at(version_start)
                .expecting("a Storable image of major version 1 or 2")
                .finding(format!("version byte 0x{version:02x}")));
        }
        if image.major >= 0 {
            record_header_piece(sink, version_start, scan.offset, "major version, byte order");
        }
        image.minor = 0;
        if image.major >= 2 {
            let minor_start = scan.offset;
            image.minor = scan.read_u8("the minor version")?;
            record_header_piece(sink, minor_start, scan.offset, "minor version");
        }
        if !image.netorder {
            image.read_machine(scan, version, options, sink)?;
        }
        if let Some(detail) = sink.detail() {
            image.note_header(detail);
        }
        Ok(image)
    }

    fn read_machine<S: Sink>(
        &mut self,
        scan: &mut Scan<'_>,
        version: u8,
        options: &ReadOptions,
        sink: &mut S,
    ) -> Result<(), Error> {
        let length_start = scan.offset;
        let len = if self.major >= 0 { scan.read_u8("the length of the byte order")? } else { version };
        record_header_piece(
            sink,
            if self.major >= 0 { length_start } else { length_start - 1 },
            scan.offset,
            "length of byte order",
        );
        let start = scan.offset;
        if len > MAX_BYTE_ORDER_LEN {
            return Err(Error::new(ErrorKind::Malformed)
                .at(length_start)
                .expecting("a byte order of 4 or 8 digits")
                .finding(format!("{len} of them")));
        }
        self.byteorder = match scan.read_bytes(usize::from(len), "the byte order")? {
            NATIVE_BYTE_ORDER => Cow::Borrowed(NATIVE_BYTE_ORDER),
            other => Cow::Owned(other.to_vec()),
        };
        record_header_piece(sink, start, scan.offset, "byte order");
        let mut digits = self.byteorder.to_vec();
        digits.sort_unstable();
        // Perl did not run on a machine with a mixed order of 4 bytes, such as 3412, so such a header is damaged.
        let is_order = digits == b"12345678" || digits == b"1234" && !self.is_mixed();
        if !is_order {
            return Err(Error::new(ErrorKind::Malformed)
                .at(start)
                .expecting("a byte order such as 12345678 or 4321")
                .finding(format!("{:?}", String::from_utf8_lossy(&self.byteorder))));
        }
        self.iv_size = if options.interwork_56_64bit { 8 } else { self.byteorder.len() as u8 };
        for (size, field_name) in [
            (&mut self.int_size, "size of int"),
            (&mut self.long_size, "size of long"),
            (&mut self.pointer_size, "size of pointer"),
        ] {
            let size_start = scan.offset;
            *size = scan.read_u8(field_name)?;
            record_header_piece(sink, size_start, scan.offset, field_name);
            if !matches!(*size, 2 | 4 | 8) {
                return Err(Error::new(ErrorKind::Malformed)
                    .at(size_start)
                    .expecting(format!("a {field_name} of 4 or 8"))
                    .finding(size.to_string()));
            }
        }
        self.nv_size = options.nv_size.unwrap_or(8);
        if self.has_nv_size() {
            let size_start = scan.offset;
            self.nv_size = scan.read_u8("size of NV")?;
            record_header_piece(sink, size_start, scan.offset, "size of NV");
            if !matches!(self.nv_size, 8 | 12 | 16) {
                return Err(Error::new(ErrorKind::Malformed)
                    .at(size_start)
                    .expecting("a size of NV of 8, 12 or 16")
                    .finding(self.nv_size.to_string()));
            }
        }
        Ok(())
    }

    fn note_header(&self, detail: &mut Detail) {
        detail.spelling.format = super::NAME.to_owned();
        detail.record_header_note(code::FILE, u64::from(self.has_magic) + u64::from(self.has_old_magic));
        detail.record_header_note(code::MAJOR, self.major as u8 as u64);
        detail.record_header_note(code::MINOR, u64::from(self.minor));
        detail.record_header_note(code::NETORDER, u64::from(self.netorder));
        if !self.netorder {
            let order = self.byteorder.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
            detail.record_header_note(code::BYTEORDER, order);
            let sizes = [self.int_size, self.long_size, self.pointer_size, self.nv_size, self.iv_size];
            detail.record_header_note(code::SIZES, sizes.iter().fold(0, |sum, size| sum << 8 | u64::from(*size)));
        }
    }

    /// Returns the image that a spelling describes.
    pub(super) fn from_spelling(spelling: &Spelling) -> Image {
        let mut image = Image::native();
        let get = |code| spelling.get(code);
        if let Some(file) = get(code::FILE) {
            image.has_magic = file > 0;
            image.has_old_magic = file > 1;
        }
        if let Some(major) = get(code::MAJOR) {
            image.major = major as u8 as i8;
        }
        if let Some(minor) = get(code::MINOR) {
            image.minor = minor as u8;
        }
        image.netorder = get(code::NETORDER) == Some(1);
        let order = get(code::BYTEORDER).map(|order| order.to_string().into_bytes());
        if let Some(order) = order
            && matches!(order.len(), 4 | 8)
        {
            image.byteorder = Cow::Owned(order);
        }
        if let Some(sizes) = get(code::SIZES) {
            let [_, _, _, int, long, pointer, nv, iv] = sizes.to_be_bytes();
            (image.int_size, image.long_size, image.pointer_size, image.nv_size) = (int, long, pointer, nv);
            image.iv_size = if iv == 4 { 4 } else { 8 };
        }
        image
    }

    /// Appends the header.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if self.has_old_magic {
            out.extend_from_slice(OLD_MAGIC);
        } else if self.has_magic {
            out.extend_from_slice(MAGIC);
        }
        if self.major >= 0 {
            out.push((self.major as u8) << 1 | u8::from(self.netorder));
        }
        if self.major >= 2 {
            out.push(self.minor);
        }
        if !self.netorder {
            out.push(self.byteorder.len() as u8);
            out.extend_from_slice(&self.byteorder);
            out.extend_from_slice(&[self.int_size, self.long_size, self.pointer_size]);
            if self.has_nv_size() {
                out.push(self.nv_size);
            }
        }
    }
}

fn record_header_piece<S: Sink>(sink: &mut S, start: usize, end: usize, name: &'static str) {
    sink.record_span(start, end, NO_NODE, name);
}

/// Numbers in the image's byte order.
impl Image {
    #[inline]
    pub(super) fn encode_u32(&self, value: u32) -> [u8; 4] {
        if self.netorder || !self.is_little_32() { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub(super) fn encode_u64(&self, value: u64) -> [u8; 8] {
        if self.is_little() { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    #[inline]
    fn is_little_32(&self) -> bool {
        self.byteorder.first() < self.byteorder.last()
    }

    pub(super) fn push_integer(&self, value: i64, buf: &mut Vec<u8>) {
        let order = &self.byteorder;
        if order.len() == usize::from(self.iv_size) {
            let bytes = value.to_le_bytes();
            buf.extend(order.iter().map(|digit| bytes[usize::from(digit.wrapping_sub(b'1') & 7)]));
        } else if self.is_little() {
            buf.extend_from_slice(&value.to_le_bytes()[..usize::from(self.iv_size)]);
        } else {
            buf.extend_from_slice(&value.to_be_bytes()[8 - usize::from(self.iv_size)..]);
        }
    }

    /// Writes a float. If the image is that of an x87 machine with long doubles, the float becomes a long double.
    pub(super) fn push_float(&self, value: f64, buf: &mut Vec<u8>) {
        let is_little_endian = self.netorder || self.is_little();
        if self.nv_size == 8 {
            buf.extend_from_slice(&if is_little_endian { value.to_le_bytes() } else { value.to_be_bytes() });
            return;
        }
        let wide = crate::num::float128::from_f64(value);
        let mut raw = [0; 16];
        if self.nv_size == 12 || is_little_endian {
            raw[..10].copy_from_slice(&crate::num::float128::to_x87(&wide));
        } else {
            raw = wide;
        }
        let raw = &mut raw[..usize::from(self.nv_size)];
        if !is_little_endian {
            raw.reverse();
        }
        buf.extend_from_slice(raw);
    }
}
