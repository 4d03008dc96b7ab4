//! The writer's loop for what most documents are made of.

use super::body::{After, Body};
use super::tag;
use super::write::is_float;
use crate::document::{IS_KEY, KEY_NODE, Kind, NO_KEY, Place, flag};
use crate::error::Error;

impl Body<'_, '_> {
    /// Writes values as long as there is nothing special about them.
    pub(super) fn plain(&mut self) -> Result<(), Error> {
        if self.after != After::Item {
            return Ok(());
        }
        let input = self.document.input();
        let Some(nodes) = self.nodes.get(..self.end as usize) else { return Ok(()) };
        let mut at = self.at as usize;
        while let Some(node) = nodes.get(at) {
            // Bits that only some kinds have say that there is something
            // special about these.
            if node.flags & !flag::REF != 0 {
                break;
            }
            let is_plain = match node.kind {
                Kind::Int | Kind::Bytes | Kind::Text | Kind::Float | Kind::Float32 | Kind::Null | Kind::Uint => true,
                Kind::Array | Kind::Map => true,
                Kind::Bool => self.plan.version >= 5,
                _ => false,
            };
            if !is_plain || node.key == IS_KEY || node.kind == Kind::Map && node.aux > super::read::MOST_IDS {
                break;
            }
            if node.key != NO_KEY && node.key != KEY_NODE {
                let Some(key) = self.keys.get(usize::from(node.key)).filter(|key| key.len > 0) else { break };
                self.bytes.word(key.word, usize::from(key.len))?;
            }
            match node.kind {
                Kind::Int => {
                    let value = node.payload as i64;
                    match value {
                        0..=15 => self.bytes.byte(value as u8)?,
                        16.. => self.bytes.tagged(tag::VARINT, value as u64)?,
                        -16.. => self.bytes.byte((value + 32) as u8)?,
                        _ => self.bytes.tagged(tag::ZIGZAG, (value << 1 ^ value >> 63) as u64)?,
                    }
                }
                Kind::Bytes => {
                    let len = node.aux as usize;
                    let window = match node.place() {
                        Place::Input(start) if len <= tag::MOST_SHORT => {
                            usize::try_from(start).ok().and_then(|start| input.get(start..)?.first_chunk::<32>())
                        }
                        _ => None,
                    };
                    match window {
                        Some(window) => self.bytes.short(window, len)?,
                        None => {
                            let bytes = self.document.bytes(node);
                            if bytes.len() <= tag::MOST_SHORT {
                                self.bytes.byte(tag::SHORT_BINARY | bytes.len() as u8)?;
                            } else {
                                self.bytes.tagged(tag::BINARY, bytes.len() as u64)?;
                            }
                            self.bytes.slice(bytes)?;
                        }
                    }
                }
                Kind::Text => {
                    let bytes = self.document.bytes(node);
                    self.bytes.tagged(tag::STR_UTF8, bytes.len() as u64)?;
                    self.bytes.slice(bytes)?;
                }
                Kind::Map | Kind::Array => {
                    let (long, short) =
                        if node.kind == Kind::Map { (tag::HASH, tag::HASHREF) } else { (tag::ARRAY, tag::ARRAYREF) };
                    if node.aux as usize <= tag::MOST_IN_REF {
                        self.bytes.byte(short | node.aux as u8)?;
                    } else {
                        self.bytes.byte(tag::REFN)?;
                        self.bytes.tagged(long, u64::from(node.aux))?;
                    }
                }
                Kind::Float | Kind::Float32 => {
                    let (value, is_short) = if node.kind == Kind::Float {
                        let value = f64::from_bits(node.payload);
                        (value, is_float(value))
                    } else {
                        (f64::from(f32::from_bits(node.payload as u32)), true)
                    };
                    if is_short {
                        self.bytes.byte(tag::FLOAT)?;
                        self.bytes.slice(&(value as f32).to_le_bytes())?;
                    } else {
                        self.bytes.byte(tag::DOUBLE)?;
                        self.bytes.slice(&value.to_le_bytes())?;
                    }
                }
                Kind::Uint => self.bytes.tagged(tag::VARINT, node.payload)?,
                Kind::Bool => self.bytes.byte(if node.payload == 0 { tag::NO } else { tag::YES })?,
                _ => self.bytes.byte(tag::UNDEF)?,
            }
            at += 1;
        }
        self.at = at as u32;
        Ok(())
    }
}
