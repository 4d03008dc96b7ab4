//! The rules in each charset of an input.

use icecore_replace::{Charset, CharsetEvidence, Rules};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The charset of an input from the command line.
#[derive(Clone, Debug)]
pub enum GivenCharset {
    /// UTF-8, regardless of the input's declarations.
    Utf8,
    /// A charset with one byte for each character.
    Single(Charset),
}

/// The rules in each charset of an input. The reading thread adds to them, and the worker threads use them.
pub struct RuleSets {
    base_rules: Rules,
    /// Whether the charset is given, regardless of the input's declarations.
    is_given: bool,
    cache: Mutex<RuleSetCache>,
}

#[derive(Default)]
struct RuleSetCache {
    /// The rules for each charset that was needed so far, by number. Number 0 is for text without a declared charset.
    sets: Vec<(Option<(&'static str, CharsetEvidence)>, Rules)>,
    /// Messages for the user.
    notes: BTreeSet<String>,
}

impl RuleSets {
    /// Creates the rules for an input.
    ///
    /// # Errors
    /// If the charset can't express the replacement of a pair.
    pub fn new(rules: &Rules, given_charset: Option<&GivenCharset>) -> Result<RuleSets, String> {
        let mut notes = BTreeSet::new();
        let first = match given_charset {
            Some(GivenCharset::Single(charset)) => {
                warn_if_unrepresentable(rules, charset, &mut notes);
                rules.in_charset(charset, CharsetEvidence::Sure).map_err(|error| error.to_string())?
            }
            _ => rules.clone(),
        };
        let cache = RuleSetCache { sets: vec![(None, first)], notes };
        Ok(RuleSets { base_rules: rules.clone(), is_given: given_charset.is_some(), cache: Mutex::new(cache) })
    }

    fn lock_cache(&self) -> MutexGuard<'_, RuleSetCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rules for text without a declared charset.
    pub fn default_rules(&self) -> Rules {
        self.lock_cache().sets.first().map_or_else(|| self.base_rules.clone(), |(_, rules)| rules.clone())
    }

    /// Returns all rules that were needed so far, by their numbers.
    pub fn all_rules(&self) -> Vec<Rules> {
        self.lock_cache().sets.iter().map(|(_, rules)| rules.clone()).collect()
    }

    /// Returns whether text that is not UTF-8 has to be reported. This is so if the rules have characters beyond
    /// ASCII, and the charset of the input is not given.
    pub fn needs_charset(&self) -> bool {
        !self.is_given && self.base_rules.has_wide_characters()
    }

    /// Returns the notes for the user.
    pub fn notes(&self) -> Vec<String> {
        self.lock_cache().notes.iter().cloned().collect()
    }

    /// Returns the number of the rules for text in the charset with this name, as `icecore_sql` names it.
    ///
    /// # Errors
    /// If the charset can't express the replacement of a pair, or is unknown.
    pub fn number_for_charset(&self, name: Option<&'static str>, trust: CharsetEvidence) -> io::Result<u16> {
        let Some(name) = name.filter(|name| !self.is_given && *name != "UTF-8" && self.base_rules.depends_on_charset())
        else {
            return Ok(0);
        };
        let mut cache = self.lock_cache();
        if let Some(number) = cache.sets.iter().position(|(key, _)| *key == Some((name, trust))) {
            return Ok(u16::try_from(number).unwrap_or_default());
        }
        let data_error = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
        let Some(charset) = Charset::from_name(name) else {
            return Err(data_error(
                "the dump is in a charset that is not known here, and OLD or NEW has characters beyond ASCII, or is an \
                 expression: --charset names the charset; or make the dump with --default-character-set=utf8mb4"
                    .to_owned(),
            ));
        };
        warn_if_unrepresentable(&self.base_rules, &charset, &mut cache.notes);
        let rules = self.base_rules.in_charset(&charset, trust).map_err(|error| data_error(error.to_string()))?;
        cache.sets.push((Some((name, trust)), rules));
        Ok(u16::try_from(cache.sets.len() - 1).unwrap_or_default())
    }
}

/// Adds a note for each search text that can't occur in text of this charset.
fn warn_if_unrepresentable(rules: &Rules, charset: &Charset, notes: &mut BTreeSet<String>) {
    /// Maximum number of search texts that are reported.
    const MAX_NOTES: usize = 10;
    for pair in rules.unrepresentable_in(charset).take(MAX_NOTES) {
        let old = icecore::text::shortened(&String::from_utf8_lossy(pair.old()), 80).into_owned();
        let old = icecore::text::printable(&old).into_owned();
        notes.insert(format!(
            "`{old}` can't be written in {}: it is not searched in text with that charset",
            charset.name()
        ));
    }
}

/// Returns whether these bytes are text, but not in UTF-8.
pub fn is_foreign_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    let is_utf8 = || match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // A character may be cut off at both ends.
        Err(error) if error.error_len().is_none() => true,
        Err(error) if error.valid_up_to() == 0 => {
            let cut = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
            cut > 0 && std::str::from_utf8(bytes.get(cut..).unwrap_or_default()).is_ok_and(|_| bytes.len() > cut)
        }
        Err(_) => false,
    };
    !bytes.is_ascii() && !is_utf8() && !bytes.iter().any(is_control)
}
