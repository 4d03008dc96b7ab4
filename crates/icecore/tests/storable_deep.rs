//! Storable images that are nested very deeply: nothing recurses, so nothing
//! needs more stack than it has, and all work is linear.

mod common;

use common::on_a_small_stack;
use icecore::{Document, ErrorKind, Limits, Request, Stage, storable};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// A shape that nests: what stands before, at each level, in the middle, and
/// at each level on the way back.
struct Shape {
    name: &'static str,
    front: &'static [u8],
    open: &'static [u8],
    middle: &'static [u8],
    close: &'static [u8],
    /// It is from before version 2 and only read.
    old: bool,
}

const fn shape(name: &'static str, open: &'static [u8], middle: &'static [u8], close: &'static [u8]) -> Shape {
    Shape { name, front: b"\x05\x0b\x02\0\0\0\x02\x11\x01A\x05", open, middle, close, old: false }
}

/// All are the second item of an array, whose first has made the class `A`
/// known as number 0.
const SHAPES: &[Shape] = &[
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
    fn image(&self, levels: usize) -> Vec<u8> {
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

fn deep() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 4_000_000;
    limits
}

/// Takes text and keeps none of it.
struct Nowhere(usize);

impl std::fmt::Write for Nowhere {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

fn written(document: &Document<'_>, options: &storable::WriteOptions) -> Vec<u8> {
    let mut out = Vec::new();
    storable::write(document, options, &deep(), &mut out).unwrap();
    out
}

fn json(document: &Document<'_>, stage: &str) -> Vec<u8> {
    let mut out = Vec::new();
    icecore::write_to(document, &Stage::parse(stage).unwrap(), &deep(), &mut out).unwrap();
    out
}

/// Does with the image what can be done with one.
fn everything(shape: &Shape, image: &[u8]) {
    let limits = deep();
    let mut options = storable::ReadOptions::default();
    let fast = storable::read(image, &options, &limits).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
    options.plain = true;
    let plain = storable::read(image, &options, &limits).unwrap();
    let traced = storable::read_outcome(image, &options, Request::new(&limits).detailed());
    assert!(traced.error.is_none());
    let traced = traced.document;
    assert!(fast == plain && fast == traced, "{}", shape.name);
    drop(plain);

    let mut text = Nowhere(0);
    write!(text, "{fast:?}").unwrap();
    assert!(text.0 > 0);
    let last = fast.nodes().len() as u32 - 1;
    assert!(fast.path(last).starts_with('$'));

    let mut write = storable::WriteOptions::default();
    if !shape.old {
        assert!(written(&traced, &write) == image, "{}: spelling", shape.name);
    }
    (write.netorder, write.plain) = (true, true);
    let plain = written(&fast, &write);
    write.plain = false;
    assert!(written(&fast, &write) == plain, "{}: the writers differ", shape.name);
    (write.netorder, write.canonical) = (false, true);
    let again = written(&fast, &write);
    assert!(storable::read(&again, &options, &limits).unwrap() == fast, "{}: {write:?}", shape.name);
    assert!(!json(&fast, "json").is_empty());
    assert!(!json(&traced, "json:typed,spelling").is_empty());
}

#[test]
fn a_million_levels_need_no_stack() {
    for (number, shape) in SHAPES.iter().enumerate() {
        // Every other one is a variation, for which a part of it is enough.
        let image = shape.image(if number % 2 == 0 { 1_000_000 } else { 100_000 });
        on_a_small_stack(|| everything(shape, &image));
    }
}

#[test]
fn the_limit_of_depth_stops_them() {
    for shape in SHAPES {
        let image = shape.image(20_000);
        for plain in [false, true] {
            let mut options = storable::ReadOptions::default();
            options.plain = plain;
            let limits = Limits::default();
            let error = on_a_small_stack(|| storable::read(&image, &options, &limits).unwrap_err());
            assert_eq!(error.kind(), ErrorKind::Limit, "{}: {error}", shape.name);
            let reached = error.offset().unwrap() as usize;
            assert!(reached < shape.front.len() + 10_000 * shape.open.len() + 16, "{}: {reached}", shape.name);
        }
        let document = storable::read(&image, &storable::ReadOptions::default(), &deep()).unwrap();
        let refused = on_a_small_stack(|| {
            let options = storable::WriteOptions::default();
            storable::write(&document, &options, &Limits::default(), &mut Vec::new()).map(|_| ())
        });
        assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::Limit), "{}", shape.name);
    }
}

fn time(run: impl Fn()) -> Duration {
    (0..2)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

#[test]
fn twice_the_depth_takes_twice_the_time() {
    for shape in SHAPES.iter().step_by(2) {
        let (one, two) = (shape.image(20_000), shape.image(40_000));
        // Other tests share the machine: one honest measurement is enough.
        let ratios: Vec<f64> = (0..5)
            .map(|_| {
                let first = time(|| everything(shape, &one));
                time(|| everything(shape, &two)).as_secs_f64() / first.as_secs_f64().max(1e-3)
            })
            .take_while({
                let mut done = false;
                move |ratio| !std::mem::replace(&mut done, *ratio < 3.0)
            })
            .collect();
        assert!(ratios.iter().any(|ratio| *ratio < 3.0), "{}: {ratios:?}", shape.name);
    }
}
