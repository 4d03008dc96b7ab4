//! PHP's text forms: sessions and var_export.

use super::Sample;
use super::walk::{DEPTH, Step, Stop, Walk, is_integer, is_number};
use crate::format::{Certainty, Guess};

/// A session file: `name|value…`, or with a length before each name.
pub(super) fn session(sample: &Sample<'_>) -> Option<Guess> {
    let text = names(sample, |walk| {
        let name = walk.until(b'|')?;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.!".contains(byte) || *byte >= 0x80;
        if name.is_empty() || name.len() > 256 || !name.iter().all(is_name) { Err(Stop::Wrong) } else { Ok(()) }
    });
    if text.is_some() {
        return text.map(|certainty| Guess { certainty, variant: "handler php".to_owned() });
    }
    let binary = names(sample, |walk| {
        let len = walk.u8()? & 0x7f;
        let name = walk.take(u64::from(len))?;
        if name.is_empty() || !name.iter().all(|byte| byte.is_ascii_graphic() || *byte >= 0x80) {
            return Err(Stop::Wrong);
        }
        Ok(())
    });
    binary.map(|certainty| Guess { certainty, variant: "handler php_binary".to_owned() })
}

fn names<'a>(sample: &Sample<'a>, name: impl Fn(&mut Walk<'a>) -> Step<()>) -> Option<Certainty> {
    let mut walk = Walk::new(sample.bytes);
    let mut count = 0u64;
    while !walk.at_end() {
        match name(&mut walk).and_then(|()| value(&mut walk)) {
            Ok(()) => count += 1,
            Err(Stop::End) if !sample.whole && count > 0 => return Some(Certainty::Likely),
            Err(_) => return None,
        }
    }
    (count > 0).then_some(Certainty::Sure)
}

/// Walks over one serialized value.
fn value(walk: &mut Walk<'_>) -> Step<()> {
    // How many keys and values are missing, by level.
    let mut open: Vec<u64> = Vec::new();
    loop {
        match open.last_mut() {
            Some(0) => {
                walk.expect(b"}")?;
                open.pop();
            }
            Some(left) => {
                let is_key = *left % 2 == 0;
                if is_key && !matches!(walk.peek().ok_or(Stop::End)?, b'i' | b's' | b'S') {
                    return Err(Stop::Wrong);
                }
                *left -= 1;
                open.extend(item(walk)?);
            }
            None => open.extend(item(walk)?),
        }
        if open.is_empty() {
            return Ok(());
        }
        if open.len() > DEPTH {
            return Err(Stop::Wrong);
        }
    }
}

/// Walks over a scalar, or the head of what has children: gives their number.
fn item(walk: &mut Walk<'_>) -> Step<Option<u64>> {
    let tag = walk.u8()?;
    walk.expect(if tag == b'N' { b";" } else { b":" })?;
    match tag {
        b'N' => {}
        b'b' if !matches!(walk.until(b';')?, b"0" | b"1") => return Err(Stop::Wrong),
        b'b' => {}
        b'i' | b'r' | b'R' if !is_integer(walk.until(b';')?) => return Err(Stop::Wrong),
        b'i' | b'r' | b'R' => {}
        b'd' => match walk.until(b';')? {
            b"NAN" | b"INF" | b"-INF" => {}
            text if is_number(text) => {}
            _ => return Err(Stop::Wrong),
        },
        b's' | b'E' => {
            quoted(walk)?;
            walk.expect(b";")?;
        }
        b'S' => {
            let decoded = number(walk, b':')?;
            walk.expect(b"\"")?;
            for _ in 0..decoded {
                if walk.u8()? == b'\\' {
                    walk.take(2)?;
                }
            }
            walk.expect(b"\";")?;
        }
        b'a' => {
            let count = number(walk, b':')?;
            walk.expect(b"{")?;
            return Ok(Some(count.saturating_mul(2)));
        }
        b'O' => {
            quoted(walk)?;
            walk.expect(b":")?;
            let count = number(walk, b':')?;
            walk.expect(b"{")?;
            return Ok(Some(count.saturating_mul(2)));
        }
        b'C' => {
            quoted(walk)?;
            walk.expect(b":")?;
            let len = number(walk, b':')?;
            walk.expect(b"{")?;
            walk.take(len)?;
            walk.expect(b"}")?;
        }
        _ => return Err(Stop::Wrong),
    }
    Ok(None)
}

fn number(walk: &mut Walk<'_>, delimiter: u8) -> Step<u64> {
    let digits = walk.until(delimiter)?;
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(Stop::Wrong)
}

fn quoted(walk: &mut Walk<'_>) -> Step<()> {
    let len = number(walk, b':')?;
    walk.expect(b"\"")?;
    walk.take(len)?;
    walk.expect(b"\"")
}

/// var_export().
pub(super) fn exported(sample: &Sample<'_>) -> Option<Guess> {
    let mut walk = Walk::new(sample.bytes);
    walk.blanks();
    let mut variant = "";
    if walk.rest().starts_with(b"<?php") {
        walk.at += 5;
        walk.blanks();
        walk.expect(b"return").ok()?;
        walk.blanks();
        variant = "in a PHP file";
    }
    let head = walk.rest();
    let starts_array = [&b"array ("[..], b"array(", b"(object) array("].iter().any(|start| head.starts_with(start));
    let starts_list = !variant.is_empty() && head.starts_with(b"[");
    let state = b"::__set_state(array(";
    let has_state = || head.windows(state.len()).take(256).any(|window| window == state);
    if !(starts_array || starts_list || has_state()) {
        return None;
    }
    let certainty = match literal(&mut walk) {
        Ok(arrows) if walk.rest().trim_ascii().is_empty() => {
            if arrows > 0 {
                Certainty::Sure
            } else {
                Certainty::Likely
            }
        }
        Err(Stop::End) if !sample.whole => Certainty::Likely,
        _ => return None,
    };
    Some(Guess { certainty, variant: variant.to_owned() })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\\' | b':') || byte >= 0x80
}

/// Walks over a literal, token by token, up to its closing bracket; gives the
/// number of arrows in it. Anything that would be code is wrong.
fn literal(walk: &mut Walk<'_>) -> Step<u64> {
    let mut open: Vec<u8> = Vec::new();
    let mut arrows = 0;
    let mut any = false;
    loop {
        walk.blanks();
        if any && open.is_empty() && (walk.at_end() || walk.peek() == Some(b';')) {
            if walk.peek() == Some(b';') {
                walk.at += 1;
            }
            return Ok(arrows);
        }
        any = true;
        match walk.u8()? {
            open_bracket @ (b'(' | b'[') if open.len() < DEPTH => open.push(open_bracket),
            b')' if open.pop() == Some(b'(') => {}
            b']' if open.pop() == Some(b'[') => {}
            b'=' => {
                walk.expect(b">")?;
                arrows += 1;
            }
            b',' | b'.' | b'-' if !open.is_empty() => {}
            quote @ (b'\'' | b'"') => {
                while let byte = walk.u8()?
                    && byte != quote
                {
                    if byte == b'\\' {
                        walk.u8()?;
                    }
                }
            }
            byte if is_word(byte) => {
                let start = walk.at - 1;
                while walk.peek().is_some_and(|byte| is_word(byte) || byte == b'.' || byte == b'+') {
                    walk.at += 1;
                }
                let word = &walk.input[start..walk.at];
                let known = [&b"array"[..], b"object", b"NULL", b"null", b"true", b"false", b"INF", b"NAN"];
                let is_class = word.windows(2).any(|pair| pair == b"::");
                if !(known.contains(&word) || word[0].is_ascii_digit() || is_class) {
                    return Err(Stop::Wrong);
                }
            }
            _ => return Err(Stop::Wrong),
        }
    }
}
