//! What differs between two documents of any formats, by meaning; and a difference applied.
//!
//! ```
//! use icecore_diff::{Rules, differences};
//! let a = icecore::read(br#"{"staff": [{"name": "Ann"}, {"name": "Bob"}]}"#)?;
//! let b = icecore::read(b"a:1:{s:5:\"staff\";a:1:{i:0;a:1:{s:4:\"name\";s:3:\"Bob\";}}}")?;
//! let found = differences(&a, &b, Rules::new().across());
//! assert_eq!(found.changes()[0].kind.as_str(), "removed");
//! assert_eq!(found.paths(), ["$.staff[0]"]);
//! # Ok::<(), icecore::Error>(())
//! ```
//!
//! # How it is done
//!
//! 1. Both tapes are followed side by side, node by node, as far as they say the same: what is
//!    written alike is gone over.
//! 2. Where they do not, both trees are walked side by side. Entries of maps are paired by key.
//!    In lists the next items that are the same are looked for: first right behind, then in windows,
//!    each larger than the one before. In a window, or in a list that is short, values get numbers,
//!    the same for values that are the same: what both have once is an anchor, what stands between
//!    anchors is compared by the shortest way from one to the other if that has at most 100 steps,
//!    and what is left is paired by what it has in common. Beyond bounds that keep the work linear, by
//!    position. The numbers only say what to compare: nothing is the same that was not compared.
//! 3. What was removed at one place and added at another has moved.
//! 4. Links and aliases are what they name. Where sharing differs and something in the shared
//!    value does too, the place of the link is said to have changed.
//!
//! Nothing recurses, and nothing grows faster than the documents.
#![forbid(unsafe_code)]

mod align;
mod change;
mod emit;
mod gap;
mod hash;
mod links;
mod lists;
mod lockstep;
mod moved;
mod pairs;
mod patch;
mod place;
mod rules;
mod same;
mod side;
mod tree;
mod walk;
mod way;
mod written;

pub use change::{Change, ChangeKind, Differences, differences, reference_differences};
pub use patch::{Patch, Refusal};
pub use rules::Rules;
