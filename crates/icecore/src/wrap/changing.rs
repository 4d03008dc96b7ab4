//! How the content of a wrapper is changed.

use crate::edit::Escaping;
use crate::options::Settings;

/// Whether the content of a wrapper may be changed, and how.
#[derive(Clone, Copy)]
pub(crate) enum Changing {
    /// In place: these are the ways in which it may be escaped.
    Escaped(&'static [&'static (dyn Escaping + Sync)]),
    /// In place, or by wrapping it again; the caller need not request it.
    Allowed,
    /// By wrapping it again, but only if the caller requests it, because ordinary tokens may look like this wrapper.
    /// The function returns the options with which the bytes were wrapped.
    OnRequest(Option<fn(&[u8]) -> Settings>),
    /// Never: the signature would become invalid.
    Never,
}
