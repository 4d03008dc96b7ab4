//! Options of the reader and of the writer.

use super::LongDouble;
use crate::class_map;
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "image",
        takes: OptionType::Choice(&["file", "memory"]),
        side: Side::Write,
        help: "file: as store() writes; memory: as freeze() returns",
    },
    OptionSpec { name: "file", takes: OptionType::Flag, side: Side::Write, help: "the same as image=file" },
    OptionSpec { name: "memory", takes: OptionType::Flag, side: Side::Write, help: "the same as image=memory" },
    OptionSpec {
        name: "netorder",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "network order, as nstore() and nfreeze() write; otherwise the order of a 64-bit little-endian machine",
    },
    OptionSpec {
        name: "native",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "the order of a 64-bit little-endian machine, even if the image is from another one; numbers keep their types",
    },
    OptionSpec {
        name: "version",
        takes: OptionType::Choice(&["2.11", "2.12"]),
        side: Side::Write,
        help: "the version to write; 2.12 has booleans of its own",
    },
    OptionSpec {
        name: "canonical",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "sort the keys of hashes, as $Storable::canonical does",
    },
    OptionSpec {
        name: "long_double",
        takes: OptionType::Choice(&["auto", "x87", "quad", "double-double"]),
        side: Side::Read,
        help: "the kind of floats of 12 and 16 bytes; the header does not give it",
    },
    OptionSpec {
        name: "nv_size",
        takes: OptionType::Choice(&["8", "12", "16"]),
        side: Side::Read,
        help: "the size of a float in images before 2.2, whose header does not give it",
    },
    OptionSpec {
        name: "text_keys",
        takes: OptionType::Flag,
        side: Side::Read,
        help: "ASCII keys that were text in perl are text",
    },
    OptionSpec {
        name: "interwork_56_64bit",
        takes: OptionType::Flag,
        side: Side::Read,
        help: "integers have 64 bits though the byte order has four digits, as perl 5.6 could write",
    },
    class_map::OPTION,
];

/// How an image is read.
///
/// ```
/// use icecore::{Limits, format::storable};
/// let image = b"\x05\x0b\x02\0\0\0\x01\x08\x81";
/// let document = storable::read(image, &storable::ReadOptions::default(), &Limits::default())?;
/// assert_eq!(document.root().item(0).and_then(|item| item.as_i64()), Some(1));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Representation of floats of 12 and 16 bytes; guessed by default.
    pub long_double: Option<LongDouble>,
    /// Integers have 64 bits although the byte order has four digits.
    pub interwork_56_64bit: bool,
    /// Size of a float in images before 2.2, whose header does not give it: 8, 12 or 16.
    pub nv_size: Option<u8>,
    /// ASCII keys that were text in perl become text, as a Perl program could see. Otherwise
    /// only the spelling says that they were text.
    pub text_keys: bool,
    /// Read with the reference reader, which is slower. For comparisons in tests.
    pub reference: bool,
}

impl ReadOptions {
    pub(crate) fn from_settings(settings: &Settings) -> ReadOptions {
        ReadOptions {
            long_double: match settings.choice("long_double") {
                Some("x87") => Some(LongDouble::X87),
                Some("quad") => Some(LongDouble::Quad),
                Some("double-double") => Some(LongDouble::DoubleDouble),
                _ => None,
            },
            interwork_56_64bit: settings.flag("interwork_56_64bit"),
            nv_size: match settings.choice("nv_size") {
                Some("12") => Some(12),
                Some("16") => Some(16),
                _ => None,
            },
            text_keys: settings.flag("text_keys"),
            reference: false,
        }
    }
}

/// How an image is written.
///
/// ```
/// use icecore::{Limits, format::storable};
/// let document = icecore::read(b"[1]")?;
/// let mut options = storable::WriteOptions::default();
/// options.netorder = true;
/// options.file = Some(false);
/// let mut image = Vec::new();
/// storable::write(&document, &options, &Limits::default(), &mut image)?;
/// assert_eq!(image, b"\x05\x0b\x02\0\0\0\x01\x08\x81");
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Whether to write a file (`store`) or a memory image (`freeze`). `None` means what the document was read from, or
    /// a file if it was not read from Storable.
    pub file: Option<bool>,
    /// Write in network order. Without it, the order is the one that the document was read with.
    pub netorder: bool,
    /// Write in the order of a 64-bit little-endian machine, even if the document was read with another one. `netorder`
    /// has precedence.
    pub native: bool,
    /// The minor version: 11 or 12. `None` means the version that the document was read with, or 11.
    pub minor: Option<u8>,
    /// Sort the keys of hashes.
    pub canonical: bool,
    /// Write with the reference writer, which is slower. For comparisons in tests.
    pub reference: bool,
}

impl WriteOptions {
    pub(crate) fn from_settings(settings: &Settings) -> WriteOptions {
        let image = match settings.choice("image") {
            Some(image) => Some(image == "file"),
            None if settings.flag("memory") => Some(false),
            None if settings.flag("file") => Some(true),
            None => None,
        };
        WriteOptions {
            file: image,
            netorder: settings.flag("netorder"),
            native: settings.flag("native"),
            minor: settings.choice("version").map(|version| if version == "2.12" { 12 } else { 11 }),
            canonical: settings.flag("canonical"),
            reference: false,
        }
    }
}
