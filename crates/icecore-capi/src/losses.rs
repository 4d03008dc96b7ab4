//! Losses that a context keeps, and the struct that describes one.

use crate::tape::icecore_bytes;
use icecore::{Loss, Losses};

/// A loss that a context keeps until it is used again.
pub(crate) struct KeptLoss {
    pub(crate) loss: Loss,
    pub(crate) text: String,
}

impl KeptLoss {
    pub(crate) fn keep_all(losses: &Losses) -> impl Iterator<Item = KeptLoss> {
        losses.iter().map(|loss| KeptLoss { loss: loss.clone(), text: loss.to_string() })
    }
}

/// A loss: something that a format could not express.
#[repr(C)]
pub struct icecore_loss_part {
    /// Name of the kind, such as `class` or `symbol`.
    pub kind: icecore_bytes,
    /// The path of the first loss of this kind; empty if no paths are kept.
    pub path: icecore_bytes,
    /// The description that `icecore_loss` returns.
    pub text: icecore_bytes,
    /// Number of losses of this kind.
    pub count: u64,
}
