//! What is done with an input.

use super::places::Places;
use super::rule_sets::RuleSets;
use crate::paint::Paint;
use icecore::Stage;
use icecore::rewrite::Rewriting;
use std::sync::Arc;

/// What is done with an input: the threads share it.
pub struct Plan {
    pub rules: RuleSets,
    pub how: Rewriting,
    pub only_serialized: bool,
    /// How a dry run shows what would change.
    pub shows: Option<Paint>,
    pub places: Arc<Places>,
    /// The values of JSON lines.
    pub json: Stage,
    /// How messages call the input.
    pub input: String,
    /// What a table without a name of its own is called.
    pub table: String,
}
