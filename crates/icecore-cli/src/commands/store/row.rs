//! An object as one line: JSON, or of a table.

use crate::paint::{Ink, Paint};
use icecore_store::describe::Decoder;
use icecore_store::{Object, time};
use serde::Serialize;
use serde_json::value::RawValue;

/// What is said of an object as JSON.
#[derive(Serialize)]
pub struct Row<'o> {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<&'o str>,
    pub stored_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    pub format: Option<&'o str>,
    pub class: Option<&'o str>,
    pub size: usize,
    pub checksum: &'o str,
    pub value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Row<'_> {
    /// Decodes an object. With it: what is wrong, if that was not known.
    pub fn of<'o>(object: &'o Object, decoder: &mut Decoder) -> (Row<'o>, Option<String>) {
        let (value, found) = match decoded(object, decoder) {
            Ok(value) => (value, None),
            Err(problem) => (None, Some(problem)),
        };
        let row = Row {
            id: object.id.to_string(),
            key: object.key.as_deref(),
            stored_at: time::shown(object.stored_at),
            expires_at: object.expires_at.map(time::shown),
            format: object.format.as_deref(),
            class: object.class.as_deref(),
            size: object.bytes.len(),
            checksum: &object.checksum,
            value,
            problem: found.clone().or_else(|| object.problem.clone()),
        };
        (row, found.filter(|_| object.problem.is_none()))
    }

    /// As a line of a table.
    pub fn line(&self, paint: Paint) -> String {
        let value = match (&self.value, &self.problem) {
            (Some(value), _) => icecore::text::shortened(value.get(), SHOWN).into_owned(),
            (None, Some(problem)) => paint.ink(Ink::Bad, icecore::text::shortened(problem, SHOWN)),
            (None, None) => String::new(),
        };
        format!(
            "{}  {}  {:12}  {:>9}  {:20}  {}\n",
            self.id,
            paint.ink(Ink::Faint, &self.stored_at),
            icecore::text::printable(self.format.unwrap_or("-")),
            self.size,
            paint.ink(Ink::Class, icecore::text::shortened(self.class.unwrap_or("-"), 60)),
            icecore::text::printable(&value),
        )
    }
}

/// How much of a value a table shows.
const SHOWN: usize = 80;

/// Above all lines of a table.
pub fn head(paint: Paint) -> String {
    let head = format!("{:36}  {:24}  {:12}  {:>9}  {:20}  VALUE", "ID", "STORED AT", "FORMAT", "BYTES", "CLASS");
    format!("{}\n", paint.ink(Ink::Faint, head))
}

fn decoded(object: &Object, decoder: &mut Decoder) -> Result<Option<Box<RawValue>>, String> {
    let value = decoder.value(&object.bytes, object.format.as_deref())?;
    value.map(RawValue::from_string).transpose().map_err(|error| error.to_string())
}
