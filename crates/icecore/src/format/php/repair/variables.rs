//! Finds the next variable of a session: a session does not say how many it has.

use crate::format::php::session::{begins_value, is_variable_name};
use memchr::memmem;

/// Returns `true` if a string of a session contains another variable: no counts would reveal it.
pub(in crate::format::php) fn has_variable(content: &[u8]) -> bool {
    memmem::find_iter(content, b"\";").any(|end| match_delimited_name(&content[end + 2..]).is_some())
}

/// Like [`has_variable`], for sessions with the length of the name before each variable.
pub(in crate::format::php) fn has_counted_variable(content: &[u8]) -> bool {
    memmem::find_iter(content, b"\";").any(|end| match_counted_name(&content[end + 2..]).is_some())
}

/// Returns the size of a variable's name with its length, if a value of a session follows.
pub(super) fn match_counted_name(rest: &[u8]) -> Option<usize> {
    let (len, rest) = rest.split_first()?;
    let (name, value) = rest.split_at_checked(usize::from(*len))?;
    (*len < 0x80 && is_variable_name(name) && begins_value(value)).then_some(name.len() + 1)
}

/// Returns the size of a variable's name with its bar, if a value of a session follows.
pub(super) fn match_delimited_name(rest: &[u8]) -> Option<usize> {
    let bar = memchr::memchr(b'|', &rest[..rest.len().min(257)])?;
    (is_variable_name(&rest[..bar]) && begins_value(&rest[bar + 1..])).then_some(bar + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_inside_a_string_are_found() {
        assert!(has_variable(br#"one";name|s:3:"two"#) && !has_variable(br#"one";na|me|x"#));
        assert!(has_counted_variable(b"one\";\x04names:3:\"two") && !has_counted_variable(br#"one";name|s:3:"two"#));
    }
}
