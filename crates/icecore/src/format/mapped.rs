//! A writer with a class map: classes get their new names before the format's own writer
//! gets the document.

use super::Writer;
use crate::class_map::ClassMap;
use crate::document::{Document, Naming};
use crate::known::{is_php_time, plain};
use crate::limits::Limits;
use crate::output::{Losses, Output, Written};
use std::borrow::Cow;

/// The writer of a format, for documents whose classes are renamed.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) map: ClassMap,
    pub(super) naming: Naming,
    pub(super) writer: Box<dyn Writer>,
}

impl Writer for Mapped {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        document.tape().check()?;
        let is_php = self.naming == Naming::Php;
        // Only Ruby has such values; values of the target's own language keep their byte
        // form.
        let may_have = self.map.any_plain() || is_php && self.map.any_name(is_php_time);
        let (document, mut losses) = match may_have && document.tape().naming != self.naming {
            true => plain(document, &self.map, limits, is_php).map(|(plain, losses)| (Cow::Owned(plain), losses))?,
            false => (Cow::Borrowed(document), Losses::within(limits)),
        };
        losses.merge(self.writer.write(&*document.mapped(&self.map, self.naming)?, limits, out)?);
        Ok(losses)
    }
}
