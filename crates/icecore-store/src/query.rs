//! Rows of any query, for callers that keep their blobs in their own tables.

use crate::backend::Flow;
use crate::error::Result;
use std::borrow::Cow;

/// One line of the answer to a query.
#[derive(Debug)]
pub enum Line<'l> {
    /// Names of the columns. This is the first line.
    Names(&'l [String]),
    /// Values of a row.
    Values(&'l [ColumnValue<'l>]),
}

/// A value of a row, with the type that the database gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValue<'v> {
    /// NULL.
    Null,
    /// A boolean. In SQLite, only a column that is declared BOOLEAN has some.
    Boolean(bool),
    /// A number as the database writes it, with all its digits. It may be `NaN` or `Infinity`.
    Number(Cow<'v, str>),
    /// The unchanged bytes of a text or of binary data, or the text of a value of any other type.
    Bytes(Cow<'v, [u8]>),
}

impl<'v> ColumnValue<'v> {
    /// Returns the value as text; `None` is NULL.
    ///
    /// # Example
    /// ```
    /// use icecore_store::ColumnValue;
    /// assert_eq!(ColumnValue::Boolean(true).as_bytes(), Some(&b"true"[..]));
    /// assert_eq!(ColumnValue::Null.as_bytes(), None);
    /// ```
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            ColumnValue::Null => None,
            ColumnValue::Boolean(true) => Some(b"true"),
            ColumnValue::Boolean(false) => Some(b"false"),
            ColumnValue::Number(text) => Some(text.as_bytes()),
            ColumnValue::Bytes(bytes) => Some(bytes),
        }
    }

    pub(crate) fn from_integer(number: i64) -> ColumnValue<'v> {
        ColumnValue::Number(number.to_string().into())
    }

    /// Writes a float so that it can be distinguished from an integer: `3.0`.
    pub(crate) fn from_float(number: f64) -> ColumnValue<'v> {
        ColumnValue::Number(match number {
            f64::INFINITY => "Infinity".into(),
            f64::NEG_INFINITY => "-Infinity".into(),
            number => format!("{number:?}").into(),
        })
    }

    #[cfg(any(feature = "mysql", feature = "mongodb", feature = "redis", feature = "memcached"))]
    pub(crate) fn from_text(text: impl Into<Cow<'v, str>>) -> ColumnValue<'v> {
        match text.into() {
            Cow::Borrowed(text) => ColumnValue::Bytes(Cow::Borrowed(text.as_bytes())),
            Cow::Owned(text) => ColumnValue::Bytes(Cow::Owned(text.into_bytes())),
        }
    }
}

/// Returns the text of a float with a fraction, so that it can be distinguished from an integer.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(crate) fn with_fraction(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_integer { Cow::Owned(format!("{text}.0")) } else { text }
}

/// Callback that receives lines one by one.
pub type EachLine<'f> = &'f mut dyn FnMut(Line<'_>) -> Result<Flow>;
