//! Policies: which classes may be built, for every host.
//!
//! A program allows classes by name or by pattern (`My::*`, `App\*`), or all of them (`any`). It can request neutral
//! records instead of objects (`record`), or a report of what it would have to allow (`report`). Rules have layers:
//! those of the call, those of the request if the host has requests, and those of the process. [`ask`] evaluates layers
//! that the engine stores; a host that stores its lists itself evaluates a [`Question`] layer by layer. [`refused`]
//! checks a whole document before anything is built.
//!
//! Only names count: an allowed parent class does not allow its subclasses, nor the other way round.

mod class_messages;
mod name;
mod pattern;
mod rules;

pub use class_messages::{ClassMessages, Host};
pub use name::{ClassName, NameComparison};
pub use pattern::fits;
pub use rules::{Answer, Otherwise, Question, Rules, State, Verdict, ask};

use crate::document::{ClassUse, Document};
use crate::error::Error;
use std::collections::HashSet;

/// A class of a document that may not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedClass {
    /// Name of the class.
    pub name: Vec<u8>,
    /// Whether the name is text beyond ASCII.
    pub is_text: bool,
    /// Path of the first place that names it.
    pub path: String,
    /// Whether the host reports it: see [`Answer`].
    pub is_reported: bool,
}

/// Returns the classes of a document that may not be built, each once, in the order in which they first occur. `builds`
/// selects the uses of a class that the host counts: in Perl, for example, a mere name builds nothing.
///
/// ```
/// use icecore::policy::{NameComparison, Otherwise, Rules, refused};
/// let document = icecore::read(b"a:2:{i:0;O:3:\"Foo\":0:{}i:1;O:8:\"App\\User\":0:{}}")?;
/// let mut rules = Rules::new(NameComparison::Php);
/// rules.allow(b"App\\*", false)?;
/// rules.otherwise(Otherwise::Report);
/// let refused = refused(&document, &[&rules], NameComparison::Php, |class| class.kind == "object")?;
/// assert_eq!((&*refused[0].name, &*refused[0].path), (&b"Foo"[..], "$[0]"));
/// assert_eq!(refused.len(), 1);
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn refused(
    document: &Document<'_>,
    layers: &[&Rules],
    names: NameComparison,
    mut builds: impl FnMut(&ClassUse) -> bool,
) -> Result<Vec<RefusedClass>, Error> {
    let mut refused = Vec::new();
    let mut checked = HashSet::new();
    for class in document.classes() {
        if !builds(&class) || !checked.insert((class.name.clone(), class.is_text)) {
            continue;
        }
        let answer = ask(layers, names, &class.name, class.is_text).map_err(|error| error.on_path(&*class.path))?;
        if answer.verdict == Verdict::Refused {
            let ClassUse { name, is_text, path, .. } = class;
            refused.push(RefusedClass { name, is_text, path, is_reported: answer.is_reported });
        }
    }
    Ok(refused)
}

#[cfg(test)]
mod tests;
