//! The command line of `convert`.

use crate::arguments::{DEFAULT_TARGET, From, Inputs, Reporting};
use crate::limits;
use crate::records::Frame;
use crate::target::OutputPlace;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Convert from any format to any other
///
/// What the target can't say is never lost silently: each kind of loss is reported with a count and the first path.
/// Where both formats are the same, the byte form is kept. Several inputs are written one behind the other, or each
/// to a file of its own with --out-dir.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Convert {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub said: Reporting,
    /// The format of the output, with options: json:indent=2
    #[arg(short = 't', long = "to", value_name = "FORMAT", default_value = DEFAULT_TARGET)]
    pub to: String,
    /// An option of the output's format; the value is taken verbatim
    #[arg(long = "to-opt", value_name = "NAME[=VALUE]")]
    pub to_options: Vec<String>,
    /// New names of classes: `App\*=My\*,User=Account`, or a file with a pair on each line
    ///
    /// What each * in the old name stands for is put in the place of the one of the same number in the new name.
    /// Without it a class keeps its name, save one that the target's language has for a class of its own: it gets one
    /// below Icecore::Foreign, and its own back when it is converted from there.
    #[arg(long, value_name = "OLD=NEW,…|@FILE")]
    pub class_map: Vec<String>,
    #[command(flatten)]
    pub inputs: Inputs,
    #[command(flatten)]
    pub written: OutputPlace,
    /// Overwrite files that exist, but never an input; write binary formats to a terminal
    #[arg(long)]
    pub force: bool,
    /// A loss is an error: exit 1, and nothing is written for that input
    #[arg(long)]
    pub strict: bool,
    /// Open strings that are frozen data themselves, and those in them
    ///
    /// What such a string says is written in its place: a PHP string that was serialized twice, the command in the
    /// JSON of a Laravel job. A string counts if it is, as a whole, in a format that is detected as sure or likely;
    /// of JSON, if it is an object or an array that is not empty. Keys are never opened. How many were opened is
    /// said on stderr; that is no loss. The input is then read as a whole, whatever its size.
    #[arg(long)]
    pub deep: bool,
    /// Of a document that breaks off, write what could be read
    ///
    /// Where something is missing stands a mark: a last item `{"(missing)": {…}}` in a list, a last entry with this key
    /// in a map. It says how many items were read, how many there should be if the input tells, what is wrong, how many
    /// bytes were not understood, and the first of them. The error is reported as always: exit 4. With --each, each
    /// document that breaks off is written so; --keep-going goes on behind it. Of a wrapper that is cut, as a gzip file,
    /// what came out of it is read.
    #[arg(long, conflicts_with = "strict")]
    pub partial: bool,
    /// With --each: what to put around each document
    ///
    /// If not given, documents in text formats end with a line feed, others stand one behind the other.
    #[arg(long, value_name = "FRAME", value_enum, requires = "each")]
    pub frame: Option<Frame>,
    /// With --each: skip records that can't be converted, and count them
    ///
    /// Without it the first one ends the conversion of its input. Where documents stand one behind the other, the next
    /// one is looked for: by the signatures of Sereal, Storable, Marshal and igbinary; in PHP's text where a container
    /// begins behind another, and in text on a line of its own. What can't be read from there on is a part of the bad
    /// one, unless it begins with a signature that stands nowhere else.
    #[arg(long, requires = "each")]
    pub keep_going: bool,
    /// With --each: write counts as JSON into this file; `-` is the standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "each")]
    pub summary: Option<PathBuf>,
    /// With --each: how long a record may be
    #[arg(long, value_name = "SIZE", value_parser = limits::size, default_value = "1G", requires = "each")]
    pub max_record: u64,
    /// How much is read at once
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
