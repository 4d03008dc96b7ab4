//! Checks whether the output equals the input.
//!
//! Differences that a program in the language can't see don't count: the order of a hash in Perl, or whether ASCII is
//! text or bytes. Differences that it hardly sees make a result *alike*: a number that became its text in Perl. With
//! any other difference, the result *differs*. Differences are counted by kind, and reported with the first path.

use crate::model::Fidelity;
use icecore::{Cursor, Document, Key, Kind, value::Comparison};
use std::collections::HashMap;

/// How a language compares values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparisonRules {
    /// Whether maps have no order.
    pub unordered: bool,
    /// Whether a number and its text are equal to a program.
    pub loose_numbers: bool,
    /// Whether a string consists of characters, however it is stored. Bytes are then read as Latin-1.
    pub characters: bool,
}

impl ComparisonRules {
    /// Returns the rules of the language whose runners use this reference format.
    pub fn from_reference(reference: &str) -> ComparisonRules {
        let is_perl = reference == "storable";
        ComparisonRules {
            unordered: is_perl || reference.starts_with("json"),
            loose_numbers: is_perl,
            characters: is_perl,
        }
    }
}

/// Compares the output with the input.
pub fn check_fidelity(expected: &Document<'_>, found: &Document<'_>, rules: ComparisonRules) -> Fidelity {
    let mut comparison = Comparison::new().any_ascii();
    if rules.unordered {
        comparison = comparison.any_order();
    }
    if comparison.equal(expected, found) {
        return Fidelity::Exact;
    }
    let mut walk = DocumentWalk { rules, stack: Vec::new(), shared: HashMap::new(), differences: Vec::new() };
    walk.compare_pair(expected.root(), found.root());
    while let Some((expected, found)) = walk.stack.pop() {
        walk.compare_pair(expected, found);
    }
    walk.into_fidelity()
}

/// How much a difference matters to a program in the language.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Severity {
    /// A program hardly notices it, so the documents are alike.
    Slight,
    /// The documents differ.
    Real,
}

/// A kind of difference.
struct CountedDifference {
    description: &'static str,
    count: u64,
    path: String,
    severity: Severity,
}

/// A walk through both documents, with the differences that it found.
struct DocumentWalk<'d> {
    rules: ComparisonRules,
    stack: Vec<(Cursor<'d>, Cursor<'d>)>,
    /// For each container, by its index in the expected document, its index in the found document.
    shared: HashMap<u32, u32>,
    differences: Vec<CountedDifference>,
}

impl<'d> DocumentWalk<'d> {
    fn into_fidelity(self) -> Fidelity {
        let are_all_slight = self.differences.iter().all(|difference| difference.severity == Severity::Slight);
        let describe = |difference: &CountedDifference| match difference.count {
            1 => format!("{}, at {}", difference.description, difference.path),
            count => format!("{}, {count} times, first at {}", difference.description, difference.path),
        };
        let differences: Vec<String> = self.differences.iter().map(describe).collect();
        match (differences.is_empty(), are_all_slight) {
            (true, _) => Fidelity::Exact,
            (_, true) => Fidelity::Alike { differences },
            _ => Fidelity::Differs { differences },
        }
    }

    fn record_difference(&mut self, description: &'static str, severity: Severity, cursor: Cursor<'d>) {
        match self.differences.iter_mut().find(|difference| difference.description == description) {
            Some(difference) => difference.count += 1,
            None => self.differences.push(CountedDifference { description, count: 1, path: cursor.path(), severity }),
        }
    }

    fn compare_pair(&mut self, expected: Cursor<'d>, found: Cursor<'d>) {
        let is_link = |cursor: Cursor<'_>| cursor.kind().is_again();
        let (expected_target, found_target) = (expected.target(), found.target());
        if expected_target.kind().is_container() {
            match (is_link(expected), is_link(found)) {
                (true, true) => {
                    if self.shared.get(&expected_target.index()).is_some_and(|index| *index != found_target.index()) {
                        self.record_difference("other values came back shared", Severity::Real, expected);
                    }
                    return;
                }
                (true, false) => {
                    return self.record_difference("shared values came back as copies", Severity::Real, expected);
                }
                (false, true) => {
                    return self.record_difference("separate values came back shared", Severity::Real, expected);
                }
                (false, false) => {
                    self.shared.insert(expected_target.index(), found_target.index());
                }
            }
        }
        self.compare_values(expected_target, found_target);
    }

    fn compare_values(&mut self, expected: Cursor<'d>, found: Cursor<'d>) {
        match (expected.kind(), found.kind()) {
            (Kind::Array, Kind::Array) => self.compare_items(expected, found),
            (Kind::Map, Kind::Map) => self.compare_entries(expected, found),
            (Kind::Object, Kind::Object) => {
                if expected.class() != found.class() {
                    self.record_difference("objects came back with another class", Severity::Real, expected);
                }
                self.stack.push((expected.body(), found.body()));
            }
            (Kind::Object, Kind::Map | Kind::Array) => {
                self.record_difference("objects came back without their class", Severity::Real, expected)
            }
            (Kind::Map, Kind::Array) | (Kind::Array, Kind::Map) => {
                let are_empty = expected.is_empty() && found.is_empty();
                let severity = if are_empty { Severity::Slight } else { Severity::Real };
                self.record_difference("maps and lists came back as each other", severity, expected);
            }
            (a, b) if a.is_container() && a == b => self.compare_children(expected, found),
            (a, b) if a.is_container() || b.is_container() => {
                self.record_difference("values came back as something else", Severity::Real, expected)
            }
            _ => self.compare_leaves(expected, found),
        }
    }

    fn compare_items(&mut self, expected: Cursor<'d>, found: Cursor<'d>) {
        if expected.len() != found.len() {
            self.record_difference("lists came back with another length", Severity::Real, expected);
        }
        self.push_pairs(expected.items().zip(found.items()));
    }

    fn compare_children(&mut self, expected: Cursor<'d>, found: Cursor<'d>) {
        if expected.len() != found.len() {
            self.record_difference("values came back as something else", Severity::Real, expected);
        }
        self.push_pairs(expected.children().zip(found.children()));
    }

    /// Pushes pairs in reverse order. So the first pair is compared first, and the first path is reported.
    fn push_pairs(&mut self, pairs: impl Iterator<Item = (Cursor<'d>, Cursor<'d>)>) {
        let start = self.stack.len();
        self.stack.extend(pairs);
        self.stack[start..].reverse();
    }

    fn compare_entries(&mut self, expected: Cursor<'d>, found: Cursor<'d>) {
        let has_same_order = expected.len() == found.len()
            && expected.entries().zip(found.entries()).all(|((a, _), (b, _))| a.bytes() == b.bytes());
        if has_same_order {
            for ((key, value), (other, found_value)) in expected.entries().zip(found.entries()) {
                self.compare_keys(key, other, value);
                self.stack.push((value, found_value));
            }
            return;
        }
        // If a key occurs twice, the last value counts, as in Perl, PHP and Ruby.
        let found_entries: HashMap<&[u8], (Key<'d>, Cursor<'d>)> =
            found.entries().map(|(key, value)| (key.bytes(), (key, value))).collect();
        let mut matched = 0;
        for (key, value) in expected.entries() {
            match found_entries.get(key.bytes()) {
                Some((other, found_value)) => {
                    matched += 1;
                    self.compare_keys(key, *other, value);
                    self.stack.push((value, *found_value));
                }
                None => self.record_difference("entries of maps did not come back", Severity::Real, value),
            }
        }
        if matched < found_entries.len() {
            self.record_difference("maps came back with more entries", Severity::Real, expected);
        } else if !self.rules.unordered {
            self.record_difference("entries of maps came back in another order", Severity::Slight, expected);
        }
    }

    fn compare_keys(&mut self, expected: Key<'d>, found: Key<'d>, cursor: Cursor<'d>) {
        let is_symbol = |key: Key<'_>| key.node().kind == Kind::Symbol;
        if is_symbol(expected) != is_symbol(found) {
            self.record_difference("keys came back as symbols or as strings", Severity::Real, cursor);
        }
    }

    fn compare_leaves(&mut self, expected: Cursor<'d>, found: Cursor<'d>) {
        if let (Some(expected_scalar), Some(found_scalar)) = (Scalar::from_cursor(expected), Scalar::from_cursor(found))
        {
            return self.compare_scalars(expected_scalar, found_scalar, expected);
        }
        let is_either = |kind| expected.kind() == kind || found.kind() == kind;
        if is_either(Kind::Symbol) {
            let is_same = expected.as_bytes() == found.as_bytes();
            let description = if is_same { "symbols came back as strings" } else { "values changed" };
            self.record_difference(description, Severity::Real, expected);
        } else if is_either(Kind::Bool) || is_either(Kind::Null) || expected.as_bytes() != found.as_bytes() {
            self.record_difference("values came back as something else", Severity::Real, expected);
        } else if expected.kind() != found.kind() {
            self.record_difference("strings came back with another encoding", Severity::Real, expected);
        } else if expected.node().payload != found.node().payload && expected.as_bytes().is_none() {
            self.record_difference("values changed", Severity::Real, expected);
        }
    }

    fn compare_scalars(&mut self, expected: Scalar<'d>, found: Scalar<'d>, cursor: Cursor<'d>) {
        use Scalar::{Bytes, Float, Int, Text};
        let severity = if self.rules.loose_numbers { Severity::Slight } else { Severity::Real };
        match (expected, found) {
            (Int(a), Int(b)) if a == b => {}
            (Float(a), Float(b)) if a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) => {}
            (Float(a), Float(b)) if a == b => {
                self.record_difference("zeros came back with another sign", Severity::Slight, cursor)
            }
            (Float(a), Float(b)) if ((a - b) / a).abs() < 1e-12 => {
                self.record_difference("floats came back with fewer digits", severity, cursor)
            }
            (Int(a), Float(b)) | (Float(b), Int(a)) if a as f64 == b && b as i128 == a => {
                self.record_difference("integers and floats came back as each other", severity, cursor);
            }
            (Int(a), Bytes(b) | Text(b)) if a.to_string().as_bytes() == b => {
                self.record_difference("numbers came back as text", severity, cursor);
            }
            (Bytes(b) | Text(b), Int(a)) if a.to_string().as_bytes() == b => {
                self.record_difference("text came back as numbers", severity, cursor);
            }
            (Float(a), Bytes(b) | Text(b)) | (Bytes(b) | Text(b), Float(a)) if is_text_of_number(b, a) => {
                self.record_difference("numbers and text came back as each other", severity, cursor);
            }
            (Bytes(a), Bytes(b)) | (Text(a), Text(b)) if a == b => {}
            (Bytes(a), Text(b)) | (Text(b), Bytes(a)) => match () {
                () if a == b && a.is_ascii() => {}
                () if self.rules.characters && is_latin1_of_text(a, b) => {}
                () if a == b => {
                    self.record_difference("text and bytes came back as each other", Severity::Real, cursor)
                }
                () => self.record_difference("values changed", Severity::Real, cursor),
            },
            _ => self.record_difference("values changed", Severity::Real, cursor),
        }
    }
}

/// A number or a string.
#[derive(Clone, Copy)]
enum Scalar<'d> {
    Int(i128),
    Float(f64),
    Bytes(&'d [u8]),
    Text(&'d [u8]),
}

impl<'d> Scalar<'d> {
    fn from_cursor(cursor: Cursor<'d>) -> Option<Scalar<'d>> {
        Some(match cursor.value() {
            icecore::Value::Int(value) => Scalar::Int(value.into()),
            icecore::Value::Uint(value) => Scalar::Int(value.into()),
            icecore::Value::Float(value) => Scalar::Float(value),
            icecore::Value::Bytes(bytes) => Scalar::Bytes(bytes),
            icecore::Value::Text(bytes) => Scalar::Text(bytes),
            _ => return None,
        })
    }
}

/// Returns true if a text is this number, within the digits that Perl prints.
fn is_text_of_number(text: &[u8], number: f64) -> bool {
    let parsed = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    parsed.is_some_and(|parsed| parsed == number || ((parsed - number) / number).abs() < 1e-14)
}

/// Returns true if these bytes, read as Latin-1, are this text.
fn is_latin1_of_text(bytes: &[u8], text: &[u8]) -> bool {
    std::str::from_utf8(text)
        .is_ok_and(|text| text.chars().map(u32::from).eq(bytes.iter().map(|byte| u32::from(*byte))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(expected: &str, found: &str, reference: &str) -> Fidelity {
        let read = |text: &str| {
            let stage = icecore::Stage::parse("json:typed").expect("a stage");
            let document = icecore::read_as(text.as_bytes(), &stage, &icecore::Limits::new());
            document.expect("it is read").into_owned()
        };
        check_fidelity(&read(expected), &read(found), ComparisonRules::from_reference(reference))
    }

    fn words(fidelity: Fidelity) -> String {
        match fidelity {
            Fidelity::Exact => "exact".to_owned(),
            Fidelity::Alike { differences } => format!("alike: {}", differences.join("; ")),
            Fidelity::Differs { differences } => format!("differs: {}", differences.join("; ")),
            Fidelity::Unchecked => "unchecked".to_owned(),
        }
    }

    #[test]
    fn differences_invisible_to_a_language_are_ignored() {
        assert_eq!(compare(r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#, "storable"), Fidelity::Exact);
        assert_eq!(
            words(compare(r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#, "php")),
            "alike: entries of maps came back in another order, at $"
        );
    }

    #[test]
    fn only_perl_treats_numbers_as_text_as_alike() {
        let (expected, found) = ("[1,2,3]", r#"["1","2","3"]"#);
        assert_eq!(
            words(compare(expected, found, "storable")),
            "alike: numbers came back as text, 3 times, first at $[0]"
        );
        assert!(matches!(compare(expected, found, "marshal"), Fidelity::Differs { .. }));
        assert!(matches!(compare("[1]", r#"["01"]"#, "storable"), Fidelity::Differs { .. }));
    }

    #[test]
    fn differences_are_described() {
        for (expected, found, difference) in [
            (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, "differs: entries of maps did not come back, at $.b"),
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, "differs: maps came back with more entries, at $"),
            ("[1,2]", "[1]", "differs: lists came back with another length, at $"),
            ("[[1]]", "[1]", "differs: values came back as something else, at $[0]"),
            ("[1]", "[2]", "differs: values changed, at $[0]"),
            ("[null]", r#"[""]"#, "differs: values came back as something else, at $[0]"),
            ("[true]", "[1]", "differs: values came back as something else, at $[0]"),
            ("[true]", "[false]", "differs: values came back as something else, at $[0]"),
            (r#"["é"]"#, r#"["Ã©"]"#, "differs: values changed, at $[0]"),
            ("[]", "{}", "alike: maps and lists came back as each other, at $"),
        ] {
            assert_eq!(words(compare(expected, found, "storable")), difference, "{expected} {found}");
        }
    }

    #[test]
    fn deep_values_need_no_deep_stack() {
        let deep = |leaf: &str| format!("{}{leaf}{}", "[".repeat(9000), "]".repeat(9000));
        let compared = compare(&deep("1"), &deep("2"), "storable");
        assert!(words(compared).starts_with("differs: values changed, at $[0][0]"));
    }
}
