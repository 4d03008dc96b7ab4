//! The plan for an input.

use super::places::ColumnRegistry;
use super::rule_sets::RuleSets;
use super::show::Show;
use icecore::Stage;
use icecore::rewrite::Rewriting;
use std::sync::Arc;

/// The plan for an input, which the threads share.
pub struct ReplacePlan {
    /// The rules, in each charset of the input.
    pub rules: RuleSets,
    /// Settings for the search inside values.
    pub rewrite_options: Rewriting,
    /// Whether plain text is left unchanged.
    pub only_serialized: bool,
    /// How a dry run shows the changes.
    pub change_printer: Option<Arc<dyn Show>>,
    /// The tables and columns seen so far.
    pub places: Arc<ColumnRegistry>,
    /// The format of values in JSON lines.
    pub json: Stage,
    /// The name of the input in messages.
    pub input: String,
    /// The name for a table without a name of its own.
    pub table: String,
}
