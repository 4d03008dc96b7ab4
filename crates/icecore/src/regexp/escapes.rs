//! Parses what follows a backslash.

use super::parse::{Parser, Untranslatable};
use super::tree::*;

impl<'p> Parser<'p> {
    /// Parses an escape outside of classes; the backslash has been read.
    pub(super) fn parse_escape(&mut self) -> Result<PartKind<'p>, Untranslatable> {
        let letter = self.next()?;
        let kind = match letter {
            'A' | 'z' | 'Z' | 'G' | 'K' => PartKind::Anchor(letter),
            'b' | 'B' => match self.is_perl() && self.take("{") {
                true => {
                    self.take_until('}')?;
                    PartKind::NamedBoundary
                }
                false => PartKind::Anchor(letter),
            },
            'N' if self.is_perl() && self.rest().starts_with("{U+") => PartKind::Char(self.parse_code_point("{U+")?),
            'N' if self.is_perl() && self.is_name_next() => return Err(Untranslatable),
            'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'h' | 'H' | 'R' | 'X' => PartKind::Short(letter),
            'N' | 'v' | 'V' if self.is_perl() => PartKind::Short(letter),
            'p' | 'P' => match self.parse_property(letter == 'P')? {
                Some(property) => PartKind::Property(property),
                None => PartKind::Char(letter),
            },
            '1'..='9' => return self.parse_digits(letter),
            'g' if self.is_perl() => self.parse_perl_reference()?,
            'k' => self.parse_named_reference()?,
            'g' => self.parse_ruby_call()?,
            _ => match self.parse_character_escape(letter)? {
                CharacterEscape::One(value) => PartKind::Char(value),
                CharacterEscape::Several(values) => PartKind::Chars(values),
            },
        };
        Ok(kind)
    }

    /// Returns `true` if a name in braces follows, rather than a count.
    fn is_name_next(&self) -> bool {
        let Some(rest) = self.rest().strip_prefix('{') else { return false };
        let inner = &rest[..rest.find('}').unwrap_or(rest.len())];
        !inner.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b' '))
    }

    /// Parses hexadecimal digits up to a brace; `start` is skipped first.
    fn parse_code_point(&mut self, start: &str) -> Result<char, Untranslatable> {
        self.offset += start.len();
        let digits = self.take_until('}')?;
        let digits = if self.is_perl() { digits.trim_matches([' ', '\t']) } else { digits };
        parse_character(&digits.replace('_', ""), 16)
    }

    fn parse_property(&mut self, is_negated: bool) -> Result<Option<Property<'p>>, Untranslatable> {
        if self.take("{") {
            let name = self.take_until('}')?;
            let name = if self.is_perl() { name.trim_matches([' ', '\t']) } else { name };
            return Ok(Some(match name.strip_prefix('^') {
                Some(name) => Property { name, is_negated: !is_negated },
                None => Property { name, is_negated },
            }));
        }
        if !self.is_perl() {
            // Without braces, Ruby takes it for a letter.
            return Ok(None);
        }
        let start = self.offset;
        self.next()?;
        Ok(Some(Property { name: &self.text[start..self.offset], is_negated }))
    }

    fn parse_digits(&mut self, first: char) -> Result<PartKind<'p>, Untranslatable> {
        let start = self.offset - 1;
        let digits = self.take_while(|next| next.is_ascii_digit(), 3);
        let value: u32 = self.text[start..self.offset].parse().map_err(|_| Untranslatable)?;
        if digits.is_empty() {
            return Ok(PartKind::Backreference(Target::Number(first.to_digit(10).ok_or(Untranslatable)?)));
        }
        Ok(PartKind::Digits(value))
    }

    /// Parses `\g1`, `\g{1}`, `\g{-1}` and `\g{name}` of Perl.
    fn parse_perl_reference(&mut self) -> Result<PartKind<'p>, Untranslatable> {
        let name = if self.take("{") {
            self.take_until('}')?.trim_matches([' ', '\t'])
        } else {
            let start = self.offset;
            self.take("-");
            self.take_while(|next| next.is_ascii_digit(), 9);
            &self.text[start..self.offset]
        };
        self.resolve_reference(name).map(PartKind::Backreference)
    }

    /// Returns the group that a number, a negative distance or a name means.
    fn resolve_reference(&self, name: &'p str) -> Result<Target<'p>, Untranslatable> {
        if let Some(distance) = name.strip_prefix('-') {
            return self.resolve_relative(false, distance.parse().map_err(|_| Untranslatable)?).map(Target::Number);
        }
        match name.bytes().next() {
            None => Err(Untranslatable),
            Some(first) if first.is_ascii_digit() => name.parse().map(Target::Number).map_err(|_| Untranslatable),
            Some(_) => Ok(Target::Name(name)),
        }
    }

    /// Parses `\k<name>`, `\k'name'` and Perl's `\k{name}`.
    fn parse_named_reference(&mut self) -> Result<PartKind<'p>, Untranslatable> {
        let end = match self.next()? {
            '<' => '>',
            '\'' => '\'',
            '{' if self.is_perl() => '}',
            _ => return Err(Untranslatable),
        };
        let name = self.take_until(end)?;
        let name = if self.is_perl() { name.trim_matches([' ', '\t']) } else { name };
        // A recursion level, as in `\k<n+0>`.
        if name.get(1..).is_some_and(|rest| rest.contains(['+', '-'])) {
            return Err(Untranslatable);
        }
        self.resolve_reference(name).map(PartKind::Backreference)
    }

    /// Parses `\g<name>` of Ruby.
    fn parse_ruby_call(&mut self) -> Result<PartKind<'p>, Untranslatable> {
        let end = match self.next()? {
            '<' => '>',
            '\'' => '\'',
            _ => return Err(Untranslatable),
        };
        let name = self.take_until(end)?;
        if let Some(distance) = name.strip_prefix('+') {
            let number = self.resolve_relative(true, distance.parse().map_err(|_| Untranslatable)?)?;
            return Ok(PartKind::Call(Target::Number(number)));
        }
        self.resolve_reference(name).map(PartKind::Call)
    }

    /// Parses an escape that stands for a character, inside of classes or outside.
    pub(super) fn parse_character_escape(&mut self, letter: char) -> Result<CharacterEscape, Untranslatable> {
        let value = match letter {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\x0c',
            'a' => '\x07',
            'e' => '\x1b',
            'v' if !self.is_perl() => '\x0b',
            '0'..='7' => {
                let digits = self.take_while(|next| next.is_digit(8), 2);
                parse_character(&format!("{letter}{digits}"), 8)?
            }
            'c' if self.is_perl() => {
                let next = self.next()?.to_ascii_uppercase();
                if !next.is_ascii() {
                    return Err(Untranslatable);
                }
                char::from(next as u8 ^ 64)
            }
            'x' if self.rest().starts_with('{') => match self.is_perl() {
                true => self.parse_code_point("{")?,
                false => return Err(Untranslatable),
            },
            'x' => {
                let digits = self.take_while(|next| next.is_ascii_hexdigit(), 2);
                match digits {
                    "" if self.is_perl() => '\0',
                    "" => return Err(Untranslatable),
                    _ if self.is_perl() => parse_character(digits, 16)?,
                    _ => self.parse_bytes(digits)?,
                }
            }
            'o' if self.is_perl() => {
                if !self.take("{") {
                    return Err(Untranslatable);
                }
                let digits = self.take_until('}')?.trim_matches([' ', '\t']);
                parse_character(&digits.replace('_', ""), 8)?
            }
            'C' if self.is_perl() => return Err(Untranslatable),
            // `\C-a`, `\M-a` and `\ca`: as Ruby reads them, other than `\c?`.
            'c' | 'C' | 'M' if !self.is_perl() => return self.parse_control(letter).map(CharacterEscape::One),
            'u' if !self.is_perl() => return self.parse_ruby_unicode(),
            other => other,
        };
        Ok(CharacterEscape::One(value))
    }

    fn parse_control(&mut self, letter: char) -> Result<char, Untranslatable> {
        if letter == 'M' || letter == 'C' && !self.take("-") {
            return Err(Untranslatable);
        }
        match self.next()? {
            next if next.is_ascii_alphabetic() => Ok(char::from(next as u8 & 0x1F)),
            _ => Err(Untranslatable),
        }
    }

    /// Parses the bytes of a character of Ruby: `\xC3\xA9`. The first one has these digits.
    fn parse_bytes(&mut self, digits: &str) -> Result<char, Untranslatable> {
        let first = u8::from_str_radix(digits, 16).map_err(|_| Untranslatable)?;
        if first.is_ascii() {
            return Ok(char::from(first));
        }
        let mut bytes = vec![first];
        for _ in 1..4 {
            if !self.take("\\x") {
                return Err(Untranslatable);
            }
            let digits = self.take_while(|next| next.is_ascii_hexdigit(), 2);
            bytes.push(u8::from_str_radix(digits, 16).map_err(|_| Untranslatable)?);
            if let Ok(text) = std::str::from_utf8(&bytes) {
                return text.chars().next().ok_or(Untranslatable);
            }
        }
        Err(Untranslatable)
    }

    /// Parses `\u00e9` and `\u{e9 41}`.
    fn parse_ruby_unicode(&mut self) -> Result<CharacterEscape, Untranslatable> {
        if !self.take("{") {
            let digits = self.take_while(|next| next.is_ascii_hexdigit(), 4);
            return match digits.len() {
                4 => parse_character(digits, 16).map(CharacterEscape::One),
                _ => Err(Untranslatable),
            };
        }
        let list = self.take_until('}')?;
        let values: Result<Vec<char>, Untranslatable> =
            list.split_ascii_whitespace().map(|digits| parse_character(digits, 16)).collect();
        let values = values?;
        match *values {
            [] => Err(Untranslatable),
            [one] => Ok(CharacterEscape::One(one)),
            _ => Ok(CharacterEscape::Several(values)),
        }
    }

    /// Parses a class; the bracket has been read.
    pub(super) fn parse_set_items(&mut self, modifiers: Modifiers) -> Result<Set<'p>, Untranslatable> {
        let is_negated = self.take("^");
        let mut operands = vec![Vec::new()];
        let mut is_first = true;
        loop {
            if self.peek() == Some(']') && !is_first {
                self.offset += 1;
                return Ok(Set { is_negated, operands });
            }
            if !self.is_perl() && self.take("&&") {
                operands.push(Vec::new());
                is_first = false;
                continue;
            }
            is_first = false;
            let start = self.offset;
            let kind = self.parse_item(modifiers)?;
            let kind = match kind {
                ItemKind::Char(low) => self.parse_range(low, modifiers)?,
                // Ruby's rules for such ranges are special.
                _ if !self.is_perl() && self.rest().starts_with('-') && !self.rest().starts_with("-]") => {
                    return Err(Untranslatable);
                }
                other => other,
            };
            let item = SetItem { text: &self.text[start..self.offset], kind };
            if let Some(operand) = operands.last_mut() {
                operand.push(item);
            }
        }
    }

    /// Parses the rest of a range, if this is one.
    fn parse_range(&mut self, low: char, modifiers: Modifiers) -> Result<ItemKind<'p>, Untranslatable> {
        let rest = self.rest();
        if !rest.starts_with('-') || rest.starts_with("-]") || modifiers.has(EXTENDED_MORE) && rest.starts_with("- ") {
            return Ok(ItemKind::Char(low));
        }
        let start = self.offset;
        self.offset += 1;
        match self.parse_item(modifiers)? {
            ItemKind::Char(high) if low <= high => Ok(ItemKind::Range(low, high)),
            ItemKind::Char(_) | ItemKind::Chars(_) => Err(Untranslatable),
            // The hyphen is literal before a class.
            _ if self.is_perl() => {
                self.offset = start;
                Ok(ItemKind::Char(low))
            }
            _ => Err(Untranslatable),
        }
    }

    fn parse_item(&mut self, modifiers: Modifiers) -> Result<ItemKind<'p>, Untranslatable> {
        let next = self.next()?;
        let kind = match next {
            ' ' | '\t' if modifiers.has(EXTENDED_MORE) => ItemKind::Blank,
            '[' => return self.parse_bracket(modifiers),
            '\\' => {
                let letter = self.next()?;
                match letter {
                    'b' => ItemKind::Char('\x08'),
                    'N' if self.is_perl() && self.rest().starts_with("{U+") => {
                        ItemKind::Char(self.parse_code_point("{U+")?)
                    }
                    'N' if self.is_perl() => return Err(Untranslatable),
                    'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'h' | 'H' => ItemKind::Short(letter),
                    'v' | 'V' if self.is_perl() => ItemKind::Short(letter),
                    'p' | 'P' => match self.parse_property(letter == 'P')? {
                        Some(property) => ItemKind::Property(property),
                        None => ItemKind::Char(letter),
                    },
                    _ => match self.parse_character_escape(letter)? {
                        CharacterEscape::One(value) => ItemKind::Char(value),
                        CharacterEscape::Several(values) => ItemKind::Chars(values),
                    },
                }
            }
            other => ItemKind::Char(other),
        };
        Ok(kind)
    }

    /// Parses `[:alpha:]`, or the nested class of Ruby; the bracket has been read.
    fn parse_bracket(&mut self, modifiers: Modifiers) -> Result<ItemKind<'p>, Untranslatable> {
        let name = self.rest().strip_prefix(':').and_then(|rest| {
            let end = rest.bytes().take(MAX_POSIX_LEN).position(|byte| byte == b':')?;
            rest[end..].starts_with(":]").then(|| &rest[..end])
        });
        if let Some(name) = name
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'^')
        {
            self.offset += name.len() + 3;
            let is_negated = name.starts_with('^');
            let name = name.trim_start_matches('^');
            return match POSIX_NAMES.contains(&name) {
                true => Ok(ItemKind::Posix(name, is_negated)),
                false => Err(Untranslatable),
            };
        }
        match self.is_perl() {
            true if self.rest().starts_with(['=', '.', ':']) => Err(Untranslatable),
            true => Ok(ItemKind::Char('[')),
            false => self.parse_set(modifiers).map(ItemKind::Nested),
        }
    }
}

/// Maximum length of the name of a POSIX class.
const MAX_POSIX_LEN: usize = 16;

const POSIX_NAMES: [&str; 14] = [
    "alpha", "digit", "alnum", "upper", "lower", "punct", "graph", "print", "space", "blank", "cntrl", "xdigit",
    "word", "ascii",
];

/// What an escape stands for.
pub(super) enum CharacterEscape {
    One(char),
    Several(Vec<char>),
}

fn parse_character(digits: &str, radix: u32) -> Result<char, Untranslatable> {
    let value = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, radix).map_err(|_| Untranslatable)? };
    char::from_u32(value).ok_or(Untranslatable)
}
