//! Frames: what separates one record from the next.

use clap::ValueEnum;
use icecore::{Error, ErrorKind};
use memchr::memchr;

/// What separates the records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Frame {
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

/// The first record in a buffer.
#[derive(Debug, PartialEq, Eq)]
pub enum Split {
    /// The record is at `start..end`, and the next one starts at `next`.
    Record { start: usize, end: usize, next: usize },
    /// The record is not complete yet.
    More,
    /// There are no more records.
    End,
    /// The record is broken, and the start of the next one is unknown.
    Bad(Error),
}

impl Frame {
    /// Returns the name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Finds the first record of these bytes, which are the last ones if `is_end`. Not for documents without frames.
    pub fn split_record(self, bytes: &[u8], is_end: bool) -> Split {
        match self {
            Frame::Documents => Split::End,
            Frame::Lines => match split_delimited(bytes, b'\n', is_end) {
                Split::Record { start, end, next } if bytes[..end].ends_with(b"\r") => {
                    Split::Record { start, end: end - 1, next }
                }
                split => split,
            },
            Frame::Nul => split_delimited(bytes, 0, is_end),
            Frame::Netstring => split_netstring(bytes, is_end),
            _ if bytes.is_empty() => split_at_end(bytes, is_end, ""),
            _ => match self.read_length(bytes) {
                Ok(Some((len, start))) => split_sized(bytes, start, len, 0, is_end),
                Ok(None) => split_at_end(bytes, is_end, "the length of a record"),
                Err(error) => Split::Bad(error),
            },
        }
    }

    /// Reads the length at the start of the bytes; returns it with the number of its own bytes.
    fn read_length(self, bytes: &[u8]) -> Result<Option<(u64, usize)>, Error> {
        macro_rules! read {
            ($type:ty, $from:ident) => {
                bytes.first_chunk().map(|chunk| (<$type>::$from(*chunk) as u64, size_of::<$type>()))
            };
        }
        Ok(match self {
            Frame::U16be => read!(u16, from_be_bytes),
            Frame::U16le => read!(u16, from_le_bytes),
            Frame::U32be => read!(u32, from_be_bytes),
            Frame::U32le => read!(u32, from_le_bytes),
            Frame::U64be => read!(u64, from_be_bytes),
            Frame::U64le => read!(u64, from_le_bytes),
            _ => return read_varint(bytes),
        })
    }

    /// Puts the frame around the buffer's bytes from `start` on.
    pub fn close_record(self, buffer: &mut Vec<u8>, start: usize) -> Result<(), Error> {
        let body = buffer.get(start..).unwrap_or(&[]);
        let len = body.len() as u64;
        let too_long = |max_len: u64| {
            Error::new(ErrorKind::Unrepresentable)
                .expecting(format!("a record of at most {max_len} bytes"))
                .finding(format!("one of {len}"))
                .helping(format!("--frame {} can't hold a larger length", self.name()))
        };
        macro_rules! head {
            ($type:ty, $to:ident) => {
                <$type>::try_from(len).map_err(|_| too_long(<$type>::MAX.into()))?.$to().to_vec()
            };
        }
        let head = match self {
            Frame::Documents => return Ok(()),
            Frame::Lines => return push_delimiter(buffer, start, b'\n', "a line feed"),
            Frame::Nul => return push_delimiter(buffer, start, 0, "a NUL byte"),
            Frame::U16be => head!(u16, to_be_bytes),
            Frame::U16le => head!(u16, to_le_bytes),
            Frame::U32be => head!(u32, to_be_bytes),
            Frame::U32le => head!(u32, to_le_bytes),
            Frame::U64be => len.to_be_bytes().to_vec(),
            Frame::U64le => len.to_le_bytes().to_vec(),
            Frame::Varint => encode_varint(len),
            Frame::Netstring => {
                buffer.push(b',');
                format!("{len}:").into_bytes()
            }
        };
        buffer.splice(start..start, head);
        Ok(())
    }
}

fn split_delimited(bytes: &[u8], delimiter: u8, is_end: bool) -> Split {
    match memchr(delimiter, bytes) {
        Some(end) => Split::Record { start: 0, end, next: end + 1 },
        None if bytes.is_empty() && is_end => Split::End,
        None if is_end => Split::Record { start: 0, end: bytes.len(), next: bytes.len() },
        None => Split::More,
    }
}

/// Ends a record with its delimiter, which it must not contain; a delimiter that is already at its end counts.
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

/// Returns the result at the end of the available bytes.
fn split_at_end(bytes: &[u8], is_end: bool, expected: &'static str) -> Split {
    match (is_end, bytes.is_empty()) {
        (false, _) => Split::More,
        (true, true) => Split::End,
        (true, false) => Split::Bad(
            Error::new(ErrorKind::Truncated).at(bytes.len()).expecting(expected).finding("the end of the input"),
        ),
    }
}

/// Returns a record of `len` bytes from `start` on, which `trailer_len` more bytes follow.
fn split_sized(bytes: &[u8], start: usize, len: u64, trailer_len: usize, is_end: bool) -> Split {
    let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
    match end.and_then(|end| Some((end, end.checked_add(trailer_len)?))) {
        Some((end, next)) if next <= bytes.len() => Split::Record { start, end, next },
        _ if !is_end => Split::More,
        _ => Split::Bad(
            Error::new(ErrorKind::Truncated)
                .at(bytes.len())
                .expecting(format!("{len} bytes of a record"))
                .finding(format!("only {}", bytes.len().saturating_sub(start))),
        ),
    }
}

fn read_varint(bytes: &[u8]) -> Result<Option<(u64, usize)>, Error> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let bits = u64::from(byte & 0x7F);
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
const DIGITS: usize = 18;

fn split_netstring(bytes: &[u8], is_end: bool) -> Split {
    let malformed = |offset: usize, expected: &'static str| {
        let found = bytes.get(offset).map_or_else(|| "the end".to_owned(), |byte| format!("the byte 0x{byte:02x}"));
        Split::Bad(Error::new(ErrorKind::Malformed).at(offset).expecting(expected).finding(found))
    };
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == bytes.len() && digits <= DIGITS {
        return split_at_end(bytes, is_end, "the length of a netstring");
    }
    if digits == 0 || digits > DIGITS || bytes[digits] != b':' {
        return malformed(digits.min(DIGITS), "digits and `:`, the length of a netstring");
    }
    let len = bytes[..digits].iter().fold(0, |len, digit| len * 10 + u64::from(digit - b'0'));
    match split_sized(bytes, digits + 1, len, 1, is_end) {
        Split::Record { end, .. } if bytes[end] != b',' => malformed(end, "`,`, the end of a netstring"),
        split => split,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Frame] = &[
        Frame::Lines,
        Frame::Nul,
        Frame::U16be,
        Frame::U16le,
        Frame::U32be,
        Frame::U32le,
        Frame::U64be,
        Frame::U64le,
        Frame::Varint,
        Frame::Netstring,
    ];

    fn frame_records(frame: Frame, records: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for record in records {
            let start = bytes.len();
            bytes.extend_from_slice(record);
            frame.close_record(&mut bytes, start).unwrap();
        }
        bytes
    }

    #[test]
    fn records_are_split_with_any_number_of_bytes() {
        let long = [b'x'; 300];
        let records: &[&[u8]] = &[b"one", b"", &long, b"12:3,"];
        for frame in ALL {
            let bytes = frame_records(*frame, records);
            let (mut offset, mut count) = (0, 0);
            while let Split::Record { start, end, next } = frame.split_record(&bytes[offset..], true) {
                assert_eq!(&bytes[offset + start..offset + end], records[count], "{frame:?}");
                for len in 0..next {
                    assert_eq!(
                        frame.split_record(&bytes[offset..offset + len], false),
                        Split::More,
                        "{frame:?} {len} of {next}"
                    );
                }
                (offset, count) = (offset + next, count + 1);
            }
            assert_eq!((offset, count), (bytes.len(), records.len()), "{frame:?}");
            assert_eq!(frame.split_record(&[], true), Split::End);
        }
    }

    #[test]
    fn cut_records_are_truncated() {
        for frame in ALL.iter().filter(|frame| !matches!(frame, Frame::Lines | Frame::Nul)) {
            let bytes = frame_records(*frame, &[b"hello"]);
            for end in 1..bytes.len() {
                let Split::Bad(error) = frame.split_record(&bytes[..end], true) else { panic!("{frame:?} {end}") };
                assert_eq!(error.kind(), ErrorKind::Truncated);
            }
        }
        assert_eq!(Frame::Lines.split_record(b"a\r\nb", true), Split::Record { start: 0, end: 1, next: 3 });
        assert_eq!(Frame::Lines.split_record(b"b", true), Split::Record { start: 0, end: 1, next: 1 });
    }

    #[test]
    fn huge_lengths_wait_or_are_refused() {
        for (frame, bytes) in [
            (Frame::U64be, &[0xFF; 8][..]),
            (Frame::U64le, &[0xFF; 9]),
            (Frame::Varint, &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
            (Frame::Netstring, b"999999999999999999:x"),
        ] {
            assert_eq!(frame.split_record(bytes, false), Split::More, "{frame:?}");
            assert!(matches!(frame.split_record(bytes, true), Split::Bad(_)), "{frame:?}");
        }
        for (frame, bytes) in [
            (Frame::Varint, &[0xFF; 11][..]),
            (Frame::Netstring, b"x"),
            (Frame::Netstring, b"1234567890123456789"),
            (Frame::Netstring, b"1:x;"),
            (Frame::Netstring, b":"),
        ] {
            assert!(matches!(frame.split_record(bytes, false), Split::Bad(_)), "{frame:?}");
        }
    }

    #[test]
    fn records_that_do_not_fit_a_frame_are_refused() {
        assert!(Frame::Lines.close_record(&mut b"a\nb".to_vec(), 0).is_err());
        assert!(Frame::Nul.close_record(&mut b"a\0b".to_vec(), 0).is_err());
        assert!(Frame::U16be.close_record(&mut vec![0; 70_000], 0).is_err());
        let mut line = b"before\nline\n".to_vec();
        Frame::Lines.close_record(&mut line, 7).unwrap();
        assert_eq!(line, b"before\nline\n");
    }
}
