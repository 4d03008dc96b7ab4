//! Writes JSON in one pass over the nodes, in their order.

use super::super::number::{self, NumberSyntax, push_canonical};
use super::super::scratch::{self, SCRATCH_LEN, Scratch};
use super::number::write_float;
use super::text::write_string_part;
use super::{Beyond, Style};
use crate::document::{Document, Form, IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Names, Node, Tape};
use crate::error::{Error, ErrorKind};
use crate::output::{Output, PartialContainer};

/// Size of the buffer for short tokens.
const CHUNK_LEN: usize = 4096;

/// Writes a document that only contains arrays, maps with string keys, strings, numbers
/// (of any size, with their texts as symbols), booleans, nulls, and objects frozen by
/// FREEZE, which are tagged.
///
/// # Errors
/// Of kind `Unrepresentable`, for anything else, and for characters beyond Unicode.
pub fn write(document: &Document<'_>, style: &Style, out: &mut dyn Output) -> Result<(), Error> {
    let mut spare = out.take_spare();
    spare.open.clear();
    if spare.bytes.len() < CHUNK_LEN + 2 * SCRATCH_LEN {
        spare.bytes.resize(CHUNK_LEN + 2 * SCRATCH_LEN, 0);
    }
    let mut writer = PerlWriter {
        tape: document.tape(),
        names: document.tape().keys(),
        input: document.input(),
        style,
        is_usual: style.indent.is_none() && !style.space_before && !style.space_after && !style.escape_slash,
        chunk: std::mem::take(&mut spare.bytes),
        filled: 0,
        out: out.buffer(),
        open: std::mem::take(&mut spare.open),
    };
    let written = writer.write_document();
    writer.flush();
    (spare.bytes, spare.open) = (std::mem::take(&mut writer.chunk), std::mem::take(&mut writer.open));
    out.return_spare(spare);
    written
}

struct PerlWriter<'d, 'o> {
    tape: &'d Tape,
    names: &'d Names,
    input: &'d [u8],
    style: &'d Style,
    /// Whether keys have their usual form.
    is_usual: bool,
    chunk: Vec<u8>,
    filled: usize,
    out: &'o mut Vec<u8>,
    /// Open containers. `key` says what closes them in addition to a bracket.
    open: Vec<PartialContainer>,
}

/// Value of `key` for a tagged value or the document: closing it writes nothing.
const TAGGED: u16 = 1;
/// Value of `key` for the list after a tag, which is always on one line.
const LIST: u16 = 2;

impl<'d> PerlWriter<'d, '_> {
    fn write_document(&mut self) -> Result<(), Error> {
        let nodes = self.tape.nodes.get(self.tape.root as usize..).unwrap_or(&[]);
        let mut nodes = nodes.iter();
        // Number of children that the innermost container still gets, and whether it is
        // a map.
        let mut top = PartialContainer { remaining: 1, key: TAGGED, is_map: false };
        let mut is_first = true;
        loop {
            while top.remaining == 0 {
                let Some(outer) = self.open.pop() else {
                    if self.style.indent.is_some() {
                        self.write_byte(b'\n');
                    }
                    return Ok(());
                };
                if top.key != TAGGED {
                    if self.filled >= CHUNK_LEN {
                        self.flush();
                    }
                    if top.key == 0 {
                        self.write_new_line(usize::from(outer.key == 0));
                    }
                    self.write_byte(if top.is_map { b'}' } else { b']' });
                }
                top = outer;
                is_first = false;
            }
            top.remaining -= 1;
            let Some(mut node) = nodes.next() else { break };
            if self.filled >= CHUNK_LEN {
                self.flush();
            }
            if !is_first {
                self.write_byte(b',');
                if self.style.space_after && self.style.indent.is_none() && top.key != LIST {
                    self.write_byte(b' ');
                }
            }
            is_first = false;
            if self.style.indent.is_some() && top.key == 0 {
                self.write_new_line(1);
            }
            if top.is_map {
                if node.key == IS_KEY {
                    let text = self.tape.string_bytes(node, self.input);
                    self.write_key(text, node.kind == Kind::Text)?;
                    let Some(value) = nodes.next() else { break };
                    node = value;
                } else {
                    self.write_key_with_id(node.key)?;
                }
            }
            if self.write_leaf(node)? {
                continue;
            }
            let next = match node.kind {
                Kind::Array | Kind::Map => {
                    let is_map = node.kind == Kind::Map;
                    let is_tagged = top.key == TAGGED && !self.open.is_empty();
                    if node.aux == 0 {
                        self.write_word(if is_map { "{}" } else { "[]" });
                        continue;
                    }
                    self.write_byte(if is_map { b'{' } else { b'[' });
                    PartialContainer { remaining: node.aux, key: if is_tagged { LIST } else { 0 }, is_map }
                }
                Kind::Opaque if node.form() == Form::Freeze => {
                    self.write_tag(node)?;
                    PartialContainer { remaining: 1, key: TAGGED, is_map: false }
                }
                _ => return Err(unsupported_error(node)),
            };
            self.open.push(top);
            top = next;
            is_first = true;
        }
        Err(Error::new(ErrorKind::Usage).expecting("containers with their children").finding("fewer"))
    }

    #[inline(always)]
    fn free_scratch(&mut self) -> Option<&mut Scratch> {
        self.chunk.get_mut(self.filled..).and_then(|rest| rest.first_chunk_mut())
    }

    #[inline(always)]
    fn write_byte(&mut self, byte: u8) {
        if let Some(place) = self.chunk.get_mut(self.filled) {
            *place = byte;
            self.filled += 1;
        }
    }

    fn write_word(&mut self, word: &'static str) {
        let len = self.free_scratch().map_or(0, |scratch| scratch::write_word(scratch, 0, word));
        self.filled += len;
    }

    fn flush(&mut self) {
        self.out.extend_from_slice(self.chunk.get(..self.filled).unwrap_or(&[]));
        self.filled = 0;
    }

    /// Starts a line, if the output has lines; `extra_levels` more levels are open.
    #[inline]
    fn write_new_line(&mut self, extra_levels: usize) {
        let Some(indent) = self.style.indent else { return };
        self.flush();
        self.out.push(b'\n');
        let levels = self.open.iter().filter(|open| open.key == 0).count() + extra_levels;
        let blanks = levels.saturating_mul(usize::from(indent));
        self.out.resize(self.out.len().saturating_add(blanks), b' ');
    }

    /// Writes a value without children. Returns `false` if it has children.
    #[inline(always)]
    fn write_leaf(&mut self, node: &Node) -> Result<bool, Error> {
        let offset = self.filled;
        match node.kind {
            Kind::Bytes | Kind::Text => {
                let (base, start) = match node.location() {
                    Location::Input(start) => (self.input, start),
                    Location::Arena(start) => (&self.tape.arena[..], start),
                };
                let is_default = !self.style.escape_slash;
                let len = node.aux as usize;
                let written_len = self.free_scratch().filter(|_| is_default).and_then(|scratch| {
                    scratch::write_plain_string(scratch, 0, base, usize::try_from(start).ok()?, len)
                });
                match written_len {
                    Some(len) => self.filled = offset + len,
                    None => self.write_string(self.tape.string_bytes(node, self.input), node.kind == Kind::Text)?,
                }
            }
            Kind::Int if !self.style.all_strings => {
                let len = self.free_scratch().map_or(0, |scratch| scratch::write_int(scratch, 0, node.payload as i64));
                self.filled = offset + len;
            }
            Kind::Null | Kind::Hole => self.write_word("null"),
            Kind::Bool => self.write_word(if node.payload == 0 { "false" } else { "true" }),
            Kind::Int | Kind::Uint | Kind::Float => self.write_number(node),
            Kind::Symbol => self.write_number_text(node)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    #[inline(never)]
    fn write_number(&mut self, node: &Node) {
        self.flush();
        let quotes = self.style.all_strings && (node.kind != Kind::Float || f64::from_bits(node.payload).is_finite());
        if quotes {
            self.out.push(b'"');
        }
        match node.kind {
            Kind::Int | Kind::Uint => push_canonical(node, &[], self.out),
            _ => write_float(f64::from_bits(node.payload), self.style, self.out),
        }
        if quotes {
            self.out.push(b'"');
        }
    }

    /// Writes a number of any size, as its text.
    #[inline(never)]
    fn write_number_text(&mut self, node: &Node) -> Result<(), Error> {
        let text = self.tape.string_bytes(node, self.input);
        if matches!(text, b"NaN" | b"nan" | b"inf" | b"-inf") {
            // Not JSON, but what Cpanel::JSON::XS writes for numbers of any size.
            self.flush();
            self.out.extend_from_slice(text);
            return Ok(());
        }
        match number::classify_number(text, 0) {
            NumberSyntax::Integer(end) | NumberSyntax::Decimal(end) if end == text.len() => {
                self.flush();
                self.out.extend_from_slice(text);
                Ok(())
            }
            _ => Err(Error::new(ErrorKind::Unrepresentable)
                .expecting("a number")
                .finding(format!("`{}`", String::from_utf8_lossy(text)))),
        }
    }

    #[inline(never)]
    fn write_string(&mut self, text: &[u8], is_text: bool) -> Result<(), Error> {
        self.flush();
        self.out.push(b'"');
        write_string_part(text, is_text, self.style, self.out)?;
        self.out.push(b'"');
        Ok(())
    }

    #[inline(always)]
    fn write_key_with_id(&mut self, id: u16) -> Result<(), Error> {
        if id == NO_KEY || id == KEY_NODE {
            return Err(Error::new(ErrorKind::Usage).expecting("entries with keys").finding("one without"));
        }
        if self.is_usual
            && let Some((entry, _)) = self.names.get_plain(id)
            && let Some(scratch) = self.free_scratch()
        {
            let head = entry.head.to_le_bytes();
            let len = entry.node.aux as usize;
            if let Some(end) = scratch::write_plain_string(scratch, 0, &head, 0, len) {
                scratch[end] = b':';
                self.filled += end + 1;
                return Ok(());
            }
        }
        let Some(name) = self.names.get(u32::from(id)) else {
            return Err(Error::new(ErrorKind::Usage).expecting("keys that are known").finding("another one"));
        };
        self.write_key(name.bytes, name.node.kind == Kind::Text)
    }

    #[inline(never)]
    fn write_key(&mut self, text: &[u8], is_text: bool) -> Result<(), Error> {
        // Perl stores a key as bytes if its characters allow it, and `binary` shows them.
        match (is_text && self.style.beyond == Beyond::Binary).then(|| to_latin1(text)).flatten() {
            Some(bytes) => self.write_string(&bytes, false)?,
            None => self.write_string(text, is_text)?,
        }
        if self.style.space_before {
            self.out.push(b' ');
        }
        self.out.push(b':');
        if self.style.space_after {
            self.out.push(b' ');
        }
        Ok(())
    }

    /// Writes the class of a tagged value.
    fn write_tag(&mut self, node: &Node) -> Result<(), Error> {
        let class = self.tape.classes().get(node.class());
        let (name, is_text) = class.map_or((&[][..], false), |class| (class.bytes, class.node.kind == Kind::Text));
        self.write_byte(b'(');
        self.write_string(name, is_text)?;
        self.out.push(b')');
        Ok(())
    }
}

/// Returns text in Latin-1; `None` if it has other characters.
fn to_latin1(text: &[u8]) -> Option<Vec<u8>> {
    std::str::from_utf8(text).ok()?.chars().map(|next| u8::try_from(next).ok()).collect()
}

#[cold]
fn unsupported_error(node: &Node) -> Error {
    Error::new(ErrorKind::Unrepresentable)
        .expecting("arrays, maps, strings, numbers, booleans and nulls")
        .finding(format!("a node of kind {:?}", node.kind))
}
