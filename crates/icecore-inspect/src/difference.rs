//! Differences between two documents, with paths and short descriptions.

use crate::describe::describe_value;
use icecore::value::Comparison;
use icecore::{Cursor, Document};
use icecore_diff::{ChangeKind, Rules};
use serde::Serialize;

/// Maximum number of characters of a string that are shown.
const MAX_CHARACTERS: usize = 200;
/// Maximum number of bytes of a path.
const MAX_PATH_LENGTH: usize = 1_000;

/// One difference.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// `added`, `removed`, `changed`, `moved`.
    pub what: &'static str,
    /// The path in the first document. An added value is only in the second document, so this is its path there.
    pub path: String,
    /// The path in the second document, if the value was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The value in the first document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<ValueSummary>,
    /// The value in the second document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<ValueSummary>,
}

/// A short description of a value.
#[derive(Debug, Serialize)]
pub struct ValueSummary {
    /// Type of the value.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Class of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Its content, or its number of children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Node of the value.
    pub node: u32,
}

/// The differences between two documents.
#[derive(Debug, Serialize)]
pub struct Differences {
    /// Whether the documents are equal in everything that a program can distinguish.
    pub is_equal: bool,
    /// The first differences.
    pub differences: Vec<Difference>,
    /// Total number of differences.
    pub count: u64,
    /// Whether everything was compared; always `true`.
    pub is_whole: bool,
}

/// Compares two documents by the default rules of [`icecore_diff`]: maps by key, lists by their contents. Links are
/// followed; sharing, the order of keys, and whether a string is marked as text are ignored here, but not in
/// [`Differences::is_equal`].
///
/// ```
/// let a = icecore::read(br#"{"to": "ann", "n": [1, 2]}"#)?;
/// let b = icecore::read(br#"{"to": "bob", "n": [1], "x": null}"#)?;
/// let result = icecore_inspect::find_differences(&a, &b, 10);
/// let changes: Vec<_> = result.differences.iter().map(|difference| (difference.what, &*difference.path)).collect();
/// assert_eq!(changes, [("changed", "$.to"), ("removed", "$.n[1]"), ("added", "$.x")]);
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn find_differences(left: &Document<'_>, right: &Document<'_>, max_count: usize) -> Differences {
    let all_differences = icecore_diff::find_differences(left, right, Rules::new());
    let shorten = |path: String| icecore::text::shortened(&path, MAX_PATH_LENGTH).into_owned();
    let paths = all_differences.list_paths().into_iter().zip(all_differences.list_new_paths());
    let to_difference = |(change, (path, new_path)): (&icecore_diff::Change<'_>, (String, String))| Difference {
        what: match change.kind {
            ChangeKind::Class => "changed",
            kind => kind.as_str(),
        },
        path: shorten(path),
        to: (change.kind == ChangeKind::Moved).then(|| shorten(new_path)),
        left: change.left.map(ValueSummary::from_cursor),
        right: change.right.map(ValueSummary::from_cursor),
    };
    let mut differences: Vec<Difference> =
        all_differences.changes().iter().zip(paths).take(max_count).map(to_difference).collect();
    let mut count = all_differences.changes().len() as u64;
    if all_differences.has_other_header() {
        count += 1;
        if differences.len() < max_count {
            let (left, right) =
                (left.header().map(ValueSummary::from_cursor), right.header().map(ValueSummary::from_cursor));
            differences.push(Difference { what: "changed", path: "the header".to_owned(), to: None, left, right });
        }
    }
    let is_equal = count == 0 && Comparison::new().equal(left, right);
    Differences { is_equal, differences, count, is_whole: true }
}

impl ValueSummary {
    fn from_cursor(cursor: Cursor<'_>) -> ValueSummary {
        let description = describe_value(cursor.document(), cursor.index(), MAX_CHARACTERS);
        ValueSummary {
            kind: description.kind,
            class: description.class,
            text: description.value.map(|(_, text)| text),
            node: cursor.index(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icecore::{Limits, Stage};

    fn read<'b>(format: &str, bytes: &'b [u8]) -> Document<'b> {
        icecore::read_as(bytes, &Stage::parse(format).expect("a format"), &Limits::new()).expect("a document")
    }

    fn list_differences(left: &Document<'_>, right: &Document<'_>) -> Vec<String> {
        let found = find_differences(left, right, 100);
        assert!(found.is_whole);
        assert_eq!(found.count, found.differences.len() as u64);
        found.differences.iter().map(|difference| format!("{} {}", difference.what, difference.path)).collect()
    }

    #[test]
    fn changes_of_lists_maps_and_classes_are_listed() {
        let left = read("php", b"O:1:\"A\":2:{s:1:\"a\";a:2:{i:0;i:1;i:1;i:2;}s:1:\"b\";N;}");
        let right = read("php", b"O:1:\"B\":2:{s:1:\"a\";a:3:{i:0;i:1;i:1;d:2.5;i:2;i:3;}s:1:\"c\";N;}");
        assert_eq!(list_differences(&left, &right), ["changed $", "added $.a[1]", "changed $.a[1]", "moved $.b"]);
        assert_eq!(list_differences(&left, &left), [""; 0]);
        assert!(find_differences(&left, &left, 1).is_equal);
    }

    #[test]
    fn equal_values_of_two_formats_do_not_differ() {
        let json = read("json", br#"{"to":"ann","list":[1,2.5,null,true]}"#);
        let marshal = icecore::convert(br#"{"list":[1,2.5,null,true],"to":"ann"}"#, "json", "marshal");
        let marshal = marshal.expect("Marshal");
        let ruby = read("marshal", &marshal);
        assert_eq!(list_differences(&json, &ruby), [""; 0]);
        assert!(!find_differences(&json, &ruby, 1).is_equal, "the order differs");
    }

    #[test]
    fn comparing_cycles_ends() {
        let cycle = read("php", b"a:1:{i:0;R:1;}");
        let longer = read("php", b"a:1:{i:0;a:1:{i:0;R:1;}}");
        assert!(find_differences(&cycle, &longer, 10).is_whole);
        // Two cycles of different lengths have equal values at each path, but they are not the same document.
        let ring = |length: usize| {
            let text = format!("{}R:1;{}", "a:1:{i:0;".repeat(length), "}".repeat(length));
            text.into_bytes()
        };
        let (short, long) = (ring(89), ring(97));
        let found = find_differences(&read("php", &short), &read("php", &long), 10);
        assert_eq!((found.count, found.is_whole, found.is_equal), (0, true, false));
    }
}
