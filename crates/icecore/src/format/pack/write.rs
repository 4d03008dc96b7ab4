//! The writer: from a document to packed bytes.

use super::packer::Packer;
use super::{Options, utf8};
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::format::check_and_expand;
use crate::format::flat::gather_items;
use crate::limits::Limits;
use crate::output::{LossKind, Losses, Output, Written, write_metered};

/// Packs the items of a list, and reports losses.
///
/// # Errors
/// Of kind `Usage` for the template; `Unrepresentable` for an item that is not a
/// scalar, and where `pack` dies; `Limit`, if the template requires far more than the
/// data has; `Output`, if the output was closed.
pub fn write(document: &Document<'_>, options: &Options, limits: &Limits, out: &mut dyn Output) -> Written {
    write_metered(document, limits, out, |out| pack_document(document, options, limits, out))
}

impl crate::format::Writer for Options {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }
}

fn pack_document(document: &Document<'_>, options: &Options, limits: &Limits, out: &mut dyn Output) -> Written {
    let document = &*check_and_expand(document, limits)?;
    let items = gather_items(document, &options.items_as, limits)?;
    let base = out.buffer().len();
    let mut packer = Packer::new(&options.program, items, limits, options.encode, out.remaining_bytes(), out.buffer());
    let result = packer.run_template();
    let (is_text, mut losses) = (packer.is_text, packer.items.losses);
    if let Err(error) = result {
        out.buffer().truncate(base);
        return Err(error);
    }
    match (is_text, options.utf8) {
        (true, wants_text) => {
            let losses = finish_text(out.buffer(), base, wants_text, losses)?;
            out.allow_flush()?;
            return Ok(losses);
        }
        (false, true) => {
            let bytes = out.buffer().split_off(base);
            utf8::push_latin1_bytes(&bytes, out.buffer());
        }
        (false, false) => {}
    }
    out.allow_flush()?;
    Ok(std::mem::take(&mut losses))
}

/// Finishes a string of characters: as bytes if they all are bytes, otherwise as UTF-8,
/// as perl prints it.
fn finish_text(buf: &mut Vec<u8>, base: usize, wants_text: bool, mut losses: Losses) -> Written {
    let mut bytes = Vec::new();
    let mut is_wide = false;
    let mut offset = base;
    while offset < buf.len() {
        let character = utf8::decode_character(&buf[offset..]);
        let Some(value) = character.value else {
            buf.truncate(base);
            return Err(Error::new(ErrorKind::Unrepresentable)
                .on_path("$")
                .expecting("bytes after `U0` that are UTF-8")
                .finding("others"));
        };
        is_wide |= value > 0xFF;
        bytes.push(value as u8);
        offset += character.len;
    }
    if is_wide && !wants_text {
        losses.add(LossKind::Wide, || "$".to_owned());
    } else if !wants_text {
        buf.truncate(base);
        buf.extend_from_slice(&bytes);
    }
    Ok(losses)
}
