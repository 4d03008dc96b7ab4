//! Rules of equality.

use icecore::raw::Node;
use icecore::value::Visibility;
use icecore::{Document, Key, Kind, raw::flag};
use std::borrow::Cow;

/// Rules for when two values count as equal.
///
/// | what | default | [`exact`](Rules::exact) |
/// |---|---|---|
/// | bytes, text, strings in an encoding, symbols | equal if they have the same characters | their kind counts |
/// | integers and floats | equal if they are the same number | their kind counts, and so does `-0.0` |
/// | maps | the order of entries is ignored | the order counts |
/// | an array element that does not exist | equals null | differs from null |
/// | links, aliases | equal their targets | sharing counts |
/// | restricted, weak and the like | are ignored | count |
///
/// [`across_formats`](Rules::across_formats) is for documents of two languages, which can't express the same: an empty
/// list equals an empty map (PHP has one type for both), the key 7 equals the key `"7"`, a field is compared by its
/// bare name (`@name` in Ruby, a protected `name` in PHP), `A\B` equals `A::B`, and a reference at the root of only one
/// document, in which Perl stores a scalar, equals the value that it refers to.
///
/// ```
/// use icecore_diff::{Rules, find_differences};
/// let a = icecore::read(b"a:2:{s:1:\"a\";i:1;s:1:\"b\";a:0:{}}")?;
/// let b = icecore::read(br#"{"b": {}, "a": 1.0}"#)?;
/// assert!(!find_differences(&a, &b, Rules::new()).is_empty());
/// assert!(find_differences(&a, &b, Rules::new().across_formats()).is_empty());
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    is_exact: bool,
    is_across: bool,
}

/// The meaning of a leaf. Two leaves are the same value if these are equal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Leaf<'d> {
    pub(crate) kind: u8,
    pub(crate) number: u64,
    pub(crate) bytes: Cow<'d, [u8]>,
    pub(crate) encoding: &'d [u8],
}

impl Leaf<'_> {
    fn from_number(kind: Kind, number: u64) -> Leaf<'static> {
        Leaf { kind: kind as u8, number, bytes: Cow::Borrowed(&[]), encoding: &[] }
    }
}

impl Rules {
    /// Returns rules by which values are equal if they mean the same.
    pub fn new() -> Rules {
        Rules::default()
    }

    /// Makes everything count that a program could see.
    #[must_use]
    pub fn exact(mut self) -> Rules {
        self.is_exact = true;
        self
    }

    /// Adapts the rules to documents of two formats. This has no effect together with [`Rules::exact`].
    #[must_use]
    pub fn across_formats(mut self) -> Rules {
        self.is_across = true;
        self
    }

    /// Returns true if everything counts that a program could see.
    pub fn is_exact(self) -> bool {
        self.is_exact
    }

    /// Returns true if the rules are for documents of two formats.
    pub fn is_across_formats(self) -> bool {
        self.is_across && !self.is_exact
    }

    /// Returns the meaning of a leaf that is not a link.
    pub(crate) fn leaf_meaning<'d>(self, document: &'d Document<'_>, node: &Node) -> Leaf<'d> {
        match node.kind {
            Kind::Float => self.float_meaning(f64::from_bits(node.payload)),
            Kind::Float32 => self.float_meaning(f64::from(f32::from_bits(node.payload as u32))),
            Kind::Hole if !self.is_exact => Leaf::from_number(Kind::Null, 0),
            Kind::Null | Kind::Hole => Leaf::from_number(node.kind, 0),
            kind if kind.has_bytes() => self.string_meaning(document, node, document.bytes(node)),
            kind => Leaf::from_number(kind, node.payload),
        }
    }

    /// Returns the meaning of a string with these bytes: a value or a key.
    fn string_meaning<'d>(self, document: &'d Document<'_>, node: &Node, bytes: &'d [u8]) -> Leaf<'d> {
        let leaf =
            |kind: Kind, number: u64, bytes: Cow<'d, [u8]>| Leaf { kind: kind as u8, number, bytes, encoding: &[] };
        let encoding = || {
            let name = document.tape().encodings().get(u32::from(node.encoding()));
            name.map_or(&b""[..], |name| name.bytes)
        };
        match node.kind {
            Kind::BigInt => leaf(Kind::BigInt, u64::from(node.has(flag::NEGATIVE)), bytes.into()),
            Kind::Module => leaf(Kind::Module, node.form() as u64, bytes.into()),
            kind if !kind.is_string() => leaf(kind, 0, bytes.into()),
            kind if self.is_exact => Leaf { encoding: encoding(), ..leaf(kind, 0, bytes.into()) },
            Kind::Encoded | Kind::Symbol if node.encoding() != 0 => {
                let name = String::from_utf8_lossy(encoding());
                let text = icecore::encoding::decoded(&name, bytes).map(|text| match text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                });
                leaf(Kind::Text, 0, text.unwrap_or(bytes.into()))
            }
            _ => leaf(Kind::Text, 0, bytes.into()),
        }
    }

    fn float_meaning(self, value: f64) -> Leaf<'static> {
        const BELOW_I64: f64 = 9_223_372_036_854_775_808.0;
        const BELOW_U64: f64 = 18_446_744_073_709_551_616.0;
        if value.is_nan() {
            return Leaf::from_number(Kind::Float, f64::NAN.to_bits());
        }
        if self.is_exact || value.fract() != 0.0 {
            return Leaf::from_number(Kind::Float, value.to_bits());
        }
        // Within these bounds the casts preserve every integer.
        if (-BELOW_I64..BELOW_I64).contains(&value) {
            Leaf::from_number(Kind::Int, value as i64 as u64)
        } else if (0.0..BELOW_U64).contains(&value) {
            Leaf::from_number(Kind::Uint, value as u64)
        } else {
            Leaf::from_number(Kind::Float, value.to_bits())
        }
    }

    /// Returns the meaning of a key that is a string or an integer. `is_field` means that it is the name of an
    /// object's field.
    pub(crate) fn key_meaning<'d>(
        self,
        document: &'d Document<'_>,
        node: &Node,
        bytes: &'d [u8],
        is_field: bool,
    ) -> Leaf<'d> {
        if !node.kind.has_bytes() {
            return match self.is_across_formats() {
                true => Leaf {
                    kind: Kind::Text as u8,
                    number: 0,
                    bytes: Cow::Owned((node.payload as i64).to_string().into_bytes()),
                    encoding: &[],
                },
                false => Leaf::from_number(node.kind, node.payload),
            };
        }
        let bytes = if is_field && self.is_across_formats() { bare_field_name(bytes) } else { bytes };
        let mut leaf = self.string_meaning(document, node, bytes);
        if self.is_exact {
            leaf.number = u64::from(node.flags & (flag::LOCKED | flag::PLACEHOLDER));
        }
        leaf
    }

    /// Returns true if this key counts as an entry, and not as a placeholder.
    pub(crate) fn is_entry(self, key: &Node) -> bool {
        self.is_exact || !key.has(flag::PLACEHOLDER)
    }

    /// Does the same as [`Rules::is_entry`].
    pub(crate) fn has_entry(self, key: &Key<'_>) -> bool {
        self.is_entry(&key.node())
    }

    /// Returns the relevant part of a class name.
    pub(crate) fn normalized_class(self, name: &[u8]) -> Cow<'_, [u8]> {
        if !self.is_across_formats() || !name.contains(&b'\\') {
            return Cow::Borrowed(name);
        }
        let mut normalized = Vec::with_capacity(name.len() + 8);
        for byte in name {
            match byte {
                b'\\' => normalized.extend_from_slice(b"::"),
                byte => normalized.push(*byte),
            }
        }
        Cow::Owned(normalized)
    }

    /// Returns the relevant flags of a container.
    pub(crate) fn relevant_flags(self, node: &Node) -> u8 {
        const COMMON_FLAGS: u8 = flag::WEAK | flag::OVERLOAD;
        let kind_flags = match node.kind {
            Kind::Map => flag::RESTRICTED | flag::IDENTITY | flag::DEFAULT,
            Kind::Regexp => flag::BARE,
            _ => 0,
        };
        if self.is_exact { node.flags & (COMMON_FLAGS | kind_flags) } else { node.flags & kind_flags & flag::DEFAULT }
    }

    /// Returns true if this is an empty list or map, and these rules do not distinguish the two.
    pub(crate) fn is_empty_container(self, node: &Node) -> bool {
        self.is_across_formats()
            && matches!(node.kind, Kind::Array | Kind::Map)
            && node.aux == 0
            && self.relevant_flags(node) == 0
    }
}

/// Returns the name of a field without the prefix of its language.
fn bare_field_name(bytes: &[u8]) -> &[u8] {
    match Visibility::of(bytes) {
        Some((_, name)) => name,
        None => bytes.strip_prefix(b"@").unwrap_or(bytes),
    }
}
