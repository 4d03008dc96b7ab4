//! The lexer of templates.

use super::template::{DEPTH, Order};
use super::usage_error;
use crate::error::Error;

/// A letter with its modifiers.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) letter: u8,
    pub(super) shriek: bool,
    pub(super) order: Order,
    /// The byte order of the group that contains it.
    pub(super) inherited: Order,
    pub(super) count: Count,
    pub(super) slash: bool,
    pub(super) at: usize,
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

    fn get(&self, at: usize) -> u8 {
        self.template.get(at).copied().unwrap_or(0)
    }

    /// Returns the end of the bracket at `open`.
    fn find_bracket_end(&self, open: usize, ender: char, end: usize) -> Result<usize, Error> {
        match self.ends.get(open) {
            Some(close) if *close != NONE && (*close as usize) < end => Ok(*close as usize),
            _ => Err(self.template_error(open, format!("the `{ender}` that ends a group"), "the end".to_owned())),
        }
    }

    #[cold]
    pub(super) fn template_error(&self, at: usize, expected: String, found: String) -> Error {
        usage_error(format!("{expected} at position {at} of the template")).finding(found)
    }

    fn describe_found(&self, at: usize) -> String {
        match self.template.get(at) {
            None => "the end".to_owned(),
            Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(*byte)),
            Some(byte) => format!("the byte {byte:02X}"),
        }
    }

    /// Skips blanks and comments.
    fn skip_blank(&self, at: &mut usize, end: usize) {
        while *at < end {
            match self.get(*at) {
                byte if is_space(byte) => *at += 1,
                b'#' => {
                    let comment = self.template.get(*at..end).unwrap_or(&[]);
                    *at += comment.iter().position(|byte| *byte == b'\n').map_or(comment.len(), |len| len + 1);
                }
                _ => return,
            }
        }
    }

    /// Returns the next symbol before `end`.
    pub(super) fn next_symbol(
        &self,
        at: &mut usize,
        end: usize,
        inherited: Order,
        level: usize,
    ) -> Result<Option<Symbol>, Error> {
        loop {
            self.skip_blank(at, end);
            if *at >= end {
                return Ok(None);
            }
            if self.get(*at) != b',' {
                break;
            }
            *at += 1;
        }
        let start = *at;
        let letter = self.get(start);
        *at += 1;
        let mut group = (0, 0);
        if letter == b'(' {
            if matches!(self.get(*at), b'0'..=b'9' | b'*' | b'[') {
                return Err(self.template_error(
                    *at,
                    "a letter at the start of a group".to_owned(),
                    "a count".to_owned(),
                ));
            }
            group = (*at, self.find_bracket_end(start, ')', end)?);
            *at = group.1 + 1;
            if level >= DEPTH {
                return Err(self.template_error(
                    start,
                    format!("at most {DEPTH} nested groups"),
                    "one more".to_owned(),
                ));
            }
        }
        let (shriek, order) = self.read_modifiers(at, end, letter, inherited)?;
        let count = self.read_count(at, end)?;
        let slash = self.read_slash(at, end, start)?;
        Ok(Some(Symbol { letter, shriek, order, inherited, count, slash, at: start, group }))
    }

    fn read_modifiers(&self, at: &mut usize, end: usize, letter: u8, inherited: Order) -> Result<(bool, Order), Error> {
        const SHRIEKING: &[u8] = b"sSiIlLxXnNvV@.";
        const ORDERED: &[u8] = b"sSiIlLqQjJfFdDpP(";
        let takes_order = ORDERED.contains(&letter);
        let outer = if takes_order { inherited } else { Order::Native };
        let (mut shriek, mut own) = (false, Order::Native);
        while *at < end {
            let order = match self.get(*at) {
                b'!' => {
                    if !SHRIEKING.contains(&letter) {
                        return Err(self.template_error(
                            *at,
                            "`!` only after s S i I l L x X n N v V @ .".to_owned(),
                            "`!` after another letter".to_owned(),
                        ));
                    }
                    shriek = true;
                    *at += 1;
                    continue;
                }
                b'>' => Order::Big,
                b'<' => Order::Little,
                _ => break,
            };
            if !takes_order {
                let expected = "`<` and `>` only after s S i I l L q Q j J f F d D p P and groups".to_owned();
                return Err(self.template_error(*at, expected, "one of them after another letter".to_owned()));
            }
            let clashes = |known: Order| known != Order::Native && known != order;
            if clashes(own) || clashes(outer) {
                return Err(self.template_error(*at, "one order of bytes".to_owned(), "both `<` and `>`".to_owned()));
            }
            own = order;
            *at += 1;
        }
        Ok((shriek, if own == Order::Native { outer } else { own }))
    }

    fn read_count(&self, at: &mut usize, end: usize) -> Result<Count, Error> {
        if *at >= end {
            return Ok(Count::None);
        }
        match self.get(*at) {
            b'0'..=b'9' => self.read_number(at).map(Count::Number),
            b'*' => {
                *at += 1;
                Ok(Count::Star)
            }
            b'[' => {
                let close = self.find_bracket_end(*at, ']', end)?;
                let mut inside = *at + 1;
                *at = close + 1;
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

    fn read_number(&self, at: &mut usize) -> Result<u64, Error> {
        let start = *at;
        let mut number = 0i64;
        while let digit @ b'0'..=b'9' = self.get(*at) {
            let next = number.checked_mul(10).and_then(|number| number.checked_add(i64::from(digit - b'0')));
            number = next.ok_or_else(|| {
                self.template_error(start, "a count below 2^63".to_owned(), "a larger one".to_owned())
            })?;
            *at += 1;
        }
        Ok(number.unsigned_abs())
    }

    /// Consumes `/`, if it is next.
    fn read_slash(&self, at: &mut usize, end: usize, start: usize) -> Result<bool, Error> {
        self.skip_blank(at, end);
        if *at >= end || self.get(*at) != b'/' {
            return Ok(false);
        }
        *at += 1;
        if *at < end && matches!(self.get(*at), b'0'..=b'9' | b'*' | b'[') {
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
    let mut at = 0;
    while let Some(byte) = template.get(at) {
        match *byte {
            byte if open.last().is_some_and(|(_, ender)| *ender == byte) => {
                if let Some((start, _)) = open.pop() {
                    ends[start] = u32::try_from(at).unwrap_or(NONE);
                }
            }
            b'#' => at += template[at..].iter().position(|byte| *byte == b'\n').unwrap_or(template.len()),
            b'(' => open.push((at, b')')),
            b'[' => open.push((at, b']')),
            _ => {}
        }
        at += 1;
    }
    ends
}
