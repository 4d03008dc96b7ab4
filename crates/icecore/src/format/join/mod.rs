//! Strings joined by a separator: perl's `join` and `split`.
//!
//! `FORMAT.md` beside this file has the facts.

mod options;
mod read;
mod write;

pub use options::Options;
pub use read::read_outcome;
pub use write::write;

use super::{Capabilities, End, Evidence, Format, Outcome, Prepared, Request};
use crate::document::Document;
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};

const NAME: &str = "join";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "strings joined by a separator, as Perl's join and split do it",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities { extension: NAME, evidence: Evidence::None, end: End::Near, ..Capabilities::BINARY },
    detect: |_| None,
    begins: Some(|_| true),
    inside: None,
    prepare: Join::prepare,
};

/// Splits the input at the separator.
///
/// ```
/// use icecore::{Limits, join};
/// let mut options = join::Options::default();
/// options.separator = b":".to_vec();
/// let document = join::read(b"root:x:0:0:", &options, &Limits::default())?;
/// assert_eq!(document.root().len(), 5);
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Malformed`, if the fields do not fit `names` or `map`; `Limit`, if
/// there are too many; `Usage`, for options that do not go together.
pub fn read<'a>(input: &'a [u8], options: &Options, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, &FORMAT)
}

/// Strings that are joined, or what is wrong with the options: that is told where they are used.
#[derive(Debug)]
struct Join(Result<Options, Error>);

impl Join {
    fn prepare(settings: &Settings) -> Box<dyn Prepared> {
        Box::new(Join(Options::from_settings(settings)))
    }
}

impl Prepared for Join {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        match &self.0 {
            Ok(options) => read_outcome(input, options, request),
            Err(error) => Outcome::refused(input, request, error.clone()),
        }
    }

    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Result<Losses, Error> {
        write(document, self.0.as_ref().map_err(Error::clone)?, limits, out)
    }
}
