//! The class map: new names of classes in written documents.
//!
//! A program gives pairs, `Old=New`. A `*` in the old name matches any characters, and each `*` in the new name is
//! replaced by the match of the corresponding `*`. Without a map, classes keep their names, unless the target's
//! language uses a name for something else: see [`reserved`].

mod pattern;
pub(crate) mod reserved;

use crate::error::{Error, ErrorKind};
use crate::options::{OptionSpec, OptionType, Side};
use pattern::ClassPattern;
use std::collections::HashMap;

/// The option of every format that writes classes.
pub(crate) const OPTION: OptionSpec = OptionSpec {
    name: "class-map",
    takes: OptionType::Text,
    side: Side::Write,
    help: "new names of classes, as 'Old=New,Ns\\*=Other\\*'; New may be (plain): a time, a range, a number or a set \
           of Ruby's is then its text or its array",
};

/// The new name that means that values are written plainly.
const PLAIN: &str = "(plain)";

/// New names of classes.
///
/// ```
/// use icecore::ClassMap;
/// let map = ClassMap::parse("User=Account, App\\*=My\\*\\Old")?;
/// assert_eq!(map.rename(b"User").as_deref(), Some(&b"Account"[..]));
/// assert_eq!(map.rename(b"App\\Job").as_deref(), Some(&b"My\\Job\\Old"[..]));
/// assert_eq!(map.rename(b"Other"), None);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ClassMap {
    exact: HashMap<Vec<u8>, ClassRenaming>,
    patterns: Vec<(ClassPattern, ClassRenaming)>,
}

/// What happens to a class.
#[derive(Clone, Debug)]
enum ClassRenaming {
    Name(ClassPattern),
    Plain,
}

impl ClassMap {
    /// Parses pairs, which are separated by commas or lines. Blanks around names and lines that begin with `#` are
    /// ignored. A name without `*` has priority over patterns; these are tried in their order.
    ///
    /// # Errors
    /// Of kind `Usage`, if a pair has no `=`, an empty name, more `*` in the new name than in the old one, or if a name
    /// occurs twice.
    pub fn parse(text: &str) -> Result<ClassMap, Error> {
        let mut map = ClassMap::default();
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        for pair in lines.flat_map(|line| line.split(',')).map(str::trim).filter(|pair| !pair.is_empty()) {
            map.add(pair)?;
        }
        Ok(map)
    }

    fn add(&mut self, pair: &str) -> Result<(), Error> {
        let usage_error = |expected: &str| {
            let found = format!("`{}`", crate::shortened::shortened(pair, 60));
            Error::new(ErrorKind::Usage).expecting(format!("{expected} for {}", OPTION.name)).finding(found)
        };
        let (old, new) = pair.split_once('=').ok_or_else(|| usage_error("pairs Old=New"))?;
        let (old, new) = (old.trim(), new.trim());
        if old.is_empty() || new.is_empty() {
            return Err(usage_error("a name on both sides of ="));
        }
        let pattern = ClassPattern::new(old);
        let new = match new {
            PLAIN => ClassRenaming::Plain,
            name => {
                let template = ClassPattern::new(name);
                if template.wildcard_count() > pattern.wildcard_count() {
                    return Err(usage_error("at most as many * in the new name as in the old one"));
                }
                ClassRenaming::Name(template)
            }
        };
        if pattern.wildcard_count() > 0 {
            self.patterns.push((pattern, new));
        } else if self.exact.insert(old.as_bytes().to_vec(), new).is_some() {
            return Err(usage_error("each class once"));
        }
        Ok(())
    }

    /// Returns `true` if the map is empty.
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.patterns.is_empty()
    }

    /// Returns the new name of this class; `None` if the map does not give it one.
    pub fn rename(&self, name: &[u8]) -> Option<Vec<u8>> {
        match self.find_renaming(name)? {
            (ClassRenaming::Name(template), captures) => Some(template.fill_wildcards(&captures)),
            (ClassRenaming::Plain, _) => None,
        }
    }

    /// Returns `true` if values of this class should be written plainly.
    pub(crate) fn is_plain(&self, name: &[u8]) -> bool {
        matches!(self.find_renaming(name), Some((ClassRenaming::Plain, _)))
    }

    /// Returns `true` if there is a class whose values should be written plainly.
    pub(crate) fn has_plain_class(&self) -> bool {
        self.exact
            .values()
            .chain(self.patterns.iter().map(|(_, new)| new))
            .any(|new| matches!(new, ClassRenaming::Plain))
    }

    /// Returns `true` if `predicate` holds for any of the new names.
    pub(crate) fn any_new_name(&self, predicate: impl Fn(&[u8]) -> bool) -> bool {
        let new_names = self.exact.values().chain(self.patterns.iter().map(|(_, new)| new));
        new_names
            .filter_map(|new| match new {
                ClassRenaming::Name(template) => Some(template.fill_wildcards(&[])),
                ClassRenaming::Plain => None,
            })
            .any(|name| predicate(&name))
    }

    fn find_renaming<'m, 'n>(&'m self, name: &'n [u8]) -> Option<(&'m ClassRenaming, Vec<&'n [u8]>)> {
        if let Some(new) = self.exact.get(name) {
            return Some((new, Vec::new()));
        }
        self.patterns.iter().find_map(|(pattern, new)| Some((new, pattern.match_wildcards(name)?)))
    }
}

#[cfg(test)]
mod tests;
