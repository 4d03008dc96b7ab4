//! What is done with an input.

use super::places::Places;
use super::rule_sets::RuleSets;
use super::show::Show;
use icecore::Stage;
use icecore::rewrite::Rewriting;
use std::sync::Arc;

/// What is done with an input: the threads share it.
pub struct Plan {
    /// What is replaced, in each charset of the input.
    pub rules: RuleSets,
    /// How far the engine looks into values.
    pub how: Rewriting,
    /// Whether plain text stays as it is.
    pub only_serialized: bool,
    /// How a dry run shows what would change.
    pub shows: Option<Arc<dyn Show>>,
    /// The tables and columns that were seen.
    pub places: Arc<Places>,
    /// The values of JSON lines.
    pub json: Stage,
    /// How messages call the input.
    pub input: String,
    /// What a table without a name of its own is called.
    pub table: String,
}
