//! `Codec` reads and writes what `read_as` and `write_to` do, with its shortcuts
//! and with a tape that is used again and again.

mod common;
mod fixtures;

use common::{Palette, Random};
use fixtures::load;
use icecore::{Codec, Document, Limits, Request, Stage, Tape};

/// Reads with both, and says where they differ.
fn compare(codec: &Codec, input: &[u8], tape: &mut Tape) -> Result<bool, String> {
    let limits = Limits::default();
    let usual = (codec.stage().format().read)(input, codec.stage().settings(), Request::new(&limits));
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
    let one = codec.write(&document, &mut ours).map_err(|error| error.to_string());
    let other =
        icecore::write_to(&usual.document, codec.stage(), &limits, &mut theirs).map_err(|error| error.to_string());
    let losses = |result: &Result<icecore::Losses, String>| match result {
        Ok(losses) => losses.iter().map(ToString::to_string).collect::<Vec<_>>(),
        Err(error) => vec![error.clone()],
    };
    if losses(&one) != losses(&other) || ours != theirs {
        return Err(format!("other bytes: {ours:02x?}, not {theirs:02x?}"));
    }
    Ok(true)
}

fn over(file: &str, spec: &str) {
    let codec = Codec::new(Stage::parse(spec).unwrap());
    let mut tape = Tape::new();
    let mut random = Random::new(7);
    let (mut whole, mut broken) = (0, 0);
    for fixture in load(file) {
        for round in 0..3 {
            let mut blob = fixture.blob.clone();
            if round > 0 && !blob.is_empty() {
                let at = random.below(blob.len() as u64) as usize;
                match random.below(3) {
                    0 => blob.truncate(at),
                    1 => blob[at] ^= 1 << random.below(8),
                    _ => blob[at] = random.bits() as u8,
                }
            }
            match compare(&codec, &blob, &mut tape) {
                Ok(true) => whole += 1,
                Ok(false) => broken += 1,
                Err(why) => panic!("{} {} round {round}: {why}\n{blob:02x?}", fixture.name, fixture.mode),
            }
        }
    }
    assert!(whole > 1000 && broken > 1000, "{whole} whole and {broken} broken ones");
}

#[test]
fn sereal() {
    over("sereal.jsonl", "sereal");
}

#[test]
fn storable() {
    over("storable.jsonl", "storable");
}

#[test]
fn random_documents_are_written_the_same() {
    for (spec, seeds) in [("sereal:protocol=5", 0..3000), ("sereal", 3000..6000), ("storable:memory", 6000..9000)] {
        let codec = Codec::new(Stage::parse(spec).unwrap());
        for seed in seeds {
            let document = common::document(seed, if seed % 2 == 0 { Palette::Json } else { Palette::Perl });
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            let one = codec.write(&document, &mut ours).map(|losses| losses.iter().count());
            let other = icecore::write_to(&document, codec.stage(), &Limits::default(), &mut theirs)
                .map(|losses| losses.iter().count());
            assert_eq!(one, other, "{seed}");
            assert_eq!(ours, theirs, "{seed}");
        }
    }
}

#[test]
fn keys_are_forgotten_when_there_are_too_many_and_the_generation_says_so() {
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
