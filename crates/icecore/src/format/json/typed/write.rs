//! Writes `json:typed`.

use super::form::{self, Name};
use super::map::MapKeys;
use super::{PlainStringKind, VERSION};
use crate::base64;
use crate::document::{Cursor, Document, Form, IS_KEY, Kind, NO_KEY, Node, flag};
use crate::error::Error;
use crate::format::json::WriteOptions;
use crate::format::json::emitter::{CharEncoding, Emitter};
use crate::format::json::style::{EscapeOptions, TextStyle};
use crate::limits::Limits;
use crate::num::bigint;
use crate::output::{MeteredOutput, Output};
use std::borrow::Cow;

/// Writes a document as `json:typed`.
pub(in crate::format::json) fn write_typed(
    document: &Document<'_>,
    options: &WriteOptions,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<(), Error> {
    // A user who edits an array does not mean to edit equal ones. With spelling, values
    // are counted as they are.
    if !(options.spelling && document.spelling().is_some())
        && let Ok(Cow::Owned(written)) = document.without_array_copies(limits)
    {
        return write_all(&written, options, limits, out);
    }
    write_all(document, options, limits, out)
}

fn write_all(
    document: &Document<'_>,
    options: &WriteOptions,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<(), Error> {
    let plain_strings = choose_plain_strings(document);
    let escapes = EscapeOptions { ascii: options.ascii, ..EscapeOptions::default() };
    let style = TextStyle { breaks_lines: options.indent > 0, indent: options.indent, escapes, ..TextStyle::default() };
    let mut out = MeteredOutput::new(document, limits, out);
    let mut writer = TypedWriter {
        document,
        nodes: document.nodes(),
        plain_strings,
        sort_keys: options.sort_keys,
        limits,
        emitter: Emitter::new(&mut out, document.nodes().len(), style),
        levels: Vec::new(),
        tasks: Vec::new(),
        targets: collect_targets(document),
        maps: MapKeys::default(),
    };
    writer.write_document(document.spelling().filter(|spelling| options.spelling && !spelling.format.is_empty()))?;
    if options.indent > 0 {
        writer.emitter.write_byte(b'\n');
    }
    writer.emitter.flush()
}

/// Tasks still to do, the next one last.
pub(super) enum WriteTask {
    Value(u32),
    Item,
    Key(Name),
    /// A key whose value is one word.
    KeyAndWord(Name, &'static str),
    Open(u8),
    Close(u8),
    /// Closes this number of objects around a value.
    CloseBraces(u8),
    /// The children between two nodes, as items.
    Items(u32, u32),
    /// The entries between two nodes, as entries of an object.
    Entries(u32, u32),
    /// The entries of a map, in the order in which they are written.
    SortedEntries(std::vec::IntoIter<(u32, u32)>),
    /// The entries between two nodes, as pairs.
    Pairs(u32, u32),
    /// The keys next to the pairs, for entries from `first` to `end`; the written pairs end at
    /// `pairs_end`.
    MapProperties {
        map: Option<u32>,
        first: u32,
        pairs_end: u32,
        end: u32,
    },
}

pub(super) struct TypedWriter<'d, 'o> {
    pub(super) document: &'d Document<'d>,
    pub(super) nodes: &'d [Node],
    pub(super) plain_strings: PlainStringKind,
    pub(super) sort_keys: bool,
    limits: &'d Limits,
    pub(super) emitter: Emitter<'o>,
    /// For each open bracket: whether nothing was written in it yet.
    levels: Vec<bool>,
    pub(super) tasks: Vec<WriteTask>,
    /// The nodes that get an `$id`, ascending.
    targets: Vec<u32>,
    pub(super) maps: MapKeys,
}

/// Returns the kind of most strings.
fn choose_plain_strings(document: &Document<'_>) -> PlainStringKind {
    let weight = |kind: Kind| match kind {
        Kind::Bytes => 1i64,
        Kind::Text => -1,
        _ => 0,
    };
    let keys: Vec<i64> = document.tape().keys().iter().map(|name| weight(name.node.kind)).collect();
    let classes: Vec<i64> = document.tape().classes().iter().map(|name| weight(name.node.kind)).collect();
    let weight_at =
        |weights: &[i64], id: usize| id.checked_sub(1).and_then(|index| weights.get(index)).copied().unwrap_or(0);
    let mut balance = 0;
    for node in document.nodes() {
        balance += weight(node.kind);
        if node.key != NO_KEY {
            balance += weight_at(&keys, usize::from(node.key));
        }
        if node.kind.has_class() {
            balance += weight_at(&classes, node.class() as usize);
        }
    }
    if balance > 0 { PlainStringKind::Bytes } else { PlainStringKind::Text }
}

/// Returns `true` if the document is the same as plain JSON, so that no header is needed.
fn is_plain(document: &Document<'_>) -> bool {
    let tape = document.tape();
    let is_plain_key =
        |kind: Kind, flags: u8, bytes: &[u8]| kind == Kind::Text && flags == 0 && !bytes.starts_with(b"$");
    // The table may have names of previous documents.
    let plain_keys: Vec<bool> =
        tape.keys().iter().map(|name| is_plain_key(name.node.kind, name.node.flags, name.bytes)).collect();
    let has_plain_key = |id: u16| plain_keys.get(usize::from(id).wrapping_sub(1)).copied().unwrap_or(true);
    document.nodes().iter().all(|node| {
        let is_plain = match node.kind {
            Kind::Null | Kind::Bool | Kind::Int | Kind::Uint | Kind::BigInt | Kind::Array => true,
            Kind::Float => f64::from_bits(node.payload).is_finite(),
            Kind::Float32 => f32::from_bits(node.payload as u32).is_finite(),
            Kind::Text => std::str::from_utf8(document.bytes(node)).is_ok(),
            Kind::Map => true,
            _ => false,
        };
        let is_no_special_key = node.key != IS_KEY || is_plain_key(node.kind, node.flags, document.bytes(node));
        is_plain
            && is_no_special_key
            && has_plain_key(node.key)
            && !node.has(flag::TARGET)
            && (node.kind != Kind::Map || node.flags & !flag::REF == 0)
    })
}

/// Returns all nodes that a link, an alias or a copy refers to.
fn collect_targets(document: &Document<'_>) -> Vec<u32> {
    let mut targets = Vec::new();
    for (index, node) in (0u32..).zip(document.nodes()) {
        if node.has(flag::TARGET) {
            targets.push(index);
        }
        if node.kind.is_again()
            && let Ok(target) = u32::try_from(node.payload)
        {
            targets.push(target);
        }
    }
    targets.sort_unstable();
    targets.dedup();
    targets
}

impl<'d> TypedWriter<'d, '_> {
    fn write_document(&mut self, spelling: Option<&crate::document::Spelling>) -> Result<(), Error> {
        let (document, header) = (self.document, self.document.header());
        if self.plain_strings == PlainStringKind::Text && header.is_none() && spelling.is_none() && is_plain(document) {
            self.write_value(document.root().index())?;
            return self.run_tasks();
        }
        self.open_bracket(b'{');
        self.write_key(Name::Icecore)?;
        self.emitter.write_int(VERSION);
        self.write_key(Name::Strings)?;
        self.emitter.write_word(if self.plain_strings == PlainStringKind::Bytes { "\"bytes\"" } else { "\"text\"" });
        if let Some(header) = header {
            self.write_key(Name::Header)?;
            self.write_value(header.index())?;
            self.run_tasks()?;
        }
        if let Some(spelling) = spelling {
            self.write_key(Name::Spelling)?;
            self.write_spelling(spelling)?;
        }
        self.write_key(Name::Value)?;
        self.write_value(document.root().index())?;
        self.run_tasks()?;
        self.close_bracket(b'}')
    }

    fn run_tasks(&mut self) -> Result<(), Error> {
        while let Some(task) = self.tasks.pop() {
            crate::steps::count(1);
            self.emitter.make_space()?;
            match task {
                WriteTask::Value(index) => self.write_value(index)?,
                WriteTask::Item => self.start_item()?,
                WriteTask::Key(name) => self.write_key(name)?,
                WriteTask::KeyAndWord(name, word) => {
                    self.write_key(name)?;
                    self.emitter.write_word(word);
                }
                WriteTask::Open(bracket) => self.open_bracket(bracket),
                WriteTask::Close(bracket) => self.close_bracket(bracket)?,
                WriteTask::CloseBraces(count) => {
                    for _ in 0..count {
                        self.close_bracket(b'}')?;
                    }
                }
                WriteTask::Items(next, end) => {
                    if let Some(node) = self.nodes.get(next as usize).filter(|_| next < end) {
                        self.tasks.push(WriteTask::Items(self.document.tape().index_after(next), end));
                        // A key without a value, in a document that was cut off.
                        if node.key != IS_KEY {
                            self.start_item()?;
                            self.write_value(next)?;
                        }
                    }
                }
                WriteTask::Entries(next, end) => self.write_next_entry(next, end)?,
                WriteTask::SortedEntries(entries) => self.write_next_sorted(entries)?,
                WriteTask::Pairs(next, end) => self.write_next_pair(next, end)?,
                WriteTask::MapProperties { map, first, pairs_end, end } => {
                    self.write_map_properties(map, first, pairs_end, end)?
                }
            }
        }
        Ok(())
    }

    /// Opens a bracket.
    pub(super) fn open_bracket(&mut self, bracket: u8) {
        self.emitter.write_byte(bracket);
        self.levels.push(true);
    }

    /// Closes a bracket.
    pub(super) fn close_bracket(&mut self, bracket: u8) -> Result<(), Error> {
        if self.levels.pop() == Some(false) {
            self.emitter.start_line(self.levels.len())?;
        }
        self.emitter.write_byte(bracket);
        self.emitter.make_space()
    }

    /// Starts an item or an entry.
    pub(super) fn start_item(&mut self) -> Result<(), Error> {
        self.emitter.make_space()?;
        if let Some(is_empty) = self.levels.last_mut()
            && !std::mem::replace(is_empty, false)
        {
            self.emitter.write_byte(b',');
        }
        self.emitter.start_line(self.levels.len())
    }

    /// Writes a key that needs no escapes.
    pub(super) fn write_key_text(&mut self, key: &'static str) -> Result<(), Error> {
        self.start_item()?;
        self.emitter.write_byte(b'"');
        self.emitter.write_word(key);
        self.emitter.write_word("\":");
        if self.emitter.is_indented() {
            self.emitter.write_byte(b' ');
        }
        Ok(())
    }

    pub(super) fn write_key(&mut self, name: Name) -> Result<(), Error> {
        self.write_key_text(name.text())
    }

    /// Writes valid UTF-8 as a JSON string.
    pub(super) fn write_utf8(&mut self, text: &[u8]) -> Result<(), Error> {
        self.emitter.write_quoted(text, CharEncoding::Utf8)
    }

    /// Returns the number that links use for this node.
    pub(super) fn link_number(&self, index: u32) -> Option<u64> {
        self.targets.binary_search(&index).ok().map(|position| position as u64 + 1)
    }

    /// Returns `true` if a link refers to this node.
    pub(super) fn is_target(&self, index: u32) -> bool {
        self.targets.binary_search(&index).is_ok()
    }

    /// Writes a value: a leaf completely, a container up to its beginning.
    pub(super) fn write_value(&mut self, index: u32) -> Result<(), Error> {
        self.emitter.make_space()?;
        let Some(node) = self.nodes.get(index as usize) else {
            self.emitter.write_word("null");
            return Ok(());
        };
        let mut braces = 0;
        if let Some(number) = self.link_number(index) {
            self.open_bracket(b'{');
            self.write_key(Name::Id)?;
            self.emitter.write_uint(number);
            self.write_key(Name::Value)?;
            braces += 1;
        }
        for (flag, name) in [(flag::WEAK, Name::Weak), (flag::OVERLOAD, Name::Overload)] {
            if node.has(flag) {
                self.open_bracket(b'{');
                self.write_key(name)?;
                braces += 1;
            }
        }
        if braces > 0 {
            self.tasks.push(WriteTask::CloseBraces(braces));
        }
        if node.kind.is_container() { self.open_container(index, node) } else { self.write_leaf(index, node) }
    }

    fn write_leaf(&mut self, index: u32, node: &Node) -> Result<(), Error> {
        let bytes = if node.kind.has_bytes() { self.document.bytes(node) } else { &[] };
        match node.kind {
            Kind::Bool => self.emitter.write_word(if node.payload != 0 { "true" } else { "false" }),
            Kind::Uint => self.emitter.write_uint(node.payload),
            Kind::BigInt => {
                if bigint::exceeds(bytes, self.limits.digits) {
                    return Err(self.limits.too_many_digits().on_path(self.document.path(index)));
                }
                let mut text = Vec::new();
                bigint::push_decimal(node.has(flag::NEGATIVE), bytes, &mut text);
                self.emitter.write_raw(&text)?;
            }
            Kind::Float => self.write_float(f64::from_bits(node.payload))?,
            Kind::Float32 => self.write_float(f64::from(f32::from_bits(node.payload as u32)))?,
            Kind::Float128 => {
                let bits = u128::from_le_bytes(bytes.try_into().unwrap_or([0; 16]));
                self.write_single_entry(Name::Float128, format!("{bits:032x}").as_bytes())?;
            }
            Kind::Module => {
                self.open_bracket(b'{');
                self.write_key(Name::Module)?;
                self.write_named_bytes(bytes)?;
                self.write_key(Name::Form)?;
                let form = node.form();
                self.write_utf8(if form == Form::Usual { b"class" } else { form::form_word(form).as_bytes() })?;
                self.close_bracket(b'}')?;
            }
            Kind::EnumCase => {
                self.open_bracket(b'{');
                self.write_key(Name::Enum)?;
                self.write_named_bytes(bytes)?;
                self.close_bracket(b'}')?;
            }
            Kind::Hole => {
                self.open_bracket(b'{');
                self.write_key(Name::Hole)?;
                self.emitter.write_byte(b'1');
                self.close_bracket(b'}')?;
            }
            Kind::Link | Kind::Alias | Kind::Copy => {
                self.open_bracket(b'{');
                self.write_key(match node.kind {
                    Kind::Link => Name::Link,
                    Kind::Alias => Name::Alias,
                    _ => Name::Copy,
                })?;
                let number = u32::try_from(node.payload).ok().and_then(|target| self.link_number(target));
                self.emitter.write_uint(number.unwrap_or(0));
                self.close_bracket(b'}')?;
            }
            Kind::Null => self.emitter.write_word("null"),
            _ => self.write_name(node, bytes)?,
        }
        Ok(())
    }

    /// Writes an integer or a string of any kind.
    pub(super) fn write_name(&mut self, node: &Node, bytes: &[u8]) -> Result<(), Error> {
        match node.kind {
            Kind::Int => self.emitter.write_int(node.payload as i64),
            Kind::Encoded | Kind::Symbol => {
                let is_symbol = node.kind == Kind::Symbol;
                let encoding = self.document.tape().encodings().get(u32::from(node.encoding()));
                self.open_bracket(b'{');
                self.write_key(if is_symbol { Name::Symbol } else { Name::String })?;
                self.write_named_bytes(bytes)?;
                if let Some(encoding) = encoding {
                    self.write_key(Name::Encoding)?;
                    self.write_named_bytes(encoding.bytes)?;
                } else if !is_symbol {
                    self.write_key(Name::Encoding)?;
                    self.emitter.write_word("null");
                }
                self.close_bracket(b'}')?;
            }
            kind => self.write_string(kind == Kind::Text, bytes)?,
        }
        Ok(())
    }

    fn write_float(&mut self, value: f64) -> Result<(), Error> {
        if value.is_finite() {
            self.emitter.write_float(value);
            return Ok(());
        }
        let text = match value.to_bits() {
            0x7FF0_0000_0000_0000 => "inf".to_owned(),
            0xFFF0_0000_0000_0000 => "-inf".to_owned(),
            0x7FF8_0000_0000_0000 => "nan".to_owned(),
            bits => format!("nan:{bits:016x}"),
        };
        self.write_single_entry(Name::Float, text.as_bytes())
    }

    /// Writes `{NAME: text}`.
    fn write_single_entry(&mut self, name: Name, text: &[u8]) -> Result<(), Error> {
        self.open_bracket(b'{');
        self.write_key(name)?;
        self.write_utf8(text)?;
        self.close_bracket(b'}')
    }

    /// Writes a text or a byte string.
    pub(super) fn write_string(&mut self, is_text: bool, bytes: &[u8]) -> Result<(), Error> {
        let is_utf8 = std::str::from_utf8(bytes).is_ok();
        if is_utf8 && is_text == (self.plain_strings == PlainStringKind::Text) {
            return self.write_utf8(bytes);
        }
        if !is_text {
            return if is_utf8 { self.write_single_entry(Name::Bytes, bytes) } else { self.write_non_utf8(bytes) };
        }
        self.open_bracket(b'{');
        self.write_key(Name::Text)?;
        if is_utf8 {
            self.write_utf8(bytes)?
        } else {
            self.write_non_utf8(bytes)?
        }
        self.close_bracket(b'}')
    }

    /// Writes bytes if the context says that they are bytes: a plain string is their
    /// UTF-8.
    fn write_named_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if std::str::from_utf8(bytes).is_ok() { self.write_utf8(bytes) } else { self.write_non_utf8(bytes) }
    }

    /// Writes bytes that are not UTF-8.
    fn write_non_utf8(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let unprintable = bytes.iter().filter(|byte| matches!(byte, 0..=8 | 11..=12 | 14..=31 | 127..=159)).count();
        if unprintable > bytes.len() / 2 {
            let mut text = Vec::new();
            base64::encode_base64(bytes, &mut text);
            return self.write_single_entry(Name::Base64, &text);
        }
        self.open_bracket(b'{');
        self.write_key(Name::Latin1)?;
        self.emitter.write_quoted(bytes, CharEncoding::Latin1)?;
        self.close_bracket(b'}')
    }

    /// Writes the name of a class.
    fn write_class(&mut self, class: u32) -> Result<(), Error> {
        match self.document.class_name(class) {
            Some(name) => self.write_string(name.node.kind == Kind::Text, name.bytes),
            None => {
                self.emitter.write_word("null");
                Ok(())
            }
        }
    }

    fn write_form(&mut self, form: Form) -> Result<(), Error> {
        self.write_key(Name::Form)?;
        self.write_utf8(form::form_word(form).as_bytes())
    }

    fn open_container(&mut self, index: u32, node: &Node) -> Result<(), Error> {
        let end = self.document.tape().index_after(index);
        match node.kind {
            Kind::Array => {
                self.open_bracket(b'[');
                self.tasks.extend([WriteTask::Close(b']'), WriteTask::Items(index + 1, end)]);
                return Ok(());
            }
            Kind::Map => return self.open_map(index, node, end),
            _ => {}
        }
        self.open_bracket(b'{');
        self.tasks.push(WriteTask::Close(b'}'));
        let Some(cursor) = self.document.at(index) else { return Ok(()) };
        let child = |position: usize| cursor.children().nth(position).map_or(u32::MAX, |child| child.index());
        match node.kind {
            Kind::Object => {
                self.write_key(Name::Class)?;
                self.write_class(node.class())?;
                let body = self.nodes.get(child(0) as usize).map_or(Kind::Null, |body| body.kind);
                if node.form() != form::default_object_form(body) {
                    self.write_form(node.form())?;
                }
                self.tasks.extend([WriteTask::Value(child(0)), WriteTask::Key(Name::Value)]);
            }
            Kind::Opaque => self.open_opaque(cursor, end)?,
            Kind::Attrs => self.open_attributes(cursor, end)?,
            Kind::Regexp => {
                if node.has(flag::BARE) {
                    self.tasks.push(WriteTask::KeyAndWord(Name::Bare, "true"));
                }
                let (pattern, flags) = (WriteTask::Value(child(0)), WriteTask::Value(child(1)));
                self.tasks.extend([flags, WriteTask::Key(Name::Flags), pattern, WriteTask::Key(Name::Regexp)]);
            }
            Kind::VString => {
                let (source, value) = (WriteTask::Value(child(0)), WriteTask::Value(child(1)));
                self.tasks.extend([value, WriteTask::Key(Name::Value), source, WriteTask::Key(Name::VString)]);
            }
            Kind::Tied => {
                self.write_key(Name::Tied)?;
                self.write_utf8(form::form_word(node.form()).as_bytes())?;
                if cursor.children().nth(1).is_some() {
                    self.tasks.extend([WriteTask::Value(child(1)), WriteTask::Key(Name::Key)]);
                }
                self.tasks.extend([WriteTask::Value(child(0)), WriteTask::Key(Name::Value)]);
            }
            Kind::Code => self.tasks.extend([WriteTask::Value(child(0)), WriteTask::Key(Name::Code)]),
            _ => self.tasks.extend([WriteTask::Value(child(0)), WriteTask::Key(Name::Ref)]),
        }
        Ok(())
    }

    fn open_opaque(&mut self, cursor: Cursor<'d>, end: u32) -> Result<(), Error> {
        let node = cursor.node();
        self.write_key(Name::Opaque)?;
        self.write_utf8(form::form_word(node.form()).as_bytes())?;
        self.write_key(Name::Class)?;
        self.write_class(node.class())?;
        let mut children = cursor.children();
        let payload = children.next();
        if let Some(first) = children.next() {
            let items = WriteTask::Items(first.index(), end);
            self.tasks.extend([WriteTask::Close(b']'), items, WriteTask::Open(b'['), WriteTask::Key(Name::Links)]);
        }
        if let Some(payload) = payload {
            self.tasks.extend([WriteTask::Value(payload.index()), WriteTask::Key(Name::Payload)]);
        }
        Ok(())
    }

    fn open_attributes(&mut self, cursor: Cursor<'d>, end: u32) -> Result<(), Error> {
        let node = cursor.node();
        let value = cursor.children().next().map_or(u32::MAX, |value| value.index());
        let first = if value < end { self.document.tape().index_after(value) } else { end };
        self.tasks.extend([WriteTask::Value(value), WriteTask::Key(Name::Value)]);
        let has_class = self.document.class_name(node.class()).is_some();
        let name = match node.form() {
            Form::Module if has_class => Name::Extended,
            Form::Subclass if has_class => Name::Subclass,
            _ => Name::Class,
        };
        if has_class {
            self.write_key(name)?;
            self.write_class(node.class())?;
        }
        if name == Name::Class && node.form() != Form::Usual {
            self.write_form(node.form())?;
        }
        if name == Name::Class || first < end {
            self.write_key(Name::Attributes)?;
            self.open_entries(first, end, None);
        }
        Ok(())
    }
}
