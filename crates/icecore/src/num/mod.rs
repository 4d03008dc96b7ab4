//! Numbers that Rust has no type for: integers of any size, and floats of more
//! than 64 bits.

pub mod bigint;
pub mod float128;
pub(crate) mod general;
