//! A writer with a class map: classes get their new names before the format's own writer
//! gets the document.

use super::Writer;
use crate::class_map::ClassMap;
use crate::document::{Document, Naming};
use crate::known::{is_php_time, replace_known_values};
use crate::limits::Limits;
use crate::output::{Losses, Output, Written};
use std::borrow::Cow;

/// The writer of a format, for documents whose classes are renamed.
#[derive(Debug)]
pub(super) struct ClassMapWriter {
    pub(super) map: ClassMap,
    pub(super) naming: Naming,
    pub(super) writer: Box<dyn Writer>,
}

impl Writer for ClassMapWriter {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        document.tape().check_structure()?;
        let is_php = self.naming == Naming::Php;
        // Only Ruby has such values; values of the target's own language keep their byte
        // form.
        let may_have = self.map.has_plain_class() || is_php && self.map.any_new_name(is_php_time);
        let (document, mut losses) = match may_have && document.tape().naming != self.naming {
            true => replace_known_values(document, &self.map, limits, is_php)
                .map(|(replaced, losses)| (Cow::Owned(replaced), losses))?,
            false => (Cow::Borrowed(document), Losses::with_limits(limits)),
        };
        losses.merge(self.writer.write(&*document.map_class_names(&self.map, self.naming)?, limits, out)?);
        Ok(losses)
    }
}
