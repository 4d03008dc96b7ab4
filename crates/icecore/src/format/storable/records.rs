//! Reads less common records: code, regexps, v-strings, tied variables, hooks and large objects.

use super::read::{Frame, MIN_ENTRY, MIN_FLAG_ENTRY, Machine, NONE, Prefix, State};
use super::spelling::value as code;
use super::tag::{self, hook};
use crate::document::{Form, Kind, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};

impl<S: Sink, const FAST: bool> Machine<'_, '_, S, FAST> {
    /// Reads the string in a code or v-string record.
    fn read_inner_string(&mut self, node: u32, expected: &'static str) -> Result<Node, Error> {
        let start = self.scan.offset;
        let tag = self.scan.read_u8("a tag")?;
        self.record_piece(start, node, tag::name_of(tag));
        if !matches!(tag, tag::SCALAR | tag::LSCALAR | tag::UTF8STR | tag::LUTF8STR) {
            return Err(Error::new(ErrorKind::Malformed).at(start).expecting(expected).finding(tag::name_of(tag)));
        }
        match self.read_scalar(tag, node, false)? {
            Some((leaf, default)) => {
                if tag != default {
                    self.defer_note(code::INNER_TAG, u64::from(tag));
                }
                Ok(leaf)
            }
            None => Err(self.unknown_tag_error(tag, start)),
        }
    }

    /// Appends a complete container with these leaves, and closes its wrappers.
    fn push_closed_container(&mut self, node: Node, children: &[Node], prefix: Prefix) -> u32 {
        let index = self.sink.tape().push(node);
        self.sink.record_begin(index, prefix.start);
        self.attach_notes(index);
        for child in children {
            self.sink.tape().push(*child);
        }
        self.sink.tape().close_container(index, children.len() as u32);
        self.record_end(index);
        self.close_wrappers(index, prefix.wrapper_count);
        index
    }

    /// Reads code. Storable numbers the code and its text, so it takes two numbers.
    pub(super) fn read_code(&mut self, mut prefix: Prefix) -> Result<(), Error> {
        self.ensure_numbers(&prefix);
        let first = prefix.first_node;
        let flags = self.push_container_wrapper(&mut prefix)?;
        let text = self.read_inner_string(first, "the text of code")?;
        let node = self.push_closed_container(Node::open(Kind::Code, 0).with(flags), &[text], prefix);
        self.numbers.assign_next(super::numbers::NumberedValue::Variable(node + 1));
        Ok(())
    }

    /// Reads a regexp. A blessed regexp is the result of perl's `qr//`, so its own class is implied.
    pub(super) fn read_regexp(&mut self, mut prefix: Prefix) -> Result<(), Error> {
        let first = prefix.first_node;
        let start = self.scan.offset;
        let op = self.scan.read_u8("a regexp's flags")?;
        let len = if op & tag::REGEXP_LONG != 0 {
            self.read_u32("a pattern's length")?
        } else {
            u32::from(self.scan.read_u8("a pattern's length")?)
        };
        self.record_piece(start, first, "flags, pattern length");
        let pattern_start = self.scan.offset;
        let pattern = self.read_string(Kind::Bytes, u64::from(len), "a pattern")?;
        self.record_piece(pattern_start, first, "pattern");
        let length_start = self.scan.offset;
        let len = self.scan.read_u8("the length of a regexp's flags")?;
        self.record_piece(length_start, first, "flags length");
        let flags_start = self.scan.offset;
        let flags = self.read_string(Kind::Bytes, u64::from(len), "a regexp's flags")?;
        self.record_piece(flags_start, first, "flags");

        let has_reference = prefix.flags & flag::REF != 0;
        let has_implied_class = prefix
            .class
            .is_some_and(|class| self.sink.tape().classes.get(class).is_some_and(|name| name.bytes == b"Regexp"));
        let mut node = Node::open(Kind::Regexp, 0);
        if has_reference && prefix.class.is_some() {
            if has_implied_class {
                prefix.class = None;
            }
            node = node.with(self.push_container_wrapper(&mut prefix)?);
        } else {
            self.push_scalar_wrappers(&mut prefix)?;
            node = node.with(flag::BARE);
        }
        let default = if pattern.aux > 0xFF { tag::REGEXP_LONG } else { 0 };
        if op != default {
            self.defer_note(code::REGEXP, u64::from(op));
        }
        // The class is implied, so it is only spelling how the image names it.
        if let Some(form) = self.pending_class_note.take() {
            self.defer_note(code::CLASS, form);
        }
        self.push_closed_container(node, &[pattern, flags], prefix);
        Ok(())
    }

    /// Reads a v-string: its source text and its value.
    pub(super) fn read_v_string(&mut self, tag: u8, mut prefix: Prefix) -> Result<(), Error> {
        self.ensure_numbers(&prefix);
        let first = prefix.first_node;
        let length_start = self.scan.offset;
        let len = match tag {
            tag::VSTRING => u32::from(self.scan.read_u8("a v-string's length")?),
            _ => self.read_u32("a v-string's length")?,
        };
        self.record_piece(length_start, first, "length");
        let source_start = self.scan.offset;
        let source = self.read_string(Kind::Bytes, u64::from(len), "a v-string")?;
        self.record_piece(source_start, first, "source text");
        let value = self.read_inner_string(first, "the value of a v-string")?;
        self.push_scalar_wrappers(&mut prefix)?;
        self.defer_tag_note(tag, if len > 0xFF { tag::LVSTRING } else { tag::VSTRING });
        self.push_closed_container(Node::open(Kind::VString, 0), &[source, value], prefix);
        Ok(())
    }

    /// Opens a tied variable. Its object, and the key or index of an element, are read later.
    pub(super) fn begin_tied(&mut self, tag: u8, mut prefix: Prefix) -> Result<(), Error> {
        self.ensure_numbers(&prefix);
        let (form, state) = match tag {
            tag::TIED_ARRAY => (Form::TiedArray, State::Tied),
            tag::TIED_HASH => (Form::TiedHash, State::Tied),
            tag::TIED_SCALAR => (Form::TiedScalar, State::Tied),
            tag::TIED_KEY => (Form::TiedElement, State::TiedKey),
            _ => (Form::TiedElement, State::TiedIndex),
        };
        let node = Node::open(Kind::Tied, 0).in_form(form);
        let flags = if matches!(form, Form::TiedArray | Form::TiedHash) {
            self.push_container_wrapper(&mut prefix)?
        } else {
            self.push_scalar_wrappers(&mut prefix)?;
            0
        };
        self.open_container(state, node.with(flags), 1, prefix)?;
        Ok(())
    }

    /// Reads the object of a tied variable, or opens it, if this did not happen yet. Returns `false` if it did.
    fn read_pending_object(&mut self) -> Result<bool, Error> {
        match self.frames.last_mut() {
            Some(frame) if frame.count == 0 => {
                frame.count = 1;
                self.read_value(false)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    pub(super) fn continue_tied(&mut self) -> Result<(), Error> {
        if !self.read_pending_object()? {
            self.close_container();
        }
        Ok(())
    }

    pub(super) fn continue_tied_key(&mut self) -> Result<(), Error> {
        if !self.read_pending_object()? {
            match self.frames.last_mut() {
                Some(frame) if frame.count == 1 => {
                    frame.count = 2;
                    let (tied, key) = (frame.node, self.sink.next_node());
                    self.read_value(false)?;
                    // The writer would take an integer for an index, so the tag is recorded.
                    if S::DETAIL && self.node_at(key).is_some_and(|node| node.kind == Kind::Int) {
                        self.sink.record_note(tied, code::TAG, u64::from(tag::TIED_KEY));
                    }
                }
                _ => self.close_container(),
            }
        }
        Ok(())
    }

    pub(super) fn continue_tied_index(&mut self) -> Result<(), Error> {
        if !self.read_pending_object()? {
            let start = self.scan.offset;
            let index = self.read_u32("an index")?;
            let node = self.sink.next_node();
            self.record_piece(start, node, "index");
            self.sink.tape().push(Node::int(i64::from(index as i32)));
            self.sink.record_begin(node, start);
            self.record_end(node);
            if let Some(frame) = self.frames.last_mut() {
                frame.count = 2;
            }
            self.close_container();
        }
        Ok(())
    }

    // -- Hooks -------------------------------------------------------------
    //
    // The children of the opaque object are in this order: the frozen string, the objects that are stored inside of
    // the record, a link for each object of its list, and an empty body. The kind of the body is the kind of the
    // object.

    /// Opens the record of an object that its class froze by a hook. `is_large` tells if the record is a large object.
    pub(super) fn begin_hook(&mut self, mut prefix: Prefix, is_large: bool) -> Result<(), Error> {
        if prefix.class.is_some() {
            return Err(self.malformed_error(prefix.start, "a value after the class", "a hook record"));
        }
        self.ensure_numbers(&prefix);
        let first = prefix.first_node;
        let flags_start = self.scan.offset;
        let flags = self.scan.read_u8("a hook's flags")?;
        self.record_piece(flags_start, first, "hook flags");
        let mut body = flags & hook::TYPE;
        if body == hook::EXTRA {
            let type_start = self.scan.offset;
            body = self.scan.read_u8("a hook's type")?;
            self.record_piece(type_start, first, "hook type");
            if !matches!(body, hook::TIED_SCALAR | hook::TIED_ARRAY | hook::TIED_HASH) {
                return Err(Error::new(ErrorKind::Malformed)
                    .at(type_start)
                    .expecting("a hook's type: 4, 5 or 6")
                    .finding(body.to_string()));
            }
        }
        let node_flags = self.push_container_wrapper(&mut prefix)?;
        let node = Node::open(Kind::Opaque, 0).with(node_flags).in_form(Form::Hook);
        self.open_container(State::Hook, node, u32::from(body), prefix)?;
        let payload = self.sink.tape().new_owned_string(Kind::Bytes, b"");
        self.sink.tape().push(payload);
        if let Some(frame) = self.frames.last_mut() {
            frame.flags = flags;
            frame.count = 1;
            frame.has_slot = is_large;
        }
        Ok(())
    }

    /// Reads the next inner object of a hook record, or the rest of the record.
    pub(super) fn continue_hook(&mut self) -> Result<(), Error> {
        let Some(mut frame) = self.frames.last().copied() else { return Ok(()) };
        if frame.value != NONE {
            let flags_start = self.scan.offset;
            let previous_flags = frame.flags;
            frame.flags = self.scan.read_u8("a hook's flags")?;
            self.record_piece(flags_start, frame.node, "hook flags");
            frame.value = NONE;
            if frame.flags & hook::TYPE != previous_flags & hook::TYPE {
                return Err(self.malformed_error(
                    flags_start,
                    "the type that the hook's first flags say",
                    "another type",
                ));
            }
        }
        let has_inner_object = frame.flags & hook::RECURSE != 0;
        if has_inner_object {
            if frame.flags & !(hook::RECURSE | hook::TYPE) != 0 {
                let flags_offset = self.scan.offset - 1;
                return Err(self.malformed_error(
                    flags_offset,
                    "no hook flags other than those of an inner object",
                    "others",
                ));
            }
            frame.count += 1;
            // Any value except `NONE`: after the inner object, flags follow.
            frame.value = 0;
        }
        if let Some(last) = self.frames.last_mut() {
            *last = frame;
        }
        if !has_inner_object {
            return self.read_hook_rest(frame);
        }
        // A link to an earlier object is not allowed here, because it could not be distinguished from the links of
        // the list.
        let start = self.scan.offset;
        if matches!(self.scan.input.get(start..), Some([tag::OBJECT, ..] | [tag::LOBJECT, tag::OBJECT, ..])) {
            return Err(self.malformed_error(start, "an object inside a hook record", "a back-reference"));
        }
        self.read_value(true)
    }

    /// Reads what follows the inner objects.
    fn read_hook_rest(&mut self, frame: Frame) -> Result<(), Error> {
        let (node, flags, large) = (frame.node, frame.flags, frame.has_slot);
        let is_short = |flag: u8| flags & flag == 0;
        let class_start = self.scan.offset;
        let number = if is_short(hook::LARGE_CLASS) {
            u32::from(self.scan.read_u8("a class")?)
        } else {
            self.read_u32("a class")?
        };
        let class = if flags & hook::CLASS_INDEX != 0 {
            self.record_piece(class_start, node, "class number");
            let other_number = self.other_number_note(number);
            if S::DETAIL && other_number != 0 {
                self.sink.record_note(node, code::CLASS, other_number);
            }
            self.class_by_number(number, class_start)?
        } else {
            self.record_piece(class_start, node, "class length");
            let name_start = self.scan.offset;
            let class = self.read_class_name(number)?;
            self.record_piece(name_start, node, "class name");
            if S::DETAIL && self.first_numbers.contains_key(&class) {
                self.sink.record_note(node, code::CLASS, 1);
            }
            self.assign_class_number(class);
            class
        };
        self.sink.tape().set_class(node, class);

        let length_start = self.scan.offset;
        // A large record always has 64 bits for this length. It ignores the flag for the width.
        let len = if large {
            self.read_u64("the length of a frozen string")?
        } else if is_short(hook::LARGE_STRING) {
            u64::from(self.scan.read_u8("the length of a frozen string")?)
        } else {
            u64::from(self.read_u32("the length of a frozen string")?)
        };
        self.record_piece(length_start, node, "frozen length");
        let start = self.scan.offset;
        let payload = self.read_string(Kind::Bytes, len, "a frozen string")?;
        self.sink.tape().replace_node(node + 1, payload);
        self.sink.record_begin(node + 1, start);
        self.record_piece(start, node + 1, "frozen string");
        self.record_end(node + 1);

        let links = if flags & hook::HAS_LIST != 0 { self.read_hook_list(frame)? } else { 0 };
        if let Some(frame) = self.frames.last_mut() {
            frame.count += links + 1;
            frame.state = State::HookExtra;
        }
        self.record_hook_flags(frame, number, len, links);
        let (kind, form) = match frame.remaining as u8 {
            hook::SCALAR => (Kind::Null, Form::Usual),
            hook::ARRAY => (Kind::Array, Form::Usual),
            hook::HASH => (Kind::Map, Form::Usual),
            hook::TIED_SCALAR => (Kind::Tied, Form::TiedScalar),
            hook::TIED_ARRAY => (Kind::Tied, Form::TiedArray),
            _ => (Kind::Tied, Form::TiedHash),
        };
        let body = self.sink.next_node();
        let body_start = self.scan.offset;
        match kind {
            Kind::Null => {
                self.sink.tape().push(Node::leaf(Kind::Null, 0));
                self.sink.record_begin(body, body_start);
                self.record_end(body);
            }
            Kind::Tied => {
                let prefix = Prefix { start: body_start, first_node: body, ..Prefix::default() };
                self.open_container(State::Tied, Node::open(kind, 0).in_form(form), 1, prefix)?;
            }
            _ => {
                self.sink.tape().push(Node::open(kind, 0));
                self.sink.tape().close_container(body, 0);
                self.sink.record_begin(body, body_start);
                self.record_end(body);
            }
        }
        Ok(())
    }

    /// Reads the objects that the frozen string refers to, as one link each.
    fn read_hook_list(&mut self, frame: Frame) -> Result<u32, Error> {
        let node = frame.node;
        let length_start = self.scan.offset;
        let mut wide = false;
        let count = if frame.flags & hook::LARGE_LIST == 0 {
            u64::from(self.scan.read_u8("the length of a hook's list")?)
        } else {
            let count = self.read_u32("the length of a hook's list")? as i32;
            wide = count < 0;
            u64::from(count.unsigned_abs())
        };
        self.record_piece(length_start, node, "list length");
        let count = self.check_count(count, if wide { 8 } else { 4 }, "object numbers")?;
        for _ in 0..count {
            let start = self.scan.offset;
            let number = if wide {
                self.read_u64("an object number")?
            } else {
                u64::from(u32::from_be_bytes(self.scan.read_array("an object number")?))
            };
            let prefix = Prefix {
                flags: flag::REF,
                has_implied_reference: true,
                start,
                first_node: self.sink.next_node(),
                ..Prefix::default()
            };
            self.record_piece(start, prefix.first_node, "object number");
            self.push_back_reference(number, start, prefix)?;
        }
        Ok(count)
    }

    /// Records the flags of a hook record, if the writer would choose others.
    fn record_hook_flags(&mut self, frame: Frame, number: u32, len: u64, links: u32) {
        if !S::DETAIL {
            return;
        }
        let mut default = frame.flags & (hook::TYPE | hook::CLASS_INDEX);
        if number > 0xFF {
            default |= hook::LARGE_CLASS;
        }
        if len > 0xFF {
            default |= hook::LARGE_STRING;
        }
        if links > 0 {
            default |= hook::HAS_LIST;
        }
        if links > 0xFF {
            default |= hook::LARGE_LIST;
        }
        if frame.flags != default {
            self.sink.record_note(frame.node, code::HOOK, u64::from(frame.flags));
        }
        if frame.has_slot {
            self.sink.record_note(frame.node, code::LARGE, 1);
        }
    }

    // -- Large objects -----------------------------------------------------

    /// Reads a record whose length or number needs 64 bits.
    pub(super) fn read_large_object(&mut self, start: usize, prefix: Prefix) -> Result<(), Error> {
        let first = prefix.first_node;
        let tag_offset = self.scan.offset;
        let tag = self.scan.read_u8("the tag of a large object")?;
        self.record_piece(tag_offset, first, tag::name_of(tag));
        if tag == tag::HOOK {
            return self.begin_hook(prefix, true);
        }
        let mut hash_flags = None;
        if tag == tag::FLAG_HASH {
            let flags_start = self.scan.offset;
            hash_flags = Some(self.scan.read_u8("a hash's flags")?);
            self.record_piece(flags_start, first, "hash flags");
        }
        let size_start = self.scan.offset;
        let size = self.read_u64("a 64-bit length")?;
        self.record_piece(size_start, first, "64-bit length");
        match tag {
            tag::OBJECT => {
                self.defer_note(code::LARGE, 1);
                self.push_back_reference(size, start, prefix)
            }
            tag::LSCALAR | tag::LUTF8STR => {
                let (leaf, default) = self.read_text(tag, size, first)?;
                self.defer_tag_note(tag, default);
                self.defer_note(code::LARGE, 1);
                self.push_leaf(leaf, prefix)?;
                Ok(())
            }
            tag::ARRAY => {
                let count = self.check_count(size, 1, "items")?;
                self.defer_note(code::LARGE, 1);
                self.begin_array(count, prefix)
            }
            tag::HASH | tag::FLAG_HASH => {
                let count =
                    self.check_count(size, if hash_flags.is_some() { MIN_FLAG_ENTRY } else { MIN_ENTRY }, "entries")?;
                self.defer_note(code::LARGE, 1);
                self.begin_hash(hash_flags, count, prefix)
            }
            _ => Err(Error::new(ErrorKind::Malformed)
                .at(size_start)
                .expecting("the tag of something that can be large")
                .finding(tag::name_of(tag))),
        }
    }
}
