//! The table of the options of JSON.

use crate::class_map;
use crate::options::{OptionSpec, OptionType, Side};

/// The table of options.
pub(super) static TABLE: &[OptionSpec] = &ALL;

/// The table of options for JSON lines: without those that break lines.
pub(super) static LINES: &[OptionSpec] = ALL.split_at(ALL.len() - LINE_BREAK_OPTIONS).0;

/// Number of options at the end of the table that are about line breaks.
const LINE_BREAK_OPTIONS: usize = 3;

const ALL: [OptionSpec; 35] = [
    OptionSpec {
        name: "typed",
        takes: OptionType::Flag,
        side: Side::Both,
        help: "keeps everything that a document means, and reads back as an equal one; `typed=no` reads such a text as plain JSON",
    },
    OptionSpec {
        name: "spelling",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "with `typed`: adds the byte form, so that the original format comes back byte for byte",
    },
    write_option("space_before", OptionType::Flag, "a blank before each colon"),
    write_option(
        "space_after",
        OptionType::Flag,
        "a blank after each colon, and after commas within a line; on by default with `indent`",
    ),
    OptionSpec {
        name: "sort_keys",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "sorts the keys of each object by their bytes",
    },
    write_option("sorted", OptionType::Flag, "the same as `sort_keys`"),
    write_option("canonical", OptionType::Flag, "the same as `sort_keys`, as JSON::XS calls it"),
    write_option("ascii", OptionType::Flag, "escapes every character beyond ASCII"),
    write_option("latin1", OptionType::Flag, "writes Latin-1: characters to U+00FF are one byte, the others escapes"),
    write_option("escape_slash", OptionType::Flag, "writes `\\/` for a slash"),
    OptionSpec {
        name: "bytes",
        takes: OptionType::Choice(&["latin1", "base64", "hex", "replace", "error"]),
        side: Side::Write,
        help: "how to write byte strings that are not UTF-8: a character for each byte, Base64, hex digits, \
               U+FFFD for each wrong sequence, or an error",
    },
    OptionSpec {
        name: "text",
        takes: OptionType::Choice(&["utf8", "latin1"]),
        side: Side::Write,
        help: "how byte strings are read: as UTF-8 where they are valid, or always as Latin-1, as JSON::XS does",
    },
    OptionSpec {
        name: "class",
        takes: OptionType::Text,
        side: Side::Write,
        help: "keeps the class names of objects, as an entry with this key",
    },
    OptionSpec {
        name: "cycles",
        takes: OptionType::Choice(&["error", "null"]),
        side: Side::Write,
        help: "what to write for a link to a container that contains it",
    },
    OptionSpec {
        name: "surrogates",
        takes: OptionType::Choice(&["error", "replace", "keep"]),
        side: Side::Read,
        help: "how to read an escape that is half of a surrogate pair: an error, U+FFFD, or the surrogate itself",
    },
    write_option(
        "as",
        OptionType::Choice(&["icecore", "json-xs", "cpanel"]),
        "writes the very bytes of JSON::XS->new->utf8 or Cpanel::JSON::XS->new->utf8: text, numbers, blanks",
    ),
    write_option(
        "floats",
        OptionType::Choice(&["shortest", "json-xs", "cpanel"]),
        "how floats are written: all digits; 15 digits as perl prints them; the same, with `.0` after whole numbers",
    ),
    write_option(
        "stringify_infnan",
        OptionType::Number(0, 3),
        "infinity and NaN, as in Cpanel::JSON::XS: 0 null, 1 a string, 2 a bare word, which is not JSON, 3 a string, NaN without its sign",
    ),
    write_option("allow_blessed", OptionType::Flag, "writes null for objects, as JSON::XS's option of this name does"),
    OptionSpec {
        name: "tags",
        takes: OptionType::Flag,
        side: Side::Both,
        help: "objects that froze themselves are `(\"Class\")[…]`, as JSON::XS's allow_tags writes and reads",
    },
    read_option(
        "relaxed",
        OptionType::Flag,
        "commas before closing brackets, `#` comments, tabs in strings, as JSON::XS takes them",
    ),
    read_option("comments", OptionType::Flag, "comments: `#`, `//` and `/* */`; Ruby's parser takes the last two"),
    read_option("singlequote", OptionType::Flag, "strings in single quotes, as in Cpanel::JSON::XS"),
    read_option("barekey", OptionType::Flag, "keys without quotes, as in Cpanel::JSON::XS"),
    read_option("allow_singlequote", OptionType::Flag, "the same as `singlequote`"),
    read_option("allow_barekey", OptionType::Flag, "the same as `barekey`"),
    read_option("allow_bignum", OptionType::Flag, "the same as `bignum`"),
    OptionSpec { name: "allow_tags", takes: OptionType::Flag, side: Side::Both, help: "the same as `tags`" },
    read_option("loose", OptionType::Flag, "control characters in strings, as in JSON::PP"),
    read_option("bignum", OptionType::Flag, "a float whose digits no 64-bit float holds becomes a string of them"),
    read_option("dupkeys", OptionType::Choice(&["keep", "error"]), "what to do with a key that the object already has"),
    class_map::OPTION,
    OptionSpec {
        name: "indent",
        takes: OptionType::Number(0, 15),
        side: Side::Write,
        help: "number of blanks per level; 0, the default, writes everything in one line",
    },
    write_option(
        "pretty",
        OptionType::Flag,
        "lines, indented by 3, and blanks around colons, as JSON::XS's `pretty` writes",
    ),
    write_option(
        "indent_length",
        OptionType::Number(0, 15),
        "with `pretty`: number of blanks per level, as in Cpanel::JSON::XS",
    ),
];

const fn write_option(name: &'static str, takes: OptionType, help: &'static str) -> OptionSpec {
    OptionSpec { name, takes, side: Side::Write, help }
}

const fn read_option(name: &'static str, takes: OptionType, help: &'static str) -> OptionSpec {
    OptionSpec { name, takes, side: Side::Read, help }
}
