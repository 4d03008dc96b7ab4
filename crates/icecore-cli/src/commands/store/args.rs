//! The command line of `icecore store`.

use crate::arguments::Reporting;
use crate::database::{Database, duration, id};
use crate::limits;
use crate::records::Frame;
use clap::{Args, Subcommand, ValueHint};
use icecore_store::Id;
use std::path::PathBuf;
use std::time::Duration;

/// Keep frozen objects in a database, and find them again
///
/// What is stored keeps its original bytes, with a checksum, its format, its classes, and a readable copy. Bytes that
/// can't be decoded are kept as well, and marked.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct Store {
    #[command(flatten)]
    pub database: Database,
    #[command(flatten)]
    pub said: Reporting,
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    Put(Put),
    Get(Get),
    Each(Each),
    Find(Find),
    Rm(Rm),
    /// Take the objects away whose time has come
    Expire,
    Stats(Stats),
    Index(Index),
    Copy(Copy),
}

impl Action {
    /// Whether it needs objects that are there.
    pub fn needs_data(&self) -> bool {
        !matches!(self, Action::Put(_) | Action::Index(_))
    }

    /// Whether what it prints is for reading, and no data.
    pub fn is_for_reading(&self) -> bool {
        match self {
            Action::Each(each) => each.bytes.is_none(),
            Action::Find(_) | Action::Stats(_) => true,
            _ => false,
        }
    }
}

/// Store files; prints their ids, one a line
#[derive(Debug, Args)]
pub struct Put {
    /// Files, or folders with all that is in them; `-` is the standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// What they are: base64/marshal; found out if not given
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub format: Option<String>,
    /// A name that no other object has, for one file
    #[arg(long)]
    pub key: Option<String>,
    /// They go after this time: 90s, 5m, 7d
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub expires: Option<Duration>,
    /// Into a column of text, as Base64
    #[arg(long)]
    pub base64: bool,
    /// Print an object of JSON for each
    #[arg(long)]
    pub json: bool,
    /// Each file holds many objects; FRAME says how they are told apart
    ///
    /// Without FRAME they stand one behind the other, and -f says what they are. Memory does not grow with the file.
    #[arg(long, value_name = "FRAME", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents", conflicts_with = "key")]
    pub each: Option<Frame>,
    /// With --each: how long an object may be
    #[arg(long, value_name = "SIZE", value_parser = limits::size, default_value = "1G", requires = "each")]
    pub max_record: u64,
}

/// Print an object: its original bytes, or converted
#[derive(Debug, Args)]
pub struct Get {
    /// Its id, or its key
    pub id: String,
    /// Convert it: json, php, base64/marshal
    #[arg(short = 't', long = "to", value_name = "FORMAT")]
    pub to: Option<String>,
    /// Print what is known of it, as JSON, with its value
    #[arg(long, conflicts_with = "to")]
    pub json: bool,
    /// Write binary data to a terminal
    #[arg(long)]
    pub force: bool,
}

/// Which objects.
#[derive(Debug, Args)]
pub struct Filter {
    /// Of this class, or with one of this class in them
    #[arg(long)]
    pub class: Option<String>,
    /// Only those that can't be decoded
    #[arg(long)]
    pub quarantined: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub most: Option<usize>,
    /// Print an object of JSON for each, on a line of its own
    #[arg(long, group = "shape")]
    pub json: bool,
}

/// Walk through all objects, each with its value
///
/// One that can't be decoded any more is marked with the reason, and the walk goes on.
#[derive(Debug, Args)]
pub struct Each {
    #[command(flatten)]
    pub filter: Filter,
    /// Behind this object
    #[arg(long, value_name = "ID", value_parser = id)]
    pub after: Option<Id>,
    /// Print the original bytes, and nothing else; FRAME says what stands around those of an object
    ///
    /// Nothing is decoded. Without FRAME they stand one behind the other. `store put --each=FRAME` reads it again.
    #[arg(long, value_name = "FRAME", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents", group = "shape")]
    pub bytes: Option<Frame>,
    /// With --bytes: write binary data to a terminal
    #[arg(long, requires = "bytes")]
    pub force: bool,
}

/// Find objects by key, class or value: `store find '$.user.id' 7`
///
/// The value is JSON; what is none is a text. Without an index (store index PATH) each object is looked into.
#[derive(Debug, Args)]
pub struct Find {
    /// Where the value is: $.user.id, or $.user.id=7
    #[arg(value_name = "PATH")]
    pub path: Option<String>,
    /// What it is: 7, true, null, "7", Alice
    #[arg(requires = "path")]
    pub value: Option<String>,
    /// The object with this key
    #[arg(long)]
    pub key: Option<String>,
    #[command(flatten)]
    pub filter: Filter,
}

/// Take objects away
#[derive(Debug, Args)]
pub struct Rm {
    /// Their ids
    #[arg(required = true, value_name = "ID", value_parser = id)]
    pub ids: Vec<Id>,
}

/// Say how much is there
#[derive(Debug, Args)]
pub struct Stats {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Find by what stands at a path without looking into each object; without a path, list the indexes
#[derive(Debug, Args)]
pub struct Index {
    /// $.user.id
    pub path: Option<String>,
}

/// Copy all objects to another database
///
/// Their ids stay, so it can be done again: those that are there are left as they are.
#[derive(Debug, Args)]
pub struct Copy {
    /// The other database
    #[arg(long = "to", value_name = "URL")]
    pub to: String,
}

const EXAMPLES: &str = "\
Examples:
  icecore store put order-*.storable            the ids, one a line
  icecore store get 01990000-0000-7000-8000-000000000000 -t json
  icecore store put --each -f marshal dumps     a file with many, one behind the other
  icecore store each --json | jq .value
  icecore store each --bytes=u32be | icecore store --db sqlite:b.db put --each=u32be
  icecore store index '$.user.id'
  icecore store find '$.user.id' 7
  icecore store --db postgres://app@db/app stats";
