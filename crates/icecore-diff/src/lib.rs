//! Finds differences between two documents of any formats, by meaning, and applies them.
//!
//! ```
//! use icecore_diff::{Rules, find_differences};
//! let a = icecore::read(br#"{"staff": [{"name": "Ann"}, {"name": "Bob"}]}"#)?;
//! let b = icecore::read(b"a:1:{s:5:\"staff\";a:1:{i:0;a:1:{s:4:\"name\";s:3:\"Bob\";}}}")?;
//! let differences = find_differences(&a, &b, Rules::new().across_formats());
//! assert_eq!(differences.changes()[0].kind.as_str(), "removed");
//! assert_eq!(differences.list_paths(), ["$.staff[0]"]);
//! # Ok::<(), icecore::Error>(())
//! ```
//!
//! # Method
//!
//! 1. Both tapes are followed side by side, node by node, while they have the same values. So parts that are stored
//!    alike are skipped.
//! 2. Where they differ, both trees are walked side by side. Entries of maps are paired by key. In lists the next
//!    equal items are searched, first directly after the position, and then in windows of increasing size. In a
//!    window, or in a short list, values get numbers. Equal values have equal numbers. Items that occur once in both
//!    lists are anchors. The parts between anchors are compared by the shortest edit path, if the path has at most
//!    100 steps. The rest is paired by similarity. Beyond limits that keep the work linear, items are paired by
//!    position. The numbers only select what to compare. Values count as equal only after a comparison.
//! 3. A value that was removed at one place and added at another has moved.
//! 4. Links and aliases count as their targets. If both the sharing and something in the shared value differ, the place
//!    of the link is reported as changed.
//!
//! Nothing recurses, and no work grows faster than the documents.
#![forbid(unsafe_code)]

mod align;
mod change;
mod difference_writer;
mod emit;
mod equality;
mod gap;
mod hash;
mod links;
mod lists;
mod lockstep;
mod moves;
mod pairs;
mod patch;
mod path_resolver;
mod rules;
mod side;
mod tree;
mod value_path;
mod walk;

pub use change::{Change, ChangeKind, Differences, find_differences, find_reference_differences};
pub use patch::{Patch, Refusal};
pub use rules::Rules;
