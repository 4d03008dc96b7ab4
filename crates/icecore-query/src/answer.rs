//! Results of filters.

use crate::value::{Latin1As, Value, WrittenValue};
use icecore::{Document, Error, Limits, Output, Stage};
use std::borrow::Cow;

/// A result of a filter.
#[derive(Clone, Debug)]
pub struct Answer(Value);

impl Answer {
    pub(crate) fn new(value: Value) -> Answer {
        Answer(value)
    }

    /// Returns true if it is neither null nor false.
    pub fn is_true(&self) -> bool {
        jaq_core::ValT::as_bool(&self.0)
    }

    /// Returns its bytes if it is a string, as they are in the document.
    pub fn to_bytes(&self) -> Option<Cow<'_, [u8]>> {
        match self.0.visible_value() {
            Value::Text(text) => Some(text.stored_bytes()),
            _ => None,
        }
    }

    /// Returns a document of the result. Values that the filter did not change keep their classes, symbols and links.
    ///
    /// # Errors
    /// Of kind `Limit`, if it is nested too deeply or has too many values.
    pub fn to_document(&self, limits: &Limits) -> Result<Document<'static>, Error> {
        self.0.to_document(Latin1As::Bytes, limits).map(|written| written.document)
    }

    /// Writes the result in a format. If the filter changed a container at one of several places that shared it, this
    /// is the loss `sharing`, unless the format is JSON, which shares nothing.
    ///
    /// # Errors
    /// Those of [`Answer::to_document`], and of the format's writer.
    pub fn write(&self, stage: &Stage, limits: &Limits, out: &mut dyn Output) -> icecore::Written {
        match self.0.unchanged_document() {
            Some(document) => icecore::write_to(document, stage, limits, out),
            None => {
                let is_json = stage.format().of_document().name == "json";
                let latin1_as = if is_json { Latin1As::Characters } else { Latin1As::Bytes };
                let WrittenValue { document, unshared } = self.0.to_document(latin1_as, limits)?;
                let mut losses = icecore::write_to(&document, stage, limits, out)?;
                if !is_json {
                    losses.merge(unshared);
                }
                Ok(losses)
            }
        }
    }
}
