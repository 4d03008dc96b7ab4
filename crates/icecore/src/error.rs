//! The one error type.

use crate::shortened::shortened;
use std::borrow::Cow;
use std::fmt;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends before the document does.
    Truncated,
    /// The document ends before the input does.
    Trailing,
    /// The bytes violate the rules of the format.
    Malformed,
    /// A link, alias or copy names a value that does not exist or is not allowed as its target.
    BadLink,
    /// The format allows this, but this engine (or this build of it) can't read or write it.
    Unsupported,
    /// A [limit](crate::Limits) was reached.
    Limit,
    /// The format is not known, or the input is not in it.
    Format,
    /// An option or a stage is wrong.
    Usage,
    /// The document can't be represented in the target format.
    Unrepresentable,
    /// The receiver of the output stopped.
    Output,
}

impl ErrorKind {
    /// Returns the kind as one lower-case word, as in the command's JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Truncated => "truncated",
            ErrorKind::Trailing => "trailing",
            ErrorKind::Malformed => "malformed",
            ErrorKind::BadLink => "bad-link",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Limit => "limit",
            ErrorKind::Format => "format",
            ErrorKind::Usage => "usage",
            ErrorKind::Unrepresentable => "unrepresentable",
            ErrorKind::Output => "output",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Details of an error beyond its [kind](ErrorKind), for programs that report it with their own message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorDetail {
    /// Values are nested deeper than the limit.
    Depth,
    /// An integer is beyond 64 bits; an option of the format clamps it.
    WideInteger,
    /// The number of entries is beyond 64 bits.
    WideCount,
    /// The input ends before the number of entries.
    NoCount,
    /// A key was expected.
    NoKey,
    /// A value was expected.
    NoValue,
    /// The name of an enum case is unknown.
    NoCase,
    /// A payload that a class wrote itself is shorter than its declared length, or that length is negative.
    ShortPayload,
    /// A link counts values inside a payload that only its class understands.
    OpaqueLink,
    /// There are more values or more output than the limit allows; or memory ran out.
    Size,
    /// Decompression produces more than the limit allows.
    Decompressed,
}

/// An error: its kind, its position, and what was expected.
///
/// An error has a [kind](ErrorKind) and, if applicable: the byte offset in the input, the path in the document, what
/// was expected and what was found there.
///
/// ```
/// let error = icecore::read(b"pst0\x05\x0b\x02\0\0\0").unwrap_err();
/// assert_eq!(error.kind(), icecore::ErrorKind::Truncated);
/// assert_eq!(error.offset(), Some(10));
/// ```
///
/// What it says in parts, and how a program makes one:
///
/// ```
/// use icecore::{Error, ErrorKind, Stage, Limits};
/// let error = icecore::read_as(b"H4sI", &Stage::parse("base64/php")?, &Limits::default()).unwrap_err();
/// assert_eq!((error.format(), error.layer()), (Some("php"), Some("data in Base64")));
/// assert!(error.expected().is_some_and(|what| what.starts_with("a value")));
/// assert_eq!(error.found(), Some("byte 0x1f"));
/// assert_eq!((error.detail(), error.original_offset()), (Some(icecore::raw::ErrorDetail::NoValue), Some(0)));
/// assert!(error.help().is_some_and(|help| help.contains("PHP says")));
///
/// let mine = Error::new(ErrorKind::Unrepresentable).expecting("a number").finding("a list");
/// let mine = mine.detailing(icecore::raw::ErrorDetail::NoKey).originally_at(2);
/// let mine = mine.at(3).moved(7).on_path("$.a").in_format("json").in_layer("gzip").helping("leave it out");
/// assert_eq!((mine.offset(), mine.path()), (Some(10), Some("$.a")));
/// assert_eq!(Error::trailing(b"[1] x", 3).kind(), ErrorKind::Trailing);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    detail: Option<ErrorDetail>,
    format: Option<&'static str>,
    layer: Option<&'static str>,
    offset: Option<u64>,
    original_offset: Option<u64>,
    path: Option<String>,
    expected: Option<Cow<'static, str>>,
    found: Option<Cow<'static, str>>,
    help: Option<Cow<'static, str>>,
    /// Number of bytes that were decompressed before the error was found.
    decompressed_bytes: u64,
}

impl Error {
    /// Returns an error of this kind, without details.
    #[cold]
    pub fn new(kind: ErrorKind) -> Error {
        Error(Box::new(Inner {
            kind,
            detail: None,
            format: None,
            layer: None,
            offset: None,
            original_offset: None,
            path: None,
            expected: None,
            found: None,
            help: None,
            decompressed_bytes: 0,
        }))
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the detail of the error, for errors that programs distinguish.
    pub fn detail(&self) -> Option<ErrorDetail> {
        self.0.detail
    }

    /// Returns the name of the format that was being read or written.
    pub fn format(&self) -> Option<&'static str> {
        self.0.format
    }

    /// What the offset refers to, if it is not the input itself but data that was decompressed or unwrapped from it.
    pub fn layer(&self) -> Option<&'static str> {
        self.0.layer
    }

    /// Returns the offset in bytes, from the start of the input (or of the
    /// [layer](Error::layer)).
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Returns the offset at which the original reader of the format reports the error, if known.
    pub fn original_offset(&self) -> Option<u64> {
        self.0.original_offset
    }

    /// Returns the path in the document, from `$`.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// What was expected.
    pub fn expected(&self) -> Option<&str> {
        self.0.expected.as_deref()
    }

    /// What was found.
    pub fn found(&self) -> Option<&str> {
        self.0.found.as_deref()
    }

    /// Returns the remedy: what a user can do.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }
}

/// Setters for cold constructors. A value that is already set is kept, because the innermost caller has the most
/// precise one.
impl Error {
    /// Sets what was expected.
    #[must_use]
    pub fn expecting(mut self, expected: impl Into<Cow<'static, str>>) -> Error {
        self.0.expected.get_or_insert_with(|| shorten_for_message(expected.into()));
        self
    }

    /// Sets the detail.
    #[must_use]
    pub fn detailing(mut self, detail: ErrorDetail) -> Error {
        self.0.detail.get_or_insert(detail);
        self
    }

    /// Sets the offset that the original reader reports.
    #[must_use]
    pub fn originally_at(mut self, offset: usize) -> Error {
        self.0.original_offset.get_or_insert(offset as u64);
        self
    }

    /// Sets what was found.
    #[must_use]
    pub fn finding(mut self, found: impl Into<Cow<'static, str>>) -> Error {
        self.0.found.get_or_insert_with(|| shorten_for_message(found.into()));
        self
    }

    /// Returns the error for a size in the data for which there is not enough memory, where a program would otherwise
    /// abort.
    ///
    /// ```
    /// assert_eq!(icecore::Error::no_memory().kind(), icecore::ErrorKind::Limit);
    /// ```
    pub fn no_memory() -> Error {
        Error::new(ErrorKind::Limit).detailing(ErrorDetail::Size).finding("not enough memory")
    }

    /// Sets the remedy.
    #[must_use]
    pub fn helping(mut self, help: impl Into<Cow<'static, str>>) -> Error {
        self.0.help.get_or_insert_with(|| help.into());
        self
    }

    /// Sets the number of bytes that were decompressed before the error.
    #[must_use]
    pub(crate) fn with_decompressed(mut self, bytes: usize) -> Error {
        self.0.decompressed_bytes = bytes as u64;
        self
    }

    /// Returns the number of bytes that were decompressed before the error. They count against the limit if reading
    /// continues after the error.
    pub(crate) fn decompressed_bytes(&self) -> u64 {
        self.0.decompressed_bytes
    }

    /// Sets the offset.
    #[must_use]
    pub fn at(mut self, offset: usize) -> Error {
        self.0.offset.get_or_insert(offset as u64);
        self
    }

    /// Adds `delta` to the offset, if there is one: the start of the part that was read in the whole input.
    #[must_use]
    pub fn moved(mut self, delta: usize) -> Error {
        if self.0.layer.is_none()
            && let Some(offset) = &mut self.0.offset
        {
            *offset += delta as u64;
        }
        self
    }

    /// Sets the path.
    #[must_use]
    pub fn on_path(mut self, path: impl Into<String>) -> Error {
        self.0.path.get_or_insert_with(|| shorten_for_message(Cow::Owned(path.into())).into_owned());
        self
    }

    /// Prepends the path of the enclosing document to the path.
    #[must_use]
    pub fn below(mut self, outer: &str) -> Error {
        let inner = self.0.path.take().unwrap_or_default();
        self.0.path = Some(format!("{outer}{}", inner.strip_prefix('$').unwrap_or(&inner)));
        self
    }

    /// Adds the line number. If the line `is_complete`, the line ends too early and not the input.
    #[must_use]
    pub(crate) fn in_line(mut self, number: u64, is_complete: bool) -> Error {
        if is_complete && self.0.kind == ErrorKind::Truncated {
            (self.0.kind, self.0.found) = (ErrorKind::Malformed, Some("the end of the line".into()));
        }
        let found = self.0.found.take().unwrap_or_default();
        self.0.found = Some(format!("{found}, in line {number}").into());
        self
    }

    /// Sets the layer that the offset refers to.
    #[must_use]
    pub fn in_layer(mut self, layer: &'static str) -> Error {
        self.0.layer.get_or_insert(layer);
        self
    }

    /// Sets the format.
    #[must_use]
    pub fn in_format(mut self, format: &'static str) -> Error {
        self.0.format.get_or_insert(format);
        self
    }

    /// Returns the error for bytes after a document.
    ///
    /// ```
    /// let error = icecore::Error::trailing(b"[1][2]", 3);
    /// assert_eq!((error.kind(), error.offset()), (icecore::ErrorKind::Trailing, Some(3)));
    /// ```
    pub fn trailing(input: &[u8], consumed: usize) -> Error {
        Error::trailing_bytes(input, consumed).helping(ONE_BY_ONE_HELP)
    }

    /// Like [`Error::trailing`], without the help text.
    pub fn trailing_bytes(input: &[u8], consumed: usize) -> Error {
        let extra = input.len().saturating_sub(consumed);
        Error::new(ErrorKind::Trailing).at(consumed).expecting("the end of the input").finding(if extra == 1 {
            "1 more byte".to_owned()
        } else {
            format!("{extra} more bytes")
        })
    }

    /// Adds the name of the option that ignores bytes after the document. `is_alone` tells that
    /// documents of this format are not concatenated.
    #[must_use]
    pub(crate) fn with_ignoring_option(mut self, option: &str, is_alone: bool) -> Error {
        // Files end with a newline more often than they contain a second document.
        if self.0.kind == ErrorKind::Trailing && self.0.help.as_deref() == Some(ONE_BY_ONE_HELP) {
            let suffix = if is_alone { String::new() } else { format!("; {ONE_BY_ONE_HELP}") };
            self.0.help = Some(format!("`{option}` ignores them{suffix}").into());
        }
        self
    }
}

/// The help text for bytes after a document. It holds for every format.
const ONE_BY_ONE_HELP: &str = "documents that follow one another can be read one by one";

/// Shortens text from the input (names, numbers) for a message.
fn shorten_for_message(text: Cow<'static, str>) -> Cow<'static, str> {
    match text {
        Cow::Owned(text) if text.len() > MAX_SHOWN_LEN => Cow::Owned(shortened(&text, MAX_SHOWN_LEN).into_owned()),
        text => text,
    }
}

/// Maximum length of a text that a message contains in full.
const MAX_SHOWN_LEN: usize = 1 << 10;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &*self.0;
        match e.kind {
            ErrorKind::Truncated => f.write_str("the input ends too early")?,
            ErrorKind::Trailing => f.write_str("bytes after the end of the document")?,
            ErrorKind::Malformed => f.write_str("malformed input")?,
            ErrorKind::BadLink => f.write_str("bad link")?,
            ErrorKind::Unsupported => f.write_str("not supported")?,
            ErrorKind::Limit => f.write_str("limit reached")?,
            ErrorKind::Format => f.write_str("wrong format")?,
            ErrorKind::Usage => f.write_str("wrong option")?,
            ErrorKind::Unrepresentable => f.write_str("the target format can't represent this")?,
            ErrorKind::Output => f.write_str("the output was closed")?,
        }
        if let Some(format) = e.format {
            write!(f, " ({format})")?;
        }
        if let Some(offset) = e.offset {
            write!(f, " at offset {offset}")?;
            if let Some(layer) = e.layer {
                write!(f, " of the {layer}")?;
            }
        }
        if let Some(path) = &e.path {
            write!(f, " at {path}")?;
        }
        match (&e.expected, &e.found) {
            (Some(expected), Some(found)) => write!(f, ": expected {expected}, found {found}")?,
            (Some(expected), None) => write!(f, ": expected {expected}")?,
            (None, Some(found)) => write!(f, ": {found}")?,
            (None, None) => {}
        }
        if let Some(help) = &e.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self})", self.0.kind)
    }
}

impl std::error::Error for Error {}

/// Number of bytes that a window shows before and after the offset.
const WINDOW_BEFORE: usize = 16;
const WINDOW_AFTER: usize = 16;

/// Returns a window of the input around an offset: hex, text, and a caret below.
///
/// ```
/// let window = icecore::text::window(b"pst0\x05\x0b\x63", 6);
/// assert_eq!(
///     window,
///     "00000000  70 73 74 30 05 0b 63  |pst0..c|\n                            ^^\n"
/// );
/// ```
pub fn window(input: &[u8], offset: u64) -> String {
    window_from(input, 0, offset)
}

/// Like [`window`], for a part that starts `first` bytes into the input; the offset is relative to that part.
///
/// ```
/// let bytes = b"0123456789abcdef0123456789abcdef";
/// assert!(icecore::text::window_from(bytes, 16, 20).contains("0123456789abcdef"));
/// ```
pub fn window_from(input: &[u8], first: u64, offset: u64) -> String {
    use std::fmt::Write;
    let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(input.len());
    let start = offset.saturating_sub(WINDOW_BEFORE) / 8 * 8;
    let end = (offset + WINDOW_AFTER).min(input.len());
    let mut out = String::new();
    for row in (start..end.max(start + 1)).step_by(16) {
        let bytes = &input[row..(row + 16).min(end).max(row)];
        let _ = write!(out, "{:08x} ", first.saturating_add(row as u64));
        for byte in bytes {
            let _ = write!(out, " {byte:02x}");
        }
        out.push_str("  |");
        for byte in bytes {
            out.push(if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' });
        }
        out.push_str("|\n");
        let at_end = offset == end && row + bytes.len() == offset && bytes.len() < 16;
        if (row..row + bytes.len()).contains(&offset) || at_end {
            let _ = writeln!(out, "{:10}{:width$}^^", "", "", width = 3 * (offset - row));
        }
    }
    if offset == end && end > start && (end - start).is_multiple_of(16) {
        let _ = writeln!(out, "{:08x}\n{:10}^^", first.saturating_add(end as u64), "");
    }
    out
}
