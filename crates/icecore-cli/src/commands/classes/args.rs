//! The command line of `classes`.

use crate::arguments::{From, Inputs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// List every class that the data names
///
/// Shows how often each class occurs, in which way, and where first. `--as` prints what lets them through in that
/// language; read it before you allow it. What the module for Ruby builds without a list (`Time`, `Date`, `Range`, …) is
/// left out for Ruby. A class whose name would be a pattern there (`*`) is not printed: that is a
/// finding, and the exit code is 1.
///
/// Rows without a class are other things that perl may run: `code`, `regexp-code` (`(?{…})`) and `tie`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Classes {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub inputs: Inputs,
    /// Look into strings that are frozen data themselves as well, and those in them
    ///
    /// Without it a note on stderr says if there are such strings. Paths lead on into them: `icecore inspect --deep
    /// --path` takes them.
    #[arg(long)]
    pub deep: bool,
    /// Print the allow-list in this language
    #[arg(long = "as", value_name = "LANGUAGE", value_enum, conflicts_with = "json")]
    pub language: Option<Language>,
    /// With `--as laravel`: say which package of this project each class comes from
    ///
    /// The folder has the project's `composer.json` and, once Composer installed them, `vendor`.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, requires = "language")]
    pub composer: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// `classes` of Icecore's functions
    Perl,
    /// `allowed_classes` of PHP's `unserialize`, and of Icecore's
    Php,
    /// `classes` of Icecore's methods
    Ruby,
    /// `serializable_classes` in `config/cache.php`
    Laravel,
    /// The options of a decoder: `classes` of Icecore's, `thaw_allow_classes` of Sereal 5.011 too
    Sereal,
    /// `classes` of a coder or serializer of `Icecore::Rails`
    Rails,
}

const EXAMPLES: &str = "\
Examples:
  icecore classes cache/
  icecore classes --deep job.payload            and in what its strings hold
  icecore classes --as perl session.storable    classes => ['Employee', 'My::Thing']
  icecore classes --as laravel --composer . storage/framework/cache
                                                the list for config/cache.php, with the package of each class";
