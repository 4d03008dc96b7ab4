//! Writes text as Data::Dumper does.
//!
//! Data::Dumper remembers the path of the first occurrence of each value. This writer makes such a path only for the
//! targets of links, because only these occur again.

mod fast;
mod fast_line;
mod frames;
mod keys;
mod leaf;
mod paths;
pub(super) mod quote;
mod recorded_options;
mod referent;
mod safe;
mod values;

use self::frames::{WriteFrame, push_int};
use self::paths::{Path, Paths};
use self::referent::{ReferenceResolver, ReferentType, ValueId, VariableContent};
use super::FORMAT;
use super::options::WriteOptions;
use crate::document::{Document, Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::format::append::append_named;
use crate::format::check_and_expand;
use crate::format::scan::utf8;
use crate::limits::Limits;
use crate::output::{FLUSH_SIZE, LossKind, Losses, MeteredOutput, Output, Written};
use std::collections::HashMap;

/// Writes a document as Data::Dumper does. Returns what its text could not represent.
///
/// # Errors
/// Of kind `Unrepresentable`, if a key is an array or another container; `Limit`, if the
/// document is nested too deeply, or the text would grow too much by copies, names and
/// indentation; any error of the output.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let document = &*check_and_expand(document, limits)?;
    append_named(document, &FORMAT, limits, out, |document, out| write_whole(document, options, limits, out))
}

fn write_whole(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let options = &*safe::safe_options(document, options);
    // The writer for small documents gives up if something would be lost, so the losses are empty here.
    if fast_line::write_small_document(document, options, limits.depth, out) {
        out.allow_flush()?;
        return Ok(Losses::default());
    }
    if !options.useperl || !has_wide_characters(document) {
        return write_as(document, options, limits, false, out);
    }
    // The Perl code makes characters, which print writes in UTF-8 as soon as one of them
    // needs it.
    let mut text = Vec::new();
    let losses = write_as(document, options, limits, true, &mut MeteredOutput::new(document, limits, &mut text))?;
    let is_text = !utf8::valid_characters(&text).any(|(code, _)| code > 0xFF);
    quote::push_chars(&text, is_text, false, out.buffer());
    out.allow_flush()?;
    Ok(losses)
}

fn write_as(
    document: &Document<'_>,
    options: &WriteOptions,
    limits: &Limits,
    writes_utf8: bool,
    out: &mut dyn Output,
) -> Written {
    let has_targets = document.nodes().iter().any(|node| node.has(flag::TARGET));
    let max_repeated_nodes = limits.expanded_from(document.nodes().len());
    let mut writer = Writer {
        document,
        nodes: document.nodes(),
        style: Style { options, breaks_lines: options.indent > 0, indents_to_column: options.indent >= 2, writes_utf8 },
        limits,
        stack: Vec::new(),
        sorted: Vec::new(),
        paths: Paths::new(options.useperl),
        name: Vec::new(),
        root: None,
        is_fast: !options.useperl && !options.useqq,
        has_lines: options.indent > 0 || !options.pad.is_empty(),
        seen_values: HashMap::new(),
        final_statements: Vec::new(),
        remembers_all: has_targets && options.deepcopy && options.maxdepth > 0 && !options.purity,
        holders: if options.sparseseen && !options.useperl { count_holders(document) } else { HashMap::new() },
        repeated_nodes: 0,
        max_repeated_nodes,
        blanks: 0,
        max_blanks: max_repeated_nodes.saturating_mul(BLANKS_PER_VALUE),
        scratch: Vec::new(),
        losses: Losses::with_limits(limits),
    };
    if document.header().is_some() {
        writer.losses.add(LossKind::Header, || "$".to_owned());
    }
    writer.write_values(out)?;
    Ok(writer.losses)
}

/// Allowed bytes of indentation and of names for each value that may be written again.
const BLANKS_PER_VALUE: u64 = 64;

/// The options, and what follows from them.
struct Style<'o> {
    options: &'o WriteOptions,
    /// Whether lines end after each item.
    breaks_lines: bool,
    /// Whether nested items are indented to the column of their bracket.
    indents_to_column: bool,
    /// Whether `useperl` is set and a character above 255 may occur without escapes: the
    /// text is then made in UTF-8.
    writes_utf8: bool,
}

/// Returns `true` if a class or a pattern has a character above 255.
fn has_wide_characters(document: &Document<'_>) -> bool {
    let is_wide =
        |bytes: &[u8]| utf8::is_valid_text(bytes) && utf8::valid_characters(bytes).any(|(code, _)| code > 0xFF);
    let mut patterns = document.nodes().windows(2).filter(|pair| pair[0].kind == Kind::Regexp).map(|pair| &pair[1]);
    document.tape().classes().iter().any(|name| is_wide(name.bytes))
        || patterns.any(|pattern| pattern.kind == Kind::Text && is_wide(document.bytes(pattern)))
}

/// Counts for each variable the aliases and strong links to it. For `sparseseen`, which
/// uses perl's reference counts.
fn count_holders(document: &Document<'_>) -> HashMap<u32, u32> {
    let mut holders = HashMap::new();
    let nodes = document.nodes();
    for (index, node) in nodes.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|preceding| nodes.get(preceding));
        let is_weak = previous.is_some_and(|preceding| preceding.kind == Kind::Ref && preceding.has(flag::WEAK));
        if node.kind == Kind::Alias && !is_weak {
            *holders.entry(skip_wrappers(nodes, node.payload as u32)).or_insert(0) += 1;
        }
        let named = if node.kind == Kind::Link { nodes.get(node.payload as usize) } else { None };
        if named.is_some_and(|named| named.kind == Kind::Ref) && !node.has(flag::WEAK) {
            *holders.entry(skip_wrappers(nodes, (node.payload as u32).saturating_add(1))).or_insert(0) += 1;
        }
    }
    holders
}

/// Returns the variable at `index` without its class and attributes.
fn skip_wrappers(nodes: &[Node], index: u32) -> u32 {
    const MAX_WRAPPERS: usize = 8;
    let wrappers = nodes.iter().skip(index as usize).take(MAX_WRAPPERS);
    let is_wrapper = |node: &&Node| matches!(node.kind, Kind::Object | Kind::Attrs);
    index.saturating_add(wrappers.take_while(is_wrapper).count() as u32)
}

/// What is remembered of a written value.
#[derive(Clone, Copy)]
struct SeenValue {
    path: Path,
    /// The variable where it was first seen.
    variable: u32,
    form: SeenForm,
    /// Whether it is completely written.
    is_written: bool,
}

/// How the name refers to the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SeenForm {
    /// The name is a reference to it.
    Plain,
    /// A backslash before the name makes a reference to it.
    Backslash,
    /// `\&name` for code whose name is `*name`.
    Code,
}

struct Writer<'d> {
    document: &'d Document<'d>,
    nodes: &'d [Node],
    style: Style<'d>,
    limits: &'d Limits,
    stack: Vec<WriteFrame>,
    /// Entries of the open sorted hashes, the last first.
    sorted: Vec<(self::keys::Key, u32)>,
    paths: Paths,
    /// Name of the value that is being written, and its path once other values need it.
    name: Vec<u8>,
    root: Option<Path>,
    /// Whether the fast loop may be used.
    is_fast: bool,
    /// Whether there is a line start before each item.
    has_lines: bool,
    seen_values: HashMap<ValueId, SeenValue>,
    /// The statements after the value: this name refers to that value.
    final_statements: Vec<(Path, SeenValue)>,
    /// `deepcopy` forgets a value once it is written, but not one below `maxdepth`.
    remembers_all: bool,
    holders: HashMap<u32, u32>,
    /// Number of nodes that were written through links.
    repeated_nodes: u64,
    max_repeated_nodes: u64,
    /// Number of bytes of indentation and names that were written.
    blanks: u64,
    max_blanks: u64,
    scratch: Vec<u8>,
    losses: Losses,
}

impl<'d> Writer<'d> {
    #[inline]
    fn node(&self, index: u32) -> Node {
        self.nodes.get(index as usize).copied().unwrap_or(Node::leaf(Kind::Null, 0))
    }

    fn record_loss(&mut self, kind: LossKind, index: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(index));
    }

    fn write_values(&mut self, out: &mut dyn Output) -> Result<(), Error> {
        let root = self.document.root().index();
        if !self.style.options.list || self.node(root).kind != Kind::Array {
            self.write_statement(root, 1, out)?;
            if self.style.options.result && !self.style.options.terse {
                let buf = out.buffer();
                buf.push(b';');
                buf.extend_from_slice(&self.name);
            }
            return out.allow_flush();
        }
        let (mut index, end) = (root + 1, self.document.tape().index_after(root));
        let mut number = 1;
        while index < end {
            self.write_statement(index, number, out)?;
            out.end_value();
            index = self.document.tape().index_after(index);
            number += 1;
        }
        out.allow_flush()
    }

    /// Writes one of the values, with its statements.
    fn write_statement(&mut self, index: u32, number: usize, out: &mut dyn Output) -> Result<(), Error> {
        let options = self.style.options;
        self.name_value(index, number)?;
        let buf = out.buffer();
        buf.extend_from_slice(options.pad.as_bytes());
        let start = buf.len();
        if !options.terse {
            buf.extend_from_slice(&self.name);
            buf.extend_from_slice(b" = ");
        }
        let column = if self.style.indents_to_column && !options.terse { self.name.len() + 3 } else { 0 };
        self.write_value(index, column, buf)?;
        // The end shows if the name must be inserted before the value.
        let is_held = options.terse && options.purity;
        while !self.stack.is_empty() {
            self.continue_container(out.buffer())?;
            if out.buffer().len() >= FLUSH_SIZE {
                if is_held { out.check_without_flush()? } else { out.allow_flush()? }
            }
        }
        let buf = out.buffer();
        if options.terse && !self.final_statements.is_empty() {
            let assignment = [&self.name[..], b" = "].concat();
            buf.splice(start..start, assignment);
        }
        if !options.terse || !self.final_statements.is_empty() {
            buf.push(b';');
        }
        self.end_statement(buf);
        for (path, seen_value) in std::mem::take(&mut self.final_statements) {
            let buf = out.buffer();
            buf.extend_from_slice(options.pad.as_bytes());
            self.push_path(path, buf)?;
            buf.extend_from_slice(b" = ");
            self.push_seen(&seen_value, buf)?;
            buf.push(b';');
            self.end_statement(buf);
            if buf.len() >= FLUSH_SIZE {
                out.allow_flush()?;
            }
        }
        Ok(())
    }

    fn end_statement(&self, buf: &mut Vec<u8>) {
        if self.style.breaks_lines {
            buf.push(b'\n');
        }
    }

    /// Sets the name of the `number`-th value; it is at `index`.
    fn name_value(&mut self, index: u32, number: usize) -> Result<(), Error> {
        let options = self.style.options;
        self.root = None;
        self.name.clear();
        let Some(custom_name) = number.checked_sub(1).and_then(|position| options.names.get(position)) else {
            self.name.push(b'$');
            self.name.extend_from_slice(options.varname.as_bytes());
            push_int(i64::try_from(number).unwrap_or(i64::MAX), &mut self.name);
            return Ok(());
        };
        let (sigil, name) = match custom_name.as_bytes().split_first() {
            Some((b'*', name)) => (self.resolve_sigil(index)?, name),
            Some((b'$', name)) => (b'$', name),
            _ => (b'$', custom_name.as_bytes()),
        };
        self.name.push(sigil);
        self.name.extend_from_slice(name);
        Ok(())
    }

    /// Returns the sigil of the value, if the value itself is being written.
    fn own_sigil(&self) -> Option<u8> {
        if self.stack.is_empty() { self.name.first().copied() } else { None }
    }

    /// Returns the sigil that replaces a star before the name.
    fn resolve_sigil(&self, index: u32) -> Result<u8, Error> {
        Ok(match ReferenceResolver::new(self.document, self.max_steps(), |_, _| ()).resolve_variable(index)? {
            // Data::Dumper's Perl code tests the class, its C code the blessed value.
            VariableContent::Reference(referent) if self.style.options.useperl && referent.object.is_some() => b'$',
            VariableContent::Reference(referent) => match referent.kind {
                ReferentType::Array => b'@',
                ReferentType::Hash => b'%',
                ReferentType::Code => b'*',
                _ => b'$',
            },
            VariableContent::Leaf(_) => b'$',
        })
    }

    fn max_steps(&self) -> u32 {
        self.document.max_link_steps(self.limits)
    }

    /// Starts a line.
    #[inline]
    fn start_line(&mut self, column: usize, level: usize, buf: &mut Vec<u8>) {
        if !self.style.breaks_lines {
            return buf.extend_from_slice(self.style.options.pad.as_bytes());
        }
        buf.push(b'\n');
        buf.extend_from_slice(self.style.options.pad.as_bytes());
        let blanks = column.saturating_add(level.saturating_mul(2));
        // Too much indentation was refused before.
        self.blanks = self.blanks.saturating_add(blanks as u64);
        if self.blanks <= self.max_blanks {
            buf.resize(buf.len() + blanks, b' ');
        }
    }

    /// Checks the limit of indentation and names.
    #[inline]
    fn check_blanks(&self) -> Result<(), Error> {
        if self.blanks <= self.max_blanks {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Limit)
            .expecting(format!("at most {} bytes of indentation and names", self.max_blanks))
            .finding("more of them")
            .helping("`indent=1` and `indent=0` need less; raise the limit `expansion` if the input is trusted"))
    }

    fn push_path(&mut self, path: Path, buf: &mut Vec<u8>) -> Result<(), Error> {
        let start = buf.len();
        self.paths.write_path(path, buf);
        self.blanks = self.blanks.saturating_add((buf.len() - start) as u64);
        self.check_blanks()
    }

    /// Writes a value that was written before, by its name.
    fn push_seen(&mut self, seen_value: &SeenValue, buf: &mut Vec<u8>) -> Result<(), Error> {
        match seen_value.form {
            SeenForm::Plain => {}
            SeenForm::Backslash => buf.push(b'\\'),
            SeenForm::Code => {
                buf.extend_from_slice(b"\\&");
                buf.extend_from_slice(self.paths.root_text(seen_value.path).get(1..).unwrap_or(b""));
                return Ok(());
            }
        }
        self.push_path(seen_value.path, buf)
    }
}
