//! The lexer of templates.

use super::template::{MAX_DEPTH, Order};
use super::usage_error;
use crate::error::Error;

/// A letter with its modifiers.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) letter: u8,
    pub(super) has_exclamation_mark: bool,
    pub(super) order: Order,
    /// The byte order of the group that contains it.
    pub(super) inherited: Order,
    pub(super) count: Count,
    pub(super) is_before_slash: bool,
    pub(super) offset: usize,
    /// Start and end of a group's content.
    pub(super) group: (usize, usize),
}

/// A repeat count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    None,
    Number(u64),
    Star,
    /// The length of the template in this range.
    Template(usize, usize),
}

/// The template, and the ends of its brackets.
pub(super) struct Scanner<'t> {
    template: &'t [u8],
    /// The closing bracket for each opening one; `NONE` if there is none.
    ends: Vec<u32>,
}

const NONE: u32 = u32::MAX;

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

impl<'t> Scanner<'t> {
    pub(super) fn new(template: &'t [u8]) -> Scanner<'t> {
        Scanner { template, ends: match_brackets(template) }
    }

    fn get(&self, offset: usize) -> u8 {
        self.template.get(offset).copied().unwrap_or(0)
    }

    /// Returns the end of the bracket at `open`.
    fn find_bracket_end(&self, open: usize, ender: char, end: usize) -> Result<usize, Error> {
        match self.ends.get(open) {
            Some(close) if *close != NONE && (*close as usize) < end => Ok(*close as usize),
            _ => Err(self.template_error(open, format!("the `{ender}` that ends a group"), "the end".to_owned())),
        }
    }

    #[cold]
    pub(super) fn template_error(&self, offset: usize, expected: String, found: String) -> Error {
        usage_error(format!("{expected} at position {offset} of the template")).finding(found)
    }

    fn describe_found(&self, offset: usize) -> String {
        match self.template.get(offset) {
            None => "the end".to_owned(),
            Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(*byte)),
            Some(byte) => format!("the byte {byte:02X}"),
        }
    }

    /// Skips blanks and comments.
    fn skip_blank(&self, offset: &mut usize, end: usize) {
        while *offset < end {
            match self.get(*offset) {
                byte if is_space(byte) => *offset += 1,
                b'#' => {
                    let comment = self.template.get(*offset..end).unwrap_or(&[]);
                    *offset += comment.iter().position(|byte| *byte == b'\n').map_or(comment.len(), |len| len + 1);
                }
                _ => return,
            }
        }
    }

    /// Returns the next symbol before `end`.
    pub(super) fn next_symbol(
        &self,
        offset: &mut usize,
        end: usize,
        inherited: Order,
        level: usize,
    ) -> Result<Option<Symbol>, Error> {
        loop {
            self.skip_blank(offset, end);
            if *offset >= end {
                return Ok(None);
            }
            if self.get(*offset) != b',' {
                break;
            }
            *offset += 1;
        }
        let start = *offset;
        let letter = self.get(start);
        *offset += 1;
        let mut group = (0, 0);
        if letter == b'(' {
            if matches!(self.get(*offset), b'0'..=b'9' | b'*' | b'[') {
                return Err(self.template_error(
                    *offset,
                    "a letter at the start of a group".to_owned(),
                    "a count".to_owned(),
                ));
            }
            group = (*offset, self.find_bracket_end(start, ')', end)?);
            *offset = group.1 + 1;
            if level >= MAX_DEPTH {
                return Err(self.template_error(
                    start,
                    format!("at most {MAX_DEPTH} nested groups"),
                    "one more".to_owned(),
                ));
            }
        }
        let (has_exclamation_mark, order) = self.read_modifiers(offset, end, letter, inherited)?;
        let count = self.read_count(offset, end)?;
        let is_before_slash = self.read_slash(offset, end, start)?;
        Ok(Some(Symbol {
            letter,
            has_exclamation_mark,
            order,
            inherited,
            count,
            is_before_slash,
            offset: start,
            group,
        }))
    }

    fn read_modifiers(
        &self,
        offset: &mut usize,
        end: usize,
        letter: u8,
        inherited: Order,
    ) -> Result<(bool, Order), Error> {
        const SHRIEKING: &[u8] = b"sSiIlLxXnNvV@.";
        const ORDERED: &[u8] = b"sSiIlLqQjJfFdDpP(";
        let takes_order = ORDERED.contains(&letter);
        let outer = if takes_order { inherited } else { Order::Native };
        let (mut has_exclamation_mark, mut own) = (false, Order::Native);
        while *offset < end {
            let order = match self.get(*offset) {
                b'!' => {
                    if !SHRIEKING.contains(&letter) {
                        return Err(self.template_error(
                            *offset,
                            "`!` only after s S i I l L x X n N v V @ .".to_owned(),
                            "`!` after another letter".to_owned(),
                        ));
                    }
                    has_exclamation_mark = true;
                    *offset += 1;
                    continue;
                }
                b'>' => Order::Big,
                b'<' => Order::Little,
                _ => break,
            };
            if !takes_order {
                let expected = "`<` and `>` only after s S i I l L q Q j J f F d D p P and groups".to_owned();
                return Err(self.template_error(*offset, expected, "one of them after another letter".to_owned()));
            }
            let clashes = |known: Order| known != Order::Native && known != order;
            if clashes(own) || clashes(outer) {
                return Err(self.template_error(
                    *offset,
                    "one order of bytes".to_owned(),
                    "both `<` and `>`".to_owned(),
                ));
            }
            own = order;
            *offset += 1;
        }
        Ok((has_exclamation_mark, if own == Order::Native { outer } else { own }))
    }

    fn read_count(&self, offset: &mut usize, end: usize) -> Result<Count, Error> {
        if *offset >= end {
            return Ok(Count::None);
        }
        match self.get(*offset) {
            b'0'..=b'9' => self.read_number(offset).map(Count::Number),
            b'*' => {
                *offset += 1;
                Ok(Count::Star)
            }
            b'[' => {
                let close = self.find_bracket_end(*offset, ']', end)?;
                let mut inside = *offset + 1;
                *offset = close + 1;
                if !self.get(inside).is_ascii_digit() {
                    return Ok(Count::Template(inside, close));
                }
                let number = self.read_number(&mut inside)?;
                if inside != close {
                    return Err(self.template_error(
                        inside,
                        "`]` after a number".to_owned(),
                        self.describe_found(inside),
                    ));
                }
                Ok(Count::Number(number))
            }
            _ => Ok(Count::None),
        }
    }

    fn read_number(&self, offset: &mut usize) -> Result<u64, Error> {
        let start = *offset;
        let mut number = 0i64;
        while let digit @ b'0'..=b'9' = self.get(*offset) {
            let next = number.checked_mul(10).and_then(|number| number.checked_add(i64::from(digit - b'0')));
            number = next.ok_or_else(|| {
                self.template_error(start, "a count below 2^63".to_owned(), "a larger one".to_owned())
            })?;
            *offset += 1;
        }
        Ok(number.unsigned_abs())
    }

    /// Consumes `/`, if it is next.
    fn read_slash(&self, offset: &mut usize, end: usize, start: usize) -> Result<bool, Error> {
        self.skip_blank(offset, end);
        if *offset >= end || self.get(*offset) != b'/' {
            return Ok(false);
        }
        *offset += 1;
        if *offset < end && matches!(self.get(*offset), b'0'..=b'9' | b'*' | b'[') {
            return Err(self.template_error(start, "a letter after `/`".to_owned(), "a count".to_owned()));
        }
        Ok(true)
    }
}

/// Returns the ends of a template's brackets. As in perl, brackets of the other kind
/// that close nothing are skipped, and so are comments.
fn match_brackets(template: &[u8]) -> Vec<u32> {
    if !template.iter().any(|byte| matches!(byte, b'(' | b'[')) {
        return Vec::new();
    }
    let mut ends = vec![NONE; template.len()];
    let mut open: Vec<(usize, u8)> = Vec::new();
    let mut offset = 0;
    while let Some(byte) = template.get(offset) {
        match *byte {
            byte if open.last().is_some_and(|(_, ender)| *ender == byte) => {
                if let Some((start, _)) = open.pop() {
                    ends[start] = u32::try_from(offset).unwrap_or(NONE);
                }
            }
            b'#' => offset += template[offset..].iter().position(|byte| *byte == b'\n').unwrap_or(template.len()),
            b'(' => open.push((offset, b')')),
            b'[' => open.push((offset, b']')),
            _ => {}
        }
        offset += 1;
    }
    ends
}
