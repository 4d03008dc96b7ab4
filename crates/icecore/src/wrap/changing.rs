//! How what is inside a wrapper is changed.

use crate::edit::Escaping;
use crate::options::Settings;

/// Whether what is inside a wrapper may be changed, and how.
#[derive(Clone, Copy)]
pub(crate) enum Changing {
    /// Where it stands: these are the ways in which it may be escaped.
    Escaped(&'static [&'static (dyn Escaping + Sync)]),
    /// Where it stands, or by wrapping it again.
    Framed,
    /// By wrapping it again, if that was asked for: tokens look so, too. The options with
    /// which these bytes were wrapped, if there are any.
    Asked(Option<fn(&[u8]) -> Settings>),
    /// Never: a signature would be wrong.
    Never,
}
