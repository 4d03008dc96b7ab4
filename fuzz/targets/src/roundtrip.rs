//! Common parts of the comparison with ruby and php: a blob is read, and the document is written without its spelling.

use crate::differ::Verdict;
use icecore::{Cursor, Document, Error, ErrorKind, Key, Kind, Limits, Request, Stage, raw::Outcome};
use std::collections::HashSet;

/// Limits that are small enough that the other program need not build slow values.
pub fn rival_limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 400;
    limits.nodes = 20_000;
    limits
}

/// Our result for a blob.
pub struct OurReading<'a> {
    pub format: &'static str,
    /// The blob without the bytes after its value, which the other programs ignore.
    pub data: &'a [u8],
    pub document: Document<'a>,
    pub error: Option<Error>,
}

fn read_outcome<'a>(format: &str, data: &'a [u8], limits: &Limits) -> Outcome<'a> {
    let stage = Stage::parse(format).expect("a stage");
    stage.format().read(data, stage.settings(), Request::new(limits))
}

impl<'a> OurReading<'a> {
    /// Reads a blob. Bytes after its value are removed, because the other programs ignore them.
    pub fn read(format: &'static str, data: &'a [u8]) -> OurReading<'a> {
        let limits = rival_limits();
        let outcome = read_outcome(format, data, &limits);
        let (is_complete, end) = (outcome.consumed == data.len(), outcome.consumed);
        let is_trailing = outcome.error.as_ref().is_some_and(|error| error.kind() == ErrorKind::Trailing);
        let end = match &outcome.error {
            Some(error) if is_trailing => error.offset().map_or(0, |end| end as usize),
            Some(_) => return OurReading { format, data, document: outcome.document, error: outcome.error },
            None if is_complete => return OurReading { format, data, document: outcome.document, error: None },
            None => end,
        };
        // igbinary also refuses bytes after a value.
        if format == "igbinary" {
            let error = Error::new(ErrorKind::Trailing);
            return OurReading { format, data, document: outcome.document, error: Some(error) };
        }
        let data = &data[..end.min(data.len())];
        let outcome = read_outcome(format, data, &limits);
        OurReading { format, data, document: outcome.document, error: outcome.error }
    }

    /// Returns the written document.
    pub fn write_document(&self) -> Result<Vec<u8>, Error> {
        let stage = Stage::parse(self.format).expect("a stage");
        let mut out = Vec::new();
        icecore::write_to(&self.document, &stage, &Limits::default(), &mut out).map(|_| out)
    }

    /// Returns why the other program is not run.
    pub fn skip_reason(&self) -> Option<&'static str> {
        let is_limit = self.error.as_ref().is_some_and(|error| error.kind() == ErrorKind::Limit);
        match () {
            () if is_limit => Some("a limit of ours"),
            () if self.data.is_empty() => Some("nothing at all"),
            () => None,
        }
    }

    /// Returns every node.
    pub fn all_cursors(&self) -> impl Iterator<Item = Cursor<'_>> {
        (0..self.document.nodes().len() as u32).filter_map(|index| self.document.at(index))
    }

    /// Returns true if a value satisfies the condition.
    pub fn has_value(&self, matches: impl Fn(Cursor<'_>) -> bool) -> bool {
        self.all_cursors().any(matches)
    }

    /// Returns true if a class satisfies the condition.
    pub fn has_class(&self, matches: impl Fn(&[u8]) -> bool) -> bool {
        self.document.tape().classes().iter().any(|name| matches(name.bytes))
    }

    /// Returns true if a container has a link to itself, or to a container around it.
    pub fn contains_itself(&self) -> bool {
        self.has_value(|link| {
            let refers = matches!(link.kind(), Kind::Link | Kind::Alias);
            let target = link.target();
            refers
                && target.index() < link.index()
                && target.node().kind.is_container()
                && target.node().end() > link.index()
        })
    }

    /// Returns true if a map has a key twice.
    pub fn repeats_key(&self) -> bool {
        self.has_value(|map| {
            let mut known_keys = HashSet::new();
            map.entries().any(|(key, _)| match key {
                Key::Name(name) if name.node.kind == Kind::Int => {
                    !known_keys.insert(name.node.payload.to_string().into_bytes())
                }
                Key::Name(_) => !known_keys.insert(key.bytes().to_vec()),
                Key::Value(value) => {
                    let is_known = !known_keys.insert(format!("@{}", value.target().index()).into_bytes());
                    is_known
                        || value.kind() != Kind::Link && !known_keys.insert(format!("{:?}", value.value()).into_bytes())
                }
            })
        })
    }

    /// Returns what our error says was expected; empty without an error.
    pub fn expected(&self) -> &str {
        self.error.as_ref().and_then(Error::expected).unwrap_or_default()
    }

    /// Returns the verdict if we refuse what the other program reads.
    pub fn refusal_verdict(&self, name: Option<&'static str>, error: &Error) -> Verdict {
        match name {
            Some(name) => Verdict::Allowed(name),
            None => Verdict::Differs(format!("we refuse it: {error}\n{}", self.data.escape_ascii())),
        }
    }

    /// Returns the verdict if we read what the other program refuses.
    pub fn acceptance_verdict(&self, name: Option<&'static str>, reason: &str) -> Verdict {
        match name {
            Some(name) => Verdict::Allowed(name),
            None => {
                Verdict::Differs(format!("they refuse it: {reason}\n{}\n{:?}", self.data.escape_ascii(), self.document))
            }
        }
    }

    /// Compares our output with that of the other program. `explain` returns the name of an allowed difference.
    pub fn compare_output(&self, theirs: &[u8], explain: impl FnOnce(&Self) -> Option<&'static str>) -> Verdict {
        let ours = match self.write_document() {
            Ok(ours) if ours == theirs => return Verdict::Equal,
            Ok(ours) => ours.escape_ascii().to_string(),
            Err(error) => error.to_string(),
        };
        match explain(self) {
            Some(name) => Verdict::Allowed(name),
            None => Verdict::Differs(format!(
                "other bytes\ninput  {}\nours   {ours}\ntheirs {}\n{:?}",
                self.data.escape_ascii(),
                theirs.escape_ascii(),
                self.document
            )),
        }
    }
}
