//! PHP's `serialize()`.
//!
//! See `FORMAT.md` in this folder for the facts.

mod detect;
mod links;
mod options;
mod position;
mod prescan;
mod read;
mod read_cache;
mod read_fast;
mod read_leaf;
mod repair;
pub mod session;
mod skim;
mod spelling;
mod spl;
mod strings;
mod tag;
mod token;
mod write;
mod write_fast;
mod write_keys;
mod write_leaf;
mod write_spl;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::{list_to_map, php_text as text};
use crate::format::Restart;
use crate::format::prelude::*;
use crate::format::skim::{Input, Skim};
use options::OPTIONS;
use read::Machine;
use repair::{RepairSettings, Start};

const NAME: &str = "php";

/// The places where a document may begin: after a line end; or after a container, where a key
/// would follow if the container were inside another one.
static RESTARTS: [Restart; 12] = [
    Restart::from_context(b"\n", b"a:"),
    Restart::from_context(b"\n", b"O:"),
    Restart::from_context(b"\n", b"s:"),
    Restart::from_context(b"\n", b"i:"),
    Restart::from_context(b"\n", b"b:"),
    Restart::from_context(b"\n", b"d:"),
    Restart::from_context(b"\n", b"N;"),
    Restart::from_context(b"\n", b"C:"),
    Restart::from_context(b"\n", b"E:"),
    Restart::from_context(b"}", b"a:"),
    Restart::from_context(b"}", b"O:"),
    Restart::from_context(b"}", b"C:"),
];

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["serialize", "unserialize", "php-serialize", "phps", "php-serialized"],
    title: "PHP's serialize()",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: "ser",
        end: End::Declared,
        hands_over: true,
        restarts: &RESTARTS,
        naming: Naming::Php,
        ..Capabilities::TEXT
    },
    detect: detect::detect,
    begins: Some(detect::starts_with_value),
    detect_in_string: Some(detect::is_worth_reading),
    strings: Some(&strings::STRINGS),
    hides: None,
    reader: |settings| Box::new(ReadOptions::from_settings(settings)),
    writer: |_| Box::new(WriteOptions::default()),
};

/// Reads a serialized value. Nothing may follow it unless the reading is lenient.
///
/// ```
/// use icecore::{Limits, format::php};
/// let text = br#"O:4:"User":1:{s:4:"name";s:5:"Alice";}"#;
/// let document = php::read(text, &php::ReadOptions::default(), &Limits::default())?;
/// assert_eq!(document.root().class(), b"User");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Truncated`, `Malformed`, `BadLink`, `Trailing`, `Unsupported` or
/// `Limit`; with offset and path, and with the offset that PHP reports.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    options.read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

/// Reads a text without repair.
fn read_unrepaired<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    feed::read_document(&TextFeed { options }, input, request)
}

/// Settings for reading a text.
#[derive(Debug)]
struct TextFeed<'r> {
    options: &'r ReadOptions,
}

impl Feed for TextFeed<'_> {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        let mut machine = Machine::new(input, self.options, limits, sink);
        let result = machine.run();
        machine.finish_reading(result)
    }
}

impl Reader for ReadOptions {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        if !self.repair_lengths {
            return read_unrepaired(input, self, request);
        }
        let Request { limits, detail, salvages, tape } = request;
        let outcome = read_unrepaired(input, self, Request { limits, detail, salvages, tape });
        let mending = RepairSettings {
            starts: &[Start::Value],
            limits,
            detail,
            looks_damaged: false,
            read: &|text, _, request| read_unrepaired(text, self, request),
        };
        repair::read_or_repair(outcome, input, &mending)
    }

    fn fill_tape(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        // A repair may change the input, so only a full reading shows what the tape will
        // contain.
        if self.repair_lengths {
            return Filled::by_reading(limits, tape, |request| self.read(input, request));
        }
        feed::fill_tape(&TextFeed { options: self }, input, limits, tape)
    }

    fn read_windows<'a>(
        &self,
        input: &'a [u8],
        _: &'a Store,
        limits: &Limits,
        receive: ReceiveWindow<'_, 'a>,
    ) -> Rest<'a> {
        if self.repair_lengths || !prescan::is_list(input) {
            return Rest::from_outcome(self.read(input, Request::new(limits)));
        }
        feed::read_windows(&TextFeed { options: self }, input, limits, receive)
    }

    fn read_traced_windows<'a>(
        &self,
        input: &'a [u8],
        limits: &Limits,
        receive: ReceiveWindow<'_, 'a>,
    ) -> Option<Rest<'a>> {
        let is_list = !self.repair_lengths && prescan::is_list(input);
        is_list.then(|| feed::read_traced_windows(&TextFeed { options: self }, input, limits, receive))
    }

    fn new_skimmer<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        (*self == ReadOptions::default()).then(|| Box::new(skim::Skimmer::new(input)) as Box<dyn Skim + 'i>)
    }

    fn scalar_reader(&self, _: &[u8]) -> Option<ReadScalar> {
        (!self.repair_lengths).then_some(read_leaf::read_scalar as ReadScalar)
    }
}
