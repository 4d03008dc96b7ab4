//! A tape as text, for `docs/tape.md` and for debugging.

use super::Document;
use super::node::{Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use std::fmt;

/// Prints the tape, a node a line: index, kind, key, value, flags.
impl fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, node) in self.tape.nodes.iter().enumerate() {
            write!(f, "{index:6}  {:<9}", format!("{:?}", node.kind))?;
            self.dump_key(node, f)?;
            self.dump_value(node, f)?;
            for word in flag_words(node) {
                write!(f, " {word}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Document<'_> {
    fn dump_key(&self, node: &Node, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match node.key {
            NO_KEY => Ok(()),
            IS_KEY => f.write_str(" (is a key)"),
            KEY_NODE => f.write_str(" (key before it)"),
            id => match self.tape.keys.get(u32::from(id)) {
                Some(key) if key.node.kind.has_bytes() => {
                    write!(f, " key #{id} {:?}", String::from_utf8_lossy(key.bytes))
                }
                Some(key) => write!(f, " key #{id} {}", key.node.payload as i64),
                None => write!(f, " key #{id}"),
            },
        }
    }

    fn dump_value(&self, node: &Node, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match node.kind {
            Kind::Null | Kind::Hole => Ok(()),
            Kind::Bool => write!(f, " {}", node.payload != 0),
            Kind::Int => write!(f, " {}", node.payload as i64),
            Kind::Float => write!(f, " {:?}", f64::from_bits(node.payload)),
            Kind::Float32 => write!(f, " {:?}", f32::from_bits(node.payload as u32)),
            Kind::BigInt | Kind::Float128 => write!(f, " {:02x?}", self.bytes(node)),
            Kind::Link | Kind::Alias | Kind::Copy => write!(f, " -> {}", node.payload),
            kind if kind.has_bytes() => write!(f, " {:?}", String::from_utf8_lossy(self.bytes(node))),
            kind if kind.is_container() => {
                if kind.has_class()
                    && let Some(class) = self.class_name(node.class())
                {
                    write!(f, " class #{} {:?}", node.class(), String::from_utf8_lossy(class.bytes))?;
                }
                write!(f, " count {} end {}", node.aux, node.end())
            }
            _ => write!(f, " {}", node.payload),
        }
    }
}

/// Returns the flags of a node that is not a key as words; the form is one of them.
fn flag_words(node: &Node) -> Vec<String> {
    let common = [(flag::REF, "ref"), (flag::WEAK, "weak"), (flag::OVERLOAD, "overload"), (flag::TARGET, "target")];
    let own: &[(u8, &str)] = match node.kind {
        _ if node.key == IS_KEY => &[(flag::LOCKED, "locked"), (flag::PLACEHOLDER, "placeholder")],
        Kind::BigInt => &[(flag::NEGATIVE, "negative")],
        Kind::Map => &[(flag::RESTRICTED, "restricted"), (flag::IDENTITY, "identity"), (flag::DEFAULT, "default")],
        Kind::Regexp => &[(flag::BARE, "bare")],
        _ => &[],
    };
    let mut words: Vec<String> =
        common.iter().chain(own).filter(|(bit, _)| node.has(*bit)).map(|(_, word)| (*word).to_owned()).collect();
    let has_form = matches!(node.kind, Kind::Object | Kind::Opaque | Kind::Attrs | Kind::Tied | Kind::Module);
    if has_form && node.form() != Form::Usual {
        words.push(format!("form {:?}", node.form()));
    }
    words
}
