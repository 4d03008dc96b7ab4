//! Building a document by calls.

mod copied;
mod extended;

pub(crate) use copied::Changes;
pub use copied::CopiedValues;

use super::Document;
use super::node::{Form, IS_KEY, KEY_NODE, Kind, Node, flag};
use super::tape::Tape;
use crate::error::{Error, ErrorKind};

/// Makes a document, value by value in pre-order.
///
/// Containers are begun and ended; each value of a map comes after its key.
/// The first error (a key outside of a map, an end without a begin) is kept, and
/// [`Builder::finish`] reports it.
///
/// ```
/// let mut b = icecore::Builder::new();
/// b.begin_map().text_key("name").text("Alice");
/// b.text_key("tags").begin_array().text("a").text("b").end();
/// b.end();
/// let document = b.finish()?;
/// assert_eq!(icecore::write(&document, "json")?, br#"{"name":"Alice","tags":["a","b"]}"#);
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// Values that only some languages have:
///
/// ```
/// use icecore::{Builder, value::Form};
/// // Returns the only value of a document in `json:typed`.
/// fn typed(build: impl Fn(&mut Builder)) -> Result<String, icecore::Error> {
///     let mut b = Builder::new();
///     b.begin_array();
///     build(&mut b);
///     b.end();
///     let text = icecore::write(&b.finish()?, "json:typed")?;
///     let text = String::from_utf8_lossy(&text).into_owned();
///     let value = text.split_once(r#","$value":"#).map(|(_, value)| value);
///     Ok(value.and_then(|value| value.strip_suffix("}")).unwrap_or(&text).to_owned())
/// }
/// // Numbers and strings.
/// assert_eq!(typed(|b| drop(b.bool(true).uint(9).float(0.5).float32(0.25)))?, "[true,9,0.5,0.25]");
/// assert_eq!(typed(|b| drop(b.big_int(true, &[0, 0, 0, 0, 0, 0, 0, 0, 1])))?, "[-18446744073709551616]");
/// assert_eq!(typed(|b| drop(b.encoded(b"\xe9", "KOI8-R")))?, r#"[{"$string":{"$latin1":"é"},"$encoding":"KOI8-R"}]"#);
/// assert_eq!(typed(|b| drop(b.loose_text(b"\xff")))?, r#"[{"$text":{"$latin1":"ÿ"}}]"#);
/// assert_eq!(typed(|b| drop(b.symbol("a", "").hole()))?, r#"[{"$symbol":"a"},{"$hole":1}]"#);
/// assert_eq!(typed(|b| drop(b.enum_case("Suit:Hearts")))?, r#"[{"$enum":"Suit:Hearts"}]"#);
/// assert_eq!(typed(|b| drop(b.module("Set", Form::Usual)))?, r#"[{"$module":"Set","$form":"class"}]"#);
/// // Perl: references, regular expressions, code, tied variables, restricted hashes.
/// assert_eq!(typed(|b| drop(b.begin_ref().int(1).end()))?, r#"[{"$ref":1}]"#);
/// assert_eq!(typed(|b| drop(b.regexp("a.b", "i")))?, r#"[{"$regexp":"a.b","$flags":"i"}]"#);
/// assert!(typed(|b| drop(b.begin_bare_regexp().bytes("x").bytes("").end()))?.contains("$bare"));
/// assert_eq!(typed(|b| drop(b.begin_regexp().bytes("x").bytes("").end()))?, r#"[{"$regexp":"x","$flags":""}]"#);
/// assert_eq!(typed(|b| drop(b.begin_code().bytes("sub { 1 }").end()))?, r#"[{"$code":"sub { 1 }"}]"#);
/// assert!(typed(|b| drop(b.begin_vstring().bytes("v1").bytes("\u{1}").end()))?.contains("$vstring"));
/// assert!(typed(|b| drop(b.begin_tied(Form::TiedScalar).begin_object("T").begin_map().end().end().end()))?.contains("$tied"));
/// assert!(typed(|b| drop(b.overloaded().begin_object("C").begin_map().end().end()))?.contains("$overload"));
/// assert!(typed(|b| drop(b.weak().begin_array().end()))?.contains("$weak"));
/// let locked = |b: &mut Builder| {
///     b.begin_map().restrict();
///     b.locked().bytes_key("a").int(1).placeholder().bytes_key("b").null().end();
/// };
/// assert_eq!(typed(locked)?, r#"[{"$map":[["a",1]],"$restricted":true,"$locked":[0],"$placeholders":["b"]}]"#);
/// // PHP and Ruby: keys of other kinds, objects in special forms, attributes, defaults.
/// assert_eq!(typed(|b| drop(b.begin_map().int_key(7).null().end()))?, r#"[{"$map":[[7,null]]}]"#);
/// assert_eq!(typed(|b| drop(b.begin_map().symbol_key("a", "").int(1).end()))?, r#"[{"$map":[[{"$symbol":"a"},1]]}]"#);
/// assert_eq!(typed(|b| drop(b.begin_map().key().begin_array().end().int(1).end()))?, r#"[{"$map":[[[],1]]}]"#);
/// assert!(typed(|b| drop(b.begin_opaque("C", Form::Serializable).bytes("x").end()))?.contains("$opaque"));
/// assert!(typed(|b| drop(b.begin_object_in("S", Form::Struct).begin_map().end().end()))?.contains("struct"));
/// assert!(typed(|b| drop(b.begin_extended("Text", Form::Subclass).bytes("x").end()))?.contains("$subclass"));
/// assert!(typed(|b| drop(b.begin_attributes().bytes("x").symbol_key("@a", "").int(1).end()))?.contains("$attributes"));
/// let counted = |b: &mut Builder| drop(b.begin_map().by_identity().default_value().int(0).end());
/// assert_eq!(typed(counted)?, r#"[{"$map":[],"$identity":true,"$default":0}]"#);
/// // References to earlier values: the same object, the same variable, an equal value.
/// let again = |b: &mut Builder| {
///     let list = b.begin_array().at();
///     b.end().link(list).alias(list).copy(list);
/// };
/// assert_eq!(typed(again)?, r#"[{"$id":1,"$value":[]},{"$link":1},{"$alias":1},[]]"#);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Builder {
    tape: Tape,
    open: Vec<BuilderFrame>,
    key: Option<PendingKey>,
    flags: u8,
    /// Flags of the next key.
    key_flags: u8,
    /// The next value is itself a key.
    is_key: bool,
    /// The next value is the default value of the map.
    is_default: bool,
    mistake: Option<&'static str>,
}

#[derive(Debug)]
struct BuilderFrame {
    index: u32,
    count: u32,
    /// The key that waits for its value, if this container is that key.
    key: Option<PendingKey>,
}

#[derive(Debug)]
enum PendingKey {
    Id(u16),
    Node,
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Appends a node as the next value, and returns its index.
    fn push_value(&mut self, mut node: Node) -> u32 {
        node.flags |= std::mem::take(&mut self.flags);
        if std::mem::take(&mut self.is_key) {
            node.key = IS_KEY;
            node.flags |= std::mem::take(&mut self.key_flags);
            self.key = Some(PendingKey::Node);
            return self.tape.push(node);
        }
        let is_default = std::mem::take(&mut self.is_default);
        let in_map = self.open.last().is_some_and(|frame| self.tape.nodes[frame.index as usize].kind == Kind::Map);
        match self.key.take() {
            Some(PendingKey::Id(id)) => node.key = id,
            Some(PendingKey::Node) => node.key = KEY_NODE,
            None if in_map && !is_default => self.mistake = self.mistake.or(Some("a value of a map without a key")),
            None => {}
        }
        match self.open.last_mut() {
            Some(frame) => frame.count += u32::from(!is_default),
            None if self.tape.len() > self.tape.root => self.mistake = self.mistake.or(Some("a second root")),
            None => {}
        }
        self.tape.push(node)
    }

    fn push_leaf(&mut self, node: Node) -> &mut Builder {
        self.push_value(node);
        self
    }

    fn begin_container(&mut self, node: Node) -> &mut Builder {
        let index = self.push_value(node);
        let key = self.key.take();
        self.open.push(BuilderFrame { index, count: 0, key });
        self
    }

    fn push_string(&mut self, kind: Kind, bytes: &[u8]) -> &mut Builder {
        let node = self.tape.new_owned_string(kind, bytes);
        self.push_leaf(node)
    }

    fn begin_named(&mut self, kind: Kind, class: &[u8], form: Form) -> &mut Builder {
        let name = if std::str::from_utf8(class).is_ok() && !class.is_ascii() { Kind::Text } else { Kind::Bytes };
        let class = match self.tape.intern_class(name, class) {
            Ok(class) => class,
            Err(_) => {
                self.mistake = self.mistake.or(Some("too many classes"));
                0
            }
        };
        self.begin_container(Node::open(kind, class).in_form(form))
    }

    fn set_pending_key(&mut self, node: Node, bytes: &[u8]) -> &mut Builder {
        let node = node.with(std::mem::take(&mut self.key_flags));
        let in_map = self
            .open
            .last()
            .is_some_and(|frame| matches!(self.tape.nodes[frame.index as usize].kind, Kind::Map | Kind::Attrs));
        if !in_map || self.key.is_some() {
            self.mistake = self.mistake.or(Some("a key where no key belongs"));
        }
        self.key = Some(match self.tape.intern_key(node, bytes) {
            Some(id) => PendingKey::Id(id),
            None => {
                let mut key = if node.kind.has_bytes() { self.tape.new_owned_string(node.kind, bytes) } else { node };
                key.key = IS_KEY;
                key.flags |= node.flags;
                key.set_encoding(node.encoding());
                self.tape.push(key);
                PendingKey::Node
            }
        });
        self
    }

    /// Undef, NULL, nil.
    pub fn null(&mut self) -> &mut Builder {
        self.push_leaf(Node::leaf(Kind::Null, 0))
    }

    /// A boolean.
    pub fn bool(&mut self, value: bool) -> &mut Builder {
        self.push_leaf(Node::leaf(Kind::Bool, u64::from(value)))
    }

    /// An integer.
    pub fn int(&mut self, value: i64) -> &mut Builder {
        self.push_leaf(Node::int(value))
    }

    /// An unsigned integer.
    pub fn uint(&mut self, value: u64) -> &mut Builder {
        self.push_leaf(Node::uint(value))
    }

    /// A float.
    pub fn float(&mut self, value: f64) -> &mut Builder {
        self.push_leaf(Node::float(value))
    }

    /// A byte string.
    pub fn bytes(&mut self, value: impl AsRef<[u8]>) -> &mut Builder {
        self.push_string(Kind::Bytes, value.as_ref())
    }

    /// A Unicode string.
    pub fn text(&mut self, value: &str) -> &mut Builder {
        self.push_string(Kind::Text, value.as_bytes())
    }

    /// An array element that does not exist.
    pub fn hole(&mut self) -> &mut Builder {
        self.push_leaf(Node::leaf(Kind::Hole, 0))
    }

    /// The key of the next value, as bytes.
    pub fn bytes_key(&mut self, key: impl AsRef<[u8]>) -> &mut Builder {
        self.set_pending_key(Node::leaf(Kind::Bytes, 0), key.as_ref())
    }

    /// The key of the next value, as Unicode text.
    pub fn text_key(&mut self, key: &str) -> &mut Builder {
        self.set_pending_key(Node::leaf(Kind::Text, 0), key.as_bytes())
    }

    /// The key of the next value, as an integer.
    pub fn int_key(&mut self, key: i64) -> &mut Builder {
        self.set_pending_key(Node::int(key), &[])
    }

    /// An array.
    pub fn begin_array(&mut self) -> &mut Builder {
        self.begin_container(Node::open(Kind::Array, 0))
    }

    /// A map.
    pub fn begin_map(&mut self) -> &mut Builder {
        self.begin_container(Node::open(Kind::Map, 0))
    }

    /// A reference to the scalar that follows.
    pub fn begin_ref(&mut self) -> &mut Builder {
        self.begin_container(Node::open(Kind::Ref, 0))
    }

    /// An object of this class; its body follows.
    pub fn begin_object(&mut self, class: impl AsRef<[u8]>) -> &mut Builder {
        self.begin_named(Kind::Object, class.as_ref(), Form::Usual)
    }

    /// An object of this class that was frozen by a hook; its payload follows,
    /// and then the objects that the payload refers to.
    pub fn begin_opaque(&mut self, class: impl AsRef<[u8]>, form: Form) -> &mut Builder {
        self.begin_named(Kind::Opaque, class.as_ref(), form)
    }

    /// A regular expression.
    pub fn regexp(&mut self, pattern: impl AsRef<[u8]>, flags: impl AsRef<[u8]>) -> &mut Builder {
        self.begin_container(Node::open(Kind::Regexp, 0));
        self.bytes(pattern).bytes(flags).end()
    }

    /// Returns the index of the value or container that was begun or appended last, as [`Builder::link`] and others
    /// take it.
    ///
    /// ```
    /// let mut b = icecore::Builder::new();
    /// let list = b.begin_array().at();
    /// b.int(1).link(list).end();
    /// assert_eq!(icecore::write(&b.finish()?, "php")?, b"a:2:{i:0;i:1;i:1;R:1;}");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn at(&self) -> u32 {
        self.tape.len().saturating_sub(1)
    }

    /// Returns the size of all values so far in bytes: 16 for each, and their strings.
    ///
    /// ```
    /// let mut b = icecore::Builder::new();
    /// b.begin_array().bytes("a string that has more than a few bytes").end();
    /// assert!(b.size() >= 2 * 16 + 39);
    /// ```
    pub fn size(&self) -> usize {
        size_of_val(self.tape.nodes()) + self.tape.arena().len()
    }

    /// Ends the innermost container.
    pub fn end(&mut self) -> &mut Builder {
        if self.key.is_some() {
            self.mistake = self.mistake.or(Some("a key without a value"));
        }
        match self.open.pop() {
            Some(BuilderFrame { index, count, key }) => {
                self.key = key;
                let expected = match self.tape.nodes[index as usize].kind {
                    Kind::Ref | Kind::Object => Some(1),
                    Kind::Regexp => Some(2),
                    _ => None,
                };
                if expected.is_some_and(|expected| expected != count) {
                    self.mistake = self.mistake.or(Some("a wrong number of parts"));
                }
                self.tape.close_container(index, count);
            }
            None => self.mistake = self.mistake.or(Some("an end without a beginning")),
        }
        self
    }

    /// Adds a reference to the array, map or object at `target`.
    pub fn link(&mut self, target: u32) -> &mut Builder {
        self.push_reference(Kind::Link, target)
    }

    /// Adds another name of the variable at `target`.
    pub fn alias(&mut self, target: u32) -> &mut Builder {
        self.push_reference(Kind::Alias, target)
    }

    /// Adds an independent value equal to the one at `target`: [`Kind::Copy`].
    pub fn copy(&mut self, target: u32) -> &mut Builder {
        if self.tape.index_after(target) > self.tape.len() || self.open.iter().any(|frame| frame.index == target) {
            self.mistake = self.mistake.or(Some("a copy of an incomplete value"));
        }
        self.push_reference(Kind::Copy, target)
    }

    fn push_reference(&mut self, kind: Kind, target: u32) -> &mut Builder {
        match self.tape.nodes.get(target as usize) {
            Some(node) if !node.kind.is_again() => match kind {
                Kind::Copy => self.tape.mark_copied(target),
                _ => self.tape.mark_target(target),
            },
            _ => self.mistake = self.mistake.or(Some("a link to nothing")),
        }
        self.push_leaf(Node::leaf(kind, u64::from(target)))
    }

    /// Marks the reference that the next value represents as weak.
    pub fn weak(&mut self) -> &mut Builder {
        self.flags |= flag::WEAK;
        self
    }

    /// Returns the finished document.
    ///
    /// # Errors
    /// Of kind `Usage`, for the first mistake.
    pub fn finish(self) -> Result<Document<'static>, Error> {
        let mistake = self.mistake.or(match (self.tape.len(), self.open.is_empty()) {
            (len, _) if len <= self.tape.root => Some("no value at all"),
            (_, false) => Some("a beginning without an end"),
            _ => None,
        });
        match mistake {
            Some(mistake) => Err(Error::new(ErrorKind::Usage).expecting("a well-formed document").finding(mistake)),
            None => Ok(Document::new(&[][..], self.tape)),
        }
    }
}
