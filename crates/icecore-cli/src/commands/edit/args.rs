//! The command line of `icecore edit`.

use super::steps::Steps;
use crate::arguments::InputFormat;
use crate::commands::changed::ChangeArgs;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Change values on paths, and leave the rest unchanged
///
/// Everything that no option names keeps its bytes: the form of numbers and strings, the order of keys, shared values
/// and, in JSON, whitespace. Options may be given several times and are applied in order. Paths are those of `get`:
/// '$.a[0]'; `[*]`, `[-1]`, `[1:5]`, `.*` and `..name` select all values that they match. Values are JSON, or
/// json:typed, which can express bytes, symbols and objects; they become the closest equivalent of the format. The
/// result is read again before it is accepted. An edit that does not fit changes nothing: exit 1.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Edit {
    #[command(flatten)]
    pub from: InputFormat,
    /// Files, or folders with all files in them; `-`, or none, is the standard input
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub steps: Steps,
    /// Edit the document as JSON in $EDITOR
    ///
    /// The document is opened as json:typed, and what changed is written back. Uses $VISUAL if $EDITOR is not set.
    /// Unchanged values keep their bytes here, too. If the editor fails or the text can't be read, nothing is changed
    /// and the text is kept.
    #[arg(long)]
    pub editor: bool,
    #[command(flatten)]
    pub changes: ChangeArgs,
    /// Treat a loss as an error: exit 1, and change nothing
    #[arg(long)]
    pub strict: bool,
}

const EXAMPLES: &str = "\
Examples:
  icecore edit session.storable --set '$.user.name=\"Bob\"' -o changed.storable
  icecore edit --dry-run session.storable --delete '$..token'
  icecore edit --in-place cart.php --delete '$.items[-1]' --append '$.items={\"sku\": \"B-2\", \"n\": 1}'
  icecore edit config.yml.marshal --rename-key colour=color --set '$.size=null' > new.marshal
  icecore edit --in-place --rename-class 'App\\Job\\*=Shop\\Jobs\\*' queue/
  EDITOR=vim icecore edit --editor --in-place session.storable
  icecore edit a.srl --set '$.key={\"$bytes\": \"/wAB\"}' -o b.srl";
