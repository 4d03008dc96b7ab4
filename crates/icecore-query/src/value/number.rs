//! Numbers: integers of any size, and floats.

use crate::memory::{ALLOCATION_OVERHEAD, Charge};
use num_bigint::{BigInt, Sign};
use num_traits::{FromPrimitive, ToPrimitive};
use std::cmp::Ordering;
use std::ops::Deref;
use std::rc::Rc;

/// An integer with allocated memory.
#[derive(Debug)]
pub struct BigInteger {
    value: BigInt,
    _charge: Charge,
}

impl BigInteger {
    fn new(value: BigInt) -> BigInteger {
        let bytes = usize::try_from(value.bits() / 8).unwrap_or(usize::MAX / 2);
        let _charge = Charge::new(bytes + size_of::<BigInteger>() + 2 * ALLOCATION_OVERHEAD);
        BigInteger { value, _charge }
    }
}

impl Deref for BigInteger {
    type Target = BigInt;

    fn deref(&self) -> &BigInt {
        &self.value
    }
}

/// An integer of any size or a float. Sums, differences, products and remainders of integers are integers. Quotients
/// are floats.
#[derive(Clone, Debug)]
pub enum Number {
    Int(i64),
    /// An integer that does not fit an `Int`.
    Big(Rc<BigInteger>),
    Float(f64),
}

impl Number {
    /// Returns a big integer, or a small one if it fits.
    pub fn from_big_int(value: BigInt) -> Number {
        value.to_i64().map_or_else(|| Number::Big(Rc::new(BigInteger::new(value))), Number::Int)
    }

    /// Creates an integer from its sign and bytes, least significant first.
    pub fn from_bytes(negative: bool, magnitude: &[u8]) -> Number {
        let sign = if negative { Sign::Minus } else { Sign::Plus };
        Number::from_big_int(BigInt::from_bytes_le(sign, magnitude))
    }

    /// Parses a number in the syntax of filters.
    pub fn parse(text: &str) -> Option<Number> {
        if let Ok(int) = text.parse() {
            return Some(Number::Int(int));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            // The work is quadratic in the number of digits.
            return if digits.len() > 20_000 { None } else { text.parse().ok().map(Number::from_big_int) };
        }
        text.parse().ok().map(Number::Float)
    }

    pub fn is_int(&self) -> bool {
        !matches!(self, Number::Float(_))
    }

    pub fn to_isize(&self) -> Option<isize> {
        match self {
            Number::Int(int) => isize::try_from(*int).ok(),
            Number::Big(_) | Number::Float(_) => None,
        }
    }

    pub fn to_f64(&self) -> f64 {
        match self {
            Number::Int(int) => *int as f64,
            Number::Big(big) => big_to_float(big),
            Number::Float(float) => *float,
        }
    }

    pub fn absolute_value(&self) -> Number {
        match self {
            Number::Int(int) => int.checked_abs().map_or_else(|| -self.clone(), Number::Int),
            Number::Big(big) if big.sign() == Sign::Minus => Number::from_big_int(-&***big),
            Number::Big(_) => self.clone(),
            Number::Float(float) => Number::Float(float.abs()),
        }
    }

    fn to_big(&self) -> BigInt {
        match self {
            Number::Int(int) => BigInt::from(*int),
            Number::Big(big) => (***big).clone(),
            Number::Float(_) => BigInt::ZERO,
        }
    }

    /// Returns the number of bytes of the integer.
    pub fn size(&self) -> u64 {
        if let Number::Big(big) = self { big.bits() / 8 } else { 8 }
    }

    /// Applies an operation. `small` computes the result for small integers, and `big` computes it if it does not
    /// fit. If one of the numbers is a float, `float` computes the result.
    fn apply_operation(
        self,
        other: Number,
        small: impl Fn(i64, i64) -> Option<i64>,
        big: impl Fn(BigInt, BigInt) -> BigInt,
        float: impl Fn(f64, f64) -> f64,
    ) -> Number {
        match (&self, &other) {
            (Number::Int(a), Number::Int(b)) => {
                small(*a, *b).map_or_else(|| Number::from_big_int(big(BigInt::from(*a), BigInt::from(*b))), Number::Int)
            }
            (Number::Float(_), _) | (_, Number::Float(_)) => Number::Float(float(self.to_f64(), other.to_f64())),
            _ => Number::from_big_int(big(self.to_big(), other.to_big())),
        }
    }
}

/// Returns the nearest float. Beyond the largest float, this is infinity.
fn big_to_float(big: &BigInt) -> f64 {
    let infinity = if big.sign() == Sign::Minus { f64::NEG_INFINITY } else { f64::INFINITY };
    big.to_f64().unwrap_or(infinity)
}

impl std::ops::Add for Number {
    type Output = Number;
    fn add(self, other: Number) -> Number {
        self.apply_operation(other, i64::checked_add, |a, b| a + b, |a, b| a + b)
    }
}

impl std::ops::Sub for Number {
    type Output = Number;
    fn sub(self, other: Number) -> Number {
        self.apply_operation(other, i64::checked_sub, |a, b| a - b, |a, b| a - b)
    }
}

impl std::ops::Mul for Number {
    type Output = Number;
    fn mul(self, other: Number) -> Number {
        self.apply_operation(other, i64::checked_mul, |a, b| a * b, |a, b| a * b)
    }
}

impl std::ops::Div for Number {
    type Output = Number;
    fn div(self, other: Number) -> Number {
        Number::Float(self.to_f64() / other.to_f64())
    }
}

/// For integers, the divisor must not be zero. Callers check this before.
impl std::ops::Rem for Number {
    type Output = Number;
    fn rem(self, other: Number) -> Number {
        // The smallest integer divided by -1 overflows, but its remainder is 0.
        let small = |a: i64, b: i64| Some(a.checked_rem(b).unwrap_or(0));
        self.apply_operation(other, small, |a, b| if b == BigInt::ZERO { b } else { a % b }, |a, b| a % b)
    }
}

impl std::ops::Neg for Number {
    type Output = Number;
    fn neg(self) -> Number {
        match self {
            Number::Int(int) => int.checked_neg().map_or_else(|| Number::from_big_int(-BigInt::from(int)), Number::Int),
            Number::Big(big) => Number::from_big_int(-&**big),
            Number::Float(float) => Number::Float(-float),
        }
    }
}

/// Compares an integer with a float exactly, because rounding would make the order inconsistent. NaN is less than any
/// number.
fn compare_to_float(int: &Number, float: f64) -> Ordering {
    if float.is_nan() {
        return Ordering::Greater;
    }
    match (int, num_bigint::BigInt::from_f64(float.floor())) {
        (_, Some(floor)) => {
            int.to_big().cmp(&floor).then(if float.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
        }
        (_, None) if float > 0.0 => Ordering::Less,
        (_, None) => Ordering::Greater,
    }
}

fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| right.is_nan().cmp(&left.is_nan()))
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a.cmp(b),
            (Number::Float(a), Number::Float(b)) => compare_floats(*a, *b),
            (int, Number::Float(float)) => compare_to_float(int, *float),
            (Number::Float(float), int) => compare_to_float(int, *float).reverse(),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// NaN is not equal to itself.
impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.cmp(other) == Ordering::Equal && !self.to_f64().is_nan()
    }
}

impl Eq for Number {}
