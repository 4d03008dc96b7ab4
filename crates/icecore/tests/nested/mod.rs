//! Storable images that nest, in every shape that can. Tests from outside check how deep they may
//! be; tests in the engine count the steps.

use icecore::raw::Reader as _;
use icecore::{Document, Limits, Request, Stage, format::storable};
use std::fmt::Write as _;

/// A shape that nests: the bytes before, at each level, in the middle, and at each level on the way back.
pub struct Shape {
    pub name: &'static str,
    pub front: &'static [u8],
    pub open: &'static [u8],
    pub middle: &'static [u8],
    pub close: &'static [u8],
    /// `true` if it is from before version 2 and can only be read.
    pub old: bool,
}

const fn shape(name: &'static str, open: &'static [u8], middle: &'static [u8], close: &'static [u8]) -> Shape {
    Shape { name, front: b"\x05\x0b\x02\0\0\0\x02\x11\x01A\x05", open, middle, close, old: false }
}

/// Each shape is the second item of an array, whose first item defines class `A` as number 0.
pub const SHAPES: &[Shape] = &[
    shape("arrays", b"\x04\x02\0\0\0\x01", b"\x05", b""),
    shape("hashes with flags", b"\x04\x19\x01\0\0\0\x01", b"\x05", b"\x04\0\0\0\x01k"),
    shape("hashes", b"\x04\x03\0\0\0\x01", b"\x05", b"\0\0\0\x01k"),
    shape("blessed arrays", b"\x04\x12\0\x02\0\0\0\x01", b"\x05", b""),
    shape("blessed hashes", b"\x04\x12\0\x03\0\0\0\x01", b"\x05", b"\0\0\0\x01k"),
    shape("weak references", b"\x1b", b"\x05", b""),
    shape("references", b"\x04", b"\x05", b""),
    shape("blessed references", b"\x04\x12\0", b"\x05", b""),
    shape("tied arrays", b"\x04\x0b", b"\x05", b""),
    shape("tied hashes", b"\x0c", b"\x05", b""),
    shape("tied elements", b"\x15", b"\x05", b"\x0a\x01k"),
    shape("tied scalars", b"\x0d", b"\x05", b""),
    shape("hooks", b"\x13\x41", b"\x02\0\0\0\0", b"\x21\0\0"),
    shape("tied items", b"\x16", b"\x05", b"\0\0\0\x01"),
    shape("hooks of tied hashes", b"\x13\x23\x06\0\0", b"\x05", b""),
    shape("large hooks", b"\x21\x13\x41", b"\x02\0\0\0\0", b"\x21\0\0\0\0\0\0\0\0\0"),
    Shape {
        name: "blessed hashes of version 1",
        front: b"pst0\x03",
        open: b"\x03\0\0\0\x01",
        middle: b"\x05X",
        close: b"\0\0\0\x01kb\x01AX",
        old: true,
    },
    Shape {
        name: "arrays of version 1",
        front: b"pst0\x03",
        open: b"\x02\0\0\0\x01",
        middle: b"\x05X",
        close: b"X",
        old: true,
    },
    Shape {
        name: "references of version 1",
        front: b"pst0\x03\x02\0\0\0\x01",
        open: b"\x04",
        middle: b"\x05X",
        close: b"X",
        old: true,
    },
];

impl Shape {
    pub fn image(&self, levels: usize) -> Vec<u8> {
        let mut image = self.front.to_vec();
        for part in [self.open.repeat(levels), self.middle.to_vec(), self.close.repeat(levels)] {
            image.extend(part);
        }
        if self.old && self.name.starts_with("references") {
            image.push(b'X');
        }
        image
    }
}

pub fn deep() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 4_000_000;
    limits
}

/// Counts the text that it takes, and keeps none of it.
struct CountingSink(usize);

impl std::fmt::Write for CountingSink {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

fn write_document(document: &Document<'_>, options: &storable::WriteOptions) -> Vec<u8> {
    let mut out = Vec::new();
    storable::write(document, options, &deep(), &mut out).unwrap();
    out
}

fn json(document: &Document<'_>, stage: &str) -> Vec<u8> {
    let mut out = Vec::new();
    icecore::write_to(document, &Stage::parse(stage).unwrap(), &deep(), &mut out).unwrap();
    out
}

/// Runs every operation on the image.
pub fn run_every_operation(shape: &Shape, image: &[u8]) {
    let limits = deep();
    let mut options = storable::ReadOptions::default();
    let fast = storable::read(image, &options, &limits).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
    options.reference = true;
    let plain = storable::read(image, &options, &limits).unwrap();
    let traced = options.read(image, Request::new(&limits).detailed());
    assert!(traced.error.is_none());
    let traced = traced.document;
    assert!(fast == plain && fast == traced, "{}", shape.name);
    drop(plain);

    let mut text = CountingSink(0);
    write!(text, "{fast:?}").unwrap();
    assert!(text.0 > 0);
    let last = fast.nodes().len() as u32 - 1;
    assert!(fast.path(last).starts_with('$'));

    let mut write = storable::WriteOptions::default();
    if !shape.old {
        assert!(write_document(&traced, &write) == image, "{}: spelling", shape.name);
    }
    (write.netorder, write.reference) = (true, true);
    let plain = write_document(&fast, &write);
    write.reference = false;
    assert!(write_document(&fast, &write) == plain, "{}: the writers differ", shape.name);
    (write.netorder, write.canonical) = (false, true);
    let rewritten = write_document(&fast, &write);
    assert!(storable::read(&rewritten, &options, &limits).unwrap() == fast, "{}: {write:?}", shape.name);
    assert!(!json(&fast, "json").is_empty());
    assert!(!json(&traced, "json:typed,spelling").is_empty());
}
