//! What are these bytes?

use crate::format::{self, Certainty, Format};

/// The format that the bytes most likely are in.
pub(crate) fn format_of(input: &[u8]) -> Option<&'static Format> {
    format::all()
        .iter()
        .filter_map(|format| (format.detect)(input).map(|guess| (guess.certainty, *format)))
        .filter(|(certainty, _)| *certainty >= Certainty::Possible)
        .max_by_key(|(certainty, _)| *certainty)
        .map(|(_, format)| format)
}
