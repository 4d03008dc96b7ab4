//! Containers that are open, and the values that they become.

use super::cache::get_or_create_string;
use super::leaf::to_text_or_bytes;
use super::{Builder, Slot};
use crate::python_classes::PythonClasses;
use crate::reading::Classes;
use crate::record::{Record, form_name};
use icecore::Kind;
use icecore::raw::{Node, flag};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A container that is open.
pub(super) struct Frame<'py> {
    pub(super) open: OpenContainer<'py>,
    /// The slot of this container in the outer container.
    pub(super) slot: Slot<'py>,
    pub(super) node: u32,
    pub(super) end: u32,
    /// The key of the next value, if the key has a node of its own.
    pub(super) key: Option<Bound<'py, PyAny>>,
}

impl<'py> Frame<'py> {
    pub(super) fn new(open: OpenContainer<'py>, slot: Slot<'py>, index: u32, node: &Node) -> Frame<'py> {
        Frame { open, slot, node: index, end: node.end(), key: None }
    }
}

/// The object whose members are the entries of a map.
pub(super) enum MemberOwner<'py> {
    /// The map does not belong to an object.
    Nobody,
    /// This object.
    Object { record: Bound<'py, Record>, class: u32 },
    /// An object that a factory will create.
    ForFactory { class: u32 },
}

/// The value that a container becomes.
pub(super) enum OpenContainer<'py> {
    List(Bound<'py, PyList>),
    Map(Bound<'py, PyDict>, MemberOwner<'py>),
    Record(Bound<'py, Record>, u32),
    /// The factory, the name of the class if it is an argument of the factory, the id of the class,
    /// and the fields once they are built.
    Factory(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, u32, Option<Bound<'py, PyAny>>),
    /// A value with additional entries.
    Attributes(Bound<'py, Record>, Bound<'py, PyDict>),
    /// An object of a class of this package, and its parts.
    Parts(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>),
}

impl<'py> OpenContainer<'py> {
    /// Returns the target of links to the container; `None` for a factory, which has not run yet.
    pub(super) fn link_target(&self) -> Option<Bound<'py, PyAny>> {
        Some(match self {
            OpenContainer::List(list) => list.clone().into_any(),
            OpenContainer::Map(dict, _) => dict.clone().into_any(),
            OpenContainer::Record(record, _) | OpenContainer::Attributes(record, _) => record.clone().into_any(),
            OpenContainer::Parts(value, _) => value.clone(),
            OpenContainer::Factory(..) => return None,
        })
    }

    /// Returns true if the keys of the entries are names of members.
    #[inline]
    pub(super) fn holds_members(&self) -> bool {
        matches!(
            self,
            OpenContainer::Map(_, MemberOwner::Object { .. } | MemberOwner::ForFactory { .. })
                | OpenContainer::Attributes(..)
        )
    }

    /// Adds a value without a key.
    #[inline]
    pub(super) fn add_item(&mut self, value: Bound<'py, PyAny>) -> PyResult<()> {
        match self {
            OpenContainer::List(list) => list.append(value),
            // Each entry of a map has a key; only the default value of a Ruby hash does not.
            OpenContainer::Map(dict, _) => dict.setattr("default", value),
            OpenContainer::Record(record, _) => {
                record.borrow_mut().fields = value.unbind();
                Ok(())
            }
            OpenContainer::Factory(.., fields) => {
                *fields = Some(value);
                Ok(())
            }
            OpenContainer::Attributes(record, _) => {
                record.borrow_mut().value = Some(value.unbind());
                Ok(())
            }
            OpenContainer::Parts(_, parts) => {
                parts.push(value);
                Ok(())
            }
        }
    }

    /// Adds a value with a key.
    #[inline]
    pub(super) fn add_entry(&mut self, key: Bound<'py, PyAny>, value: Bound<'py, PyAny>) -> PyResult<()> {
        match self {
            OpenContainer::Map(dict, _) | OpenContainer::Attributes(_, dict) => dict.set_item(key, value),
            _ => self.add_item(value),
        }
    }
}

impl<'py> Builder<'_, 'py> {
    /// Begins a container.
    pub(super) fn open_container(&mut self, node: &Node) -> PyResult<OpenContainer<'py>> {
        let py = self.py;
        Ok(match node.kind {
            Kind::Array => OpenContainer::List(PyList::empty(py)),
            Kind::Map => self.open_map(node)?,
            Kind::Object => self.open_object(node)?,
            Kind::Attrs => {
                let fields = PyDict::new(py);
                let record = self.make_record(node)?;
                record.borrow_mut().fields = fields.clone().into_any().unbind();
                OpenContainer::Attributes(record, fields)
            }
            kind => {
                let names = PythonClasses::look_up(py)?;
                let object = match kind {
                    Kind::Ref => names.reference(py).call0()?,
                    Kind::Regexp => names.regexp(py).call0()?,
                    Kind::Code => names.code(py).call0()?,
                    Kind::VString => names.vstring(py).call0()?,
                    Kind::Tied => names.tied(py).call1((form_name(node.form()),))?,
                    _ => {
                        let class = self.cached_class_name(node)?;
                        names.opaque(py).call1((class, py.None(), form_name(node.form())))?
                    }
                };
                OpenContainer::Parts(object, Vec::new())
            }
        })
    }

    fn open_map(&mut self, node: &Node) -> PyResult<OpenContainer<'py>> {
        let py = self.py;
        let members = match self.stack.last().map(|frame| &frame.open) {
            Some(OpenContainer::Record(record, class)) => MemberOwner::Object { record: record.clone(), class: *class },
            Some(OpenContainer::Factory(_, _, class, _)) => MemberOwner::ForFactory { class: *class },
            _ => MemberOwner::Nobody,
        };
        let dict = match node.has(flag::DEFAULT) {
            true => PythonClasses::look_up(py)?.hash(py).call0()?.cast_into::<PyDict>()?,
            false => PyDict::new(py),
        };
        Ok(OpenContainer::Map(dict, members))
    }

    /// Opens an object: as a record, or as an object of the class that the caller allows.
    fn open_object(&mut self, node: &Node) -> PyResult<OpenContainer<'py>> {
        let class = node.class();
        if matches!(self.reading.classes, Classes::None) {
            return Ok(OpenContainer::Record(self.make_record(node)?, class));
        }
        if let Classes::Any(function) = &self.reading.classes {
            let function = function.clone();
            return Ok(OpenContainer::Factory(function, Some(self.cached_class_name(node)?), class, None));
        }
        let factory = match self.factories.get(&class) {
            Some(factory) => factory.clone(),
            None => {
                let name = self.cached_class_name(node)?;
                let factory = self.find_factory(&name)?;
                self.factories.insert(class, factory.clone());
                factory
            }
        };
        match factory {
            Some(factory) => Ok(OpenContainer::Factory(factory, None, class, None)),
            None => Ok(OpenContainer::Record(self.make_record(node)?, class)),
        }
    }

    /// Returns the caller's factory for a class.
    fn find_factory(&self, name: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Classes::Named(mapping) = &self.reading.classes else { return Ok(None) };
        match mapping.get_item(name) {
            Ok(factory) => Ok(Some(factory)),
            Err(error) if error.is_instance_of::<PyKeyError>(self.py) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn make_record(&mut self, node: &Node) -> PyResult<Bound<'py, Record>> {
        let class = self.cached_class_name(node)?.unbind();
        Bound::new(self.py, Record::without_fields(self.py, class, node.form(), Some(self.codec.stage().format())))
    }

    /// Returns the name of the class of a node.
    fn cached_class_name(&mut self, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let (py, tape) = (self.py, self.document.tape());
        let name = || tape.classes().get(node.class()).map_or(&[][..], |name| name.bytes);
        get_or_create_string(py, &mut self.cache.classes, node.class(), || Ok(to_text_or_bytes(py, name())))
    }

    /// Returns the value of a container whose contents are complete.
    pub(super) fn close_container(&mut self, open: OpenContainer<'py>, index: u32) -> PyResult<Bound<'py, PyAny>> {
        match open {
            OpenContainer::List(list) => Ok(list.into_any()),
            OpenContainer::Map(dict, _) => {
                if dict.len() < self.nodes.get(index as usize).map_or(0, |node| node.aux as usize) {
                    self.check_keys(index, &dict)?;
                }
                Ok(dict.into_any())
            }
            OpenContainer::Record(record, _) | OpenContainer::Attributes(record, _) => Ok(record.into_any()),
            OpenContainer::Parts(object, parts) => {
                object.call_method1("_fill", pyo3::types::PyTuple::new(self.py, parts)?)?;
                Ok(object)
            }
            OpenContainer::Factory(factory, class, _, fields) => {
                let fields = fields.unwrap_or_else(|| self.py.None().into_bound(self.py));
                let value = match class {
                    Some(class) => factory.call1((class, fields))?,
                    None => factory.call1((fields,))?,
                };
                if self.nodes.get(index as usize).is_some_and(|node| node.has(flag::TARGET)) {
                    self.link_targets.insert(index, value.clone());
                }
                Ok(value)
            }
        }
    }
}
