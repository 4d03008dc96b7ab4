//! Writes `json:typed`.

use super::form::{self, Name};
use super::map::Maps;
use super::{Strings, VERSION};
use crate::base64;
use crate::document::{Cursor, Document, Form, IS_KEY, Kind, NO_KEY, Node, flag};
use crate::error::Error;
use crate::format::json::WriteOptions;
use crate::format::json::emitter::{Chars, Emitter};
use crate::format::json::style::{Escapes, Style};
use crate::limits::Limits;
use crate::num::bigint;
use crate::output::{Metered, Output};
use std::borrow::Cow;

/// Writes a document as `json:typed`.
pub(in crate::format::json) fn write(
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
    let strings = mostly(document);
    let escapes = Escapes { ascii: options.ascii, ..Escapes::default() };
    let style = Style { lines: options.indent > 0, indent: options.indent, escapes, ..Style::default() };
    let mut out = Metered::new(document, limits, out);
    let mut writer = Writer {
        document,
        nodes: document.nodes(),
        strings,
        sort_keys: options.sort_keys,
        limits,
        emitter: Emitter::new(&mut out, document.nodes().len(), style),
        levels: Vec::new(),
        tasks: Vec::new(),
        targets: targets(document),
        maps: Maps::default(),
    };
    writer.document(document.spelling().filter(|spelling| options.spelling && !spelling.format.is_empty()))?;
    if options.indent > 0 {
        writer.emitter.byte(b'\n');
    }
    writer.emitter.flush()
}

/// Tasks still to do, the next one last.
pub(super) enum Task {
    Value(u32),
    Item,
    Key(Name),
    /// A key whose value is one word.
    Word(Name, &'static str),
    Open(u8),
    Close(u8),
    /// Closes this number of wrappers.
    Braces(u8),
    /// The children between two nodes, as items.
    Items(u32, u32),
    /// The entries between two nodes, as entries of an object.
    Entries(u32, u32),
    /// The same in another order.
    Sorted(std::vec::IntoIter<(u32, u32)>),
    /// The entries between two nodes, as pairs.
    Pairs(u32, u32),
    /// The keys next to the pairs, for entries from `first` to `end`; `pairs` is where
    /// the written pairs end.
    Beside {
        map: Option<u32>,
        first: u32,
        pairs: u32,
        end: u32,
    },
}

pub(super) struct Writer<'d, 'o> {
    pub(super) document: &'d Document<'d>,
    pub(super) nodes: &'d [Node],
    pub(super) strings: Strings,
    pub(super) sort_keys: bool,
    limits: &'d Limits,
    pub(super) emitter: Emitter<'o>,
    /// For each open bracket: whether nothing was written in it yet.
    levels: Vec<bool>,
    pub(super) tasks: Vec<Task>,
    /// The nodes that get an `$id`, ascending.
    targets: Vec<u32>,
    pub(super) maps: Maps,
}

/// Returns the kind of most strings.
fn mostly(document: &Document<'_>) -> Strings {
    let weight = |kind: Kind| match kind {
        Kind::Bytes => 1i64,
        Kind::Text => -1,
        _ => 0,
    };
    let keys: Vec<i64> = document.tape().keys().iter().map(|name| weight(name.node.kind)).collect();
    let classes: Vec<i64> = document.tape().classes().iter().map(|name| weight(name.node.kind)).collect();
    let of = |weights: &[i64], id: usize| id.checked_sub(1).and_then(|at| weights.get(at)).copied().unwrap_or(0);
    let mut balance = 0;
    for node in document.nodes() {
        balance += weight(node.kind);
        if node.key != NO_KEY {
            balance += of(&keys, usize::from(node.key));
        }
        if node.kind.has_class() {
            balance += of(&classes, node.class() as usize);
        }
    }
    if balance > 0 { Strings::Bytes } else { Strings::Text }
}

/// Whether the document is the same as plain JSON, so that no header is needed.
fn is_plain(document: &Document<'_>) -> bool {
    let tape = document.tape();
    let is_key = |kind: Kind, flags: u8, bytes: &[u8]| kind == Kind::Text && flags == 0 && !bytes.starts_with(b"$");
    // The table may have names of previous documents.
    let plain: Vec<bool> = tape.keys().iter().map(|name| is_key(name.node.kind, name.node.flags, name.bytes)).collect();
    let has_plain_key = |id: u16| plain.get(usize::from(id).wrapping_sub(1)).copied().unwrap_or(true);
    document.nodes().iter().all(|node| {
        let is_plain = match node.kind {
            Kind::Null | Kind::Bool | Kind::Int | Kind::Uint | Kind::BigInt | Kind::Array => true,
            Kind::Float => f64::from_bits(node.payload).is_finite(),
            Kind::Float32 => f32::from_bits(node.payload as u32).is_finite(),
            Kind::Text => std::str::from_utf8(document.bytes(node)).is_ok(),
            Kind::Map => true,
            _ => false,
        };
        let is_key = node.key != IS_KEY || is_key(node.kind, node.flags, document.bytes(node));
        is_plain
            && is_key
            && has_plain_key(node.key)
            && !node.has(flag::TARGET)
            && (node.kind != Kind::Map || node.flags & !flag::REF == 0)
    })
}

/// Returns all nodes that a link, an alias or a copy refers to.
fn targets(document: &Document<'_>) -> Vec<u32> {
    let mut targets = Vec::new();
    for (at, node) in (0u32..).zip(document.nodes()) {
        if node.has(flag::TARGET) {
            targets.push(at);
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

impl<'d> Writer<'d, '_> {
    fn document(&mut self, spelling: Option<&crate::document::Spelling>) -> Result<(), Error> {
        let (document, header) = (self.document, self.document.header());
        if self.strings == Strings::Text && header.is_none() && spelling.is_none() && is_plain(document) {
            self.value(document.root().index())?;
            return self.run();
        }
        self.open(b'{');
        self.key(Name::Icecore)?;
        self.emitter.int(VERSION);
        self.key(Name::Strings)?;
        self.emitter.word(if self.strings == Strings::Bytes { "\"bytes\"" } else { "\"text\"" });
        if let Some(header) = header {
            self.key(Name::Header)?;
            self.value(header.index())?;
            self.run()?;
        }
        if let Some(spelling) = spelling {
            self.key(Name::Spelling)?;
            self.spelling(spelling)?;
        }
        self.key(Name::Value)?;
        self.value(document.root().index())?;
        self.run()?;
        self.close(b'}')
    }

    fn run(&mut self) -> Result<(), Error> {
        while let Some(task) = self.tasks.pop() {
            crate::steps::count(1);
            self.emitter.turn()?;
            match task {
                Task::Value(at) => self.value(at)?,
                Task::Item => self.item()?,
                Task::Key(name) => self.key(name)?,
                Task::Word(name, word) => {
                    self.key(name)?;
                    self.emitter.word(word);
                }
                Task::Open(bracket) => self.open(bracket),
                Task::Close(bracket) => self.close(bracket)?,
                Task::Braces(count) => {
                    for _ in 0..count {
                        self.close(b'}')?;
                    }
                }
                Task::Items(next, end) => {
                    if let Some(node) = self.nodes.get(next as usize).filter(|_| next < end) {
                        self.tasks.push(Task::Items(self.document.tape().next(next), end));
                        // A key without a value, in a document that was cut off.
                        if node.key != IS_KEY {
                            self.item()?;
                            self.value(next)?;
                        }
                    }
                }
                Task::Entries(next, end) => self.entries(next, end)?,
                Task::Sorted(entries) => self.sorted(entries)?,
                Task::Pairs(next, end) => self.pairs(next, end)?,
                Task::Beside { map, first, pairs, end } => self.beside(map, first, pairs, end)?,
            }
        }
        Ok(())
    }

    /// Opens a bracket.
    pub(super) fn open(&mut self, bracket: u8) {
        self.emitter.byte(bracket);
        self.levels.push(true);
    }

    /// Closes a bracket.
    pub(super) fn close(&mut self, bracket: u8) -> Result<(), Error> {
        if self.levels.pop() == Some(false) {
            self.emitter.line(self.levels.len())?;
        }
        self.emitter.byte(bracket);
        self.emitter.turn()
    }

    /// Starts an item or an entry.
    pub(super) fn item(&mut self) -> Result<(), Error> {
        self.emitter.turn()?;
        if let Some(is_empty) = self.levels.last_mut()
            && !std::mem::replace(is_empty, false)
        {
            self.emitter.byte(b',');
        }
        self.emitter.line(self.levels.len())
    }

    /// Writes a key that needs no escapes.
    pub(super) fn entry(&mut self, key: &'static str) -> Result<(), Error> {
        self.item()?;
        self.emitter.byte(b'"');
        self.emitter.word(key);
        self.emitter.word("\":");
        if self.emitter.is_indented() {
            self.emitter.byte(b' ');
        }
        Ok(())
    }

    pub(super) fn key(&mut self, name: Name) -> Result<(), Error> {
        self.entry(name.text())
    }

    /// Writes valid UTF-8 as a JSON string.
    pub(super) fn plain(&mut self, text: &[u8]) -> Result<(), Error> {
        self.emitter.quoted(text, Chars::Utf8)
    }

    /// Returns the number that links use for this node.
    pub(super) fn number_of(&self, at: u32) -> Option<u64> {
        self.targets.binary_search(&at).ok().map(|position| position as u64 + 1)
    }

    /// Whether a link refers to this node.
    pub(super) fn is_target(&self, at: u32) -> bool {
        self.targets.binary_search(&at).is_ok()
    }

    /// Writes a value: a leaf completely, a container up to its beginning.
    pub(super) fn value(&mut self, at: u32) -> Result<(), Error> {
        self.emitter.turn()?;
        let Some(node) = self.nodes.get(at as usize) else {
            self.emitter.word("null");
            return Ok(());
        };
        let mut braces = 0;
        if let Some(number) = self.number_of(at) {
            self.open(b'{');
            self.key(Name::Id)?;
            self.emitter.uint(number);
            self.key(Name::Value)?;
            braces += 1;
        }
        for (flag, name) in [(flag::WEAK, Name::Weak), (flag::OVERLOAD, Name::Overload)] {
            if node.has(flag) {
                self.open(b'{');
                self.key(name)?;
                braces += 1;
            }
        }
        if braces > 0 {
            self.tasks.push(Task::Braces(braces));
        }
        if node.kind.is_container() { self.container(at, node) } else { self.leaf(at, node) }
    }

    fn leaf(&mut self, at: u32, node: &Node) -> Result<(), Error> {
        let bytes = if node.kind.has_bytes() { self.document.bytes(node) } else { &[] };
        match node.kind {
            Kind::Bool => self.emitter.word(if node.payload != 0 { "true" } else { "false" }),
            Kind::Uint => self.emitter.uint(node.payload),
            Kind::BigInt => {
                if bigint::exceeds(bytes, self.limits.digits) {
                    return Err(self.limits.too_many_digits().on_path(self.document.path(at)));
                }
                let mut text = Vec::new();
                bigint::push_decimal(node.has(flag::NEGATIVE), bytes, &mut text);
                self.emitter.raw(&text)?;
            }
            Kind::Float => self.float(f64::from_bits(node.payload))?,
            Kind::Float32 => self.float(f64::from(f32::from_bits(node.payload as u32)))?,
            Kind::Float128 => {
                let bits = u128::from_le_bytes(bytes.try_into().unwrap_or([0; 16]));
                self.only(Name::Float128, format!("{bits:032x}").as_bytes())?;
            }
            Kind::Module => {
                self.open(b'{');
                self.key(Name::Module)?;
                self.named_bytes(bytes)?;
                self.key(Name::Form)?;
                let form = node.form();
                self.plain(if form == Form::Usual { b"class" } else { form::word(form).as_bytes() })?;
                self.close(b'}')?;
            }
            Kind::EnumCase => {
                self.open(b'{');
                self.key(Name::Enum)?;
                self.named_bytes(bytes)?;
                self.close(b'}')?;
            }
            Kind::Hole => {
                self.open(b'{');
                self.key(Name::Hole)?;
                self.emitter.byte(b'1');
                self.close(b'}')?;
            }
            Kind::Link | Kind::Alias | Kind::Copy => {
                self.open(b'{');
                self.key(match node.kind {
                    Kind::Link => Name::Link,
                    Kind::Alias => Name::Alias,
                    _ => Name::Copy,
                })?;
                let number = u32::try_from(node.payload).ok().and_then(|target| self.number_of(target));
                self.emitter.uint(number.unwrap_or(0));
                self.close(b'}')?;
            }
            Kind::Null => self.emitter.word("null"),
            _ => self.name(node, bytes)?,
        }
        Ok(())
    }

    /// Writes an integer or a string of any kind.
    pub(super) fn name(&mut self, node: &Node, bytes: &[u8]) -> Result<(), Error> {
        match node.kind {
            Kind::Int => self.emitter.int(node.payload as i64),
            Kind::Encoded | Kind::Symbol => {
                let is_symbol = node.kind == Kind::Symbol;
                let encoding = self.document.tape().encodings().get(u32::from(node.encoding()));
                self.open(b'{');
                self.key(if is_symbol { Name::Symbol } else { Name::String })?;
                self.named_bytes(bytes)?;
                if let Some(encoding) = encoding {
                    self.key(Name::Encoding)?;
                    self.named_bytes(encoding.bytes)?;
                } else if !is_symbol {
                    self.key(Name::Encoding)?;
                    self.emitter.word("null");
                }
                self.close(b'}')?;
            }
            kind => self.string(kind == Kind::Text, bytes)?,
        }
        Ok(())
    }

    fn float(&mut self, value: f64) -> Result<(), Error> {
        if value.is_finite() {
            self.emitter.float(value);
            return Ok(());
        }
        let text = match value.to_bits() {
            0x7FF0_0000_0000_0000 => "inf".to_owned(),
            0xFFF0_0000_0000_0000 => "-inf".to_owned(),
            0x7FF8_0000_0000_0000 => "nan".to_owned(),
            bits => format!("nan:{bits:016x}"),
        };
        self.only(Name::Float, text.as_bytes())
    }

    /// Writes `{NAME: text}`.
    fn only(&mut self, name: Name, text: &[u8]) -> Result<(), Error> {
        self.open(b'{');
        self.key(name)?;
        self.plain(text)?;
        self.close(b'}')
    }

    /// Writes a text or a byte string.
    pub(super) fn string(&mut self, is_text: bool, bytes: &[u8]) -> Result<(), Error> {
        let is_utf8 = std::str::from_utf8(bytes).is_ok();
        if is_utf8 && is_text == (self.strings == Strings::Text) {
            return self.plain(bytes);
        }
        if !is_text {
            return if is_utf8 { self.only(Name::Bytes, bytes) } else { self.odd_bytes(bytes) };
        }
        self.open(b'{');
        self.key(Name::Text)?;
        if is_utf8 {
            self.plain(bytes)?
        } else {
            self.odd_bytes(bytes)?
        }
        self.close(b'}')
    }

    /// Writes bytes if the context says that they are bytes: a plain string is their
    /// UTF-8.
    fn named_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if std::str::from_utf8(bytes).is_ok() { self.plain(bytes) } else { self.odd_bytes(bytes) }
    }

    /// Writes bytes that are not UTF-8.
    fn odd_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let odd = bytes.iter().filter(|byte| matches!(byte, 0..=8 | 11..=12 | 14..=31 | 127..=159)).count();
        if odd > bytes.len() / 2 {
            let mut text = Vec::new();
            base64::encode(bytes, &mut text);
            return self.only(Name::Base64, &text);
        }
        self.open(b'{');
        self.key(Name::Latin1)?;
        self.emitter.quoted(bytes, Chars::Latin1)?;
        self.close(b'}')
    }

    /// Writes the name of a class.
    fn class(&mut self, class: u32) -> Result<(), Error> {
        match self.document.class(class) {
            Some(name) => self.string(name.node.kind == Kind::Text, name.bytes),
            None => {
                self.emitter.word("null");
                Ok(())
            }
        }
    }

    fn form(&mut self, form: Form) -> Result<(), Error> {
        self.key(Name::Form)?;
        self.plain(form::word(form).as_bytes())
    }

    fn container(&mut self, at: u32, node: &Node) -> Result<(), Error> {
        let end = self.document.tape().next(at);
        match node.kind {
            Kind::Array => {
                self.open(b'[');
                self.tasks.extend([Task::Close(b']'), Task::Items(at + 1, end)]);
                return Ok(());
            }
            Kind::Map => return self.map(at, node, end),
            _ => {}
        }
        self.open(b'{');
        self.tasks.push(Task::Close(b'}'));
        let Some(here) = self.document.at(at) else { return Ok(()) };
        let child = |position: usize| here.children().nth(position).map_or(u32::MAX, |child| child.index());
        match node.kind {
            Kind::Object => {
                self.key(Name::Class)?;
                self.class(node.class())?;
                let body = self.nodes.get(child(0) as usize).map_or(Kind::Null, |body| body.kind);
                if node.form() != form::of_object(body) {
                    self.form(node.form())?;
                }
                self.tasks.extend([Task::Value(child(0)), Task::Key(Name::Value)]);
            }
            Kind::Opaque => self.opaque(here, end)?,
            Kind::Attrs => self.attributes(here, end)?,
            Kind::Regexp => {
                if node.has(flag::BARE) {
                    self.tasks.push(Task::Word(Name::Bare, "true"));
                }
                let (pattern, flags) = (Task::Value(child(0)), Task::Value(child(1)));
                self.tasks.extend([flags, Task::Key(Name::Flags), pattern, Task::Key(Name::Regexp)]);
            }
            Kind::VString => {
                let (source, value) = (Task::Value(child(0)), Task::Value(child(1)));
                self.tasks.extend([value, Task::Key(Name::Value), source, Task::Key(Name::VString)]);
            }
            Kind::Tied => {
                self.key(Name::Tied)?;
                self.plain(form::word(node.form()).as_bytes())?;
                if here.children().nth(1).is_some() {
                    self.tasks.extend([Task::Value(child(1)), Task::Key(Name::Key)]);
                }
                self.tasks.extend([Task::Value(child(0)), Task::Key(Name::Value)]);
            }
            Kind::Code => self.tasks.extend([Task::Value(child(0)), Task::Key(Name::Code)]),
            _ => self.tasks.extend([Task::Value(child(0)), Task::Key(Name::Ref)]),
        }
        Ok(())
    }

    fn opaque(&mut self, here: Cursor<'d>, end: u32) -> Result<(), Error> {
        let node = here.node();
        self.key(Name::Opaque)?;
        self.plain(form::word(node.form()).as_bytes())?;
        self.key(Name::Class)?;
        self.class(node.class())?;
        let mut children = here.children();
        let payload = children.next();
        if let Some(first) = children.next() {
            let items = Task::Items(first.index(), end);
            self.tasks.extend([Task::Close(b']'), items, Task::Open(b'['), Task::Key(Name::Links)]);
        }
        if let Some(payload) = payload {
            self.tasks.extend([Task::Value(payload.index()), Task::Key(Name::Payload)]);
        }
        Ok(())
    }

    fn attributes(&mut self, here: Cursor<'d>, end: u32) -> Result<(), Error> {
        let node = here.node();
        let value = here.children().next().map_or(u32::MAX, |value| value.index());
        let first = if value < end { self.document.tape().next(value) } else { end };
        self.tasks.extend([Task::Value(value), Task::Key(Name::Value)]);
        let has_class = self.document.class(node.class()).is_some();
        let name = match node.form() {
            Form::Module if has_class => Name::Extended,
            Form::Subclass if has_class => Name::Subclass,
            _ => Name::Class,
        };
        if has_class {
            self.key(name)?;
            self.class(node.class())?;
        }
        if name == Name::Class && node.form() != Form::Usual {
            self.form(node.form())?;
        }
        if name == Name::Class || first < end {
            self.key(Name::Attributes)?;
            self.open_entries(first, end, None);
        }
        Ok(())
    }
}
