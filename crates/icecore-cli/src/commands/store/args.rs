//! The command line of `icecore store`.

use crate::database::{Database, parse_duration, parse_id};
use crate::limits;
use crate::records::Framing;
use clap::{Args, Subcommand, ValueHint};
use icecore_store::Id;
use std::path::PathBuf;
use std::time::Duration;

/// Store frozen objects in a database, and find them again
///
/// Each object keeps its original bytes, with a checksum, its format, its classes, and a readable copy. Bytes that
/// can't be decoded are stored as well, and marked.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct Store {
    #[command(flatten)]
    pub database: Database,
    #[command(subcommand)]
    pub action: StoreAction,
}

#[derive(Debug, Subcommand)]
pub enum StoreAction {
    Put(Put),
    Get(GetObject),
    Each(Each),
    Find(Find),
    Rm(Rm),
    /// Remove expired objects
    Expire,
    Stats(StoreStats),
    Index(Index),
    Copy(CopyObjects),
}

impl StoreAction {
    /// Returns true if the action needs existing objects.
    pub fn needs_data(&self) -> bool {
        !matches!(self, StoreAction::Put(_) | StoreAction::Index(_))
    }

    /// Returns true if the action prints text for reading rather than data.
    pub fn is_for_reading(&self) -> bool {
        match self {
            StoreAction::Each(each) => each.bytes.is_none(),
            StoreAction::Find(_) | StoreAction::Stats(_) => true,
            _ => false,
        }
    }
}

/// Store files, and print their ids, one per line
#[derive(Debug, Args)]
pub struct Put {
    /// Files, or folders with all files in them; `-` is the standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Format of the files: base64/marshal; detected if not given
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub format: Option<String>,
    /// Unique key of the object, for a single file
    #[arg(long)]
    pub key: Option<String>,
    /// Let the objects expire after this time: 90s, 5m, 7d
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub expires: Option<Duration>,
    /// Store the bytes as Base64 in a text column
    #[arg(long)]
    pub base64: bool,
    /// Print a JSON object for each object
    #[arg(long)]
    pub json: bool,
    /// Read many objects from each file; FRAME says how they are separated
    ///
    /// Without FRAME, they follow one another without separators, and -f gives their format. Memory does not grow with
    /// the file.
    #[arg(long, value_name = "FRAME", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents", conflicts_with = "key")]
    pub each: Option<Framing>,
    /// With --each: maximum length of an object
    #[arg(long, value_name = "SIZE", value_parser = limits::parse_size, default_value = "1G", requires = "each")]
    pub max_record: u64,
}

/// Print an object: its original bytes, or converted
#[derive(Debug, Args)]
pub struct GetObject {
    /// Id or key of the object
    pub id: String,
    /// Convert the object: json, php, base64/marshal
    #[arg(short = 't', long = "to", value_name = "FORMAT")]
    pub to: Option<String>,
    /// Treat a loss as an error: exit 1, and write nothing
    #[arg(long, requires = "to")]
    pub strict: bool,
    /// Print the metadata of the object and its value as JSON
    #[arg(long, conflicts_with = "to")]
    pub json: bool,
    /// Write binary data to a terminal
    #[arg(long)]
    pub force: bool,
}

/// The objects that a command selects.
#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Only objects that are of this class or contain it
    #[arg(long)]
    pub class: Option<String>,
    /// Only objects that can't be decoded
    #[arg(long)]
    pub quarantined: bool,
    /// At most N objects
    #[arg(long, value_name = "N", value_parser = limits::parse_item_count)]
    pub items: Option<u64>,
    /// Print a JSON object for each object, one per line
    #[arg(long, group = "shape")]
    pub json: bool,
}

/// List all objects, each with its value
///
/// An object that can't be decoded any more is marked with the reason, and the listing continues.
#[derive(Debug, Args)]
pub struct Each {
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Start after this object
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    pub after: Option<Id>,
    /// Print only the original bytes; FRAME says how objects are separated
    ///
    /// Nothing is decoded. Without FRAME, the objects follow one another without separators. `store put --each=FRAME`
    /// reads the output.
    #[arg(long, value_name = "FRAME", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents", group = "shape")]
    pub bytes: Option<Framing>,
    /// With --bytes: write binary data to a terminal
    #[arg(long, requires = "bytes")]
    pub force: bool,
}

/// Find objects by key, class or value: `store find '$.user.id' 7`
///
/// The value is JSON; a value that is not valid JSON is a text. Without an index (store index PATH), every object is
/// searched.
#[derive(Debug, Args)]
pub struct Find {
    /// Path of the value: $.user.id, or $.user.id=7
    #[arg(value_name = "PATH")]
    pub path: Option<String>,
    /// The value: 7, true, null, "7", Alice
    #[arg(requires = "path")]
    pub value: Option<String>,
    /// The object with this key
    #[arg(long)]
    pub key: Option<String>,
    #[command(flatten)]
    pub filter: FilterArgs,
}

/// Remove objects
#[derive(Debug, Args)]
pub struct Rm {
    /// Ids or keys of the objects
    #[arg(required = true, value_name = "ID|KEY")]
    pub ids: Vec<String>,
}

/// Show the size of the store
#[derive(Debug, Args)]
pub struct StoreStats {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Index the values on a path, for fast `find`; without a path, list the indexes
#[derive(Debug, Args)]
pub struct Index {
    /// Path of the values: $.user.id
    pub path: Option<String>,
}

/// Copy all objects to another database
///
/// Objects keep their ids, so the copy can be repeated: existing objects are not changed.
#[derive(Debug, Args)]
pub struct CopyObjects {
    /// URL of the other database
    #[arg(long = "to", value_name = "URL")]
    pub to: String,
}

const EXAMPLES: &str = "\
Examples:
  icecore store put order-*.storable            the ids, one a line
  icecore store get 01990000-0000-7000-8000-000000000000 -t json
  icecore store put --each -f marshal dumps     many documents in a row in one file
  icecore store each --json | jq .value
  icecore store each --bytes=u32be | icecore store --db sqlite:b.db put --each=u32be
  icecore store index '$.user.id'
  icecore store find '$.user.id' 7
  icecore store --db postgres://app@db/app stats";
