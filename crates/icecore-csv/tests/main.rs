//! All integration tests of this crate in one program.

mod dialects;
mod programs;
mod random_numbers;
