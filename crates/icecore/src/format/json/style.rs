//! The style of JSON text: lines, blanks and escapes.

use super::options::WriteOptions;

/// How tokens are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextStyle {
    /// Whether each value is on its own line.
    pub(super) breaks_lines: bool,
    /// Number of blanks that each level is indented by.
    pub(super) indent: usize,
    /// Whether there is a blank before and after the colon.
    pub(super) space_before_colon: bool,
    pub(super) space_after_colon: bool,
    /// Whether there is a blank after a comma.
    pub(super) space_after_comma: bool,
    /// Which characters are escaped.
    pub(super) escapes: EscapeOptions,
}

/// Which characters are escaped in addition, and how the others are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EscapeOptions {
    /// All beyond ASCII.
    pub(super) ascii: bool,
    /// All beyond U+00FF; the others are one byte.
    pub(super) latin1: bool,
    /// The slash.
    pub(super) slash: bool,
}

impl TextStyle {
    /// Returns the style that the options ask for.
    pub(super) fn from_options(options: &WriteOptions) -> TextStyle {
        let lines = options.pretty || options.indent > 0;
        let space_after = options.space_after.unwrap_or(lines);
        TextStyle {
            breaks_lines: lines,
            indent: options.indent,
            space_before_colon: options.space_before,
            space_after_colon: space_after,
            space_after_comma: space_after && !lines,
            escapes: EscapeOptions { ascii: options.ascii, latin1: options.latin1, slash: options.escape_slash },
        }
    }

    /// Returns `true` if there are neither lines nor blanks.
    pub(super) fn is_dense(&self) -> bool {
        !(self.breaks_lines || self.space_before_colon || self.space_after_colon)
    }
}
