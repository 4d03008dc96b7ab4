//! Compiles a template to operations.
//!
//! Perl parses a template while it runs it. It does not find an error in a part that it does not reach. So an error
//! becomes an operation here, and this operation fails when it is run.

use super::layout::{Layout, NumberKind};
use super::measure::measure_template;
use super::symbol::{Count, Scanner, Symbol};
use crate::error::Error;

/// An operation: a letter with its modifiers and its count.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) letter: u8,
    /// Whether `!` follows the letter.
    pub(super) has_exclamation_mark: bool,
    pub(super) order: Order,
    pub(super) count: Count,
    /// Whether `/` follows it.
    pub(super) is_before_slash: bool,
    /// Offset in the template.
    pub(super) offset: usize,
    /// The operations of a group, or the number of the error.
    pub(super) body: (usize, usize),
    /// The content of the group, if it has one of the common simple forms.
    pub(super) fast: Option<FastGroup>,
}

/// Content of most groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FastGroup {
    /// `(N/a*)*`: a length and a string; whether blanks at its end are removed.
    Prefixed(Layout, bool),
    /// `(a8)*`: a string of this length.
    Fixed(usize, bool),
}

impl FastGroup {
    fn from_body(body: &[Op]) -> Option<FastGroup> {
        let is_string = |op: &Op| matches!(op.letter, b'a' | b'A') && !op.is_before_slash;
        match body {
            [length, string] if is_string(string) && length.is_before_slash && length.count == Count::None => {
                let layout = Layout::from_letter(length.letter, length.has_exclamation_mark, length.order)?;
                let is_fit = layout.value != NumberKind::Float && !matches!(string.count, Count::Number(_));
                is_fit.then_some(FastGroup::Prefixed(layout, string.letter == b'A'))
            }
            [string] if is_string(string) => match string.count {
                Count::None => Some(FastGroup::Fixed(1, string.letter == b'A')),
                Count::Number(len) => {
                    let len = usize::try_from(len).ok().filter(|len| *len > 0)?;
                    Some(FastGroup::Fixed(len, string.letter == b'A'))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The order of bytes in a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// The order of the machine. Icecore assumes little-endian, because nearly all machines are.
    #[default]
    Native,
    Big,
    Little,
}

/// [`Op::letter`] of a mistake in the template.
pub(super) const ERROR_LETTER: u8 = 0;

/// A compiled template.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    /// Number of operations that are outside of all groups; they are the first ones.
    pub(super) top: usize,
    /// Length of the template.
    pub(super) len: usize,
    errors: Vec<Error>,
    /// Whether it begins with `U`.
    pub(super) starts_in_u0: bool,
    /// Whether it begins with `U` or contains `U0`. Then bytes are characters, and they are read as UTF-8 while `U0`
    /// applies.
    pub(super) needs_utf8: bool,
    /// Whether it contains positions that are counted in bytes even if characters are
    /// counted.
    pub(super) counts_bytes: bool,
}

/// Maximum number of levels of groups, as in perl.
pub(super) const MAX_DEPTH: usize = 100;

impl Program {
    pub(super) fn new(template: &[u8]) -> Program {
        let mut program = Program {
            ops: Vec::new(),
            top: 0,
            len: template.len(),
            errors: Vec::new(),
            starts_in_u0: first_letter(template) == Some(b'U'),
            needs_utf8: needs_utf8(template),
            counts_bytes: false,
        };
        let scanner = Scanner::new(template);
        program.compile(&scanner, 0, template.len(), Order::Native, 0);
        program.top = program.ops.len();
        // A group is compiled after the operation that contains it, and its operations are appended. So the list
        // grows while the loop walks over it.
        let mut index = 0;
        let mut levels = vec![0u8; program.ops.len()];
        while index < program.ops.len() {
            crate::steps::count(1);
            let Op { letter, order, body, .. } = program.ops[index];
            if letter == b'(' {
                let level = levels[index] + 1;
                let start = program.ops.len();
                program.compile(&scanner, body.0, body.1, order, usize::from(level));
                levels.resize(program.ops.len(), level);
                program.ops[index].body = (start, program.ops.len());
                if program.ops[index].count == Count::Star {
                    program.ops[index].fast = FastGroup::from_body(&program.ops[start..]);
                }
            }
            index += 1;
        }
        program.counts_bytes = program.ops.iter().any(|op| op.has_exclamation_mark && matches!(op.letter, b'@' | b'.'));
        program
    }

    /// Compiles a part of the template. The body of a group is first its range in the template, and later the range
    /// of its operations.
    fn compile(&mut self, scanner: &Scanner<'_>, start: usize, end: usize, order: Order, level: usize) {
        let mut offset = start;
        loop {
            crate::steps::count(1);
            let symbol = scanner.next_symbol(&mut offset, end, order, level);
            let op =
                match symbol.and_then(|symbol| symbol.map(|symbol| self.make_op(scanner, symbol, level)).transpose()) {
                    Ok(Some(op)) => op,
                    Ok(None) => return,
                    Err(error) => {
                        self.errors.push(error);
                        self.ops.push(Op {
                            letter: ERROR_LETTER,
                            has_exclamation_mark: false,
                            order,
                            count: Count::None,
                            is_before_slash: false,
                            offset,
                            body: (self.errors.len() - 1, 0),
                            fast: None,
                        });
                        return;
                    }
                };
            self.ops.push(op);
        }
    }

    fn make_op(&self, scanner: &Scanner<'_>, symbol: Symbol, level: usize) -> Result<Op, Error> {
        let Symbol { letter, has_exclamation_mark, order, inherited, count, is_before_slash, offset, group } = symbol;
        let count = match count {
            Count::Template(start, end) => Count::Number(measure_template(scanner, start, end, inherited, level)?),
            count => count,
        };
        Ok(Op { letter, has_exclamation_mark, order, count, is_before_slash, offset, body: group, fast: None })
    }

    /// Returns the error of an operation that is a mistake.
    pub(super) fn mistake_error(&self, op: &Op) -> Error {
        self.errors.get(op.body.0).cloned().unwrap_or_else(|| super::usage_error("a template"))
    }
}

/// Returns the first byte outside of comments.
fn first_letter(mut template: &[u8]) -> Option<u8> {
    while let [b'#', rest @ ..] = template {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        template = &rest[end + 1..];
    }
    template.first().copied()
}

fn needs_utf8(template: &[u8]) -> bool {
    let (mut offset, mut is_first) = (0, true);
    while let Some(byte) = template.get(offset) {
        crate::steps::count(1);
        match byte {
            b'#' => match template[offset + 1..].iter().position(|byte| *byte == b'\n') {
                Some(end) => offset += 1 + end,
                None => return false,
            },
            b'U' if is_first || template.get(offset + 1) == Some(&b'0') => return true,
            b'U' => {}
            _ => is_first = false,
        }
        offset += 1;
    }
    false
}
