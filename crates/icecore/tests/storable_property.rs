//! Random documents with everything that Storable can represent, through every kind of image and back.

use crate::common::{Random, usual_or_full};
use icecore::raw::Reader as _;
use icecore::{
    Builder, Document, Limits, Request, Stage,
    format::storable,
    value::{Comparison, Form},
};

/// All names are ASCII, because a class name has no flag for text.
const CLASSES: &[&str] = &["A", "My::Class", "Regexp::Not", ""];
const WORDS: &[&str] = &["", "a", "name", "caf\u{e9}", "\u{263a} \u{1f600}", "\0\n", "$ref", "12"];

/// Floats that Storable does not write as integers, and perl's text for them.
const FLOATS: &[(f64, &str)] = &[
    (f64::INFINITY, "Inf"),
    (f64::NEG_INFINITY, "-Inf"),
    (f64::NAN, "NaN"),
    (9_007_199_254_740_992.0, "9.00719925474099e+15"),
    (1e300, "1e+300"),
    (5e-324, "4.94065645841247e-324"),
    (1.0 / 3.0, "0.333333333333333"),
    (-0.0001, "-0.0001"),
    (0.00001, "1e-05"),
];

struct Generator {
    random: Random,
    builder: Builder,
    /// `true` if to make what a network-order image gives back: Storable writes floats, and integers
    /// beyond 32 bits, as strings there. The number of nodes stays the same, so that links stay
    /// valid.
    netorder: bool,
    /// `true` if entries will be sorted: a value that a hook refers to may then be stored inside its
    /// record or outside of it, whichever comes first. So only hooks refer to the values inside.
    canonical: bool,
    /// Possible targets of links (`objects`) and of aliases (`variables`).
    objects: Vec<u32>,
    variables: Vec<u32>,
    /// Index of the next node. It is known only until a key follows a container, because a key may
    /// take a node.
    next: u32,
    is_known: bool,
}

/// Makes the same document for the same seed, as it is or as network order gives it back.
fn random_document(seed: u64, netorder: bool, canonical: bool) -> Document<'static> {
    let mut generator = Generator {
        random: Random::new(seed),
        builder: Builder::new(),
        netorder,
        canonical,
        objects: Vec::new(),
        variables: Vec::new(),
        next: 0,
        is_known: true,
    };
    // A frozen value is always something that a reference refers to.
    match generator.random.below(4) {
        0 => generator.object(5),
        1 => generator.hash(5),
        _ => generator.array(5),
    };
    generator.builder.finish().expect("a well-formed document")
}

impl Generator {
    /// Notes that a container was begun.
    fn note_begun_container(&mut self, node: u32) -> u32 {
        (self.next, self.is_known) = (node + 1, true);
        node
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = if self.random.one_in(30) { 250 + self.random.below(20) } else { self.random.below(12) };
        (0..len).map(|_| self.random.below(256) as u8).collect()
    }

    fn class(&mut self) -> String {
        match self.random.below(8) {
            0 => "L".repeat(120 + self.random.below(200) as usize),
            1 => format!("Class{}", self.random.below(400)),
            _ => (*self.random.pick(CLASSES)).to_owned(),
        }
    }

    /// Adds a scalar that contains no other value.
    fn leaf(&mut self) {
        self.next += 1;
        let net = self.netorder;
        match self.random.below(9) {
            0 => drop(self.builder.null()),
            1 => {
                let value = self.random.one_in(2);
                self.builder.bool(value);
            }
            2 | 3 => {
                let value = match self.random.below(3) {
                    0 => self.random.bits() as i64,
                    1 => self.random.below(600) as i64 - 300,
                    _ => *self.random.pick(&[i64::MIN, i64::MAX, 1 << 31, -(1 << 31), -(1 << 31) - 1, (1 << 31) - 1]),
                };
                match i32::try_from(value) {
                    Err(_) if net => self.builder.bytes(value.to_string()),
                    _ => self.builder.int(value),
                };
            }
            4 => {
                let number = self.random.below(1 << 20);
                let (value, text) = match self.random.below(2) {
                    0 => *self.random.pick(FLOATS),
                    _ => (number as f64 + 0.25, &*format!("{number}.25")),
                };
                if net {
                    self.builder.bytes(text)
                } else {
                    self.builder.float(value)
                };
            }
            5 => {
                let text = *self.random.pick(WORDS);
                self.builder.text(text);
            }
            _ => {
                let bytes = self.bytes();
                self.builder.bytes(bytes);
            }
        }
    }

    /// Adds anything that can be an element of an array or a value of a hash.
    fn value(&mut self, depth: u32) {
        let depth = depth.saturating_sub(1);
        let kind = if depth == 0 { self.random.below(5) } else { self.random.below(20) };
        if kind >= 8 && kind != 18 && self.random.one_in(8) {
            self.builder.weak();
        }
        if kind >= 8 && kind != 18 && self.random.one_in(10) {
            self.builder.overloaded();
        }
        match kind {
            0 if !self.variables.is_empty() => {
                let target = *self.random.pick(&self.variables);
                self.next += 1;
                self.builder.alias(target);
            }
            1..=3 => {
                if self.is_known {
                    self.variables.push(self.next);
                }
                self.leaf();
            }
            5 => {
                self.next += 3;
                let text = format!("v{}", self.random.below(300));
                self.builder.begin_vstring();
                self.builder.bytes(text).bytes("\x01").end();
            }
            6 => {
                let node = self.builder.begin_tied(Form::TiedScalar).at();
                self.note_begun_container(node);
                self.value(depth);
                self.builder.end();
            }
            7 => {
                let node = self.builder.begin_tied(Form::TiedElement).at();
                self.note_begun_container(node);
                self.value(depth);
                self.next += 1;
                if self.random.one_in(2) {
                    let index = self.random.below(1 << 31) as i64;
                    self.builder.int(index);
                } else {
                    self.builder.bytes("key");
                }
                self.builder.end();
            }
            8 | 9 => drop(self.array(depth)),
            10 | 11 => drop(self.hash(depth)),
            12 | 13 => drop(self.object(depth)),
            14 => {
                let node = self.builder.begin_ref().at();
                self.note_begun_container(node);
                self.value(depth);
                self.builder.end();
            }
            15 if !self.objects.is_empty() => {
                let target = *self.random.pick(&self.objects);
                self.next += 1;
                self.builder.link(target);
            }
            16 => {
                self.next += 3;
                let flags = *self.random.pick(&["", "u", "msix"]);
                let pattern = self.bytes();
                self.builder.regexp(pattern, flags);
            }
            17 => {
                let node = self.builder.begin_code().at();
                self.objects.push(node);
                self.builder.bytes("{ 1 }").end();
                self.note_begun_container(node);
                self.next += 1;
            }
            18 => self.hook(depth),
            19 => {
                let node = self.builder.begin_tied(*self.random.pick(&[Form::TiedArray, Form::TiedHash])).at();
                self.note_begun_container(node);
                self.objects.push(node);
                self.value(depth);
                self.builder.end();
            }
            _ => self.leaf(),
        }
    }

    fn array(&mut self, depth: u32) -> u32 {
        self.array_as(depth, true)
    }

    /// Links may refer to it if `is_object`.
    fn array_as(&mut self, depth: u32, is_object: bool) -> u32 {
        let node = self.builder.begin_array().at();
        self.note_begun_container(node);
        self.objects.extend(is_object.then_some(node));
        let count = if self.random.one_in(40) { 300 } else { self.random.below(5) };
        for _ in 0..count {
            if self.random.one_in(12) {
                self.next += 1;
                self.builder.hole();
            } else {
                self.value(if count > 9 { 0 } else { depth });
            }
        }
        self.builder.end();
        node
    }

    fn hash(&mut self, depth: u32) -> u32 {
        self.hash_as(depth, true)
    }

    /// Links may refer to it if `is_object`.
    fn hash_as(&mut self, depth: u32, is_object: bool) -> u32 {
        let node = self.builder.begin_map().at();
        self.note_begun_container(node);
        self.objects.extend(is_object.then_some(node));
        let count = if self.random.one_in(20) { 100 } else { self.random.below(5) };
        let restricted = self.random.one_in(6);
        if restricted {
            self.builder.restrict();
        }
        for number in 0..count {
            let absent = restricted && self.random.one_in(4);
            if absent {
                self.builder.placeholder();
            } else if restricted && self.random.one_in(3) {
                self.builder.locked();
            }
            self.is_known = false;
            match self.random.below(4) {
                0 => drop(self.builder.text_key(&format!("{number} \u{e9}"))),
                1 => drop(self.builder.text_key(&format!("{number} \u{263a}"))),
                2 => drop(self.builder.bytes_key([b'0' + number as u8 % 10, 0xE9, number as u8])),
                _ => drop(self.builder.bytes_key(format!("k{number}"))),
            }
            if absent {
                self.next += 1;
                self.builder.hole();
            } else {
                self.value(if count > 9 { 0 } else { depth });
            }
        }
        self.builder.end();
        node
    }

    fn object(&mut self, depth: u32) -> u32 {
        let class = self.class();
        let node = self.builder.begin_object(class).at();
        self.note_begun_container(node);
        self.objects.push(node);
        match self.random.below(4) {
            0 => drop(self.array_as(depth, false)),
            1 => {
                // Not around an alias, because an existing value can't be blessed. A blessed value is
                // an object, to which links refer.
                let inner = self.builder.begin_ref().at();
                self.note_begun_container(inner);
                let (scalar, variables) = (inner + 1, std::mem::take(&mut self.variables));
                self.value(depth);
                self.variables.retain(|variable| *variable != scalar);
                self.variables.extend(variables);
                self.builder.end();
            }
            _ => drop(self.hash_as(depth, false)),
        }
        self.builder.end();
        node
    }

    fn hook(&mut self, depth: u32) {
        let (before, variables) = (self.objects.clone(), self.variables.clone());
        let (class, payload) = (self.class(), self.bytes());
        let node = self.builder.begin_opaque(class, Form::Hook).at();
        self.note_begun_container(node);
        self.objects.push(node);
        self.builder.bytes(payload);
        self.next += 1;
        if self.canonical {
            self.objects.clear();
            self.variables.clear();
        }
        let mut links = Vec::new();
        for _ in 0..self.random.below(3) {
            links.push(match self.random.below(3) {
                0 => self.object(depth),
                1 => self.hash(depth),
                _ => self.array(depth),
            });
        }
        if !before.is_empty() && !self.canonical {
            links.extend((0..self.random.below(3)).map(|_| *self.random.pick(&before)));
        }
        for link in links {
            self.next += 1;
            self.builder.link(link);
        }
        self.next += 1;
        match self.random.below(4) {
            0 => drop(self.builder.null()),
            1 => {
                self.builder.begin_array();
                self.builder.end();
            }
            2 => {
                let node = self
                    .builder
                    .begin_tied(*self.random.pick(&[Form::TiedArray, Form::TiedHash, Form::TiedScalar]))
                    .at();
                self.note_begun_container(node);
                self.value(depth);
                self.builder.end();
            }
            _ => {
                self.builder.begin_map();
                self.builder.end();
            }
        }
        self.builder.end();
        if self.canonical {
            self.objects = before;
            self.objects.push(node);
            self.variables = variables;
        }
    }
}

fn all_write_options() -> Vec<storable::WriteOptions> {
    let mut all = Vec::new();
    for bits in 0..16 {
        let mut options = storable::WriteOptions::default();
        options.file = Some(bits & 1 != 0);
        options.netorder = bits & 2 != 0;
        options.minor = Some(if bits & 4 != 0 { 12 } else { 11 });
        options.canonical = bits & 8 != 0;
        all.push(options);
    }
    all
}

fn write_document(document: &Document<'_>, options: &storable::WriteOptions) -> Vec<u8> {
    let mut out = Vec::new();
    storable::write(document, options, &Limits::default(), &mut out).unwrap_or_else(|e| panic!("{e}\n{document:?}"));
    out
}

#[test]
fn random_documents_round_trip() {
    let limits = Limits::default();
    let modes = all_write_options();
    for seed in 0..4000 {
        let options = &modes[seed as usize % modes.len()];
        let meant = random_document(seed, false, options.canonical);
        let expected = if options.netorder { random_document(seed, true, options.canonical) } else { meant.clone() };
        let image = write_document(&meant, options);
        let context = |read: &Document<'_>| format!("{seed} {options:?}\n{image:02x?}\n{expected:?}\n{read:?}");
        let same = if options.canonical { Comparison::new().any_order() } else { Comparison::new() };

        let mut read_options = storable::ReadOptions::default();
        let fast =
            storable::read(&image, &read_options, &limits).unwrap_or_else(|e| panic!("{e}\n{}", context(&expected)));
        assert!(same.equal(&fast, &expected), "{}", context(&fast));
        read_options.reference = true;
        let traced = read_options.read(&image, Request::new(&limits).detailed()).document;
        assert!(traced == fast, "{}", context(&traced));
        // Written in the form it was read in, it is the same byte for byte.
        assert!(write_document(&traced, &storable::WriteOptions::default()) == image, "{}", context(&traced));
        let mut plain = options.clone();
        plain.reference = true;
        assert!(write_document(&meant, &plain) == image, "the writers differ: {}", context(&fast));

        let typed = icecore::write(&fast, "json:typed").unwrap();
        let reread = icecore::read_as(&typed, &Stage::parse("json:typed").unwrap(), &limits).unwrap();
        assert!(reread == fast, "{}\n{}", String::from_utf8_lossy(&typed), context(&reread));
    }
}

/// Makes a tree whose values depend only on their keys, with its entries in one order or the reverse.
fn tree(builder: &mut Builder, seed: u64, depth: u32, backwards: bool) {
    let mut random = Random::new(seed);
    let count = if random.one_in(10) { 300 } else { random.below(7) };
    let mut entries: Vec<u64> = (0..count).collect();
    if backwards {
        entries.reverse();
    }
    builder.begin_map();
    for entry in entries {
        let seed = seed.wrapping_mul(31).wrapping_add(entry + 1);
        match entry % 4 {
            0 => drop(builder.text_key(&format!("\u{e9}{entry}"))),
            1 => drop(builder.text_key(&format!("{entry}\u{1f600}"))),
            2 => drop(builder.bytes_key([&b"\xe9"[..], entry.to_string().as_bytes()].concat())),
            _ => drop(builder.bytes_key(entry.to_string())),
        }
        if depth == 0 || count > 9 || entry % 2 == 0 {
            builder.int(seed as i32 as i64);
        } else if entry % 3 == 0 {
            // After the first, each class is written by its number.
            builder.begin_object("Same::Class");
            tree(builder, seed, depth - 1, backwards);
            builder.end();
        } else {
            tree(builder, seed, depth - 1, backwards);
        }
    }
    builder.end();
}

#[test]
fn canonical_images_are_independent_of_the_order_of_entries() {
    let mut differed = 0;
    for seed in 0..usual_or_full(100, 400) {
        let images = |options: &storable::WriteOptions| {
            [false, true].map(|backwards| {
                let mut builder = Builder::new();
                tree(&mut builder, seed, 4, backwards);
                write_document(&builder.finish().unwrap(), options)
            })
        };
        for options in all_write_options() {
            let [one, other] = images(&options);
            if options.canonical {
                assert!(one == other, "{seed} {options:?}");
            } else {
                differed += usize::from(one != other);
            }
        }
    }
    assert!(differed > usual_or_full(250, 1000), "the orders hardly differ: {differed}");
}
