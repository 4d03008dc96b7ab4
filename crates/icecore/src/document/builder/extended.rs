//! The builder's less common kinds of values.

use super::Builder;
use crate::document::{Form, Kind, Node, flag};
use crate::num::bigint::Integer;

impl Builder {
    /// An integer of any size: its sign and its magnitude, least significant
    /// byte first.
    pub fn big_int(&mut self, negative: bool, magnitude: &[u8]) -> &mut Builder {
        match Integer::new(negative, magnitude) {
            Integer::Int(value) => self.int(value),
            Integer::Uint(value) => self.uint(value),
            Integer::Big { negative, magnitude } => {
                let node = self.tape.new_owned_string(Kind::BigInt, &magnitude);
                self.push_leaf(node.with(if negative { flag::NEGATIVE } else { 0 }))
            }
        }
    }

    /// A float that was read from 32 bits.
    pub fn float32(&mut self, value: f32) -> &mut Builder {
        self.push_leaf(Node::leaf(Kind::Float32, u64::from(value.to_bits())))
    }

    /// An IEEE 754 binary128, least significant byte first.
    pub fn float128(&mut self, value: &[u8; 16]) -> &mut Builder {
        self.push_string(Kind::Float128, value)
    }

    /// A string marked as UTF-8 that need not be valid, as Perl allows.
    pub fn loose_text(&mut self, value: impl AsRef<[u8]>) -> &mut Builder {
        self.push_string(Kind::Text, value.as_ref())
    }

    /// A string in a named encoding.
    pub fn encoded(&mut self, value: impl AsRef<[u8]>, encoding: &str) -> &mut Builder {
        let node = self.encoded_node(Kind::Encoded, value.as_ref(), encoding);
        self.push_leaf(node)
    }

    /// A symbol. An empty `encoding` means ASCII or UTF-8.
    pub fn symbol(&mut self, value: impl AsRef<[u8]>, encoding: &str) -> &mut Builder {
        let node = self.encoded_node(Kind::Symbol, value.as_ref(), encoding);
        self.push_leaf(node)
    }

    /// The key of the next value, as a symbol.
    pub fn symbol_key(&mut self, key: impl AsRef<[u8]>, encoding: &str) -> &mut Builder {
        let node = self.encoded_node(Kind::Symbol, &[], encoding);
        self.set_pending_key(node, key.as_ref())
    }

    fn encoded_node(&mut self, kind: Kind, value: &[u8], encoding: &str) -> Node {
        let mut node = self.tape.new_owned_string(kind, value);
        if !encoding.is_empty() {
            match self.tape.intern_encoding(encoding.as_bytes()) {
                Ok(id) => node.set_encoding(id),
                Err(_) => self.mistake = self.mistake.or(Some("too many encodings")),
            }
        }
        node
    }

    /// The name of a class or a module.
    pub fn module(&mut self, name: impl AsRef<[u8]>, form: Form) -> &mut Builder {
        let node = self.tape.new_owned_string(Kind::Module, name.as_ref());
        self.push_leaf(node.in_form(form))
    }

    /// A PHP enum case: `Class:Case`.
    pub fn enum_case(&mut self, name: impl AsRef<[u8]>) -> &mut Builder {
        self.push_string(Kind::EnumCase, name.as_ref())
    }

    /// Begins an object of this class in a special form; its body follows.
    pub fn begin_object_in(&mut self, class: impl AsRef<[u8]>, form: Form) -> &mut Builder {
        self.begin_named(Kind::Object, class.as_ref(), form)
    }

    /// A regular expression; pattern and flags follow.
    pub fn begin_regexp(&mut self) -> &mut Builder {
        self.begin_container(Node::open(Kind::Regexp, 0))
    }

    /// A regular expression that is not blessed; pattern and flags follow.
    pub fn begin_bare_regexp(&mut self) -> &mut Builder {
        self.begin_container(Node::open(Kind::Regexp, 0).with(flag::BARE))
    }

    /// Code; its source text follows.
    pub fn begin_code(&mut self) -> &mut Builder {
        self.begin_container(Node::open(Kind::Code, 0))
    }

    /// A v-string; its source text and its value follow.
    pub fn begin_vstring(&mut self) -> &mut Builder {
        self.begin_container(Node::open(Kind::VString, 0))
    }

    /// A tied variable; the object that it is tied to follows, and for an element its key.
    pub fn begin_tied(&mut self, form: Form) -> &mut Builder {
        self.begin_container(Node::open(Kind::Tied, 0).in_form(form))
    }

    /// Attributes: the value that has them follows, and then entries.
    pub fn begin_attributes(&mut self) -> &mut Builder {
        self.begin_container(Node::open(Kind::Attrs, 0))
    }

    /// A value with a module mixed in, or an instance of a user's subclass of a core class, depending on the form: the
    /// value follows, and then attributes.
    pub fn begin_extended(&mut self, class: impl AsRef<[u8]>, form: Form) -> &mut Builder {
        self.begin_named(Kind::Attrs, class.as_ref(), form)
    }

    /// Marks the reference that the next value represents as overloaded.
    pub fn overloaded(&mut self) -> &mut Builder {
        self.flags |= flag::OVERLOAD;
        self
    }

    /// The value of the next key is read-only.
    pub fn locked(&mut self) -> &mut Builder {
        self.key_flags |= flag::LOCKED;
        self
    }

    /// The next key is allowed but absent: its value must be a
    /// [hole](Builder::hole).
    pub fn placeholder(&mut self) -> &mut Builder {
        self.key_flags |= flag::PLACEHOLDER;
        self
    }

    /// The next value is the key of the value after it.
    pub fn key(&mut self) -> &mut Builder {
        if self.key.is_some() {
            self.mistake = self.mistake.or(Some("a key where no key belongs"));
        }
        self.is_key = true;
        self
    }

    /// The set of keys of the innermost map is locked.
    pub fn restrict(&mut self) -> &mut Builder {
        self.flag_open_map(flag::RESTRICTED)
    }

    /// The innermost map compares its keys by identity.
    pub fn by_identity(&mut self) -> &mut Builder {
        self.flag_open_map(flag::IDENTITY)
    }

    /// The next value, which is the last, is the default value of the innermost
    /// map.
    pub fn default_value(&mut self) -> &mut Builder {
        self.is_default = true;
        self.flag_open_map(flag::DEFAULT)
    }

    fn flag_open_map(&mut self, flags: u8) -> &mut Builder {
        match self.open.last().map(|frame| frame.index) {
            Some(index) if self.tape.nodes[index as usize].kind == Kind::Map => self.tape.set_flags(index, flags),
            _ => self.mistake = self.mistake.or(Some("no map is open")),
        }
        self
    }

    /// Marks what was built so far as the user header; the document itself follows.
    pub fn end_header(&mut self) -> &mut Builder {
        if self.tape.len() == 0 || !self.open.is_empty() || self.tape.header.is_some() {
            self.mistake = self.mistake.or(Some("a header where none belongs"));
        }
        self.tape.header = Some(0);
        self.tape.root = self.tape.len();
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::value::Form;
    use crate::{Builder, Cursor, Kind, Value};

    #[test]
    fn headers_marks_and_defaults_are_in_their_places() {
        let mut b = Builder::new();
        b.int(7).end_header();
        b.begin_map();
        b.restrict().locked().bytes_key("a").int(1);
        b.placeholder().bytes_key("b").hole();
        b.key().begin_array();
        b.end().symbol("s", "");
        b.default_value().float32(0.5);
        b.end();
        let document = b.finish().unwrap();
        assert_eq!(document.header().and_then(|header| header.as_i64()), Some(7));
        let map = document.root();
        assert_eq!((map.kind(), map.len(), map.entries().count()), (Kind::Map, 3, 3));
        assert!(matches!(map.default_value().map(|value| value.value()), Some(Value::Float(0.5))));
        assert_eq!(map.get("a").and_then(|a: Cursor<'_>| a.as_i64()), Some(1));
    }

    #[test]
    fn attributes_follow_their_value() {
        let mut b = Builder::new();
        b.begin_extended("List", Form::Subclass);
        b.begin_array();
        b.end();
        b.symbol_key("@a", "").int(1);
        b.end();
        let document = b.finish().unwrap();
        assert_eq!(document.root().entries().count(), 1);
        assert_eq!(document.root().class(), b"List");
    }

    #[test]
    fn misplaced_marks_are_refused() {
        let mut b = Builder::new();
        b.restrict().int(1);
        assert!(b.finish().is_err());
        let mut b = Builder::new();
        b.end_header().int(1);
        assert!(b.finish().is_err());
    }
}
