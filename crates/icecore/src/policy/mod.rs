//! Which classes may be built: the rules of every host.
//!
//! A program allows classes by name or by pattern (`My::*`, `App\*`), or all of them
//! (`any`); it can have neutral records in the place of objects (`record`), or ask what
//! it would have to allow (`report`). Rules stand in layers: those of the call, of the
//! request if the host has such, of the process. [`ask`] goes through layers that the
//! engine holds; a host whose lists are values of its own asks a [`Question`] layer by
//! layer. [`refused`] asks about a whole document before anything is built.
//!
//! Only names count: a parent does not allow its children, nor a child its parent.

mod name;
mod pattern;
mod rules;
mod words;

pub use name::{ClassName, Names};
pub use pattern::fits;
pub use rules::{Answer, Otherwise, Question, Rules, State, Verdict, ask};
pub use words::{Host, Words};

use crate::document::{ClassUse, Document};
use crate::error::Error;
use std::collections::HashSet;

/// A class of a document that may not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedClass {
    /// Its name.
    pub name: Vec<u8>,
    /// Whether it is text beyond ASCII.
    pub is_text: bool,
    /// The path of the first place that names it.
    pub path: String,
    /// Whether the host says so: see [`Answer`].
    pub is_reported: bool,
}

/// The classes of a document that may not be built, each once, in the order in which
/// they first occur. `builds` says which uses of a class the host counts: a mere name
/// builds nothing in Perl.
///
/// ```
/// use icecore::policy::{Names, Otherwise, Rules, refused};
/// let document = icecore::read(b"a:2:{i:0;O:3:\"Foo\":0:{}i:1;O:8:\"App\\User\":0:{}}")?;
/// let mut rules = Rules::new(Names::Php);
/// rules.allow(b"App\\*", false)?;
/// rules.otherwise(Otherwise::Report);
/// let refused = refused(&document, &[&rules], Names::Php, |class| class.kind == "object")?;
/// assert_eq!((&*refused[0].name, &*refused[0].path), (&b"Foo"[..], "$[0]"));
/// assert_eq!(refused.len(), 1);
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn refused(
    document: &Document<'_>,
    layers: &[&Rules],
    names: Names,
    mut builds: impl FnMut(&ClassUse) -> bool,
) -> Result<Vec<RefusedClass>, Error> {
    let mut refused = Vec::new();
    let mut asked = HashSet::new();
    for class in document.classes() {
        if !builds(&class) || !asked.insert((class.name.clone(), class.is_text)) {
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
