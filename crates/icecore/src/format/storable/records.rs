//! Reads less common records: code, regexps, v-strings, tied variables, hooks, large
//! objects.

use super::read::{FLAG_ENTRY, Frame, Machine, NONE, Prefix, State};
use super::spelling::value as code;
use super::tag::{self, hook};
use crate::document::{Form, Kind, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};

impl<S: Sink, const FAST: bool> Machine<'_, '_, S, FAST> {
    /// Reads the string in a code or v-string record.
    fn inner_string(&mut self, node: u32, what: &'static str) -> Result<Node, Error> {
        let start = self.scan.at;
        let tag = self.scan.u8("a tag")?;
        self.piece(start, node, tag::name(tag));
        if !matches!(tag, tag::SCALAR | tag::LSCALAR | tag::UTF8STR | tag::LUTF8STR) {
            return Err(Error::new(ErrorKind::Malformed).at(start).expecting(what).finding(tag::name(tag)));
        }
        match self.scalar(tag, node, false)? {
            Some((leaf, default)) => {
                if tag != default {
                    self.pend(code::INNER_TAG, u64::from(tag));
                }
                Ok(leaf)
            }
            None => Err(self.unknown(tag, start)),
        }
    }

    /// Appends a complete container of at most two leaves, and closes its wrappers.
    fn closed(&mut self, node: Node, parts: &[Node], prefix: Prefix) -> u32 {
        let at = self.sink.tape().push(node);
        self.sink.begin(at, prefix.start);
        self.settle(at);
        for part in parts {
            self.sink.tape().push(*part);
        }
        self.sink.tape().close(at, parts.len() as u32);
        self.end(at);
        self.close_wrappers(at, prefix.wraps);
        self.depth -= prefix.wraps;
        at
    }

    /// Reads code. It takes two numbers: its own and that of its text.
    pub(super) fn code(&mut self, mut prefix: Prefix) -> Result<(), Error> {
        self.ensure_numbers(&prefix);
        let first = prefix.first;
        let flags = self.before_container(&mut prefix)?;
        let text = self.inner_string(first, "the text of code")?;
        let at = self.closed(Node::open(Kind::Code, 0).with(flags), &[text], prefix);
        self.numbers.give(super::numbers::Numbered::Variable(at + 1));
        Ok(())
    }

    /// Reads a regexp. A blessed one is the result of perl's `qr//`; its own class is
    /// implied.
    pub(super) fn regexp(&mut self, mut prefix: Prefix) -> Result<(), Error> {
        let first = prefix.first;
        let start = self.scan.at;
        let op = self.scan.u8("a regexp's flags")?;
        let long = op & tag::REGEXP_LONG != 0;
        let len = if long { self.n32("a pattern's length")? } else { u32::from(self.scan.u8("a pattern's length")?) };
        self.piece(start, first, "flags, pattern length");
        let at = self.scan.at;
        let pattern = self.string(Kind::Bytes, u64::from(len), "a pattern")?;
        self.piece(at, first, "pattern");
        let at = self.scan.at;
        let len = self.scan.u8("the length of a regexp's flags")?;
        self.piece(at, first, "flags length");
        let at = self.scan.at;
        let flags = self.string(Kind::Bytes, u64::from(len), "a regexp's flags")?;
        self.piece(at, first, "flags");

        let referred = prefix.flags & flag::REF != 0;
        let is_plain = prefix
            .class
            .is_some_and(|class| self.sink.tape().classes.get(class).is_some_and(|name| name.bytes == b"Regexp"));
        let mut node = Node::open(Kind::Regexp, 0);
        if referred && prefix.class.is_some() {
            if is_plain {
                prefix.class = None;
            }
            node = node.with(self.before_container(&mut prefix)?);
        } else {
            self.before_scalar(&mut prefix)?;
            node = node.with(flag::BARE);
        }
        let default = if pattern.aux > 0xFF { tag::REGEXP_LONG } else { 0 };
        if op != default {
            self.pend(code::REGEXP, u64::from(op));
        }
        // The implied class was given explicitly.
        if let Some(form) = self.pending_class.take() {
            self.pend(code::CLASS, form);
        }
        self.closed(node, &[pattern, flags], prefix);
        Ok(())
    }

    pub(super) fn vstring(&mut self, tag: u8, mut prefix: Prefix) -> Result<(), Error> {
        self.ensure_numbers(&prefix);
        let first = prefix.first;
        let at = self.scan.at;
        let len = match tag {
            tag::VSTRING => u32::from(self.scan.u8("a v-string's length")?),
            _ => self.n32("a v-string's length")?,
        };
        self.piece(at, first, "length");
        let at = self.scan.at;
        let source = self.string(Kind::Bytes, u64::from(len), "a v-string")?;
        self.piece(at, first, "source text");
        let value = self.inner_string(first, "the value of a v-string")?;
        self.before_scalar(&mut prefix)?;
        self.pend_tag(tag, if len > 0xFF { tag::LVSTRING } else { tag::VSTRING });
        self.closed(Node::open(Kind::VString, 0), &[source, value], prefix);
        Ok(())
    }

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
            self.before_container(&mut prefix)?
        } else {
            self.before_scalar(&mut prefix)?;
            0
        };
        self.open(state, node.with(flags), 1, prefix)?;
        Ok(())
    }

    /// Reads the first child; returns whether it was already read.
    fn object_behind(&mut self) -> Result<bool, Error> {
        match self.frames.last_mut() {
            Some(frame) if frame.count == 0 => {
                frame.count = 1;
                self.value(false)?;
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    pub(super) fn tied(&mut self) -> Result<(), Error> {
        if self.object_behind()? {
            self.close();
        }
        Ok(())
    }

    pub(super) fn tied_key(&mut self) -> Result<(), Error> {
        if self.object_behind()? {
            match self.frames.last_mut() {
                Some(frame) if frame.count == 1 => {
                    frame.count = 2;
                    let (at, key) = (frame.at, self.sink.next_node());
                    self.value(false)?;
                    // An integer would be taken for an index.
                    if S::DETAIL && self.sink_node(key).is_some_and(|node| node.kind == Kind::Int) {
                        self.sink.note(at, code::TAG, u64::from(tag::TIED_KEY));
                    }
                }
                _ => self.close(),
            }
        }
        Ok(())
    }

    pub(super) fn tied_index(&mut self) -> Result<(), Error> {
        if self.object_behind()? {
            let at = self.scan.at;
            let index = self.n32("an index")?;
            let node = self.sink.next_node();
            self.piece(at, node, "index");
            self.sink.tape().push(Node::int(i64::from(index as i32)));
            self.sink.begin(node, at);
            self.end(node);
            if let Some(frame) = self.frames.last_mut() {
                frame.count = 2;
            }
            self.close();
        }
        Ok(())
    }

    // -- Hooks -------------------------------------------------------------
    //
    // The children of the opaque object: the frozen string; the objects stored inside the
    // record; a link for each object in its list; and finally the empty body, whose kind is
    // that of the object.

    pub(super) fn begin_hook(&mut self, mut prefix: Prefix, large: bool) -> Result<(), Error> {
        if prefix.class.is_some() {
            return Err(self.malformed(prefix.start, "a value after the class", "a hook record"));
        }
        self.ensure_numbers(&prefix);
        let first = prefix.first;
        let at = self.scan.at;
        let flags = self.scan.u8("a hook's flags")?;
        self.piece(at, first, "hook flags");
        let mut body = flags & hook::TYPE;
        if body == hook::EXTRA {
            let at = self.scan.at;
            body = self.scan.u8("a hook's type")?;
            self.piece(at, first, "hook type");
            if !matches!(body, hook::TIED_SCALAR | hook::TIED_ARRAY | hook::TIED_HASH) {
                return Err(Error::new(ErrorKind::Malformed)
                    .at(at)
                    .expecting("a hook's type: 4, 5 or 6")
                    .finding(body.to_string()));
            }
        }
        let node_flags = self.before_container(&mut prefix)?;
        let node = Node::open(Kind::Opaque, 0).with(node_flags).in_form(Form::Hook);
        self.open(State::Hook, node, u32::from(body), prefix)?;
        let payload = self.sink.tape().owned(Kind::Bytes, b"");
        self.sink.tape().push(payload);
        if let Some(frame) = self.frames.last_mut() {
            frame.flags = flags;
            frame.count = 1;
            frame.has_slot = large;
        }
        Ok(())
    }

    pub(super) fn hook(&mut self) -> Result<(), Error> {
        let Some(mut frame) = self.frames.last().copied() else { return Ok(()) };
        if frame.value != NONE {
            let at = self.scan.at;
            let before = frame.flags;
            frame.flags = self.scan.u8("a hook's flags")?;
            self.piece(at, frame.at, "hook flags");
            frame.value = NONE;
            if frame.flags & hook::TYPE != before & hook::TYPE {
                return Err(self.malformed(at, "the type that the hook's first flags say", "another type"));
            }
        }
        let recurse = frame.flags & hook::RECURSE != 0;
        if recurse {
            if frame.flags & !(hook::RECURSE | hook::TYPE) != 0 {
                let at = self.scan.at - 1;
                return Err(self.malformed(at, "no hook flags beside those of an object inside", "some"));
            }
            frame.count += 1;
            frame.value = 0;
        }
        if let Some(last) = self.frames.last_mut() {
            *last = frame;
        }
        if !recurse {
            return self.hook_rest(frame);
        }
        // An object that was read before is not allowed here: it could not be distinguished
        // from the objects of the list.
        let at = self.scan.at;
        if matches!(self.scan.input.get(at..), Some([tag::OBJECT, ..] | [tag::LOBJECT, tag::OBJECT, ..])) {
            return Err(self.malformed(at, "an object inside a hook record", "a back-reference"));
        }
        self.value(true)
    }

    /// Reads what follows the inner objects.
    fn hook_rest(&mut self, frame: Frame) -> Result<(), Error> {
        let (node, flags, large) = (frame.at, frame.flags, frame.has_slot);
        let is_short = |flag: u8| flags & flag == 0;
        let at = self.scan.at;
        let number =
            if is_short(hook::LARGE_CLASS) { u32::from(self.scan.u8("a class")?) } else { self.n32("a class")? };
        let class = if flags & hook::CLASS_INDEX != 0 {
            self.piece(at, node, "class number");
            let other = self.other_number(number);
            if S::DETAIL && other != 0 {
                self.sink.note(node, code::CLASS, other);
            }
            self.known_class(number, at)?
        } else {
            self.piece(at, node, "class length");
            let at = self.scan.at;
            let class = self.new_class(number)?;
            self.piece(at, node, "class name");
            if S::DETAIL && self.first_numbers.contains_key(&class) {
                self.sink.note(node, code::CLASS, 1);
            }
            self.give_class(class);
            class
        };
        self.sink.tape().set_class(node, class);

        let at = self.scan.at;
        // A large record always has 64 bits for it, whatever the flag says.
        let len = if large {
            self.n64("the length of a frozen string")?
        } else if is_short(hook::LARGE_STRING) {
            u64::from(self.scan.u8("the length of a frozen string")?)
        } else {
            u64::from(self.n32("the length of a frozen string")?)
        };
        self.piece(at, node, "frozen length");
        let start = self.scan.at;
        let payload = self.string(Kind::Bytes, len, "a frozen string")?;
        self.sink.tape().replace(node + 1, payload);
        self.sink.begin(node + 1, start);
        self.piece(start, node + 1, "frozen string");
        self.end(node + 1);

        let links = if flags & hook::HAS_LIST != 0 { self.hook_list(frame)? } else { 0 };
        if let Some(frame) = self.frames.last_mut() {
            frame.count += links + 1;
            frame.state = State::HookExtra;
        }
        self.hook_note(frame, number, len, links);
        let (kind, form) = match frame.left as u8 {
            hook::SCALAR => (Kind::Null, Form::Usual),
            hook::ARRAY => (Kind::Array, Form::Usual),
            hook::HASH => (Kind::Map, Form::Usual),
            hook::TIED_SCALAR => (Kind::Tied, Form::TiedScalar),
            hook::TIED_ARRAY => (Kind::Tied, Form::TiedArray),
            _ => (Kind::Tied, Form::TiedHash),
        };
        let body = self.sink.next_node();
        let at = self.scan.at;
        match kind {
            Kind::Null => {
                self.sink.tape().push(Node::leaf(Kind::Null, 0));
                self.sink.begin(body, at);
                self.end(body);
            }
            Kind::Tied => {
                let prefix = Prefix { start: at, first: body, ..Prefix::default() };
                self.open(State::Tied, Node::open(kind, 0).in_form(form), 1, prefix)?;
            }
            _ => {
                self.sink.tape().push(Node::open(kind, 0));
                self.sink.tape().close(body, 0);
                self.sink.begin(body, at);
                self.end(body);
            }
        }
        Ok(())
    }

    /// Reads the objects that the frozen string refers to, as one link each.
    fn hook_list(&mut self, frame: Frame) -> Result<u32, Error> {
        let node = frame.at;
        let at = self.scan.at;
        let mut wide = false;
        let count = if frame.flags & hook::LARGE_LIST == 0 {
            u64::from(self.scan.u8("the length of a hook's list")?)
        } else {
            let count = self.n32("the length of a hook's list")? as i32;
            wide = count < 0;
            u64::from(count.unsigned_abs())
        };
        self.piece(at, node, "list length");
        let count = self.count(count, if wide { 8 } else { 4 }, "object numbers")?;
        for _ in 0..count {
            let start = self.scan.at;
            let number = if wide {
                self.n64("an object number")?
            } else {
                u64::from(u32::from_be_bytes(self.scan.array("an object number")?))
            };
            let prefix =
                Prefix { flags: flag::REF, implied: true, start, first: self.sink.next_node(), ..Prefix::default() };
            self.piece(start, prefix.first, "object number");
            self.refer(number, start, prefix)?;
        }
        Ok(count)
    }

    /// Records the flags, if the writer would choose others.
    fn hook_note(&mut self, frame: Frame, number: u32, len: u64, links: u32) {
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
            self.sink.note(frame.at, code::HOOK, u64::from(frame.flags));
        }
        if frame.has_slot {
            self.sink.note(frame.at, code::LARGE, 1);
        }
    }

    // -- Large objects -----------------------------------------------------

    /// Reads a record whose length or number needs 64 bits.
    pub(super) fn large(&mut self, start: usize, prefix: Prefix) -> Result<(), Error> {
        let first = prefix.first;
        let at = self.scan.at;
        let tag = self.scan.u8("the tag of a large object")?;
        self.piece(at, first, tag::name(tag));
        if tag == tag::HOOK {
            return self.begin_hook(prefix, true);
        }
        let mut hash_flags = None;
        if tag == tag::FLAG_HASH {
            let at = self.scan.at;
            hash_flags = Some(self.scan.u8("a hash's flags")?);
            self.piece(at, first, "hash flags");
        }
        let at = self.scan.at;
        let size = self.n64("a 64-bit length")?;
        self.piece(at, first, "64-bit length");
        match tag {
            tag::OBJECT => {
                self.pend(code::LARGE, 1);
                self.refer(size, start, prefix)
            }
            tag::LSCALAR | tag::LUTF8STR => {
                let (leaf, default) = self.text(tag, size, first)?;
                self.pend_tag(tag, default);
                self.pend(code::LARGE, 1);
                self.leaf(leaf, prefix)?;
                Ok(())
            }
            tag::ARRAY => {
                let count = self.count(size, 1, "items")?;
                self.pend(code::LARGE, 1);
                self.begin_array(count, prefix)
            }
            tag::HASH | tag::FLAG_HASH => {
                let count = self.count(size, if hash_flags.is_some() { FLAG_ENTRY } else { 5 }, "entries")?;
                self.pend(code::LARGE, 1);
                self.begin_hash(hash_flags, count, prefix)
            }
            _ => Err(Error::new(ErrorKind::Malformed)
                .at(at)
                .expecting("the tag of something that can be large")
                .finding(tag::name(tag))),
        }
    }
}
