//! Constants in nodes.

use icecore::{Kind, raw::flag, value::Form};

/// The `kind` of a node. Kinds from `ICECORE_ARRAY` on have children, which follow them.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_kind {
    /// Perl's undef, PHP's NULL, Ruby's nil.
    ICECORE_NULL = 0,
    /// `payload` is 0 or 1.
    ICECORE_BOOL = 1,
    /// `payload` is an `int64_t`.
    ICECORE_INT = 2,
    /// `payload` is a `uint64_t` above the largest `int64_t`.
    ICECORE_UINT = 3,
    /// An integer beyond 64 bits: bytes, least significant first.
    ICECORE_BIGINT = 4,
    /// `payload` is the bits of a `double`.
    ICECORE_FLOAT = 5,
    /// `payload` is the bits of a `float`.
    ICECORE_FLOAT32 = 6,
    /// 16 bytes: an IEEE 754 binary128, least significant first.
    ICECORE_FLOAT128 = 7,
    /// A byte string.
    ICECORE_BYTES = 8,
    /// A string marked as UTF-8.
    ICECORE_TEXT = 9,
    /// A byte string with a named encoding.
    ICECORE_ENCODED = 10,
    /// A Ruby symbol.
    ICECORE_SYMBOL = 11,
    /// The name of a class or a module, as a value.
    ICECORE_MODULE = 12,
    /// A PHP enum case.
    ICECORE_ENUM_CASE = 13,
    /// An array element that does not exist, or the value of a placeholder.
    ICECORE_HOLE = 14,
    /// The same object again: `payload` is the index of its node.
    ICECORE_LINK = 15,
    /// The same variable again: `payload` is the index of the node that it contains.
    ICECORE_ALIAS = 16,
    /// An equal value again, which is not shared: `payload` is the index of the node
    /// that it equals.
    ICECORE_COPY = 17,
    /// `aux` is the number of items.
    ICECORE_ARRAY = 32,
    /// `aux` is the number of entries.
    ICECORE_MAP = 33,
    /// A reference to a scalar variable: one child.
    ICECORE_REF = 34,
    /// An object: a class and one child, its body.
    ICECORE_OBJECT = 35,
    /// An object that its class froze: a payload, then the objects that it refers to.
    ICECORE_OPAQUE = 36,
    /// Attributes on a value: the value, then entries.
    ICECORE_ATTRS = 37,
    /// Two children: pattern and flags.
    ICECORE_REGEXP = 38,
    /// Source text of code: one child.
    ICECORE_CODE = 39,
    /// A v-string: its source text and its value.
    ICECORE_VSTRING = 40,
    /// A tied variable: the object that it is tied to and, for an element, its key.
    ICECORE_TIED = 41,
}

/// Bit of `flags`: the value was reached through a reference of its own.
pub const ICECORE_FLAG_REF: u8 = 0x01;
/// The reference to this value is weak.
pub const ICECORE_FLAG_WEAK: u8 = 0x02;
/// The reference to this value is marked as overloaded.
pub const ICECORE_FLAG_OVERLOAD: u8 = 0x04;
/// A link, an alias or a copy may name this node.
pub const ICECORE_FLAG_TARGET: u8 = 0x08;

/// A big integer: negative.
pub const ICECORE_FLAG_NEGATIVE: u8 = 0x10;
/// A map: its keys are locked (Perl's restricted hash).
pub const ICECORE_FLAG_RESTRICTED: u8 = 0x10;
/// A map: keys are compared by identity (Ruby).
pub const ICECORE_FLAG_IDENTITY: u8 = 0x20;
/// A map: one more child follows the entries, the default value (Ruby).
pub const ICECORE_FLAG_DEFAULT: u8 = 0x40;
/// A regexp: not blessed.
pub const ICECORE_FLAG_BARE: u8 = 0x10;
/// A regexp of a running program: its pattern has the syntax of Perl.
pub const ICECORE_FLAG_PERL: u8 = 0x20;
/// A null or a boolean: perl's immortal value, not a variable.
pub const ICECORE_FLAG_OWN: u8 = 0x10;
/// A null with `ICECORE_FLAG_OWN`: it is an item of an array.
pub const ICECORE_FLAG_ITEM: u8 = 0x20;
/// A boolean of a running program: a variable that contains it.
pub const ICECORE_FLAG_VARIABLE: u8 = 0x20;
/// A property in addition to the value that affects the original writer; docs/tape.md explains it for each kind.
pub const ICECORE_FLAG_HINT: u8 = 0x80;

/// A key: its value is read-only.
pub const ICECORE_FLAG_LOCKED: u8 = 0x10;
/// A key: allowed in a restricted hash, but absent; its value is a hole.
pub const ICECORE_FLAG_PLACEHOLDER: u8 = 0x20;
/// A key whose bytes are ASCII: it was given as UTF-8 text.
pub const ICECORE_FLAG_WAS_TEXT: u8 = 0x40;

/// The form in which an object, opaque object or tied variable was written: eight bits of `payload`, from
/// `ICECORE_FORM_SHIFT` on.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum icecore_form {
    /// The usual one.
    ICECORE_FORM_USUAL = 0,
    /// Ruby's Struct and Data.
    ICECORE_FORM_STRUCT = 1,
    /// Storable's hook record.
    ICECORE_FORM_HOOK = 2,
    /// Sereal's OBJECT_FREEZE.
    ICECORE_FORM_FREEZE = 3,
    /// PHP's `C:`.
    ICECORE_FORM_SERIALIZABLE = 4,
    /// Ruby's `_dump`.
    ICECORE_FORM_USER_DUMP = 5,
    /// Ruby's `marshal_dump`.
    ICECORE_FORM_USER_MARSHAL = 6,
    /// Ruby's data.
    ICECORE_FORM_DATA = 7,
    /// A tied scalar.
    ICECORE_FORM_TIED_SCALAR = 8,
    /// A tied array.
    ICECORE_FORM_TIED_ARRAY = 9,
    /// A tied hash.
    ICECORE_FORM_TIED_HASH = 10,
    /// An element of a tied array or hash.
    ICECORE_FORM_TIED_ELEMENT = 11,
    /// A module, or one mixed into a value.
    ICECORE_FORM_MODULE = 12,
    /// A class or module name in Ruby's old form.
    ICECORE_FORM_OLD_MODULE = 13,
    /// An instance of a user's subclass of a core class.
    ICECORE_FORM_SUBCLASS = 14,
    /// The variable itself is blessed.
    ICECORE_FORM_VARIABLE = 15,
}

/// `key` of a value that has no key.
pub const ICECORE_NO_KEY: u16 = 0;
/// `key` of a node that is itself a key.
pub const ICECORE_IS_KEY: u16 = 0xFFFE;
/// `key` of a value whose key is the node before it.
pub const ICECORE_KEY_PRECEDES: u16 = 0xFFFF;
/// Maximum number of entries of a map whose keys have ids. In larger maps, each key is a node.
pub const ICECORE_MAX_ENTRIES_WITH_IDS: u32 = 256;
/// Bit of the payload of a string: the string is in the arena.
pub const ICECORE_IN_ARENA: u64 = 0x8000_0000_0000_0000;
/// Bits of the payload of a string: its offset.
pub const ICECORE_OFFSET: u64 = 0x0000_FFFF_FFFF_FFFF;
/// Position in the payload of a container of the id of its class: 16 bits.
pub const ICECORE_CLASS_SHIFT: u32 = 32;
/// Position in the payload of the form: 8 bits.
pub const ICECORE_FORM_SHIFT: u32 = 48;
/// `aux` of a string whose location is in the table of long strings.
pub const ICECORE_LONG: u32 = 0xFFFF_FFFF;

macro_rules! same {
    ($($ours:expr => $theirs:expr),* $(,)?) => { const _: () = { $(assert!($ours as u64 == $theirs as u64);)* }; };
}

use icecore_form::*;
use icecore_kind::*;

same! {
    ICECORE_NULL => Kind::Null, ICECORE_BOOL => Kind::Bool, ICECORE_INT => Kind::Int, ICECORE_UINT => Kind::Uint,
    ICECORE_BIGINT => Kind::BigInt, ICECORE_FLOAT => Kind::Float, ICECORE_FLOAT32 => Kind::Float32,
    ICECORE_FLOAT128 => Kind::Float128, ICECORE_BYTES => Kind::Bytes, ICECORE_TEXT => Kind::Text,
    ICECORE_ENCODED => Kind::Encoded, ICECORE_SYMBOL => Kind::Symbol, ICECORE_MODULE => Kind::Module,
    ICECORE_ENUM_CASE => Kind::EnumCase, ICECORE_HOLE => Kind::Hole, ICECORE_LINK => Kind::Link,
    ICECORE_ALIAS => Kind::Alias, ICECORE_COPY => Kind::Copy, ICECORE_ARRAY => Kind::Array,
    ICECORE_MAP => Kind::Map, ICECORE_REF => Kind::Ref,
    ICECORE_OBJECT => Kind::Object, ICECORE_OPAQUE => Kind::Opaque, ICECORE_ATTRS => Kind::Attrs,
    ICECORE_REGEXP => Kind::Regexp, ICECORE_CODE => Kind::Code, ICECORE_VSTRING => Kind::VString,
    ICECORE_TIED => Kind::Tied,
    ICECORE_FLAG_REF => flag::REF,
    ICECORE_FLAG_WEAK => flag::WEAK,
    ICECORE_FLAG_OVERLOAD => flag::OVERLOAD,
    ICECORE_FLAG_TARGET => flag::TARGET,
    ICECORE_FLAG_NEGATIVE => flag::NEGATIVE,
    ICECORE_FLAG_RESTRICTED => flag::RESTRICTED,
    ICECORE_FLAG_IDENTITY => flag::IDENTITY,
    ICECORE_FLAG_DEFAULT => flag::DEFAULT,
    ICECORE_FLAG_BARE => flag::BARE,
    ICECORE_FLAG_PERL => flag::PERL,
    ICECORE_FLAG_OWN => flag::OWN,
    ICECORE_FLAG_ITEM => flag::ITEM,
    ICECORE_FLAG_VARIABLE => flag::VARIABLE,
    ICECORE_FLAG_HINT => flag::HINT,
    ICECORE_FLAG_LOCKED => flag::LOCKED,
    ICECORE_FLAG_PLACEHOLDER => flag::PLACEHOLDER,
    ICECORE_FLAG_WAS_TEXT => flag::WAS_TEXT,
    ICECORE_FORM_USUAL => Form::Usual, ICECORE_FORM_STRUCT => Form::Struct, ICECORE_FORM_HOOK => Form::Hook,
    ICECORE_FORM_FREEZE => Form::Freeze, ICECORE_FORM_SERIALIZABLE => Form::Serializable,
    ICECORE_FORM_USER_DUMP => Form::UserDump, ICECORE_FORM_USER_MARSHAL => Form::UserMarshal,
    ICECORE_FORM_DATA => Form::Data, ICECORE_FORM_TIED_SCALAR => Form::TiedScalar,
    ICECORE_FORM_TIED_ARRAY => Form::TiedArray, ICECORE_FORM_TIED_HASH => Form::TiedHash,
    ICECORE_FORM_TIED_ELEMENT => Form::TiedElement, ICECORE_FORM_MODULE => Form::Module,
    ICECORE_FORM_OLD_MODULE => Form::OldModule, ICECORE_FORM_SUBCLASS => Form::Subclass,
    ICECORE_FORM_VARIABLE => Form::Variable,
    (ICECORE_FORM_VARIABLE as u64) << ICECORE_FORM_SHIFT => Form::Variable.bits(),
    1u64 << ICECORE_CLASS_SHIFT => 1u64 << 32,
    ICECORE_NO_KEY => icecore::raw::NO_KEY, ICECORE_IS_KEY => icecore::raw::IS_KEY,
    ICECORE_KEY_PRECEDES => icecore::raw::KEY_NODE,
}
