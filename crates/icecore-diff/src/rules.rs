//! When two values are the same.

use icecore::raw::Node;
use icecore::value::Visibility;
use icecore::{Document, Key, Kind, raw::flag};
use std::borrow::Cow;

/// When two values count as the same.
///
/// | what | usually | [`exact`](Rules::exact) |
/// |---|---|---|
/// | bytes, text, strings in an encoding, symbols | the same characters are the same | their kind counts |
/// | integers and floats | the same number is the same | their kind counts, and so does `-0.0` |
/// | maps | whatever the order of their entries | their order counts |
/// | an array element that does not exist | is null | is none |
/// | links, aliases | are what they name | sharing counts |
/// | restricted, weak and the like | do not count | count |
///
/// [`across`](Rules::across) is for documents of two languages, which can't say the same:
/// an empty list is an empty map (PHP has one type for both), the key 7 is the key `"7"`, a
/// field is its bare name (`@name` of Ruby, a protected `name` of PHP), `A\B` is `A::B`, and
/// a reference at the top of one document alone, as Perl stores a scalar, is what it refers to.
///
/// ```
/// use icecore_diff::{Rules, differences};
/// let a = icecore::read(b"a:2:{s:1:\"a\";i:1;s:1:\"b\";a:0:{}}")?;
/// let b = icecore::read(br#"{"b": {}, "a": 1.0}"#)?;
/// assert!(!differences(&a, &b, Rules::new()).is_empty());
/// assert!(differences(&a, &b, Rules::new().across()).is_empty());
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    is_exact: bool,
    is_across: bool,
}

/// What a leaf says. Two are the same value if they are equal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Leaf<'d> {
    pub(crate) kind: u8,
    pub(crate) number: u64,
    pub(crate) bytes: Cow<'d, [u8]>,
    pub(crate) encoding: &'d [u8],
}

impl Leaf<'_> {
    fn of_number(kind: Kind, number: u64) -> Leaf<'static> {
        Leaf { kind: kind as u8, number, bytes: Cow::Borrowed(&[]), encoding: &[] }
    }
}

impl Rules {
    /// Values are the same that mean the same.
    pub fn new() -> Rules {
        Rules::default()
    }

    /// All counts that a program could see.
    #[must_use]
    pub fn exact(mut self) -> Rules {
        self.is_exact = true;
        self
    }

    /// The documents are of two formats. Has no effect beside [`Rules::exact`].
    #[must_use]
    pub fn across(mut self) -> Rules {
        self.is_across = true;
        self
    }

    /// Whether all counts.
    pub fn is_exact(self) -> bool {
        self.is_exact
    }

    /// Whether the documents are of two formats.
    pub fn is_across(self) -> bool {
        self.is_across && !self.is_exact
    }

    /// What a leaf that is no link says.
    pub(crate) fn leaf<'d>(self, document: &'d Document<'_>, node: &Node) -> Leaf<'d> {
        match node.kind {
            Kind::Float => self.float(f64::from_bits(node.payload)),
            Kind::Float32 => self.float(f64::from(f32::from_bits(node.payload as u32))),
            Kind::Hole if !self.is_exact => Leaf::of_number(Kind::Null, 0),
            Kind::Null | Kind::Hole => Leaf::of_number(node.kind, 0),
            kind if kind.has_bytes() => self.string(document, node, document.bytes(node)),
            kind => Leaf::of_number(kind, node.payload),
        }
    }

    /// What a string says whose bytes are these: a value or a key.
    fn string<'d>(self, document: &'d Document<'_>, node: &Node, bytes: &'d [u8]) -> Leaf<'d> {
        let plain =
            |kind: Kind, number: u64, bytes: Cow<'d, [u8]>| Leaf { kind: kind as u8, number, bytes, encoding: &[] };
        let encoding = || {
            let name = document.tape().encodings().get(u32::from(node.encoding()));
            name.map_or(&b""[..], |name| name.bytes)
        };
        match node.kind {
            Kind::BigInt => plain(Kind::BigInt, u64::from(node.has(flag::NEGATIVE)), bytes.into()),
            Kind::Module => plain(Kind::Module, node.form() as u64, bytes.into()),
            kind if !kind.is_string() => plain(kind, 0, bytes.into()),
            kind if self.is_exact => Leaf { encoding: encoding(), ..plain(kind, 0, bytes.into()) },
            Kind::Encoded | Kind::Symbol if node.encoding() != 0 => {
                let name = String::from_utf8_lossy(encoding());
                let text = icecore::encoding::decoded(&name, bytes).map(|text| match text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                });
                plain(Kind::Text, 0, text.unwrap_or(bytes.into()))
            }
            _ => plain(Kind::Text, 0, bytes.into()),
        }
    }

    fn float(self, value: f64) -> Leaf<'static> {
        const BELOW_I64: f64 = 9_223_372_036_854_775_808.0;
        const BELOW_U64: f64 = 18_446_744_073_709_551_616.0;
        if value.is_nan() {
            return Leaf::of_number(Kind::Float, f64::NAN.to_bits());
        }
        if self.is_exact || value.fract() != 0.0 {
            return Leaf::of_number(Kind::Float, value.to_bits());
        }
        // Within these bounds the casts keep every integer.
        if (-BELOW_I64..BELOW_I64).contains(&value) {
            Leaf::of_number(Kind::Int, value as i64 as u64)
        } else if (0.0..BELOW_U64).contains(&value) {
            Leaf::of_number(Kind::Uint, value as u64)
        } else {
            Leaf::of_number(Kind::Float, value.to_bits())
        }
    }

    /// What a key says that is a string or an integer; `is_field`: of an object.
    pub(crate) fn key<'d>(self, document: &'d Document<'_>, node: &Node, bytes: &'d [u8], is_field: bool) -> Leaf<'d> {
        if !node.kind.has_bytes() {
            return match self.is_across() {
                true => Leaf {
                    kind: Kind::Text as u8,
                    number: 0,
                    bytes: Cow::Owned((node.payload as i64).to_string().into_bytes()),
                    encoding: &[],
                },
                false => Leaf::of_number(node.kind, node.payload),
            };
        }
        let bytes = if is_field && self.is_across() { field(bytes) } else { bytes };
        let mut leaf = self.string(document, node, bytes);
        if self.is_exact {
            leaf.number = u64::from(node.flags & (flag::LOCKED | flag::PLACEHOLDER));
        }
        leaf
    }

    /// Whether this key is an entry: not one that is only allowed.
    pub(crate) fn is_entry(self, key: &Node) -> bool {
        self.is_exact || !key.has(flag::PLACEHOLDER)
    }

    /// As [`Rules::is_entry`].
    pub(crate) fn has_entry(self, key: &Key<'_>) -> bool {
        self.is_entry(&key.node())
    }

    /// What counts of a class name.
    pub(crate) fn class(self, name: &[u8]) -> Cow<'_, [u8]> {
        if !self.is_across() || !name.contains(&b'\\') {
            return Cow::Borrowed(name);
        }
        let mut with_colons = Vec::with_capacity(name.len() + 8);
        for byte in name {
            match byte {
                b'\\' => with_colons.extend_from_slice(b"::"),
                byte => with_colons.push(*byte),
            }
        }
        Cow::Owned(with_colons)
    }

    /// What counts of the flags of a container.
    pub(crate) fn flags(self, node: &Node) -> u8 {
        const OF_ALL: u8 = flag::WEAK | flag::OVERLOAD;
        let own = match node.kind {
            Kind::Map => flag::RESTRICTED | flag::IDENTITY | flag::DEFAULT,
            Kind::Regexp => flag::BARE,
            _ => 0,
        };
        if self.is_exact { node.flags & (OF_ALL | own) } else { node.flags & own & flag::DEFAULT }
    }

    /// Whether this is a list or a map without anything in it, which are one here.
    pub(crate) fn is_nothing(self, node: &Node) -> bool {
        self.is_across() && matches!(node.kind, Kind::Array | Kind::Map) && node.aux == 0 && self.flags(node) == 0
    }
}

/// The name of a field without what its language puts in front of it.
fn field(bytes: &[u8]) -> &[u8] {
    match Visibility::of(bytes) {
        Some((_, name)) => name,
        None => bytes.strip_prefix(b"@").unwrap_or(bytes),
    }
}
