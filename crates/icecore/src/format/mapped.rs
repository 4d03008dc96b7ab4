//! A writer with a class map: classes get their new names before the format's own writer
//! sees the document.

use super::Writer;
use crate::class_map::ClassMap;
use crate::document::{Document, Naming};
use crate::known::plain;
use crate::limits::Limits;
use crate::output::{Losses, Output, Written};
use std::borrow::Cow;

/// The writer of a format, for documents whose classes get other names.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) map: ClassMap,
    pub(super) naming: Naming,
    pub(super) writer: Box<dyn Writer>,
}

impl Writer for Mapped {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        document.tape().check()?;
        let (document, mut losses) = match self.map.any_plain() {
            true => plain(document, &self.map, limits).map(|(plain, losses)| (Cow::Owned(plain), losses))?,
            false => (Cow::Borrowed(document), Losses::within(limits)),
        };
        losses.merge(self.writer.write(&*document.mapped(&self.map, self.naming)?, limits, out)?);
        Ok(losses)
    }
}
