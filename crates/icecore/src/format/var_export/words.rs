//! The beginning of a value: leaves, and the openings of containers.

use super::lex::{Lexer, is_word_start};
use super::number::Number;
use super::string::StringLiteral;
use crate::error::{Error, ErrorKind};

/// A leaf or the opening of a container.
pub(super) enum ValueStart<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(StringLiteral),
    /// The class of an enum case, and the name of the case.
    Case(&'a [u8], &'a [u8]),
    Open(Opening<'a>),
}

/// The opening of a container, up to its bracket.
pub(super) struct Opening<'a> {
    pub(super) syntax: ContainerSyntax,
    /// The class as written.
    pub(super) class: &'a [u8],
    /// The bracket that ends it.
    pub(super) close: u8,
}

/// How a container is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerSyntax {
    Array,
    /// `(object) array(…)`
    Cast,
    /// `\Cls::__set_state(array(…))`
    State,
}

impl<'a> Lexer<'a> {
    /// Reads a leaf, or the opening of a container.
    pub(super) fn read_value(&mut self) -> Result<ValueStart<'a>, Error> {
        let start = self.offset;
        match self.peek() {
            _ if self.is_string() => Ok(ValueStart::Text(self.read_string()?)),
            Some(b'0'..=b'9') => Ok(ValueStart::Number(self.read_number()?)),
            Some(b'.') if self.byte_at(start + 1).is_some_and(|byte| byte.is_ascii_digit()) => {
                Ok(ValueStart::Number(self.read_number()?))
            }
            Some(b'.') if self.rest().starts_with(b"...") => {
                Err(self.code_error(start, "the operator `...`, a spread"))
            }
            Some(b'+' | b'-') => Ok(ValueStart::Number(self.read_signed()?)),
            Some(b'[') => {
                self.offset += 1;
                Ok(ValueStart::Open(Opening { syntax: ContainerSyntax::Array, class: b"", close: b']' }))
            }
            Some(b'(') => self.read_cast(),
            Some(b'\\') => self.read_word(),
            Some(byte) if is_word_start(byte) => self.read_word(),
            Some(b'$') => Err(self.code_error(start, "a variable")),
            Some(b'<') if self.rest().starts_with(b"<<<") => {
                Err(self.code_error(start, "a heredoc or nowdoc: write the string in quotes"))
            }
            Some(byte @ (b'&' | b'!' | b'~' | b'@' | b'`')) => {
                Err(self.code_error(start, format_args!("the operator `{}`", char::from(byte))))
            }
            Some(b'#') => Err(self.code_error(start, "an attribute")),
            _ => Err(self.unexpected_byte_error(start, "a value")),
        }
    }

    /// Reads a number after signs.
    fn read_signed(&mut self) -> Result<Number, Error> {
        let start = self.offset;
        let mut is_negative = false;
        let mut previous_sign = 0;
        while let Some(sign @ (b'+' | b'-')) = self.peek() {
            if sign == previous_sign {
                return Err(self.unexpected_byte_error(self.offset, "a blank between two signs"));
            }
            is_negative ^= sign == b'-';
            self.offset += 1;
            let sign_end = self.offset;
            self.skip_blanks()?;
            previous_sign = if self.offset == sign_end { sign } else { 0 };
        }
        let number = match self.peek() {
            Some(b'0'..=b'9' | b'.') => self.read_number()?,
            Some(byte) if byte == b'\\' || is_word_start(byte) => match self.read_word()? {
                ValueStart::Number(number) => number,
                _ => return Err(self.code_error(start, "a sign before something that is not a number")),
            },
            Some(b'$' | b'(' | b'[' | b'\'' | b'"') => {
                return Err(self.code_error(start, "a sign before something that is not a number"));
            }
            _ => return Err(self.unexpected_byte_error(self.offset, "a number")),
        };
        let number = if is_negative { number.negated() } else { number };
        // The smallest integer has no literal: PHP writes it as a difference.
        if number == Number::Int(i64::MIN + 1) {
            let end = self.offset;
            self.skip_blanks()?;
            if self.peek() == Some(b'-') {
                let minus = self.offset;
                self.offset += 1;
                self.skip_blanks()?;
                if self.word_at(self.offset) == b"1" {
                    self.offset += 1;
                    return Ok(Number::Int(i64::MIN));
                }
                if self.peek().is_none() {
                    return Err(self.unexpected_byte_error(self.offset, "1"));
                }
                return Err(self.code_error(minus, "the operator `-`"));
            }
            self.offset = end;
        }
        Ok(number)
    }

    /// Reads `(object)` and the array after it.
    fn read_cast(&mut self) -> Result<ValueStart<'a>, Error> {
        let start = self.offset;
        self.offset += 1;
        self.skip_blanks()?;
        let word = self.word_at(self.offset);
        self.offset += word.len();
        self.skip_blanks()?;
        match self.peek() {
            None => return Err(self.unexpected_byte_error(self.offset, "`object)`")),
            Some(b')') if word.eq_ignore_ascii_case(b"object") => self.offset += 1,
            Some(b')') if CASTS.iter().any(|cast| word.eq_ignore_ascii_case(cast)) => {
                return Err(self.code_error(start, format_args!("the cast `({})`", String::from_utf8_lossy(word))));
            }
            _ => return Err(self.code_error(start, "an expression in brackets")),
        }
        self.skip_blanks()?;
        let close = self.read_array_opening("an array after `(object)`")?;
        Ok(ValueStart::Open(Opening { syntax: ContainerSyntax::Cast, class: b"stdClass", close }))
    }

    /// Reads `array(` or `[`; returns the bracket that closes it.
    fn read_array_opening(&mut self, expected: &'static str) -> Result<u8, Error> {
        if self.peek() == Some(b'[') {
            self.offset += 1;
            return Ok(b']');
        }
        let start = self.offset;
        let word = self.word_at(start);
        let is_array = word.eq_ignore_ascii_case(b"array");
        if !is_array && (word.is_empty() || start + word.len() == self.input.len()) {
            let offset = if word.is_empty() { start } else { self.input.len() };
            return match self.byte_at(offset) {
                Some(b'$' | b'\\' | b'(') => Err(self.code_error(offset, "something that is not an array")),
                _ => Err(self.unexpected_byte_error(offset, expected)),
            };
        }
        if !is_array {
            return Err(self.code_error(start, format_args!("`{}`", String::from_utf8_lossy(word))));
        }
        self.offset += word.len();
        self.expect_byte(b'(', "`(` after `array`")?;
        Ok(b')')
    }

    /// Reads a value that begins with a name.
    fn read_word(&mut self) -> Result<ValueStart<'a>, Error> {
        let start = self.offset;
        let name = self.read_name()?;
        let end = self.offset;
        self.skip_blanks()?;
        if self.rest().starts_with(b"::") {
            return self.read_member(start, name);
        }
        let is_array = name.eq_ignore_ascii_case(b"array");
        let is_call = self.peek() == Some(b'(');
        if is_call && is_array {
            self.offset += 1;
            return Ok(ValueStart::Open(Opening { syntax: ContainerSyntax::Array, class: b"", close: b')' }));
        }
        let name_text = String::from_utf8_lossy(name);
        let bare = name.strip_prefix(b"\\").unwrap_or(name);
        let is_cut = end == self.input.len() || self.rest() == b":" || is_array && self.peek().is_none();
        self.offset = end;
        if is_call {
            return Err(self.code_error(start, format_args!("`{name_text}(`, a call")));
        }
        let is = |word: &[u8]| bare.eq_ignore_ascii_case(word);
        Ok(match bare {
            _ if is(b"null") => ValueStart::Null,
            _ if is(b"true") => ValueStart::Bool(true),
            _ if is(b"false") => ValueStart::Bool(false),
            b"INF" => ValueStart::Number(Number::Float(f64::INFINITY)),
            b"NAN" => ValueStart::Number(Number::Float(f64::NAN)),
            b"PHP_INT_MAX" => ValueStart::Number(Number::Int(i64::MAX)),
            b"PHP_INT_MIN" => ValueStart::Number(Number::Int(i64::MIN)),
            _ if is_cut => return Err(self.unexpected_byte_error(self.input.len(), "the rest of a word")),
            _ if KEYWORDS.iter().any(|word| is(word)) => {
                return Err(self.code_error(start, format_args!("`{name_text}`")));
            }
            _ => return Err(self.code_error(start, format_args!("`{name_text}`, a constant"))),
        })
    }

    /// A name at the end of the input may be cut off. If it is the whole value, it is a
    /// constant, unless a class name or one of the few known words may begin like this.
    pub(super) fn constant_error(&self, start: usize, error: Error) -> Error {
        let rest = self.input.get(start..).unwrap_or(&[]);
        let name = rest.trim_ascii_end();
        let is_name = self.word_at(start) == name && name.first().is_some_and(|byte| is_word_start(*byte));
        let begins = |word: &&[u8]| word.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        let is_cut = name.len() == rest.len() && WORDS.iter().any(begins);
        if error.kind() != ErrorKind::Truncated || !is_name || is_cut || name.eq_ignore_ascii_case(b"array") {
            return error;
        }
        let name_text = String::from_utf8_lossy(name);
        if KEYWORDS.iter().any(|word| name.eq_ignore_ascii_case(word)) {
            return self.code_error(start, format_args!("`{name_text}`"));
        }
        self.code_error(start, format_args!("`{name_text}`, a constant"))
    }

    /// Reads `Cls::…`.
    fn read_member(&mut self, start: usize, class: &'a [u8]) -> Result<ValueStart<'a>, Error> {
        self.offset += 2;
        self.skip_blanks()?;
        let bare = class.strip_prefix(b"\\").unwrap_or(class);
        let first = bare.split(|byte| *byte == b'\\').next().unwrap_or(bare).to_ascii_lowercase();
        if [&b"self"[..], b"static", b"parent", b"namespace"].contains(&first.as_slice()) {
            let class_text = String::from_utf8_lossy(class);
            return Err(self.code_error(start, format_args!("`{class_text}`, which depends on its position")));
        }
        let member_start = self.offset;
        let member = self.word_at(member_start);
        match self.peek() {
            Some(byte) if is_word_start(byte) => self.offset += member.len(),
            Some(b'$' | b'{') => return Err(self.code_error(start, "a static variable")),
            _ => return Err(self.unexpected_byte_error(member_start, "`__set_state`, or the name of an enum case")),
        }
        let end = self.offset;
        self.skip_blanks()?;
        if self.peek() == Some(b'(') {
            if !member.eq_ignore_ascii_case(b"__set_state") {
                let (class, member) = (String::from_utf8_lossy(class), String::from_utf8_lossy(member));
                return Err(self.code_error(start, format_args!("`{class}::{member}(`, a call")));
            }
            self.offset += 1;
            self.skip_blanks()?;
            let close = self.read_array_opening("an array in `__set_state`")?;
            return Ok(ValueStart::Open(Opening { syntax: ContainerSyntax::State, class, close }));
        }
        self.offset = end;
        if member.eq_ignore_ascii_case(b"class") {
            let len = bare.len();
            let name_start = start + (class.len() - len);
            return Ok(ValueStart::Text(StringLiteral::Plain(name_start, len)));
        }
        Ok(ValueStart::Case(bare, member))
    }
}

/// Types in the brackets of a cast, other than `object`.
const CASTS: &[&[u8]] =
    &[b"array", b"binary", b"bool", b"boolean", b"double", b"float", b"int", b"integer", b"string", b"unset"];

/// Words that are values, or begin one.
const WORDS: &[&[u8]] = &[b"null", b"true", b"false", b"array", b"INF", b"NAN", b"PHP_INT_MAX", b"PHP_INT_MIN"];

/// Words that begin code.
const KEYWORDS: &[&[u8]] = &[
    b"new",
    b"fn",
    b"function",
    b"static",
    b"clone",
    b"include",
    b"include_once",
    b"require",
    b"require_once",
    b"eval",
    b"exit",
    b"die",
    b"print",
    b"echo",
    b"match",
    b"throw",
    b"yield",
    b"isset",
    b"empty",
    b"list",
    b"namespace",
    b"use",
    b"const",
    b"class",
    b"if",
    b"return",
];
