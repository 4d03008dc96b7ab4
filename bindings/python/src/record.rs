//! The class `Record`: an object of a document, with the name of its class.

use crate::refcount;
use icecore::Format;
use icecore::value::Form;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

/// An object of the data: the name of its class, and its fields.
///
/// `fields` is the contents of the object: mostly a dict; a list for a blessed array of Perl.
/// `value` is present only if the object is itself a value, such as a string of Ruby with instance
/// variables. `record["name"]` is `record.fields["name"]`.
#[pyclass(module = "icecore", weakref)]
pub(crate) struct Record {
    /// The name of the class; bytes if it is not UTF-8.
    #[pyo3(get, set)]
    pub(crate) cls: Py<PyAny>,
    #[pyo3(get, set)]
    pub(crate) fields: Py<PyAny>,
    #[pyo3(get, set)]
    pub(crate) value: Option<Py<PyAny>>,
    /// The fields that are not public, if there are any.
    #[pyo3(get, set)]
    pub(crate) visibility: Option<Py<PyDict>>,
    pub(crate) form: Form,
    /// The format of the document from which the record was read; `None` if a program created the record.
    pub(crate) source_format: Option<&'static Format>,
}

/// Names of forms. `form_name` and `parse_form` also know the forms of tied values and of old modules.
const FORMS: [(&str, Form); 11] = [
    ("object", Form::Usual),
    ("struct", Form::Struct),
    ("data", Form::Data),
    ("variable", Form::Variable),
    ("module", Form::Module),
    ("subclass", Form::Subclass),
    ("hook", Form::Hook),
    ("freeze", Form::Freeze),
    ("serializable", Form::Serializable),
    ("user_dump", Form::UserDump),
    ("user_marshal", Form::UserMarshal),
];

/// Returns the name of a form.
pub(crate) fn form_name(form: Form) -> &'static str {
    match form {
        Form::TiedScalar => "tied_scalar",
        Form::TiedArray => "tied_array",
        Form::TiedHash => "tied_hash",
        Form::TiedElement => "tied_element",
        Form::OldModule => "old_module",
        other => FORMS.iter().find(|(_, form)| *form == other).map_or("object", |(name, _)| name),
    }
}

/// Returns the form with this name.
pub(crate) fn parse_form(py: Python<'_>, name: &str) -> PyResult<Form> {
    let other_form = match name {
        "tied_scalar" => Some(Form::TiedScalar),
        "tied_array" => Some(Form::TiedArray),
        "tied_hash" => Some(Form::TiedHash),
        "tied_element" => Some(Form::TiedElement),
        "old_module" => Some(Form::OldModule),
        _ => None,
    };
    let found = other_form.or_else(|| FORMS.iter().find(|(form_name, _)| *form_name == name).map(|(_, form)| *form));
    found.ok_or_else(|| crate::failure::usage_error(py, "the name of a form, as object or struct", name))
}

/// Fields, form, value, visibility and the name of the source format.
type State = (Py<PyAny>, String, Option<Py<PyAny>>, Option<Py<PyDict>>, Option<String>);

impl Record {
    /// Returns a record without fields.
    pub(crate) fn without_fields(
        py: Python<'_>,
        cls: Py<PyAny>,
        form: Form,
        source_format: Option<&'static Format>,
    ) -> Record {
        Record { cls, fields: py.None(), value: None, visibility: None, form, source_format }
    }
}

#[pymethods]
impl Record {
    #[new]
    #[pyo3(signature = (cls, fields=None, *, form="object", value=None, visibility=None))]
    fn new(
        cls: Bound<'_, PyAny>,
        fields: Option<Py<PyAny>>,
        form: &str,
        value: Option<Py<PyAny>>,
        visibility: Option<Py<PyDict>>,
    ) -> PyResult<Record> {
        let py = cls.py();
        let form = parse_form(py, form)?;
        let fields = fields.unwrap_or_else(|| PyDict::new(py).into_any().unbind());
        Ok(Record { cls: cls.unbind(), fields, value, visibility, form, source_format: None })
    }

    /// The form in the data: `object`, `struct`, …
    #[getter]
    fn form(&self) -> &'static str {
        form_name(self.form)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.fields.bind(py).get_item(key)
    }

    fn __setitem__(&self, py: Python<'_>, key: Bound<'_, PyAny>, value: Bound<'_, PyAny>) -> PyResult<()> {
        self.fields.bind(py).set_item(key, value)
    }

    fn __delitem__(&self, py: Python<'_>, key: Bound<'_, PyAny>) -> PyResult<()> {
        self.fields.bind(py).del_item(key)
    }

    fn __contains__(&self, py: Python<'_>, key: Bound<'_, PyAny>) -> PyResult<bool> {
        self.fields.bind(py).contains(key)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.fields.bind(py).try_iter()?.into_any())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.fields.bind(py).len()
    }

    /// A record is true, even without fields.
    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = format!("Record({}, {}", self.cls.bind(py).repr()?, self.fields.bind(py).repr()?);
        if self.form != Form::Usual {
            text.push_str(&format!(", form={:?}", form_name(self.form)));
        }
        if let Some(value) = &self.value {
            text.push_str(&format!(", value={}", value.bind(py).repr()?));
        }
        text.push(')');
        Ok(text)
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = slf.py();
        let Ok(other) = other.cast::<Record>() else { return Ok(false) };
        if slf.is(other) {
            return Ok(true);
        }
        // A comparison may run Python code that changes the records. PyO3 would refuse the change while a record is
        // borrowed, so the parts are cloned first.
        let parts = |record: &Bound<'_, Record>| {
            let record = record.borrow();
            let value = record.value.as_ref().map(|value| value.clone_ref(py));
            (record.cls.clone_ref(py), record.fields.clone_ref(py), value, record.form)
        };
        let (cls, fields, value, form) = parts(slf);
        let (other_cls, other_fields, other_value, other_form) = parts(other);
        let is_same_value = match (value, other_value) {
            (None, None) => true,
            (Some(one), Some(other)) => one.bind(py).eq(other)?,
            _ => false,
        };
        Ok(form == other_form && is_same_value && cls.bind(py).eq(other_cls)? && fields.bind(py).eq(other_fields)?)
    }

    /// Hashes by identity, because fields may change.
    fn __hash__(slf: &Bound<'_, Self>) -> isize {
        (slf.as_ptr() as isize) >> 4
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let record = slf.borrow();
        let state = (
            record.fields.clone_ref(py),
            record.form(),
            record.value.as_ref().map(|value| value.clone_ref(py)),
            record.visibility.as_ref().map(|visibility| visibility.clone_ref(py)),
            record.source_format.map(|format| format.name),
        );
        (slf.get_type(), (record.cls.clone_ref(py),), state).into_pyobject(py)
    }

    fn __setstate__(&mut self, py: Python<'_>, state: State) -> PyResult<()> {
        let (fields, form, value, visibility, source_format) = state;
        self.form = parse_form(py, &form)?;
        self.source_format = source_format.as_deref().and_then(icecore::format::by_name);
        (self.fields, self.value, self.visibility) = (fields, value, visibility);
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.cls)?;
        visit.call(&self.fields)?;
        visit.call(&self.value)?;
        visit.call(&self.visibility)
    }

    fn __clear__(&mut self, py: Python<'_>) {
        self.fields = py.None();
        self.value = None;
        self.visibility = None;
    }
}

/// Nested records are dropped by a loop, because the data determines their depth, and recursion would use the stack
/// for each level. Python does the same for dicts and lists. A record with another reference is left alone.
impl Drop for Record {
    fn drop(&mut self) {
        Python::attach(|py| {
            let mut records: Vec<Py<PyAny>> = Vec::new();
            self.take_records(py, &mut records);
            while let Some(record) = records.pop() {
                if let Ok(record) = record.bind(py).cast_exact::<Record>()
                    && refcount::reference_count(record.as_any()) == 1
                    && let Ok(mut record) = record.try_borrow_mut()
                {
                    record.take_records(py, &mut records);
                }
            }
        });
    }
}

impl Record {
    /// Moves fields and value to `records` if they are records themselves.
    fn take_records(&mut self, py: Python<'_>, records: &mut Vec<Py<PyAny>>) {
        if self.fields.bind(py).is_exact_instance_of::<Record>() {
            records.push(std::mem::replace(&mut self.fields, py.None()));
        }
        if self.value.as_ref().is_some_and(|value| value.bind(py).is_exact_instance_of::<Record>()) {
            records.extend(self.value.take());
        }
    }
}
