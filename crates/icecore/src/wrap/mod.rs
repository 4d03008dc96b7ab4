//! Wrappers: what programs put around frozen data. Each is one file and one row.
//!
//! In a stage they stand before the format, outermost first:
//! `laravel-cache/php`.

mod laravel_cache;
mod rails_cache;
mod rails_signed;
#[cfg(feature = "signatures")]
mod signature;
mod slashes;

use crate::error::Error;
use crate::limits::Limits;
use crate::options::{Opt, Settings};
use std::borrow::Cow;

/// A wrapper: its row in the registry.
pub struct Wrapper {
    /// Its name in stages.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// What errors call that which is inside.
    pub layer: &'static str,
    /// Its options.
    pub options: &'static [Opt],
    /// Its page of documentation, in Markdown.
    pub page: &'static str,
    /// Whether the bytes may be wrapped so. What is inside decides.
    pub detect: fn(&[u8]) -> bool,
    /// Takes it off.
    pub unwrap: UnwrapFn,
    /// Puts it on.
    pub wrap: WrapFn,
}

/// See [`Wrapper::unwrap`].
pub type UnwrapFn = for<'a> fn(&'a [u8], &Settings, &Limits) -> Result<Unwrapped<'a>, Error>;
/// See [`Wrapper::wrap`].
pub type WrapFn = fn(&[u8], &Settings) -> Result<Vec<u8>, Error>;

/// What was inside a wrapper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrapped<'a> {
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
    /// What else the wrapper says.
    pub notes: Vec<Remark>,
}

/// What a wrapper says: a name, as `expires` or `digest`, and a text.
pub type Remark = (&'static str, String);

impl std::fmt::Debug for Wrapper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wrapper").field("name", &self.name).finish_non_exhaustive()
    }
}

static WRAPPERS: &[&Wrapper] =
    &[&laravel_cache::WRAPPER, &rails_cache::WRAPPER, &rails_signed::WRAPPER, &slashes::WRAPPER];

/// All wrappers.
pub fn all() -> &'static [&'static Wrapper] {
    WRAPPERS
}

/// The wrapper with this name.
pub fn by_name(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().copied().find(|wrapper| wrapper.name == name)
}
