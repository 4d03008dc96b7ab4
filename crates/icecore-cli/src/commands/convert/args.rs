//! The command line of `convert`.

use crate::arguments::{InputFormat, Inputs};
use crate::limits;
use crate::records::Framing;
use crate::target::OutputArgs;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Convert from any format to any other
///
/// Whatever the target can't express is never lost silently: each kind of loss is reported with a count and the first
/// path. If both formats are the same, the byte form is kept. Several inputs are written one after the other, or each
/// to a file of its own with --out-dir.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Convert {
    #[command(flatten)]
    pub from: InputFormat,
    /// Read several documents or records one by one
    ///
    /// Memory does not grow with the input. Without FRAME, documents follow one another without separators; for JSON, each line is a document. FRAME names
    /// another way to separate records; each record is one document.
    #[arg(long, value_name = "FRAME", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents")]
    pub each: Option<Framing>,
    /// Format of the output, with options: json:indent=2
    ///
    /// If not given, the format of the name of --output: NAME.storable, NAME.php, NAME.srl.zst; else JSON.
    #[arg(short = 't', long = "to", value_name = "FORMAT")]
    pub to: Option<String>,
    /// Option of the output's format; the value is taken verbatim
    #[arg(long = "to-opt", value_name = "NAME[=VALUE]")]
    pub to_options: Vec<String>,
    /// Rename classes: `App\*=My\*,User=Account`, or a file with a pair on each line
    ///
    /// The text that each * in the old name matches replaces the * with the same number in the new name. Without this
    /// option a class keeps its name, unless the target's language uses that name for a class of its own: such a class
    /// gets a name below Icecore::Foreign, and gets its own name back when it is converted from there.
    #[arg(long, value_name = "OLD=NEW,…|@FILE")]
    pub class_map: Vec<String>,
    #[command(flatten)]
    pub inputs: Inputs,
    #[command(flatten)]
    pub output_args: OutputArgs,
    /// Overwrite files that exist, but never an input; write binary formats to a terminal
    #[arg(long)]
    pub force: bool,
    /// Treat a loss as an error: exit 1, and write nothing for that input
    #[arg(long)]
    pub strict: bool,
    /// Open frozen data in strings, at any depth
    ///
    /// The value of such a string is written in its place: a PHP string that was serialized twice, the command in the
    /// JSON of a Laravel job. A string is opened if all of it is in a format that is detected as sure or likely; for
    /// JSON, if it is an object or an array that is not empty. Keys are never opened. The number of opened strings is
    /// reported on stderr; this is not a loss. The input is then read as a whole, whatever its size.
    #[arg(long)]
    pub deep: bool,
    /// Write what could be read of a document that breaks off
    ///
    /// A mark replaces the missing part: a last item `{"(missing)": {…}}` in a list, a last entry with this key in a
    /// map. It contains the number of items read, the expected number if the input has it, the error, the number of
    /// bytes that were not understood, and the first of them. The error is reported as always: exit 4. With --each,
    /// every document that breaks off is written like this, and --keep-going continues after it. If a wrapper is cut,
    /// for example a gzip file, the data unpacked from it is read.
    #[arg(long, conflicts_with = "strict")]
    pub partial: bool,
    /// With --each: frame to put around each document
    ///
    /// If not given, documents in text formats end with a line feed, and others follow one another without separators.
    #[arg(long, value_name = "FRAME", value_enum, requires = "each")]
    pub frame: Option<Framing>,
    /// With --each: skip records that can't be converted, and count them
    ///
    /// Without it, the first such record ends the conversion of its input. If documents follow one another without
    /// separators, the next one is searched for: by the signatures of Sereal, Storable, Marshal and igbinary; in PHP's
    /// text where a container begins right after another one, and in text on a line of its own. Data after that point
    /// that can't be read is part of the bad document, unless it begins with a signature that occurs nowhere else.
    #[arg(long, requires = "each")]
    pub keep_going: bool,
    /// With --each: write counts as JSON to this file; `-` is the standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "each")]
    pub summary: Option<PathBuf>,
    /// With --each: maximum length of a record
    #[arg(long, value_name = "SIZE", value_parser = limits::parse_size, default_value = "1G", requires = "each")]
    pub max_record: u64,
    /// Size of each read
    #[arg(long, hide = true, default_value_t = icecore_tables::window::CHUNK)]
    pub chunk: usize,
}

const EXAMPLES: &str = "\
Examples:
  icecore convert orders.storable               compact JSON
  icecore convert -t json:indent=2,sort_keys orders.storable
  icecore convert -t json:typed a.srl -o a.json; edit a.json; icecore convert -t sereal a.json -o a.srl
  icecore convert --each log.srl                a document a line
  tail -f queue | icecore convert --each=lines -f base64/php --keep-going
  icecore convert --out-dir json/ sessions/     a whole folder
  icecore convert --deep option.ser             what was serialized twice, as one
  icecore convert --strict -t sereal a.storable -o a.srl
  icecore convert --db memcached://localhost --key user:7";
