//! Wrappers: encodings that programs put around frozen data. Each is one file and one row.
//!
//! In a stage they precede the format, outermost first: `laravel-cache/php`, `gzip/base64/marshal`.

mod base64;
mod base64url;
mod changing;
mod chi;
mod deflate;
mod escapes;
mod gzip;
mod hex;
mod laravel_cache;
mod literal;
mod lzf;
mod php_cache;
mod php_memcached;
mod phpredis_lz4;
mod plack_session;
mod rails_cache;
mod rails_entry_array;
mod rails_envelope;
mod rails_signed;
#[cfg(feature = "signatures")]
mod signature;
mod slashes;
mod uri;
mod zlib;
mod zstd;

pub(crate) use changing::Changing;

use crate::compress::{Beginning, StreamFn};
use crate::document::Metadata;
use crate::error::Error;
use crate::limits::Limits;
use crate::options::{OptionSpec, Settings};
use std::borrow::Cow;
use std::io::{BufRead, Read};

/// A wrapper: its row in the registry.
///
/// ```
/// use icecore::{Limits, format::Settings, wrap};
/// assert!(wrap::all().iter().any(|wrapper| wrapper.name == "gzip" && wrapper.can_stream()));
/// let base64 = wrap::by_name("base64").unwrap();
/// assert!((base64.detect)(b"YToxOntpOjA7aToxO30="));
/// let inside = (base64.unwrap)(b"Tjs=", &Settings::new(), &Limits::default())?;
/// assert_eq!(&*inside.bytes, b"N;");
/// let mut outside = Vec::new();
/// (base64.wrap)(b"N;", &Settings::new(), &mut outside)?;
/// assert_eq!(outside, b"Tjs=");
/// assert!(base64.stream(Box::new(&b"Tjs="[..])).is_none());
/// # Ok::<(), icecore::Error>(())
/// ```
pub struct Wrapper {
    /// Name in stages.
    pub name: &'static str,
    /// Description in one line.
    pub title: &'static str,
    /// Extension that is appended to that of the content, without a dot; empty for none.
    pub extension: &'static str,
    /// Whether it produces a line of text (`true`) or binary data (`false`); `None` if that depends on the content.
    pub text: Option<bool>,
    /// Name of the content in error messages.
    pub layer: &'static str,
    /// Options of the wrapper.
    pub options: &'static [OptionSpec],
    /// Documentation page in Markdown.
    pub page: &'static str,
    /// Returns `true` if the bytes may have this wrapper. Whether they do depends on the content.
    pub detect: fn(&[u8]) -> bool,
    /// How certain the wrapper is if `detect` returns `true`.
    pub(crate) evidence: WrapperEvidence,
    /// Returns the beginning of the content, for callers that want to know its format. Without it, the wrapper can
    /// only be removed completely.
    pub(crate) head: Option<HeadFn>,
    /// Returns the options that these bytes need.
    pub(crate) needed_settings: Option<fn(&[u8]) -> Settings>,
    /// Removes the wrapper incrementally, if that is possible.
    pub(crate) stream: Option<StreamFn>,
    /// Whether and how the content may be changed.
    pub(crate) changing: Changing,
    /// Removes the wrapper.
    pub unwrap: UnwrapFn,
    /// Adds the wrapper: appends the complete result.
    pub wrap: WrapFn,
}

/// See [`Wrapper::unwrap`].
pub type UnwrapFn = for<'a> fn(&'a [u8], &Settings, &Limits) -> Result<Unwrapped<'a>, Error>;
/// See [`Wrapper::wrap`].
pub type WrapFn = fn(&[u8], &Settings, &mut Vec<u8>) -> Result<(), Error>;
/// See [`Wrapper::content_head`]. Arguments: the bytes; whether they are complete or only the beginning; the options;
/// the approximate maximum size of the returned content.
pub(crate) type HeadFn = for<'a> fn(&'a [u8], bool, &Settings, usize) -> Option<ContentHead<'a>>;

/// How certain a wrapper is if [`Wrapper::detect`] returns `true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrapperEvidence {
    /// A magic number: the wrapper is certain, whatever the content is.
    Magic,
    /// A magic number, but the wrapper is only certain if the content can be unwrapped.
    Content,
    /// The layout of an envelope. An envelope stores more than its content, and the content may have any format.
    Envelope,
    /// Many texts look like this: the format of the content must be certain or likely.
    Text,
}

/// The beginning of some bytes.
#[derive(Clone, Debug)]
pub(crate) struct ContentHead<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Whether these are all of the bytes.
    pub(crate) is_complete: bool,
}

impl ContentHead<'_> {
    fn from_beginning((bytes, is_complete): Beginning) -> ContentHead<'static> {
        ContentHead { bytes: Cow::Owned(bytes), is_complete }
    }
}

impl Wrapper {
    /// Returns the beginning of the content of these bytes, at most about `max_len` bytes. `is_complete` states
    /// whether `bytes` are the complete input or only its beginning.
    pub(crate) fn content_head<'a>(
        &self,
        bytes: &'a [u8],
        is_complete: bool,
        max_len: usize,
    ) -> Option<ContentHead<'a>> {
        let settings = self.settings_for(bytes);
        match self.head {
            Some(head) => head(bytes, is_complete, &settings, max_len),
            None => {
                let content = (self.unwrap)(bytes, &settings, &Limits::default()).ok()?;
                Some(ContentHead { bytes: content.bytes, is_complete })
            }
        }
    }

    /// Returns the content of truncated or damaged bytes, if there is any.
    pub(crate) fn salvage_beginning(&self, bytes: &[u8], settings: &Settings, limits: &Limits) -> Option<Vec<u8>> {
        let max_len = usize::try_from(limits.decompressed_from(bytes.len())).unwrap_or(usize::MAX);
        let head = self.head?(bytes, false, settings, max_len)?;
        Some(head.bytes.into_owned()).filter(|bytes| !bytes.is_empty() && bytes.len() <= max_len)
    }

    /// Returns a reader of the content that unwraps incrementally: the content is never in memory as a whole, so no
    /// limit applies to its size. Returns `None` if the wrapper can only be removed completely.
    ///
    /// # Errors
    /// If there is not enough memory to start.
    pub fn stream(&self, from: Box<dyn BufRead + Send>) -> Option<std::io::Result<Box<dyn Read + Send>>> {
        self.stream.map(|stream| stream(from))
    }

    /// Returns `true` if [`Wrapper::stream`] returns a reader.
    pub fn can_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Returns `true` if the wrapper stores something in addition to its content.
    pub(crate) fn is_envelope(&self) -> bool {
        self.evidence == WrapperEvidence::Envelope
    }

    /// Returns the options that these bytes need.
    pub(crate) fn settings_for(&self, bytes: &[u8]) -> Settings {
        self.needed_settings.map_or_else(Settings::new, |needed_settings| needed_settings(bytes))
    }
}

/// The content of a wrapper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrapped<'a> {
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
    /// Other information in the wrapper.
    pub remarks: Vec<Remark>,
    /// Properties in the wrapper that one of its options can write again.
    pub metadata: Vec<Metadata>,
    /// What was not verified because no key was given.
    pub unchecked: Option<&'static str>,
}

impl Unwrapped<'_> {
    /// Returns these bytes without other information.
    fn from_owned(bytes: Vec<u8>) -> Unwrapped<'static> {
        Unwrapped::new(Cow::Owned(bytes), Vec::new())
    }
}

impl<'a> Unwrapped<'a> {
    fn new(bytes: Cow<'a, [u8]>, remarks: Vec<Remark>) -> Unwrapped<'a> {
        Unwrapped { bytes, remarks, metadata: Vec::new(), unchecked: None }
    }

    /// Adds a property that an option of the wrapper writes.
    fn with_metadata(mut self, wrapper: &'static str, option: &'static str, value: Option<String>) -> Unwrapped<'a> {
        self.metadata.extend(value.map(|value| Metadata { wrapper, option, value, is_form: false }));
        self
    }
}

/// Information in a wrapper: a name, such as `expires` or `digest`, and a text.
pub type Remark = (&'static str, String);

impl std::fmt::Debug for Wrapper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wrapper").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The wrappers in the order of detection: if several match, the first one is used.
static WRAPPERS: &[&Wrapper] = &[
    &gzip::WRAPPER,
    &zlib::WRAPPER,
    &zstd::WRAPPER,
    &deflate::WRAPPER,
    &php_memcached::WRAPPER,
    &phpredis_lz4::WRAPPER,
    &lzf::WRAPPER,
    &hex::WRAPPER,
    &base64::WRAPPER,
    &base64url::WRAPPER,
    &uri::WRAPPER,
    &laravel_cache::WRAPPER,
    &php_cache::WRAPPER,
    &rails_cache::WRAPPER,
    &rails_signed::WRAPPER,
    &plack_session::WRAPPER,
    &chi::WRAPPER,
    &slashes::WRAPPER,
    &literal::WRAPPER,
];

/// All wrappers.
pub fn all() -> &'static [&'static Wrapper] {
    WRAPPERS
}

/// Returns the wrapper with this name.
pub fn by_name(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().copied().find(|wrapper| wrapper.name == name)
}

/// Returns the compression level, if it was given.
fn compression_level(settings: &Settings) -> Option<u8> {
    settings.number("level").and_then(|level| u8::try_from(level).ok())
}
