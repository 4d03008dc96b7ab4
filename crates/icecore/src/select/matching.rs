//! Evaluates a pattern in a document that was read.

use super::pattern::{Pattern, PatternStep, StepKind, item_position, slice_bounds};
use crate::document::{Cursor, Document, Kind, NO_KEY, Step, is_symbol_name, push_key, push_quoted};
use crate::error::Error;
use crate::limits::Limits;
use std::collections::HashSet;
use std::fmt::Write;

/// The values that a pattern matches in a document, in order.
///
/// ```
/// use icecore::{Limits, select::Pattern};
/// let document = icecore::read(br#"{"staff": [{"name": "Alice"}, {"name": "Bob"}]}"#)?;
/// let found = Pattern::parse("..name")?.find(&document, &Limits::default())?;
/// assert_eq!((found.len(), found.is_empty()), (2, false));
/// let last = found.iter().last().unwrap();
/// assert_eq!((last.0.as_str(), last.1.as_str()), ("$.staff[1].name", Some("Bob")));
/// assert_eq!(found.values().count(), 2);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Debug)]
pub struct Found<'d> {
    document: &'d Document<'d>,
    /// The values that the pattern visited, with the steps to them.
    places: Vec<MatchedPlace>,
    /// Indexes of the places that match.
    matched: Vec<u32>,
}

#[derive(Debug)]
struct MatchedPlace {
    /// Index of the parent in [`Found::places`].
    parent: u32,
    /// Step from the parent.
    step: Box<str>,
    node: u32,
}

impl<'d> Found<'d> {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.matched.len()
    }

    /// Returns `true` if there are no values.
    pub fn is_empty(&self) -> bool {
        self.matched.is_empty()
    }

    /// Returns the values, with the paths that they were found on.
    pub fn iter(&self) -> impl Iterator<Item = (String, Cursor<'d>)> {
        self.matched.iter().map(|place| (self.path_of_place(*place), self.cursor_at(*place)))
    }

    /// Returns the values.
    pub fn values(&self) -> impl Iterator<Item = Cursor<'d>> {
        self.matched.iter().map(|place| self.cursor_at(*place))
    }

    fn cursor_at(&self, place: u32) -> Cursor<'d> {
        Cursor::new(self.document, self.places[place as usize].node)
    }

    fn path_of_place(&self, place: u32) -> String {
        let mut steps = Vec::new();
        let mut index = place;
        while index != 0 {
            let place = &self.places[index as usize];
            steps.push(&*place.step);
            index = place.parent;
        }
        steps.push("$");
        steps.reverse();
        steps.concat()
    }
}

impl Pattern {
    /// Returns the values that the pattern matches in a document. Links are followed, as in [`Document::find`]; `..`
    /// visits each value once, in the order of the document.
    ///
    /// # Errors
    /// Of kind `Limit`, if links lead to more values than [`Limits::expansion`] allows.
    pub fn find<'d>(&self, document: &'d Document<'_>, limits: &Limits) -> Result<Found<'d>, Error> {
        let root = MatchedPlace { parent: 0, step: "".into(), node: document.root().index() };
        let expansion_limit = limits.expanded_from(document.nodes().len());
        let mut search = PatternSearch {
            matches: Found { document, places: vec![root], matched: vec![0] },
            max_places: expansion_limit,
            limits,
        };
        for wanted in &self.steps {
            search.apply_step(wanted)?;
        }
        if let (true, Some(path)) = (search.matches.is_empty(), self.as_path())
            && let Ok(value) = document.find(path)
        {
            // The steps match nothing, but the text may be a shortened path or a path into the header. Only
            // `Document::find` understands such a path.
            let step = path.strip_prefix('$').unwrap_or(path).into();
            let place = search.add_place(0, step, value)?;
            search.matches.matched.push(place);
        }
        Ok(search.matches)
    }

    /// Returns the path of the first value that matches at some depth instead of from the root on: the path that was
    /// probably meant. Returns `None` if nothing matches, or if the search takes too long.
    ///
    /// ```
    /// use icecore::{Limits, select::Pattern};
    /// let document = icecore::read(br#"{"data": {"user": {"id": 42}}}"#)?;
    /// let path = Pattern::parse("$.user.id")?.find_deeper(&document, &Limits::default());
    /// assert_eq!(path.as_deref(), Some("$.data.user.id"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn find_deeper(&self, document: &Document<'_>, limits: &Limits) -> Option<String> {
        let mut steps = self.steps.clone();
        steps.first_mut()?.is_deep = true;
        let found = Pattern { text: "?".to_owned(), steps }.find(document, limits).ok()?;
        found.iter().next().map(|(path, _)| path)
    }
}

struct PatternSearch<'d, 'l> {
    matches: Found<'d>,
    max_places: u64,
    limits: &'l Limits,
}

impl<'d> PatternSearch<'d, '_> {
    fn add_place(&mut self, parent: u32, step: Box<str>, value: Cursor<'d>) -> Result<u32, Error> {
        let place = self.matches.places.len();
        if place as u64 >= self.max_places {
            return Err(self.limits.too_expanded(self.max_places));
        }
        self.matches.places.push(MatchedPlace { parent, step, node: value.index() });
        u32::try_from(place).map_err(|_| self.limits.too_expanded(self.max_places))
    }

    /// Applies the next step to all values found so far.
    fn apply_step(&mut self, wanted: &PatternStep) -> Result<(), Error> {
        let places = std::mem::take(&mut self.matches.matched);
        if wanted.is_deep {
            return self.apply_deep_step(places, &wanted.kind);
        }
        for parent in places {
            self.apply_to_value(parent, &wanted.kind)?;
        }
        Ok(())
    }

    /// Applies the step to these values and everything in them.
    fn apply_deep_step(&mut self, places: Vec<u32>, kind: &StepKind) -> Result<(), Error> {
        let mut open = places;
        open.reverse();
        let mut visited = HashSet::new();
        while let Some(place) = open.pop() {
            let value = self.matches.cursor_at(place).target();
            if !value.kind().is_container() || !visited.insert(value.index()) {
                continue;
            }
            // An object and its body are one place, so the step is applied only when the body is reached. The same
            // holds for a value with attributes.
            if value.kind() != Kind::Object && value.kind() != Kind::Attrs {
                self.apply_to_value(place, kind)?;
            }
            let first = open.len();
            self.for_each_child(place, value, |place| open.push(place))?;
            open[first..].reverse();
        }
        Ok(())
    }

    /// Applies a step to one value.
    fn apply_to_value(&mut self, parent: u32, kind: &StepKind) -> Result<(), Error> {
        let cursor = self.matches.cursor_at(parent);
        let body = cursor.body();
        match kind {
            StepKind::One(Step::Item(number)) if body.kind() == Kind::Array => {
                let Some(position) = item_position(*number, body.len() as u64) else { return Ok(()) };
                let item = usize::try_from(position).ok().and_then(|position| body.items().nth(position));
                crate::steps::count(body.len());
                item.map_or(Ok(()), |value| self.add_match(parent, format!("[{position}]"), value))
            }
            StepKind::One(step) => match step.follow_from(cursor) {
                Some(value) => self.add_match(parent, step.to_text(), value),
                None => Ok(()),
            },
            StepKind::Slice(first, last) if body.kind() == Kind::Array => {
                let (first, last) = slice_bounds(*first, *last, body.len() as u64);
                let count = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX);
                let skipped = usize::try_from(first).unwrap_or(usize::MAX);
                for (position, value) in (first..).zip(body.items().skip(skipped).take(count)) {
                    self.add_match(parent, format!("[{position}]"), value)?;
                }
                Ok(())
            }
            StepKind::Slice(..) => Ok(()),
            StepKind::All if matches!(body.kind(), Kind::Array | Kind::Map) => {
                let mut children = Vec::new();
                self.for_each_child(parent, body, |place| children.push(place))?;
                self.matches.matched.append(&mut children);
                Ok(())
            }
            StepKind::All => Ok(()),
        }
    }

    fn add_match(&mut self, parent: u32, step: String, value: Cursor<'d>) -> Result<(), Error> {
        let place = self.add_place(parent, step.into(), value)?;
        self.matches.matched.push(place);
        Ok(())
    }

    /// Passes on the children of a value, without keys: for a map, the values of its entries.
    fn for_each_child(&mut self, parent: u32, container: Cursor<'d>, mut visit: impl FnMut(u32)) -> Result<(), Error> {
        let document = self.matches.document;
        let mut index = container.index() + 1;
        let end = container.index_after();
        let (mut key, mut position) = (None, 0);
        while index < end {
            let child = Cursor::new(document, index);
            if child.node().key == crate::document::IS_KEY {
                key = Some(index);
            } else {
                // The default value of a map is not an entry.
                let is_entry = container.kind() != Kind::Map || child.node().key != NO_KEY;
                if is_entry {
                    // The value that has attributes is reached without a step.
                    let is_inside = container.kind() == Kind::Attrs && position == 0;
                    let step = if is_inside { None } else { document.step(container.index(), index, key, position) };
                    let step = step.unwrap_or_default();
                    let place = self.add_place(parent, step.into(), child)?;
                    visit(place);
                }
                (key, position) = (None, position + 1);
            }
            index = child.index_after();
        }
        Ok(())
    }
}

impl Step {
    /// Returns the step as text.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        let _ = match self {
            Step::Key(name) => {
                push_key(&mut text, name);
                Ok(())
            }
            Step::Symbol(name) if is_symbol_name(name) => write!(text, "[:{name}]"),
            Step::Symbol(name) => {
                text.push_str("[:");
                push_quoted(&mut text, name);
                text.push(']');
                Ok(())
            }
            Step::Item(number) => write!(text, "[{number}]"),
            Step::Entry(position) => write!(text, "{{{position}}}"),
            Step::Referent => write!(text, "^"),
            Step::Part(position) => write!(text, "#{position}"),
        };
        text
    }
}
