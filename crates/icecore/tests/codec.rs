//! `Codec` reads and writes the same as the slow twins, with the shortcuts of the formats and with
//! a tape that is reused.

use crate::common;

use crate::common::{Palette, Random};
use crate::fixtures::load;
use icecore::raw::Reader as _;
use icecore::{
    Codec, Document, Limits, Request, Stage, Written,
    format::{marshal, sereal, storable},
    raw::{DocumentPart, Outcome, PartProgress, Tape},
};

/// Reads and writes without shortcuts.
struct ReferenceCodec {
    is_storable: bool,
    storable_read: storable::ReadOptions,
    storable_write: storable::WriteOptions,
    sereal_read: sereal::ReadOptions,
    sereal_write: sereal::WriteOptions,
}

impl ReferenceCodec {
    fn of(spec: &str) -> ReferenceCodec {
        let mut codec = ReferenceCodec {
            is_storable: spec.starts_with("storable"),
            storable_read: storable::ReadOptions::default(),
            storable_write: storable::WriteOptions::default(),
            sereal_read: sereal::ReadOptions::default(),
            sereal_write: sereal::WriteOptions::default(),
        };
        (codec.storable_read.reference, codec.storable_write.reference) = (true, true);
        (codec.sereal_read.reference, codec.sereal_write.reference) = (true, true);
        codec.storable_write.file = spec.ends_with(":memory").then_some(false);
        codec.sereal_write.protocol = spec.ends_with(":protocol=5").then_some(5);
        codec
    }

    fn read<'a>(&self, input: &'a [u8], limits: &Limits) -> Outcome<'a> {
        match self.is_storable {
            true => self.storable_read.read(input, Request::new(limits)),
            false => self.sereal_read.read(input, Request::new(limits)),
        }
    }

    fn write(&self, document: &Document<'_>, out: &mut Vec<u8>) -> Written {
        match self.is_storable {
            true => storable::write(document, &self.storable_write, &Limits::default(), out),
            false => sereal::write(document, &self.sereal_write, &Limits::default(), out),
        }
    }
}

fn list_losses_or_error(result: Written) -> Vec<String> {
    match result {
        Ok(losses) => losses.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// Reads and writes with both, and reports where they differ.
fn compare(codec: &Codec, reference: &ReferenceCodec, input: &[u8], tape: &mut Tape) -> Result<bool, String> {
    let usual = reference.read(input, &Limits::default());
    let filled = codec.read(input, tape);
    if filled.consumed != usual.consumed || filled.error != usual.error {
        return Err(format!("{:?} at {}, not {:?} at {}", filled.error, filled.consumed, usual.error, usual.consumed));
    }
    let body = filled.body.unwrap_or_else(|| input.to_vec());
    let document = Document::from_tape(body, tape.clone());
    if document != usual.document || document.nodes().len() != usual.document.nodes().len() {
        return Err("another document".to_owned());
    }
    if usual.error.is_some() {
        return Ok(false);
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (one, other) = (codec.write(&document, &mut ours), reference.write(&usual.document, &mut theirs));
    if list_losses_or_error(one) != list_losses_or_error(other) || ours != theirs {
        return Err(format!("other bytes: {ours:02x?}, not {theirs:02x?}"));
    }
    Ok(true)
}

fn compare_fixtures(file: &str, spec: &str) {
    let codec = Codec::new(Stage::parse(spec).unwrap());
    let reference = ReferenceCodec::of(spec);
    let mut tape = Tape::new();
    let mut random = Random::new(7);
    let (mut whole, mut broken) = (0, 0);
    for fixture in load(file) {
        for round in 0..3 {
            let mut blob = fixture.blob.clone();
            if round > 0 && !blob.is_empty() {
                let offset = random.below(blob.len() as u64) as usize;
                match random.below(3) {
                    0 => blob.truncate(offset),
                    1 => blob[offset] ^= 1 << random.below(8),
                    _ => blob[offset] = random.bits() as u8,
                }
            }
            match compare(&codec, &reference, &blob, &mut tape) {
                Ok(true) => whole += 1,
                Ok(false) => broken += 1,
                Err(why) => panic!("{} {} round {round}: {why}\n{blob:02x?}", fixture.name, fixture.mode),
            }
        }
    }
    assert!(whole > 1000 && broken > 1000, "{whole} whole and {broken} broken ones");
}

#[test]
fn codec_reads_and_writes_sereal_like_the_slow_twins() {
    compare_fixtures("sereal.jsonl", "sereal");
}

#[test]
fn codec_reads_and_writes_storable_like_the_slow_twins() {
    compare_fixtures("storable.jsonl", "storable");
}

#[test]
fn codec_writes_random_documents_like_the_slow_twins() {
    for (spec, seeds) in [("sereal:protocol=5", 0..3000), ("sereal", 3000..6000), ("storable:memory", 6000..9000)] {
        let codec = Codec::new(Stage::parse(spec).unwrap());
        let reference = ReferenceCodec::of(spec);
        for seed in seeds {
            let document = common::document(seed, if seed % 2 == 0 { Palette::Json } else { Palette::Perl });
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            assert_eq!(
                list_losses_or_error(codec.write(&document, &mut ours)),
                list_losses_or_error(reference.write(&document, &mut theirs)),
                "{seed}"
            );
            assert_eq!(ours, theirs, "{seed}");
        }
    }
}

/// Returns the same document with a tape that a program filled, as Ruby's module does.
fn refill_tape<'a>(document: &Document<'a>, input: &'a [u8], codec: &Codec) -> Document<'a> {
    let mut tape = document.tape().clone();
    let (nodes, arena) = (tape.nodes().to_vec(), tape.arena().to_vec());
    tape.fill(nodes, arena, document.root().index(), None);
    codec.stage().format().named(&mut tape);
    Document::from_tape(input, tape)
}

fn read_marshal(bytes: &[u8]) -> Result<Document<'_>, icecore::Error> {
    marshal::read(bytes, &marshal::ReadOptions::default(), &Limits::default())
}

#[test]
fn both_marshal_writers_write_the_same_bytes() {
    let codec = Codec::new(Stage::parse("marshal").unwrap());
    let mut unlimited = Codec::new(Stage::parse("marshal").unwrap());
    unlimited.limits.depth = u32::MAX;
    let mut spare = icecore::raw::Spare::default();
    let (mut fast, mut fallen_back) = (0, 0);
    let mut compare = |document: &Document<'_>, name: &str| {
        let (mut quick, mut usual) = (Vec::new(), Vec::new());
        if unlimited.write_filled(document, &mut spare, &mut quick) {
            unlimited.write(document, &mut usual).unwrap();
            assert_eq!(quick.escape_ascii().to_string(), usual.escape_ascii().to_string(), "{name}");
            fast += 1;
        } else {
            assert_eq!(quick, b"", "{name}");
            fallen_back += 1;
        }
    };
    for fixture in load("marshal.jsonl").into_iter().filter(|fixture| fixture.mode == "dump") {
        let Ok(document) = read_marshal(&fixture.blob) else { continue };
        compare(&refill_tape(&document, &fixture.blob, &codec), &fixture.name);
    }
    for seed in 0..3000 {
        let mut bytes = Vec::new();
        let document = common::document(seed, if seed % 2 == 0 { Palette::Json } else { Palette::Perl });
        if codec.write(&document, &mut bytes).is_ok() {
            let document = read_marshal(&bytes).unwrap();
            compare(&refill_tape(&document, &bytes, &codec), &seed.to_string());
        }
    }
    assert!(fast > 2000 && fallen_back > 20, "{fast} taken, {fallen_back} left to the usual way");
}

#[test]
fn clearing_the_key_table_changes_its_generation() {
    let codec = Codec::new(Stage::parse("json").unwrap());
    let mut tape = Tape::new();
    let before = tape.keys().generation();
    for round in 0..100 {
        let keys: Vec<String> = (0..100).map(|key| format!("\"k{round}_{key}\":{key}")).collect();
        assert!(codec.read(format!("{{{}}}", keys.join(",")).as_bytes(), &mut tape).error.is_none());
        assert!(tape.keys().len() <= 5000);
    }
    assert!(tape.keys().generation() > before);
}

/// Returns a document with these nodes only. The offsets of their strings stay the same.
fn take_part(whole: &Document<'_>, nodes: std::ops::Range<usize>, tape: &mut Tape) -> Document<'static> {
    for name in whole.tape().keys().iter() {
        tape.key_id(name.node.kind, name.node.flags, name.bytes);
    }
    tape.fill(whole.nodes()[nodes].to_vec(), whole.tape().arena().to_vec(), 0, None);
    Document::from_tape(whole.input().to_vec(), tape.clone())
}

#[test]
fn parts_make_the_whole_document_or_are_refused() {
    let mut random = Random::new(3);
    for spec in ["sereal:protocol=5", "storable:memory", "storable:file,netorder"] {
        let codec = Codec::new(Stage::parse(spec).unwrap());
        let (mut whole, mut refused) = (0, 0);
        for seed in 0..3000 {
            let document = common::document(seed, Palette::Json);
            let mut expected = Vec::new();
            let count = document.nodes().len();
            // Filled by a program, like the parts, so that Storable writes both the same way.
            codec.write(&take_part(&document, 0..count, &mut Tape::new()), &mut expected).unwrap();
            let (mut progress, mut out, mut offset) = (PartProgress::default(), Vec::new(), 0);
            while offset < count {
                let next = (offset + 1 + random.below(20) as usize).min(count);
                let next_part = take_part(&document, offset..next, &mut Tape::new());
                if codec.write_part(&next_part, DocumentPart::Nodes(&mut progress), &mut out).is_none() {
                    break;
                }
                offset = next;
            }
            if offset < count {
                refused += 1;
                continue;
            }
            whole += 1;
            assert_eq!(out, expected, "{spec}, {seed}");
        }
        assert!(whole > 500 && refused > 50, "{spec}: {whole} in parts, {refused} refused");
    }
}

#[test]
fn replacing_the_key_table_changes_its_generation() {
    let codec = Codec::new(Stage::parse("json").expect("a stage"));
    let mut tape = Tape::new();
    let mut known: Vec<(u64, Vec<Vec<u8>>)> = Vec::new();
    // Typed input is read into its own table of names, with few names or many.
    let typed = r#"{"$icecore":1,"$strings":"bytes","$value":{"b":1,"a":2}}"#;
    for input in [r#"{"a":1,"b":2}"#, typed, r#"{"b":1,"c":2}"#, typed, r#"{"a":1,"b":2}"#] {
        let read = codec.read(input.as_bytes(), &mut tape);
        assert!(read.error.is_none());
        let names: Vec<Vec<u8>> = tape.keys().iter().map(|name| name.bytes.to_vec()).collect();
        for (generation, before) in &known {
            let same = tape.keys().generation() == *generation;
            assert!(!same || names.starts_with(before), "{names:?} were {before:?}");
        }
        let copy = tape.keys().clone();
        assert_ne!(copy.generation(), tape.keys().generation());
        known.push((tape.keys().generation(), names));
    }
}
