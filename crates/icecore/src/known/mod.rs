//! The meaning of values of Ruby's own classes.
//!
//! Ruby dumps a `Time`, a `Set` or an exception in special layouts: packed words, arrays of numbers, instance
//! variables. This module decodes such layouts. It is used by writers of formats without these classes, and by code
//! that shows documents to people.
//!
//! The document is not changed. A layout must match completely: class, form and members. A user's class with the name
//! `Set` stays an object.

mod number;
mod php_time;
mod plain;
mod ruby;
mod time;

pub(crate) use php_time::is_time_class as is_php_time;
pub(crate) use plain::replace_known_values;
pub use time::{Day, Moment};

use crate::document::{Cursor, Key, Kind};
use crate::limits::Limits;

/// A value in a known layout.
///
/// ```
/// use icecore::{Known, Limits};
/// // Marshal.dump({ "a" => 1..5, "b" => Rational(1, 3) })
/// let dump = b"\x04\x08{\x07I\"\x06a\x06:\x06ETo:\x0aRange\x08:\x09exclF:\x0abegini\x06:\x08endi\x0a\
///              I\"\x06b\x06;\0TU:\x0dRational[\x07i\x06i\x08";
/// let document = icecore::read(dump)?;
/// let range = document.root().get("a").and_then(Known::of).expect("a range");
/// assert_eq!(range.text(&Limits::default()).as_deref(), Some("1..5"));
/// let Some(Known::Rational { numerator, .. }) = document.root().get("b").and_then(Known::of) else { panic!() };
/// assert_eq!(numerator.as_i64(), Some(1));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Known<'d> {
    /// Ruby's `Time`, and the `ActiveSupport::TimeWithZone` of Rails.
    Time(Moment<'d>),
    /// Ruby's `DateTime`.
    DateTime(Moment<'d>),
    /// Ruby's `Date`.
    Date(Day),
    /// Ruby's `Range`; an end that is nil means unbounded.
    Range {
        /// First value.
        begin: Cursor<'d>,
        /// Last value.
        end: Cursor<'d>,
        /// Whether the last value is excluded.
        excludes_end: bool,
    },
    /// Ruby's `Complex`: two numbers.
    Complex {
        /// The real part.
        real: Cursor<'d>,
        /// The imaginary part.
        imaginary: Cursor<'d>,
    },
    /// Ruby's `Rational`: two integers.
    Rational {
        /// Numerator.
        numerator: Cursor<'d>,
        /// Denominator; always positive.
        denominator: Cursor<'d>,
    },
    /// Ruby's `BigDecimal`, in Ruby's text form: `0.125e1`, `NaN`.
    Decimal(&'d str),
    /// Ruby's `Set` and `SortedSet`.
    Set(Members<'d>),
    /// An exception of any class.
    Exception(Exception<'d>),
    /// A map with another class: `OpenStruct`, the `ActiveSupport::HashWithIndifferentAccess` of Rails.
    Map(Cursor<'d>),
}

/// A value whose layout is known, but whose class is another one, or which has instance variables in addition. A writer
/// reports both as lost.
pub(crate) struct SimilarValue<'d> {
    pub(crate) known: Known<'d>,
    pub(crate) has_other_class: bool,
    pub(crate) has_variables: bool,
}

/// The members of a set, stored as the keys of a map.
#[derive(Clone, Copy, Debug)]
pub struct Members<'d> {
    pub(crate) map: Cursor<'d>,
}

impl<'d> Members<'d> {
    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.map.entries().count()
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.map.entries().next().is_none()
    }

    /// Returns the map whose keys are the members.
    pub fn map(&self) -> Cursor<'d> {
        self.map
    }

    /// Returns the members, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Key<'d>> {
        self.map.entries().map(|(key, _)| key)
    }
}

/// An exception, as Ruby dumps it.
///
/// ```
/// use icecore::Known;
/// let document = icecore::read(b"\x04\x08o:\x06E\x07:\x09mesg\"\x08bad:\x07bt0")?;
/// let Some(Known::Exception(exception)) = Known::of(document.root()) else { panic!("no exception") };
/// assert_eq!((exception.class(), exception.message().as_str()), (&b"E"[..], Some("bad")));
/// assert!(exception.cause().is_none() && exception.backtrace().as_str().is_none());
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Exception<'d> {
    pub(crate) class: &'d [u8],
    pub(crate) message: Cursor<'d>,
    pub(crate) backtrace: Cursor<'d>,
    pub(crate) cause: Option<Cursor<'d>>,
}

impl<'d> Exception<'d> {
    /// Its class.
    pub fn class(&self) -> &'d [u8] {
        self.class
    }

    /// Returns the message; nil means the name of the class.
    pub fn message(&self) -> Cursor<'d> {
        self.message
    }

    /// Where it was raised: an array of strings, or nil.
    pub fn backtrace(&self) -> Cursor<'d> {
        self.backtrace
    }

    /// Returns the exception that caused it, or nil; `None` if the dump does not contain it.
    pub fn cause(&self) -> Option<Cursor<'d>> {
        self.cause
    }
}

impl<'d> Known<'d> {
    /// Returns the meaning of the value at the cursor, if its layout is known.
    ///
    /// The cost depends on the number of the value's own members, not on their content.
    pub fn of(value: Cursor<'d>) -> Option<Known<'d>> {
        match value.kind() {
            Kind::Object => ruby::decode_object(value),
            Kind::Opaque => ruby::decode_opaque(value),
            Kind::Attrs => ruby::decode_extended(value),
            _ => None,
        }
    }

    /// Returns the meaning of a value that [`Known::of`] refuses only because of its class or additional variables.
    pub(crate) fn of_similar(value: Cursor<'d>) -> Option<SimilarValue<'d>> {
        ruby::decode_similar(value)
    }

    /// Returns the name of the kind of value, in one word.
    pub fn name(&self) -> &'static str {
        match self {
            Known::Time(_) => "time",
            Known::DateTime(_) => "datetime",
            Known::Date(_) => "date",
            Known::Range { .. } => "range",
            Known::Complex { .. } => "complex",
            Known::Rational { .. } => "rational",
            Known::Decimal(_) => "decimal",
            Known::Set(_) => "set",
            Known::Exception(_) => "exception",
            Known::Map(_) => "map",
        }
    }

    /// Returns the value as one text: ISO 8601 for times and dates, Ruby's `to_s` for ranges and numbers. `None` for
    /// values with parts (sets, exceptions, maps, ranges of such values) and for integers beyond the limit `digits`.
    pub fn text(&self, limits: &Limits) -> Option<String> {
        match self {
            Known::Time(moment) | Known::DateTime(moment) => Some(moment.iso8601()),
            Known::Date(day) => Some(day.to_string()),
            Known::Range { begin, end, excludes_end } => {
                let dots = if *excludes_end { "..." } else { ".." };
                Some(format!(
                    "{}{dots}{}",
                    number::format_range_end(*begin, limits)?,
                    number::format_range_end(*end, limits)?
                ))
            }
            Known::Complex { real, imaginary } => number::format_complex(*real, *imaginary, limits),
            Known::Rational { numerator, denominator } => number::format_rational(*numerator, *denominator, limits),
            Known::Decimal(text) => Some(number::format_decimal(text)),
            Known::Set(_) | Known::Exception(_) | Known::Map(_) => None,
        }
    }
}
