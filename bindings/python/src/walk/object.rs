//! Records, and the classes of the package.

use super::Walker;
use super::source::{Source, Step};
use crate::python_classes::PythonClasses;
use crate::record::{Record, parse_form};
use icecore::Kind;
use icecore::raw::{Node, flag};
use icecore::value::Form;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

impl<'py> Walker<'_, 'py> {
    /// Writes a value of a class of this package. Returns false for other values.
    pub(super) fn push_package_object(&mut self, value: &Bound<'py, PyAny>, key: u16) -> PyResult<bool> {
        if let Ok(record) = value.cast::<Record>() {
            if !self.push_link_or_register(value, key)? {
                self.push_record(record, key)?;
            }
            return Ok(true);
        }
        let (py, names) = (self.py, PythonClasses::look_up(self.py)?);
        let class = value.get_type();
        let part = |name: &str| value.getattr(name);
        if class.is(names.symbol(py)) {
            let text = value.cast::<PyString>()?.to_str()?;
            self.push_string(Kind::Symbol, text.as_bytes(), key)?;
        } else if class.is(names.enum_case(py)) {
            let mut case = read_name_bytes(&part("cls")?)?;
            case.push(b':');
            case.extend(read_name_bytes(&part("name")?)?);
            self.push_string(Kind::EnumCase, &case, key)?;
        } else if class.is(names.module(py)) {
            let form = self.read_form(&part("form")?)?;
            self.push_string(Kind::Module, &read_name_bytes(&part("name")?)?, key)?;
            if let Some(node) = self.nodes.last_mut() {
                *node = node.in_form(form);
            }
        } else if class.is(names.reference(py)) {
            self.push_parts(value, Node::open(Kind::Ref, 0), key, vec![part("value")?])?;
        } else if class.is(names.regexp(py)) {
            self.push_parts(value, Node::open(Kind::Regexp, 0), key, vec![part("pattern")?, part("flags")?])?;
        } else if class.is(names.code(py)) {
            self.push_parts(value, Node::open(Kind::Code, 0), key, vec![part("source")?])?;
        } else if class.is(names.vstring(py)) {
            self.push_parts(value, Node::open(Kind::VString, 0), key, vec![part("source")?, part("value")?])?;
        } else if class.is(names.tied(py)) {
            let form = self.read_form(&part("form")?)?;
            self.push_parts(value, Node::open(Kind::Tied, 0).in_form(form), key, part("parts")?.extract()?)?;
        } else if class.is(names.opaque(py)) {
            let form = self.read_form(&part("form")?)?;
            let class = self.find_class_id(&part("cls")?)?;
            let mut parts = vec![part("data")?];
            parts.extend(part("others")?.extract::<Vec<_>>()?);
            self.push_parts(value, Node::open(Kind::Opaque, class).in_form(form), key, parts)?;
            self.has_foreign_names = true;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn push_parts(
        &mut self,
        value: &Bound<'py, PyAny>,
        node: Node,
        key: u16,
        parts: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        if self.push_link_or_register(value, key)? {
            return Ok(());
        }
        let steps: Vec<_> = parts.into_iter().map(Step::Item).collect();
        self.open_container(node, key, Source::Parts(steps.into_iter())).map(drop)
    }

    /// Writes an instance of a dict subclass. A `Hash` has a value for absent keys, as in Ruby.
    pub(super) fn push_dict_subclass(&mut self, dict: &Bound<'py, PyDict>, key: u16) -> PyResult<()> {
        let is_hash = dict.get_type().is(PythonClasses::look_up(self.py)?.hash(self.py));
        let default = if is_hash { Some(dict.getattr("default")?) } else { None };
        let node = match default {
            Some(_) => Node::open(Kind::Map, 0).with(flag::DEFAULT),
            None => Node::open(Kind::Map, 0),
        };
        self.open_container(node, key, Source::from_dict(dict, default)).map(drop)
    }

    /// Writes a record. The record is borrowed only while its fields are copied: the walk may run code that changes
    /// it.
    fn push_record(&mut self, record: &Bound<'py, Record>, key: u16) -> PyResult<()> {
        let (py, record) = (self.py, record.borrow());
        let format = self.codec.stage().format();
        self.has_foreign_names |= record.source_format.is_none_or(|source_format| !source_format.shares_names(format));
        let class = self.find_class_id(record.cls.bind(py))?;
        let fields = record.fields.bind(py).clone();
        let visibility = record.visibility.as_ref().map(|visibility| visibility.bind(py).clone());
        let is_ruby = record
            .source_format
            .is_some_and(|source_format| source_format.shares_names(&icecore::format::marshal::FORMAT));
        let naming = MemberNaming { class: read_name_bytes(record.cls.bind(py))?, visibility, is_ruby };
        if let Some(value) = &record.value {
            let mut steps = vec![Step::Item(value.bind(py).clone())];
            for (name, value) in fields.cast::<PyDict>().map(|dict| dict.iter()).into_iter().flatten() {
                steps.push(Step::Entry(naming.member_key(py, &name, Form::Usual)?, value));
            }
            let node = Node::open(Kind::Attrs, class).in_form(record.form);
            return self.open_container(node, key, Source::Parts(steps.into_iter())).map(drop);
        }
        let form = record.form;
        drop(record);
        let node = Node::open(Kind::Object, class).in_form(form);
        let body = match fields.cast_exact::<PyDict>() {
            Ok(fields) if naming.changes_names() => {
                let steps: Result<Vec<_>, _> = fields
                    .iter()
                    .map(|(name, value)| Ok::<_, PyErr>(Step::Entry(naming.member_key(py, &name, form)?, value)))
                    .collect();
                Some(steps?)
            }
            _ => None,
        };
        // If the names stay as they are, the fields are walked like any other value, and may be shared.
        let Some(body) = body else {
            let steps = vec![Step::Item(fields)];
            return self.open_container(node, key, Source::Parts(steps.into_iter())).map(drop);
        };
        // The object and its map are opened together. The map is the only child of the object, so the object has no
        // further parts, and its count is set here.
        self.open_container(node, key, Source::Parts(Vec::new().into_iter()))?;
        if let Some(level) = self.stack.last_mut() {
            level.count += 1;
        }
        self.open_container(Node::open(Kind::Map, 0), 0, Source::Parts(body.into_iter())).map(drop)
    }

    fn read_form(&self, name: &Bound<'py, PyAny>) -> PyResult<Form> {
        parse_form(self.py, name.extract::<&str>()?)
    }

    /// Returns the tape's id of a class name.
    fn find_class_id(&mut self, name: &Bound<'py, PyAny>) -> PyResult<u32> {
        let bytes = read_name_bytes(name)?;
        if bytes.is_empty() {
            return Ok(0);
        }
        // An ASCII name is the same as text and as bytes, so it gets one id.
        let is_text = !bytes.is_ascii() && name.is_instance_of::<PyString>();
        let kind = if is_text { Kind::Text } else { Kind::Bytes };
        self.tape.class_id(kind, &bytes).map_err(|error| crate::failure::to_py_error(self.py, &error))
    }
}

/// How names of members are written to the tape.
struct MemberNaming<'py> {
    class: Vec<u8>,
    visibility: Option<Bound<'py, PyDict>>,
    /// True if names are symbols, and names of an object's variables begin with @.
    is_ruby: bool,
}

impl<'py> MemberNaming<'py> {
    /// Returns true if names differ from those in the record.
    fn changes_names(&self) -> bool {
        self.is_ruby || self.visibility.is_some()
    }

    /// Returns the key for a member.
    fn member_key(&self, py: Python<'py>, name: &Bound<'py, PyAny>, form: Form) -> PyResult<Bound<'py, PyAny>> {
        let Ok(text) = name.cast::<PyString>() else { return Ok(name.clone()) };
        let declared = match &self.visibility {
            Some(visibility) => visibility.get_item(name)?,
            None => None,
        };
        let declared = declared.map(|value| value.extract::<String>()).transpose()?;
        let text = text.to_str()?;
        let symbol = |name: &str| PythonClasses::look_up(py)?.symbol(py).call1((name,));
        // PHP writes a protected member as NUL, `*`, NUL and the name. In a private one the class is in the place of
        // `*`.
        let mangled = |class: &[u8]| PyBytes::new(py, &[b"\0", class, b"\0", text.as_bytes()].concat()).into_any();
        Ok(match declared.as_deref() {
            Some("protected") => mangled(b"*"),
            Some("private") => mangled(&self.class),
            Some("internal") => symbol(text)?,
            _ if self.is_ruby && matches!(form, Form::Struct | Form::Data) => symbol(text)?,
            _ if self.is_ruby => symbol(&format!("@{text}"))?,
            _ => name.clone(),
        })
    }
}

/// Returns the bytes of a name. The name is text or bytes.
fn read_name_bytes(name: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match name.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.as_bytes().to_vec()),
        Err(_) => Ok(name.cast::<PyBytes>()?.as_bytes().to_vec()),
    }
}
