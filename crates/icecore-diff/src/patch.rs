//! Applies a difference to a document.

use crate::change::{ChangeKind, object_class};
use crate::difference_writer::{FORMAT_KEY, VERSION, fingerprint, format_fingerprint, with_more_depth};
use crate::emit::{Edits, Emitter, FIRST, Insertion, NewLink, VALUES, as_key};
use crate::equality::EqualityChecker;
use crate::pairs::Sides;
use crate::path_resolver::PathResolver;
use crate::rules::Rules;
use crate::side::Side;
use icecore::{Cursor, Document, Error, ErrorKind, Kind, Limits, Stage, Value};
use std::borrow::Cow;
use std::fmt;

/// A difference that was read.
///
/// ```
/// use icecore::Limits;
/// use icecore_diff::{Patch, Rules, find_differences};
/// let a = icecore::read(br#"{"to": "ann", "n": [1, 2, 3]}"#)?;
/// let b = icecore::read(br#"{"to": "ann", "n": [3, 1, 2], "x": null}"#)?;
/// let json = find_differences(&a, &b, Rules::new()).to_json(&Limits::default())?;
/// let patch = Patch::read(&json, &Limits::default())?;
/// let made = patch.apply(&a).expect("it is the document that the difference was made from");
/// assert_eq!(icecore::write(&made, "json")?, br#"{"to":"ann","n":[3,1,2],"x":null}"#);
/// // It can't be applied to another document.
/// assert!(patch.apply(&b).is_err());
/// # Ok::<(), icecore::Error>(())
/// ```
pub struct Patch {
    document: Document<'static>,
    allows_other_documents: bool,
}

/// Reason why a difference can't be applied.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The document is not the one that the difference was made from.
    Differs {
        /// The path of the mismatch. It is empty if unknown.
        path: String,
        /// What does not match.
        reason: &'static str,
    },
    /// All values to change are the old ones, but another part of the document differs.
    OtherDocument,
    /// It is not a difference, or contradicts itself.
    Broken(Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Differs { path, reason } if path.is_empty() => write!(f, "{reason}"),
            Refusal::Differs { path, reason } => write!(f, "at {path}: {reason}"),
            Refusal::OtherDocument => f.write_str(
                "it is not the document that the difference was made from: the values to change are there, but another \
                 part has changed",
            ),
            Refusal::Broken(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

fn malformed_patch(found: impl Into<Cow<'static, str>>) -> Error {
    let found: Cow<'static, str> = found.into();
    Error::new(ErrorKind::Usage)
        .expecting("a difference, as `icecore diff --json` writes it")
        .finding(found.into_owned())
}

impl Patch {
    /// Reads a difference.
    ///
    /// # Errors
    /// Those of `json:typed`, and an error of kind `Usage` if it is not a difference, or one of a later version.
    pub fn read(json: &[u8], limits: &Limits) -> Result<Patch, Error> {
        let trimmed = json.trim_ascii_end();
        let document = icecore::read_as(trimmed, &Stage::parse("json:typed")?, &with_more_depth(limits))?.into_owned();
        match document.root().get(FORMAT_KEY).and_then(|version| version.as_i64()) {
            Some(VERSION) => Ok(Patch { document, allows_other_documents: false }),
            Some(version) => {
                Err(malformed_patch(format!("version {version}; this program supports version {VERSION}")))
            }
            None => Err(malformed_patch(format!("no key `{FORMAT_KEY}`"))),
        }
    }

    /// Sets whether the difference may be applied to a document that differs elsewhere from the one from which it was
    /// made. Each value to change must still be the old one, a key to add must be new, and a list must be long
    /// enough. Other changes of a list may shift the positions of the values that are added to it.
    ///
    /// ```
    /// use icecore::Limits;
    /// use icecore_diff::{Patch, Rules, find_differences};
    /// let (a, b) = (icecore::read(br#"{"n": 1}"#)?, icecore::read(br#"{"n": 2}"#)?);
    /// let json = find_differences(&a, &b, Rules::new()).to_json(&Limits::default())?;
    /// let patch = Patch::read(&json, &Limits::default())?.allow_other_documents(true);
    /// let other = icecore::read(br#"{"n": 1, "name": "Ann"}"#)?;
    /// let made = patch.apply(&other).expect("n is 1");
    /// assert_eq!(icecore::write(&made, "json")?, br#"{"n":2,"name":"Ann"}"#);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    #[must_use]
    pub fn allow_other_documents(mut self, is_allowed: bool) -> Patch {
        self.allows_other_documents = is_allowed;
        self
    }

    /// Returns true if there are no differences.
    pub fn is_empty(&self) -> bool {
        let root = self.document.root();
        root.get("changes").is_none_or(|changes| changes.is_empty()) && root.get("has_header").is_none()
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.document.root().get("changes").map_or(0, |changes| changes.len())
    }

    /// Applies the difference to the document from which it was made, and returns the other document. Unchanged
    /// values keep their spelling, if the document has one. The work is linear in the size of both.
    ///
    /// # Errors
    /// If the document is not the one from which the difference was made, or the difference is malformed.
    pub fn apply(&self, document: &Document<'_>) -> Result<Document<'static>, Refusal> {
        let (patched, kept) = self.apply_keeping(document)?;
        Ok(patched.made_from(document, &kept))
    }

    /// Applies the patch like [`Patch::apply`], but without the spelling. Returns the document, and the unchanged
    /// nodes with their old and new index.
    ///
    /// # Errors
    /// Those of [`Patch::apply`].
    pub fn apply_keeping(&self, document: &Document<'_>) -> Result<(Document<'static>, Vec<(u32, u32)>), Refusal> {
        let root = self.document.root();
        let is_set = |name: &str| root.get(name).and_then(|value| value.as_bool()).unwrap_or(false);
        // Values are found and compared by these rules. Only the fingerprint may be exact.
        let rules = if is_set("across") { Rules::new().across_formats() } else { Rules::new() };
        let (left, values) = (Side::new(document, rules), Side::new(&self.document, rules));
        let mut application = PatchApplication::new(Sides { left: &left, right: &values });
        let changes = root.get("changes").filter(|changes| changes.kind() == Kind::Array);
        let changes = changes.ok_or_else(|| Refusal::Broken(malformed_patch("no list `changes`")))?;
        for change in changes.items() {
            application.apply_change(change)?;
        }
        if self.allows_other_documents {
            application.check_insertions()?;
        } else {
            application.check_header(root)?;
            // The hashes that paths have needed so far are not computed again.
            let found = match is_set("exact") {
                true => fingerprint(rules.exact(), document),
                false => format_fingerprint(left.node_hash(document.root().index())),
            };
            if root.get("fingerprint").and_then(|expected| expected.as_str()) != Some(&found) {
                return Err(Refusal::OtherDocument);
            }
        }
        let header = match root.get("has_header") {
            Some(_) => root.get("header").map(|header| (VALUES, header)),
            None => document.header().map(|header| (FIRST, header)),
        };
        let mut out = Emitter::into_document(application.finish(), document);
        if let Some((source, header)) = header {
            out.write_value(source, header);
            out.builder.end_header();
        }
        out.write_value(FIRST, document.root());
        let (made, kept) = out.finish().map_err(Refusal::Broken)?;
        // Documents that share values in other ways are equal, but a change of a shared value is visible in all its
        // places.
        let expected = root.get("result").filter(|_| !self.allows_other_documents);
        if let Some(expected) = expected
            && expected.as_str() != Some(&fingerprint(rules, &made))
        {
            let reason = "a value that changes is shared in one of both documents, and stored twice in the other";
            return Err(Refusal::Differs { path: String::new(), reason });
        }
        Ok((made, kept))
    }
}

/// The application of a difference, with the edits so far.
struct PatchApplication<'s, 'd> {
    sides: Sides<'s, 'd>,
    equality: EqualityChecker<'d>,
    resolver: PathResolver<'s, 'd>,
    /// Finds children of values of the difference.
    values: PathResolver<'s, 'd>,
    edits: Edits<'d>,
}

impl<'s, 'd> PatchApplication<'s, 'd> {
    fn new(sides: Sides<'s, 'd>) -> PatchApplication<'s, 'd> {
        PatchApplication {
            sides,
            equality: EqualityChecker::new(sides),
            resolver: PathResolver::new(sides),
            values: PathResolver::new(Sides { left: sides.right, right: sides.right }),
            edits: Edits::default(),
        }
    }

    fn finish(mut self) -> Edits<'d> {
        for insertions in self.edits.insertions.values_mut() {
            insertions.sort_by_key(|insertion| insertion.index);
        }
        self.edits
    }

    fn apply_change(&mut self, change: Cursor<'d>) -> Result<(), Refusal> {
        let display_path = || change.get("where").and_then(|path| path.as_str()).unwrap_or_default().to_owned();
        let differs = |reason| Refusal::Differs { path: display_path(), reason };
        let member = |name: &str| {
            change.get(name).ok_or_else(|| Refusal::Broken(malformed_patch(format!("a change without `{name}`"))))
        };
        let word = member("op")?.as_str().unwrap_or_default();
        let kind = ChangeKind::ALL.into_iter().find(|kind| kind.as_str() == word);
        let kind = kind.ok_or_else(|| Refusal::Broken(malformed_patch("a change of an unknown kind")))?;
        let left = match kind {
            ChangeKind::Added => None,
            _ => Some(self.resolver.follow_path(member("path")?).ok_or_else(|| differs("there is no value"))?),
        };
        if let Some(left) = left {
            let is_expected = match kind {
                ChangeKind::Class => {
                    self.sides.left.rules.normalized_class(object_class(left))
                        == self.sides.left.rules.normalized_class(class_in_value(member("old")?))
                }
                _ => self.equality.are_equal(self.sides, left, member("old")?),
            };
            if !is_expected {
                return Err(differs("the value differs from the one that the difference was made from"));
            }
        }
        self.collect_links(change, &display_path())?;
        let is_link = change.get("link").and_then(|is_link| is_link.as_bool()).unwrap_or(false);
        let previous = match (kind, left) {
            // Only this place gets the new value. Other places that share the old value keep it.
            (ChangeKind::Changed, Some(left)) if is_link => {
                self.edits.replaced_places.insert(left.index(), member("new")?).map(drop)
            }
            (ChangeKind::Changed, Some(left)) => {
                self.edits.replaced.insert(left.target().index(), member("new")?).map(drop)
            }
            (ChangeKind::Class, Some(left)) => {
                let object = left.target().index();
                self.edits.touched.insert(object);
                self.edits.classes.insert(object, Cow::Borrowed(class_in_value(member("new")?))).map(drop)
            }
            (ChangeKind::Removed, Some(left)) => return self.remove_value(left, &display_path()),
            (ChangeKind::Moved, Some(left)) => {
                self.remove_value(left, &display_path())?;
                return self.insert_value(change, FIRST, left, &display_path());
            }
            _ => return self.insert_value(change, VALUES, member("new")?, &display_path()),
        };
        previous.map_or(Ok(()), |()| Err(differs("another change of the difference leads to the same value")))
    }

    /// Notes the links in the new value that lead to values of the first document.
    fn collect_links(&mut self, change: Cursor<'d>, path_text: &str) -> Result<(), Refusal> {
        let malformed = |problem: &str| Refusal::Broken(malformed_patch(format!("{problem} at {path_text}")));
        let Some(links) = change.get("links") else { return Ok(()) };
        let new = change.get("new").ok_or_else(|| malformed("`links` without `new`"))?;
        for link in links.items() {
            let mut place = new;
            for position in link.get("at").ok_or_else(|| malformed("a link without `at`"))?.items() {
                let position = position.as_i64().and_then(|position| u32::try_from(position).ok());
                let child = position.and_then(|position| self.values.find_child(place, position));
                place = child.ok_or_else(|| malformed("a link that is not in `new`"))?;
            }
            let path = link.get("target").ok_or_else(|| malformed("a link without `target`"))?;
            let Some(target) = self.resolver.follow_path(path) else {
                let reason = "there is no value for a link in the new value";
                return Err(Refusal::Differs { path: path_text.to_owned(), reason });
            };
            let is_set = |name: &str| link.get(name).and_then(|value| value.as_bool()).unwrap_or(false);
            let kind = if is_set("alias") { Kind::Alias } else { Kind::Link };
            let target = if kind == Kind::Alias { target } else { target.target() };
            self.edits.link_targets.insert(target.index());
            self.edits.links.insert(place.index(), NewLink { target, kind, is_weak: is_set("weak") });
        }
        Ok(())
    }

    /// Checks that each added key does not exist yet, and that each list is long enough. In the document from which
    /// the difference was made both are true.
    fn check_insertions(&mut self) -> Result<(), Refusal> {
        let differs = |path: &str, reason| Refusal::Differs { path: path.to_owned(), reason };
        for (container, insertions) in &self.edits.insertions {
            let container = self.sides.left.value_at(*container);
            let removed = container.children().filter(|child| self.edits.removed.contains(&child.index())).count();
            let len = (container.len() + insertions.len()).saturating_sub(removed);
            for insertion in insertions {
                match insertion.key {
                    None if insertion.index as usize >= len => {
                        return Err(differs(
                            &insertion.path,
                            "the list is too short for the position of the new value",
                        ));
                    }
                    None => {}
                    Some(key) => {
                        let known = self.resolver.find_entry(container, &as_key(key));
                        if known.is_some_and(|known| !self.edits.removed.contains(&known.index())) {
                            return Err(differs(&insertion.path, "the map already has this key"));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Removes an item or an entry.
    fn remove_value(&mut self, left: Cursor<'d>, path_text: &str) -> Result<(), Refusal> {
        let parent = self.resolver.find_parent(left).filter(|parent| matches!(parent.kind(), Kind::Array | Kind::Map));
        match parent {
            Some(parent) if self.edits.removed.insert(left.index()) => {
                self.edits.touched.insert(parent.index());
                Ok(())
            }
            Some(_) => Err(Refusal::Broken(malformed_patch(format!("two changes of one value at {path_text}")))),
            None => Err(Refusal::Broken(malformed_patch(format!("a value that can't be removed at {path_text}")))),
        }
    }

    fn insert_value(
        &mut self,
        change: Cursor<'d>,
        source: usize,
        value: Cursor<'d>,
        path_text: &str,
    ) -> Result<(), Refusal> {
        let malformed = |problem: &str| Refusal::Broken(malformed_patch(format!("{problem} at {path_text}")));
        let container_path = change.get("in").ok_or_else(|| malformed("a change without `in`"))?;
        let differs = |reason| Refusal::Differs { path: path_text.to_owned(), reason };
        let into =
            self.resolver.follow_path(container_path).ok_or_else(|| differs("there is no list or map to add it to"))?;
        let into = crate::tree::object_body(into.target());
        let index = change.get("index").and_then(|index| index.as_i64()).and_then(|index| u32::try_from(index).ok());
        let index = index.ok_or_else(|| malformed("no number `index`"))?;
        let key = match (into.kind(), change.get("key")) {
            (Kind::Map, Some(key)) => Some(key),
            (Kind::Array, None) => None,
            (Kind::Map | Kind::Array, _) => {
                return Err(differs("it is a list instead of a map, or a map instead of a list"));
            }
            _ => return Err(differs("there is no list or map to add it to")),
        };
        let is_absent = change.get("absent").and_then(|absent| absent.as_bool()).unwrap_or(false);
        self.edits.touched.insert(into.index());
        self.edits.insertions.entry(into.index()).or_default().push(Insertion {
            index,
            key,
            is_absent,
            source,
            value,
            path: path_text.to_owned(),
        });
        Ok(())
    }

    fn check_header(&mut self, root: Cursor<'d>) -> Result<(), Refusal> {
        if root.get("has_header").is_none() {
            return Ok(());
        }
        let is_same = match (self.sides.left.document.header(), root.get("old_header")) {
            (None, None) => true,
            (Some(header), Some(old)) => self.equality.are_equal(self.sides, header, old),
            _ => false,
        };
        let reason = "its header differs from the header of the document that the difference was made from";
        if is_same { Ok(()) } else { Err(Refusal::Differs { path: String::new(), reason }) }
    }
}

/// Returns the class name that a value contains.
fn class_in_value(value: Cursor<'_>) -> &[u8] {
    match value.value() {
        Value::Module(name, _) => name,
        _ => &[],
    }
}
