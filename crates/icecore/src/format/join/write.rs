//! The writer: join.

use super::Options;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::format::check_and_expand;
use crate::format::flat::{Item, Items, gather_items};
use crate::limits::Limits;
use crate::output::{FLUSH_SIZE, LossKind, Output, Written, write_metered};
use memchr::memmem::Finder;

/// Joins the items of a list, and reports losses.
///
/// # Errors
/// Of kind `Unrepresentable`, if an item is a list or a map or contains the separator,
/// or if the document is not a list or a map as `items_as` says; `Output`, if the output was
/// closed.
pub fn write(document: &Document<'_>, options: &Options, limits: &Limits, out: &mut dyn Output) -> Written {
    write_metered(document, limits, out, |out| join_items(document, options, limits, out))
}

impl crate::format::Writer for Options {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }
}

fn join_items(document: &Document<'_>, options: &Options, limits: &Limits, out: &mut dyn Output) -> Written {
    options.check()?;
    let document = &*check_and_expand(document, limits)?;
    let mut items = gather_items(document, &options.items_as, limits)?;
    let separator = Finder::new(&options.separator);
    let count = items.remaining_items();
    let mut is_first = true;
    loop {
        let place = items.next_index();
        let Some(item) = items.take()? else { break };
        if matches!(item, Item::Null) {
            items.record_loss_at(LossKind::Null, place);
        }
        if matches!(item, Item::Bool(_)) {
            items.record_loss_at(LossKind::Bool, place);
        }
        let text = item.make_perl_string();
        let buf = out.buffer();
        if !is_first {
            buf.extend_from_slice(&options.separator);
        }
        if count == 1 && text.is_empty() {
            return Err(unrepresentable_error(
                &items,
                place,
                "more than one empty field",
                "a single one, which reads as no field",
            ));
        }
        if let Some(error) = has_separator_clash(&separator, &text, items.remaining_items() > 0).then(|| {
            unrepresentable_error(&items, place, "a field without the separator", "one that contains it")
                .helping("`separator=…` sets another one")
        }) {
            return Err(error);
        }
        buf.extend_from_slice(&text);
        is_first = false;
        if buf.len() >= FLUSH_SIZE {
            out.allow_flush()?;
        }
    }
    out.allow_flush()?;
    Ok(items.losses)
}

/// Returns `true` if the field would be split at another place when it is read: it contains the
/// separator, or ends with a part of it that the following separator completes too
/// early.
fn has_separator_clash(separator: &Finder<'_>, text: &[u8], is_followed: bool) -> bool {
    if separator.find(text).is_some() {
        return true;
    }
    let needle = separator.needle();
    if !is_followed || needle.len() == 1 {
        return false;
    }
    let tail = &text[text.len().saturating_sub(needle.len() - 1)..];
    separator.find(&[tail, needle].concat()).is_some_and(|offset| offset < tail.len())
}

fn unrepresentable_error(items: &Items<'_>, place: u32, expected: &'static str, found: &'static str) -> Error {
    Error::new(ErrorKind::Unrepresentable).on_path(items.path_at(place)).expecting(expected).finding(found)
}
