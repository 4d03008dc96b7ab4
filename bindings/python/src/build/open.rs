//! Containers that are open, and the values that they become.

use super::cache::kept;
use super::leaf::lenient;
use super::{Builder, Slot};
use crate::names::Names;
use crate::reading::Classes;
use crate::record::{Record, name_of};
use icecore::Kind;
use icecore::raw::{Node, flag};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A container that is open.
pub(super) struct Frame<'py> {
    pub(super) open: Open<'py>,
    /// Its slot in the outer container.
    pub(super) slot: Slot<'py>,
    pub(super) node: u32,
    pub(super) end: u32,
    /// The key that waits for its value.
    pub(super) key: Option<Bound<'py, PyAny>>,
}

impl<'py> Frame<'py> {
    pub(super) fn new(open: Open<'py>, slot: Slot<'py>, at: u32, node: &Node) -> Frame<'py> {
        Frame { open, slot, node: at, end: node.end(), key: None }
    }
}

/// The owner of the members that are the entries of a map.
pub(super) enum Members<'py> {
    /// None: it is a plain map.
    Nobodys,
    /// This object.
    Of { record: Bound<'py, Record>, class: u32 },
    /// An object that a factory makes.
    ForFactory { class: u32 },
}

/// The value that a container becomes.
pub(super) enum Open<'py> {
    List(Bound<'py, PyList>),
    Map(Bound<'py, PyDict>, Members<'py>),
    Record(Bound<'py, Record>, u32),
    /// The factory, the name of the class if the factory takes it too, its id, and the fields once
    /// they are known.
    Factory(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, u32, Option<Bound<'py, PyAny>>),
    /// A value with additional entries.
    Attributes(Bound<'py, Record>, Bound<'py, PyDict>),
    /// An object of a class of this package, and its parts.
    Parts(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>),
}

impl<'py> Open<'py> {
    /// Returns the target of links to it; a factory has made nothing yet.
    pub(super) fn value(&self) -> Option<Bound<'py, PyAny>> {
        Some(match self {
            Open::List(list) => list.clone().into_any(),
            Open::Map(dict, _) => dict.clone().into_any(),
            Open::Record(record, _) | Open::Attributes(record, _) => record.clone().into_any(),
            Open::Parts(value, _) => value.clone(),
            Open::Factory(..) => return None,
        })
    }

    /// Whether the keys of its entries are names of members.
    #[inline]
    pub(super) fn is_members(&self) -> bool {
        matches!(self, Open::Map(_, Members::Of { .. } | Members::ForFactory { .. }) | Open::Attributes(..))
    }

    /// Adds a value without a key.
    #[inline]
    pub(super) fn item(&mut self, value: Bound<'py, PyAny>) -> PyResult<()> {
        match self {
            Open::List(list) => list.append(value),
            // Only the default value has no key.
            Open::Map(dict, _) => dict.setattr("default", value),
            Open::Record(record, _) => {
                record.borrow_mut().fields = value.unbind();
                Ok(())
            }
            Open::Factory(.., fields) => {
                *fields = Some(value);
                Ok(())
            }
            Open::Attributes(record, _) => {
                record.borrow_mut().value = Some(value.unbind());
                Ok(())
            }
            Open::Parts(_, parts) => {
                parts.push(value);
                Ok(())
            }
        }
    }

    /// Adds a value with a key.
    #[inline]
    pub(super) fn entry(&mut self, key: Bound<'py, PyAny>, value: Bound<'py, PyAny>) -> PyResult<()> {
        match self {
            Open::Map(dict, _) | Open::Attributes(_, dict) => dict.set_item(key, value),
            _ => self.item(value),
        }
    }
}

impl<'py> Builder<'_, 'py> {
    /// Begins a container.
    pub(super) fn open(&mut self, node: &Node) -> PyResult<Open<'py>> {
        let py = self.py;
        Ok(match node.kind {
            Kind::Array => Open::List(PyList::empty(py)),
            Kind::Map => self.map(node)?,
            Kind::Object => self.object(node)?,
            Kind::Attrs => {
                let fields = PyDict::new(py);
                let record = self.record(node)?;
                record.borrow_mut().fields = fields.clone().into_any().unbind();
                Open::Attributes(record, fields)
            }
            kind => {
                let names = Names::of(py)?;
                let object = match kind {
                    Kind::Ref => names.reference(py).call0()?,
                    Kind::Regexp => names.regexp(py).call0()?,
                    Kind::Code => names.code(py).call0()?,
                    Kind::VString => names.vstring(py).call0()?,
                    Kind::Tied => names.tied(py).call1((name_of(node.form()),))?,
                    _ => {
                        let class = self.class(node)?;
                        names.opaque(py).call1((class, py.None(), name_of(node.form())))?
                    }
                };
                Open::Parts(object, Vec::new())
            }
        })
    }

    fn map(&mut self, node: &Node) -> PyResult<Open<'py>> {
        let py = self.py;
        let members = match self.stack.last().map(|frame| &frame.open) {
            Some(Open::Record(record, class)) => Members::Of { record: record.clone(), class: *class },
            Some(Open::Factory(_, _, class, _)) => Members::ForFactory { class: *class },
            _ => Members::Nobodys,
        };
        let dict = match node.has(flag::DEFAULT) {
            true => Names::of(py)?.hash(py).call0()?.cast_into::<PyDict>()?,
            false => PyDict::new(py),
        };
        Ok(Open::Map(dict, members))
    }

    fn object(&mut self, node: &Node) -> PyResult<Open<'py>> {
        let class = node.class();
        if matches!(self.reading.classes, Classes::None) {
            return Ok(Open::Record(self.record(node)?, class));
        }
        if let Classes::Any(function) = &self.reading.classes {
            let function = function.clone();
            return Ok(Open::Factory(function, Some(self.class(node)?), class, None));
        }
        let factory = match self.factories.get(&class) {
            Some(known) => known.clone(),
            None => {
                let name = self.class(node)?;
                let found = self.factory(&name)?;
                self.factories.insert(class, found.clone());
                found
            }
        };
        match factory {
            Some(factory) => Ok(Open::Factory(factory, None, class, None)),
            None => Ok(Open::Record(self.record(node)?, class)),
        }
    }

    /// Returns the caller's factory for a class.
    fn factory(&self, name: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Classes::Named(mapping) = &self.reading.classes else { return Ok(None) };
        match mapping.get_item(name) {
            Ok(factory) => Ok(Some(factory)),
            Err(error) if error.is_instance_of::<PyKeyError>(self.py) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn record(&mut self, node: &Node) -> PyResult<Bound<'py, Record>> {
        let class = self.class(node)?.unbind();
        Bound::new(self.py, Record::empty(self.py, class, node.form(), Some(self.codec.stage().format())))
    }

    /// Returns the name of the class of a node.
    fn class(&mut self, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let (py, tape) = (self.py, self.document.tape());
        let name = || tape.classes().get(node.class()).map_or(&[][..], |name| name.bytes);
        kept(py, &mut self.cache.classes, node.class(), || Ok(lenient(py, name())))
    }

    /// Returns the value of a container whose contents are complete.
    pub(super) fn close(&mut self, open: Open<'py>, at: u32) -> PyResult<Bound<'py, PyAny>> {
        match open {
            Open::List(list) => Ok(list.into_any()),
            Open::Map(dict, _) => {
                if dict.len() < self.nodes.get(at as usize).map_or(0, |node| node.aux as usize) {
                    self.check_keys(at, &dict)?;
                }
                Ok(dict.into_any())
            }
            Open::Record(record, _) | Open::Attributes(record, _) => Ok(record.into_any()),
            Open::Parts(object, parts) => {
                object.call_method1("_fill", pyo3::types::PyTuple::new(self.py, parts)?)?;
                Ok(object)
            }
            Open::Factory(factory, class, _, fields) => {
                let fields = fields.unwrap_or_else(|| self.py.None().into_bound(self.py));
                let value = match class {
                    Some(class) => factory.call1((class, fields))?,
                    None => factory.call1((fields,))?,
                };
                if self.nodes.get(at as usize).is_some_and(|node| node.has(flag::TARGET)) {
                    self.made.insert(at, value.clone());
                }
                Ok(value)
            }
        }
    }
}
