//! The command line of `classes`.

use crate::arguments::{Inputs, ReadArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// List every class that the data names
///
/// Shows how often each class occurs, how it is used, and where it occurs first. `--as` prints the setting that allows
/// these classes in the given language; review it before you use it. A note names classes that
/// are left out because they need no list: for Ruby, those that the Ruby module builds without one (`Time`, `Date`,
/// `Range`, …). A class whose name would be a pattern in that language (`*`) is not printed: that is a finding, and the
/// exit code is 1.
///
/// Rows without a class are other things that perl may run: `code`, `regexp-code` (`(?{…})`) and `tie`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Classes {
    #[command(flatten)]
    pub from: ReadArgs,
    #[command(flatten)]
    pub inputs: Inputs,
    /// Also list the classes of frozen data in strings
    ///
    /// Strings are opened at any depth. Without it, a note on stderr says if there are such strings. Paths continue into them: `icecore inspect --deep
    /// --path` accepts these paths.
    #[arg(long)]
    pub deep: bool,
    /// Print the allow-list for this language
    #[arg(long = "as", value_name = "LANGUAGE", value_enum, conflicts_with = "json")]
    pub language: Option<Language>,
    /// With `--as laravel`: show which package of this project each class comes from
    ///
    /// DIR contains the project's `composer.json` and, after Composer has installed the packages, `vendor`.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, requires = "language")]
    pub composer: Option<PathBuf>,
    /// Print only the names of the files in which this class occurs: `Cart`, `Shop\*`
    ///
    /// `*` stands for any text. If no file has the class, the exit code is 1.
    #[arg(short = 'l', long, value_name = "CLASS", conflicts_with_all = ["json", "language"])]
    pub files_with: Option<String>,
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
    /// Options of a decoder: `classes` of Icecore's, also `thaw_allow_classes` of Sereal 5.011
    Sereal,
    /// `classes` of a coder or serializer of `Icecore::Rails`
    Rails,
}

const EXAMPLES: &str = "\
Examples:
  icecore classes cache/
  icecore classes --deep job.payload            and in what its strings hold
  icecore classes --as perl session.storable    classes => ['Employee', 'My::Thing']
  icecore classes -l Cart cache/                the files that contain a class
  icecore classes --as laravel --composer . storage/framework/cache
                                                the list for config/cache.php, with the package of each class
  icecore query -c 'paths(class == \"Employee\")' session.storable
                                                the place of every object of a class";
