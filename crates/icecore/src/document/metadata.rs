//! Data of the wrappers around a document.

use crate::losses::{LossKind, Losses};

/// A property that a wrapper stores in addition to its content: an expiry, a purpose, a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Name of the wrapper.
    pub wrapper: &'static str,
    /// Option that writes the property.
    pub option: &'static str,
    /// Value of that option.
    pub value: String,
    /// Whether this only describes how the content was written, such as compressed: then nothing is lost without it.
    pub is_form: bool,
}

/// Adds a loss for each property of the wrappers that no output wrapper stores.
pub(crate) fn lose_metadata(lost: &[Metadata], losses: &mut Losses) {
    for property in lost.iter().filter(|property| !property.is_form) {
        losses.add(LossKind::Wrapper, || format!("{}:{}", property.wrapper, property.option));
    }
}
