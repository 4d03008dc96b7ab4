//! Infers types from the values of documents.

use super::inferred_type::{InferredStruct, InferredType, Range};
use crate::blobs::Blobs;
use crate::column::{MAX_DEPTH, time};
use crate::error::Error;
use crate::member::{qualify_name, strip_php_marks};
use crate::source::{Codecs, Source};
use crate::view::MAX_LINKS;
use arrow_array::Array;
use arrow_schema::Field;
use icecore::raw::Tape;
use icecore::{Cursor, Document, Kind, Known, Limits, Value};
use std::collections::HashMap;

/// Infers a type from blobs.
///
/// ```
/// use arrow_array::BinaryArray;
/// use icecore::{Limits, Stage};
/// use icecore_columns::{Inference, schema};
/// let blobs = BinaryArray::from_vec(vec![
///     br#"a:2:{s:2:"id";i:7;s:4:"tags";a:1:{i:0;s:1:"x";}}"#,
///     br#"a:2:{s:2:"id";d:7.5;s:5:"price";N;}"#,
/// ]);
/// let mut inference = Inference::new(Stage::parse("php")?, &Limits::default());
/// inference.examine_column(&blobs)?;
/// assert_eq!(schema::print(&inference.field()), "id float64, tags list<utf8>, price utf8");
/// assert_eq!((inference.rows(), inference.bad()), (2, 0));
/// # Ok::<(), icecore_columns::Error>(())
/// ```
#[derive(Debug)]
pub struct Inference {
    codecs: Codecs,
    tape: Tape,
    inferred_type: InferredType,
    rows: u64,
    bad: u64,
    bytes_as_text: bool,
}

impl Inference {
    /// Creates an inference for blobs of this source. The limits apply to each blob.
    pub fn new(source: impl Into<Source>, limits: &Limits) -> Inference {
        let codecs = Codecs::new(source.into(), limits);
        let (inferred_type, bytes_as_text) = (InferredType::Nothing, false);
        Inference { codecs, tape: Tape::new(), inferred_type, rows: 0, bad: 0, bytes_as_text }
    }

    /// Sets whether strings that are not UTF-8 are text, unless they have control characters that no text has. Decode
    /// with [`Options::bytes_as_text`](crate::Options::bytes_as_text) then.
    #[must_use]
    pub fn with_bytes_as_text(mut self, bytes_as_text: bool) -> Inference {
        self.bytes_as_text = bytes_as_text;
        self
    }

    /// Examines all blobs of a column.
    ///
    /// # Errors
    /// If it does not contain blobs.
    pub fn examine_column(&mut self, column: &dyn Array) -> Result<(), Error> {
        let blobs = Blobs::from_array(column)?;
        for blob in (0..column.len()).filter_map(|row| blobs.get(row)) {
            self.examine_blob(blob);
        }
        Ok(())
    }

    /// Examines one blob. A blob that can't be read is counted, and is otherwise ignored.
    pub fn examine_blob(&mut self, blob: &[u8]) {
        self.rows += 1;
        match self.infer_blob_type(blob) {
            Ok(inferred_type) => self.inferred_type.merge(inferred_type),
            Err(_) => self.bad += 1,
        }
    }

    fn infer_blob_type(&mut self, blob: &[u8]) -> Result<InferredType, icecore::Error> {
        self.codecs.guess_stage(blob)?;
        let body = self.codecs.read_blob(blob, &mut self.tape)?;
        let input = body.as_deref().unwrap_or(blob);
        let document = Document::from_tape(input, std::mem::take(&mut self.tape));
        let remaining_values = EXAMINED_PER_VALUE * document.nodes().len() as u64 + EXTRA_VALUES;
        let inferred_type =
            TypeInference { remaining_values, open_containers: Vec::new(), bytes_as_text: self.bytes_as_text }
                .infer_value(document.root());
        self.tape = document.into_tape();
        Ok(inferred_type)
    }

    /// Returns the number of blobs.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of blobs that could not be read.
    pub fn bad(&self) -> u64 {
        self.bad
    }

    /// Returns a field with the name `value` for blobs like these.
    pub fn field(&self) -> Field {
        self.inferred_type.to_field("value")
    }
}

/// Returns whether bytes have control characters that text does not have.
pub fn has_binary_controls(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1f | 0x7f))
}

/// Links may lead to the same values again and again, so the number of values that are examined is limited. The limit
/// is this number for each value of a document, and `EXTRA_VALUES` in addition.
const EXAMINED_PER_VALUE: u64 = 4;
const EXTRA_VALUES: u64 = 1024;

/// Infers the inferred_type of one document.
struct TypeInference {
    /// Number of values that may still be examined. After that, values count as mixed.
    remaining_values: u64,
    /// The lists and maps that are being examined.
    open_containers: Vec<u32>,
    /// See [`Inference::with_bytes_as_text`].
    bytes_as_text: bool,
}

impl TypeInference {
    /// Counts a value that is examined. Returns false if no more values may be examined.
    fn spend_budget(&mut self) -> bool {
        let has_budget = self.remaining_values > 0;
        self.remaining_values = self.remaining_values.saturating_sub(1);
        has_budget
    }

    fn infer_value(&mut self, value: Cursor<'_>) -> InferredType {
        if self.open_containers.len() >= MAX_DEPTH || !self.spend_budget() {
            return InferredType::Mixed;
        }
        let mut value = value;
        let mut class = None;
        for _ in 0..MAX_LINKS {
            if let Some(inferred_type) = infer_special(value) {
                return inferred_type;
            }
            value = match value.value() {
                Value::Link(target) | Value::Alias(target) | Value::Copy(target) | Value::Ref(target) => target,
                Value::Object(name, body) => {
                    class = Some(name);
                    body
                }
                Value::Attrs(body) => body,
                _ => return self.infer_resolved(value, class),
            };
        }
        InferredType::Mixed
    }

    /// Infers the type of a value that is not a link. `class` is the class of the object around it.
    fn infer_resolved(&mut self, value: Cursor<'_>, class: Option<&[u8]>) -> InferredType {
        match value.value() {
            Value::Null | Value::Hole => InferredType::Nothing,
            Value::Bool(_) => InferredType::Bool,
            Value::Int(value) => InferredType::Int(Range::from_value(value.into())),
            Value::Uint(value) => InferredType::Int(Range::from_value(value.into())),
            Value::BigInt(value) => {
                integer_range(value.negative, value.magnitude).map_or(InferredType::Mixed, InferredType::Int)
            }
            Value::Float(_) => InferredType::Float,
            Value::Bytes(bytes) | Value::Text(bytes) | Value::Symbol(bytes, _) | Value::EnumCase(bytes) => {
                if std::str::from_utf8(bytes).is_ok() || self.bytes_as_text && !has_binary_controls(bytes) {
                    InferredType::Text
                } else {
                    InferredType::Bytes
                }
            }
            Value::Array | Value::Map if value.is_empty() && class.is_none() => InferredType::Empty,
            // A value that contains itself has no type.
            Value::Array | Value::Map if self.open_containers.contains(&value.index()) => InferredType::Mixed,
            Value::Array | Value::Map => {
                self.open_containers.push(value.index());
                let inferred_type =
                    if value.kind() == Kind::Array { self.infer_list(value) } else { self.infer_map(value, class) };
                self.open_containers.pop();
                inferred_type
            }
            _ => InferredType::Mixed,
        }
    }

    fn infer_list(&mut self, list: Cursor<'_>) -> InferredType {
        let mut items = InferredType::Nothing;
        for item in list.items() {
            items.merge(self.infer_value(item));
        }
        InferredType::List(Box::new(items))
    }

    /// Infers a struct from the entries of a map, or from the members of an object.
    fn infer_map(&mut self, map: Cursor<'_>, class: Option<&[u8]>) -> InferredType {
        let mut members = InferredStruct::from_class(class);
        // Only keys with marks can share a name. The first key with a name owns it, and others are qualified.
        let is_marked = |key: &[u8]| key.starts_with(b"\0") || class.is_some() && key.starts_with(b"@");
        let has_marked = map.entries().any(|(key, _)| key.node().kind.is_string() && is_marked(key.bytes()));
        let mut key_by_name: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        for (key, value) in map.entries() {
            let number;
            let name = match key.node().kind {
                Kind::Int => {
                    number = (key.node().payload as i64).to_string();
                    number.as_bytes()
                }
                kind if kind.is_string() => strip_php_marks(key.bytes()),
                _ => return InferredType::Mixed,
            };
            // Ruby's mark of a member is not part of the name of a column.
            let name = if class.is_some() { name.strip_prefix(b"@").unwrap_or(name) } else { name };
            let qualified_name;
            let name = match has_marked && key.node().kind.is_string() {
                true if key_by_name.entry(name.to_vec()).or_insert_with(|| key.bytes().to_vec()) != key.bytes() => {
                    qualified_name = qualify_name(key.bytes()).unwrap_or_else(|| key.bytes().to_vec());
                    &qualified_name[..]
                }
                _ => name,
            };
            let Ok(name) = std::str::from_utf8(name) else { return InferredType::Mixed };
            members.add_entry(name, self.infer_value(value));
        }
        InferredType::Struct(members)
    }
}

/// Returns the inferred_type of a time, a day or a decimal that is an object of a special class.
fn infer_special(value: Cursor<'_>) -> Option<InferredType> {
    if !value.kind().has_class() {
        return None;
    }
    if let Some((unit, has_known_offset)) = time::detect_precision(value) {
        return Some(InferredType::Time(unit, has_known_offset));
    }
    if time::is_day(value) {
        return Some(InferredType::Day);
    }
    let known = Known::of(value).filter(|known| matches!(known, Known::Decimal(_)))?;
    let text = known.text(&Limits::default())?;
    let (integer_part, places) = text.trim_start_matches('-').split_once('.').unwrap_or((&text, ""));
    let count_digits =
        |text: &str| u8::try_from(text.len()).ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    match (count_digits(integer_part), count_digits(places)) {
        (Some(integer_digits), Some(places)) => Some(InferredType::Decimal(integer_digits, places)),
        _ => Some(InferredType::Mixed),
    }
}

fn integer_range(is_negative: bool, magnitude: &[u8]) -> Option<Range> {
    const MAX_MAGNITUDE: i128 = 10i128.pow(38);
    let mut bytes = [0; 16];
    bytes.get_mut(..magnitude.len())?.copy_from_slice(magnitude);
    let magnitude = i128::try_from(u128::from_le_bytes(bytes)).ok().filter(|magnitude| *magnitude < MAX_MAGNITUDE)?;
    Some(Range::from_value(if is_negative { -magnitude } else { magnitude }))
}
