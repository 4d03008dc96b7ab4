//! Regular expressions: their text is read, but never compiled.

use super::lex::{Lexer, is_word_byte};
use super::string::closing_delimiter;
use crate::error::Error;

/// Data::Dumper's spelling of a `$` that would begin a variable.
const DOLLAR: &[u8] = b"${\\q($)}";

/// Returns the pattern and the flags of the regexp whose delimiter is here.
pub(super) fn read_regexp(lexer: &mut Lexer<'_>) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let Some(open) = lexer.peek() else { return Err(lexer.syntax_error(lexer.position, "a delimiter")) };
    lexer.position += 1;
    let pattern = read_pattern(lexer, open)?;
    Ok((pattern, read_flags(lexer)?))
}

fn read_pattern(lexer: &mut Lexer<'_>, open: u8) -> Result<Vec<u8>, Error> {
    let close = closing_delimiter(open);
    let mut pattern = Vec::new();
    let mut level = 0usize;
    loop {
        let start = lexer.position;
        let Some(byte) = lexer.peek() else {
            return Err(lexer.syntax_error(lexer.input.len(), "the end of the regular expression"));
        };
        lexer.position += 1;
        match byte {
            b'\\' => {
                let Some(next) = lexer.peek() else { continue };
                lexer.position += 1;
                // Perl removes the `\` before a delimiter without another meaning.
                if !(next == close && matches!(close, b'/' | b'!' | b'#' | b',' | b'~' | b'%' | b'"' | b'\'' | b'@')) {
                    pattern.push(byte);
                }
                pattern.push(next);
            }
            b'$' if open != b'\'' => {
                if lexer.slice(start, start + DOLLAR.len()) == DOLLAR {
                    lexer.position = start + DOLLAR.len();
                } else if lexer.peek().is_some_and(|next| is_word_byte(next) || matches!(next, b'{' | b':' | b'$')) {
                    return Err(lexer.code_error(start, "a variable in a regular expression"));
                }
                pattern.push(b'$');
            }
            _ if byte == close && level == 0 => return Ok(pattern),
            _ => {
                level = if byte == close { level - 1 } else { level + usize::from(byte == open) };
                pattern.push(byte);
            }
        }
    }
}

/// Returns the flags in perl's order.
pub(super) fn read_flags(lexer: &mut Lexer<'_>) -> Result<Vec<u8>, Error> {
    let start = lexer.position;
    let flags_text = lexer.word_at(start);
    lexer.position += flags_text.len();
    if let Some(index) = flags_text.iter().position(|flag| !b"msixnpaadluo".contains(flag)) {
        return Err(lexer.syntax_error(start + index, "a flag of a regular expression"));
    }
    let mut flags = Vec::new();
    for (flag, max_count) in
        [(b'u', 1), (b'a', 2), (b'l', 1), (b'm', 1), (b's', 1), (b'i', 1), (b'x', 2), (b'n', 1), (b'p', 1)]
    {
        let count = flags_text.iter().filter(|known_flag| **known_flag == flag).count();
        flags.resize(flags.len() + count.min(max_count), flag);
    }
    Ok(flags)
}
