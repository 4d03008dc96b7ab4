//! The byte order mark of UTF-8, with which some editors begin a text.

use icecore::Stage;

/// A byte order mark.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether the mark is not for the reader of this format: of the others, some know it,
/// and to the rest it is data.
pub fn knows_no_mark(stage: &Stage) -> bool {
    stage.format().can.no_mark
}
