//! Wrappers: what programs put around frozen data. Each is one file and one row.
//!
//! In a stage they stand before the format, outermost first:
//! `laravel-cache/php`, `gzip/base64/marshal`.

mod base64;
mod base64url;
mod changing;
mod deflate;
mod escapes;
mod gzip;
mod hex;
mod laravel_cache;
mod lzf;
mod php_memcached;
mod phpredis_lz4;
mod rails_cache;
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
use crate::options::{Opt, Settings};
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
    /// Its name in stages.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// What is put behind the extension of what is inside, without a dot; empty: nothing.
    pub extension: &'static str,
    /// Whether it makes a line of text, or bytes that are no text; `None`: as what is inside.
    pub text: Option<bool>,
    /// What errors call that which is inside.
    pub layer: &'static str,
    /// Its options.
    pub options: &'static [Opt],
    /// Its page of documentation, in Markdown.
    pub page: &'static str,
    /// Whether the bytes may be wrapped so. What is inside decides.
    pub detect: fn(&[u8]) -> bool,
    /// How much that says.
    pub(crate) evidence: Evidence,
    /// The beginning of what is inside, for callers that want to know what it is; `None`:
    /// it is taken off as a whole.
    pub(crate) head: Option<HeadFn>,
    /// The options that these bytes need, if there are any.
    pub(crate) wants: Option<fn(&[u8]) -> Settings>,
    /// Takes it off bit by bit, if that is possible.
    pub(crate) stream: Option<StreamFn>,
    /// Whether and how what is inside may be changed.
    pub(crate) changing: Changing,
    /// Takes it off.
    pub unwrap: UnwrapFn,
    /// Puts it on: appends all of it.
    pub wrap: WrapFn,
}

/// See [`Wrapper::unwrap`].
pub type UnwrapFn = for<'a> fn(&'a [u8], &Settings, &Limits) -> Result<Unwrapped<'a>, Error>;
/// See [`Wrapper::wrap`].
pub type WrapFn = fn(&[u8], &Settings, &mut Vec<u8>) -> Result<(), Error>;
/// See [`Wrapper::head`]: of bytes, which are all or the first of them, at most
/// about so many that are inside.
pub(crate) type HeadFn = for<'a> fn(&'a [u8], bool, &Settings, usize) -> Option<Head<'a>>;

/// How much it says that [`Wrapper::detect`] says yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A magic number: the bytes are that, whatever is inside.
    Magic,
    /// The same, if what is inside comes out.
    Content,
    /// Any format may be inside.
    Frame,
    /// Many texts look so: what is inside must be sure or likely.
    Text,
}

/// The beginning of some bytes.
#[derive(Clone, Debug)]
pub(crate) struct Head<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Whether this is all of them.
    pub(crate) whole: bool,
}

impl Head<'_> {
    fn owned((bytes, whole): Beginning) -> Head<'static> {
        Head { bytes: Cow::Owned(bytes), whole }
    }
}

impl Wrapper {
    /// The beginning of what is inside these bytes, which are all or the first of
    /// them: at most about `most` bytes.
    pub(crate) fn head<'a>(&self, bytes: &'a [u8], whole: bool, most: usize) -> Option<Head<'a>> {
        let settings = self.settings_for(bytes);
        match self.head {
            Some(head) => head(bytes, whole, &settings, most),
            None => {
                let inside = (self.unwrap)(bytes, &settings, &Limits::default()).ok()?;
                Some(Head { bytes: inside.bytes, whole })
            }
        }
    }

    /// What comes out of bytes that are cut or broken, if anything does.
    pub(crate) fn beginning(&self, bytes: &[u8], settings: &Settings, limits: &Limits) -> Option<Vec<u8>> {
        let most = usize::try_from(limits.decompressed_from(bytes.len())).unwrap_or(usize::MAX);
        let head = self.head?(bytes, false, settings, most)?;
        Some(head.bytes.into_owned()).filter(|bytes| !bytes.is_empty() && bytes.len() <= most)
    }

    /// What is inside of what is read here, bit by bit: it is never held as a whole, so
    /// no limit bounds how much it is. `None`: it can only be taken off as a whole.
    ///
    /// # Errors
    /// If there is no memory to begin with it.
    pub fn stream(&self, from: Box<dyn BufRead + Send>) -> Option<std::io::Result<Box<dyn Read + Send>>> {
        self.stream.map(|stream| stream(from))
    }

    /// Whether [`Wrapper::stream`] has an answer.
    pub fn can_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Whether it says something beside its content.
    pub(crate) fn is_frame(&self) -> bool {
        self.evidence == Evidence::Frame
    }

    /// The options that these bytes want.
    pub(crate) fn settings_for(&self, bytes: &[u8]) -> Settings {
        self.wants.map_or_else(Settings::new, |wants| wants(bytes))
    }
}

/// What was inside a wrapper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrapped<'a> {
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
    /// What else the wrapper says.
    pub notes: Vec<Remark>,
    /// What it says beside the content that an option of the wrapper can say again.
    pub metadata: Vec<Metadata>,
    /// What was to be checked, and was not: nobody gave the key.
    pub unchecked: Option<&'static str>,
}

impl Unwrapped<'_> {
    /// Bytes of its own, and nothing else to say.
    fn owned(bytes: Vec<u8>) -> Unwrapped<'static> {
        Unwrapped::new(Cow::Owned(bytes), Vec::new())
    }
}

impl<'a> Unwrapped<'a> {
    fn new(bytes: Cow<'a, [u8]>, notes: Vec<Remark>) -> Unwrapped<'a> {
        Unwrapped { bytes, notes, metadata: Vec::new(), unchecked: None }
    }

    /// Adds what an option of the wrapper writes.
    fn with(mut self, wrapper: &'static str, option: &'static str, value: Option<String>) -> Unwrapped<'a> {
        self.metadata.extend(value.map(|value| Metadata { wrapper, option, value, is_form: false }));
        self
    }
}

/// What a wrapper says: a name, as `expires` or `digest`, and a text.
pub type Remark = (&'static str, String);

impl std::fmt::Debug for Wrapper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wrapper").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Looked for in this order: what looks like more than one is the first.
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
    &rails_cache::WRAPPER,
    &rails_signed::WRAPPER,
    &slashes::WRAPPER,
];

/// All wrappers.
pub fn all() -> &'static [&'static Wrapper] {
    WRAPPERS
}

/// The wrapper with this name.
pub fn by_name(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().copied().find(|wrapper| wrapper.name == name)
}

/// The level of a compression, if it was said.
fn level(settings: &Settings) -> Option<u8> {
    settings.number("level").and_then(|level| u8::try_from(level).ok())
}
