//! Documents as values. A container becomes values when a filter first looks into it.
//!
//! Conversion is lazy, because most filters access little of a document. If no filter changed a value, it is written
//! in its original form, with classes, symbols, links and everything else that filters do not see.

use super::lazy_container::Contents;
use super::text::{Key, KeySpelling, MarkedName, Text, latin1_bytes, shown_text};
use super::{List, Map, Members, Number, PreservedValue, Value};
use crate::memory::{ALLOCATION_OVERHEAD, Charge};
use icecore::raw::{IS_KEY, KEY_NODE, NO_KEY, Node, flag};
use icecore::value::Visibility;
use icecore::{Cursor, Document, Kind, Known, Limits};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A document whose values are in use.
#[derive(Debug)]
pub struct Source {
    pub document: Document<'static>,
    /// Keys of maps, by their ids.
    keys: RefCell<Vec<Option<Key>>>,
    /// Names of object members, by the ids of their keys. The name of a member has no `@` and no PHP mangling.
    members: RefCell<Vec<Option<Key>>>,
    /// The values of containers that are targets of links. Each of these containers has the same value everywhere.
    /// The field is `None` after the filter is done with the document, because values own their source. If the source
    /// kept the values too, they would form a reference cycle and never be freed.
    shared: RefCell<Option<HashMap<u32, Value>>>,
    /// Counts the memory of a document that a filter made.
    _charge: Charge,
}

/// A document to which a filter is applied.
#[derive(Debug)]
pub struct OpenDocument(Rc<Source>);

impl OpenDocument {
    pub fn new(document: Document<'static>) -> OpenDocument {
        OpenDocument::with_charge(document, Charge::default())
    }

    /// Creates a document that a filter made. Its size counts as memory of the filter.
    pub fn charged_to_filter(document: Document<'static>) -> OpenDocument {
        let charge = Charge::new(size_of_document(&document));
        OpenDocument::with_charge(document, charge)
    }

    fn with_charge(document: Document<'static>, charge: Charge) -> OpenDocument {
        // Ids of keys begin at 1, because 0 is `NO_KEY`.
        let count = document.tape().keys().len() + 1;
        OpenDocument(Rc::new(Source {
            document,
            keys: RefCell::new(vec![None; count]),
            members: RefCell::new(vec![None; count]),
            shared: RefCell::new(Some(HashMap::new())),
            _charge: charge,
        }))
    }

    /// Returns the value of the whole document.
    pub fn root_value(&self) -> Value {
        self.0.view_node(self.0.document.root().index())
    }
}

impl Drop for OpenDocument {
    fn drop(&mut self) {
        // Dropping a value may drop other values of this document. So the contents are dropped after the borrow has
        // ended.
        let shared = self.0.shared.borrow_mut().take();
        drop(shared);
    }
}

/// Returns how many bytes the nodes and the cached keys of a document take. Each key may be in two caches: as a key
/// of a map, and as a member of an object.
pub fn size_of_document(document: &Document<'static>) -> usize {
    const BYTES_PER_KEY: usize = 2 * size_of::<Option<Key>>();
    let tape = document.tape();
    size_of_val(document.nodes()) + tape.keys().len() * BYTES_PER_KEY + ALLOCATION_OVERHEAD
}

/// The place of a value in a document.
#[derive(Clone, Debug)]
pub struct Origin {
    pub source: Rc<Source>,
    /// The node of the value itself, including its class.
    pub node: u32,
    /// The node of the array or map in the value. It equals `node` if the value has no class and no other wrapper.
    pub body: u32,
}

impl Origin {
    pub fn value_cursor(&self) -> Cursor<'_> {
        cursor_at(&self.source.document, self.node)
    }

    pub fn body_cursor(&self) -> Cursor<'_> {
        cursor_at(&self.source.document, self.body)
    }

    /// Returns the name of the value's class, if it has one. The class may be inside of references and other layers.
    pub fn class_name(&self) -> Option<&[u8]> {
        let mut current = self.value_cursor();
        loop {
            let class = current.class();
            if !class.is_empty() {
                return Some(class);
            }
            let is_layer = matches!(current.kind(), Kind::Ref | Kind::Attrs | Kind::Tied);
            current = current.children().next().filter(|_| is_layer)?.target();
        }
    }

    /// Returns true if the keys of the body are members of an object. This is so if there is an object between the
    /// node of the value and the body.
    fn has_members(&self) -> bool {
        let mut current = self.value_cursor();
        while current.index() != self.body && current.kind() != Kind::Object {
            match current.children().next() {
                Some(child) => current = child.target(),
                None => return false,
            }
        }
        current.kind() == Kind::Object
    }
}

/// Returns the value at a node; the root if there is no such node.
fn cursor_at<'d>(document: &'d Document<'static>, index: u32) -> Cursor<'d> {
    document.at(index).unwrap_or(document.root())
}

impl Source {
    /// Returns the value at a node as filters see it, which is how JSON would show it.
    pub fn view_node(self: &Rc<Source>, index: u32) -> Value {
        let start = cursor_at(&self.document, index);
        let target = start.target();
        // A container that is the target of links has one value for all places, because the same object must be
        // written once. A leaf does not have contents that could be shared, so a new value is as good.
        let is_shared = target.index() != index || target.node().has(flag::TARGET);
        if !is_shared || !target.kind().is_container() {
            return self.create_value(target);
        }
        if let Some(value) = self.shared.borrow().as_ref().and_then(|shared| shared.get(&target.index())) {
            return value.clone();
        }
        let value = self.create_value(target);
        if let Some(shared) = self.shared.borrow_mut().as_mut() {
            shared.insert(target.index(), value.clone());
        }
        value
    }

    /// Creates the value of a node. Objects and references are looked through: a filter sees what is in them.
    fn create_value(self: &Rc<Source>, outer: Cursor<'_>) -> Value {
        let mut inner = outer;
        // The loop ends, because links do not form cycles: `Input::new` has cut all cycles.
        loop {
            if matches!(inner.kind(), Kind::Object | Kind::Opaque | Kind::Attrs)
                && let Some(known) = Known::of(inner)
                && let Some(value) = self.view_known_class(&known)
            {
                return self.preserve_value(outer, value);
            }
            if let Some(values) = inner.hook_values() {
                crate::query_thread::count_step();
                let list = values.map(|value| self.view_node(value.index())).collect();
                return self.preserve_value(outer, list);
            }
            inner = match inner.kind() {
                Kind::Object | Kind::Opaque | Kind::Attrs | Kind::Ref | Kind::Code | Kind::Tied => {
                    match inner.children().next() {
                        Some(child) => child.target(),
                        None => return self.preserve_value(outer, Value::Null),
                    }
                }
                // The value of a version string is its second child.
                Kind::VString => match inner.children().nth(1) {
                    Some(child) => child.target(),
                    None => return self.preserve_value(outer, Value::Null),
                },
                _ => break,
            };
            crate::query_thread::count_step();
        }
        let origin = || Origin { source: Rc::clone(self), node: outer.index(), body: inner.index() };
        match inner.kind() {
            Kind::Array => Value::List(Rc::new(List::from_origin(origin()))),
            Kind::Map => Value::Map(Rc::new(Map::from_origin(origin()))),
            // A leaf without wrappers needs no origin if the value represents everything in its node.
            _ => match self.read_leaf(inner) {
                (value, true) if inner.index() == outer.index() => value,
                (value, _) => self.preserve_value(outer, value),
            },
        }
    }

    /// Returns a value that filters see as `value`, and that is written as the node `outer` if no filter changes it.
    fn preserve_value(self: &Rc<Source>, outer: Cursor<'_>, value: Value) -> Value {
        let origin = Origin { source: Rc::clone(self), node: outer.index(), body: outer.index() };
        Value::Preserved(Rc::new(PreservedValue::new(value, origin)))
    }

    /// Returns the value of a leaf, and whether it represents everything in its node. A float of another width, an
    /// encoding or a symbol is lost in the value, so the node must be kept.
    fn read_leaf(&self, cursor: Cursor<'_>) -> (Value, bool) {
        use icecore::Value as Leaf;
        let text = |bytes: &[u8]| Value::Text(Text::new(bytes));
        let byte_string = |bytes: &[u8]| Value::Text(Text::from_stored_bytes(bytes, true));
        match cursor.value() {
            Leaf::Null => (Value::Null, true),
            Leaf::Bool(value) => (Value::Bool(value), true),
            Leaf::Int(value) => (Value::Number(Number::Int(value)), true),
            Leaf::Uint(value) => (Value::Number(Number::from_big_int(value.into())), true),
            Leaf::BigInt(big) => (Value::Number(Number::from_bytes(big.negative, big.magnitude)), true),
            Leaf::Float(value) => (Value::Number(Number::Float(value)), cursor.kind() == Kind::Float),
            Leaf::Float128(bytes) => (Value::Number(Number::Float(icecore::num::float128::to_f64(&bytes))), false),
            Leaf::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(_) => (text(bytes), true),
                // Text of Perl may have characters that are not part of Unicode. It is not Latin-1.
                Err(_) => (text(String::from_utf8_lossy(bytes).as_bytes()), false),
            },
            Leaf::Bytes(bytes) => (byte_string(bytes), true),
            Leaf::Encoded(bytes, encoding) | Leaf::Symbol(bytes, encoding) => {
                let decoded =
                    std::str::from_utf8(encoding).ok().and_then(|name| icecore::encoding::decoded(name, bytes));
                (text(decoded.as_ref().map_or(bytes, |characters| characters.as_bytes())), false)
            }
            Leaf::EnumCase(bytes) | Leaf::Module(bytes, _) => (text(bytes), false),
            Leaf::Regexp(pattern, flags) => {
                let (pattern, flags) = (pattern.as_bytes().unwrap_or(b""), flags.as_bytes().unwrap_or(b""));
                (text(&[b"(?^", flags, b":", pattern, b")"].concat()), false)
            }
            _ => (Value::Null, false),
        }
    }

    /// Returns a value of one of Ruby's own classes as JSON shows it.
    fn view_known_class(self: &Rc<Source>, known: &Known<'_>) -> Option<Value> {
        Some(match known {
            Known::Set(members) => {
                let items = members.iter().map(|key| match key {
                    icecore::Key::Value(value) => self.view_node(value.index()),
                    icecore::Key::Name(name) => match name.node.kind {
                        Kind::Int => Value::Number(Number::Int(name.node.payload as i64)),
                        kind => Value::Text(Text::from_stored_bytes(name.bytes, kind == Kind::Bytes)),
                    },
                });
                items.collect()
            }
            Known::Exception(exception) => {
                let member = |name: &str, value: Cursor<'_>| {
                    (Key::from_text(&Text::new(name.as_bytes())), self.view_node(value.index()))
                };
                let members = [member("message", exception.message()), member("backtrace", exception.backtrace())];
                Value::Map(Rc::new(Map::new(members.into_iter().collect())))
            }
            Known::Map(map) => self.view_node(map.index()),
            known => Value::Text(Text::new(known.text(&Limits::default())?.as_bytes())),
        })
    }

    /// Returns a key. Keys with an id are created once. Keys without an id (`NO_KEY`, `IS_KEY`, `KEY_NODE`) are
    /// created each time, because the table of keys does not contain them.
    fn cached_key(self: &Rc<Source>, key: &icecore::Key<'_>, id: u16, is_member: bool) -> Key {
        let cache = if is_member { &self.members } else { &self.keys };
        let has_id = !matches!(id, NO_KEY | IS_KEY | KEY_NODE);
        if has_id && let Some(Some(key)) = cache.borrow().get(usize::from(id)) {
            return key.clone();
        }
        let key = match key {
            icecore::Key::Name(name) => self.create_key(name.node, name.bytes, is_member),
            icecore::Key::Value(value) => {
                let key_value = self.view_node(value.index());
                let name = match key_value.visible_value() {
                    Value::Text(text) => text.stored_bytes().into_owned().into(),
                    other => other.to_json().into(),
                };
                Key { name, spelling: KeySpelling::Node(Rc::clone(self), value.index()) }
            }
        };
        if has_id && let Some(slot) = cache.borrow_mut().get_mut(usize::from(id)) {
            *slot = Some(key.clone());
        }
        key
    }

    /// Creates the key of an entry. Filters see its name. Its spelling keeps the rest.
    fn create_key(&self, node: Node, bytes: &[u8], is_member: bool) -> Key {
        if node.kind == Kind::Int {
            let int = node.payload as i64;
            return Key { name: int.to_string().into_bytes().into(), spelling: KeySpelling::Int(int) };
        }
        // The bare name of a member: Ruby's names begin with `@`, and PHP's private and protected ones are mangled.
        let bare_name = match node.kind {
            _ if !is_member => bytes,
            Kind::Symbol => bytes.strip_prefix(b"@").unwrap_or(bytes),
            _ => Visibility::of(bytes).map_or(bytes, |(_, name)| name),
        };
        let is_marked = bare_name.len() != bytes.len() || node.has(flag::LOCKED) || node.encoding() != 0;
        let spelled = match node.kind {
            kind if is_marked => {
                let names = self.document.tape().encodings();
                let encoding = names.get(u32::from(node.encoding())).map_or(&b""[..], |name| name.bytes);
                let encoding = String::from_utf8_lossy(encoding).into_owned();
                let is_locked = node.has(flag::LOCKED);
                KeySpelling::Marked(Rc::new(MarkedName { raw: bytes.to_vec(), kind, encoding, is_locked }))
            }
            Kind::Symbol => KeySpelling::Symbol,
            Kind::Bytes => KeySpelling::Bytes,
            _ => KeySpelling::Text,
        };
        Key { name: bare_name.into(), spelling: spelled }
    }
}

impl Contents for Vec<Value> {
    fn from_origin(origin: &Origin) -> Vec<Value> {
        let source = &origin.source;
        origin.body_cursor().items().map(|item| source.view_node(item.index())).collect()
    }

    fn size(&self) -> usize {
        self.capacity() * size_of::<Value>()
    }

    fn max_depth(&self) -> u32 {
        self.iter().map(Value::depth).max().unwrap_or(0)
    }

    fn take_containers(&mut self, out: &mut Vec<Value>) {
        out.extend(self.iter_mut().filter(|item| item.is_container()).map(std::mem::take));
    }
}

/// If several members have the same key, the last one is used.
impl Contents for Members {
    fn from_origin(origin: &Origin) -> Members {
        let source = &origin.source;
        let is_object = origin.has_members();
        let body = origin.body_cursor();
        let mut members = Members::default();
        members.reserve(body.len());
        for (key, value) in body.entries().filter(|(_, value)| value.kind() != Kind::Hole) {
            let key = source.cached_key(&key, value.node().key, is_object);
            members.insert(key, source.view_node(value.index()));
        }
        members
    }

    fn size(&self) -> usize {
        // The three words are the hash of an entry and its places in the hash table.
        self.capacity() * (size_of::<(Key, Value)>() + 3 * size_of::<usize>())
    }

    fn max_depth(&self) -> u32 {
        self.values().map(Value::depth).max().unwrap_or(0)
    }

    fn take_containers(&mut self, out: &mut Vec<Value>) {
        out.extend(self.values_mut().filter(|value| value.is_container()).map(std::mem::take));
    }
}

/// From this number of entries on, all members are created when the first one is accessed.
const EAGER_MAP_SIZE: usize = 16;

impl Map {
    /// Returns the member with this name. A member of a small map is created separately, because most filters access
    /// few of them.
    pub fn find_member(&self, name: &[u8]) -> Option<Value> {
        match self.unread_origin() {
            Some(origin) if origin.body_cursor().len() < EAGER_MAP_SIZE => origin.find_member(name),
            _ => self.get().get(name).cloned(),
        }
    }

    /// Returns the name of the member that a filter means by this other name: by `@name` of Ruby, or by the characters
    /// of a name in Latin-1. Returns `None` if the map has no such member, or one with this name.
    pub fn stored_name<'n>(&self, name: &'n [u8]) -> Option<Cow<'n, [u8]>> {
        self.unmarked_name(name).map(Cow::Borrowed).or_else(|| self.latin1_name(name).map(Cow::Owned))
    }

    /// Returns the member that a filter means by this name. If the name is Latin-1, a member with its bytes comes first.
    pub fn find_named(&self, name: &Text) -> Option<Value> {
        let with_same_bytes = match name.stored_bytes() {
            Cow::Owned(bytes) => self.find_member(&bytes),
            Cow::Borrowed(_) => None,
        };
        let with_same_characters = || self.find_member(&name.bytes);
        with_same_bytes.or_else(with_same_characters).or_else(|| self.find_member(&self.stored_name(&name.bytes)?))
    }

    /// Like [`Map::stored_name`], for a string whose bytes may be Latin-1: a member with these bytes comes first.
    pub fn stored_name_of<'n>(&self, name: &'n Text) -> Option<Cow<'n, [u8]>> {
        let members = self.get();
        match name.stored_bytes() {
            Cow::Owned(bytes) if members.contains_key(&bytes[..]) => None,
            Cow::Owned(_) if members.contains_key(&*name.bytes) => Some(Cow::Borrowed(&name.bytes)),
            _ => self.stored_name(&name.bytes),
        }
    }

    /// Returns the member with this key, or with one that is shown alike.
    pub fn get_alike(&self, key: &Key) -> Option<&Value> {
        let members = self.get();
        members.get(key).or_else(|| match key.name.is_ascii() {
            true => None,
            false => match shown_text(&key.name) {
                Cow::Owned(shown) => members.get(shown.as_bytes()),
                Cow::Borrowed(_) => members.get(&*self.latin1_name(&key.name)?),
            },
        })
    }

    fn latin1_name(&self, name: &[u8]) -> Option<Vec<u8>> {
        let bytes = latin1_bytes(name).filter(|_| !name.is_ascii())?;
        let members = self.get();
        let is_shown_alike = std::str::from_utf8(&bytes).is_err() && !members.contains_key(name);
        (is_shown_alike && members.contains_key(&bytes[..])).then_some(bytes)
    }

    /// Returns the name by which filters see the member that Ruby calls `@name`; `None` if the map has no such member,
    /// or a member whose name filters see with the mark.
    fn unmarked_name<'n>(&self, name: &'n [u8]) -> Option<&'n [u8]> {
        let unmarked = name.strip_prefix(b"@")?;
        let members = self.get();
        let (key, _) = members.get_key_value(unmarked).filter(|_| !members.contains_key(name))?;
        matches!(&key.spelling, KeySpelling::Marked(marked) if marked.raw == name).then_some(unmarked)
    }

    /// Returns true if a key is an integer, as in an array of PHP or a hash of Ruby.
    pub fn has_integer_keys(&self) -> bool {
        crate::query_thread::count_steps(self.len() as u64 / 64);
        self.get().keys().any(|key| matches!(key.spelling, KeySpelling::Int(_)))
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.get().len()
    }
}

impl List {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.unread_origin().map_or_else(|| self.get().len(), |origin| origin.body_cursor().len())
    }
}

impl Origin {
    fn find_member(&self, name: &[u8]) -> Option<Value> {
        let is_object = self.has_members();
        // The search continues after a match, because the last member with a name is used.
        let mut found = None;
        for (key, value) in self.body_cursor().entries() {
            let is_name = || self.source.cached_key(&key, value.node().key, is_object).name.as_ref() == name;
            if value.kind() != Kind::Hole && is_name() {
                found = Some(value.index());
            }
        }
        found.map(|index| self.source.view_node(index))
    }
}
