//! Makes the nodes that the plain document describes.

use super::source::{FormValues, SourceEntry};
use super::{NodeError, ReadTask, Slot, TypedReader, UnresolvedLink};
use crate::base64;
use crate::document::{Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::format::json::typed::form::{self, Name};
use crate::format::json::typed::key::{self, KeyMeaning};

/// Maximum number of keys of a map that get ids; the others become nodes of the tape.
const MAX_ENTRIES_WITH_IDS: u32 = 256;

/// Number of forms of strings that may be nested, as in `{"$string": {"$latin1": …}, …}`.
const MAX_STRING_FORMS: u32 = 2;

/// A value that is being read: where it goes, and what the objects around it say.
#[derive(Clone, Copy)]
struct ValueContext {
    /// Its outermost object in the plain document.
    plain_node: u32,
    slot: Slot,
    flags: u8,
    id: Option<u64>,
}

impl TypedReader<'_, '_> {
    /// Reads a value; a container up to its beginning.
    pub(super) fn read_value(&mut self, plain_node: u32, slot: Slot) -> Result<(), NodeError> {
        self.current_key = slot.key;
        let mut context = ValueContext { plain_node, slot, flags: 0, id: None };
        let mut current = plain_node;
        loop {
            let node = self.source_node(current);
            match node.kind {
                Kind::Array => {
                    let array = self.open_node(Node::open(Kind::Array, 0), context)?;
                    self.tasks.push(ReadTask::Close { node: array, count: node.aux });
                    self.tasks.push(ReadTask::Items { next: current + 1, end: self.source.index_after(current) });
                    return Ok(());
                }
                Kind::Map if self.is_special(current) => match self.read_special(current, &mut context)? {
                    Some(inner) => current = inner,
                    None => return Ok(()),
                },
                Kind::Map => {
                    let map = self.open_node(Node::open(Kind::Map, 0), context)?;
                    self.tasks.push(ReadTask::Close { node: map, count: node.aux });
                    self.tasks.push(ReadTask::Entries {
                        next: current + 1,
                        end: self.source.index_after(current),
                        index: 0,
                    });
                    return Ok(());
                }
                Kind::Text => return self.push_node(Node { kind: self.strings.kind(), ..node }, context).map(|_| ()),
                _ => return self.push_node(node, context).map(|_| ()),
            }
        }
    }

    fn push_node(&mut self, mut node: Node, context: ValueContext) -> Result<u32, NodeError> {
        let index = self.tape.len();
        if index >= self.limits.nodes {
            return Err(NodeError::from_error(context.plain_node, self.limits.too_many_nodes()));
        }
        node.key = context.slot.key;
        node.flags |= context.flags | context.slot.flags;
        if let Some(id) = context.id {
            if self.ids.insert(id, index).is_some() {
                return Err(NodeError::new(context.plain_node, "a number of its own for each $id")
                    .finding(format!("{id} again")));
            }
            node.flags |= flag::TARGET;
        }
        self.plain_nodes.push(context.plain_node);
        Ok(self.tape.push(node))
    }

    fn open_node(&mut self, node: Node, context: ValueContext) -> Result<u32, NodeError> {
        if self.depth >= self.limits.depth {
            return Err(NodeError::from_error(context.plain_node, self.limits.too_deep()));
        }
        let index = self.push_node(node, context)?;
        self.depth += 1;
        Ok(index)
    }

    /// Reads an object of `$` keys. Returns the value to continue with, if the object
    /// only describes that value.
    fn read_special(&mut self, plain_node: u32, context: &mut ValueContext) -> Result<Option<u32>, NodeError> {
        let values = self.read_form_values(plain_node)?;
        let form_keys = self.find_form_keys(plain_node, &values)?;
        let value_of = |name: Name| values.get(name).unwrap_or(plain_node);
        let main = value_of(form_keys.main);
        let node = match form_keys.main {
            Name::Id => {
                let id = self.source_number(main).ok_or_else(|| NodeError::new(main, "a number for $id"))?;
                if context.id.replace(id).is_some() {
                    return Err(NodeError::new(main, "one $id for a value").finding("a second one"));
                }
                return Ok(Some(value_of(Name::Value)));
            }
            Name::Weak | Name::Overload => {
                let flag = if form_keys.main == Name::Weak { flag::WEAK } else { flag::OVERLOAD };
                if context.flags & flag != 0 {
                    return Err(NodeError::new(main, format!("`{}` once", form_keys.main.text())).finding("it twice"));
                }
                context.flags |= flag;
                return Ok(Some(main));
            }
            Name::Link | Name::Alias | Name::Copy => {
                let number = self.source_number(main).ok_or_else(|| NodeError::new(main, "the number of an $id"))?;
                let kind = match form_keys.main {
                    Name::Link => Kind::Link,
                    Name::Alias => Kind::Alias,
                    _ => Kind::Copy,
                };
                let node = self.push_node(Node::leaf(kind, 0), *context)?;
                self.links.push(UnresolvedLink { node, number, plain_node: main });
                return Ok(None);
            }
            Name::Float => Node::float(self.read_float(main)?),
            Name::Float128 => {
                let bits = self.source_text(main).and_then(|text| parse_hex(text, 32));
                let bits = bits.ok_or_else(|| NodeError::new(main, "32 hex digits for $float128"))?;
                self.tape.new_owned_string(Kind::Float128, &bits.to_le_bytes())
            }
            Name::Hole => {
                if self.source_number(main) != Some(1) {
                    return Err(NodeError::new(main, "1 for $hole"));
                }
                Node::leaf(Kind::Hole, 0)
            }
            Name::Enum => Node { kind: Kind::EnumCase, ..self.read_named_bytes(main)? },
            Name::Module => {
                let node = Node { kind: Kind::Module, ..self.read_named_bytes(main)? };
                node.in_form(self.read_form(values.get(Name::Form))?)
            }
            Name::Text | Name::Bytes | Name::Latin1 | Name::Base64 | Name::String | Name::Symbol => {
                self.read_name(plain_node)?.ok_or_else(|| NodeError::new(plain_node, "a string"))?
            }
            Name::Map => {
                self.read_map(&values, main, *context)?;
                return Ok(None);
            }
            _ => {
                self.read_container(form_keys.main, &values, plain_node, *context)?;
                return Ok(None);
            }
        };
        self.push_node(node, *context)?;
        Ok(None)
    }

    /// Reads a form that has values: first its node, then the tasks for the values.
    fn read_container(
        &mut self,
        main: Name,
        values: &FormValues,
        plain_node: u32,
        context: ValueContext,
    ) -> Result<(), NodeError> {
        let value_of =
            |name: Name| ReadTask::Value { plain_node: values.get(name).unwrap_or(plain_node), slot: Slot::default() };
        let optional =
            |name: Name| values.get(name).map(|plain_node| ReadTask::Value { plain_node, slot: Slot::default() });
        let class = match main {
            Name::Extended | Name::Subclass => values.get(main),
            _ => values.get(Name::Class),
        };
        let class = class.map_or(Ok(0), |class| self.read_class(class))?;
        let (node, children) = match main {
            Name::Ref => (Node::open(Kind::Ref, 0), vec![value_of(main)]),
            Name::Code => (Node::open(Kind::Code, 0), vec![value_of(main)]),
            Name::VString => (Node::open(Kind::VString, 0), vec![value_of(main), value_of(Name::Value)]),
            Name::Regexp => {
                let is_bare = self.read_flag(values, Name::Bare)?;
                let node = Node::open(Kind::Regexp, 0).with(if is_bare { flag::BARE } else { 0 });
                (node, vec![value_of(main), value_of(Name::Flags)])
            }
            Name::Tied => {
                let node = Node::open(Kind::Tied, 0).in_form(self.read_form(values.get(main))?);
                (node, [Some(value_of(Name::Value)), optional(Name::Key)].into_iter().flatten().collect())
            }
            Name::Class => {
                let form = self.read_form(values.get(Name::Form))?;
                (Node::open(Kind::Object, class).in_form(form), vec![value_of(Name::Value)])
            }
            Name::Opaque => {
                let node = Node::open(Kind::Opaque, class).in_form(self.read_form(values.get(main))?);
                let links = values.get(Name::Links);
                if let Some(links) = links {
                    self.check_array(links)?;
                }
                let links = links.map(|list| ReadTask::Items { next: list + 1, end: self.source.index_after(list) });
                (node, [optional(Name::Payload), links].into_iter().flatten().collect())
            }
            Name::Extended => (Node::open(Kind::Attrs, class).in_form(Form::Module), vec![value_of(Name::Value)]),
            Name::Subclass => (Node::open(Kind::Attrs, class).in_form(Form::Subclass), vec![value_of(Name::Value)]),
            Name::Attributes => {
                let form = self.read_form(values.get(Name::Form))?;
                (Node::open(Kind::Attrs, class).in_form(form), vec![value_of(Name::Value)])
            }
            _ => return Err(NodeError::new(plain_node, "a value").finding(format!("`{}`", main.text()))),
        };
        let container = self.open_node(node, context)?;
        let mut count = children.len() as u32;
        if let Some(links) = values.get(Name::Links) {
            count = count - 1 + self.source_node(links).aux;
        }
        let attributes = values.get(Name::Attributes).map(|attributes| self.read_attributes(attributes)).transpose()?;
        if let Some((_, entries)) = &attributes {
            count += entries;
        }
        self.tasks.push(ReadTask::Close { node: container, count });
        if node.kind == Kind::Object && values.get(Name::Form).is_none() {
            self.tasks.push(ReadTask::Form { node: container });
        }
        self.tasks.extend(attributes.map(|(task, _)| task));
        self.tasks.extend(children.into_iter().rev());
        Ok(())
    }

    /// Sets the form of an object that its body requires.
    pub(super) fn set_object_form(&mut self, index: u32) {
        if let [object, body, ..] = &mut self.tape.nodes[index as usize..] {
            *object = object.in_form(form::default_object_form(body.kind));
        }
    }

    /// Returns the entries of an `$attributes`, and their number.
    fn read_attributes(&mut self, plain_node: u32) -> Result<(ReadTask, u32), NodeError> {
        if self.source_kind(plain_node) != Some(Kind::Map) {
            return Err(NodeError::new(plain_node, "an object for $attributes"));
        }
        if !self.is_special(plain_node) {
            let task = ReadTask::Entries { next: plain_node + 1, end: self.source.index_after(plain_node), index: 0 };
            return Ok((task, self.source_node(plain_node).aux));
        }
        let values = self.read_form_values(plain_node)?;
        let pairs = values.get(Name::Map).filter(|pairs| self.source_kind(*pairs) == Some(Kind::Array));
        match pairs {
            Some(pairs) if self.source_node(plain_node).aux == 1 => {
                let task = ReadTask::Pairs {
                    next: pairs + 1,
                    end: self.source.index_after(pairs),
                    index: 0,
                    locked: Vec::new(),
                };
                Ok((task, self.source_node(pairs).aux))
            }
            _ => Err(NodeError::new(plain_node, "plain keys or `$map` alone in $attributes")),
        }
    }

    fn read_map(&mut self, values: &FormValues, pairs: u32, context: ValueContext) -> Result<(), NodeError> {
        let mut flags = 0;
        for (name, flag) in [(Name::Restricted, flag::RESTRICTED), (Name::Identity, flag::IDENTITY)] {
            flags |= if self.read_flag(values, name)? { flag } else { 0 };
        }
        self.check_array(pairs)?;
        let mut count = self.source_node(pairs).aux;
        let mut locked = Vec::new();
        if let Some(list) = values.get(Name::Locked) {
            for item in self.source_items(list)? {
                let position = self.source_number(item).filter(|position| *position < u64::from(count));
                locked.push(position.ok_or_else(|| NodeError::new(item, "the position of a pair of $map, from 0"))?);
            }
            locked.sort_unstable();
        }
        let default = values.get(Name::Default);
        flags |= if default.is_some() { flag::DEFAULT } else { 0 };
        let map = self.open_node(Node::open(Kind::Map, 0).with(flags), context)?;
        let placeholders = values.get(Name::Placeholders);
        let mut tasks = vec![];
        tasks.extend(default.map(|plain_node| ReadTask::Value { plain_node, slot: Slot::default() }));
        if let Some(list) = placeholders {
            self.check_array(list)?;
            tasks.push(ReadTask::Placeholders { next: list + 1, end: self.source.index_after(list), index: count });
            count += self.source_node(list).aux;
        }
        self.tasks.push(ReadTask::Close { node: map, count });
        self.tasks.extend(tasks);
        self.tasks.push(ReadTask::Pairs { next: pairs + 1, end: self.source.index_after(pairs), index: 0, locked });
        Ok(())
    }

    /// Reads an entry of a plain object, and schedules the others.
    pub(super) fn read_entry(&mut self, next: u32, end: u32, index: u32) -> Result<(), NodeError> {
        let Some(entry) = self.source_entry(next, end) else { return Ok(()) };
        self.tasks.push(ReadTask::Entries { next: entry.next, end, index: index + 1 });
        self.current_key = NO_KEY;
        let slot = self.slot_for_entry(&entry, index)?;
        self.read_value(entry.value, slot)
    }

    /// Returns the slot for the key of an entry of a plain object.
    fn slot_for_entry(&mut self, entry: &SourceEntry, index: u32) -> Result<Slot, NodeError> {
        let (meaning, id) = self.resolve_key(entry);
        let has_id = index < MAX_ENTRIES_WITH_IDS;
        if let Some(id @ 1..) = id.filter(|_| has_id) {
            return Ok(Slot { key: id, flags: 0 });
        }
        let bytes = self.key_bytes(entry);
        let (kind, bytes) = match meaning {
            KeyMeaning::Plain(kind, skip) => (kind, bytes.get(skip..).unwrap_or(&[]).to_vec()),
            KeyMeaning::Latin1 => {
                let bytes = bytes.get(3..).and_then(key::bytes_from_latin1);
                let error = NodeError::new(entry.value, "characters up to U+00FF after `$l:`");
                (Kind::Bytes, bytes.ok_or_else(|| error.finding("a higher one"))?)
            }
            KeyMeaning::Unknown => return Err(self.unknown_key_error(entry)),
            KeyMeaning::Special(name) => {
                return Err(NodeError::new(entry.value, "only plain keys next to a plain key")
                    .finding(format!("`{}`", name.text()))
                    .helping("a plain key that starts with $ is written with $$"));
            }
        };
        let slot = self.make_slot(Node::leaf(kind, 0), &bytes, index, entry.value)?;
        if entry.id != 0 && slot.key != KEY_NODE && has_id {
            self.keys[usize::from(entry.id)] = Some((meaning, Some(slot.key)));
        }
        Ok(slot)
    }

    /// Returns the slot for a key with this name: an id, or a node put on the tape.
    fn make_slot(&mut self, node: Node, bytes: &[u8], index: u32, plain_node: u32) -> Result<Slot, NodeError> {
        if index < MAX_ENTRIES_WITH_IDS
            && let Some(id) = self.tape.intern_key(node, bytes)
        {
            return Ok(Slot { key: id, flags: 0 });
        }
        let mut key = node;
        if node.kind.has_bytes() {
            key = Node { flags: node.flags, ..self.tape.new_owned_string(node.kind, bytes) };
            key.set_encoding(node.encoding());
        }
        let slot = Slot { key: IS_KEY, flags: 0 };
        self.push_node(key, ValueContext { plain_node, slot, flags: 0, id: None })?;
        Ok(Slot { key: KEY_NODE, flags: 0 })
    }

    /// Reads a pair of a `$map`, and schedules the others.
    pub(super) fn read_pair(&mut self, next: u32, end: u32, index: u32, locked: Vec<u64>) -> Result<(), NodeError> {
        if next >= end {
            return Ok(());
        }
        self.current_key = NO_KEY;
        let is_locked = locked.binary_search(&u64::from(index)).is_ok();
        self.tasks.push(ReadTask::Pairs { next: self.source.index_after(next), end, index: index + 1, locked });
        let mut items = self.source_items(next).map_err(|_| NodeError::new(next, "a pair in $map"))?;
        let (key, value, extra) = (items.next(), items.next(), items.next());
        drop(items);
        let (Some(key), None) = (key, extra) else {
            return Err(NodeError::new(next, "a pair, or only a key, in $map"));
        };
        let mut flags = if is_locked { flag::LOCKED } else { 0 };
        if value.is_none() {
            flags |= flag::PLACEHOLDER;
        }
        if let Some(name) = self.read_name(key)? {
            let slot = self.slot_for_name(name.with(flags), index, key)?;
            return match value {
                Some(value) => self.read_value(value, slot),
                None => self.push_absent(slot, key),
            };
        }
        if flags != 0 && !self.is_string_with_id(key)? {
            return Err(NodeError::new(key, "a string as a key that is locked or absent"));
        }
        let slot = Slot { key: KEY_NODE, flags: 0 };
        self.tasks.push(match value {
            Some(plain_node) => ReadTask::Value { plain_node, slot },
            None => ReadTask::Absent { plain_node: key, slot },
        });
        self.read_value(key, Slot { key: IS_KEY, flags })
    }

    /// Returns `true` if this is a string with an `$id`.
    fn is_string_with_id(&mut self, plain_node: u32) -> Result<bool, NodeError> {
        if self.source_kind(plain_node) != Some(Kind::Map) || !self.is_special(plain_node) {
            return Ok(false);
        }
        let value = self.read_form_values(plain_node)?.get(Name::Value);
        Ok(value.map_or(Ok(None), |value| self.read_name(value))?.is_some_and(|name| name.kind.is_string()))
    }

    fn slot_for_name(&mut self, name: Node, index: u32, plain_node: u32) -> Result<Slot, NodeError> {
        let bytes = if name.kind.has_bytes() { self.tape.string_bytes(&name, self.input).to_vec() } else { Vec::new() };
        self.make_slot(name, &bytes, index, plain_node)
    }

    fn check_array(&self, plain_node: u32) -> Result<(), NodeError> {
        self.source_items(plain_node).map(|_| ())
    }

    /// Reads the value of a key that is allowed but absent.
    pub(super) fn push_absent(&mut self, slot: Slot, plain_node: u32) -> Result<(), NodeError> {
        self.push_node(Node::leaf(Kind::Hole, 0), ValueContext { plain_node, slot, flags: 0, id: None }).map(|_| ())
    }

    /// Reads a key of a `$placeholders`, and schedules the others.
    pub(super) fn read_placeholder(&mut self, next: u32, end: u32, index: u32) -> Result<(), NodeError> {
        if next >= end {
            return Ok(());
        }
        self.tasks.push(ReadTask::Placeholders { next: self.source.index_after(next), end, index: index + 1 });
        let name = self.read_name(next)?.filter(|name| name.kind.is_string());
        let name = name.ok_or_else(|| NodeError::new(next, "a string in $placeholders"))?;
        let slot = self.slot_for_name(name.with(flag::PLACEHOLDER), index, next)?;
        self.push_absent(slot, next)
    }

    /// Returns the node of an integer or a string of any kind; `None` for anything
    /// else.
    fn read_name(&mut self, plain_node: u32) -> Result<Option<Node>, NodeError> {
        self.read_name_within(plain_node, MAX_STRING_FORMS)
    }

    /// Like [`Self::read_name`], with at most this number of nested forms of strings.
    fn read_name_within(&mut self, plain_node: u32, remaining_forms: u32) -> Result<Option<Node>, NodeError> {
        let node = self.source_node(plain_node);
        match node.kind {
            Kind::Int => return Ok(Some(Node::int(node.payload as i64))),
            Kind::Text => return Ok(Some(Node { kind: self.strings.kind(), key: 0, ..node })),
            Kind::Map if self.is_special(plain_node) => {}
            _ => return Ok(None),
        }
        let values = self.read_form_values(plain_node)?;
        let form_keys = self.find_form_keys(plain_node, &values)?;
        let main = values.get(form_keys.main).unwrap_or(plain_node);
        let kind = match form_keys.main {
            Name::Text | Name::Bytes => {
                let kind = if form_keys.main == Name::Text { Kind::Text } else { Kind::Bytes };
                return Ok(Some(Node { kind, ..self.read_bytes_within(main, remaining_forms)? }));
            }
            Name::Latin1 => {
                let bytes = self.source_text(main).and_then(key::bytes_from_latin1);
                let bytes = bytes.ok_or_else(|| NodeError::new(main, "characters up to U+00FF for $latin1"))?;
                return Ok(Some(self.tape.new_owned_string(Kind::Bytes, &bytes)));
            }
            Name::Base64 => {
                let text = self.source_text(main).ok_or_else(|| NodeError::new(main, "Base64"))?;
                let mut bytes = Vec::new();
                base64::decode_base64(text, &mut bytes).map_err(|index| {
                    NodeError::new(main, "Base64 with its padding")
                        .finding(format!("something else from character {index} on"))
                })?;
                return Ok(Some(self.tape.new_owned_string(Kind::Bytes, &bytes)));
            }
            Name::String => Kind::Encoded,
            Name::Symbol => Kind::Symbol,
            _ => return Ok(None),
        };
        let mut node = Node { kind, ..self.read_bytes_within(main, remaining_forms)? };
        if let Some(encoding) =
            values.get(Name::Encoding).filter(|encoding| self.source_kind(*encoding) != Some(Kind::Null))
        {
            let name = self.read_named_bytes(encoding)?;
            let name = self.tape.string_bytes(&name, self.input).to_vec();
            let id = self.tape.intern_encoding(&name).map_err(|error| NodeError::from_error(encoding, error))?;
            node.set_encoding(id);
        }
        Ok(Some(node))
    }

    /// Returns a string if the context says that bytes are meant: a plain string is
    /// their UTF-8. The caller replaces its kind.
    fn read_named_bytes(&mut self, plain_node: u32) -> Result<Node, NodeError> {
        self.read_bytes_within(plain_node, MAX_STRING_FORMS)
    }

    fn read_bytes_within(&mut self, plain_node: u32, remaining_forms: u32) -> Result<Node, NodeError> {
        let node = self.source_node(plain_node);
        if node.kind == Kind::Text {
            return Ok(Node { key: 0, ..node });
        }
        let string = if remaining_forms > 0 { self.read_name_within(plain_node, remaining_forms - 1)? } else { None };
        let string = string.filter(|node| matches!(node.kind, Kind::Text | Kind::Bytes));
        string.ok_or_else(|| NodeError::new(plain_node, "a string, or one as $latin1 or $base64"))
    }

    /// Returns the id of a class name.
    fn read_class(&mut self, plain_node: u32) -> Result<u32, NodeError> {
        if self.source_kind(plain_node) == Some(Kind::Null) {
            return Ok(0);
        }
        let name = self.read_name(plain_node)?.filter(|node| matches!(node.kind, Kind::Text | Kind::Bytes));
        let name = name.ok_or_else(|| NodeError::new(plain_node, "the name of a class"))?;
        let bytes = self.tape.string_bytes(&name, self.input).to_vec();
        self.tape.intern_class(name.kind, &bytes).map_err(|error| NodeError::from_error(plain_node, error))
    }

    fn read_form(&self, plain_node: Option<u32>) -> Result<Form, NodeError> {
        let Some(plain_node) = plain_node else { return Ok(Form::Usual) };
        let form = self.source_text(plain_node).and_then(form::form_from_word);
        form.ok_or_else(|| NodeError::new(plain_node, "the word for a form, as docs/json-typed.md lists them"))
    }

    fn read_flag(&self, values: &FormValues, name: Name) -> Result<bool, NodeError> {
        let Some(plain_node) = values.get(name) else { return Ok(false) };
        let node = self.source_node(plain_node);
        if node.kind == Kind::Bool {
            Ok(node.payload != 0)
        } else {
            Err(NodeError::new(plain_node, format!("true for `{}`", name.text())))
        }
    }

    fn read_float(&self, plain_node: u32) -> Result<f64, NodeError> {
        let node = self.source_node(plain_node);
        if node.kind == Kind::Float {
            return Ok(f64::from_bits(node.payload));
        }
        let text = self.source_text(plain_node).unwrap_or(&[]);
        let value = match text {
            b"inf" => Some(f64::INFINITY),
            b"-inf" => Some(f64::NEG_INFINITY),
            b"nan" => Some(f64::from_bits(0x7FF8_0000_0000_0000)),
            _ => text
                .strip_prefix(b"nan:")
                .and_then(|digits| parse_hex(digits, 16))
                .map(|bits| f64::from_bits(bits as u64)),
        };
        value.ok_or_else(|| {
            NodeError::new(plain_node, "\"inf\", \"-inf\", \"nan\" or \"nan:\" and 16 hex digits for $float")
        })
    }
}

/// Returns the value of this many hex digits.
fn parse_hex(text: &[u8], digits: usize) -> Option<u128> {
    if text.len() != digits {
        return None;
    }
    text.iter().try_fold(0, |number, digit| Some(number << 4 | u128::from(char::from(*digit).to_digit(16)?)))
}
