//! The byte order mark of UTF-8, with which some editors begin a text.

use icecore::Stage;

/// A byte order mark.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns whether the reader of this format neither knows the mark nor treats it as data, so that the caller must skip
/// it.
pub fn must_skip_mark(stage: &Stage) -> bool {
    stage.format().can.no_mark
}
