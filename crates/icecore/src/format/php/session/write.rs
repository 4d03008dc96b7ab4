//! The writer: names, and the writer of `serialize()` for the values.

use super::handler::MAX_NAME_LEN;
use super::{FORMAT, HANDLER, Handler, NAME, WriteOptions};
use crate::document::{Cursor, Document, Key, Kind, Value, flag};
use crate::error::{Error, ErrorKind};
use crate::format::append::append_named;
use crate::format::check_and_expand;
use crate::format::php::spelling;
use crate::format::php::write::Writer;
use crate::format::php_losses::key_text;
use crate::limits::Limits;
use crate::output::{LossKind, Output, Written};

/// Writes a map as the variables of a session, and reports what PHP could not represent.
///
/// # Errors
/// Of kind `Unrepresentable`, if the root is not a map, or if the handler can't
/// represent a name: PHP would drop the variable, or all of them. `Limit`, if the
/// document is nested too deeply; `Output`, if the output was closed.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let document = &*check_and_expand(document, limits)?;
    append_named(document, &FORMAT, limits, out, |document, out| write_document(document, options, limits, out))
}

impl crate::format::Writer for WriteOptions {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }
}

fn write_document(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let recorded = document.spelling_of(NAME).and_then(|spelling| spelling.get(HANDLER));
    let recorded = recorded.and_then(|number| Handler::ALL.into_iter().find(|handler| *handler as u64 == number));
    let handler = options.handler.or(recorded).unwrap_or(Handler::Php);
    // The slot numbers in kept text are valid only for the handler that was read.
    let format = if recorded == Some(handler) { NAME } else { "" };
    let mut writer = Writer::new(document, format, limits);
    let root = find_root(document, limits, &mut writer)?;
    if handler == Handler::PhpSerialize {
        writer.session = Some(root.index());
        writer.run(root.index(), out)?;
    } else {
        if root.kind() == Kind::Array && !root.is_empty() {
            return Err(name_error(document.path(root.index() + 1), "the position in a list"));
        }
        writer.record_flag_losses(root.index(), root.node());
        if root.node().has(flag::TARGET) {
            // A link to the session itself: the session has no slot, so it is written
            // again.
            writer.record_loss(LossKind::Sharing, root.index());
        }
        for (key, value) in root.entries() {
            if key.node().has(flag::PLACEHOLDER) && key.node().kind.is_string() {
                continue;
            }
            write_name(&mut writer, handler, &key, value, out)?;
            writer.run(value.index(), out)?;
            out.allow_flush()?;
        }
    }
    out.allow_flush()?;
    Ok(writer.losses)
}

/// Returns the map or array at the root, inside of any wrappers.
fn find_root<'d>(document: &'d Document<'d>, limits: &Limits, writer: &mut Writer<'d>) -> Result<Cursor<'d>, Error> {
    let mut cursor = document.root();
    for _ in 0..=document.max_link_steps(limits) {
        let index = cursor.index();
        let inner = match cursor.value() {
            Value::Array | Value::Map => return Ok(cursor),
            Value::Link(target) | Value::Alias(target) => target,
            Value::Object(_, body) => {
                writer.record_loss(LossKind::Class, index);
                body
            }
            Value::Ref(inner) | Value::Attrs(inner) | Value::Tied(inner) => {
                writer.record_wrapper_losses(index);
                inner
            }
            _ => break,
        };
        writer.record_flag_losses(index, cursor.node());
        cursor = inner;
    }
    Err(Error::new(ErrorKind::Unrepresentable)
        .on_path("$".to_owned())
        .expecting("a map: the variables of the session")
        .finding("another value"))
}

#[cold]
fn name_error(path: String, found: &str) -> Error {
    Error::new(ErrorKind::Unrepresentable)
        .on_path(path)
        .expecting("the name of a variable")
        .finding(found.to_owned())
        .helping("PHP would drop it; `handler=php_serialize` can write it")
}

/// Writes the name of the variable.
fn write_name(
    writer: &mut Writer<'_>,
    handler: Handler,
    key: &Key<'_>,
    value: Cursor<'_>,
    out: &mut dyn Output,
) -> Result<(), Error> {
    let index = value.index();
    let text;
    let name = match (key, key.node().kind) {
        (_, Kind::Int) => return Err(name_error(value.path(), "an integer")),
        (Key::Name(name), kind) => {
            match kind {
                Kind::Symbol => writer.record_loss(LossKind::Symbol, index),
                Kind::Encoded => writer.record_loss(LossKind::Encoding, index),
                _ => {}
            }
            name.bytes
        }
        (Key::Value(key), _) => {
            text = key_text(key.node()).ok_or_else(|| name_error(value.path(), "a key that is not a string"))?;
            writer.record_loss(LossKind::Key, index);
            &text
        }
    };
    let kept_key = writer.kept_source(index, spelling::KEY).filter(|_| handler == Handler::PhpBinary);
    let buf = out.buffer();
    match handler {
        Handler::PhpBinary => {
            let len = u8::try_from(name.len()).ok().filter(|len| usize::from(*len) <= MAX_NAME_LEN);
            let Some(len) = len else {
                return Err(name_error(value.path(), "one of more than 127 bytes"));
            };
            // The document may have been edited.
            match kept_key.filter(|kept| kept.get(1..) == Some(name)) {
                Some(kept) => buf.extend_from_slice(kept),
                None => {
                    buf.push(len);
                    buf.extend_from_slice(name);
                }
            }
        }
        _ => {
            if name.contains(&b'|') {
                return Err(name_error(value.path(), "one with `|` in it"));
            }
            buf.extend_from_slice(name);
            buf.push(b'|');
        }
    }
    Ok(())
}
