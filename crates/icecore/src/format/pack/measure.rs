//! Measures a template in brackets: `x[template]`.

use super::layout::{Layout, NumberKind};
use super::symbol::{Count, Scanner, Symbol};
use super::template::Order;
use crate::error::Error;

/// A part of the template that is being measured.
struct MeasuredRange {
    offset: usize,
    end: usize,
    total: u64,
    state: MeasureState,
}

/// State that a part needs to continue.
enum MeasureState {
    Nothing,
    /// The count of a symbol is being measured.
    Count(Symbol),
    /// The length of a group that occurs this many times.
    Group(u64, usize),
}

/// Returns the length of the template between `start` and `end`.
pub(super) fn measure_template(
    scanner: &Scanner<'_>,
    start: usize,
    end: usize,
    order: Order,
    level: usize,
) -> Result<u64, Error> {
    let mut parts = vec![MeasuredRange { offset: start, end, total: 0, state: MeasureState::Nothing }];
    let mut measured = 0;
    while let Some(part) = parts.last_mut() {
        let counted = match std::mem::replace(&mut part.state, MeasureState::Nothing) {
            MeasureState::Group(times, offset) => {
                part.total = add_product(scanner, part.total, times, measured, offset)?;
                None
            }
            MeasureState::Count(symbol) => Some((symbol, measured)),
            MeasureState::Nothing => None,
        };
        let (symbol, count) = match counted {
            Some(counted) => counted,
            None => match scanner.next_symbol(&mut part.offset, part.end, order, level)? {
                None => {
                    measured = part.total;
                    parts.pop();
                    continue;
                }
                Some(symbol) => match symbol.count {
                    Count::None => (symbol, 1),
                    Count::Number(count) => (symbol, count),
                    Count::Star => {
                        return Err(scanner.template_error(
                            symbol.offset,
                            "no `*` in brackets".to_owned(),
                            "one".to_owned(),
                        ));
                    }
                    Count::Template(start, end) => {
                        part.state = MeasureState::Count(symbol);
                        parts.push(MeasuredRange { offset: start, end, total: 0, state: MeasureState::Nothing });
                        continue;
                    }
                },
            },
        };
        if symbol.letter == b'(' {
            let (start, end) = symbol.group;
            part.state = MeasureState::Group(count, symbol.offset);
            parts.push(MeasuredRange { offset: start, end, total: 0, state: MeasureState::Nothing });
        } else {
            part.total = add_letter(scanner, part.total, &symbol, count)?;
        }
    }
    Ok(measured)
}

/// Adds a letter that is not a group to the total.
fn add_letter(scanner: &Scanner<'_>, total: u64, symbol: &Symbol, count: u64) -> Result<u64, Error> {
    let excess = total % count.max(1);
    let (times, size) = match (symbol.letter, symbol.has_exclamation_mark) {
        (b'%', _) => return Ok(total),
        (b'X', has_exclamation_mark) => {
            let back = if has_exclamation_mark { excess } else { count };
            return total.checked_sub(back).ok_or_else(|| {
                scanner.template_error(
                    symbol.offset,
                    "an `X` inside of the string".to_owned(),
                    "one before its start".to_owned(),
                )
            });
        }
        (b'x', true) => (if excess == 0 { 0 } else { count - excess }, 1),
        (b'x' | b'a' | b'A' | b'Z' | b'C' | b'W' | b'U' | b'w', _) => (count, 1),
        (b'b' | b'B', _) => (count / 8 + u64::from(!count.is_multiple_of(8)), 1),
        (b'h' | b'H', _) => (count / 2 + count % 2, 1),
        (b'p', _) => (count, 8),
        (b'P', _) => (1, 8),
        (b'@' | b'.' | b'/' | b'u', _) => {
            let found = format!("`{}`", char::from(symbol.letter));
            return Err(scanner.template_error(
                symbol.offset,
                "a letter of fixed length in brackets".to_owned(),
                found,
            ));
        }
        (letter, has_exclamation_mark) => match Layout::from_letter(letter, has_exclamation_mark, symbol.order) {
            Some(Layout { size, value: NumberKind::Int | NumberKind::Uint | NumberKind::Float, .. }) => {
                (count, size as u64)
            }
            _ => {
                let found = char::from(letter).escape_default().to_string();
                return Err(scanner.template_error(symbol.offset, super::LETTERS.to_owned(), format!("`{found}`")));
            }
        },
    };
    add_product(scanner, total, times, size, symbol.offset)
}

fn add_product(scanner: &Scanner<'_>, total: u64, times: u64, size: u64, offset: usize) -> Result<u64, Error> {
    let sum = times.checked_mul(size).and_then(|length| total.checked_add(length));
    sum.filter(|sum| *sum < 1 << 63)
        .ok_or_else(|| scanner.template_error(offset, "a length below 2^63".to_owned(), "a larger one".to_owned()))
}
