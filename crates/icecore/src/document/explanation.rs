//! Explanations: what happened to a text with wrong lengths.

use std::fmt;

/// What happened to a damaged text, if that explains every length in it.
///
/// ```
/// use icecore::{Limits, Stage};
/// // Two letters of latin1, which are four bytes since the text became UTF-8.
/// let text = "a:1:{i:0;s:5:\"Grüße\";}".as_bytes();
/// let document = icecore::read_as(text, &Stage::parse("php:repair=lengths")?, &Limits::default())?;
/// let explanation = document.repairs()[0].explanation.as_deref().expect("a cause");
/// assert_eq!((explanation.name.as_str(), explanation.is_guess), ("latin1", false));
/// assert_eq!(explanation.to_string(), "the lengths count characters of latin1, and the text is UTF-8 now");
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// Name of the cause, for counts and for programs: `latin1`, `line-ends`, `slashed`, …; joined by `+` if several
    /// things happened.
    pub name: String,
    /// The cause as a sentence.
    pub sentence: String,
    /// Nothing explains all lengths: the reader chose ends of strings so that the rest of the text can be read.
    pub is_guess: bool,
}

impl Explanation {
    pub(crate) fn new(name: impl Into<String>, sentence: impl Into<String>) -> Explanation {
        Explanation { name: name.into(), sentence: sentence.into(), is_guess: false }
    }

    /// Returns an interpretation without a known cause.
    pub(crate) fn new_guess(name: &str, sentence: &str) -> Explanation {
        Explanation { is_guess: true, ..Explanation::new(name, sentence) }
    }

    /// Combines two explanations: both things happened.
    pub(crate) fn and(mut self, other: Explanation) -> Explanation {
        if self.name.is_empty() {
            return other;
        }
        if !other.name.is_empty() {
            self.name = format!("{}+{}", self.name, other.name);
            self.sentence = format!("{}; {}", self.sentence, other.sentence);
            self.is_guess |= other.is_guess;
        }
        self
    }

    /// Returns an explanation that says that nothing happened.
    pub(crate) fn new_empty() -> Explanation {
        Explanation::new("", "")
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
