//! Paths: references of a text to other values, such as `$VAR1->{'a'}[0]` and
//! `${\$VAR1->[0]}`.
//!
//! A path is parsed twice. During reading only its end is searched, and its location is kept. After reading, the path
//! is parsed again and followed.

use super::lex::{Lexer, is_word_start};
use super::number::Number;
use super::string::{Strings, Text};
use crate::document::{Kind, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::num::general;

/// A step of a path, in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PathStep<'a> {
    /// `${`, `@{`, `%{` or the first of `$$`: the following steps, up to its `Close`, are
    /// a reference to follow.
    Open(u8),
    /// `\` after an opening.
    Reference,
    /// The variable, `$VAR1`, or `@a` in `$a[0]`.
    Name(u8, &'a [u8]),
    /// A part of a glob: `*::a{ARRAY}`.
    Glob(Vec<u8>, &'a [u8]),
    Index(i64),
    Key(Kind, Vec<u8>),
    Close,
}

/// Splits a path into its steps.
#[derive(Clone, Debug)]
pub(super) struct PathSteps<'a> {
    pub(super) lexer: Lexer<'a>,
    /// The openings that are not closed yet: for each, whether it has a brace.
    open: Vec<bool>,
    has_name: bool,
    /// Whether openings without braces must be closed before the next step.
    needs_closing: bool,
}

impl<'a> PathSteps<'a> {
    pub(super) fn new(lexer: Lexer<'a>) -> PathSteps<'a> {
        PathSteps { lexer, open: Vec::new(), has_name: false, needs_closing: false }
    }

    /// Returns the next step; `None` at the end. Strings use the arena of `tape`
    /// temporarily.
    pub(super) fn next(&mut self, tape: &mut Tape, limits: &Limits) -> Result<Option<PathStep<'a>>, Error> {
        if !self.has_name {
            return self.read_opening_or_name(tape, limits).map(Some);
        }
        if self.needs_closing {
            if self.open.pop_if(|braced| !*braced).is_some() {
                return Ok(Some(PathStep::Close));
            }
            self.needs_closing = false;
        }
        let start = self.lexer.position;
        self.lexer.skip_blanks();
        match self.lexer.peek() {
            Some(b'}') if !self.open.is_empty() => {
                self.lexer.position += 1;
                self.open.pop();
                self.needs_closing = true;
                Ok(Some(PathStep::Close))
            }
            Some(b'[' | b'{') => self.read_step(tape, limits).map(Some),
            Some(b'-') if self.lexer.byte_at(self.lexer.position + 1) == Some(b'>') => {
                let arrow = self.lexer.position;
                self.lexer.position += 2;
                self.lexer.skip_blanks();
                if !matches!(self.lexer.peek(), Some(b'[' | b'{') | None) {
                    self.lexer.position = arrow;
                    return Err(self.lexer.unexpected_token_error("`[` or `{`"));
                }
                self.read_step(tape, limits).map(Some)
            }
            _ if !self.open.is_empty() => Err(self.lexer.unexpected_token_error("`}`")),
            _ => {
                self.lexer.position = start;
                Ok(None)
            }
        }
    }

    /// Reads an opening before the name, or the name.
    fn read_opening_or_name(&mut self, tape: &mut Tape, limits: &Limits) -> Result<PathStep<'a>, Error> {
        self.lexer.skip_blanks();
        let start = self.lexer.position;
        let is_inside = self.open.last() == Some(&true);
        match self.lexer.peek() {
            Some(b'\\') if is_inside => {
                self.lexer.position += 1;
                Ok(PathStep::Reference)
            }
            Some(sigil @ (b'$' | b'@' | b'%' | b'&')) => {
                self.lexer.position += 1;
                match self.lexer.peek() {
                    Some(b'{') => {
                        self.lexer.position += 1;
                        self.open.push(true);
                        Ok(PathStep::Open(sigil))
                    }
                    Some(b'$') => {
                        self.open.push(false);
                        Ok(PathStep::Open(sigil))
                    }
                    _ => self.read_name(sigil, start),
                }
            }
            Some(b'*') => self.read_glob(tape, limits),
            _ => Err(self.lexer.unexpected_token_error("a variable")),
        }
    }

    fn read_name(&mut self, sigil: u8, start: usize) -> Result<PathStep<'a>, Error> {
        let name = self.lexer.name_at(self.lexer.position);
        if name.is_empty() {
            return Err(match self.lexer.peek() {
                None => self.lexer.syntax_error(self.lexer.position, "a name"),
                Some(_) => self.lexer.code_error(start, "a variable of perl's own"),
            });
        }
        self.lexer.position += name.len();
        self.has_name = true;
        self.needs_closing = true;
        // `$a[0]` is an item of the array `@a`. But `$$a[0]` is an item of the array to which `$a` refers.
        let is_plain = sigil == b'$' && self.open.last() != Some(&false);
        let sigil = match self.lexer.peek() {
            Some(b'[') if is_plain => b'@',
            Some(b'{') if is_plain => b'%',
            _ => sigil,
        };
        Ok(PathStep::Name(sigil, name))
    }

    /// Reads `*::name{ARRAY}`.
    fn read_glob(&mut self, tape: &mut Tape, limits: &Limits) -> Result<PathStep<'a>, Error> {
        let name = read_glob_name(&mut self.lexer, tape, limits)?;
        let Some(part) = read_glob_part(&mut self.lexer) else {
            return Err(self.lexer.syntax_error(self.lexer.position, "the part of a glob, as `{ARRAY}`"));
        };
        self.has_name = true;
        self.needs_closing = true;
        Ok(PathStep::Glob(name, part))
    }

    /// Reads `[0]` or `{'a'}`.
    fn read_step(&mut self, tape: &mut Tape, limits: &Limits) -> Result<PathStep<'a>, Error> {
        let is_index = self.lexer.peek() == Some(b'[');
        if self.lexer.peek().is_none() {
            return Err(self.lexer.syntax_error(self.lexer.position, "`[` or `{`"));
        }
        self.lexer.position += 1;
        self.lexer.skip_blanks();
        let start = self.lexer.position;
        let step = match self.read_index_or_key(tape, limits)? {
            (Kind::Int, text) if is_index => {
                let index = std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
                PathStep::Index(index.ok_or_else(|| self.lexer.syntax_error(start, "an index"))?)
            }
            _ if is_index => return Err(self.lexer.syntax_error(start, "an index")),
            (Kind::Int, text) => PathStep::Key(Kind::Bytes, text),
            (kind, text) => PathStep::Key(kind, text),
        };
        let close = if is_index { (b']', "`]`") } else { (b'}', "`}`") };
        self.lexer.expect(close.0, close.1)?;
        self.needs_closing = true;
        Ok(step)
    }

    /// Reads an index or a key: its kind and bytes.
    fn read_index_or_key(&mut self, tape: &mut Tape, limits: &Limits) -> Result<(Kind, Vec<u8>), Error> {
        let lexer = &mut self.lexer;
        let start = lexer.position;
        let negative = lexer.peek() == Some(b'-');
        if negative {
            lexer.position += 1;
        }
        match lexer.peek() {
            Some(b'\'' | b'"') if !negative => {
                let input = lexer.input;
                let text = read_temporary_string(tape, |tape| Strings { tape, limits }.read_quoted(lexer), input)?;
                Ok(text)
            }
            Some(b'0'..=b'9') => match lexer.read_number(negative)? {
                Number::Node(node) => match node.kind {
                    Kind::Int => Ok((Kind::Int, (node.payload as i64).to_string().into_bytes())),
                    Kind::Uint => Ok((Kind::Bytes, node.payload.to_string().into_bytes())),
                    _ => Ok((Kind::Bytes, general::float_to_perl_text(f64::from_bits(node.payload)).into_bytes())),
                },
                Number::VString(..) => Err(lexer.syntax_error(start, "a key")),
            },
            Some(byte) if is_word_start(byte) => {
                let word = lexer.name_at(lexer.position);
                lexer.position += word.len();
                Ok((Kind::Bytes, lexer.slice(start, lexer.position).to_vec()))
            }
            _ => Err(lexer.unexpected_token_error("a key or an index")),
        }
    }
}

/// Returns the kind and the bytes of a string, and frees its place in the arena.
fn read_temporary_string(
    tape: &mut Tape,
    read: impl FnOnce(&mut Tape) -> Result<Text, Error>,
    input: &[u8],
) -> Result<(Kind, Vec<u8>), Error> {
    let len = tape.arena.len();
    let text = read(tape);
    let bytes = text.as_ref().map_or(Vec::new(), |text| text.bytes(tape, input).to_vec());
    tape.arena.truncate(len);
    text.map(|text| (if bytes.is_ascii() { Kind::Bytes } else { text.kind }, bytes))
}

/// Reads the name of the glob whose `*` is here: as perl prints it, but without the `*`:
/// `main::STDOUT`.
pub(super) fn read_glob_name(lexer: &mut Lexer<'_>, tape: &mut Tape, limits: &Limits) -> Result<Vec<u8>, Error> {
    lexer.position += 1;
    let name = if lexer.peek() == Some(b'{') {
        lexer.position += 1;
        lexer.skip_blanks();
        if !matches!(lexer.peek(), Some(b'\'' | b'"') | None) {
            return Err(lexer.unexpected_token_error("the name of a glob in quotes"));
        }
        let input = lexer.input;
        let (_, name) = read_temporary_string(tape, |tape| Strings { tape, limits }.read_quoted(lexer), input)?;
        lexer.expect(b'}', "`}`")?;
        name
    } else {
        let name = lexer.name_at(lexer.position);
        if name.is_empty() {
            return Err(lexer.syntax_error(lexer.position, "the name of a glob"));
        }
        lexer.position += name.len();
        name.to_vec()
    };
    Ok(match name.strip_prefix(b"::") {
        Some(name) => [b"main::", name].concat(),
        None if name.windows(2).any(|pair| pair == b"::") => name,
        None => [b"main::", &name[..]].concat(),
    })
}

/// Reads `{ARRAY}` after a glob.
pub(super) fn read_glob_part<'a>(lexer: &mut Lexer<'a>) -> Option<&'a [u8]> {
    let name = lexer.word_at(lexer.position + 1);
    let end = lexer.position + 1 + name.len();
    if lexer.peek() != Some(b'{') || lexer.byte_at(end) != Some(b'}') {
        return None;
    }
    matches!(name, b"SCALAR" | b"ARRAY" | b"HASH" | b"CODE" | b"GLOB" | b"IO").then(|| {
        lexer.position = end + 1;
        name
    })
}
