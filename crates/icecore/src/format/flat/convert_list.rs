//! Converts the list that was read to a map, if the options ask for one.

use super::ItemsAs;
use crate::document::{IS_KEY, KEY_NODE, Kind, Node, Tape};
use crate::error::{Error, ErrorKind};
use crate::num::general;

/// Converts the array at the root to a map, if `items_as` is not `List`. The array is closed and contains only leaves.
pub(crate) fn convert_list(tape: &mut Tape, input: &[u8], items_as: &ItemsAs) -> Result<(), Error> {
    match items_as {
        ItemsAs::List => Ok(()),
        ItemsAs::Names(names) => name_values(tape, names),
        ItemsAs::Map => pair_values(tape, input),
    }
}

fn count_error(expected: String, found: usize) -> Error {
    let found = if found == 1 { "1 value".to_owned() } else { format!("{found} values") };
    Error::new(ErrorKind::Malformed).on_path("$").expecting(expected).finding(found)
}

fn name_values(tape: &mut Tape, names: &[String]) -> Result<(), Error> {
    let root = tape.root();
    let count = tape.nodes.len() - root as usize - 1;
    if count != names.len() {
        return Err(count_error(format!("{} values, as `names` has names", names.len()), count));
    }
    let ids: Option<Vec<u16>> =
        names.iter().map(|name| tape.intern_key(Node::leaf(Kind::Bytes, 0), name.as_bytes())).collect();
    let Some(ids) = ids else {
        return Err(Error::new(ErrorKind::Limit).expecting("at most 65,533 names").finding("more of them"));
    };
    for (node, id) in tape.nodes[root as usize + 1..].iter_mut().zip(ids) {
        node.key = id;
    }
    tape.nodes[root as usize].kind = Kind::Map;
    Ok(())
}

/// Maximum number of entries of a map whose keys get ids. Keys of larger maps seldom occur again, so they become
/// nodes.
const MAX_ENTRIES_WITH_IDS: usize = 256;

fn pair_values(tape: &mut Tape, input: &[u8]) -> Result<(), Error> {
    let root = tape.root();
    let list = tape.nodes.split_off(root as usize + 1);
    if !list.len().is_multiple_of(2) {
        return Err(count_error("keys and values in turn".to_owned(), list.len()));
    }
    let has_key_ids = list.len() / 2 <= MAX_ENTRIES_WITH_IDS;
    for pair in list.chunks_exact(2) {
        let (key, mut value) = (key_to_string(tape, pair[0]), pair[1]);
        let id = if has_key_ids { tape.string_bytes(&key, input).to_vec() } else { Vec::new() };
        match has_key_ids.then(|| tape.intern_key(Node::leaf(key.kind, 0), &id)).flatten() {
            Some(id) => value.key = id,
            None => {
                tape.push(Node { key: IS_KEY, ..key });
                value.key = KEY_NODE;
            }
        }
        tape.push(value);
    }
    tape.close_container(root, u32::try_from(list.len() / 2).unwrap_or(u32::MAX));
    tape.nodes[root as usize].kind = Kind::Map;
    Ok(())
}

/// Converts a key to a string.
fn key_to_string(tape: &mut Tape, node: Node) -> Node {
    let text = match node.kind {
        Kind::Int => (node.payload as i64).to_string(),
        Kind::Uint => node.payload.to_string(),
        Kind::Float => general::float_to_perl_text(f64::from_bits(node.payload)),
        Kind::Null => String::new(),
        _ => return node,
    };
    tape.new_owned_string(Kind::Bytes, text.as_bytes())
}
