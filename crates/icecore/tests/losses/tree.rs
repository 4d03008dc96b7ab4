//! Random values of everything that a document can contain, as trees that can be made smaller.

use crate::common::Random;
use icecore::{Builder, Document, value::Form};

/// A value and everything below it.
#[derive(Clone, Debug)]
pub enum Tree {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Big(bool, Vec<u8>),
    Float(f64),
    Float32(f32),
    Float128([u8; 16]),
    Bytes(Vec<u8>),
    Text(String),
    /// Marked as UTF-8, but beyond Unicode or not well-formed.
    Loose(Vec<u8>),
    Encoded(Vec<u8>, &'static str),
    Symbol(Vec<u8>, &'static str),
    Module(Vec<u8>, Form),
    Enum(Vec<u8>),
    Hole,
    Array(Vec<Tree>),
    Map(Map),
    Ref(Box<Tree>),
    Object(Vec<u8>, Form, Box<Tree>),
    Opaque(Vec<u8>, Form, Vec<Tree>),
    Attrs(Option<(Vec<u8>, Form)>, Box<Tree>, Vec<(Key, Tree)>),
    Regexp(Box<Tree>, Vec<u8>, bool),
    Code(Box<Tree>),
    VString(Vec<u8>, Box<Tree>),
    Tied(Form, Vec<Tree>),
    Weak(Box<Tree>),
    Overload(Box<Tree>),
}

/// A map: its entries, and the properties of the whole map.
#[derive(Clone, Debug, Default)]
pub struct Map {
    pub entries: Vec<(Key, Tree)>,
    pub restricted: bool,
    pub identity: bool,
    pub default: Option<Box<Tree>>,
}

#[derive(Clone, Debug)]
pub enum Key {
    Bytes(Vec<u8>),
    Text(String),
    Int(i64),
    Symbol(Vec<u8>, &'static str),
    Value(Box<Tree>),
    Locked(Vec<u8>),
    /// Allowed, but absent: its value is a hole.
    Absent(Vec<u8>),
}

const ENCODINGS: &[&str] = &["EUC-JP", "Windows-31J", "US-ASCII"];
const INTS: &[i64] = &[
    0,
    1,
    -1,
    15,
    16,
    -17,
    127,
    128,
    -128,
    -129,
    255,
    i32::MAX as i64,
    i32::MIN as i64,
    1 << 31,
    -(1 << 31) - 1,
    (1 << 30) - 1,
    1 << 30,
    -(1 << 30) - 1,
    999_999_999,
    1_234_567_890,
    -999_999_999,
    -123_456_789,
    9_999_999_999,
    10_000_000_000,
    1 << 53,
    (1 << 53) + 1,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];
const FLOATS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    3.0,
    -1.0,
    0.5,
    0.1,
    -1.5,
    100.0,
    1e15,
    1e16,
    1e17,
    1e18,
    1e21,
    1e22,
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    -9_007_199_254_740_993.0,
    9.3e18,
    -9_223_372_036_854_775_808.0,
    5e-324,
    f64::MAX,
    f64::MIN_POSITIVE,
    1.0 / 3.0,
    123_456_789.125,
    0.000_01,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];
const TEXTS: &[&str] =
    &["", "a", "name", "caf\u{e9}", "\u{20ac}\u{1f600}", "\0\x01\n", "it's \"q\" \\ $x @y #{z}", "12", "-0", "1e5"];
const BYTES: &[&[u8]] =
    &[b"", b"a", b"name", b"caf\xe9", b"\xff\xfe\0", b"caf\xc3\xa9", b"12", b"3.5", b"\0*\0p", b"\x80"];
/// Names of keys; few, so that some are equal.
const NAMES: &[&str] = &["", "a", "b", "0", "1", "5", "-5", "05", "1.5", "-0", "9223372036854775808", "true", "key"];
const CLASSES: &[&str] = &["A", "My::Thing", "App\\User", "C"];

/// Modifiers that patterns have in one language or another.
const FLAGS: &[&str] = &["", "i", "m", "s", "x", "msix", "n", "u", "a", "aa", "l", "p", "xx", "d"];

/// Makes a random document with at most `depth` levels; the same seed gives the same document.
pub fn random(seed: u64, depth: u32) -> Tree {
    let mut r = Random::new(seed);
    let many = 1 + r.below(3);
    if r.one_in(4) { map(&mut r, depth) } else { Tree::Array((0..many).map(|_| value(&mut r, depth)).collect()) }
}

fn text(random: &mut Random) -> String {
    match random.below(4) {
        0 => (0..random.below(6)).filter_map(|_| char::from_u32(random.below(0x300) as u32)).collect(),
        _ => (*random.pick(TEXTS)).to_owned(),
    }
}

fn bytes(random: &mut Random) -> Vec<u8> {
    match random.below(4) {
        0 => (0..random.below(6)).map(|_| random.below(256) as u8).collect(),
        _ => random.pick(BYTES).to_vec(),
    }
}

fn name(random: &mut Random) -> Vec<u8> {
    random.pick(NAMES).as_bytes().to_vec()
}

fn class(random: &mut Random) -> Vec<u8> {
    random.pick(CLASSES).as_bytes().to_vec()
}

fn float(random: &mut Random) -> f64 {
    match random.below(4) {
        0 => f64::from_bits(random.bits()),
        1 => (random.below(2_000_000) as f64 - 1e6) / 1000.0,
        _ => *random.pick(FLOATS),
    }
}

fn int(random: &mut Random) -> i64 {
    if random.one_in(4) { random.bits() as i64 >> random.below(64) } else { *random.pick(INTS) }
}

fn float128(random: &mut Random) -> [u8; 16] {
    // Some are exact as a double, some are not.
    let exact: u128 = *random.pick(&[0x3FFF << 112, 0x4000_8000 << 96, 0xBFFF << 112, 1 << 127, 0x7FFF << 112]);
    let bits = if random.one_in(2) { exact } else { exact ^ u128::from(random.bits() >> random.below(40)) };
    bits.to_le_bytes()
}

fn leaf(random: &mut Random) -> Tree {
    match random.below(24) {
        0 => Tree::Null,
        1 => Tree::Bool(random.one_in(2)),
        2..=4 => Tree::Int(int(random)),
        5 => Tree::Uint((1 << 63) | random.bits() >> random.below(64)),
        6 => {
            let mut magnitude: Vec<u8> = (0..9 + random.below(8)).map(|_| random.below(256) as u8).collect();
            magnitude.push(1);
            Tree::Big(random.one_in(2), magnitude)
        }
        7..=9 => Tree::Float(float(random)),
        10 => Tree::Float32(if random.one_in(2) { 3.0 } else { f32::from_bits(random.bits() as u32) }),
        11 => Tree::Float128(float128(random)),
        12 | 13 => Tree::Bytes(bytes(random)),
        14 | 15 => Tree::Text(text(random)),
        16 => Tree::Loose(random.pick(&[&b"\xed\xa0\x80"[..], b"\xf4\x90\x80\x80", b"a\xff"]).to_vec()),
        17 => Tree::Encoded(bytes(random), random.pick::<&str>(ENCODINGS)),
        18 => Tree::Symbol(if random.one_in(3) { text(random).into_bytes() } else { name(random) }, ""),
        19 => Tree::Symbol(b"\xb4\xc1".to_vec(), "EUC-JP"),
        20 => Tree::Module(class(random), *random.pick(&[Form::Usual, Form::Module, Form::OldModule])),
        21 => Tree::Enum(b"Suit:Hearts".to_vec()),
        22 => Tree::Module(b"*main::STDOUT".to_vec(), Form::Variable),
        _ => Tree::Null,
    }
}

fn value(random: &mut Random, depth: u32) -> Tree {
    if depth == 0 || random.one_in(3) {
        return leaf(random);
    }
    let depth = depth - 1;
    match random.below(24) {
        0..=3 => array(random, depth),
        4..=8 => map(random, depth),
        9 => Tree::Ref(Box::new(value(random, depth))),
        10..=12 => object(random, depth),
        13 | 14 => opaque(random, depth),
        15 => {
            let body = match random.below(3) {
                0 => array(random, depth),
                1 => Tree::Text(text(random)),
                _ => map(random, depth),
            };
            let class = match random.below(3) {
                0 => None,
                1 => Some((class(random), Form::Module)),
                _ => Some((class(random), Form::Subclass)),
            };
            // In Ruby's order: variables outside, then mixed-in modules, then the class.
            let inner = if class.is_some() { Tree::Attrs(class, Box::new(body), Vec::new()) } else { body };
            let count = random.below(3);
            if count == 0 {
                return inner;
            }
            let names = ["@a", "@b"].iter().take(count as usize);
            let entries = names.map(|name| (Key::Symbol(name.as_bytes().to_vec(), ""), leaf(random))).collect();
            Tree::Attrs(None, Box::new(inner), entries)
        }
        16 => {
            let pattern = if random.one_in(2) { Tree::Bytes(b"a+".to_vec()) } else { Tree::Text("\u{e9}+".to_owned()) };
            Tree::Regexp(Box::new(pattern), random.pick(FLAGS).as_bytes().to_vec(), random.one_in(6))
        }
        17 => Tree::Code(Box::new(Tree::Bytes(b"{ 1 }".to_vec()))),
        18 => Tree::VString(b"v1.2".to_vec(), Box::new(Tree::Bytes(b"\x01\x02".to_vec()))),
        19 => match random.below(4) {
            0 => Tree::Tied(Form::TiedScalar, vec![object(random, depth)]),
            1 => Tree::Tied(Form::TiedArray, vec![object(random, depth)]),
            2 => Tree::Tied(Form::TiedHash, vec![object(random, depth)]),
            _ => Tree::Tied(Form::TiedElement, vec![object(random, depth), Tree::Bytes(name(random))]),
        },
        20 => Tree::Weak(Box::new(if random.one_in(2) { array(random, depth) } else { map(random, depth) })),
        21 => Tree::Overload(Box::new(object(random, depth))),
        _ => leaf(random),
    }
}

fn array(random: &mut Random, depth: u32) -> Tree {
    let hole = |random: &mut Random| random.one_in(12);
    let many = if random.one_in(6) { 0 } else { random.below(4) };
    Tree::Array((0..many).map(|_| if hole(random) { Tree::Hole } else { value(random, depth) }).collect())
}

/// Makes the members of an object: by name, never by identity.
fn members(random: &mut Random, depth: u32) -> Tree {
    match map(random, depth) {
        Tree::Map(map) => Tree::Map(Map { identity: false, ..map }),
        other => other,
    }
}

fn map(random: &mut Random, depth: u32) -> Tree {
    let many = if random.one_in(5) { 0 } else { random.below(5) };
    let restricted = random.one_in(10);
    let kind = random.below(5);
    let mut map = Map { restricted, ..Map::default() };
    for number in 0..many {
        let key = match kind {
            // Keys as in a hash of Perl, in a list of PHP, and in a hash of Ruby.
            0 => Key::Bytes(name(random)),
            1 => Key::Int(number as i64),
            _ => key(random, depth, restricted),
        };
        let value = if matches!(key, Key::Absent(_)) { Tree::Hole } else { value(random, depth) };
        map.entries.push((key, value));
    }
    map.identity = random.one_in(20);
    if random.one_in(20) {
        map.default = Some(Box::new(leaf(random)));
    }
    Tree::Map(map)
}

fn key(random: &mut Random, depth: u32, restricted: bool) -> Key {
    match random.below(16) {
        0..=3 => Key::Bytes(name(random)),
        4..=6 => Key::Text(String::from_utf8(name(random)).unwrap()),
        7 => Key::Text(text(random)),
        8 => Key::Bytes(bytes(random)),
        9 | 10 => Key::Int(if random.one_in(3) { int(random) } else { random.below(3) as i64 }),
        11 => Key::Symbol(name(random), ""),
        12 if restricted => Key::Absent(name(random)),
        13 if restricted => Key::Locked(name(random)),
        14 => Key::Value(Box::new(match random.below(6) {
            0 => Tree::Null,
            1 => Tree::Bool(random.one_in(2)),
            2 => Tree::Float(*random.pick(&[1.0, 1.5, -0.0])),
            3 => Tree::Uint(u64::MAX),
            4 if depth > 0 => Tree::Array(vec![Tree::Int(1)]),
            _ => Tree::Encoded(b"a".to_vec(), "EUC-JP"),
        })),
        _ => Key::Bytes(name(random)),
    }
}

fn object(random: &mut Random, depth: u32) -> Tree {
    let symbols = |random: &mut Random, depth, names: &[&str]| {
        let entries = names.iter().map(|name| (Key::Symbol(name.as_bytes().to_vec(), ""), value(random, depth)));
        Box::new(Tree::Map(Map { entries: entries.collect(), ..Map::default() }))
    };
    match random.below(9) {
        0 | 1 => {
            let mut entries = vec![(Key::Bytes(b"pub".to_vec()), value(random, depth))];
            if random.one_in(2) {
                entries.push((Key::Bytes(b"\0*\0prot".to_vec()), value(random, depth)));
                entries.push((Key::Bytes(b"\0App\\User\0priv".to_vec()), value(random, depth)));
            }
            Tree::Object(b"App\\User".to_vec(), Form::Usual, Box::new(Tree::Map(Map { entries, ..Map::default() })))
        }
        2 => Tree::Object(b"A::B".to_vec(), Form::Usual, symbols(random, depth, &["@a", "@b"])),
        3 => Tree::Object(b"S".to_vec(), Form::Struct, symbols(random, depth, &["a", "b"])),
        4 => Tree::Object(class(random), Form::Usual, Box::new(array(random, depth))),
        5 => Tree::Object(class(random), Form::Usual, Box::new(Tree::Ref(Box::new(leaf(random))))),
        6 => Tree::Object(class(random), Form::Usual, Box::new(members(random, depth))),
        7 => Tree::Object(b"stdClass".to_vec(), Form::Usual, Box::new(members(random, depth))),
        _ => Tree::Object(class(random), Form::Usual, Box::new(Tree::Map(Map::default()))),
    }
}

fn opaque(random: &mut Random, depth: u32) -> Tree {
    let (form, payload) = match random.below(6) {
        // The last part is the object itself, which is empty.
        0 => (Form::Hook, vec![Tree::Bytes(bytes(random)), array(random, depth), Tree::Map(Map::default())]),
        1 => (Form::Hook, vec![Tree::Bytes(bytes(random)), Tree::Array(Vec::new())]),
        2 => (Form::Freeze, vec![array(random, depth)]),
        3 => (Form::Serializable, vec![Tree::Bytes(b"x:1".to_vec())]),
        4 => (Form::UserDump, vec![Tree::Bytes(bytes(random))]),
        _ => (Form::UserMarshal, vec![value(random, depth)]),
    };
    let class = if random.one_in(2) { "Frozen" } else { "My::Frozen" };
    Tree::Opaque(class.as_bytes().to_vec(), form, payload)
}

impl Tree {
    pub fn document(&self) -> Document<'static> {
        let mut builder = Builder::new();
        self.build(&mut builder);
        builder.finish().unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn build(&self, builder: &mut Builder) {
        match self {
            Tree::Null => drop(builder.null()),
            Tree::Bool(value) => drop(builder.bool(*value)),
            Tree::Int(value) => drop(builder.int(*value)),
            Tree::Uint(value) => drop(builder.uint(*value)),
            Tree::Big(negative, magnitude) => drop(builder.big_int(*negative, magnitude)),
            Tree::Float(value) => drop(builder.float(*value)),
            Tree::Float32(value) => drop(builder.float32(*value)),
            Tree::Float128(value) => drop(builder.float128(value)),
            Tree::Bytes(bytes) => drop(builder.bytes(bytes)),
            Tree::Text(text) => drop(builder.text(text)),
            Tree::Loose(bytes) => drop(builder.loose_text(bytes)),
            Tree::Encoded(bytes, encoding) => drop(builder.encoded(bytes, encoding)),
            Tree::Symbol(bytes, encoding) => drop(builder.symbol(bytes, encoding)),
            Tree::Module(name, form) => drop(builder.module(name, *form)),
            Tree::Enum(name) => drop(builder.enum_case(name)),
            Tree::Hole => drop(builder.hole()),
            Tree::Array(items) => {
                builder.begin_array();
                items.iter().for_each(|item| item.build(builder));
                builder.end();
            }
            Tree::Map(map) => map.build(builder),
            Tree::Ref(inner) => {
                builder.begin_ref();
                inner.build(builder);
                builder.end();
            }
            Tree::Object(class, form, body) => {
                builder.begin_object_in(class, *form);
                body.build(builder);
                builder.end();
            }
            Tree::Opaque(class, form, parts) => {
                builder.begin_opaque(class, *form);
                parts.iter().for_each(|part| part.build(builder));
                builder.end();
            }
            Tree::Attrs(class, value, entries) => {
                match class {
                    None => builder.begin_attributes(),
                    Some((class, form)) => builder.begin_extended(class, *form),
                };
                value.build(builder);
                entries.iter().for_each(|(key, value)| key.build(value, builder));
                builder.end();
            }
            Tree::Regexp(pattern, flags, is_bare) => {
                if *is_bare {
                    builder.begin_bare_regexp();
                    pattern.build(builder);
                    builder.bytes(flags).end();
                } else {
                    builder.begin_regexp();
                    pattern.build(builder);
                    builder.bytes(flags).end();
                }
            }
            Tree::Code(source) => {
                builder.begin_code();
                source.build(builder);
                builder.end();
            }
            Tree::VString(source, value) => {
                builder.begin_vstring();
                builder.bytes(source);
                value.build(builder);
                builder.end();
            }
            Tree::Tied(form, parts) => {
                builder.begin_tied(*form);
                parts.iter().for_each(|part| part.build(builder));
                builder.end();
            }
            Tree::Weak(inner) => {
                builder.weak();
                inner.build(builder);
            }
            Tree::Overload(inner) => {
                builder.overloaded();
                inner.build(builder);
            }
        }
    }

    /// Returns smaller trees that may fail in the same way.
    pub fn make_smaller_trees(&self) -> Vec<Tree> {
        let mut all: Vec<Tree> = self.parts().into_iter().cloned().collect();
        if !matches!(self, Tree::Null) {
            all.push(Tree::Null);
        }
        match self {
            Tree::Array(items) => {
                for index in 0..items.len() {
                    let mut fewer = items.clone();
                    fewer.remove(index);
                    all.push(Tree::Array(fewer));
                }
            }
            Tree::Map(map) => {
                for index in 0..map.entries.len() {
                    let mut fewer = map.clone();
                    fewer.entries.remove(index);
                    all.push(Tree::Map(fewer));
                }
                if map.restricted && map.entries.iter().all(|(key, _)| !matches!(key, Key::Locked(_) | Key::Absent(_)))
                {
                    all.push(Tree::Map(Map { restricted: false, ..map.clone() }));
                }
                if map.identity {
                    all.push(Tree::Map(Map { identity: false, ..map.clone() }));
                }
                if map.default.is_some() {
                    all.push(Tree::Map(Map { default: None, ..map.clone() }));
                }
            }
            _ => {}
        }
        let count = self.parts().len();
        for index in 0..count {
            let part = self.parts()[index];
            // The body of an object and a payload must keep their kind.
            let is_fixed = index == 0 && matches!(self, Tree::Object(..) | Tree::Tied(..))
                || matches!(self, Tree::Opaque(..))
                || matches!(self, Tree::Weak(_) | Tree::Overload(_));
            let same = |other: &Tree| !is_fixed || std::mem::discriminant(part) == std::mem::discriminant(other);
            for part in part.make_smaller_trees().into_iter().filter(same) {
                let mut other = self.clone();
                if let Some(place) = other.part_mut(index) {
                    *place = part;
                }
                all.push(other);
            }
        }
        all
    }

    fn parts(&self) -> Vec<&Tree> {
        match self {
            Tree::Array(parts) | Tree::Opaque(_, _, parts) | Tree::Tied(_, parts) => parts.iter().collect(),
            Tree::Map(map) => map.entries.iter().map(|(_, value)| value).collect(),
            Tree::Ref(inner) | Tree::Object(_, _, inner) | Tree::Weak(inner) | Tree::Overload(inner) => vec![inner],
            Tree::Attrs(_, value, entries) => {
                std::iter::once(&**value).chain(entries.iter().map(|(_, value)| value)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn part_mut(&mut self, index: usize) -> Option<&mut Tree> {
        match self {
            Tree::Array(parts) | Tree::Opaque(_, _, parts) | Tree::Tied(_, parts) => parts.get_mut(index),
            Tree::Map(map) => {
                map.entries.get_mut(index).filter(|(key, _)| !matches!(key, Key::Absent(_))).map(|(_, value)| value)
            }
            Tree::Ref(inner) | Tree::Object(_, _, inner) | Tree::Weak(inner) | Tree::Overload(inner) => Some(inner),
            Tree::Attrs(_, value, entries) => match index.checked_sub(1) {
                None => Some(value),
                Some(index) => entries.get_mut(index).map(|(_, value)| value),
            },
            _ => None,
        }
    }

    /// Returns the smallest tree found that still fails.
    pub fn shrink(mut self, fails: impl Fn(&Tree) -> bool) -> Tree {
        'again: loop {
            for smaller in self.make_smaller_trees() {
                if !matches!(smaller, Tree::Array(_) | Tree::Map(_)) {
                    continue;
                }
                if smaller.size() < self.size() && fails(&smaller) {
                    self = smaller;
                    continue 'again;
                }
            }
            return self;
        }
    }

    fn size(&self) -> usize {
        let own = match self {
            Tree::Null => 1,
            Tree::Map(map) => {
                3 + map.entries.len()
                    + usize::from(map.restricted)
                    + usize::from(map.identity)
                    + usize::from(map.default.is_some())
            }
            _ => 3,
        };
        own + self.parts().iter().map(|part| part.size()).sum::<usize>()
    }
}

impl Map {
    fn build(&self, builder: &mut Builder) {
        builder.begin_map();
        if self.restricted {
            builder.restrict();
        }
        if self.identity {
            builder.by_identity();
        }
        self.entries.iter().for_each(|(key, value)| key.build(value, builder));
        if let Some(default) = &self.default {
            builder.default_value();
            default.build(builder);
        }
        builder.end();
    }
}

impl Key {
    fn build(&self, value: &Tree, builder: &mut Builder) {
        match self {
            Key::Bytes(name) => drop(builder.bytes_key(name)),
            Key::Text(name) => drop(builder.text_key(name)),
            Key::Int(number) => drop(builder.int_key(*number)),
            Key::Symbol(name, encoding) => drop(builder.symbol_key(name, encoding)),
            Key::Value(key) => {
                builder.key();
                key.build(builder);
            }
            Key::Locked(name) => drop(builder.locked().bytes_key(name)),
            Key::Absent(name) => drop(builder.placeholder().bytes_key(name)),
        }
        value.build(builder);
    }
}
