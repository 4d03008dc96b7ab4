//! Losses: changes of meaning that a target forces.

use crate::error::Error;
use crate::limits::Limits;
use std::fmt;

/// A kind of loss: a change of meaning that a target format forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// An object became its body.
    Class,
    /// An opaque object became its payload.
    Opaque,
    /// A byte string that is not UTF-8 became text.
    Bytes,
    /// A symbol became a string.
    Symbol,
    /// A string's encoding was dropped.
    Encoding,
    /// A reference to a scalar became the scalar.
    Reference,
    /// A value that occurs in several places was written several times.
    Sharing,
    /// A link to a container that contains it became null.
    Cycle,
    /// A weak reference became an ordinary one.
    Weak,
    /// The mark of an overloaded reference was dropped.
    Overload,
    /// An array element that does not exist became null.
    Hole,
    /// A float that the target lacks (infinite, not a number) became null or a
    /// string.
    Float,
    /// A number lost digits.
    Precision,
    /// An integer that is too large for the target became a string. The target's limit is 64 bits, or 63 bits and a
    /// sign.
    BigInt,
    /// A key that is not a string became one.
    Key,
    /// Two keys became the same.
    DuplicateKey,
    /// A regular expression became a string.
    Regexp,
    /// Modifiers of a regular expression were dropped.
    RegexpFlags,
    /// A regular expression may match other texts, because the target's engine lacks a construct or reads it otherwise.
    RegexpMeaning,
    /// A regular expression never matches, because the target's engine can't load it or its source was not understood.
    RegexpNever,
    /// Code became a string or null.
    Code,
    /// A v-string became a string.
    VString,
    /// A tied variable became the object that it is tied to.
    Tied,
    /// A restricted hash became an ordinary one.
    Restricted,
    /// Attributes of a value were dropped.
    Attributes,
    /// The default value or the identity comparison of a map was dropped.
    MapKind,
    /// An enum case or the name of a class became a string.
    Name,
    /// A private or protected member of an object became public.
    Visibility,
    /// A user header was dropped.
    Header,
    /// A boolean became a number or a string.
    Bool,
    /// A Ruby time or date became text.
    Time,
    /// A Ruby range became text.
    Range,
    /// A Ruby rational, complex or decimal number became text.
    Number,
    /// A Ruby set became an array.
    Set,
    /// A list had fewer items than the format has fields; zero or nothing was written for the missing items.
    Missing,
    /// Items for which the format has no field were left out.
    Surplus,
    /// A number or character does not fit its field, and was wrapped.
    Wrapped,
    /// The end of a string did not fit its field.
    Width,
    /// A string that is not a number was written as one.
    Numeric,
    /// A null became an empty string or zero.
    Null,
    /// Characters above one byte were written as UTF-8.
    Wide,
    /// A member was left out, because a reader would take it for an entry that the target itself writes, such as the
    /// class.
    Reserved,
    /// A number became a string of its digits.
    Quoted,
    /// A float without a fraction became an integer.
    Integral,
    /// A map became a list, or a list a map.
    ArrayKind,
    /// A Ruby struct became an ordinary object.
    Struct,
    /// A string of digits became a number.
    Unquoted,
    /// Text became bytes, or bytes became text, with other characters.
    Text,
    /// A property that a wrapper stored in addition to its content, such as an expiry, was dropped.
    Wrapper,
    /// The bytes of a string were interpreted in another encoding, because the string's own encoding is unknown, or
    /// because the bytes are invalid in it.
    Undecoded,
    /// An object got another class, because the target's language has its own class of that name.
    Renamed,
    /// The source of a regular expression or v-string was replaced, because evaluating the text would run code in it.
    EmbeddedCode,
}

impl LossKind {
    /// Returns a description, in the singular or plural for `count`.
    ///
    /// ```
    /// use icecore::LossKind;
    /// assert_eq!(LossKind::Class.describe(1), "class name dropped");
    /// assert_eq!(LossKind::Class.describe(2), "class names dropped");
    /// ```
    pub fn describe(self, count: u64) -> &'static str {
        let (one, many) = match self {
            LossKind::Class => ("class name dropped", "class names dropped"),
            LossKind::Opaque => ("opaque object written as its payload", "opaque objects written as their payload"),
            LossKind::Bytes => {
                ("byte string that is not UTF-8 written as text", "byte strings that are not UTF-8 written as text")
            }
            LossKind::Symbol => ("symbol written as a string", "symbols written as strings"),
            LossKind::Encoding => ("string encoding dropped", "string encodings dropped"),
            LossKind::Reference => {
                ("reference to a scalar written as the scalar", "references to scalars written as the scalar")
            }
            LossKind::Sharing => ("shared value written again", "shared values written again"),
            LossKind::Cycle => ("cycle cut with null", "cycles cut with null"),
            LossKind::Weak => ("weak reference written as an ordinary one", "weak references written as ordinary ones"),
            LossKind::Overload => ("overload mark dropped", "overload marks dropped"),
            LossKind::Hole => ("nonexistent element written as null", "nonexistent elements written as null"),
            LossKind::Float => ("infinite or undefined float replaced", "infinite or undefined floats replaced"),
            LossKind::Precision => ("number that lost digits", "numbers that lost digits"),
            LossKind::BigInt => (
                "integer too large for the target written as a string",
                "integers too large for the target written as strings",
            ),
            LossKind::Key => ("key turned into a string", "keys turned into strings"),
            LossKind::DuplicateKey => ("key that occurs twice", "keys that occur twice"),
            LossKind::Regexp => ("regular expression written as a string", "regular expressions written as strings"),
            LossKind::RegexpFlags => {
                ("set of modifiers of a regular expression dropped", "modifiers of regular expressions dropped")
            }
            LossKind::RegexpMeaning => {
                ("regular expression whose meaning changes", "regular expressions whose meaning changes")
            }
            LossKind::RegexpNever => (
                "regular expression without a translation, which never matches now",
                "regular expressions without a translation, which never match now",
            ),
            LossKind::Code => ("code text written as a string", "code texts written as strings"),
            LossKind::VString => ("v-string written as a string", "v-strings written as strings"),
            LossKind::Tied => (
                "tied variable written as the object that it is tied to",
                "tied variables written as the objects that they are tied to",
            ),
            LossKind::Restricted => {
                ("restricted hash written as an ordinary one", "restricted hashes written as ordinary ones")
            }
            LossKind::Attributes => ("attribute dropped", "attributes dropped"),
            LossKind::MapKind => {
                ("map default or identity comparison dropped", "map defaults or identity comparisons dropped")
            }
            LossKind::Name => (
                "enum case or class reference written as a string",
                "enum cases or class references written as strings",
            ),
            LossKind::Visibility => ("visibility of a property dropped", "visibilities of properties dropped"),
            LossKind::Header => ("user header dropped", "user headers dropped"),
            LossKind::Bool => ("boolean written as a number or a string", "booleans written as numbers or strings"),
            LossKind::Time => ("time or date written as text", "times or dates written as text"),
            LossKind::Range => ("range written as text", "ranges written as text"),
            LossKind::Number => (
                "rational, complex or decimal number written as text",
                "rational, complex or decimal numbers written as text",
            ),
            LossKind::Set => ("set written as an array", "sets written as arrays"),
            LossKind::Missing => {
                ("field left empty, because an item is missing", "fields left empty, because items are missing")
            }
            LossKind::Surplus => (
                "item left out, because no field is left for it",
                "items left out, because no fields are left for them",
            ),
            LossKind::Wrapped => {
                ("number or character wrapped to fit its field", "numbers or characters wrapped to fit their fields")
            }
            LossKind::Width => ("string cut to fit its field", "strings cut to fit their fields"),
            LossKind::Numeric => ("non-numeric string written as a number", "non-numeric strings written as numbers"),
            LossKind::Null => ("null written as nothing or zero", "nulls written as nothing or zero"),
            LossKind::Wide => (
                "packed string with characters beyond bytes written as UTF-8",
                "packed strings with characters beyond bytes written as UTF-8",
            ),
            LossKind::Reserved => (
                "member left out, because its name is reserved for the class",
                "members left out, because their name is reserved for the class",
            ),
            LossKind::Quoted => ("number written as a string", "numbers written as strings"),
            LossKind::Integral => ("float written as an integer", "floats written as integers"),
            LossKind::ArrayKind => ("map written as a list or list as a map", "maps written as lists or lists as maps"),
            LossKind::Struct => ("struct written as an ordinary object", "structs written as ordinary objects"),
            LossKind::Unquoted => ("string of digits written as a number", "strings of digits written as numbers"),
            LossKind::Wrapper => ("statement of a wrapper dropped", "statements of wrappers dropped"),
            LossKind::Undecoded => (
                "string not decoded, because its encoding is unknown or wrong",
                "strings not decoded, because their encodings are unknown or wrong",
            ),
            LossKind::Renamed => (
                "object renamed, because the target has its own class of that name",
                "objects renamed, because the target has its own classes of these names",
            ),
            LossKind::EmbeddedCode => (
                "piece of code in a regular expression or v-string left out",
                "pieces of code in regular expressions or v-strings left out",
            ),
            LossKind::Text => ("text written as bytes or bytes as text", "texts written as bytes or bytes as texts"),
        };
        if count == 1 { one } else { many }
    }

    /// Returns the kind as one word, as the command's JSON shows it.
    pub fn as_str(self) -> &'static str {
        match self {
            LossKind::Class => "class",
            LossKind::Opaque => "opaque",
            LossKind::Bytes => "bytes",
            LossKind::Symbol => "symbol",
            LossKind::Encoding => "encoding",
            LossKind::Reference => "reference",
            LossKind::Sharing => "sharing",
            LossKind::Cycle => "cycle",
            LossKind::Weak => "weak",
            LossKind::Overload => "overload",
            LossKind::Hole => "hole",
            LossKind::Float => "float",
            LossKind::Precision => "precision",
            LossKind::BigInt => "big-integer",
            LossKind::Key => "key",
            LossKind::DuplicateKey => "duplicate-key",
            LossKind::Regexp => "regexp",
            LossKind::RegexpFlags => "regexp-flags",
            LossKind::RegexpMeaning => "regexp-meaning",
            LossKind::RegexpNever => "regexp-never",
            LossKind::Code => "code",
            LossKind::VString => "v-string",
            LossKind::Tied => "tied",
            LossKind::Restricted => "restricted",
            LossKind::Attributes => "attributes",
            LossKind::MapKind => "map-kind",
            LossKind::Name => "name",
            LossKind::Visibility => "visibility",
            LossKind::Header => "header",
            LossKind::Bool => "bool",
            LossKind::Time => "time",
            LossKind::Range => "range",
            LossKind::Number => "number",
            LossKind::Set => "set",
            LossKind::Missing => "missing",
            LossKind::Surplus => "surplus",
            LossKind::Wrapped => "wrapped",
            LossKind::Width => "width",
            LossKind::Numeric => "numeric",
            LossKind::Null => "null",
            LossKind::Wide => "wide",
            LossKind::Reserved => "reserved",
            LossKind::Quoted => "quoted",
            LossKind::Integral => "integral",
            LossKind::ArrayKind => "array-kind",
            LossKind::Struct => "struct",
            LossKind::Unquoted => "unquoted",
            LossKind::Text => "text",
            LossKind::Wrapper => "wrapper",
            LossKind::Undecoded => "undecoded",
            LossKind::Renamed => "renamed",
            LossKind::EmbeddedCode => "embedded-code",
        }
    }
}

/// A loss: its kind, its count and its first path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What was lost.
    pub kind: LossKind,
    /// Number of losses of this kind.
    pub count: u64,
    /// The path of the first loss; empty if no paths are kept.
    pub path: String,
    /// The paths of further losses, up to the number in [`Limits::loss_paths`](crate::Limits::loss_paths).
    pub more: Vec<String>,
}

/// The result of writing a document: its losses, or an error.
pub type Written = Result<Losses, Error>;

/// The losses of a document, by kind.
///
/// ```
/// use icecore::{Limits, LossKind, Stage};
/// let document = icecore::read(b"O:1:\"A\":1:{s:4:\"\0*\0a\";i:1;}")?;
/// let mut out = Vec::new();
/// let mut losses = icecore::write_to(&document, &Stage::parse("json")?, &Limits::default(), &mut out)?;
/// let kinds: Vec<_> = losses.iter().map(|loss| (loss.kind.as_str(), loss.count)).collect();
/// assert_eq!(kinds, [("visibility", 1), ("class", 1)]);
/// // Those of a program's own.
/// losses.add(LossKind::Bytes, || "$.b".to_owned());
/// let all = losses.clone();
/// losses.merge(all);
/// assert_eq!(losses.iter().last().map(|loss| loss.count), Some(2));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    list: Vec<Loss>,
    /// Number of paths that are kept after the first one.
    max_more_paths: usize,
    /// Whether no path is kept at all.
    omits_paths: bool,
}

impl Losses {
    /// Returns no losses. The limits set the number of paths that are kept for each kind.
    pub(crate) fn with_limits(limits: &Limits) -> Losses {
        let max_more_paths = limits.loss_paths.saturating_sub(1) as usize;
        Losses { list: Vec::new(), max_more_paths, omits_paths: limits.loss_paths == 0 }
    }

    /// Counts a loss. `path` is called only if the path is kept.
    pub fn add(&mut self, kind: LossKind, path: impl FnOnce() -> String) {
        match self.list.iter_mut().find(|loss| loss.kind == kind) {
            Some(loss) => {
                loss.count += 1;
                if loss.more.len() < self.max_more_paths {
                    loss.more.push(path());
                }
            }
            None => {
                let path = if self.omits_paths { String::new() } else { path() };
                self.list.push(Loss { kind, count: 1, path, more: Vec::new() });
            }
        }
    }

    /// Adds to the count of a kind that already has a first path.
    pub(crate) fn add_occurrences(&mut self, kind: LossKind, times: u64) {
        if let Some(loss) = self.list.iter_mut().find(|loss| loss.kind == kind) {
            loss.count += times;
        }
    }

    /// Adds the losses of another part of the same document.
    pub fn merge(&mut self, other: Losses) {
        let max_paths = self.max_more_paths.max(other.max_more_paths);
        for loss in other.list {
            match self.list.iter_mut().find(|known| known.kind == loss.kind) {
                Some(known) => {
                    known.count += loss.count;
                    let available = max_paths.saturating_sub(known.more.len());
                    known.more.extend(std::iter::once(loss.path).chain(loss.more).take(available));
                }
                None => self.list.push(loss),
            }
        }
    }

    /// Adds the losses of a value of the same document, whose path is `outer`.
    ///
    /// ```
    /// use icecore::{LossKind, Losses};
    /// let (mut all, mut part) = (Losses::default(), Losses::default());
    /// part.add(LossKind::Class, || "$[0]".to_owned());
    /// all.merge_below(part, "$.items");
    /// assert_eq!(all.iter().next().map(|loss| &*loss.path), Some("$.items[0]"));
    /// ```
    pub fn merge_below(&mut self, mut other: Losses, outer: &str) {
        let paths = other.list.iter_mut().flat_map(|loss| std::iter::once(&mut loss.path).chain(&mut loss.more));
        for path in paths {
            if let Some(rest) = path.strip_prefix('$') {
                *path = format!("{outer}{rest}");
            }
        }
        self.merge(other);
    }

    /// Returns the losses by kind, in the order in which each kind first occurred.
    pub fn iter(&self) -> impl Iterator<Item = &Loss> {
        self.list.iter()
    }

    /// Returns `true` if there are no losses.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.kind.describe(self.count))?;
        if self.path.is_empty() { Ok(()) } else { write!(f, ", first at {}", self.path) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_loss_paths_applies_to_each_kind() {
        for (wanted, kept) in [(0, &[""][..]), (1, &["0"]), (3, &["0", "1", "2"])] {
            let mut losses = Losses::with_limits(&Limits { loss_paths: wanted, ..Limits::default() });
            for index in 0..5 {
                losses.add(LossKind::Key, || {
                    assert!(index < wanted, "path {index} was asked for");
                    index.to_string()
                });
            }
            let loss = losses.iter().next().unwrap();
            let paths: Vec<_> = std::iter::once(&loss.path).chain(&loss.more).collect();
            assert_eq!(loss.count, 5);
            assert_eq!(paths, kept);
        }
    }
}
