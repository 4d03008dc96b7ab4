//! The 16-byte cell of the tape.

/// The kind of a [`Node`].
///
/// Kinds from [`Kind::Array`] on are containers: they have children, which
/// follow them on the tape, and know where they end.
///
/// ```
/// use icecore::Kind;
/// assert!(Kind::Map.is_container() && Kind::Object.has_class());
/// assert!(Kind::Symbol.is_string() && Kind::BigInt.has_bytes() && !Kind::BigInt.is_string());
/// assert!(Kind::Link.is_again());
/// ```
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// Perl's undef, PHP's NULL, Ruby's nil.
    Null = 0,
    /// `payload` is 0 or 1.
    Bool = 1,
    /// `payload` is an `i64`.
    Int = 2,
    /// `payload` is a `u64` above `i64::MAX`.
    Uint = 3,
    /// An integer beyond 64 bits: its magnitude is stored like a string, least significant byte first;
    /// [`flag::NEGATIVE`] is its sign.
    BigInt = 4,
    /// `payload` is the bits of an `f64`.
    Float = 5,
    /// `payload` is the bits of an `f32`.
    Float32 = 6,
    /// The 16 bytes of an IEEE 754 binary128, stored like a string, least significant byte first.
    Float128 = 7,
    /// A byte string.
    Bytes = 8,
    /// A string marked as UTF-8. Perl allows more than Unicode does, so its
    /// bytes are not guaranteed to be valid UTF-8.
    Text = 9,
    /// A byte string with a named encoding.
    Encoded = 10,
    /// A Ruby symbol; its encoding is stored as in [`Kind::Encoded`].
    Symbol = 11,
    /// The name of a class or a module, as a value; in [`Form::Variable`], the name of a Perl glob, `*main::STDOUT`.
    Module = 12,
    /// A PHP enum case, written `Class:Case`.
    EnumCase = 13,
    /// An array element that does not exist, or the value of a placeholder.
    Hole = 14,
    /// The same object again: `payload` is the index of its node.
    Link = 15,
    /// The same variable again: `payload` is the index of the node that it contains.
    Alias = 16,
    /// An equal value again, which its original stored once: `payload` is the index of the node that it equals. That
    /// node precedes it and is complete. No program can change one and see the change in the other, so this is not
    /// sharing.
    /// Examples: an array that PHP copies before a write, a number or a time in Ruby.
    Copy = 17,

    /// `aux` is the number of items.
    Array = 32,
    /// `aux` is the number of entries: each is a value with its key (see [`Node::key`]).
    Map = 33,
    /// A reference to a scalar variable: one child.
    Ref = 34,
    /// An object: a class and one child, its body.
    Object = 35,
    /// An object that its own class froze: a class; the first child is the
    /// payload, the others are objects that the payload refers to.
    Opaque = 36,
    /// Attributes on a value: the first child is the value, entries follow.
    Attrs = 37,
    /// Two children: the pattern and the flags.
    Regexp = 38,
    /// Source text of code: one child.
    Code = 39,
    /// A Perl v-string. Two children: its source text and its value.
    VString = 40,
    /// A tied variable: the object that it is tied to and, for an element, its key.
    Tied = 41,
}

impl Kind {
    /// Returns `true` if nodes of this kind have children.
    #[inline]
    pub const fn is_container(self) -> bool {
        self as u8 >= Kind::Array as u8
    }

    /// Returns `true` if this names another node: a link, an alias or a copy.
    #[inline]
    pub const fn is_again(self) -> bool {
        matches!(self, Kind::Link | Kind::Alias | Kind::Copy)
    }

    /// Returns `true` if `aux` and `payload` locate bytes.
    #[inline]
    pub const fn has_bytes(self) -> bool {
        matches!(
            self,
            Kind::BigInt
                | Kind::Float128
                | Kind::Bytes
                | Kind::Text
                | Kind::Encoded
                | Kind::Symbol
                | Kind::Module
                | Kind::EnumCase
        )
    }

    /// Returns `true` if this is a string that can be the plain key of a map.
    #[inline]
    pub const fn is_string(self) -> bool {
        matches!(self, Kind::Bytes | Kind::Text | Kind::Encoded | Kind::Symbol)
    }

    /// Returns `true` if this kind has a class: an object, opaque or not, or attributes.
    #[inline]
    pub const fn has_class(self) -> bool {
        matches!(self, Kind::Object | Kind::Opaque | Kind::Attrs)
    }
}

/// Bits of [`Node::flags`].
pub mod flag {
    /// The value was reached through a reference of its own. Perl's writers reach every container this way, with or
    /// without this bit.
    pub const REF: u8 = 0x01;
    /// The reference to this value is weak.
    pub const WEAK: u8 = 0x02;
    /// The reference to this value is marked as overloaded (Storable).
    pub const OVERLOAD: u8 = 0x04;
    /// A link, an alias or a copy elsewhere names this node.
    pub const TARGET: u8 = 0x08;

    /// On a `BigInt`: negative.
    pub const NEGATIVE: u8 = 0x10;
    /// On a `Map`: the set of keys is locked (Perl's restricted hash).
    pub const RESTRICTED: u8 = 0x10;
    /// On a `Map`: keys are compared by identity.
    pub const IDENTITY: u8 = 0x20;
    /// On a `Map`: one more child follows the entries, the default value.
    pub const DEFAULT: u8 = 0x40;
    /// On a `Regexp`: it is not blessed.
    pub const BARE: u8 = 0x10;
    /// On a `Regexp` that was made from a running program: its pattern has the syntax of Perl, although the source of
    /// the document is unknown.
    pub const PERL: u8 = 0x20;
    /// On a `Null` or a `Bool`: one of perl's immortal values, not a variable with that value. Writers choose another
    /// form for it if the original writer does.
    pub const OWN: u8 = 0x10;
    /// On a `Null` with [`OWN`]: it is an item of an array.
    pub const ITEM: u8 = 0x20;
    /// On a `Bool` that was made from a running program: a variable that contains a boolean.
    pub const VARIABLE: u8 = 0x20;
    /// On an `Array` or `Map` of a running program: a property in addition to the value that affects the original's
    /// writer. Storable: perl keeps flags for the keys of the hash, although perhaps no key needs one any more. Sereal:
    /// another reference to it may exist.
    pub const HINT: u8 = 0x80;

    /// On a key: its value is read-only.
    pub const LOCKED: u8 = 0x10;
    /// On a key: allowed in a restricted hash, but absent. Its value is a
    /// `Hole`. With [`HINT`] the hash is not restricted any more.
    pub const PLACEHOLDER: u8 = 0x20;
    /// On a key whose bytes are ASCII: it was given as UTF-8 text.
    pub const WAS_TEXT: u8 = 0x40;
}

/// The form in which an object, an opaque object, a tied variable, a module name or an attribute was written. Stored in
/// a byte of [`Node::payload`].
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// The usual one: a blessed value, PHP's `O:`, Ruby's `o`; a class name.
    Usual = 0,
    /// Ruby's Struct and Data (`S`).
    Struct = 1,
    /// Storable's hook record.
    Hook = 2,
    /// Sereal's OBJECT_FREEZE.
    Freeze = 3,
    /// PHP's `C:`.
    Serializable = 4,
    /// Ruby's `u` (`_dump`).
    UserDump = 5,
    /// Ruby's `U` (`marshal_dump`).
    UserMarshal = 6,
    /// Ruby's `d`.
    Data = 7,
    /// A tied scalar.
    TiedScalar = 8,
    /// A tied array.
    TiedArray = 9,
    /// A tied hash.
    TiedHash = 10,
    /// An element of a tied array or hash.
    TiedElement = 11,
    /// A module name, or a module mixed into a value (`m`, `e`).
    Module = 12,
    /// A class or module name in Ruby's old form (`M`).
    OldModule = 13,
    /// An instance of a user's subclass of a core class (`C`).
    Subclass = 14,
    /// On an `Object`: the variable itself is blessed; it was not reached
    /// through a reference, as objects usually are (Perl). On a `Module`: the name
    /// of a glob.
    Variable = 15,
}

impl Form {
    pub(crate) const ALL: [Form; 16] = [
        Form::Usual,
        Form::Struct,
        Form::Hook,
        Form::Freeze,
        Form::Serializable,
        Form::UserDump,
        Form::UserMarshal,
        Form::Data,
        Form::TiedScalar,
        Form::TiedArray,
        Form::TiedHash,
        Form::TiedElement,
        Form::Module,
        Form::OldModule,
        Form::Subclass,
        Form::Variable,
    ];

    /// Returns the form's bits in [`Node::payload`].
    #[inline]
    pub const fn bits(self) -> u64 {
        (self as u64) << FORM_SHIFT
    }

    /// Returns the form with this number; `Usual` if there is none.
    #[inline]
    fn from_number(number: u8) -> Form {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Form::Usual)
    }
}

/// [`Node::key`] of a value that has no key: an item of an array, the root.
pub const NO_KEY: u16 = 0;
/// [`Node::key`] of a value whose key precedes it on the tape.
pub const KEY_NODE: u16 = 0xFFFF;
/// [`Node::key`] of such a key.
pub const IS_KEY: u16 = 0xFFFE;

const ARENA_BIT: u64 = 1 << 63;
const ENCODING_SHIFT: u32 = 48;
const CLASS_SHIFT: u32 = 32;
const FORM_SHIFT: u32 = 48;
const FORM_MASK: u64 = 0xFF << FORM_SHIFT;
const OFFSET_MASK: u64 = (1 << ENCODING_SHIFT) - 1;
/// `aux` of a string whose location is in the table of long strings.
pub(crate) const LONG_STRING: u32 = u32::MAX;

/// One cell of the tape: 16 bytes, `repr(C)`, host-endian.
///
/// | field | leaf | string | container |
/// |---|---|---|---|
/// | `kind` | [`Kind`] | | |
/// | `flags` | bits of [`flag`] | | |
/// | `key` | id of the key of this value | | |
/// | `aux` | 0 | length in bytes | number of children or entries |
/// | `payload` | the value | 48 bits: where (see [`Location`]); 15 bits: encoding | 32 bits: end index; 16: class id; 8: [`Form`]; 8: zero, reserved for more flags |
///
/// A [`Kind::Module`] has no encoding; its form is where a container has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kind of the node.
    pub kind: Kind,
    /// Bits of [`flag`].
    pub flags: u8,
    /// Id of its key, or [`NO_KEY`], [`KEY_NODE`] or [`IS_KEY`].
    pub key: u16,
    /// A length or a count.
    pub aux: u32,
    /// A value, a location or an end.
    pub payload: u64,
}

const _: () = assert!(size_of::<Node>() == 16);

/// Location of the bytes of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// At this offset of the document's input.
    Input(u64),
    /// At this offset of the document's arena.
    Arena(u64),
}

impl Location {
    #[inline]
    fn to_bits(self) -> u64 {
        match self {
            Location::Input(offset) => offset,
            Location::Arena(offset) => offset | ARENA_BIT,
        }
    }
}

impl Node {
    /// Returns a leaf without a key.
    #[inline]
    pub const fn leaf(kind: Kind, payload: u64) -> Node {
        Node { kind, flags: 0, key: NO_KEY, aux: 0, payload }
    }

    /// Returns a signed integer.
    #[inline]
    pub const fn int(value: i64) -> Node {
        Node::leaf(Kind::Int, value as u64)
    }

    /// Returns an unsigned integer; an `Int` if it fits.
    #[inline]
    pub const fn uint(value: u64) -> Node {
        let kind = if value > i64::MAX as u64 { Kind::Uint } else { Kind::Int };
        Node::leaf(kind, value)
    }

    /// Returns a float.
    #[inline]
    pub const fn float(value: f64) -> Node {
        Node::leaf(Kind::Float, value.to_bits())
    }

    /// Returns a string of less than 4 GB.
    #[inline]
    pub fn string(kind: Kind, location: Location, len: u32) -> Node {
        Node { kind, flags: 0, key: NO_KEY, aux: len, payload: location.to_bits() }
    }

    /// Returns a container that is still open: its end is not set.
    #[inline]
    pub const fn open(kind: Kind, class: u32) -> Node {
        Node { kind, flags: 0, key: NO_KEY, aux: 0, payload: (class as u64 & 0xFFFF) << CLASS_SHIFT }
    }

    /// Returns the node with these flags set as well.
    #[inline]
    pub const fn with(mut self, flags: u8) -> Node {
        self.flags |= flags;
        self
    }

    /// Returns the node in this form.
    #[inline]
    pub const fn in_form(mut self, form: Form) -> Node {
        self.payload = (self.payload & !FORM_MASK) | form.bits();
        self
    }

    /// Returns `true` if all these flags are set.
    #[inline]
    pub const fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// Returns the form of an object, opaque object, tied variable, module or
    /// attribute.
    #[inline]
    pub fn form(&self) -> Form {
        Form::from_number((self.payload >> FORM_SHIFT) as u8)
    }

    /// Returns the end of a container: the index after its last child; 0 while it is open.
    #[inline]
    pub const fn end(&self) -> u32 {
        self.payload as u32
    }

    /// Returns the class id of a container; 0 means none.
    #[inline]
    pub const fn class(&self) -> u32 {
        (self.payload >> CLASS_SHIFT) as u16 as u32
    }

    #[inline]
    pub(crate) fn set_class(&mut self, class: u32) {
        self.payload = (self.payload & !(0xFFFF << CLASS_SHIFT)) | (u64::from(class) & 0xFFFF) << CLASS_SHIFT;
    }

    #[inline]
    pub(crate) fn set_end(&mut self, end: u32) {
        self.payload = (self.payload & !0xFFFF_FFFF) | u64::from(end);
    }

    /// Returns the location of the bytes of a string. The result has no meaning for a string in the table of long
    /// strings.
    #[inline]
    pub const fn location(&self) -> Location {
        let offset = self.payload & OFFSET_MASK;
        if self.payload & ARENA_BIT != 0 { Location::Arena(offset) } else { Location::Input(offset) }
    }

    /// Returns the index of a string in the table of long strings.
    #[inline]
    pub(crate) const fn long_index(&self) -> usize {
        (self.payload & OFFSET_MASK) as usize
    }

    /// Returns the encoding id of a string with a named encoding; 0 for others.
    #[inline]
    pub const fn encoding(&self) -> u16 {
        match self.kind {
            Kind::Module => 0,
            _ => ((self.payload & !ARENA_BIT) >> ENCODING_SHIFT) as u16,
        }
    }

    #[inline]
    pub(crate) fn set_encoding(&mut self, id: u16) {
        self.payload |= u64::from(id) << ENCODING_SHIFT;
    }
}
