//! The bytes of Perl's `pack`.
//!
//! See `FORMAT.md` in this folder for the facts.

mod ber;
mod bits;
mod budget;
mod checksum;
mod layout;
#[cfg(test)]
mod linear;
mod measure;
mod numbers;
mod options;
mod pack_numbers;
mod pack_strings;
mod packer;
mod position;
mod read;
mod records;
mod strings;
mod symbol;
mod template;
mod uu;
mod write;

pub use options::Options;
pub use write::write;

use crate::document::Repair;
use crate::format::prelude::*;
use crate::format::scan::utf8;

use read::Unpack;

const NAME: &str = "pack";

/// What a template may contain.
const LETTERS: &str =
    "a letter of pack's (a A Z b B h H c C W U s S l L q Q j J i I n N v V f d F D u w x X @ . or a group)";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["unpack"],
    title: "what Perl's pack writes with a template",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities { extension: "bin", evidence: Evidence::None, end: End::Near, ..Capabilities::BINARY },
    detect: |_| None,
    begins: Some(|_| true),
    detect_in_string: None,
    strings: None,
    hides: None,
    reader: |settings| Box::new(Options::from_settings(settings)),
    writer: |settings| Box::new(Options::from_settings(settings)),
};

/// Reads a list with a template, as perl's `unpack` does.
///
/// ```
/// use icecore::{Limits, format::pack};
/// let options = pack::Options::new("(N/A*)*");
/// let document = pack::read(b"\0\0\0\x04hoge\0\0\0\x04fuga", &options, &Limits::default())?;
/// assert_eq!(document.root().item(1).and_then(|item| item.as_str()), Some("fuga"));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Usage` for the template; `Malformed` or `Truncated` where `unpack` dies;
/// `Trailing` for bytes after the template's end, with [`Options::exact`]; `Limit`. Ignored
/// bytes are reported in [`Document::repairs`].
pub fn read<'a>(input: &'a [u8], options: &Options, limits: &Limits) -> Result<Document<'a>, Error> {
    options.read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

/// Returns the error for a mistake in a template.
#[cold]
fn usage_error(expected: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Usage).expecting(expected)
}

/// Pointers are refused: no file contains what they point to.
#[cold]
fn pointer_error(op: &template::Op) -> Error {
    Error::new(ErrorKind::Unsupported)
        .expecting(format!("{LETTERS} at position {} of the template", op.offset))
        .finding(format!("`{}`, a pointer into the memory of a running program", char::from(op.letter)))
}

/// Describes what a letter reads, for messages.
fn describe_letter(letter: u8) -> &'static str {
    match letter {
        b'a' | b'A' | b'Z' => "string",
        b'b' | b'B' => "bits",
        b'h' | b'H' => "half bytes",
        b'f' | b'd' | b'F' | b'D' => "float",
        b'w' => "compressed integer",
        b'u' => "uuencoded string",
        b'U' | b'W' => "character",
        b'x' | b'X' | b'@' | b'.' => "bytes that belong to no value",
        _ => "integer",
    }
}

impl Reader for Options {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        let mut outcome = Unpack(self).read(input, request);
        let (consumed, len) = (outcome.consumed, input.len());
        if !self.exact && outcome.error.is_none() && consumed < len {
            let (offset, old_len) = (consumed as u64, (len - consumed) as u64);
            outcome.document.set_repairs(vec![Repair {
                offset,
                old_len,
                new_len: 0,
                subject: "rest",
                path: "$".to_owned(),
                explanation: None,
            }]);
            outcome.consumed = len;
        }
        outcome
    }
}
