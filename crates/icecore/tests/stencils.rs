//! The result for a document that resembles earlier ones is exactly that of the reader, for any bytes.

use crate::common::{Palette, Random, document};
use icecore::raw::{IS_KEY, Location, Node, Stencils, Tape};
use icecore::{Builder, Codec, Document, Kind, Limits, Stage};

const STAGES: [&str; 7] = ["php", "json", "igbinary", "marshal", "storable", "storable:netorder", "zlib/php"];

/// Reads the same documents twice: with stencils, and by the reader alone.
struct ReaderPair {
    codec: Codec,
    stencils: Stencils,
    alike: Tape,
    plain: Tape,
}

impl ReaderPair {
    fn new(stage: &str) -> ReaderPair {
        let codec = Codec::new(Stage::parse(stage).expect("a stage"));
        ReaderPair { codec, stencils: Stencils::default(), alike: Tape::new(), plain: Tape::new() }
    }

    fn read(&mut self, blob: &[u8]) {
        let found = self.codec.read_alike(blob, &mut self.alike, &mut self.stencils);
        let expected = self.codec.read(blob, &mut self.plain);
        let outcome = |filled: &icecore::raw::Filled| (filled.consumed, filled.error.clone(), filled.body.clone());
        let describe = || format!("{} {}", self.codec.stage(), blob.escape_ascii());
        assert_eq!(outcome(&found), outcome(&expected), "{}", describe());
        // The ids of keys may differ, and a long key is a node until it is seen again.
        if expected.error.is_none() {
            let to_document =
                |tape: &Tape| Document::from_tape(expected.body.as_deref().unwrap_or(blob).to_vec(), tape.clone());
            assert!(to_document(&self.alike) == to_document(&self.plain), "{}", describe());
            let flags = |tape: &Tape| {
                tape.nodes()
                    .iter()
                    .filter(|node| node.key != IS_KEY)
                    .map(|node| (node.kind, node.flags))
                    .collect::<Vec<_>>()
            };
            assert_eq!(flags(&self.alike), flags(&self.plain), "{}", describe());
        }
    }
}

fn write_document(document: &Document<'_>, stage: &str) -> Option<Vec<u8>> {
    let mut blob = Vec::new();
    let stage = Stage::parse(stage).expect("a stage");
    icecore::write_to(document, &stage, &Limits::default(), &mut blob).ok().map(|_| blob)
}

/// Returns the same document with some other scalars.
fn other_scalars(document: &Document<'_>, random: &mut Random) -> Document<'static> {
    let mut tape = document.tape().clone();
    let (mut nodes, mut arena) = (tape.nodes().to_vec(), tape.arena().to_vec());
    for node in nodes.iter_mut().filter(|node| node.key != IS_KEY) {
        let value = match node.kind {
            _ if random.one_in(3) => continue,
            Kind::Int if random.one_in(8) => Node::float(random.bits() as i32 as f64 / 8.0),
            Kind::Float if random.one_in(8) => Node::int(random.bits() as i8 as i64),
            Kind::Int => Node::int(random.bits() as i64 >> random.below(64)),
            Kind::Float => Node::float(f64::from_bits(random.bits() >> random.below(3) << random.below(50))),
            Kind::Null | Kind::Bool if node.flags == 0 && random.one_in(4) => Node::leaf(Kind::Bool, random.below(2)),
            Kind::Bytes | Kind::Text => {
                let text = ["", "a", "id", "0", "\"\\;", "é", "long long long long long long long long", "\u{1f600}"];
                let text = random.pick(&text).repeat(if random.one_in(50) { 300 } else { 1 });
                let place = Location::Arena(arena.len() as u64);
                arena.extend_from_slice(text.as_bytes());
                Node::string(node.kind, place, text.len() as u32)
            }
            _ => continue,
        };
        *node = Node { key: node.key, flags: node.flags, ..value };
    }
    let (root, header, input) = (document.tape().root(), document.tape().header(), document.input().to_vec());
    tape.fill(nodes, arena, root, header);
    Document::from_tape(input, tape)
}

/// Changes, removes or adds some bytes.
fn damage_blob(blob: &[u8], random: &mut Random) -> Vec<u8> {
    let mut blob = blob.to_vec();
    for _ in 0..=random.below(2) {
        if blob.is_empty() {
            break;
        }
        let offset = random.below(blob.len() as u64) as usize;
        match random.below(6) {
            0 => drop(blob.remove(offset)),
            1 => blob.insert(offset, random.bits() as u8),
            2 => blob.truncate(offset),
            3 => blob[offset] = blob[offset].wrapping_add(1),
            4 => blob[offset] = *random.pick(b"0129-.+eE\"\\{}[]:;,ids\0\x01\x06\x0e\x11"),
            _ => blob[offset] = random.bits() as u8,
        }
    }
    blob
}

/// Returns the factor for the number of rounds.
fn rounds() -> u64 {
    std::env::var("ICECORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// Reads random documents, then the same ones with other scalars and other bytes.
fn random_documents(stage: &str) {
    let mut alike = 0;
    for seed in 0..150 * rounds() {
        let random = &mut Random::new(seed + 1);
        let palette = *random.pick(&[Palette::Json, Palette::Json, Palette::Perl, Palette::All]);
        let document = document(seed, palette);
        let Some(blob) = write_document(&document, stage) else { continue };
        let mut pair = ReaderPair::new(stage);
        for _ in 0..3 {
            pair.read(&blob);
        }
        for _ in 0..20 {
            if let Some(other) = write_document(&other_scalars(&document, random), stage) {
                pair.read(&other);
                pair.read(&damage_blob(&other, random));
            }
            pair.read(&damage_blob(&blob, random));
            pair.read(&blob);
        }
        alike += pair.stencils.alike();
    }
    assert!(alike > 200 * rounds(), "{stage}: only {alike} documents were alike");
}

#[test]
fn stencils_read_php_like_the_reader() {
    random_documents("php");
    random_documents("zlib/php");
}

#[test]
fn stencils_read_json_like_the_reader() {
    random_documents("json");
}

#[test]
fn stencils_read_igbinary_like_the_reader() {
    random_documents("igbinary");
}

#[test]
fn stencils_read_marshal_like_the_reader() {
    random_documents("marshal");
}

#[test]
fn stencils_read_storable_like_the_reader() {
    random_documents("storable");
    random_documents("storable:netorder");
}

/// Rows of a table: nearly all of them are alike.
#[test]
fn rows_of_a_table_share_a_stencil() {
    for stage in STAGES {
        let mut pair = ReaderPair::new(stage);
        for id in 0..1000i64 {
            let mut builder = Builder::new();
            builder.begin_map();
            builder.bytes_key("id").int(id << (id % 40));
            builder.bytes_key("name").bytes(format!("Employee {id}").repeat(1 + id as usize % 30));
            builder.bytes_key("tags").begin_array().int(id % 300).bool(true).end();
            builder.bytes_key("score").float(id as f64 / 4.0);
            builder.end();
            pair.read(&write_document(&builder.finish().expect("a document"), stage).expect("written"));
        }
        assert!(pair.stencils.alike() > 850, "{stage}: {} of 1000", pair.stencils.alike());
    }
}

/// A key, a link or an encoding that refers to a scalar would change with it.
#[test]
fn documents_that_refer_to_a_scalar_get_no_stencil() {
    let cases: [(&str, &[u8], &[u8]); 9] = [
        // [1, "x", {the second object => 2}], where a float in the place of 1 is the second object.
        ("marshal", b"\x04\x08[\x08i\x06\"\x06x{\x06@\x07i\x07", b"\x04\x08[\x08f\x061\"\x06x{\x06@\x07i\x07"),
        // [a large integer, {the same => 1}]
        (
            "marshal",
            b"\x04\x08[\x07l+\x08\x01\x02\x03\x04\x05\x00{\x06@\x06i\x06",
            b"\x04\x08[\x07l+\x08\x02\x02\x03\x04\x05\x00{\x06@\x06i\x06",
        ),
        // What follows a string is a part of it; after a float it is trailing data.
        ("marshal", b"\x04\x08I\"\x08abc\x06:\x06ET", b"\x04\x08f\x08abc\x06:\x06ET"),
        // The variable `E` of a string is its encoding if it is true, and a variable if it is nil.
        ("marshal", b"\x04\x08I\"\x06a\x06:\x06E0", b"\x04\x08I\"\x06a\x06:\x06ET"),
        // {"a": "b", "b": 1}, where the second key is the number of the string.
        (
            "igbinary",
            b"\0\0\0\x02\x14\x02\x11\x01a\x11\x01b\x0e\x01\x06\x01",
            b"\0\0\0\x02\x14\x02\x11\x01a\x11\x01c\x0e\x01\x06\x01",
        ),
        // ["b", the same]
        (
            "igbinary",
            b"\0\0\0\x02\x14\x02\x06\0\x11\x01b\x06\x01\x0e\0",
            b"\0\0\0\x02\x14\x02\x06\0\x11\x01c\x06\x01\x0e\0",
        ),
        // [1.5, the same number]
        ("marshal", b"\x04\x08[\x07f\x081.5@\x06", b"\x04\x08[\x07f\x082.5@\x06"),
        // Two strings, of which the second is a link to the first.
        ("php", b"a:2:{i:0;s:1:\"b\";i:1;R:2;}", b"a:2:{i:0;s:1:\"c\";i:1;R:2;}"),
        // {"b" => the key}
        ("marshal", b"\x04\x08{\x07\"\x06b\"\x06x\"\x06c@\x06", b"\x04\x08{\x07\"\x06d\"\x06x\"\x06c@\x06"),
    ];
    for (stage, first, second) in cases {
        let mut pair = ReaderPair::new(stage);
        for blob in [first, first, first, second, second, first] {
            pair.read(blob);
        }
    }
}

#[test]
fn stencils_obey_the_limits() {
    let mut pair = ReaderPair::new("php");
    let blob = br#"a:1:{s:1:"a";s:5:"abcde";}"#;
    for _ in 0..3 {
        pair.read(blob);
    }
    assert_eq!(pair.stencils.alike(), 1);
    pair.codec.limits.string = 4;
    pair.read(blob);
    pair.codec.limits = Limits::default();
    pair.codec.limits.depth = 0;
    pair.read(blob);
    pair.codec.limits = Limits::default();
    pair.codec.limits.nodes = 1;
    pair.read(blob);
}
