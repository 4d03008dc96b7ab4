//! The settings of Data::Dumper, by their names in lower case.

use crate::class_map;
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "indent",
        takes: OptionType::Number(0, 3),
        side: Side::Write,
        help: "0 writes everything in one line, 1 indents by levels, 2 (the default) indents to the open bracket, 3 also adds indexes as comments",
    },
    OptionSpec { name: "terse", takes: OptionType::Flag, side: Side::Write, help: "leave out `$VAR1 = `" },
    OptionSpec {
        name: "useqq",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "write every string in double quotes, with `\\n` and the like for control characters",
    },
    OptionSpec {
        name: "deepcopy",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "write shared containers again instead of a path to the first, except in cycles",
    },
    OptionSpec {
        name: "purity",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "add statements that restore cycles and references into the structure",
    },
    OptionSpec { name: "sortkeys", takes: OptionType::Flag, side: Side::Write, help: "sort the keys of each hash" },
    OptionSpec {
        name: "quotekeys",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "quote all keys, as is the default; `quotekeys=no` leaves names and integers bare",
    },
    OptionSpec {
        name: "trailingcomma",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "with `indent` of 1 and more: a comma after the last item too",
    },
    OptionSpec { name: "pad", takes: OptionType::Text, side: Side::Both, help: "the text before each line" },
    OptionSpec {
        name: "pair",
        takes: OptionType::Text,
        side: Side::Both,
        help: "the text between key and value; ` => `",
    },
    OptionSpec {
        name: "narrow",
        takes: OptionType::Flag,
        side: Side::Read,
        help: "strings of which all characters are below 256 are bytes, as perl's eval gives them; otherwise `\\x{…}` makes text",
    },
    OptionSpec {
        name: "varname",
        takes: OptionType::Text,
        side: Side::Write,
        help: "the name before the number; `VAR`",
    },
    OptionSpec {
        name: "names",
        takes: OptionType::List,
        side: Side::Write,
        help: "names for the values, separated by commas, like the second list of Data::Dumper->new: `config,*hosts`",
    },
    OptionSpec {
        name: "list",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "write the items of the array at the root as `$VAR1`, `$VAR2` and so on",
    },
    OptionSpec {
        name: "result",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "end with `;` and the name of the value, as CGI::Session does",
    },
    OptionSpec {
        name: "maxdepth",
        takes: OptionType::Number(0, u32::MAX as i64),
        side: Side::Write,
        help: "write deeper values as a string such as `'HASH(0x…)'`; 0, the default, means no limit",
    },
    OptionSpec {
        name: "bless",
        takes: OptionType::Text,
        side: Side::Write,
        help: "the function that blesses; `bless`",
    },
    OptionSpec {
        name: "toaster",
        takes: OptionType::Text,
        side: Side::Write,
        help: "a method to call on each object when the text is evaluated",
    },
    OptionSpec {
        name: "sparseseen",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "forget scalars that are referred to only once, as the setting does; references to them are written again",
    },
    OptionSpec {
        name: "useperl",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "write what Data::Dumper's Perl code writes where that differs from its C code",
    },
    OptionSpec {
        name: "trusted",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "write regular expressions, v-strings and code as Data::Dumper does, even if evaluating the text runs what is in them; for values of your own program",
    },
    class_map::OPTION,
];

/// How a text is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Text before each line. It is detected if this is `None`.
    pub pad: Option<String>,
    /// Text between a key and its value. It is detected if this is `None`.
    pub pair: Option<String>,
    /// Strings whose characters are all below 256 are bytes, as perl's `eval` returns
    /// them. Otherwise a string with `\x{…}` is text: Data::Dumper writes that only for
    /// text.
    pub narrow: bool,
}

/// How a text is written: the settings of Data::Dumper.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// `$Data::Dumper::Indent`, from 0 to 3.
    pub indent: u8,
    /// Leave out `$VAR1 = `.
    pub terse: bool,
    /// Write every string in double quotes.
    pub useqq: bool,
    /// Write shared containers again.
    pub deepcopy: bool,
    /// Add statements that restore cycles and references into the structure.
    pub purity: bool,
    /// Sort the keys of each hash.
    pub sortkeys: bool,
    /// Quote all keys.
    pub quotekeys: bool,
    /// Write a comma after the last item too.
    pub trailingcomma: bool,
    /// Text before each line.
    pub pad: String,
    /// Text between a key and its value.
    pub pair: String,
    /// The variable name before the number.
    pub varname: String,
    /// Names for the values, as the second list of `Data::Dumper->new`.
    pub names: Vec<String>,
    /// Write the items of the array at the root as separate values.
    pub list: bool,
    /// Write `;` and the name of the value at the end, as CGI::Session does.
    pub result: bool,
    /// Number of levels to write; 0 for all.
    pub maxdepth: u32,
    /// The function to bless with.
    pub bless: String,
    /// A method to call on each object when the text is evaluated.
    pub toaster: Option<String>,
    /// Forget scalars that are referred to only once.
    pub sparseseen: bool,
    /// Follow Data::Dumper's Perl code where it differs from its C code.
    pub useperl: bool,
    /// Write regular expressions, v-strings and code as Data::Dumper does, even if
    /// evaluating the text runs code from them. Only for values of the program that
    /// evaluates the text.
    pub trusted: bool,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions {
            indent: 2,
            terse: false,
            useqq: false,
            deepcopy: false,
            purity: false,
            sortkeys: false,
            quotekeys: true,
            trailingcomma: false,
            pad: String::new(),
            pair: " => ".to_owned(),
            varname: "VAR".to_owned(),
            names: Vec::new(),
            list: false,
            result: false,
            maxdepth: 0,
            bless: "bless".to_owned(),
            toaster: None,
            sparseseen: false,
            useperl: false,
            trusted: false,
        }
    }
}

impl ReadOptions {
    pub(crate) fn from_settings(settings: &Settings) -> ReadOptions {
        let text = |name| settings.text(name).map(str::to_owned);
        ReadOptions { pad: text("pad"), pair: text("pair"), narrow: settings.flag("narrow") }
    }
}

impl WriteOptions {
    /// Returns the given settings; missing ones are those of `default`.
    pub(crate) fn from_settings(settings: &Settings, default: WriteOptions) -> WriteOptions {
        let flag = |name, default| settings.flag_set(name).unwrap_or(default);
        let text = |name, default| settings.text(name).map_or(default, str::to_owned);
        let names = settings.list("names").map(|names| names.map(str::to_owned).collect());
        WriteOptions {
            indent: settings.number("indent").and_then(|indent| u8::try_from(indent).ok()).unwrap_or(default.indent),
            terse: flag("terse", default.terse),
            useqq: flag("useqq", default.useqq),
            deepcopy: flag("deepcopy", default.deepcopy),
            purity: flag("purity", default.purity),
            sortkeys: flag("sortkeys", default.sortkeys),
            quotekeys: flag("quotekeys", default.quotekeys),
            trailingcomma: flag("trailingcomma", default.trailingcomma),
            pad: text("pad", default.pad),
            pair: text("pair", default.pair),
            varname: text("varname", default.varname),
            names: names.unwrap_or(default.names),
            list: flag("list", default.list),
            result: flag("result", default.result),
            maxdepth: settings
                .number("maxdepth")
                .and_then(|depth| u32::try_from(depth).ok())
                .unwrap_or(default.maxdepth),
            bless: text("bless", default.bless),
            toaster: settings
                .text("toaster")
                .map(str::to_owned)
                .or(default.toaster)
                .filter(|method| !method.is_empty()),
            sparseseen: flag("sparseseen", default.sparseseen),
            useperl: flag("useperl", default.useperl),
            trusted: flag("trusted", default.trusted),
        }
    }
}
