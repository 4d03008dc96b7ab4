//! Compares a document with the one that was written and read again, place by place: each change
//! must be reported as a loss at its path, and each loss must be a change.

use icecore::{Cursor, Document, Key, Kind, LossKind, Losses, Value, raw::flag, value::Form};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a language can distinguish, if that is less than a document can represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Perl,
    Php,
    Ruby,
    Json,
    /// `json:typed`, which represents everything.
    All,
}

pub struct Comparison<'d> {
    language: Language,
    before: &'d Document<'d>,
    /// Reported losses that are not matched yet: how often each kind remains at each path.
    losses: BTreeMap<(&'static str, String), u64>,
    /// Losses of each kind that are counted, but have no path.
    unplaced: BTreeMap<&'static str, u64>,
    /// Paths of locked keys whose map is not restricted any more.
    locked: HashSet<String>,
    /// Losses that may also be reported, with their paths.
    optional: Vec<(LossKind, String)>,
    /// Paths of values whose content is not compared.
    vanished: Vec<String>,
    findings: Vec<String>,
}

/// Returns the changes that no loss reports, and the losses that report no change.
pub fn compare(language: Language, before: &Document<'_>, after: &Document<'_>, losses: &Losses) -> Vec<String> {
    let mut remaining = BTreeMap::new();
    let mut unplaced = BTreeMap::new();
    for loss in losses.iter() {
        unplaced.insert(loss.kind.as_str(), loss.count - 1 - loss.more.len() as u64);
        for path in std::iter::once(&loss.path).chain(&loss.more) {
            *remaining.entry((loss.kind.as_str(), strip_member_marks(path))).or_default() += 1;
        }
    }
    let mut comparison = Comparison {
        language,
        before,
        losses: remaining,
        unplaced,
        locked: HashSet::new(),
        optional: Vec::new(),
        vanished: Vec::new(),
        findings: Vec::new(),
    };
    comparison.value(before.root(), after.root(), Location::default());
    // Required losses were matched first, because two entries may have the same path.
    for (kind, path) in std::mem::take(&mut comparison.optional) {
        comparison.use_up_loss(kind, path);
    }
    let Comparison { mut findings, losses, unplaced, locked, vanished, .. } = comparison;
    for (kind, count) in unplaced.into_iter().filter(|(_, count)| *count > 0) {
        findings.push(format!("$: {count} times *{kind}*, counted without a path, but nothing differs"));
    }
    let is_below = |path: &str| vanished.iter().any(|above| path.starts_with(above));
    // Writers report these before they know what they leave out.
    let is_left = |kind: &str, path: &String| match kind {
        "restricted" => !locked.contains(path),
        "duplicate-key" | "visibility" => !is_below(path),
        _ => true,
    };
    let remaining = losses.into_iter().filter(|((kind, path), count)| *count > 0 && is_left(kind, path));
    for ((kind, path), count) in remaining {
        findings.push(format!("{path}: {count} times *{kind}*, but nothing differs"));
    }
    findings
}

/// Returns a path without the marks of members, which targets write differently.
fn strip_member_marks(path: &str) -> String {
    let path = path.replace("[\"", ".").replace("\"]", "").replace(".@", ".");
    path.replace(":protected", "").replace(":App\\User:private", "").replace(":App::User:private", "")
}

/// The position of a value.
#[derive(Clone, Copy, Default)]
struct Location {
    /// `true` if the value is the body of an object.
    is_body: bool,
}

impl<'d> Comparison<'d> {
    fn path(&self, cursor: Cursor<'_>) -> String {
        strip_member_marks(&self.before.path(cursor.index()))
    }

    /// Uses up a loss of this kind at this path, if there is one.
    fn use_up_loss(&mut self, kind: LossKind, path: String) -> bool {
        match self.losses.get_mut(&(kind.as_str(), path)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            // A key that is written a second time is only counted, without a path.
            _ => match self.unplaced.get_mut(kind.as_str()) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    true
                }
                _ => false,
            },
        }
    }

    /// Requires that a difference is reported as a loss of one of these kinds.
    fn require_loss(&mut self, kinds: &[LossKind], cursor: Cursor<'_>, what: &str) -> bool {
        if kinds.iter().any(|kind| self.use_up_loss(*kind, self.path(cursor))) {
            return true;
        }
        let expected_kinds: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
        self.findings.push(format!("{}: {what}; no *{}*", self.path(cursor), expected_kinds.join("* or *")));
        false
    }

    /// Allows a loss of this kind here.
    fn may_differ(&mut self, kind: LossKind, cursor: Cursor<'_>) {
        self.optional.push((kind, self.path(cursor)));
    }

    /// Notes that the parts from this one on are gone, with every loss inside them.
    fn note_vanished_parts(&mut self, a: Cursor<'_>, from: usize) {
        for part in a.children().skip(from) {
            let path = self.path(part);
            self.vanished.push(path);
        }
    }

    fn report_finding(&mut self, cursor: Cursor<'_>, what: &str) {
        self.findings.push(format!("{}: {what}", self.path(cursor)));
    }

    fn report_changed_value(&mut self, a: Cursor<'_>, b: Cursor<'_>) {
        self.report_finding(a, &format!("{:?} became {:?}", a.value(), b.value()));
    }

    fn value(&mut self, a: Cursor<'_>, mut b: Cursor<'_>, place: Location) {
        // Stored once, but a separate value.
        while let Value::Copy(target) = b.value() {
            b = target;
        }
        let (x, y) = (*a.node(), *b.node());
        let is_marked = x.kind.is_container() || x.kind == Kind::Link;
        for (bit, kind) in [(flag::WEAK, LossKind::Weak), (flag::OVERLOAD, LossKind::Overload)] {
            match (is_marked && x.has(bit), y.kind.is_container() && y.has(bit)) {
                (true, false) => drop(self.require_loss(&[kind], a, "a mark is gone")),
                (false, true) => self.report_finding(a, "a mark came from nowhere"),
                _ => {}
            }
        }
        match a.value() {
            Value::Array => self.compare_arrays(a, b, place),
            Value::Map => self.compare_maps(a, b, place),
            Value::Ref(inner) => match b.value() {
                Value::Ref(other) => self.value(inner, other, Location::default()),
                _ => {
                    self.require_loss(&[LossKind::Reference], a, "a reference is gone");
                    self.value(inner, b, place);
                }
            },
            Value::Object(class, body) => self.compare_objects(class, body, a, b),
            Value::Opaque(class, payload) => self.compare_opaque_values(class, payload, a, b),
            Value::Attrs(inner) => self.compare_attributes(inner, a, b, place),
            Value::Regexp(pattern, flags) => self.compare_regexps(pattern, flags, a, b),
            Value::Code(source) => match b.value() {
                Value::Code(other) if other.as_bytes() == source.as_bytes() => {}
                _ => drop(self.require_loss(&[LossKind::Code], a, "code is gone")),
            },
            Value::VString(_, value) => match b.value() {
                Value::VString(..) => {
                    for (one, other) in a.children().zip(b.children()) {
                        self.value(one, other, Location::default());
                    }
                }
                _ => {
                    self.require_loss(&[LossKind::VString], a, "a v-string is gone");
                    self.value(value, b, place);
                }
            },
            Value::Tied(inner) => match b.kind() {
                Kind::Tied if x.form() == y.form() && a.len() == b.len() => {
                    for (one, other) in a.children().zip(b.children()) {
                        self.value(one, other, Location::default());
                    }
                }
                _ => {
                    self.require_loss(&[LossKind::Tied], a, "a tied variable is gone");
                    self.value(inner, b, Location::default());
                }
            },
            _ => self.compare_leaves(a, b),
        }
    }

    // -- Leaves ------------------------------------------------------------

    fn compare_leaves(&mut self, a: Cursor<'_>, b: Cursor<'_>) {
        use LossKind as L;
        match (a.value(), b.value()) {
            (Value::Null, Value::Null) | (Value::Hole, Value::Hole) => {}
            (Value::Hole, Value::Null) => drop(self.require_loss(&[L::Hole], a, "a hole became null")),
            (Value::Bool(x), Value::Bool(y)) if x == y => {}
            (Value::Bool(x), Value::Int(y)) if i64::from(x) == y => {
                self.require_loss(&[L::Bool], a, "a boolean became a number");
            }
            (Value::Bool(x), Value::Bytes(text)) if text == if x { &b"1"[..] } else { b"" } => {
                self.require_loss(&[L::Bool], a, "a boolean became a string");
            }
            (Value::Int(x), Value::Int(y)) if x == y => {}
            (Value::Uint(x), Value::Uint(y)) if x == y => {}
            (Value::BigInt(x), Value::BigInt(y)) if (x.negative, x.magnitude) == (y.negative, y.magnitude) => {}
            (Value::Int(x), _) if b.as_bytes() == Some(x.to_string().as_bytes()) => {
                self.require_loss(&[L::Quoted], a, "a number became a string");
            }
            (Value::Uint(x), _) if b.as_bytes() == Some(x.to_string().as_bytes()) => {
                let kind = if self.language == Language::Php { L::BigInt } else { L::Quoted };
                self.require_loss(&[kind], a, "a number became a string");
            }
            (Value::BigInt(x), _) if b.as_bytes().is_some() => {
                let mut text = Vec::new();
                icecore::num::bigint::push_decimal(x.negative, x.magnitude, &mut text);
                match b.as_bytes() == Some(&text) {
                    true => drop(self.require_loss(&[L::BigInt], a, "a number became a string")),
                    false => self.report_changed_value(a, b),
                }
            }
            (Value::Bytes(x) | Value::Text(x), Value::Int(y)) if x == y.to_string().as_bytes() => {
                self.require_loss(&[L::Unquoted], a, "a string became a number");
            }
            (Value::Encoded(x, _), Value::Int(y)) if x == y.to_string().as_bytes() => {
                self.require_loss(&[L::Encoding], a, "a string in an encoding became a number");
                self.require_loss(&[L::Unquoted], a, "a string became a number");
            }
            (Value::Symbol(x, _), Value::Int(y)) if x == y.to_string().as_bytes() => {
                self.require_loss(&[L::Symbol], a, "a symbol became a number");
                self.require_loss(&[L::Unquoted], a, "a string became a number");
            }
            (Value::Float(x), _) => self.compare_floats(x, a, b),
            (Value::Float128(x), Value::Float128(y)) if x == y => {
                // The text or the bytes have the number; most perls can't represent it.
                if self.language == Language::Perl {
                    self.may_differ(L::Precision, a);
                }
            }
            (Value::Float128(x), Value::Float128(y))
                if icecore::num::float128::to_x87(&x) == icecore::num::float128::to_x87(&y) =>
            {
                self.require_loss(&[L::Precision], a, "digits are gone");
            }
            (Value::Float128(x), _) if icecore::num::float128::to_f64(&x).is_nan() => {
                self.compare_floats(f64::NAN, a, b);
                // The NaN may have bits that are lost.
                self.may_differ(L::Precision, a);
            }
            (Value::Float128(x), _) => match icecore::num::float128::to_f64_exact(&x) {
                Some(exact) => self.compare_floats(exact, a, b),
                None => {
                    self.require_loss(&[L::Precision], a, "digits are gone");
                    let near = icecore::num::float128::to_f64(&x);
                    match b.value() {
                        Value::Float(y) if y.to_bits() == near.to_bits() || y.is_nan() && near.is_nan() => {}
                        _ => self.float_otherwise(near, true, a, b),
                    }
                }
            },
            (Value::Bytes(x) | Value::Text(x), Value::Bytes(y) | Value::Text(y)) => self.compare_strings(x, y, a, b),
            (Value::Encoded(x, e), Value::Encoded(y, f)) if x == y && e == f => {}
            (Value::Symbol(x, e), Value::Symbol(y, f)) if x == y && (e == f || x.is_ascii()) => {}
            (Value::Encoded(x, e), Value::Bytes(y) | Value::Text(y)) => {
                self.require_loss(&[L::Encoding], a, "an encoding is gone");
                if self.language != Language::Json {
                    return self.same_characters(x, y, a, b);
                }
                match icecore::encoding::decoded(std::str::from_utf8(e).unwrap_or_default(), x) {
                    Some(text) if text.as_bytes() == y => {}
                    Some(_) => self.report_finding(a, "other characters"),
                    None => {
                        self.require_loss(&[L::Undecoded], a, "an encoding is not known");
                        self.same_characters(x, y, a, b);
                    }
                }
            }
            (Value::Symbol(x, e), Value::Bytes(y) | Value::Text(y)) => {
                self.require_loss(&[L::Symbol], a, "a symbol became a string");
                let text =
                    (!e.is_empty()).then(|| icecore::encoding::decoded(std::str::from_utf8(e).unwrap_or_default(), x));
                if self.language == Language::Json && text.flatten().is_some_and(|text| text.as_bytes() == y) {
                    return;
                }
                self.same_characters(x, y, a, b);
            }
            (Value::Module(x, f), Value::Module(y, g)) if x == y && f == g => {}
            (Value::EnumCase(x), Value::EnumCase(y)) if x == y => {}
            (Value::Module(x, _) | Value::EnumCase(x), Value::Bytes(y) | Value::Text(y)) if x == y => {
                self.require_loss(&[L::Name], a, "a name became a string");
            }
            _ => self.report_changed_value(a, b),
        }
    }

    fn compare_floats(&mut self, x: f64, a: Cursor<'_>, b: Cursor<'_>) {
        match b.value() {
            Value::Float(y) if x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan() => {}
            Value::Float128(y) if icecore::num::float128::to_f64_exact(&y).map(f64::to_bits) == Some(x.to_bits()) => {}
            _ => self.float_otherwise(x, false, a, b),
        }
    }

    /// Compares a float that is no longer a float.
    ///
    /// `is_reported` is `true` if lost digits were already reported.
    fn float_otherwise(&mut self, x: f64, is_reported: bool, a: Cursor<'_>, b: Cursor<'_>) {
        use LossKind as L;
        match b.value() {
            Value::Int(y) => {
                self.require_loss(&[L::Integral], a, "a float became an integer");
                if y as f64 != x && !is_reported {
                    self.require_loss(&[L::Precision], a, &format!("{x:?} became {y}"));
                } else if !is_reported && x == 0.0 && x.is_sign_negative() {
                    // The sign may also be reported.
                    self.may_differ(L::Precision, a);
                }
            }
            Value::Null if !x.is_finite() => drop(self.require_loss(&[L::Float], a, "a float became null")),
            Value::Bytes(text) | Value::Text(text) => {
                self.require_loss(&[L::Quoted], a, "a float became a string");
                let text = String::from_utf8_lossy(text).to_lowercase();
                let parsed: Option<f64> = text.trim_start_matches('+').parse().ok();
                if !is_reported
                    && parsed.is_none_or(|parsed| parsed.to_bits() != x.to_bits() && !(parsed.is_nan() && x.is_nan()))
                {
                    self.require_loss(&[L::Precision], a, &format!("{x:?} became {text:?}"));
                }
            }
            _ => self.report_changed_value(a, b),
        }
    }

    fn compare_strings(&mut self, x: &[u8], y: &[u8], a: Cursor<'_>, b: Cursor<'_>) {
        let (of_a, of_b) = (a.kind(), b.kind());
        if x == y && (of_a == of_b || x.is_ascii()) {
            return;
        }
        let is_utf8 = std::str::from_utf8(x).is_ok();
        let is_same = x == y
            && match self.language {
                // Where there are no bytes, UTF-8 bytes are text; where there are only bytes, text is
                // UTF-8.
                Language::Json => is_utf8,
                Language::Php => true,
                _ => false,
            };
        if !is_same {
            self.require_loss(
                &[LossKind::Bytes, LossKind::Text],
                a,
                &format!("{:?} became {:?}", a.value(), b.value()),
            );
        }
    }

    /// Compares a symbol or a similar value with a string of this language.
    fn same_characters(&mut self, x: &[u8], y: &[u8], a: Cursor<'_>, b: Cursor<'_>) {
        let latin1: String = y.iter().map(|byte| char::from(*byte)).collect();
        if x != y && latin1.as_bytes() == x && self.language == Language::Perl {
            self.require_loss(&[LossKind::Text], a, "text became bytes");
        } else if x != y && !(self.language == Language::Json && std::str::from_utf8(x).is_err()) {
            self.report_changed_value(a, b);
        } else if x != y {
            self.require_loss(&[LossKind::Bytes], a, "bytes became text");
        }
    }

    // -- Containers --------------------------------------------------------

    fn compare_arrays(&mut self, a: Cursor<'_>, b: Cursor<'_>, place: Location) {
        let others: Vec<Cursor<'_>> = match b.kind() {
            Kind::Array => b.items().collect(),
            // A list that is the body of an object, in a language whose objects have members.
            Kind::Map if place.is_body => {
                if !a.is_empty() {
                    self.require_loss(&[LossKind::ArrayKind], a, "a list became members");
                }
                b.entries().map(|(_, value)| value).collect()
            }
            Kind::Map => {
                self.require_loss(&[LossKind::ArrayKind], a, "a list became a map");
                b.entries().map(|(_, value)| value).collect()
            }
            _ => return self.report_changed_value(a, b),
        };
        if others.len() != a.len() {
            return self.report_finding(a, &format!("{} items became {}", a.len(), others.len()));
        }
        for (one, other) in a.items().zip(others) {
            self.value(one, other, Location::default());
        }
    }

    fn compare_maps(&mut self, a: Cursor<'_>, b: Cursor<'_>, place: Location) {
        let (x, y) = (*a.node(), *b.node());
        let has = |bit| (x.has(bit), y.kind == Kind::Map && y.has(bit));
        let mut is_restricted = x.has(flag::RESTRICTED);
        if has(flag::RESTRICTED) == (true, false) {
            self.require_loss(&[LossKind::Restricted], a, "a restriction is gone");
        } else if has(flag::RESTRICTED) == (true, true) {
            is_restricted = false;
        }
        let mut is_reported = false;
        for bit in [flag::IDENTITY, flag::DEFAULT] {
            if has(bit) == (true, false) && !is_reported {
                is_reported = self.require_loss(&[LossKind::MapKind], a, "what a map is was dropped");
            }
        }
        if let (Some(one), Some(other)) = (a.default_value(), b.default_value()) {
            self.value(one, other, Location::default());
        }
        let is_absent = |key: &Key<'_>| key.node().has(flag::PLACEHOLDER) && key.node().kind.is_string();
        let keeps_absent = b.kind() == Kind::Map && y.has(flag::RESTRICTED);
        let entries: Vec<_> = a.entries().filter(|(key, _)| keeps_absent || !is_absent(key)).collect();
        let others: Vec<_> = match b.kind() {
            Kind::Map => b.entries().map(|(key, value)| (Some(key), value)).collect(),
            Kind::Array => {
                self.require_loss(&[LossKind::ArrayKind], a, "a map became a list");
                b.items().map(|item| (None, item)).collect()
            }
            _ => return self.report_changed_value(a, b),
        };
        // Sereal's decoder accepts each key once, so only the last one is written.
        let mut entries = entries;
        if self.language == Language::Perl && entries.len() > others.len() {
            let mut kept = Vec::new();
            let mut next: HashMap<String, Cursor<'_>> = HashMap::new();
            for (key, value) in entries.into_iter().rev() {
                match next.insert(perl_text(&key), value) {
                    None => kept.push((key, value)),
                    Some(again) => {
                        self.require_loss(&[LossKind::DuplicateKey], again, "an entry is gone");
                        self.note_vanished_parts(value, 0);
                    }
                }
            }
            kept.reverse();
            entries = kept;
        }
        if entries.len() != others.len() {
            return self.report_finding(a, &format!("{} entries became {}", entries.len(), others.len()));
        }
        let mut known: HashMap<String, ()> = HashMap::new();
        for (position, ((key, value), (other_key, other))) in entries.iter().zip(&others).enumerate() {
            match other_key {
                Some(other_key) => self.compare_keys(key, other_key, *value, place, is_restricted),
                None => self.key_of_list(key, position, *value),
            }
            let is_identity = y.kind == Kind::Map && y.has(flag::IDENTITY);
            if let Some(other_key) = other_key
                && self.language != Language::All
                && !is_absent(other_key)
                && !is_identity
                && known.insert(self.describe_key_identity(other_key, place), ()).is_some()
            {
                self.require_loss(&[LossKind::DuplicateKey], *value, "a key that was there vanishes when it is loaded");
            }
            self.value(*value, *other, Location::default());
        }
    }

    /// Returns the text that distinguishes a key from others in this language.
    fn describe_key_identity(&self, key: &Key<'_>, place: Location) -> String {
        let node = key.node();
        let bytes = key.bytes();
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let characters = match node.kind {
            Kind::Text => text(bytes),
            _ => text(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().as_bytes()),
        };
        match (self.language, node.kind) {
            (_, Kind::Int) if self.language == Language::Php => (node.payload as i64).to_string(),
            (_, Kind::Int) => format!("int {}", node.payload as i64),
            (_, kind) if !kind.is_string() => {
                let mut b = String::new();
                describe(key, &mut b);
                b
            }
            (Language::Perl, _) => characters,
            (Language::Ruby, Kind::Symbol) => format!("symbol {}", text(bytes)),
            (Language::Ruby, _) if bytes.is_ascii() => format!("string {}", text(bytes)),
            (Language::Ruby, kind) => format!("{kind:?} {}", text(bytes)),
            (Language::Php, _) => {
                let _ = place;
                text(bytes)
            }
            (Language::Json, _) => text(bytes),
            (Language::All, kind) => format!("{kind:?} {}", text(bytes)),
        }
    }

    fn key_of_list(&mut self, key: &Key<'_>, position: usize, value: Cursor<'_>) {
        // If the map has the keys of a list, its own loss covers this.
        match key.node().kind {
            Kind::Int if key.node().payload == position as u64 => {}
            kind => self.lost_key(kind, value, "a key became a position"),
        }
    }

    fn lost_key(&mut self, kind: Kind, value: Cursor<'_>, what: &str) {
        let kinds: &[LossKind] = match kind {
            Kind::Symbol => &[LossKind::Symbol],
            Kind::Encoded => &[LossKind::Encoding],
            Kind::Module | Kind::EnumCase => &[LossKind::Name],
            _ => &[LossKind::Key],
        };
        self.require_loss(kinds, value, what);
    }

    fn compare_keys(&mut self, a: &Key<'_>, b: &Key<'_>, value: Cursor<'_>, place: Location, is_restricted: bool) {
        let (x, y) = (a.node(), b.node());
        const MARKS: u8 = flag::LOCKED | flag::PLACEHOLDER;
        if x.kind.is_string() && x.flags & MARKS & !y.flags != 0 && is_restricted {
            // The loss of the map covers this; a writer may also report it here.
            let path = self.path(value);
            self.locked.insert(path);
        } else if x.kind.is_string() && x.flags & MARKS & !y.flags != 0 {
            self.require_loss(&[LossKind::Restricted], value, "a mark of a key is gone");
        }
        if let (Key::Value(one), Key::Value(other)) = (a, b)
            && !x.kind.is_string()
            && x.kind == y.kind
        {
            return self.value(*one, *other, Location::default());
        }
        if x.kind == Kind::Int && y.kind == Kind::Int && x.payload == y.payload {
            return;
        }
        let (of_a, of_b) = (a.bytes(), b.bytes());
        let is_member = place.is_body;
        match (x.kind, y.kind) {
            (Kind::Symbol, Kind::Symbol) if of_a == of_b => {}
            // Each language names members in its own way.
            (_, Kind::Symbol) if is_member && strip_visibility_marks(of_a) == strip_visibility_marks(of_b) => {
                if strip_visibility_marks(of_a).len() < of_a.len() && x.kind != Kind::Symbol {
                    self.require_loss(&[LossKind::Visibility], value, "a visibility is gone");
                }
            }
            (Kind::Symbol, _) if is_member && strip_visibility_marks(of_a) == of_b => {}
            (Kind::Bytes | Kind::Text, Kind::Bytes | Kind::Text) => {
                if of_a == of_b && (x.kind == y.kind || of_a.is_ascii()) {
                    return;
                }
                let is_utf8 = std::str::from_utf8(of_a).is_ok();
                match self.language {
                    Language::Php if of_a == of_b => {}
                    Language::Json if of_a == of_b && is_utf8 => {}
                    _ if is_member && strip_visibility_marks(of_a) == of_b => {
                        self.require_loss(&[LossKind::Visibility], value, "a visibility is gone");
                    }
                    Language::Json => drop(self.require_loss(&[LossKind::Bytes], value, "bytes became text")),
                    _ => drop(self.require_loss(&[LossKind::Text], value, &format!("key {of_a:?} became {of_b:?}"))),
                }
            }
            (Kind::Encoded, Kind::Encoded) if of_a == of_b => {}
            (Kind::Encoded | Kind::Symbol, _) if self.language == Language::Json && text_of(a, value).is_some() => {
                self.lost_key(x.kind, value, &format!("a key became {:?} {}", y.kind, of_b.escape_ascii()));
                if text_of(a, value).is_none_or(|text| text.as_bytes() != of_b) {
                    self.report_finding(value, "a key has other characters");
                }
            }
            (kind, _) => {
                self.lost_key(kind, value, &format!("a key became {:?} {}", y.kind, of_b.escape_ascii()));
                if self.language == Language::Json && kind == Kind::Encoded {
                    self.require_loss(&[LossKind::Undecoded], value, "an encoding of a key is not known");
                }
                if self.language == Language::Json && kind.is_string() && std::str::from_utf8(of_a).is_err() {
                    self.require_loss(&[LossKind::Bytes], value, "bytes of a key became text");
                }
            }
        }
    }

    fn compare_objects(&mut self, class: &[u8], body: Cursor<'_>, a: Cursor<'_>, b: Cursor<'_>) {
        match b.value() {
            Value::Object(other, inner) => {
                if normalize_class_name(class) != normalize_class_name(other) {
                    self.report_finding(a, "another class");
                }
                let (form, other) = (a.node().form(), b.node().form());
                match (form, other) {
                    _ if form == other => {}
                    (Form::Struct, Form::Usual) => drop(self.require_loss(&[LossKind::Struct], a, "a struct is gone")),
                    _ => self.report_finding(a, &format!("{form:?} became {other:?}")),
                }
                self.value(body, inner, Location { is_body: true });
            }
            _ => {
                self.require_loss(&[LossKind::Class], a, "a class is gone");
                self.value(body, b, Location { is_body: true });
            }
        }
    }

    /// Compares the values of a hook with the list that became its payload: the string, the values inside of the
    /// object, and those elsewhere. Returns false if the payload is not such a list.
    fn compare_hook_values(&mut self, a: Cursor<'_>, list: Cursor<'_>) -> bool {
        if a.node().form() != Form::Hook || a.len() <= 2 || list.kind() != Kind::Array {
            return false;
        }
        let own_nodes = a.index()..a.node().end();
        let values = a.children().take(a.len() - 1);
        let is_own_link = |value: &Cursor<'_>| {
            value.kind() == Kind::Link && own_nodes.contains(&u32::try_from(value.node().payload).unwrap_or(u32::MAX))
        };
        let values: Vec<_> = values.filter(|value| !is_own_link(value)).collect();
        if values.len() != list.len() {
            self.report_finding(a, "other values of a hook");
        }
        for (value, item) in values.iter().zip(list.children()) {
            self.value(*value, item, Location::default());
        }
        true
    }

    fn compare_opaque_values(&mut self, class: &[u8], payload: Cursor<'_>, a: Cursor<'_>, b: Cursor<'_>) {
        match b.value() {
            Value::Opaque(other, inner) if a.node().form() == b.node().form() => {
                if normalize_class_name(class) != normalize_class_name(other) || a.len() != b.len() {
                    self.report_finding(a, "another class or other parts");
                }
                self.compare_payloads(payload, inner);
                for (one, other) in a.children().zip(b.children()).skip(1) {
                    self.value(one, other, Location::default());
                }
            }
            Value::Object(other, inner) if normalize_class_name(other) == normalize_class_name(class) => {
                self.require_loss(&[LossKind::Opaque], a, "it is not a frozen object any more");
                if self.compare_hook_values(a, inner) {
                    return;
                }
                let inner = if let Value::Ref(inner) = inner.value() { inner } else { inner };
                let payload = if let Value::Ref(inner) = payload.value() { inner } else { payload };
                self.value(payload, inner, Location::default());
                self.note_vanished_parts(a, 1);
            }
            _ => {
                self.require_loss(&[LossKind::Opaque], a, "it is not a frozen object any more");
                if self.compare_hook_values(a, b) {
                    return;
                }
                self.value(payload, b, Location::default());
                self.note_vanished_parts(a, 1);
            }
        }
    }

    /// Compares the payload of an object: bytes, even where ASCII is text.
    fn compare_payloads(&mut self, a: Cursor<'_>, b: Cursor<'_>) {
        match (a.as_bytes(), b.as_bytes()) {
            (Some(one), Some(other)) if one == other => {}
            _ => self.value(a, b, Location::default()),
        }
    }

    fn compare_attributes(&mut self, inner: Cursor<'_>, a: Cursor<'_>, b: Cursor<'_>, place: Location) {
        match b.value() {
            Value::Attrs(other)
                if normalize_class_name(a.class()) == normalize_class_name(b.class())
                    && a.node().form() == b.node().form() =>
            {
                self.value(inner, other, place);
                let (of_a, of_b): (Vec<_>, Vec<_>) = (a.entries().collect(), b.entries().collect());
                if of_a.len() != of_b.len() {
                    return self.report_finding(a, "other attributes");
                }
                for ((key, value), (other_key, other)) in of_a.iter().zip(&of_b) {
                    self.compare_keys(key, other_key, *value, Location { is_body: true }, false);
                    self.value(*value, *other, Location::default());
                }
            }
            _ => {
                if !(a.is_empty() && a.class().is_empty()) && a.entries().count() + a.class().len() > 0 {
                    self.require_loss(&[LossKind::Attributes, LossKind::Class], a, "attributes are gone");
                    if !a.class().is_empty() && a.entries().count() > 0 {
                        // Both losses may be reported.
                        self.may_differ(LossKind::Attributes, a);
                    }
                } else {
                    // These attributes say nothing, but a writer may still report them.
                    self.may_differ(LossKind::Attributes, a);
                }
                self.value(inner, b, place);
            }
        }
    }

    fn compare_regexps(&mut self, pattern: Cursor<'_>, flags: Cursor<'_>, a: Cursor<'_>, b: Cursor<'_>) {
        let language = self.language;
        let is_text = pattern.kind() == Kind::Text;
        let letters = move |flags: Cursor<'_>| {
            let mut letters = flags.as_bytes().unwrap_or(b"").to_vec();
            letters.sort_unstable();
            // What Perl calls `m` is always on in Ruby.
            letters.retain(|letter| language != Language::Ruby || *letter != b'm');
            // Perl derives `u` from a pattern of text.
            letters.retain(|letter| language != Language::Perl || !is_text || *letter != b'u');
            letters
        };
        match b.value() {
            Value::Regexp(other, other_flags) => {
                if self.language == Language::Ruby && pattern.kind() == Kind::Bytes {
                    // Ruby needs an encoding for some patterns.
                    assert_eq!(pattern.as_bytes(), other.as_bytes());
                } else if moved_modifiers(pattern, other) {
                    self.may_differ(LossKind::RegexpFlags, a);
                    return;
                } else {
                    self.value(pattern, other, Location::default());
                }
                if letters(flags) != letters(other_flags) {
                    let what = format!("flags {:?} became {:?}", flags.value(), other_flags.value());
                    self.require_loss(&[LossKind::RegexpFlags], a, &what);
                }
            }
            _ => {
                self.require_loss(&[LossKind::Regexp], a, "a regexp is gone");
                // The other modifiers are in the pattern.
                let is_lost = letters(flags).iter().any(|letter| !b"msixn".contains(letter));
                if is_lost && self.language == Language::Php {
                    self.require_loss(&[LossKind::RegexpFlags], a, "flags are gone");
                }
            }
        }
    }
}

/// Returns `true` if the other pattern is this one with modifiers that the format can't store: `(?n:a)`.
fn moved_modifiers(pattern: Cursor<'_>, other: Cursor<'_>) -> bool {
    let (Some(own), Some(other)) = (pattern.as_bytes(), other.as_bytes()) else { return false };
    let Some(inner) = other.strip_prefix(b"(?").and_then(|rest| rest.strip_suffix(b")")) else { return false };
    let inner = inner.trim_ascii_start();
    let start = inner.iter().take_while(|letter| b"na".contains(letter)).count();
    start > 0
        && inner.get(start..).is_some_and(|rest| {
            rest.strip_prefix(b":").is_some_and(|rest| rest.trim_ascii_end() == own.trim_ascii_end())
        })
}

fn describe(key: &Key<'_>, out: &mut String) {
    match key {
        Key::Value(cursor) => cursor_text(*cursor, out),
        Key::Name(name) => *out += &format!("{:?} {}", name.node.kind, name.node.payload),
    }
}

fn cursor_text(cursor: Cursor<'_>, out: &mut String) {
    match cursor.kind().is_container() {
        true => *out += &format!("{:?}", cursor.kind()),
        false => *out += &format!("{:?} {}", cursor.value(), cursor.node().payload),
    }
    for child in cursor.children() {
        *out += "(";
        cursor_text(child, out);
        *out += ")";
    }
}

/// Returns the characters of a key in a named encoding.
fn text_of<'k>(key: &Key<'k>, value: Cursor<'k>) -> Option<std::borrow::Cow<'k, str>> {
    let encoding = value.document().tape().encodings().get(u32::from(key.node().encoding()))?;
    icecore::encoding::decoded(std::str::from_utf8(encoding.bytes).ok()?, key.bytes())
}

/// Returns a key as perl sees it.
fn perl_text(key: &Key<'_>) -> String {
    let node = key.node();
    match node.kind {
        Kind::Int => (node.payload as i64).to_string(),
        Kind::Uint => node.payload.to_string(),
        Kind::Null => String::new(),
        Kind::Bool => if node.payload != 0 { "1" } else { "" }.to_owned(),
        Kind::Float => f64::from_bits(node.payload).abs().to_string(),
        Kind::Bytes | Kind::Encoded => key.bytes().iter().map(|byte| char::from(*byte)).collect(),
        _ => String::from_utf8_lossy(key.bytes()).into_owned(),
    }
}

/// Returns the name of a member without marks.
fn strip_visibility_marks(name: &[u8]) -> &[u8] {
    let name = icecore::value::Visibility::of(name).map_or(name, |(_, name)| name);
    name.strip_prefix(b"@").unwrap_or(name)
}

fn normalize_class_name(class: &[u8]) -> String {
    String::from_utf8_lossy(class).replace('\\', "::")
}
