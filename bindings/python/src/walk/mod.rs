//! Fills a tape from Python values.
//!
//! The walker is one loop with an explicit stack. Values that may be shared are registered when
//! they are first met, and become links when they are met again.

mod leaf;
mod object;
mod source;

use crate::failure::to_py_error;
use crate::python_classes::PythonClasses;
use crate::refcount;
use icecore::raw::{IS_KEY, KEY_NODE, NO_KEY, Node, Tape, flag};
use icecore::{Codec, Document, Error, ErrorKind, Kind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use source::{Source, Step};
use std::collections::HashMap;

/// Fills a tape with a value.
pub(crate) struct Walker<'w, 'py> {
    py: Python<'py>,
    tape: &'w mut Tape,
    nodes: Vec<Node>,
    arena: Vec<u8>,
    codec: &'w Codec,
    /// The caller's function for values of other types.
    default: Option<Bound<'py, PyAny>>,
    /// Nodes of containers that may be met again, by the address of the container. The containers
    /// are kept alive, so that no other value gets the address.
    nodes_by_address: HashMap<usize, (u32, Bound<'py, PyAny>)>,
    stack: Vec<Level<'py>>,
    /// The format is one of Perl: text that is ASCII is written as bytes.
    is_perl: bool,
    /// The format is one of PHP: all text is written as bytes.
    is_php: bool,
    /// There is an object with names of another language.
    has_foreign_names: bool,
}

/// A container that is open.
struct Level<'py> {
    node: u32,
    count: u32,
    source: Source<'py>,
    /// The value of the entry whose key is being written. It is the next value after the key's node.
    pending_value: Option<Bound<'py, PyAny>>,
}

/// The result of a walk.
pub(crate) struct FilledTape {
    pub(crate) nodes: Vec<Node>,
    pub(crate) arena: Vec<u8>,
    /// True if all classes and members have names of the format's language.
    pub(crate) has_own_names: bool,
}

/// Maximum number of calls of `default` for one value. The result of a call may need another call, and without a
/// limit a function that returns its argument would never end.
const MAX_DEFAULT_CALLS: u32 = 64;

impl<'w, 'py> Walker<'w, 'py> {
    pub(crate) fn new(
        py: Python<'py>,
        tape: &'w mut Tape,
        codec: &'w Codec,
        default: Option<Bound<'py, PyAny>>,
    ) -> Walker<'w, 'py> {
        let (nodes, arena) = tape.take_memory();
        let format = codec.stage().format();
        let is_perl = format.shares_names(&icecore::format::storable::FORMAT);
        let is_php = format.shares_names(&icecore::format::php::FORMAT);
        Walker {
            py,
            tape,
            nodes,
            arena,
            codec,
            default,
            nodes_by_address: HashMap::new(),
            stack: Vec::new(),
            is_perl,
            is_php,
            has_foreign_names: false,
        }
    }

    /// Walks a value and its contents.
    pub(crate) fn walk(mut self, value: &Bound<'py, PyAny>) -> PyResult<FilledTape> {
        self.push_value(value, NO_KEY)?;
        while let Some(level) = self.stack.last_mut() {
            if let Some(value) = level.pending_value.take() {
                level.count += 1;
                self.push_value(&value, KEY_NODE)?;
                continue;
            }
            match level.source.next_step()? {
                None => {
                    let Some(level) = self.stack.pop() else { break };
                    self.close_container(&level);
                }
                Some(Step::Item(value)) => {
                    level.count += 1;
                    self.push_value(&value, NO_KEY)?;
                }
                Some(Step::Entry(key, value)) => self.push_entry(&key, value)?,
                // A default value has no key, and is not counted.
                Some(Step::Default(value)) => self.push_value(&value, NO_KEY)?,
            }
        }
        Ok(FilledTape { nodes: self.nodes, arena: self.arena, has_own_names: !self.has_foreign_names })
    }

    fn close_container(&mut self, level: &Level<'py>) {
        let end = self.nodes.len() as u64;
        if let Some(node) = self.nodes.get_mut(level.node as usize) {
            node.aux = level.count;
            // The lower half of the payload is the end; the upper half has the class and the form.
            node.payload = node.payload & !0xFFFF_FFFF | end;
        }
    }

    /// Appends a node under this key.
    #[inline]
    fn push_node(&mut self, mut node: Node, key: u16) -> PyResult<u32> {
        let index = self.nodes.len();
        if index >= self.codec.limits.nodes as usize {
            return Err(self.walk_error(ErrorKind::Limit, "fewer values", "more than the limit `nodes`"));
        }
        node.key = key;
        self.nodes.push(node);
        Ok(index as u32)
    }

    /// Begins a container.
    fn open_container(&mut self, node: Node, key: u16, source: Source<'py>) -> PyResult<u32> {
        if self.stack.len() >= self.codec.limits.depth as usize {
            return Err(self.walk_error(
                ErrorKind::Limit,
                "values that are nested less deeply",
                "more levels than the limit `depth`",
            ));
        }
        let index = self.push_node(node, key)?;
        self.stack.push(Level { node: index, count: 0, source, pending_value: None });
        Ok(index)
    }

    /// Appends a value, or begins it.
    fn push_value(&mut self, value: &Bound<'py, PyAny>, key: u16) -> PyResult<()> {
        if let Ok(text) = value.cast_exact::<PyString>() {
            return self.push_text(text, key);
        }
        if value.is_exact_instance_of::<PyInt>() {
            return self.push_int(value, key);
        }
        if value.is_none() {
            return self.push_node(Node::leaf(Kind::Null, 0), key).map(drop);
        }
        if let Ok(list) = value.cast_exact::<PyList>() {
            return match self.push_link_or_register(value, key)? {
                true => Ok(()),
                false => self.open_container(Node::open(Kind::Array, 0), key, Source::List(list.clone(), 0)).map(drop),
            };
        }
        if let Ok(dict) = value.cast_exact::<PyDict>() {
            return match self.push_link_or_register(value, key)? {
                true => Ok(()),
                false => self.open_container(Node::open(Kind::Map, 0), key, Source::from_dict(dict, None)).map(drop),
            };
        }
        if let Ok(value) = value.cast_exact::<PyBool>() {
            return self.push_node(Node::leaf(Kind::Bool, u64::from(value.is_true())), key).map(drop);
        }
        if let Ok(value) = value.cast_exact::<PyFloat>() {
            return self.push_node(Node::float(value.value()), key).map(drop);
        }
        if let Ok(bytes) = value.cast_exact::<PyBytes>() {
            return self.push_string(Kind::Bytes, bytes.as_bytes(), key);
        }
        self.push_rare_value(value, key)
    }

    /// If the value is on the tape already, appends a link and returns true. Otherwise registers
    /// the value.
    fn push_link_or_register(&mut self, value: &Bound<'py, PyAny>, key: u16) -> PyResult<bool> {
        // With at most two references, one is `value` itself, and the other belongs to the container. So the value
        // is not shared, and can't be met again. The root has no container, so it is always registered.
        if refcount::reference_count(value) <= 2 && !self.stack.is_empty() {
            return Ok(false);
        }
        let index = self.nodes.len() as u32;
        let address = value.as_ptr() as usize;
        let Some((first, _)) = self.nodes_by_address.get(&address) else {
            self.nodes_by_address.insert(address, (index, value.clone()));
            return Ok(false);
        };
        let first = *first;
        let mut kind = Kind::Link;
        if let Some(node) = self.nodes.get_mut(first as usize) {
            node.flags |= flag::TARGET;
            // In PHP, two arrays are shared only if they are the same variable.
            if self.is_php && matches!(node.kind, Kind::Array | Kind::Map) {
                kind = Kind::Alias;
            }
        }
        self.push_node(Node::leaf(kind, u64::from(first)), key)?;
        Ok(true)
    }

    /// Writes the key of an entry, and also the value if it can follow at once.
    fn push_entry(&mut self, key: &Bound<'py, PyAny>, value: Bound<'py, PyAny>) -> PyResult<()> {
        match self.find_key_id(key)? {
            Some(id) => {
                if let Some(level) = self.stack.last_mut() {
                    level.count += 1;
                }
                self.push_value(&value, id)
            }
            None => {
                if let Some(level) = self.stack.last_mut() {
                    level.pending_value = Some(value);
                }
                self.push_value(key, IS_KEY)
            }
        }
    }

    /// Returns an error at the current position of the walk.
    #[cold]
    fn walk_error(&mut self, kind: ErrorKind, expected: &'static str, found: &'static str) -> PyErr {
        let path = self.current_path();
        to_py_error(self.py, &Error::new(kind).expecting(expected).finding(found).on_path(path))
    }

    /// Returns the path of the open container, where the next value belongs.
    #[cold]
    fn current_path(&mut self) -> String {
        let Some(node) = self.stack.last().map(|level| level.node) else { return "$".to_owned() };
        let mut tape = std::mem::take(self.tape);
        tape.fill(std::mem::take(&mut self.nodes), std::mem::take(&mut self.arena), 0, None);
        let document = Document::from_tape(Vec::new(), tape);
        let path = document.path(node);
        // The tape goes back to its owner, because the caches of the context use its ids.
        *self.tape = document.into_tape();
        path
    }

    /// Writes any other value: an object of this package, an instance of a subclass, a value of
    /// Python's library by its description, or the result of the caller's `default`.
    fn push_rare_value(&mut self, value: &Bound<'py, PyAny>, key: u16) -> PyResult<()> {
        let mut value = value.clone();
        for _ in 0..MAX_DEFAULT_CALLS {
            if self.push_package_object(&value, key)? || self.push_subclass(&value, key)? {
                return Ok(());
            }
            let description = PythonClasses::look_up(self.py)?.describe(self.py).call1((&value, self.is_php))?;
            value = match (description.is(self.py.NotImplemented()), &self.default) {
                (false, _) => description,
                (true, Some(default)) => default.call1((&value,))?,
                (true, None) => return Err(self.unsupported_type_error(&value)),
            };
            if self.is_exact_type(&value) {
                return self.push_value(&value, key);
            }
        }
        Err(self.unsupported_type_error(&value))
    }

    /// Returns true if `push_value` handles the type of a value directly.
    fn is_exact_type(&self, value: &Bound<'py, PyAny>) -> bool {
        value.is_none()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyList>()
            || value.is_exact_instance_of::<PyDict>()
            || value.is_exact_instance_of::<PyBool>()
            || value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyBytes>()
    }

    /// Writes subclasses of the plain types, and similar types.
    fn push_subclass(&mut self, value: &Bound<'py, PyAny>, key: u16) -> PyResult<bool> {
        if let Ok(text) = value.cast::<PyString>() {
            self.push_text(text, key)?;
        } else if value.is_instance_of::<PyInt>() {
            self.push_int(value, key)?;
        } else if let Ok(float) = value.cast::<PyFloat>() {
            self.push_node(Node::float(float.value()), key)?;
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            if !self.push_link_or_register(value, key)? {
                self.open_container(Node::open(Kind::Array, 0), key, Source::Tuple(tuple.clone(), 0))?;
            }
        } else if let Ok(list) = value.cast::<PyList>() {
            if !self.push_link_or_register(value, key)? {
                self.open_container(Node::open(Kind::Array, 0), key, Source::List(list.clone(), 0))?;
            }
        } else if let Ok(dict) = value.cast::<PyDict>() {
            if !self.push_link_or_register(value, key)? {
                self.push_dict_subclass(dict, key)?;
            }
        } else {
            return self.push_buffer(value, key);
        }
        Ok(true)
    }

    #[cold]
    fn unsupported_type_error(&mut self, value: &Bound<'py, PyAny>) -> PyErr {
        let name = value.get_type().fully_qualified_name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        let name = icecore::text::printable(&name).into_owned();
        let path = self.current_path();
        PyTypeError::new_err(format!(
            "no format has a value of type {name}, in {path}: give `default=`, a function that returns a value of another type for it"
        ))
    }
}
