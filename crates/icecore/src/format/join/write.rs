//! The writer: join.

use super::Options;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::format::flat::{Item, Items, gather};
use crate::format::uncopied;
use crate::limits::Limits;
use crate::output::{LossKind, Output, READY, Written, metered};
use memchr::memmem::Finder;

/// Joins the items of a list, and reports losses.
///
/// # Errors
/// Of kind `Unrepresentable`, if an item is a list or a map or contains the separator,
/// or if the document does not have the required shape; `Output`, if the output was
/// closed.
pub fn write(document: &Document<'_>, options: &Options, limits: &Limits, out: &mut dyn Output) -> Written {
    metered(document, limits, out, |out| joined(document, options, limits, out))
}

impl crate::format::Writer for Options {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }
}

fn joined(document: &Document<'_>, options: &Options, limits: &Limits, out: &mut dyn Output) -> Written {
    options.check()?;
    let document = &*uncopied(document, limits)?;
    let mut items = gather(document, &options.shape, limits)?;
    let separator = Finder::new(&options.separator);
    let count = items.left();
    let mut is_first = true;
    loop {
        let place = items.place();
        let Some(item) = items.take()? else { break };
        if matches!(item, Item::Null) {
            items.lose_at(LossKind::Null, place);
        }
        if matches!(item, Item::Bool(_)) {
            items.lose_at(LossKind::Bool, place);
        }
        let text = item.string();
        let buf = out.buffer();
        if !is_first {
            buf.extend_from_slice(&options.separator);
        }
        if count == 1 && text.is_empty() {
            return Err(cannot(&items, place, "more than one empty field", "a single one, which reads as no field"));
        }
        if let Some(error) = clash(&separator, &text, items.left() > 0).then(|| {
            cannot(&items, place, "a field without the separator", "one that has it in it")
                .helping("`separator=…` takes another one")
        }) {
            return Err(error);
        }
        buf.extend_from_slice(&text);
        is_first = false;
        if buf.len() >= READY {
            out.ready()?;
        }
    }
    out.ready()?;
    Ok(items.losses)
}

/// Whether the field would be split at another place when it is read: it contains the
/// separator, or ends with a part of it that the following separator completes too
/// early.
fn clash(separator: &Finder<'_>, text: &[u8], is_followed: bool) -> bool {
    if separator.find(text).is_some() {
        return true;
    }
    let needle = separator.needle();
    if !is_followed || needle.len() == 1 {
        return false;
    }
    let tail = &text[text.len().saturating_sub(needle.len() - 1)..];
    separator.find(&[tail, needle].concat()).is_some_and(|at| at < tail.len())
}

fn cannot(items: &Items<'_>, place: u32, expected: &'static str, found: &'static str) -> Error {
    Error::new(ErrorKind::Unrepresentable).on_path(items.path(place)).expecting(expected).finding(found)
}
