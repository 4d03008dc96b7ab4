//! What this suite has from those of the store.

pub use crate::chance::Chance;
pub use crate::patience::until;
