//! Tapes with random nodes, written in every format: each gives an error or a document, quickly,
//! and no larger than the limits allow. `ICECORE_TAPES` sets their number.

// The structure of each test meets the requirements of the functions: handles live until its end,
// and buffers have the requested size.
#![allow(clippy::undocumented_unsafe_blocks)]

use icecore_capi::*;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// The maximum size of the output in bytes.
const MAX_OUTPUT: u64 = 1 << 20;
const TEXT: &[u8] = b"some text that many nodes share";

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

fn stage(spec: &str) -> *mut icecore_stage {
    let mut error = MaybeUninit::<icecore_error>::uninit();
    let stage = unsafe { icecore_stage_new(spec.as_ptr().cast(), spec.len(), error.as_mut_ptr()) };
    assert!(!stage.is_null(), "{spec}");
    // Modules set any depth: only the tape itself can end a cycle.
    for (name, value) in [(c"depth", u64::from(u32::MAX)), (c"output", MAX_OUTPUT)] {
        let len = name.count_bytes();
        assert_eq!(unsafe { icecore_stage_limit(stage, name.as_ptr(), len, value, null_mut()) }, ICECORE_OK);
    }
    stage
}

const LEAVES: std::ops::RangeInclusive<u8> = 0..=17;
const CONTAINERS: std::ops::RangeInclusive<u8> = 32..=41;
const LINKS: [u8; 3] = [15, 16, 17];

/// The keys and classes that nodes refer to.
struct KnownIds {
    keys: Vec<u16>,
    classes: Vec<u32>,
}

/// Makes nodes that need not make sense.
fn nonsense(random: &mut Random, known_ids: &KnownIds) -> Vec<icecore_node> {
    let kinds: Vec<u8> = LEAVES.chain(CONTAINERS).chain([18, 42, 255]).collect();
    let count = random.below(14);
    let class = u64::from(random.pick(&known_ids.classes));
    let ends = [count, 0, 1, 3, 1 << 40, u64::MAX, class << 32 | count];
    let keys = [0, random.pick(&known_ids.keys), 0xFFFE, 0xFFFF, 77];
    let node = |_| icecore_node {
        // Kinds that don't exist are rare.
        kind: {
            let bound = if random.below(50) == 0 { kinds.len() } else { kinds.len() - 3 };
            kinds[random.below(bound as u64) as usize]
        },
        flags: if random.below(2) == 0 { random.below(256) as u8 } else { 0 },
        key: random.pick(&keys),
        aux: if random.below(20) == 0 { u32::MAX - random.below(3) as u32 } else { random.below(5) as u32 },
        payload: if random.below(3) == 0 { random.below(14) } else { random.pick(&ends) },
    };
    (0..count).map(node).collect()
}

/// Makes containers that end within each other; links and keys lead anywhere.
fn nested(random: &mut Random, known_ids: &KnownIds) -> Vec<icecore_node> {
    let bound = 2 + random.below(60) as usize;
    let mut nodes = Vec::new();
    value(random, known_ids, bound, 0, &mut nodes);
    let count = nodes.len() as u64;
    for index in 0..nodes.len() {
        if LINKS.contains(&nodes[index].kind) {
            let to = random.below(count);
            nodes[index].payload = to;
            // Most targets are marked; one without the mark is an error.
            if random.below(200) > 0 {
                nodes[to as usize].flags |= ICECORE_FLAG_TARGET;
            }
        }
    }
    nodes
}

fn value(random: &mut Random, known_ids: &KnownIds, bound: usize, depth: u32, nodes: &mut Vec<icecore_node>) {
    let index = nodes.len();
    let is_leaf = depth > 8 || nodes.len() >= bound || random.below(3) == 0;
    let kind = match is_leaf {
        true if random.below(3) == 0 => random.pick(&LINKS),
        true => random.below(15) as u8,
        false => 32 + random.below(10) as u8,
    };
    let flags = if random.below(4) == 0 { random.below(256) as u8 } else { 0 };
    let mut node = icecore_node { kind, flags, key: 0, aux: 0, payload: 0 };
    if is_leaf {
        // A string of the arena, or a number.
        (node.aux, node.payload) = match kind {
            4 | 7..=13 => (random.below(TEXT.len() as u64 + 2) as u32, 1 << 63),
            _ => (random.below(9) as u32, random.below(u64::MAX >> 34)),
        };
        nodes.push(node);
        return;
    }
    node.payload = u64::from(random.pick(&known_ids.classes)) << 32;
    nodes.push(node);
    let children = random.below(6);
    for _ in 0..children {
        let has_key_node = kind == 33 && random.below(4) == 0;
        if has_key_node {
            let key = nodes.len();
            value(random, known_ids, bound, depth + 4, nodes);
            nodes[key].key = 0xFFFE;
        }
        let child = nodes.len();
        value(random, known_ids, bound, depth + 1, nodes);
        if kind == 33 {
            nodes[child].key = if has_key_node { 0xFFFF } else { random.pick(&known_ids.keys) };
        }
    }
    nodes[index].aux = match random.below(60) {
        0 => random.below(9) as u32,
        1 => u32::MAX - random.below(3) as u32,
        _ => children as u32,
    };
    nodes[index].payload |= nodes.len() as u64;
}

#[test]
fn random_tapes_give_an_error_or_a_document() {
    let rounds = std::env::var("ICECORE_TAPES").map_or(20_000, |count| count.parse().expect("a number"));
    let formats = "json json:typed json:sort_keys json:class=is json:cycles=null,pretty sereal sereal:compress=zstd \
                   sereal:canonical_refs sereal:canonical storable storable:canonical storable:netorder php php:class-map='C*=D*' \
                   php-session igbinary marshal marshal:class-map='*=(plain)' var-export dumper dumper:purity \
                   dumper:deepcopy join ndjson gzip/json";
    let stages: Vec<_> = formats.split_whitespace().map(stage).collect();
    let context = icecore_context_new();
    let mut random = Random(1);
    let mut written = 0;
    for round in 0..rounds {
        unsafe {
            let mut tape = MaybeUninit::<icecore_tape>::uninit();
            assert_eq!(icecore_begin(context, tape.as_mut_ptr()), ICECORE_OK);
            let mut tape = tape.assume_init();
            let key = |kind: u8, flags: u8, name: &[u8]| icecore_key(context, kind, flags, name.as_ptr(), name.len());
            let class = |name: &[u8]| icecore_class(context, 8, name.as_ptr(), name.len());
            let known_ids = KnownIds {
                keys: vec![key(8, 0, b"key"), key(9, 0, b"a"), key(10, 0, b"@b"), key(8, 0, b"\0C\0c"), key(8, 0, b"")],
                classes: vec![0, class(b"Class"), class(b"C::D"), class(b"DateTime"), class(b"Set")],
            };
            let nodes =
                if random.below(2) == 0 { nonsense(&mut random, &known_ids) } else { nested(&mut random, &known_ids) };
            assert_eq!(icecore_grow_nodes(context, &mut tape, nodes.len()), ICECORE_OK);
            assert_eq!(icecore_grow_arena(context, &mut tape, TEXT.len()), ICECORE_OK);
            tape.arena.copy_from_nonoverlapping(TEXT.as_ptr(), TEXT.len());
            tape.arena_len = TEXT.len();
            tape.nodes.copy_from_nonoverlapping(nodes.as_ptr(), nodes.len());
            tape.node_count = nodes.len();
            tape.root = if random.below(3) == 0 { random.below(3) as u32 } else { 0 };
            let mut out = MaybeUninit::<icecore_bytes>::uninit();
            let stage = random.pick(&stages);
            let kind = icecore_write(context, stage, &tape, out.as_mut_ptr(), null_mut(), null_mut());
            // A panic is caught, but it would be a bug.
            assert_ne!(kind, ICECORE_PANIC, "round {round}");
            if kind == ICECORE_OK {
                written += 1;
                // The limit is checked after a write, so the output may exceed it a little.
                assert!(out.assume_init().len as u64 <= MAX_OUTPUT + (1 << 16), "round {round}");
            }
        }
    }
    assert!(written * 5 > rounds, "{written} of {rounds} tapes were written");
    unsafe {
        stages.into_iter().for_each(|stage| icecore_stage_free(stage));
        icecore_context_free(context);
    }
}
