//! The style of JSON text: lines, blanks and escapes.

use super::options::WriteOptions;

/// How tokens are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// Whether each value has its line.
    pub(super) lines: bool,
    /// How many blanks each level is indented by.
    pub(super) indent: usize,
    /// Whether a blank stands before and behind the colon.
    pub(super) before: bool,
    pub(super) after: bool,
    /// Whether a blank stands behind a comma.
    pub(super) spread: bool,
    /// Which characters are escaped.
    pub(super) escapes: Escapes,
}

/// Which characters are escaped that need not be, and how the others are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Escapes {
    /// All beyond ASCII.
    pub(super) ascii: bool,
    /// All beyond U+00FF; the others are one byte.
    pub(super) latin1: bool,
    /// The slash.
    pub(super) slash: bool,
}

impl Style {
    /// As the options say.
    pub(super) fn of(options: &WriteOptions) -> Style {
        let lines = options.pretty || options.indent > 0;
        let after = options.space_after.unwrap_or(lines);
        Style {
            lines,
            indent: options.indent,
            before: options.space_before,
            after,
            spread: after && !lines,
            escapes: Escapes { ascii: options.ascii, latin1: options.latin1, slash: options.escape_slash },
        }
    }

    /// Whether there are neither lines nor blanks.
    pub(super) fn is_dense(&self) -> bool {
        !(self.lines || self.before || self.after)
    }
}
