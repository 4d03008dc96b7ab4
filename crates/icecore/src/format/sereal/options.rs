//! The options, as types and as a table.

use crate::class_map;
use crate::options::{OptionSpec, OptionType, Settings, Side};

/// How Sereal is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Bodies compressed with Snappy are an error.
    pub refuse_snappy: bool,
    /// Bodies compressed with zlib are an error.
    pub refuse_zlib: bool,
    /// Bodies compressed with Zstandard are an error.
    pub refuse_zstd: bool,
    /// Objects are an error.
    pub refuse_objects: bool,
    /// STR_UTF8 that is not valid UTF-8 is an error.
    pub validate_utf8: bool,
    /// Maximum number of entries of a hash.
    pub max_num_hash_entries: Option<u64>,
    /// Maximum number of items of an array.
    pub max_num_array_entries: Option<u64>,
    /// Read only with the plain machine. Slower; for comparisons in tests.
    pub reference: bool,
}

impl ReadOptions {
    pub(crate) fn from_settings(settings: &Settings) -> ReadOptions {
        let positive_number =
            |name| settings.number(name).and_then(|value| u64::try_from(value).ok()).filter(|most| *most > 0);
        ReadOptions {
            refuse_snappy: settings.flag("refuse_snappy"),
            refuse_zlib: settings.flag("refuse_zlib"),
            refuse_zstd: settings.flag("refuse_zstd"),
            refuse_objects: settings.flag("refuse_objects"),
            validate_utf8: settings.flag("validate_utf8"),
            max_num_hash_entries: positive_number("max_num_hash_entries"),
            max_num_array_entries: positive_number("max_num_array_entries"),
            reference: false,
        }
    }
}

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compress {
    /// Not at all.
    None,
    /// With Snappy, after its length.
    Snappy,
    /// With Snappy up to the end of the document, as the first encoders did; only in
    /// protocol 1.
    SnappyToEnd,
    /// With zlib; from protocol 3 on.
    Zlib,
    /// With Zstandard; from protocol 3 on.
    Zstd,
}

/// The order in which the entries of a hash are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SortKeys {
    /// Their order in the document.
    #[default]
    No,
    /// By length, then text before bytes, then by bytes: `sort_keys => 1`.
    Length,
    /// As Perl's `cmp` sorts them: `sort_keys => 2`.
    Perl,
    /// As Perl's `cmp` sorts them, backwards: `sort_keys => 3`.
    PerlReverse,
}

/// How Sereal is written. The defaults are those of `Sereal::Encoder`; a document with
/// spelling keeps it unless options require something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The protocol, 1 to 5. Default: 5.
    pub protocol: Option<u8>,
    /// The compression. Default: none.
    pub compress: Option<Compress>,
    /// The level of the compression: zlib 1 to 9 (default 6), zstd 1 to 22
    /// (default 3).
    pub level: Option<u8>,
    /// A body with fewer bytes than this is not compressed. Default: 1024.
    pub threshold: Option<u64>,
    /// References to arrays and hashes are always REFN ARRAY and REFN HASH, and keys
    /// are sorted by [`SortKeys::Length`] by default.
    pub canonical: bool,
    /// References to arrays and hashes are always REFN ARRAY and REFN HASH.
    pub canonical_refs: bool,
    /// The order of keys.
    pub sort_keys: SortKeys,
    /// A string of more than 3 bytes that was written before becomes a COPY.
    pub dedupe_strings: bool,
    /// Like `dedupe_strings`, with ALIAS where it is allowed.
    pub aliased_dedupe_strings: bool,
    /// Keys that were written before are written in full again.
    pub no_shared_hashkeys: bool,
    /// Floats beyond 64 bits are rounded to DOUBLE.
    pub use_standard_double: bool,
    /// Objects are written without their class.
    pub no_bless_objects: bool,
    /// The user header of the document is omitted.
    pub no_header: bool,
    /// The spelling of the document is not replayed.
    pub no_spelling: bool,
    /// Write without the fast loops. Slower; for comparisons in tests.
    pub reference: bool,
}

impl WriteOptions {
    pub(crate) fn from_settings(settings: &Settings) -> WriteOptions {
        let byte = |name| settings.number(name).and_then(|value| u8::try_from(value).ok());
        WriteOptions {
            protocol: byte("protocol"),
            compress: settings.choice("compress").map(|word| match word {
                "snappy" => Compress::Snappy,
                "snappy_to_end" => Compress::SnappyToEnd,
                "zlib" => Compress::Zlib,
                "zstd" => Compress::Zstd,
                _ => Compress::None,
            }),
            level: byte("level"),
            threshold: settings.number("threshold").and_then(|value| u64::try_from(value).ok()),
            canonical: settings.flag("canonical"),
            canonical_refs: settings.flag("canonical_refs"),
            sort_keys: match settings.number("sort_keys") {
                Some(1) => SortKeys::Length,
                Some(2) => SortKeys::Perl,
                Some(3) => SortKeys::PerlReverse,
                _ => SortKeys::No,
            },
            dedupe_strings: settings.flag("dedupe_strings"),
            aliased_dedupe_strings: settings.flag("aliased_dedupe_strings"),
            no_shared_hashkeys: settings.flag("no_shared_hashkeys"),
            use_standard_double: settings.flag("use_standard_double"),
            no_bless_objects: settings.flag("no_bless_objects"),
            no_header: settings.flag("no_header"),
            no_spelling: settings.flag("no_spelling"),
            reference: false,
        }
    }

    /// Returns `true` if options require values in another form than they had.
    pub(super) fn changes_values(&self) -> bool {
        let default = WriteOptions {
            protocol: self.protocol,
            compress: self.compress,
            level: self.level,
            threshold: self.threshold,
            reference: self.reference,
            ..WriteOptions::default()
        };
        *self != default
    }

    pub(super) fn sort_order(&self) -> SortKeys {
        match self.sort_keys {
            SortKeys::No if self.canonical => SortKeys::Length,
            order => order,
        }
    }
}

const fn read_option(name: &'static str, takes: OptionType, help: &'static str) -> OptionSpec {
    OptionSpec { name, takes, side: Side::Read, help }
}

const fn write_option(name: &'static str, takes: OptionType, help: &'static str) -> OptionSpec {
    OptionSpec { name, takes, side: Side::Write, help }
}

/// These options as a table.
pub(super) static TABLE: &[OptionSpec] = &[
    read_option("refuse_snappy", OptionType::Flag, "A body compressed with Snappy is an error."),
    read_option("refuse_zlib", OptionType::Flag, "A body compressed with zlib is an error."),
    read_option("refuse_zstd", OptionType::Flag, "A body compressed with Zstandard is an error."),
    read_option("refuse_objects", OptionType::Flag, "An object is an error."),
    read_option("validate_utf8", OptionType::Flag, "Text that is not valid UTF-8 is an error."),
    read_option(
        "max_num_hash_entries",
        OptionType::Number(0, i64::MAX),
        "How many entries a hash may have; 0: any number.",
    ),
    read_option(
        "max_num_array_entries",
        OptionType::Number(0, i64::MAX),
        "How many items an array may have; 0: any number.",
    ),
    write_option("protocol", OptionType::Number(1, 5), "The protocol; 5 by default."),
    write_option(
        "compress",
        OptionType::Choice(&["none", "snappy", "snappy_to_end", "zlib", "zstd"]),
        "How the body is compressed.",
    ),
    write_option("level", OptionType::Number(1, 22), "The compression level: zlib 1-9 (6), zstd 1-22 (3)."),
    write_option(
        "threshold",
        OptionType::Number(0, i64::MAX),
        "A body of fewer bytes is not compressed; 1024 by default.",
    ),
    write_option("canonical", OptionType::Flag, "The same bytes for the same data: canonical_refs and sort_keys=1."),
    write_option("canonical_refs", OptionType::Flag, "References always as REFN ARRAY and REFN HASH."),
    write_option(
        "sort_keys",
        OptionType::Number(0, 3),
        "Sorts keys: 1 by length and bytes, 2 as Perl's cmp does, 3 the reverse of that.",
    ),
    write_option("dedupe_strings", OptionType::Flag, "A repeated string of more than 3 bytes becomes a COPY."),
    write_option("aliased_dedupe_strings", OptionType::Flag, "Like dedupe_strings, with ALIAS where it is allowed."),
    write_option("no_shared_hashkeys", OptionType::Flag, "Repeated keys are written in full."),
    write_option("use_standard_double", OptionType::Flag, "Floats beyond 64 bits are rounded to DOUBLE."),
    write_option("no_bless_objects", OptionType::Flag, "Objects are written without their class."),
    write_option("no_header", OptionType::Flag, "The user header is left out."),
    write_option("no_spelling", OptionType::Flag, "The byte form of a Sereal document that was read is not kept."),
    class_map::OPTION,
];
