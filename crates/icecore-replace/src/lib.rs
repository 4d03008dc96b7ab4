//! Rules for replacing parts of a text.
//!
//! [`Rules`] do not depend on files, SQL or frozen data. They process one string at a time, as a program sees it, and
//! return its changes. All pairs apply at once. The leftmost match counts. If several matches begin at the same
//! place, the longest one counts. Replacements are not searched again.
//!
//! ```
//! let rules = icecore_replace::Rules::builder().pair("cat", "dog").pair("dog", "cat").build()?;
//! assert_eq!(rules.apply(b"cat and dog"), b"dog and cat");
//! # Ok::<(), icecore_replace::Error>(())
//! ```
//!
//! [`Builder::url`] finds a URL in every spelling that occurs in pages and settings:
//!
//! ```
//! let rules = icecore_replace::Rules::builder().url("https://old.example", "https://new.example").build()?;
//! assert_eq!(rules.apply(br"https:\/\/old.example\/a"), br"https:\/\/new.example\/a");
//! assert_eq!(rules.apply(b"?to=https%3A%2F%2Fold.example"), b"?to=https%3A%2F%2Fnew.example");
//! assert_eq!(rules.apply(b"//old.example.org/"), b"//old.example.org/");
//! # Ok::<(), icecore_replace::Error>(())
//! ```
#![forbid(unsafe_code)]

mod builder;
mod charset;
mod error;
mod hint;
mod leftover;
mod literal;
mod pair;
mod regular;
mod replacing;
mod rules;
mod url;

pub use builder::Builder;
pub use charset::{Charset, CharsetEvidence};
pub use error::Error;
pub use hint::Hints;
pub use leftover::LeftoverCounts;
pub use pair::{Pair, Spelling};
pub use replacing::Replacing;
pub use rules::{Match, Matches, Rules, SecondRun};
