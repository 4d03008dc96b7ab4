//! Converts Arrow values to text, and text to values.

mod calendar;
#[cfg(test)]
mod compared;
mod numbers;
mod parse;
mod printer;
mod temporal;
mod zone;

pub use parse::{
    parse_date_in_milliseconds, parse_day, parse_float, parse_half, parse_integer, parse_moment, parse_time,
};
pub use printer::{MAX_OUTPUT, Printer};
pub use temporal::Temporal;
pub use zone::Zone;

use arrow_array::cast::AsArray;
use arrow_array::types::Float16Type;
use arrow_array::{Array, ArrowPrimitiveType};

type F16 = <Float16Type as ArrowPrimitiveType>::Native;

/// Returns the values of a column of this type. The value of a null row is arbitrary.
fn native_values<T: ArrowPrimitiveType>(array: &dyn Array) -> &[T::Native] {
    array.as_primitive::<T>().values()
}
