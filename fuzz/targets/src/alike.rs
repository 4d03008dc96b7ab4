//! Documents that resemble others are read with the same result as by the plain reader, whatever their bytes are.

use crate::check;
use crate::choice_from_bytes;
use crate::mutate::{Random, mutate_seed};
use icecore::raw::{IS_KEY, Stencils, Tape};
use icecore::{Codec, Document, Stage};

const STAGES: [&str; 5] = ["php", "json", "igbinary", "marshal", "storable"];
/// Number of similar documents that are read one after another.
const DOCUMENTS: usize = 24;

/// Reads similar documents one after another, with the stencils of the earlier ones.
pub fn alike(data: &[u8]) {
    for stage in STAGES {
        let mut codec = Codec::new(Stage::parse(stage).expect("a stage"));
        codec.limits = check::small_limits();
        let (mut stencils, mut tapes) = (Stencils::default(), (Tape::new(), Tape::new()));
        if codec.read(data, &mut tapes.0).error.is_some() {
            continue;
        }
        let mut random = Random::new(u64::from(choice_from_bytes(data)));
        let seeds = [data.to_vec()];
        for number in 0..DOCUMENTS {
            let blob = if number < 3 { data.to_vec() } else { mutate_seed(&mut random, &seeds) };
            compare_readings(&codec, &blob, &mut stencils, &mut tapes);
        }
    }
}

/// Checks that reading with stencils returns the same as reading without them.
fn compare_readings(
    codec: &Codec,
    blob: &[u8],
    stencils: &mut Stencils,
    (alike_tape, reference_tape): &mut (Tape, Tape),
) {
    let actual = codec.read_alike(blob, alike_tape, stencils);
    let expected = codec.read(blob, reference_tape);
    let describe = || format!("{} {}", codec.stage(), blob.escape_ascii());
    assert_eq!((actual.consumed, &actual.error), (expected.consumed, &expected.error), "{}", describe());
    if expected.error.is_some() {
        return;
    }
    let document_of =
        |tape: &Tape| Document::from_tape(expected.body.as_deref().unwrap_or(blob).to_vec(), tape.clone());
    assert!(document_of(alike_tape) == document_of(reference_tape), "{}", describe());
    let kinds = |tape: &Tape| {
        let nodes = tape.nodes().iter().filter(|node| node.key != IS_KEY);
        nodes.map(|node| (node.kind, node.flags)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(alike_tape), kinds(reference_tape), "{}", describe());
}
