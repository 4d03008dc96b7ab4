//! Cycles of references and links through every writer, without a limit of depth: a writer ends
//! such a chain by itself, with output or an error.

use crate::common::usual_or_full;
use icecore::{
    Codec, Document, ErrorKind, Kind, Stage,
    raw::{Node, Tape},
};

/// Stages with the options that each writer needs to write anything at all.
fn stages() -> Vec<Stage> {
    let names = icecore::format::all().iter().map(|format| match format.name {
        "pack" => "pack:template='(N/A*)*'".to_owned(),
        name => name.to_owned(),
    });
    let options = ["json:typed", "json:cycles=null", "dumper:purity", "dumper:deepcopy", "sereal:canonical_refs"];
    names.chain(options.map(str::to_owned)).map(|spec| Stage::parse(&spec).unwrap()).collect()
}

/// Returns the output or the error of `write` for a tape that was made by hand.
fn write(stage: &Stage, tape: &Tape) -> Result<Vec<u8>, ErrorKind> {
    let mut codec = Codec::new(stage.clone());
    codec.limits.depth = u32::MAX;
    let mut out = Vec::new();
    let document = Document::from_tape(Vec::new(), tape.clone());
    codec.write(&document, &mut out).map(|_| out).map_err(|error| error.kind())
}

fn container(kind: Kind, end: u32, count: u32) -> Node {
    let mut node = Node::open(kind, u32::from(kind == Kind::Object));
    node.payload |= u64::from(end);
    node.aux = count;
    node
}

/// Makes a tape of these nodes; with `marked`, the targets of links are flagged.
fn tape(mut nodes: Vec<Node>, marked: bool) -> Tape {
    for index in 0..nodes.len() {
        if marked && matches!(nodes[index].kind, Kind::Link | Kind::Alias | Kind::Copy) {
            let target = nodes[index].payload as usize;
            nodes[target].flags |= icecore::raw::flag::TARGET;
        }
    }
    let mut tape = Tape::new();
    tape.class_id(Kind::Bytes, b"Foo").unwrap();
    tape.fill(nodes, Vec::new(), 0, None);
    tape
}

/// Makes `length` references around a link to the first of them.
fn ring(length: u32, link: Kind) -> Vec<Node> {
    let end = length + 1;
    let mut nodes: Vec<Node> = (0..length).map(|_| container(Kind::Ref, end, 1)).collect();
    nodes.push(Node::leaf(link, 0));
    nodes
}

#[test]
fn writers_end_on_rings_of_references() {
    for stage in stages() {
        for length in [1, 2, 10, 1000] {
            for link in [Kind::Link, Kind::Alias, Kind::Copy] {
                let written = write(&stage, &tape(ring(length, link), true));
                assert!(written.map_or(0, |bytes| bytes.len()) < 100_000, "{}", stage.format().name);
            }
        }
    }
}

#[test]
fn php_formats_refuse_rings_of_references() {
    for format in ["php", "php-session", "join", "json", "var-export"] {
        let error = write(&Stage::parse(format).unwrap(), &tape(ring(2, Kind::Link), true)).unwrap_err();
        assert_eq!(error, ErrorKind::Unrepresentable, "{format}");
    }
}

#[test]
fn writers_end_on_links_to_links() {
    let nodes = vec![container(Kind::Array, 3, 2), Node::leaf(Kind::Link, 2), Node::leaf(Kind::Link, 1)];
    for stage in stages() {
        let _ = write(&stage, &tape(nodes.clone(), true));
    }
}

#[test]
fn a_link_to_an_unmarked_target_is_refused() {
    // Each level writes all items again, so a writer without a table would never end.
    let mut nodes = vec![container(Kind::Array, 102, 101)];
    nodes.extend((0..100).map(Node::int));
    nodes.push(Node::leaf(Kind::Link, 0));
    for stage in stages() {
        assert_eq!(write(&stage, &tape(nodes.clone(), false)), Err(ErrorKind::Usage), "{}", stage.format().name);
    }
}

/// Generates small numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % bound
    }
}

/// Puts a value that contains up to `left` others on the tape.
fn grow(random: &mut Random, nodes: &mut Vec<Node>, budget: &mut u32, is_body: bool) {
    let (index, kinds) = (nodes.len(), [Kind::Array, Kind::Array, Kind::Ref, Kind::Ref, Kind::Object, Kind::Attrs]);
    let last = if is_body { 3 } else { kinds.len() as u32 };
    if *budget == 0 || !is_body && random.below(3) == 0 {
        let kind = [Kind::Link, Kind::Link, Kind::Alias, Kind::Copy, Kind::Int][random.below(5) as usize];
        // The target is set when all nodes exist.
        return nodes.push(Node::leaf(kind, 0));
    }
    *budget -= 1;
    let kind = kinds[random.below(last) as usize];
    let count = if kind == Kind::Array { random.below(3) } else { 1 };
    // No attributes follow the value.
    nodes.push(container(kind, 0, if kind == Kind::Attrs { 0 } else { count }));
    (0..count).for_each(|_| grow(random, nodes, budget, kind == Kind::Object));
    nodes[index].payload |= nodes.len() as u64;
}

#[test]
fn writers_end_on_random_graphs() {
    let stages = stages();
    let mut random = Random(1);
    for _ in 0..usual_or_full(200, 1000) {
        let (mut nodes, mut budget) = (Vec::new(), 5);
        grow(&mut random, &mut nodes, &mut budget, true);
        let count = nodes.len() as u32;
        for node in &mut nodes {
            if matches!(node.kind, Kind::Link | Kind::Alias | Kind::Copy) {
                node.payload = u64::from(random.below(count));
            }
        }
        let tape = tape(nodes, true);
        for stage in &stages {
            if let Ok(bytes) = write(stage, &tape) {
                assert!(bytes.len() < 100_000, "{}: {:?}", stage.format().name, tape.nodes());
            }
        }
    }
}
