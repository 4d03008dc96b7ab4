//! What stood around a document.

use crate::losses::{LossKind, Losses};

/// What a wrapper says beside its content: an expiry, a purpose, a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The wrapper.
    pub wrapper: &'static str,
    /// The option that writes it.
    pub option: &'static str,
    /// The value of that option.
    pub value: String,
    /// How the content was written, as compressed: it says nothing that could be lost.
    pub is_form: bool,
}

/// Counts what wrappers said and no wrapper says again.
pub(crate) fn lose_metadata(lost: &[Metadata], losses: &mut Losses) {
    for said in lost.iter().filter(|said| !said.is_form) {
        losses.add(LossKind::Wrapper, || format!("{}:{}", said.wrapper, said.option));
    }
}
