//! Helpers that integration tests share: a small random generator, random documents, and threads
//! with a small stack.

#![allow(dead_code, reason = "not every test uses everything")]

use icecore::{
    Builder, Document, Kind, Limits, Request,
    raw::{Outcome, Reader},
    value::Form,
};

/// Xorshift: small, and the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.bits() >> 11) % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len() as u64) as usize]
    }
}

/// Which values a random document may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// Values of plain JSON.
    Json,
    /// Values of Perl's formats.
    Perl,
    /// Everything that a document can contain.
    All,
}

/// Makes a random document; the same seed gives the same document.
pub fn document(seed: u64, palette: Palette) -> Document<'static> {
    let mut generator = Generator {
        random: Random::new(seed),
        builder: Builder::new(),
        palette,
        containers: vec![],
        variables: vec![],
    };
    if palette == Palette::All && generator.random.one_in(8) {
        generator.value(3);
        generator.builder.end_header();
    }
    generator.value(6);
    generator.builder.finish().expect("a well-formed document")
}

struct Generator {
    random: Random,
    builder: Builder,
    palette: Palette,
    /// Possible targets of links.
    containers: Vec<u32>,
    /// Possible targets of aliases.
    variables: Vec<u32>,
}

const ENCODINGS: &[&str] = &["", "EUC-JP", "Windows-31J"];
const INTS: &[i64] =
    &[0, 1, -1, 15, 16, -16, -17, 127, 128, -128, -129, 255, 256, 1 << 31, (1 << 53) + 1, i64::MAX, i64::MIN];
const FLOATS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    0.1,
    -1.5,
    1e15,
    1e16,
    1e17,
    1e21,
    1e22,
    5e-324,
    f64::MAX,
    f64::MIN_POSITIVE,
    123456789.125,
    1.0 / 3.0,
];
const STRINGS: &[&[u8]] = &[
    b"",
    b"a",
    b"name",
    b"$class",
    b"$$",
    b"$t:x",
    b"with \"quotes\" and \\",
    b"\0\x01\x1f\n\r\t\x08\x0c",
    "caf\u{e9}".as_bytes(),
    "\u{20ac}\u{1f600}".as_bytes(),
    b"caf\xe9",
    b"\xff\xfe\x00\x80",
    b"\x80\x81\x82\x83",
    b"12",
    b"__proto__",
    b"this one is longer than thirty-two bytes, so it is not a short string",
];

impl Generator {
    fn bytes(&mut self) -> Vec<u8> {
        match self.random.below(4) {
            0 => (0..self.random.below(20)).map(|_| self.random.below(256) as u8).collect(),
            1 => format!("key{}", self.random.below(30)).into_bytes(),
            _ => self.random.pick(STRINGS).to_vec(),
        }
    }

    fn text(&mut self) -> String {
        match self.random.below(3) {
            0 => {
                (0..self.random.below(12)).filter_map(|_| char::from_u32(self.random.below(0x11_0000) as u32)).collect()
            }
            _ => String::from_utf8_lossy(&self.bytes()).into_owned(),
        }
    }

    fn float(&mut self) -> f64 {
        match self.random.below(3) {
            0 => f64::from_bits(self.random.bits()),
            1 => (self.random.below(2_000_000) as f64 - 1e6) / 1000.0,
            _ => *self.random.pick(FLOATS),
        }
    }

    fn count(&mut self) -> u64 {
        match self.random.below(12) {
            0 => 0,
            1 => 15 + self.random.below(3),
            _ => self.random.below(5),
        }
    }

    /// Adds any value. Only `Builder::begin_array` and similar methods return the index of a node,
    /// so a leaf is aliased only if it is the first item of an array.
    fn value(&mut self, depth: u32) {
        let kinds = match self.palette {
            Palette::Json => 10,
            Palette::Perl => 18,
            Palette::All => 32,
        };
        if self.palette != Palette::Json {
            if self.random.one_in(20) {
                self.builder.weak();
            }
            if self.palette == Palette::All && self.random.one_in(30) {
                self.builder.overloaded();
            }
        }
        match self.random.below(kinds) {
            0 => drop(self.builder.null()),
            1 => drop(self.builder.bool(self.random.one_in(2))),
            2 => self.int(),
            3 => {
                let float = self.float();
                // JSON has no infinities, and kinds of NaN are not told apart.
                let float = if float.is_finite() || self.palette != Palette::Json { float } else { 0.5 };
                self.builder.float(float);
            }
            4 | 5 => {
                let text = self.text();
                self.builder.text(&text);
            }
            6 | 7 if depth > 0 => self.array(depth),
            8 | 9 if depth > 0 => self.map(depth),
            10 | 11 => {
                let bytes = self.bytes();
                self.builder.bytes(bytes);
            }
            12 if depth > 0 => {
                let node = self.builder.begin_ref().at();
                self.containers.push(node);
                self.value(depth - 1);
                self.builder.end();
            }
            13 if depth > 0 => {
                let class = self.bytes();
                let is_struct = self.palette == Palette::All && self.random.one_in(4);
                let form = if is_struct { Form::Struct } else { Form::Usual };
                self.containers.push(self.builder.begin_object_in(class, form).at());
                self.value(depth - 1);
                self.builder.end();
            }
            14 | 15 if !self.containers.is_empty() => {
                let target = *self.random.pick(&self.containers);
                self.builder.link(target);
            }
            16 if !self.variables.is_empty() => {
                let target = *self.random.pick(&self.variables);
                self.builder.alias(target);
            }
            17 => {
                let (pattern, flags) = (self.bytes(), *self.random.pick(&["", "i", "msix"]));
                self.builder.regexp(pattern, flags);
            }
            18.. => self.rare(depth),
            _ => drop(self.builder.null()),
        }
    }

    fn int(&mut self) {
        match self.random.below(4) {
            0 => self.builder.int(self.random.bits() as i64),
            1 => self.builder.uint(self.random.bits()),
            _ => self.builder.int(*self.random.pick(INTS)),
        };
    }

    fn array(&mut self, depth: u32) {
        let node = self.builder.begin_array().at();
        self.containers.push(node);
        let count = self.count();
        for first in (0..count).map(|item| item == 0) {
            if first && self.palette != Palette::Json && self.random.one_in(3) {
                // The node after the array's own node.
                self.int();
                self.variables.push(node + 1);
            } else {
                self.value(depth - 1);
            }
        }
        self.builder.end();
    }

    fn map(&mut self, depth: u32) {
        let node = self.builder.begin_map().at();
        self.containers.push(node);
        if self.palette == Palette::All && self.random.one_in(6) {
            self.builder.restrict();
        }
        if self.palette == Palette::All && self.random.one_in(10) {
            self.builder.by_identity();
        }
        let count = if self.random.one_in(60) { 300 } else { self.count() };
        for number in 0..count {
            self.key(number, count, depth);
            if self.palette == Palette::All && self.random.one_in(12) {
                // A placeholder instead of an entry; its own key comes first.
                self.value(0);
                self.builder.placeholder();
                let key = self.bytes();
                self.builder.bytes_key(key).hole();
            } else {
                self.value(if count > 100 { 0 } else { depth - 1 });
            }
        }
        if self.palette == Palette::All && self.random.one_in(8) {
            self.builder.default_value();
            self.value(depth - 1);
        }
        self.builder.end();
    }

    fn key(&mut self, number: u64, count: u64, depth: u32) {
        let name = if count > 100 { format!("key{number}").into_bytes() } else { self.bytes() };
        match self.palette {
            Palette::Json => {
                let name = format!("{number} {}", String::from_utf8_lossy(&name));
                self.builder.text_key(&name);
            }
            Palette::Perl => {
                // All keys differ, as in a hash.
                let name = [format!("{number}").as_bytes(), &name].concat();
                match std::str::from_utf8(&name) {
                    Ok(text) if self.random.one_in(3) && !name.is_ascii() => drop(self.builder.text_key(text)),
                    _ => drop(self.builder.bytes_key(name)),
                }
            }
            Palette::All => {
                let kind = self.random.below(12);
                if kind > 0 && self.random.one_in(10) {
                    // Only string keys can be locked.
                    self.builder.locked();
                }
                match kind {
                    0 => drop(self.builder.int_key(self.random.bits() as i64)),
                    1 => drop(self.builder.symbol_key(name, ENCODINGS[self.random.below(3) as usize])),
                    2 if depth > 0 && !self.random.one_in(3) => {
                        self.builder.bytes_key(name).null();
                        self.builder.key();
                        self.value(depth - 1);
                    }
                    3..=5 => drop(self.builder.text_key(&String::from_utf8_lossy(&name))),
                    _ => drop(self.builder.bytes_key(name)),
                }
            }
        }
    }

    fn rare(&mut self, depth: u32) {
        let bytes = self.bytes();
        match self.random.below(14) {
            0 => drop(self.builder.float32(f32::from_bits(self.random.bits() as u32))),
            1 => {
                let bits = [self.random.bits().to_le_bytes(), self.random.bits().to_le_bytes()].concat();
                self.builder.float128(&bits.try_into().unwrap());
            }
            2 => drop(self.builder.big_int(self.random.one_in(2), &bytes)),
            3 => drop(self.builder.encoded(bytes, ENCODINGS[self.random.below(3) as usize])),
            4 => drop(self.builder.symbol(bytes, ENCODINGS[self.random.below(3) as usize])),
            5 => drop(self.builder.module(bytes, *self.random.pick(&[Form::Usual, Form::Module, Form::OldModule]))),
            6 => drop(self.builder.enum_case(bytes)),
            7 => drop(self.builder.hole()),
            8 => drop(self.builder.loose_text(bytes)),
            _ if depth == 0 => drop(self.builder.null()),
            9 => {
                self.builder.begin_code();
                self.value(depth - 1);
                self.builder.end();
            }
            10 => {
                self.builder.begin_vstring();
                self.builder.bytes(bytes);
                self.value(depth - 1);
                self.builder.end();
            }
            11 => {
                let form = *self.random.pick(&[Form::TiedScalar, Form::TiedArray, Form::TiedHash, Form::TiedElement]);
                self.builder.begin_tied(form);
                self.value(depth - 1);
                if form == Form::TiedElement {
                    self.value(depth - 1);
                }
                self.builder.end();
            }
            12 => {
                let forms =
                    [Form::Hook, Form::Freeze, Form::Serializable, Form::UserDump, Form::UserMarshal, Form::Data];
                let node = self.builder.begin_opaque(bytes, *self.random.pick(&forms)).at();
                self.containers.push(node);
                for _ in 0..1 + self.random.below(3) {
                    self.value(depth - 1);
                }
                self.builder.end();
            }
            _ => {
                match self.random.below(3) {
                    0 => self.builder.begin_attributes(),
                    1 => self.builder.begin_extended(bytes, Form::Module),
                    _ => self.builder.begin_extended(bytes, Form::Subclass),
                };
                self.value(depth - 1);
                for _ in 0..self.random.below(3) {
                    let name = self.bytes();
                    if self.random.one_in(2) {
                        self.builder.symbol_key(name, "");
                    } else {
                        self.builder.bytes_key(name);
                    }
                    self.value(depth - 1);
                }
                self.builder.end();
            }
        }
    }
}

/// Returns how much a test tries: `usual` in `make test`; `full` with `ICECORE_FULL=1`, which `make
/// test-all` sets.
pub fn usual_or_full<T>(usual: T, full: T) -> T {
    if std::env::var_os("ICECORE_FULL").is_some() { full } else { usual }
}

/// Depth of documents that must not need a deep stack: a stack of 128 KB does not even hold 3,000 calls.
pub fn levels() -> usize {
    usual_or_full(20_000, 1_000_000)
}

/// Runs this on a thread with a stack of 128 KB.
pub fn on_a_small_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(128 << 10)
            .spawn_scoped(scope, run)
            .expect("a thread")
            .join()
            .expect("no panic")
    })
}

/// Returns `true` if a document has a node of this kind.
pub fn has_kind(document: &Document<'_>, kind: Kind) -> bool {
    document.nodes().iter().any(|node| node.kind == kind)
}

/// Reads with and without detail and checks that both agree: an error is inside the input, and
/// without an error the spans tile the bytes read. Returns the reading with detail.
pub fn read_both_ways<'a>(reader: &impl Reader, input: &'a [u8], limits: &Limits) -> Outcome<'a> {
    let simple = reader.read(input, Request::new(limits));
    let detailed = reader.read(input, Request::new(limits).detailed());
    let escaped = input.escape_ascii();
    assert_eq!(simple.error, detailed.error, "{escaped}");
    assert_eq!(simple.consumed, detailed.consumed, "{escaped}");
    assert!(simple.document == detailed.document, "{escaped}");
    if let Some(error) = &detailed.error {
        assert!(error.offset().is_some_and(|offset| offset <= input.len() as u64), "{escaped}: {error}");
        assert!(error.path().is_some_and(|path| path.starts_with('$')), "{escaped}: {error}");
    } else {
        let end = detailed.document.trace().unwrap().spans.iter().fold(0, |end, span| {
            assert_eq!(span.start, end, "{escaped}: a gap before {span:?}");
            span.end
        });
        assert_eq!(end, detailed.consumed as u64, "{escaped}");
    }
    detailed
}
