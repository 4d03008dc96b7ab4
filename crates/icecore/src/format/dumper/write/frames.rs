//! Writes the content of containers.

use super::Writer;
use super::keys::Key;
use super::paths::Path;
use super::referent::ValueId;
use crate::document::{IS_KEY, Kind, NO_KEY, flag};
use crate::error::Error;
use crate::output::FLUSH_SIZE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenContainer {
    Array,
    Hash,
    /// A hash whose entries are sorted.
    Sorted,
    /// A reference to a scalar.
    Scalar,
    /// A reference to a glob.
    Glob,
}

/// A container whose children are not all written. Its level is the number of frames before it on the stack.
#[derive(Clone, Copy)]
pub(super) struct WriteFrame {
    pub(super) container: WrittenContainer,
    /// The next child, and the end of the children. For a sorted hash, `end` is the number of entries on `sorted`
    /// that belong to outer hashes.
    pub(super) next: u32,
    pub(super) end: u32,
    /// Number of children begun.
    pub(super) count: u32,
    /// Indentation of its lines, in addition to its levels.
    pub(super) column: usize,
    /// Its path. It is made only when it is needed.
    pub(super) path: Option<Path>,
    /// The key of the entry that is being written.
    pub(super) key: Option<Key>,
    pub(super) id: ValueId,
    /// The object, if this container is the body of one.
    pub(super) blessed: Option<u32>,
    pub(super) closing: &'static [u8],
}

impl Writer<'_> {
    /// Continues in the innermost container, up to a nested container or its end.
    pub(super) fn continue_container(&mut self, buf: &mut Vec<u8>) -> Result<(), Error> {
        let Some(mut frame) = self.stack.pop() else { return Ok(()) };
        let level = self.stack.len() + 1;
        loop {
            self.fast_children(&mut frame, level, buf);
            let Some((key, child)) = self.next_child(&mut frame) else { break };
            let mut column = frame.column;
            if frame.count > 0 {
                buf.push(b',');
            }
            frame.count += 1;
            match frame.container {
                WrittenContainer::Array => {
                    if self.style.options.indent >= 3 {
                        self.start_line(column, level, buf);
                        buf.push(b'#');
                        push_int(i64::from(frame.count) - 1, buf);
                    }
                    self.start_line(column, level, buf);
                }
                WrittenContainer::Hash | WrittenContainer::Sorted => {
                    self.start_line(column, level, buf);
                    let width = self.write_entry_key(key, child, buf)?;
                    buf.extend_from_slice(self.style.options.pair.as_bytes());
                    if self.style.indents_to_column {
                        // Data::Dumper always adds the width of the default pair, ` => `, also if the option sets
                        // another one.
                        column += width + 4;
                    }
                }
                WrittenContainer::Scalar | WrittenContainer::Glob => {}
            }
            self.check_blanks()?;
            let node = self.node(child);
            let is_plain = !node.kind.is_container() && !node.kind.is_again() && !node.has(flag::TARGET);
            if is_plain && !matches!(frame.container, WrittenContainer::Scalar | WrittenContainer::Glob) {
                self.write_leaf(child, &node, buf)?;
            } else {
                frame.key = key;
                self.stack.push(frame);
                self.write_value(child, column, buf)?;
                if self.stack.len() > level {
                    return Ok(());
                }
                frame.path = self.stack.pop().and_then(|frame| frame.path);
            }
            if buf.len() >= FLUSH_SIZE {
                self.stack.push(frame);
                return Ok(());
            }
        }
        self.close_container(&frame, buf)
    }

    /// Returns the next child and its key.
    #[inline]
    fn next_child(&mut self, frame: &mut WriteFrame) -> Option<(Option<Key>, u32)> {
        if frame.container == WrittenContainer::Sorted {
            if self.sorted.len() <= frame.end as usize {
                return None;
            }
            return self.sorted.pop().map(|(key, value)| (Some(key), value));
        }
        if frame.container != WrittenContainer::Hash {
            let child = frame.next;
            if child >= frame.end {
                return None;
            }
            frame.next = self.document.tape().index_after(child);
            if matches!(frame.container, WrittenContainer::Scalar | WrittenContainer::Glob) {
                frame.next = frame.end;
            }
            return Some((None, child));
        }
        self.next_entry(&mut frame.next, frame.end).map(|(key, value)| (Some(key), value))
    }

    /// Returns the next entry; skips entries whose keys are allowed but absent.
    #[inline]
    pub(super) fn next_entry(&self, index: &mut u32, end: u32) -> Option<(Key, u32)> {
        let tape = self.document.tape();
        while *index < end {
            let node = self.node(*index);
            let (key, value, is_absent) = match node.key {
                // A value without a key is the default value of a map. Perl's hashes do not have one.
                NO_KEY => return None,
                IS_KEY => {
                    let is_absent = node.has(flag::PLACEHOLDER) && node.kind.is_string();
                    (Key::Node(*index), tape.index_after(*index), is_absent)
                }
                id => (Key::Id(id), *index, node.kind == Kind::Hole && self.is_absent(id)),
            };
            *index = tape.index_after(value);
            if !is_absent {
                return (value < end).then_some((key, value));
            }
        }
        None
    }

    fn is_absent(&self, id: u16) -> bool {
        self.document.tape().keys().get(u32::from(id)).is_none_or(|name| name.node.has(flag::PLACEHOLDER))
    }

    /// Writes the end of a container.
    fn close_container(&mut self, frame: &WriteFrame, buf: &mut Vec<u8>) -> Result<(), Error> {
        let is_list = !matches!(frame.container, WrittenContainer::Scalar | WrittenContainer::Glob);
        if is_list && frame.count > 0 {
            if self.style.options.trailingcomma && self.style.breaks_lines {
                buf.push(b',');
            }
            self.start_line(frame.column, self.stack.len(), buf);
            self.check_blanks()?;
        }
        buf.extend_from_slice(frame.closing);
        self.write_bless_end(frame.blessed, buf);
        self.mark_written(frame.id);
        Ok(())
    }
}

/// Appends the digits of a number.
#[inline]
pub(super) fn push_int(value: i64, buf: &mut Vec<u8>) {
    buf.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}
