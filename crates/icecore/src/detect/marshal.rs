//! Ruby's Marshal, by a walk over all of it.

use super::Sample;
use super::grade;
use super::walk::{DEPTH, Step, Stop, Walk};
use crate::format::{Certainty, Guess};

pub(super) fn detect(sample: &Sample<'_>) -> Option<Guess> {
    let minor = match sample.bytes {
        [4, minor @ 0..=8, ..] => *minor,
        _ => return None,
    };
    let mut walk = Walk::new(sample.bytes);
    walk.at = 2;
    let end = value(&mut walk);
    let best = if walk.at >= 6 { Certainty::Sure } else { Certainty::Likely };
    grade(sample, end, &walk, best, &format!("4.{minor}"))
}

/// What is due.
enum Due {
    Values(u64),
    /// Pairs of a symbol and a value; whether the symbol was read.
    Members(u64, bool),
    /// A count of members, then the members: what follows a value with
    /// instance variables.
    Variables,
}

fn value(walk: &mut Walk<'_>) -> Step<()> {
    let mut symbols = 0u64;
    let mut due = vec![Due::Values(1)];
    while let Some(top) = due.last_mut() {
        match top {
            Due::Values(0) | Due::Members(0, false) => {
                due.pop();
                continue;
            }
            Due::Values(left) => *left -= 1,
            Due::Members(left, true) => *top = Due::Members(*left - 1, false),
            Due::Members(left, false) => {
                *top = Due::Members(*left, true);
                symbol(walk, &mut symbols)?;
                continue;
            }
            Due::Variables => {
                *top = Due::Members(count(walk)?, false);
                continue;
            }
        }
        let next = match walk.u8()? {
            b'0' | b'T' | b'F' => None,
            b'i' => {
                long(walk)?;
                None
            }
            b':' => {
                bytes(walk)?;
                symbols += 1;
                None
            }
            b';' => {
                link(walk, symbols)?;
                None
            }
            b'"' | b'f' | b'c' | b'm' | b'M' => {
                bytes(walk)?;
                None
            }
            b'/' => {
                bytes(walk)?;
                walk.u8()?;
                None
            }
            b'l' => {
                if !matches!(walk.u8()?, b'+' | b'-') {
                    return Err(Stop::Wrong);
                }
                let shorts = count(walk)?;
                walk.take(shorts.saturating_mul(2))?;
                None
            }
            b'@' => {
                count(walk)?;
                None
            }
            b'[' => Some(Due::Values(count(walk)?)),
            b'{' => Some(Due::Values(count(walk)?.saturating_mul(2))),
            b'}' => Some(Due::Values(count(walk)?.saturating_mul(2).saturating_add(1))),
            b'o' | b'S' => {
                symbol(walk, &mut symbols)?;
                Some(Due::Members(count(walk)?, false))
            }
            b'u' => {
                symbol(walk, &mut symbols)?;
                bytes(walk)?;
                None
            }
            b'U' | b'C' | b'e' | b'd' => {
                symbol(walk, &mut symbols)?;
                Some(Due::Values(1))
            }
            b'I' => {
                due.push(Due::Variables);
                Some(Due::Values(1))
            }
            _ => return Err(Stop::Wrong),
        };
        if let Some(next) = next {
            if due.len() >= DEPTH {
                return Err(Stop::Wrong);
            }
            due.push(next);
        }
    }
    Ok(())
}

/// A symbol in the place of a name; its encoding may stand with it.
fn symbol(walk: &mut Walk<'_>, symbols: &mut u64) -> Step<()> {
    match walk.u8()? {
        b':' => {
            bytes(walk)?;
            *symbols += 1;
            Ok(())
        }
        b';' => link(walk, *symbols),
        b'I' => {
            walk.expect(b":")?;
            bytes(walk)?;
            *symbols += 1;
            // `:E T` or `:encoding "…"`.
            for _ in 0..count(walk)? {
                match walk.u8()? {
                    b':' => {
                        bytes(walk)?;
                        *symbols += 1;
                    }
                    b';' => link(walk, *symbols)?,
                    _ => return Err(Stop::Wrong),
                }
                match walk.u8()? {
                    b'T' | b'F' => {}
                    b'"' => drop(bytes(walk)?),
                    b'@' => drop(count(walk)?),
                    _ => return Err(Stop::Wrong),
                }
            }
            Ok(())
        }
        _ => Err(Stop::Wrong),
    }
}

fn link(walk: &mut Walk<'_>, symbols: u64) -> Step<()> {
    if count(walk)? < symbols { Ok(()) } else { Err(Stop::Wrong) }
}

fn bytes<'a>(walk: &mut Walk<'a>) -> Step<&'a [u8]> {
    let len = count(walk)?;
    walk.take(len)
}

fn count(walk: &mut Walk<'_>) -> Step<u64> {
    u64::try_from(long(walk)?).map_err(|_| Stop::Wrong)
}

fn long(walk: &mut Walk<'_>) -> Step<i64> {
    let head = walk.u8()? as i8;
    Ok(match head {
        0 => 0,
        5..=127 => i64::from(head) - 5,
        -128..=-5 => i64::from(head) + 5,
        1..=4 => walk.uint_le(u64::from(head.unsigned_abs()))? as i64,
        -4..=-1 => {
            let size = u64::from(head.unsigned_abs());
            walk.uint_le(size)? as i64 - (1 << (8 * size))
        }
    })
}
