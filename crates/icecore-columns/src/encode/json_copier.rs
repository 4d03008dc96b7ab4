//! Copies values that are given as JSON to the nodes of a row.

use super::tape_builder::TapeBuilder;
use icecore::raw::{IS_KEY, KEY_NODE, Location, NO_KEY, Node, Tape};
use icecore::{Codec, Error, ErrorKind, Kind, Stage};

/// Reads JSON, and copies its nodes.
#[derive(Debug)]
pub(super) struct JsonCopier {
    codec: Codec,
    tape: Tape,
    /// The indexes of open containers in the result, and their ends on the tape.
    open: Vec<(usize, u32)>,
}

impl JsonCopier {
    pub(super) fn new() -> Result<JsonCopier, Error> {
        Ok(JsonCopier { codec: Codec::new(Stage::parse("json")?), tape: Tape::new(), open: Vec::new() })
    }

    /// Adds the value of a JSON text.
    pub(super) fn write_value(&mut self, text: &[u8], builder: &mut TapeBuilder<'_>) -> Result<(), Error> {
        self.read_json(text)?;
        let end = self.tape.nodes().len() as u32;
        self.copy_nodes(text, self.tape.root(), end, builder)
    }

    /// Adds the entries of the object in a JSON text. Returns their number.
    pub(super) fn write_entries(&mut self, text: &[u8], builder: &mut TapeBuilder<'_>) -> Result<usize, Error> {
        self.read_json(text)?;
        let root = self.tape.root();
        let Some(map) = self.tape.nodes().get(root as usize).copied().filter(|node| node.kind == Kind::Map) else {
            return Err(Error::new(ErrorKind::Unrepresentable).expecting("an object of JSON").finding("another value"));
        };
        self.copy_nodes(text, root + 1, map.end(), builder)?;
        Ok(map.aux as usize)
    }

    fn read_json(&mut self, text: &[u8]) -> Result<(), Error> {
        let filled = self.codec.read(text, &mut self.tape);
        match filled.error {
            Some(error) => Err(error),
            None if filled.consumed < text.len() => Err(Error::trailing(text, filled.consumed)),
            None => Ok(()),
        }
    }

    /// Copies the nodes between these indexes, with the names of their keys.
    fn copy_nodes(&mut self, text: &[u8], start: u32, end: u32, builder: &mut TapeBuilder<'_>) -> Result<(), Error> {
        let JsonCopier { tape, open, .. } = self;
        open.clear();
        let bytes = |node: &Node| {
            let (all, start) = match node.location() {
                Location::Input(start) => (text, start as usize),
                Location::Arena(start) => (tape.arena(), start as usize),
            };
            all.get(start..start + node.aux as usize).unwrap_or_default()
        };
        for index in start..end {
            while let Some((container, _)) = open.pop_if(|(_, end)| *end <= index) {
                close_container(builder, container)?;
            }
            let node = &tape.nodes()[index as usize];
            match node.key {
                IS_KEY => {
                    builder.set_key(Kind::Text, bytes(node))?;
                    continue;
                }
                NO_KEY | KEY_NODE => {}
                id => {
                    if let Some(name) = tape.keys().get(u32::from(id)) {
                        builder.set_key(Kind::Text, name.bytes)?;
                    }
                }
            }
            match node.kind {
                kind if kind.has_bytes() => {
                    // Big integers have their sign in the flags.
                    builder.push_bytes(kind, node.flags, bytes(node))?;
                }
                kind if kind.is_container() => {
                    let container = builder.push_node(Node { aux: node.aux, ..Node::open(kind, 0) });
                    open.push((container, node.end()));
                }
                kind => {
                    builder.push_node(Node::leaf(kind, node.payload).with(node.flags));
                }
            }
        }
        while let Some((container, _)) = open.pop() {
            close_container(builder, container)?;
        }
        Ok(())
    }
}

fn close_container(builder: &mut TapeBuilder<'_>, container: usize) -> Result<(), Error> {
    builder.end_container(container, builder.nodes[container].aux as usize)
}
