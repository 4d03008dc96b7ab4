//! Rules: lists of classes that a program allows, and questions about a class.

use super::name::{ClassName, NameComparison};
use super::pattern::fits;
use crate::error::Error;
use crate::hash::SeededMap;
use std::hash::{BuildHasher, Hasher};

/// The rule for a class that is in no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// All classes may be built.
    Any,
    /// All classes may be built, and each one is reported.
    AnyReported,
    /// A neutral record is built instead of an object.
    Record,
    /// Nothing is built, and each class is reported with the rule that would allow it.
    Report,
    /// Nothing is built, and later layers are not consulted: the list is complete.
    Refuse,
}

impl Otherwise {
    /// Returns the meaning of a word in a program's list: `any`, `any,report`, `record` or `report`. Returns `None`
    /// if the word is the name of a class.
    pub fn of_word(word: &[u8]) -> Option<Otherwise> {
        Some(match word {
            b"any" => Otherwise::Any,
            b"any,report" => Otherwise::AnyReported,
            b"record" => Otherwise::Record,
            b"report" => Otherwise::Report,
            _ => return None,
        })
    }
}

/// The decision about a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is built: the document is refused.
    Refused,
    /// Its objects may be built.
    Allowed,
    /// A neutral record is built instead of an object.
    Record,
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The decision.
    pub verdict: Verdict,
    /// Whether the host reports the class, once for each class: that it was built, or which rule would allow it.
    pub is_reported: bool,
}

impl Answer {
    const REFUSED: Answer = Answer { verdict: Verdict::Refused, is_reported: false };
    const ALLOWED: Answer = Answer { verdict: Verdict::Allowed, is_reported: false };

    fn from_otherwise(otherwise: Otherwise) -> Answer {
        let (verdict, is_reported) = match otherwise {
            Otherwise::Any => (Verdict::Allowed, false),
            Otherwise::AnyReported => (Verdict::Allowed, true),
            Otherwise::Record => (Verdict::Record, false),
            Otherwise::Report => (Verdict::Refused, true),
            Otherwise::Refuse => (Verdict::Refused, false),
        };
        Answer { verdict, is_reported }
    }
}

/// One layer of a policy: names, patterns, and the rule for all other classes. Names are looked up by their hash, and
/// only patterns are tried one by one, so that a layer that is made once can be asked often.
///
/// ```
/// use icecore::policy::{NameComparison, Otherwise, Rules, Verdict, ask};
/// let mut process = Rules::new(NameComparison::Exact);
/// process.allow(b"My::*", false)?;
/// let mut call = Rules::new(NameComparison::Exact);
/// call.otherwise(Otherwise::Record);
/// let verdict = |name| Ok::<_, icecore::Error>(ask(&[&call, &process], NameComparison::Exact, name, false)?.verdict);
/// assert_eq!(verdict(b"My::Thing")?, Verdict::Allowed);
/// assert_eq!(verdict(b"Else")?, Verdict::Record);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Rules {
    names: NameComparison,
    /// Allowed names.
    exact: Vec<OwnedName>,
    /// The indexes in `exact`, by the hash of the name.
    by_hash: SeededMap<u64, Vec<u32>>,
    patterns: Vec<OwnedName>,
    /// The rule for all other classes; without one, the next layer decides.
    otherwise: Option<Otherwise>,
}

#[derive(Debug)]
struct OwnedName {
    bytes: Box<[u8]>,
    is_text: bool,
}

impl OwnedName {
    fn from_name(name: ClassName<'_>) -> OwnedName {
        OwnedName { bytes: name.bytes().into(), is_text: name.is_text() }
    }
}

impl Rules {
    /// Returns rules that allow nothing yet.
    pub fn new(names: NameComparison) -> Rules {
        Rules { names, ..Rules::default() }
    }

    /// Allows a name, or the names that match a pattern, in which `*` matches any characters.
    pub fn allow(&mut self, pattern: &[u8], is_text: bool) -> Result<(), Error> {
        let name = ClassName::new(self.names, pattern, is_text)?;
        if !name.has_wildcard() {
            return self.allow_exactly(pattern, is_text);
        }
        self.patterns.push(OwnedName::from_name(name));
        Ok(())
    }

    /// Allows the class of this name, in which `*` is an ordinary character.
    pub fn allow_exactly(&mut self, name: &[u8], is_text: bool) -> Result<(), Error> {
        let name = ClassName::new(self.names, name, is_text)?;
        if !self.has_exact_name(name) {
            let hash = self.hash(name);
            self.by_hash.entry(hash).or_default().push(self.exact.len() as u32);
            self.exact.push(OwnedName::from_name(name));
        }
        Ok(())
    }

    /// Sets the rule for all other classes. Without it, the next layer decides.
    pub fn otherwise(&mut self, otherwise: Otherwise) {
        self.otherwise = Some(otherwise);
    }

    /// How names are compared.
    pub fn names(&self) -> NameComparison {
        self.names
    }

    fn hash(&self, name: ClassName<'_>) -> u64 {
        let mut hasher = self.by_hash.hasher().build_hasher();
        name.characters().for_each(|character| hasher.write_u64(character));
        hasher.finish()
    }

    fn to_class_name<'r>(&self, name: &'r OwnedName) -> ClassName<'r> {
        // The prefix that PHP ignores was removed when the name was added.
        let kept = ClassName::checked(NameComparison::Exact, &name.bytes, name.is_text);
        if self.names == NameComparison::Php { kept.with_folded_case() } else { kept }
    }

    /// Returns `true` if the class is allowed by its name.
    fn has_exact_name(&self, name: ClassName<'_>) -> bool {
        if self.exact.is_empty() {
            return false;
        }
        let candidates = self.by_hash.get(&self.hash(name));
        candidates.is_some_and(|indexes| {
            indexes.iter().any(|index| self.to_class_name(&self.exact[*index as usize]).equals(name))
        })
    }

    /// Returns `true` if the class is allowed by its name or by a pattern.
    pub fn allows(&self, name: ClassName<'_>) -> bool {
        self.has_exact_name(name) || self.patterns.iter().any(|pattern| fits(self.to_class_name(pattern), name))
    }
}

/// A question about one class, evaluated layer by layer, for a host that stores its lists itself.
///
/// The rules of the call come first, then those of the request if there are any, then those of the process, then its
/// default. The first list that contains the class allows it. The rule of a layer for all other classes decides the
/// rest: `any` at once, `record` and `report` unless a later list contains the class.
///
/// ```
/// use icecore::policy::{ClassName, NameComparison, Otherwise, Question, Rules, State, Verdict};
/// let name = ClassName::new(NameComparison::Exact, b"App::User", false)?;
/// assert!(!name.is_text() && !name.has_wildcard());
/// let mut question = Question::new(name);
/// question.item(ClassName::new(NameComparison::Exact, b"Other::*", false)?);
/// question.otherwise(Otherwise::of_word(b"report").unwrap());
/// assert_eq!(question.state(), State::Unless(Otherwise::Report));
/// let mut process = Rules::new(NameComparison::Exact);
/// process.allow_exactly(b"App::User", false)?;
/// assert!(process.allows(name));
/// question.rules(&process);
/// assert!(question.is_final());
/// assert_eq!(question.answer().verdict, Verdict::Allowed);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Question<'n> {
    name: ClassName<'n>,
    state: State,
}

/// How far a question is decided. The only part of it that a host stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Not decided.
    #[default]
    Open,
    /// Decided, unless a later list contains the class.
    Unless(Otherwise),
    /// Decided.
    Final(Otherwise),
}

impl<'n> Question<'n> {
    /// Returns a question about a class.
    pub fn new(name: ClassName<'n>) -> Question<'n> {
        Question::at(name, State::Open)
    }

    /// Returns a question that was already evaluated up to this state.
    pub fn at(name: ClassName<'n>, state: State) -> Question<'n> {
        Question { name, state }
    }

    /// Returns the name of the class.
    pub fn name(&self) -> ClassName<'n> {
        self.name
    }

    /// How far the question is decided.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns `true` if later layers can't change the answer.
    pub fn is_final(&self) -> bool {
        matches!(self.state, State::Final(_))
    }

    /// Records that a list of the host contains the class, in a form that only the host can read.
    pub fn allow(&mut self) {
        if !self.is_final() {
            self.state = State::Final(Otherwise::Any);
        }
    }

    /// Evaluates a name or pattern in a list of the host.
    pub fn item(&mut self, pattern: ClassName<'_>) {
        if !self.is_final() && fits(pattern, self.name) {
            self.allow();
        }
    }

    /// Applies the rule of a layer for classes that are not in its lists.
    pub fn otherwise(&mut self, otherwise: Otherwise) {
        if self.state == State::Open {
            self.state = match otherwise {
                Otherwise::Record | Otherwise::Report => State::Unless(otherwise),
                Otherwise::Any | Otherwise::AnyReported | Otherwise::Refuse => State::Final(otherwise),
            };
        } else if otherwise == Otherwise::Refuse
            && let State::Unless(settled) = self.state
        {
            self.state = State::Final(settled);
        }
    }

    /// Evaluates a layer that the engine stores.
    pub fn rules(&mut self, rules: &Rules) {
        if !self.is_final() && rules.allows(self.name) {
            self.allow();
        }
        if let Some(otherwise) = rules.otherwise {
            self.otherwise(otherwise);
        }
    }

    /// Returns the answer. A class that no layer allows is refused.
    pub fn answer(&self) -> Answer {
        match self.state {
            State::Open => Answer::REFUSED,
            State::Final(Otherwise::Any) => Answer::ALLOWED,
            State::Unless(otherwise) | State::Final(otherwise) => Answer::from_otherwise(otherwise),
        }
    }
}

/// Returns the answer of a chain of layers about a class; the layer of the call is first.
pub fn ask(layers: &[&Rules], names: NameComparison, name: &[u8], is_text: bool) -> Result<Answer, Error> {
    let mut question = Question::new(ClassName::new(names, name, is_text)?);
    for rules in layers {
        question.rules(rules);
        if question.is_final() {
            break;
        }
    }
    Ok(question.answer())
}
