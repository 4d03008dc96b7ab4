//! Regular expressions.

use crate::error::{Error, format_for_message};
use crate::pair::Pair;
use regex::bytes::{Regex, RegexBuilder};

/// A regular expression, and the index of its pair.
#[derive(Clone, Debug)]
pub(crate) struct Regular {
    pub pair: usize,
    expression: Regex,
}

impl Regular {
    pub fn new(index: usize, pair: &Pair, ignores_case: bool) -> Result<Regular, Error> {
        let Ok(text) = std::str::from_utf8(&pair.old) else {
            return Err(Error::new(format!(
                "{} is not UTF-8: a regular expression has to be",
                format_for_message(&pair.old)
            )));
        };
        let expression = RegexBuilder::new(text).case_insensitive(ignores_case).build().map_err(|error| {
            Error::new(format!("{} is not a regular expression: {error}", format_for_message(&pair.old)))
        })?;
        if expression.is_match(b"") {
            let text = format!(
                "{} matches the empty text, so it is found everywhere: use `+` instead of `*`",
                format_for_message(&pair.old)
            );
            return Err(Error::new(text));
        }
        check_groups(&expression, &pair.new)?;
        Ok(Regular { pair: index, expression })
    }

    /// Returns the first non-empty match from `offset` on. The result is its start, its end, and the index of its
    /// pair.
    pub fn find_match(&self, text: &[u8], mut offset: usize) -> Option<(usize, usize, usize)> {
        while offset < text.len() {
            let found = self.expression.find_at(text, offset)?;
            if !found.is_empty() {
                return Some((found.start(), found.end(), self.pair));
            }
            offset = found.end() + 1;
        }
        None
    }

    /// Appends the replacement of the match at `start`.
    pub fn expand_replacement(&self, text: &[u8], start: usize, new: &[u8], out: &mut Vec<u8>) {
        if let Some(groups) = self.expression.captures_at(text, start) {
            groups.expand(new, out);
        }
    }
}

/// Returns an error if a group in the replacement does not exist. `$1a` is the group `1a`, not `$1` followed by `a`.
fn check_groups(expression: &Regex, new: &[u8]) -> Result<(), Error> {
    for name in parse_group_names(new) {
        let is_known = match name.parse::<usize>() {
            Ok(number) => number < expression.captures_len(),
            Err(_) => expression.capture_names().flatten().any(|group| group == name),
        };
        if !is_known {
            let text = format!(
                "there is no group `{}` in {}: `${{1}}a` is the first group with an `a` after it, `$$` is a dollar",
                icecore::text::printable(&name),
                format_for_message(expression.as_str().as_bytes())
            );
            return Err(Error::new(text));
        }
    }
    Ok(())
}

/// Returns the names after dollars, as parsed by the crate `regex`.
fn parse_group_names(new: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = new;
    while let Some(dollar) = memchr::memchr(b'$', rest) {
        rest = rest.get(dollar + 1..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix(b"$") {
            rest = after;
        } else if let Some(inner) = rest.strip_prefix(b"{") {
            let Some(end) = memchr::memchr(b'}', inner) else { continue };
            let (name, after) = inner.split_at(end);
            // A name that is not UTF-8 is left unchanged.
            names.extend(std::str::from_utf8(name).ok().map(str::to_owned));
            rest = after;
        } else {
            let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let end = rest.iter().position(|byte| !is_name(byte)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if !name.is_empty() {
                names.push(String::from_utf8_lossy(name).into_owned());
            }
            rest = after;
        }
    }
    names
}
