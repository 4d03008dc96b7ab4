//! Builds the nodes of a tape.

use icecore::raw::{IS_KEY, KEY_NODE, Location, NO_KEY, Node, Tape};
use icecore::{Error, ErrorKind, Kind};

/// The nodes of a document. They are stored in memory that the tape already has.
pub(super) struct TapeBuilder<'t> {
    pub(super) tape: &'t mut Tape,
    pub(super) nodes: Vec<Node>,
    arena: Vec<u8>,
    /// The id of the key of the next value.
    key: u16,
}

impl<'t> TapeBuilder<'t> {
    pub(super) fn new(tape: &'t mut Tape) -> TapeBuilder<'t> {
        let (nodes, arena) = tape.take_memory();
        TapeBuilder { tape, nodes, arena, key: NO_KEY }
    }

    /// Puts all nodes on the tape.
    pub(super) fn fill_tape(self) {
        self.tape.fill(self.nodes, self.arena, 0, None);
        self.tape.declare_foreign();
    }

    /// Adds a node with the key that was set, and returns its index.
    pub(super) fn push_node(&mut self, mut node: Node) -> usize {
        node.key = std::mem::replace(&mut self.key, NO_KEY);
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds text or bytes.
    pub(super) fn push_string(&mut self, kind: Kind, bytes: &[u8]) -> Result<(), Error> {
        self.push_bytes(kind, 0, bytes)
    }

    /// Adds a value that is stored as bytes, with these flags.
    pub(super) fn push_bytes(&mut self, kind: Kind, flags: u8, bytes: &[u8]) -> Result<(), Error> {
        let node = self.store_string(kind, bytes)?;
        self.push_node(node.with(flags));
        Ok(())
    }

    fn store_string(&mut self, kind: Kind, bytes: &[u8]) -> Result<Node, Error> {
        let len = u32::try_from(bytes.len()).ok().filter(|len| *len < u32::MAX).ok_or_else(too_long_error)?;
        let location = Location::Arena(self.arena.len() as u64);
        self.arena.extend_from_slice(bytes);
        Ok(Node::string(kind, location, len))
    }

    /// Sets the key of the next value.
    pub(super) fn set_key(&mut self, kind: Kind, name: &[u8]) -> Result<(), Error> {
        self.key = match self.tape.key_id(kind, 0, name) {
            Some(id) => id,
            None => {
                let node = self.store_string(kind, name)?;
                self.nodes.push(Node { key: IS_KEY, ..node });
                KEY_NODE
            }
        };
        Ok(())
    }

    /// Sets an integer as the key of the next value.
    pub(super) fn set_number_key(&mut self, node: Node) {
        self.nodes.push(Node { key: IS_KEY, ..node });
        self.key = KEY_NODE;
    }

    /// Begins an object, whose body follows. Returns its index.
    pub(super) fn begin_object(&mut self, class: &[u8]) -> Result<usize, Error> {
        let kind = if class.is_ascii() { Kind::Bytes } else { Kind::Text };
        let class = self.tape.class_id(kind, class)?;
        Ok(self.push_node(Node::open(Kind::Object, class)))
    }

    /// Ends the container at this index, which has this number of parts.
    pub(super) fn end_container(&mut self, index: usize, count: usize) -> Result<(), Error> {
        let end = u32::try_from(self.nodes.len()).map_err(|_| too_long_error())?;
        self.nodes[index].aux = u32::try_from(count).map_err(|_| too_long_error())?;
        self.nodes[index].payload |= u64::from(end);
        Ok(())
    }
}

#[cold]
fn too_long_error() -> Error {
    Error::new(ErrorKind::Limit).expecting("less than 4 GB in a row").finding("more")
}
