//! Strings joined by a separator: perl's `join` and `split`.
//!
//! See `FORMAT.md` in this folder for the facts.

mod options;
mod read;
mod write;

pub use options::Options;
pub use write::write;

use crate::format::prelude::*;

const NAME: &str = "join";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["split"],
    title: "strings joined by a separator, as Perl's join and split do it",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: "txt",
        binary: false,
        evidence: Evidence::None,
        end: End::Near,
        ..Capabilities::BINARY
    },
    detect: |_| None,
    begins: Some(|_| true),
    detect_in_string: None,
    strings: None,
    hides: None,
    reader: |settings| Box::new(Options::from_settings(settings)),
    writer: |settings| Box::new(Options::from_settings(settings)),
};

/// Splits the input at the separator.
///
/// ```
/// use icecore::{Limits, format::join};
/// let mut options = join::Options::default();
/// options.separator = b":".to_vec();
/// let document = join::read(b"root:x:0:0:", &options, &Limits::default())?;
/// assert_eq!(document.root().len(), 5);
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Malformed`, if the fields do not fit `names` or `map`; `Limit`, if there
/// are too many; `Usage`, for options that can't be combined.
pub fn read<'a>(input: &'a [u8], options: &Options, limits: &Limits) -> Result<Document<'a>, Error> {
    options.read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}
