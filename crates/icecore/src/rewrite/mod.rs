//! Changes strings inside a document; every other byte of it stays the same.
//!
//! Example: a site moves, and its name occurs in values that programs froze. In PHP's text each string is preceded by
//! its length, in JSON slashes are escaped, and many values contain other frozen values. [`value()`] finds frozen data,
//! passes each string to a [`Change`] as the program would see it, and returns [`Edits`] of the bytes, with correct
//! texts, lengths and escapes.
//!
//! ```
//! use icecore::rewrite::{self, Change, Edits, StringRole, Rewriting, Tally};
//! /// Puts `new.example` in the place of `old.org`.
//! struct Move;
//! impl Change for Move {
//!     fn change_text(&mut self, text: &[u8], _: StringRole, edits: &mut Edits) {
//!         for (at, piece) in text.windows(7).enumerate() {
//!             if piece == b"old.org" {
//!                 edits.push(at, at + 7, b"new.example");
//!             }
//!         }
//!     }
//! }
//! let (how, mut tally) = (Rewriting::default(), Tally::default());
//! let text = b"See old.org";
//! let edits = rewrite::value(text, &mut Move, &how, &mut tally);
//! assert_eq!(edits.apply(text), b"See new.example");
//! ```

mod change_lookahead;
mod embedded;
mod kept_names;
mod layers;
mod partial;
mod plain_text;
mod serialized;
mod signed;
mod string_rewriter;
mod tally;
mod tape;
mod trimmed;

pub use crate::edit::{Decoded, DecodedBuilder, Edit, Edits, Escaping, ReplacedRange, StringRole, raw_edits};
pub use tally::{Broken, FormatCounts, Tally};

use crate::error::Error;
use crate::format;
use crate::limits::Limits;
use crate::stage::Stage;
use embedded::EmbeddedData;
use std::ops::Range;
use string_rewriter::StringRewriter;

/// A function that changes strings.
pub trait Change {
    /// Adds the changes of one string, as a program sees it: without escapes and quotes.
    fn change_text(&mut self, text: &[u8], role: StringRole, edits: &mut Edits);

    /// Like [`Self::change_text`], for these parts of a text, in order; the text between them is only examined.
    fn change_parts(&mut self, text: &[u8], parts: &[Range<usize>], kind: StringRole, edits: &mut Edits) {
        for part in parts {
            let mut part_edits = Edits::new();
            self.change_text(text.get(part.clone()).unwrap_or_default(), kind, &mut part_edits);
            edits.append(&part_edits, part.start);
        }
    }

    /// Begins a trial: the following changes may be discarded. Trials can be nested.
    fn begin_trial(&mut self) {}

    /// Ends the last trial. With `is_made == false` its changes are discarded and do not count.
    fn end_trial(&mut self, is_made: bool) {
        let _ = is_made;
    }

    /// A quick check. It may return `false` only if no string in these raw bytes, which may be escaped and encoded
    /// several times, can have a change.
    fn may_change(&self, raw: &[u8]) -> bool {
        let _ = raw;
        true
    }

    /// Like [`Change::may_change`], for many strings in the same bytes: no string that begins at or after `from` and
    /// ends at or before the returned offset has a change. Returns `None` if no string after `from` has one.
    fn next_change(&self, raw: &[u8], from: usize) -> Option<usize> {
        self.may_change(raw.get(from..).unwrap_or_default()).then_some(from)
    }
}

/// What is changed, and where.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Rewriting {
    /// Whether keys of arrays and names of properties are changed as well.
    pub keys: bool,
    /// Whether names of classes are changed as well.
    pub classes: bool,
    /// Whether the content of Base64 and compressed data is changed as well.
    pub base64: bool,
    /// Whether damaged data is repaired and then changed: wrong lengths, and other common damage of `serialize()`
    /// texts.
    pub repair: bool,
    /// Limits for reading.
    pub limits: Limits,
}

/// Returns the changes of a value that may be frozen data of any format, serialized twice, JSON in PHP and the like;
/// otherwise it is changed as plain text.
///
/// ```
/// use icecore::rewrite::{self, Change, Edits, StringRole, Rewriting, Tally};
/// /// Every digit becomes `10`.
/// struct Tens;
/// impl Change for Tens {
///     fn change_text(&mut self, text: &[u8], _: StringRole, edits: &mut Edits) {
///         for at in (0..text.len()).filter(|at| text[*at].is_ascii_digit()) {
///             edits.push(at, at + 1, b"10");
///         }
///     }
/// }
/// let (how, mut tally) = (Rewriting::default(), Tally::default());
/// // JSON in PHP: only its string is one.
/// let php = br#"a:1:{s:2:"k1";s:9:"[1,"a/2"]";}"#;
/// let edits = rewrite::value(php, &mut Tens, &how, &mut tally);
/// assert_eq!(edits.apply(php), br#"a:1:{s:2:"k1";s:10:"[1,"a/10"]";}"#);
/// assert_eq!((tally.frozen.get("php"), tally.frozen.get("json"), tally.changed), (1, 1, 1));
/// ```
pub fn value(bytes: &[u8], change: &mut dyn Change, options: &Rewriting, tally: &mut Tally) -> Edits {
    let mut rewriter = StringRewriter::new(change, options, tally);
    if rewriter.may_contain_change(bytes)
        || format::all().iter().any(|format| format.hides.is_some_and(|hides| hides(bytes)))
    {
        return rewriter.change_examined(bytes, 0);
    }
    Edits::new()
}

/// Returns the changes of a document of this format.
///
/// # Errors
/// If it can't be read, or can't be written again with the same bytes.
pub fn document(
    bytes: &[u8],
    stage: &Stage,
    change: &mut dyn Change,
    options: &Rewriting,
    tally: &mut Tally,
) -> Result<Edits, Error> {
    let mut rewriter = StringRewriter::new(change, options, tally);
    let shows = stage.wrappers().is_empty() && stage.format().hides.is_none_or(|hides| !hides(bytes));
    if shows && !rewriter.may_contain_change(bytes) {
        return Ok(Edits::new());
    }
    rewriter.change_stage(bytes, stage, 0)
}

/// Returns the changes of this part of a plain text with serialized documents inside; `None` if it has none, or if it
/// is not certain what they are. The text outside the part is only examined.
///
/// A document that changes is one edit from its first byte to its last.
///
/// ```
/// use icecore::rewrite::{self, Change, Edits, StringRole, Rewriting, Tally};
/// /// Every `x` becomes `yz`.
/// struct Double;
/// impl Change for Double {
///     fn change_text(&mut self, text: &[u8], _: StringRole, edits: &mut Edits) {
///         for at in (0..text.len()).filter(|at| text[*at] == b'x') {
///             edits.push(at, at + 1, b"yz");
///         }
///     }
/// }
/// let (how, mut tally) = (Rewriting::default(), Tally::default());
/// let text = br#"x: [box data='s:1:"x";']"#;
/// let edits = rewrite::text_with_documents(text, 0..text.len(), &mut Double, &how, &mut tally).unwrap();
/// assert_eq!(edits.apply(text), br#"yz: [boyz data='s:2:"yz";']"#);
/// // Its length is wrong already.
/// assert!(rewrite::text_with_documents(br#"see s:5:"x";"#, 0..12, &mut Double, &how, &mut tally).is_none());
/// ```
pub fn text_with_documents(
    text: &[u8],
    part: Range<usize>,
    change: &mut dyn Change,
    options: &Rewriting,
    tally: &mut Tally,
) -> Option<Edits> {
    let known = text.get(..part.end)?;
    let mut rewriter = StringRewriter::new(change, options, tally);
    let EmbeddedData::Documents(format, documents) = embedded::find_embedded(known, part.start, &options.limits) else {
        return None;
    };
    let edits = rewriter.change_around_documents(format, text, part, &documents, 0)?;
    Some(embedded::merge_documents(known, &documents, &edits))
}

/// Returns `true` if these changes of a plain text damage something serialized in it: a length, a number, or a text
/// that only looks serialized.
///
/// ```
/// use icecore::rewrite::{Edits, breaks_documents};
/// let (text, mut edits) = (br#"x: s:1:"x";"#, Edits::new());
/// edits.push(0, 1, b"yz");
/// assert!(!breaks_documents(text, &edits));
/// edits.push(8, 9, b"yz");
/// assert!(breaks_documents(text, &edits));
/// ```
pub fn breaks_documents(text: &[u8], edits: &Edits) -> bool {
    embedded::breaks_documents(text, edits, &Limits::default())
}

/// Returns `true` if something serialized begins in a text and may end after it: then the text that follows begins
/// inside a value, and [`touches_marks`] tells which changes damage it.
///
/// ```
/// use icecore::rewrite::is_cut_off;
/// assert!(is_cut_off(br#"see a:2:{i:0;s:3:"ol"#));
/// assert!(!is_cut_off(br#"see a:1:{i:0;s:3:"old";} there"#));
/// ```
pub fn is_cut_off(text: &[u8]) -> bool {
    partial::is_cut_off(text, &Limits::default())
}

/// Returns the offset of the beginning of a serialized value, such as `a:1:` or `s:12:"`, if this place of a text is
/// inside of it.
///
/// ```
/// assert_eq!(icecore::rewrite::find_head_across(br#"see s:3:"old";"#, 6), Some(4));
/// assert_eq!(icecore::rewrite::find_head_across(br#"see s:3:"old";"#, 3), None);
/// ```
pub fn find_head_across(text: &[u8], place: usize) -> Option<usize> {
    partial::find_head_across(text, place)
}

/// Returns `true` if one of these changes touches a number, a quote or a bracket of a serialized value in which the
/// text begins. A change that covers a whole document counts. Lengths of strings that began before the text are not
/// checked.
///
/// ```
/// use icecore::rewrite::{Edits, touches_marks};
/// let (text, mut edits) = (br#"d";i:1;s:3:"old";} old"#, Edits::new());
/// edits.push(19, 22, b"new");
/// assert!(!touches_marks(text, &edits));
/// edits = Edits::new();
/// edits.push(5, 6, b"2");
/// assert!(touches_marks(text, &edits));
/// ```
pub fn touches_marks(text: &[u8], edits: &Edits) -> bool {
    partial::touches_marks(text, edits)
}

/// Returns the strings of `serialize()` that begin in a text, in any quoting: the range includes the bytes that the
/// length counts, and the last quote. It may end after the text. If the end is not certain, the range is too long
/// rather than too short.
///
/// ```
/// let text = br#"see s:3:\"old\"; and s:2:"ab";"#;
/// let found: Vec<_> = icecore::rewrite::serialized_strings(text).collect();
/// assert_eq!(found, [10..15, 26..29]);
/// ```
pub fn serialized_strings(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    serialized::find_strings(text).map(|string| string.range)
}
