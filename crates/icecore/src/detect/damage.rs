//! What probably happened to bytes that no stage can read: they are cut, or another program changed all of them in a
//! known way.

use super::supported::find_first_format;
use super::{Finding, begins, identify};
use crate::error::{Error, ErrorKind};
use crate::format::{Certainty, Request};
use crate::html_entities::decode_entities;
use crate::limits::Limits;
use crate::stage::Stage;
use memchr::memmem;

/// The probable cause of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DamageCause {
    /// The end is missing.
    Cut,
    /// A byte at some place is wrong.
    Broken,
    /// Several documents follow one another.
    Concatenated,
    /// Every byte was taken for a character of Latin-1 or Windows-1252, and written in UTF-8.
    EncodedTwice,
    /// Quotes are written as HTML entities.
    Entities,
    /// Backslashes precede quotes.
    Backslashes,
    /// LF became CRLF.
    LineEnds,
    /// A byte order mark precedes it.
    ByteOrderMark,
    /// A version of the format that is not read.
    Unsupported,
    /// Several documents, each after its length in 2, 4 or 8 bytes.
    Framed(FrameLength),
    /// A hex dump with offsets, as `xxd`, `hexdump -C` and `od -tx1` print it.
    HexDump,
}

impl DamageCause {
    /// Returns its name for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            DamageCause::Cut => "cut",
            DamageCause::Broken => "broken",
            DamageCause::Concatenated => "concatenated",
            DamageCause::EncodedTwice => "encoded-twice",
            DamageCause::Entities => "entities",
            DamageCause::Backslashes => "backslashes",
            DamageCause::LineEnds => "line-ends",
            DamageCause::ByteOrderMark => "byte-order-mark",
            DamageCause::HexDump => "hex-dump",
            DamageCause::Unsupported => "unsupported",
            DamageCause::Framed(_) => "framed",
        }
    }

    /// Returns a description in a few words: `php, cut off`.
    pub fn describe(self) -> &'static str {
        match self {
            DamageCause::Cut => "cut off",
            DamageCause::Broken => "damaged",
            DamageCause::Concatenated => "several documents, one after the other",
            DamageCause::EncodedTwice => "converted from Latin-1 to UTF-8, although it was not text",
            DamageCause::Entities => "with quotes as HTML entities",
            DamageCause::Backslashes => "with backslashes before its quotes",
            DamageCause::LineEnds => "with line ends that were converted to CRLF",
            DamageCause::ByteOrderMark => "after a byte order mark",
            DamageCause::HexDump => "as a hex dump",
            DamageCause::Unsupported => "not supported",
            DamageCause::Framed(_) => "several documents, each after its length",
        }
    }

    /// Returns how the damage is undone, if a general tool does that.
    pub fn remedy(self) -> Option<&'static str> {
        match self {
            DamageCause::EncodedTwice => Some("`iconv -f utf-8 -t latin1` undoes that"),
            DamageCause::Entities => {
                Some("`php -r 'echo html_entity_decode(stream_get_contents(STDIN), ENT_QUOTES);'` undoes that")
            }
            DamageCause::LineEnds => Some("`sed 's/\\r$//'` undoes that, if it had no CRLF of its own"),
            DamageCause::ByteOrderMark => Some("`tail -c +4` removes the mark"),
            DamageCause::HexDump => Some("`xxd -r` undoes that"),
            DamageCause::Cut
            | DamageCause::Broken
            | DamageCause::Unsupported
            | DamageCause::Concatenated
            | DamageCause::Framed(_)
            | DamageCause::Backslashes => None,
        }
    }
}

/// The integer before each of several documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameLength {
    /// 16 bits, big-endian.
    U16Be,
    /// 16 bits, little-endian.
    U16Le,
    /// 32 bits, big-endian, as Ruby's DRb writes.
    U32Be,
    /// 32 bits, little-endian.
    U32Le,
    /// 64 bits, big-endian.
    U64Be,
    /// 64 bits, little-endian.
    U64Le,
}

impl FrameLength {
    const ALL: [FrameLength; 6] = [
        FrameLength::U32Be,
        FrameLength::U32Le,
        FrameLength::U64Be,
        FrameLength::U64Le,
        FrameLength::U16Be,
        FrameLength::U16Le,
    ];

    /// Returns its name, as the option `--each` of the command has it: `u32be`.
    pub fn as_str(self) -> &'static str {
        match self {
            FrameLength::U16Be => "u16be",
            FrameLength::U16Le => "u16le",
            FrameLength::U32Be => "u32be",
            FrameLength::U32Le => "u32le",
            FrameLength::U64Be => "u64be",
            FrameLength::U64Le => "u64le",
        }
    }

    /// Returns the first document of some frames, and the rest after it.
    fn split_first(self, input: &[u8]) -> Option<(&[u8], &[u8])> {
        let (len, rest) = match self {
            FrameLength::U16Be => input.split_first_chunk().map(|(len, rest)| (u16::from_be_bytes(*len).into(), rest)),
            FrameLength::U16Le => input.split_first_chunk().map(|(len, rest)| (u16::from_le_bytes(*len).into(), rest)),
            FrameLength::U32Be => input.split_first_chunk().map(|(len, rest)| (u32::from_be_bytes(*len).into(), rest)),
            FrameLength::U32Le => input.split_first_chunk().map(|(len, rest)| (u32::from_le_bytes(*len).into(), rest)),
            FrameLength::U64Be => input.split_first_chunk().map(|(len, rest)| (u64::from_be_bytes(*len), rest)),
            FrameLength::U64Le => input.split_first_chunk().map(|(len, rest)| (u64::from_le_bytes(*len), rest)),
        }?;
        rest.split_at_checked(usize::try_from(len).ok()?)
    }
}

/// Damage, and the format that the bytes had before.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DetectedDamage {
    /// The probable cause.
    pub cause: DamageCause,
    /// The stage of the undamaged bytes: `base64/php`.
    pub stage: Stage,
    /// Where reading fails, if that says more than the cause.
    pub error: Option<Error>,
}

impl DetectedDamage {
    fn new(cause: DamageCause, stage: Stage) -> DetectedDamage {
        DetectedDamage { cause, stage, error: None }
    }
}

/// Returns what probably happened to bytes that are not one whole document. The result is `None` if they are one, or
/// if nothing is known about them.
///
/// The work is proportional to the length of the input.
///
/// ```
/// use icecore::detect::{DamageCause, find_damage};
/// let cut = find_damage(br#"a:2:{i:0;s:5:"Alice";i:1;s:3:"B"#).unwrap();
/// assert_eq!((cause(&cut), &*cut.stage.name()), (DamageCause::Cut, "php"));
/// let entities = find_damage(b"a:1:{i:0;s:5:&quot;Alice&quot;;}").unwrap();
/// assert_eq!((cause(&entities), &*entities.stage.name()), (DamageCause::Entities, "php"));
/// assert!(find_damage(b"a:0:{}").is_none() && find_damage(b"hello").is_none());
/// # fn cause(damage: &icecore::detect::DetectedDamage) -> DamageCause { damage.cause }
/// ```
pub fn find_damage(input: &[u8]) -> Option<DetectedDamage> {
    if let Some(finding) = identify(input) {
        // The readers of texts skip a byte order mark if their caller says so.
        let text = input.strip_prefix(MARK).unwrap_or(input);
        return if finding.is_read { find_break(text, &stage_of_finding(&finding)?) } else { None };
    }
    let undone = UNDOINGS.iter().find_map(|(cause, undo)| {
        let finding = identify(&undo(input)?)?;
        let is_known = finding.is_read && finding.certainty == Certainty::Sure;
        Some(DetectedDamage::new(*cause, stage_of_finding(&finding).filter(|_| is_known)?))
    });
    undone
        .or_else(|| find_frames(input))
        .or_else(|| Some(DetectedDamage::new(DamageCause::Concatenated, Stage::of(find_first_format(input)?))))
        .or_else(|| find_break(input, &begins::damaged_stage(input)?))
}

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Undoes a change of all bytes. Returns `None` if the bytes can't have been changed in this way.
type Undo = fn(&[u8]) -> Option<Vec<u8>>;

/// The ways in which programs change all bytes of a document.
const UNDOINGS: [(DamageCause, Undo); 6] = [
    (DamageCause::ByteOrderMark, |input| input.strip_prefix(MARK).map(<[u8]>::to_vec)),
    (DamageCause::Entities, decode_entities),
    (DamageCause::EncodedTwice, undo_second_encoding),
    (DamageCause::Backslashes, remove_backslashes),
    (DamageCause::LineEnds, remove_carriage_returns),
    (DamageCause::HexDump, read_hex_dump),
];

fn stage_of_finding(finding: &Finding) -> Option<Stage> {
    let names: Vec<&str> = finding.wrappers.iter().copied().chain([finding.name]).collect();
    Stage::parse(&names.join("/")).ok()
}

/// Returns where the bytes are cut or broken, if this stage can't read them.
fn find_break(input: &[u8], stage: &Stage) -> Option<DetectedDamage> {
    let error = read_all(input, stage).err()?;
    let cause = match error.kind() {
        ErrorKind::Truncated => DamageCause::Cut,
        // Other bytes follow, or the input is larger than these limits.
        ErrorKind::Trailing | ErrorKind::Limit => return None,
        ErrorKind::Unsupported => DamageCause::Unsupported,
        _ => DamageCause::Broken,
    };
    Some(DetectedDamage { cause, stage: stage.clone(), error: Some(error) })
}

/// Reads bytes as one document, and drops it.
fn read_all(input: &[u8], stage: &Stage) -> Result<(), Error> {
    let mut limits = Limits::default();
    let body = stage.unwrap_within(input, &mut limits)?.bytes;
    let request = Request::new(&limits);
    let outcome = stage.format().read(&body, stage.settings(), request);
    outcome.into_whole_document(&body, stage.format()).map(drop)
}

/// Returns the form and the stage of documents that follow their lengths. The first one must be in a format with a
/// signature, and all lengths must fit.
fn find_frames(input: &[u8]) -> Option<DetectedDamage> {
    FrameLength::ALL.iter().find_map(|length| {
        let (first, mut rest) = length.split_first(input)?;
        // Two bytes often happen to be the length of the rest.
        let is_short = matches!(length, FrameLength::U16Be | FrameLength::U16Le);
        if is_short && rest.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            rest = length.split_first(rest)?.1;
        }
        let finding = identify(first).filter(|finding| finding.is_read && finding.certainty == Certainty::Sure)?;
        let has_signature = finding.wrappers.is_empty() && begins::begins_frozen(first).is_some();
        Some(DetectedDamage::new(DamageCause::Framed(*length), stage_of_finding(&finding).filter(|_| has_signature)?))
    })
}

/// Returns the bytes of a text whose characters are bytes, in Latin-1 or Windows-1252.
fn undo_second_encoding(input: &[u8]) -> Option<Vec<u8>> {
    if input.is_ascii() {
        return None;
    }
    std::str::from_utf8(input).ok()?.chars().map(byte_of_char).collect()
}

/// Returns the byte that is this character in Windows-1252, or else in Latin-1.
fn byte_of_char(char: char) -> Option<u8> {
    /// The characters of the bytes from 0x80 on in Windows-1252; a space where it has none.
    const WINDOWS_1252: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";
    u8::try_from(u32::from(char))
        .ok()
        .or_else(|| WINDOWS_1252.chars().zip(0x80..).find(|(known, _)| *known == char).map(|(_, byte)| byte))
}

/// Returns a text without the backslashes of SQL and of `addslashes`.
fn remove_backslashes(input: &[u8]) -> Option<Vec<u8>> {
    memmem::find(input, b"\\\"").or_else(|| memmem::find(input, b"\\0"))?;
    let mut bytes = Vec::with_capacity(input.len());
    let mut rest = input.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match (byte, if *byte == b'\\' { rest.next() } else { None }) {
            (_, Some(b'0')) => 0,
            (_, Some(b'n')) => b'\n',
            (_, Some(b'r')) => b'\r',
            (_, Some(b'Z')) => 0x1a,
            (_, Some(escaped)) => *escaped,
            (byte, None) => *byte,
        });
    }
    Some(bytes)
}

fn remove_carriage_returns(input: &[u8]) -> Option<Vec<u8>> {
    memmem::find(input, b"\r\n")?;
    let mut bytes = Vec::with_capacity(input.len());
    let mut rest = input;
    while let Some(offset) = memmem::find(rest, b"\r\n") {
        bytes.extend_from_slice(&rest[..offset]);
        rest = &rest[offset + 1..];
    }
    bytes.extend_from_slice(rest);
    Some(bytes)
}

/// Returns the bytes of a hex dump. Each line has an offset, up to 16 bytes in hex, and maybe their characters.
fn read_hex_dump(input: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(input).ok()?;
    let mut bytes = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (offset, digits) = line.split_once([':', ' ']).unwrap_or((line, ""));
        let is_offset = offset.len() >= 4 && offset.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_offset {
            return None;
        }
        // The last line of `hexdump` and `od` is an offset only.
        push_line_bytes(digits, &mut bytes)?;
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// Appends the bytes of a line: groups of hex digits, until the characters begin after two blanks or a bar.
fn push_line_bytes(digits: &str, bytes: &mut Vec<u8>) -> Option<()> {
    /// Number of bytes in a line.
    const MAX_BYTES: usize = 16;
    let digits = digits.trim_start();
    // `hexdump -C` has two blanks in the middle of a line, and bars around the characters.
    let digits = match digits.split_once('|').filter(|_| digits.trim_end().ends_with('|')) {
        Some((digits, _)) => digits,
        None => digits.split_once("  ").map_or(digits, |(digits, _)| digits),
    };
    let mut count = 0;
    for group in digits.split_ascii_whitespace() {
        if group.len() % 2 != 0 || !group.is_ascii() {
            return None;
        }
        for pair in group.as_bytes().chunks(2) {
            bytes.push(u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
            count += 1;
        }
    }
    (count <= MAX_BYTES).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damage(input: &[u8]) -> Option<(DamageCause, String)> {
        find_damage(input).map(|damage| (damage.cause, damage.stage.name().to_string()))
    }

    #[test]
    fn causes_are_found() {
        let marshal = "\u{4}\u{8}[\u{7}i\u{1}\u{ac}i\u{f6}".as_bytes();
        for (input, cause, stage) in [
            (&b"\xef\xbb\xbf\x04\x08[\x07i\x06i\x07"[..], DamageCause::ByteOrderMark, "marshal"),
            (marshal, DamageCause::EncodedTwice, "marshal"),
            (b"{\"a\": 5, \"b\": [1", DamageCause::Cut, "json"),
            (b"00000000: 613a 303a 7b7d                           a:0:{}\n", DamageCause::HexDump, "php"),
            (
                b"00000000  61 3a 30 3a 7b 7d                                 |a:0:{}|\n00000006\n",
                DamageCause::HexDump,
                "php",
            ),
            (br#"{\"a\": [1, 2]}"#, DamageCause::Backslashes, "json"),
            (b"YToyOntpOjA7aToxO2k6MTtpO", DamageCause::Cut, "base64/php"),
            (b"\0\0\0\x04\x04\x08i\x06\0\0\0\x03\x04\x080", DamageCause::Framed(FrameLength::U32Be), "marshal"),
            (b"=\xf3rl\x07\0\x01", DamageCause::Unsupported, "sereal"),
            (b"a:0:{}a:0:{}", DamageCause::Concatenated, "php"),
        ] {
            assert_eq!(damage(input), Some((cause, stage.to_owned())), "{}", input.escape_ascii());
        }
        for input in [&b""[..], b"hello", b"{}", b"\x80\x04K\x01.", b"deadbeef", b"\x04\x08i\x06"] {
            assert_eq!(damage(input), None, "{}", input.escape_ascii());
        }
    }
}
