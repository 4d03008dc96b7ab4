//! Framings: what separates one record from the next.

use clap::ValueEnum;
use icecore::{Error, ErrorKind};
use memchr::memchr;

/// What separates the records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Framing {
    /// No separator: documents follow one another
    Documents,
    /// One record per line
    Lines,
    /// A NUL byte after each record
    Nul,
    /// Length before each record: 16 bits, big-endian
    U16be,
    /// Length of 16 bits, little-endian
    U16le,
    /// Length of 32 bits, big-endian
    U32be,
    /// Length of 32 bits, little-endian
    U32le,
    /// Length of 64 bits, big-endian
    U64be,
    /// Length of 64 bits, little-endian
    U64le,
    /// Length with 7 bits per byte, lowest first, as Protocol Buffers write it
    Varint,
    /// Netstrings: `12:hello world!,`
    Netstring,
}

/// The result of a search for the first record in a buffer.
#[derive(Debug, PartialEq, Eq)]
pub enum Split {
    /// The record is at `start..end`, and the next one starts at `next`.
    Record { start: usize, end: usize, next: usize },
    /// The record is not complete yet.
    Incomplete,
    /// There are no more records.
    End,
    /// The record is broken, and the start of the next one is unknown.
    Broken(Error),
}

impl Framing {
    /// Returns the name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Finds the first record of these bytes. `is_end` is true if the input ends after them. Documents without
    /// separators are not found: only their format knows where they end.
    pub fn split_record(self, bytes: &[u8], is_end: bool) -> Split {
        match self {
            Framing::Documents => Split::End,
            Framing::Lines => match split_delimited(bytes, b'\n', is_end) {
                Split::Record { start, end, next } if bytes[..end].ends_with(b"\r") => {
                    Split::Record { start, end: end - 1, next }
                }
                split => split,
            },
            Framing::Nul => split_delimited(bytes, 0, is_end),
            Framing::Netstring => split_netstring(bytes, is_end),
            _ if bytes.is_empty() => split_at_end(bytes, is_end, ""),
            _ => match self.read_length(bytes) {
                Ok(Some((len, start))) => split_sized(bytes, start, len, 0, is_end),
                Ok(None) => split_at_end(bytes, is_end, "the length of a record"),
                Err(error) => Split::Broken(error),
            },
        }
    }

    /// Reads the length of the record from the start of the bytes. Returns it and the number of bytes that it takes;
    /// `None` if it is not complete.
    fn read_length(self, bytes: &[u8]) -> Result<Option<(u64, usize)>, Error> {
        macro_rules! fixed_length {
            ($type:ty, $from:ident) => {
                bytes.first_chunk().map(|chunk| (<$type>::$from(*chunk) as u64, size_of::<$type>()))
            };
        }
        Ok(match self {
            Framing::U16be => fixed_length!(u16, from_be_bytes),
            Framing::U16le => fixed_length!(u16, from_le_bytes),
            Framing::U32be => fixed_length!(u32, from_be_bytes),
            Framing::U32le => fixed_length!(u32, from_le_bytes),
            Framing::U64be => fixed_length!(u64, from_be_bytes),
            Framing::U64le => fixed_length!(u64, from_le_bytes),
            _ => return read_varint(bytes),
        })
    }

    /// Turns the buffer's bytes from `start` on into a record: adds its length or separator.
    pub fn close_record(self, buffer: &mut Vec<u8>, start: usize) -> Result<(), Error> {
        let body = buffer.get(start..).unwrap_or(&[]);
        let len = body.len() as u64;
        let too_long_error = |max_len: u64| {
            Error::new(ErrorKind::Unrepresentable)
                .expecting(format!("a record of at most {max_len} bytes"))
                .finding(format!("one of {len}"))
                .helping(format!("--frame {} can't hold a larger length", self.name()))
        };
        macro_rules! length_prefix {
            ($type:ty, $to:ident) => {
                <$type>::try_from(len).map_err(|_| too_long_error(<$type>::MAX.into()))?.$to().to_vec()
            };
        }
        let prefix = match self {
            Framing::Documents => return Ok(()),
            Framing::Lines => return push_delimiter(buffer, start, b'\n', "a line feed"),
            Framing::Nul => return push_delimiter(buffer, start, 0, "a NUL byte"),
            Framing::U16be => length_prefix!(u16, to_be_bytes),
            Framing::U16le => length_prefix!(u16, to_le_bytes),
            Framing::U32be => length_prefix!(u32, to_be_bytes),
            Framing::U32le => length_prefix!(u32, to_le_bytes),
            Framing::U64be => len.to_be_bytes().to_vec(),
            Framing::U64le => len.to_le_bytes().to_vec(),
            Framing::Varint => encode_varint(len),
            Framing::Netstring => {
                buffer.push(b',');
                format!("{len}:").into_bytes()
            }
        };
        buffer.splice(start..start, prefix);
        Ok(())
    }
}

/// Finds the first record that ends with this byte. At the end of the input, the delimiter may be missing.
fn split_delimited(bytes: &[u8], delimiter: u8, is_end: bool) -> Split {
    match memchr(delimiter, bytes) {
        Some(end) => Split::Record { start: 0, end, next: end + 1 },
        None if bytes.is_empty() && is_end => Split::End,
        None if is_end => Split::Record { start: 0, end: bytes.len(), next: bytes.len() },
        None => Split::Incomplete,
    }
}

/// Adds the delimiter to the record from `start` on, unless it already ends with it. Fails if the record contains it.
fn push_delimiter(
    buffer: &mut Vec<u8>,
    start: usize,
    delimiter: u8,
    delimiter_name: &'static str,
) -> Result<(), Error> {
    let body = buffer.get(start..).unwrap_or(&[]);
    match memchr(delimiter, body) {
        None => buffer.push(delimiter),
        Some(index) if index + 1 == body.len() => {}
        Some(index) => {
            return Err(Error::new(ErrorKind::Unrepresentable)
                .expecting(format!("a record without {delimiter_name} in it"))
                .finding(format!("one at byte {index} of the record"))
                .helping("write a length before each with `--frame u32be`, or wrap them: `-t base64/…`"));
        }
    }
    Ok(())
}

/// Returns the result for bytes that are too few: more are needed, or the input ends here. `expected` names what is
/// missing.
fn split_at_end(bytes: &[u8], is_end: bool, expected: &'static str) -> Split {
    match (is_end, bytes.is_empty()) {
        (false, _) => Split::Incomplete,
        (true, true) => Split::End,
        (true, false) => Split::Broken(
            Error::new(ErrorKind::Truncated).at(bytes.len()).expecting(expected).finding("the end of the input"),
        ),
    }
}

/// Returns a record of `len` bytes from `start` on. The next record begins `trailer_len` bytes after its end.
fn split_sized(bytes: &[u8], start: usize, len: u64, trailer_len: usize, is_end: bool) -> Split {
    let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
    match end.and_then(|end| Some((end, end.checked_add(trailer_len)?))) {
        Some((end, next)) if next <= bytes.len() => Split::Record { start, end, next },
        _ if !is_end => Split::Incomplete,
        _ => Split::Broken(
            Error::new(ErrorKind::Truncated)
                .at(bytes.len())
                .expecting(format!("{len} bytes of a record"))
                .finding(format!("only {}", bytes.len().saturating_sub(start))),
        ),
    }
}

/// Reads a varint: its value, and the number of bytes that it takes; `None` if it is not complete.
fn read_varint(bytes: &[u8]) -> Result<Option<(u64, usize)>, Error> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let bits = u64::from(byte & 0x7F);
        // Nine bytes have 63 bits, so the tenth may have only one more.
        if index >= 10 || index == 9 && bits > 1 {
            return Err(Error::new(ErrorKind::Malformed)
                .at(index)
                .expecting("a length of at most 64 bits")
                .finding("a longer varint"));
        }
        value |= bits << (7 * index);
        if *byte < 0x80 {
            return Ok(Some((value, index + 1)));
        }
    }
    Ok(None)
}

fn encode_varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 & 0x7F | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Maximum number of digits of a netstring's length.
const MAX_LEN_DIGITS: usize = 18;

fn split_netstring(bytes: &[u8], is_end: bool) -> Split {
    let malformed = |offset: usize, expected: &'static str| {
        let found = bytes.get(offset).map_or_else(|| "the end".to_owned(), |byte| format!("the byte 0x{byte:02x}"));
        Split::Broken(Error::new(ErrorKind::Malformed).at(offset).expecting(expected).finding(found))
    };
    let digit_count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digit_count == bytes.len() && digit_count <= MAX_LEN_DIGITS {
        return split_at_end(bytes, is_end, "the length of a netstring");
    }
    if digit_count == 0 || digit_count > MAX_LEN_DIGITS || bytes[digit_count] != b':' {
        return malformed(digit_count.min(MAX_LEN_DIGITS), "digits and `:`, the length of a netstring");
    }
    let len = bytes[..digit_count].iter().fold(0, |len, digit| len * 10 + u64::from(digit - b'0'));
    match split_sized(bytes, digit_count + 1, len, 1, is_end) {
        Split::Record { end, .. } if bytes[end] != b',' => malformed(end, "`,`, the end of a netstring"),
        split => split,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Framing] = &[
        Framing::Lines,
        Framing::Nul,
        Framing::U16be,
        Framing::U16le,
        Framing::U32be,
        Framing::U32le,
        Framing::U64be,
        Framing::U64le,
        Framing::Varint,
        Framing::Netstring,
    ];

    fn frame_records(framing: Framing, records: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for record in records {
            let start = bytes.len();
            bytes.extend_from_slice(record);
            framing.close_record(&mut bytes, start).unwrap();
        }
        bytes
    }

    #[test]
    fn records_are_split_with_any_number_of_bytes() {
        let long = [b'x'; 300];
        let records: &[&[u8]] = &[b"one", b"", &long, b"12:3,"];
        for framing in ALL {
            let bytes = frame_records(*framing, records);
            let (mut offset, mut count) = (0, 0);
            while let Split::Record { start, end, next } = framing.split_record(&bytes[offset..], true) {
                assert_eq!(&bytes[offset + start..offset + end], records[count], "{framing:?}");
                for len in 0..next {
                    assert_eq!(
                        framing.split_record(&bytes[offset..offset + len], false),
                        Split::Incomplete,
                        "{framing:?} {len} of {next}"
                    );
                }
                (offset, count) = (offset + next, count + 1);
            }
            assert_eq!((offset, count), (bytes.len(), records.len()), "{framing:?}");
            assert_eq!(framing.split_record(&[], true), Split::End);
        }
    }

    #[test]
    fn cut_records_are_truncated() {
        for framing in ALL.iter().filter(|framing| !matches!(framing, Framing::Lines | Framing::Nul)) {
            let bytes = frame_records(*framing, &[b"hello"]);
            for end in 1..bytes.len() {
                let Split::Broken(error) = framing.split_record(&bytes[..end], true) else {
                    panic!("{framing:?} {end}")
                };
                assert_eq!(error.kind(), ErrorKind::Truncated);
            }
        }
        assert_eq!(Framing::Lines.split_record(b"a\r\nb", true), Split::Record { start: 0, end: 1, next: 3 });
        assert_eq!(Framing::Lines.split_record(b"b", true), Split::Record { start: 0, end: 1, next: 1 });
    }

    #[test]
    fn huge_lengths_wait_or_are_refused() {
        for (framing, bytes) in [
            (Framing::U64be, &[0xFF; 8][..]),
            (Framing::U64le, &[0xFF; 9]),
            (Framing::Varint, &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
            (Framing::Netstring, b"999999999999999999:x"),
        ] {
            assert_eq!(framing.split_record(bytes, false), Split::Incomplete, "{framing:?}");
            assert!(matches!(framing.split_record(bytes, true), Split::Broken(_)), "{framing:?}");
        }
        for (framing, bytes) in [
            (Framing::Varint, &[0xFF; 11][..]),
            (Framing::Netstring, b"x"),
            (Framing::Netstring, b"1234567890123456789"),
            (Framing::Netstring, b"1:x;"),
            (Framing::Netstring, b":"),
        ] {
            assert!(matches!(framing.split_record(bytes, false), Split::Broken(_)), "{framing:?}");
        }
    }

    #[test]
    fn records_that_do_not_fit_a_frame_are_refused() {
        assert!(Framing::Lines.close_record(&mut b"a\nb".to_vec(), 0).is_err());
        assert!(Framing::Nul.close_record(&mut b"a\0b".to_vec(), 0).is_err());
        assert!(Framing::U16be.close_record(&mut vec![0; 70_000], 0).is_err());
        let mut line = b"before\nline\n".to_vec();
        Framing::Lines.close_record(&mut line, 7).unwrap();
        assert_eq!(line, b"before\nline\n");
    }
}
