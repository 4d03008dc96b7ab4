//! Patterns: paths that may match several values.

use crate::document::{Document, Step, without_dot_before_bracket};
use crate::error::{Error, ErrorKind};

/// Maximum number of steps of a pattern.
const MAX_STEPS: usize = 10_000;

/// A path as `inspect` prints it, or one with steps that match several values.
///
/// | step | meaning |
/// |---|---|
/// | `.name`, `["any key"]`, `[3]`, `{3}`, `^`, `#0` | as in [`Document::find`] |
/// | `.name:protected`, `.name:Class:private` | a property of PHP that is not public |
/// | `[-1]` | the last item of an array; the entry of a map with the integer key -1 |
/// | `[*]`, `.*` | all items, all values of a map |
/// | `[1:5]`, `[:5]`, `[-3:]` | the items from the first position up to, but not including, the second |
/// | `..name`, `..[0]`, `..*` | the matches of the step in the value and in everything in it |
///
/// ```
/// use icecore::select::Pattern;
/// let pattern = Pattern::parse("$.staff[*].name")?;
/// assert!(!pattern.is_definite());
/// assert!(Pattern::parse("$.staff[-1]")?.is_definite());
/// assert!(Pattern::parse("$.staff[1:").is_err());
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub(super) text: String,
    pub(super) steps: Vec<PatternStep>,
}

/// A step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PatternStep {
    /// Whether it is also applied to everything in the value.
    pub(super) is_deep: bool,
    pub(super) kind: StepKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    /// At most one value.
    One(Step),
    /// Items from the first to before the second position; negative ones count from the end.
    Slice(Option<i64>, Option<i64>),
    All,
}

impl Pattern {
    /// Parses a pattern; `$` may be left out, and the notation of jq is understood: `.[0]` and `[]`.
    ///
    /// # Errors
    /// Of kind `Usage`, with the malformed step.
    pub fn parse(text: &str) -> Result<Pattern, Error> {
        // `.` is the whole value in jq.
        let mut rest = if text == "." { "" } else { text.strip_prefix('$').unwrap_or(text) };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (wanted, after) = parse_pattern_step(rest).ok_or_else(|| invalid_step_error(text, rest))?;
            if steps.len() == MAX_STEPS {
                return Err(Error::new(ErrorKind::Usage)
                    .expecting(format!("a path of at most {MAX_STEPS} steps"))
                    .finding("a longer one"));
            }
            steps.push(wanted);
            rest = after;
        }
        Ok(Pattern { text: text.to_owned(), steps })
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns `true` if it matches at most one value.
    pub fn is_definite(&self) -> bool {
        self.steps.iter().all(PatternStep::is_definite)
    }

    /// Returns the steps before the first one that may match several values.
    pub(crate) fn definite_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().map_while(|wanted| match &wanted.kind {
            StepKind::One(step) if !wanted.is_deep => Some(step),
            _ => None,
        })
    }

    /// Returns the rest of the path after `count` steps, as a path from the root of another document, optionally with
    /// another first step.
    pub(crate) fn rest_after(&self, count: usize, first: Option<Step>) -> Pattern {
        let first = first.map(|step| PatternStep { is_deep: false, kind: StepKind::One(step) });
        let rest = self.steps.get(count..).unwrap_or_default();
        // The text of this pattern would be a path of the outer document, not of the other one, so the text is
        // unknown.
        Pattern { text: "?".to_owned(), steps: first.into_iter().chain(rest.iter().cloned()).collect() }
    }

    /// Returns the pattern without its last step, if that step matches at most one value.
    pub fn parent(&self) -> Option<Pattern> {
        self.split_last().map(|(parent, _)| parent)
    }

    /// Returns the pattern without its last step, and that step, if it matches one value.
    pub(crate) fn split_last(&self) -> Option<(Pattern, &Step)> {
        let (last, before) = self.steps.split_last()?;
        let StepKind::One(step) = &last.kind else { return None };
        (!last.is_deep).then(|| (Pattern { text: self.text.clone(), steps: before.to_vec() }, step))
    }

    /// Returns the pattern as a path that [`Document::find`] accepts, if it is such a path.
    pub(super) fn as_path(&self) -> Option<&str> {
        (self.is_definite() && Document::check_path(&self.text).is_ok()).then_some(self.as_str())
    }
}

impl PatternStep {
    pub(super) fn is_definite(&self) -> bool {
        !self.is_deep && matches!(self.kind, StepKind::One(_))
    }
}

/// Parses the first step of this text; returns it and the rest.
fn parse_pattern_step(text: &str) -> Option<(PatternStep, &str)> {
    let (is_deep, text) = match text.strip_prefix("..") {
        Some(rest) if rest.starts_with('[') => (true, rest),
        Some(_) => (true, &text[1..]),
        None => (false, without_dot_before_bracket(text)),
    };
    let (step_kind, rest) = parse_step_kind(text)?;
    Some((PatternStep { is_deep, kind: step_kind }, rest))
}

fn parse_step_kind(text: &str) -> Option<(StepKind, &str)> {
    if let Some(rest) = text.strip_prefix("[*]").or_else(|| text.strip_prefix("[]")) {
        return Some((StepKind::All, rest));
    }
    if let Some(rest) = text.strip_prefix(".*")
        && (rest.is_empty() || rest.starts_with(['.', '[', '{', '^', '#']))
    {
        return Some((StepKind::All, rest));
    }
    parse_slice(text).or_else(|| Step::parse(text).map(|(step, rest)| (StepKind::One(step), rest)))
}

fn parse_slice(text: &str) -> Option<(StepKind, &str)> {
    let inside = text.strip_prefix('[')?;
    let (bounds, rest) = inside.split_once(']')?;
    let (from, to) = bounds.split_once(':')?;
    let bound = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    Some((StepKind::Slice(bound(from)?, bound(to)?), rest))
}

#[cold]
fn invalid_step_error(path: &str, rest: &str) -> Error {
    Error::new(ErrorKind::Usage)
        .expecting(format!(
            "a step in the path `{path}`: .name, [\"key\"], [:symbol], [3], [-1], [1:5], [*], .*, ..name, {{3}}, ^ or #0"
        ))
        .finding(format!("`{rest}`"))
}

/// Returns the positions that a slice means in an array of `count` items.
pub(super) fn slice_bounds(from: Option<i64>, to: Option<i64>, count: u64) -> (u64, u64) {
    let place = |bound: i64| match bound < 0 {
        true => count.saturating_sub(bound.unsigned_abs()),
        false => bound.unsigned_abs().min(count),
    };
    (from.map_or(0, place), to.map_or(count, place))
}

/// Returns the position that the number of an item means.
pub(crate) fn item_position(number: i64, count: u64) -> Option<u64> {
    match number < 0 {
        true => count.checked_sub(number.unsigned_abs()),
        false => Some(number.unsigned_abs()).filter(|position| *position < count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_patterns_are_parsed() {
        let steps = |text: &str| Pattern::parse(text).map(|pattern| pattern.steps.len()).ok();
        assert_eq!(steps("$"), Some(0));
        assert_eq!(steps(""), Some(0));
        assert_eq!(steps("$.a[3].b[*].*..c[1:5][:][-1:]..[2]..*"), Some(11));
        assert_eq!(steps("$[\"a\\\"]..*\"]{0}^#1"), Some(4));
        assert_eq!(steps("$[:x].a"), Some(2));
        // In the notation of jq.
        for (jq, path) in [(".", "$"), (".[\"a\"].[2].b", "$[\"a\"][2].b"), (".a[]", "$.a[*]"), (".[1:]", "$[1:]")] {
            assert_eq!(Pattern::parse(jq).unwrap().steps, Pattern::parse(path).unwrap().steps, "{jq}");
        }
        for malformed in
            ["$.", "$..", "$[", "$[1:2:3]", "$[a:b]", "$...a", "$[*", "name", "$ .a", "$[:x", "$[99999999999999999999]"]
        {
            let error = Pattern::parse(malformed).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{malformed}");
        }
        assert_eq!(Pattern::parse(&".a".repeat(MAX_STEPS + 1)).unwrap_err().kind(), ErrorKind::Usage);
    }

    #[test]
    fn a_key_may_begin_with_a_star() {
        let steps = Pattern::parse("$.*a").unwrap().steps;
        assert_eq!(steps[0].kind, StepKind::One(Step::Key("*a".into())));
    }

    #[test]
    fn slices_have_the_bounds_of_python() {
        assert_eq!(slice_bounds(Some(1), Some(5), 10), (1, 5));
        assert_eq!(slice_bounds(None, Some(-1), 10), (0, 9));
        assert_eq!(slice_bounds(Some(-3), None, 10), (7, 10));
        assert_eq!(slice_bounds(Some(-30), Some(30), 10), (0, 10));
        assert_eq!(slice_bounds(Some(i64::MIN), Some(i64::MAX), 0), (0, 0));
        assert_eq!(
            (item_position(-1, 3), item_position(-4, 3), item_position(3, 3), item_position(2, 3)),
            (Some(2), None, None, Some(2))
        );
    }
}
