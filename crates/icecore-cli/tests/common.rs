//! What this suite has from those of the store.

#[path = "../../../icecore-store/tests/common/chance.rs"]
mod chance;
#[path = "../../../icecore-store/tests/common/patience.rs"]
mod patience;

pub use chance::Chance;
pub use patience::until;
