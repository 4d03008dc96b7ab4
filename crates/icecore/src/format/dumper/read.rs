//! The reader: a machine with an explicit stack. It accepts the forms that Data::Dumper
//! writes and no other Perl, so no code runs.

mod finish;
mod frames;
mod heap;
mod keys;
pub(super) mod layout;
mod lex;
pub(super) mod number;
mod path;
mod regexp;
mod rewrite;
mod statements;
mod string;
mod terms;

use self::frames::{Construct, Frame};
use self::heap::{PendingPath, Root};
use self::layout::Layout;
use self::lex::Lexer;
use super::ReadOptions;
use crate::document::{Kind, NO_KEY, NO_NODE, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use std::collections::HashSet;

/// Feeds a document to the sink. Returns how far it got, and the error that stopped it.
pub(super) fn feed_document<S: Sink>(
    input: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    sink: &mut S,
) -> (usize, Option<Error>) {
    let pad = options.pad.as_ref().map_or_else(|| layout::find_pad(input), |pad| pad.as_bytes());
    let pair = options.pair.as_ref().map(String::as_bytes);
    let lexer = Lexer { has_byte_escapes: options.narrow, ..Lexer::new(input, pad) };
    let mut machine = Machine::new(lexer, pair, limits, sink);
    let error = machine.read_document().err();
    let consumed = machine.lexer.position.min(input.len());
    (consumed, machine.finish(error))
}

struct Machine<'a, 's, S: Sink> {
    lexer: Lexer<'a>,
    sink: &'s mut S,
    limits: &'s Limits,
    frames: Vec<Frame>,
    /// The values of the text, each with its name.
    roots: Vec<Root<'a>>,
    /// Their names with their sigils.
    names: HashSet<(u8, &'a [u8])>,
    /// Statements that repair earlier values have begun.
    has_repairs: bool,
    /// Paths to follow after everything is read.
    pending_paths: Vec<PendingPath>,
    /// Text between a key and its value, if it is not `=>`.
    pair: Vec<u8>,
    /// Whether a key was read that shows the text after keys.
    has_pair: bool,
    layout: Layout,
    /// Number of frames that are indented by Data::Dumper.
    indented_frames: usize,
    /// The offset up to which spans cover the input.
    covered_until: usize,
}

impl<'a, 's, S: Sink> Machine<'a, 's, S> {
    fn new(lexer: Lexer<'a>, pair: Option<&[u8]>, limits: &'s Limits, sink: &'s mut S) -> Self {
        let pair = pair.map_or(&b""[..], <[u8]>::trim_ascii).to_vec();
        Machine {
            lexer,
            sink,
            limits,
            frames: Vec::new(),
            roots: Vec::new(),
            names: HashSet::new(),
            has_repairs: false,
            pending_paths: Vec::new(),
            has_pair: !pair.is_empty(),
            pair,
            layout: Layout::default(),
            indented_frames: 0,
            covered_until: 0,
        }
    }

    /// Reads a value with everything in it.
    fn read_value(&mut self) -> Result<(), Error> {
        self.lexer.skip_blanks();
        self.read_term(NO_KEY, false)?;
        self.read_rest_of_value()
    }

    fn read_rest_of_value(&mut self) -> Result<(), Error> {
        while let Some(frame) = self.frames.last().copied() {
            self.check_nodes()?;
            match frame.construct {
                Construct::Array => self.read_items()?,
                Construct::Map => self.read_entries()?,
                _ if frame.has_value => self.read_wrapper_end(&frame)?,
                _ => {
                    self.lexer.skip_blanks();
                    self.mark_value_read();
                    self.read_term(NO_KEY, frame.construct == Construct::Ref)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn check_nodes(&mut self) -> Result<(), Error> {
        if self.sink.nodes().len() >= self.limits.nodes as usize {
            return Err(self.limits.too_many_nodes().at(self.lexer.position));
        }
        Ok(())
    }

    fn mark_value_read(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.has_value = true;
            frame.count += 1;
        }
    }

    /// Reads items of the innermost array, up to a nested container or its end.
    fn read_items(&mut self) -> Result<(), Error> {
        let depth = self.frames.len();
        while self.frames.len() == depth {
            self.check_nodes()?;
            if self.reaches_container_end()? {
                return self.read_container_end();
            }
            self.mark_value_read();
            self.read_term(NO_KEY, false)?;
        }
        Ok(())
    }

    /// Reads entries of the innermost hash, up to a nested container or its end.
    fn read_entries(&mut self) -> Result<(), Error> {
        let depth = self.frames.len();
        while self.frames.len() == depth {
            self.check_nodes()?;
            if self.reaches_container_end()? {
                return self.read_container_end();
            }
            let key = self.read_key()?;
            self.mark_value_read();
            self.read_term(key, false)?;
        }
        Ok(())
    }

    /// Consumes the comma after the previous value. Returns `true` if the innermost
    /// container ends here.
    #[inline]
    fn reaches_container_end(&mut self) -> Result<bool, Error> {
        let Some(frame) = self.frames.last_mut() else { return Ok(true) };
        let (close, has_value, construct) = (frame.close, frame.has_value, frame.construct);
        let mut comma = !has_value;
        self.lexer.skip_blanks();
        loop {
            match self.lexer.peek() {
                Some(b',') => self.lexer.position += 1,
                Some(byte) if byte == close => {
                    if S::DETAIL && comma && has_value {
                        self.layout.observe_trailing_comma();
                    }
                    return Ok(true);
                }
                Some(b'=') if construct == Construct::Array && !comma && self.lexer.rest().starts_with(b"=>") => {
                    self.lexer.position += 2;
                }
                Some(_) if comma => break,
                _ => {
                    return Err(match (comma, close) {
                        (true, _) => self.lexer.syntax_error(self.lexer.position, "a value"),
                        (false, b']') => self.lexer.unexpected_token_error("`,` or `]`"),
                        (false, b'}') => self.lexer.unexpected_token_error("`,` or `}`"),
                        _ => self.lexer.unexpected_token_error("`,` or `)`"),
                    });
                }
            }
            comma = true;
            self.lexer.skip_blanks();
        }
        if S::DETAIL && !has_value {
            self.layout.observe_first_item(&self.lexer, self.indented_frames);
        }
        Ok(false)
    }

    /// Consumes the end of the innermost container.
    fn read_container_end(&mut self) -> Result<(), Error> {
        let start = self.lexer.position;
        self.lexer.position += 1;
        if let Some(frame) = self.frames.last() {
            let node = frame.node;
            self.record_piece(start, node, "end");
        }
        self.close_frame();
        Ok(())
    }

    /// Closes the innermost frame.
    fn close_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.indented_frames -= usize::from(frame.construct.is_level());
        self.sink.tape().close_container(frame.node, frame.count);
        self.record_end(frame.node);
    }

    /// Opens a frame whose node is pushed next.
    fn open_frame(&mut self, construct: Construct, close: u8, key: u16, start: usize) -> Result<(), Error> {
        if self.frames.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().at(start));
        }
        let kind = match construct {
            Construct::Array => Kind::Array,
            Construct::Map => Kind::Map,
            Construct::Ref | Construct::Scalar | Construct::Do => Kind::Ref,
            Construct::Bless | Construct::Call => Kind::Object,
        };
        let node = self.sink.tape().push(Node { key, ..Node::open(kind, 0) });
        self.sink.record_begin(node, start);
        self.record_piece(start, node, "head");
        self.indented_frames += usize::from(construct.is_level());
        self.frames.push(Frame { node, count: 0, construct, close, has_value: false, last_key: 0, start });
        Ok(())
    }

    /// Pushes a leaf.
    #[inline]
    fn push_leaf(&mut self, node: Node, key: u16, start: usize) {
        let index = self.sink.tape().push(Node { key, ..node });
        if S::DETAIL {
            self.sink.record_begin(index, start);
            self.record_piece(start, index, "value");
            self.record_end(index);
        }
    }

    /// Pushes a value of two strings, such as a regexp.
    fn push_pair(&mut self, kind: Kind, parts: [Node; 2], key: u16, start: usize) {
        let node = self.sink.tape().push(Node { key, ..Node::open(kind, 0) });
        self.sink.record_begin(node, start);
        self.record_piece(start, node, "value");
        for part in parts {
            let child = self.sink.tape().push(part);
            self.sink.record_begin(child, start);
            self.record_end(child);
        }
        self.sink.tape().close_container(node, 2);
        self.record_end(node);
    }

    #[cold]
    fn malformed_error(&self, offset: usize, expected: &'static str, found: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::Malformed).at(offset).expecting(expected).finding(found.to_string())
    }

    // -- Detail ------------------------------------------------------------

    /// Assigns the bytes from `start` to here to a node.
    #[inline]
    fn record_piece(&mut self, start: usize, node: u32, name: &'static str) {
        if S::DETAIL {
            self.cover_gap(start);
            let end = self.lexer.position;
            self.sink.record_span(start, end, node, name);
            self.covered_until = self.covered_until.max(end);
        }
    }

    /// Assigns the bytes up to `end` that have no span yet: blanks, comments, commas.
    fn cover_gap(&mut self, end: usize) {
        let container = self.frames.last().map_or(NO_NODE, |frame| frame.node);
        self.sink.record_span_between(&mut self.covered_until, end, container);
    }

    #[inline]
    fn record_end(&mut self, node: u32) {
        self.sink.record_end(node, self.lexer.position);
    }
}
