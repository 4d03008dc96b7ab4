//! Rules: lists of classes that a program allows, and questions about a class.

use super::name::{ClassName, Names};
use super::pattern::fits;
use crate::error::Error;
use crate::hash::SeededMap;
use std::hash::{BuildHasher, Hasher};

/// What is said of a class that no list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// All classes may be built.
    Any,
    /// All classes may be built, and each is reported.
    AnyReported,
    /// A neutral record is built in the place of an object.
    Record,
    /// Nothing is built, and each class is reported with what would allow it.
    Report,
    /// Nothing is built, and what comes behind this is not asked: the list is all.
    Refuse,
}

impl Otherwise {
    /// What a word of a program means: `any`, `any,report`, `record` or `report`. None:
    /// it is the name of a class.
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

/// What may be done with a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: the document is refused.
    Refused,
    /// Its objects may be built.
    Allowed,
    /// A neutral record is built in the place of an object.
    Record,
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What may be done.
    pub verdict: Verdict,
    /// Whether the host says so, once for each class: that it was built, or what would
    /// allow it.
    pub is_reported: bool,
}

impl Answer {
    const REFUSED: Answer = Answer { verdict: Verdict::Refused, is_reported: false };
    const ALLOWED: Answer = Answer { verdict: Verdict::Allowed, is_reported: false };

    fn of(otherwise: Otherwise) -> Answer {
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

/// One layer of a policy: names, patterns, and what is said of all others. Made once
/// and asked often: a name is looked up, only patterns are tried one by one.
///
/// ```
/// use icecore::policy::{Names, Otherwise, Rules, Verdict, ask};
/// let mut process = Rules::new(Names::Exact);
/// process.allow(b"My::*", false)?;
/// let mut call = Rules::new(Names::Exact);
/// call.otherwise(Otherwise::Record);
/// let verdict = |name| Ok::<_, icecore::Error>(ask(&[&call, &process], Names::Exact, name, false)?.verdict);
/// assert_eq!(verdict(b"My::Thing")?, Verdict::Allowed);
/// assert_eq!(verdict(b"Else")?, Verdict::Record);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Rules {
    names: Names,
    exact: Vec<Owned>,
    /// Names of a hash, by their index in `exact`.
    by_hash: SeededMap<u64, Vec<u32>>,
    patterns: Vec<Owned>,
    otherwise: Option<Otherwise>,
}

#[derive(Debug)]
struct Owned {
    bytes: Box<[u8]>,
    is_text: bool,
}

impl Owned {
    fn of(name: ClassName<'_>) -> Owned {
        Owned { bytes: name.bytes().into(), is_text: name.is_text() }
    }
}

impl Rules {
    /// Rules that allow nothing yet.
    pub fn new(names: Names) -> Rules {
        Rules { names, ..Rules::default() }
    }

    /// Allows what fits: a name, or a pattern, in which `*` stands for any characters.
    pub fn allow(&mut self, pattern: &[u8], is_text: bool) -> Result<(), Error> {
        let name = ClassName::new(self.names, pattern, is_text)?;
        if !name.has_wildcard() {
            return self.allow_exactly(pattern, is_text);
        }
        self.patterns.push(Owned::of(name));
        Ok(())
    }

    /// Allows the class of this name, in which `*` is a character as any other.
    pub fn allow_exactly(&mut self, name: &[u8], is_text: bool) -> Result<(), Error> {
        let name = ClassName::new(self.names, name, is_text)?;
        if !self.has(name) {
            let hash = self.hash(name);
            self.by_hash.entry(hash).or_default().push(self.exact.len() as u32);
            self.exact.push(Owned::of(name));
        }
        Ok(())
    }

    /// Says what is done with all other classes. Without it, the next layer is asked.
    pub fn otherwise(&mut self, otherwise: Otherwise) {
        self.otherwise = Some(otherwise);
    }

    /// How names are compared here.
    pub fn names(&self) -> Names {
        self.names
    }

    fn hash(&self, name: ClassName<'_>) -> u64 {
        let mut hasher = self.by_hash.hasher().build_hasher();
        name.characters().for_each(|character| hasher.write_u64(character));
        hasher.finish()
    }

    fn owned<'r>(&self, name: &'r Owned) -> ClassName<'r> {
        // What PHP does not count was dropped when it came.
        let kept = ClassName::checked(Names::Exact, &name.bytes, name.is_text);
        if self.names == Names::Php { kept.folded() } else { kept }
    }

    /// Whether the class of this name is allowed by its name.
    fn has(&self, name: ClassName<'_>) -> bool {
        if self.exact.is_empty() {
            return false;
        }
        let found = self.by_hash.get(&self.hash(name));
        found.is_some_and(|found| found.iter().any(|at| self.owned(&self.exact[*at as usize]).equals(name)))
    }

    /// Whether a list has it: its name, or a pattern that it fits.
    pub fn allows(&self, name: ClassName<'_>) -> bool {
        self.has(name) || self.patterns.iter().any(|pattern| fits(self.owned(pattern), name))
    }
}

/// One class that is asked about, layer by layer, for a host whose lists are its own.
///
/// The rules of the call come first, then those of the request if there are such, then
/// those of the process, then its default. The first list that has the class allows it.
/// What a layer says of all others settles the rest: `any` at once, `record` and
/// `report` unless a list further on has the class.
///
/// ```
/// use icecore::policy::{ClassName, Names, Otherwise, Question, Rules, State, Verdict};
/// let name = ClassName::new(Names::Exact, b"App::User", false)?;
/// assert!(!name.is_text() && !name.has_wildcard());
/// let mut question = Question::new(name);
/// question.item(ClassName::new(Names::Exact, b"Other::*", false)?);
/// question.otherwise(Otherwise::of_word(b"report").unwrap());
/// assert_eq!(question.state(), State::Unless(Otherwise::Report));
/// let mut process = Rules::new(Names::Exact);
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

/// How far a question is answered. The only part of it that a host keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing was said.
    #[default]
    Open,
    /// This, unless a list further on has the class.
    Unless(Otherwise),
    /// This, whatever comes.
    Final(Otherwise),
}

impl<'n> Question<'n> {
    /// A question about a class.
    pub fn new(name: ClassName<'n>) -> Question<'n> {
        Question::at(name, State::Open)
    }

    /// A question that was answered so far before.
    pub fn at(name: ClassName<'n>, state: State) -> Question<'n> {
        Question { name, state }
    }

    /// The class.
    pub fn name(&self) -> ClassName<'n> {
        self.name
    }

    /// How far it is answered.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether nothing further on can change the answer.
    pub fn is_final(&self) -> bool {
        matches!(self.state, State::Final(_))
    }

    /// A list of the host's own has the class: one in a form that only the host reads.
    pub fn allow(&mut self) {
        if !self.is_final() {
            self.state = State::Final(Otherwise::Any);
        }
    }

    /// A list of the host's own has this name or pattern.
    pub fn item(&mut self, pattern: ClassName<'_>) {
        if !self.is_final() && fits(pattern, self.name) {
            self.allow();
        }
    }

    /// What a layer says of the classes that its lists don't have.
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

    /// A layer that the engine holds.
    pub fn rules(&mut self, rules: &Rules) {
        if !self.is_final() && rules.allows(self.name) {
            self.allow();
        }
        if let Some(otherwise) = rules.otherwise {
            self.otherwise(otherwise);
        }
    }

    /// The answer. A class that no layer allows is refused.
    pub fn answer(&self) -> Answer {
        match self.state {
            State::Open => Answer::REFUSED,
            State::Final(Otherwise::Any) => Answer::ALLOWED,
            State::Unless(otherwise) | State::Final(otherwise) => Answer::of(otherwise),
        }
    }
}

/// What a chain of layers says of a class, the call's own first.
pub fn ask(layers: &[&Rules], names: Names, name: &[u8], is_text: bool) -> Result<Answer, Error> {
    let mut question = Question::new(ClassName::new(names, name, is_text)?);
    for rules in layers {
        question.rules(rules);
        if question.is_final() {
            break;
        }
    }
    Ok(question.answer())
}
