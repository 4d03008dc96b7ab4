//! Parses patterns of Perl and Ruby.
//!
//! The nesting of groups is limited, so that recursion is bounded. What the parser does not know is refused; the caller
//! then reports a loss.

use super::Dialect;
use super::tree::*;

/// Maximum length of `{1,2}`.
const MAX_COUNT_LEN: usize = 64;
/// Maximum number of groups with a name, and of calls. Each is looked up.
const MAX_LOOKUPS: u32 = 500;
/// Maximum nesting of groups and classes.
const MAX_DEPTH: u32 = 60;

/// A construct that can't be translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Untranslatable;

pub(super) struct Parser<'p> {
    pub(super) text: &'p str,
    pub(super) offset: usize,
    pub(super) dialect: Dialect,
    pub(super) depth: u32,
    groups: Vec<Option<&'p str>>,
    lookups: u32,
}

/// Parses a pattern.
pub(super) fn parse_pattern(
    text: &str,
    dialect: Dialect,
    modifiers: Modifiers,
) -> Result<ParsedPattern<'_>, Untranslatable> {
    let mut parser = Parser { text, offset: 0, dialect, depth: 0, groups: Vec::new(), lookups: 0 };
    let mut modifiers = modifiers;
    let branches = parser.parse_branches(&mut modifiers)?;
    if parser.offset < text.len() {
        return Err(Untranslatable);
    }
    Ok(ParsedPattern { branches, groups: parser.groups })
}

impl<'p> Parser<'p> {
    pub(super) fn rest(&self) -> &'p str {
        &self.text[self.offset..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Result<char, Untranslatable> {
        let next = self.peek().ok_or(Untranslatable)?;
        self.offset += next.len_utf8();
        Ok(next)
    }

    /// Skips `prefix` if it is next.
    pub(super) fn take(&mut self, prefix: &str) -> bool {
        let is_next = self.rest().starts_with(prefix);
        self.offset += if is_next { prefix.len() } else { 0 };
        is_next
    }

    /// Returns the text up to `end`, and skips both.
    pub(super) fn take_until(&mut self, end: char) -> Result<&'p str, Untranslatable> {
        let len = self.rest().find(end).ok_or(Untranslatable)?;
        let text = &self.rest()[..len];
        self.offset += len + end.len_utf8();
        Ok(text)
    }

    pub(super) fn take_while(&mut self, matches: impl Fn(char) -> bool, max: usize) -> &'p str {
        let rest = self.rest();
        let len: usize = rest.chars().take(max).take_while(|next| matches(*next)).map(char::len_utf8).sum();
        self.offset += len;
        &rest[..len]
    }

    pub(super) fn is_perl(&self) -> bool {
        self.dialect == Dialect::Perl
    }

    fn enter(&mut self) -> Result<(), Untranslatable> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Untranslatable) } else { Ok(()) }
    }

    /// Parses alternatives up to the end of the group.
    fn parse_branches(&mut self, modifiers: &mut Modifiers) -> Result<Branches<'p>, Untranslatable> {
        self.enter()?;
        let mut branches = vec![Vec::new()];
        loop {
            match self.peek() {
                None | Some(')') => break,
                Some('|') => {
                    self.offset += 1;
                    branches.push(Vec::new());
                }
                Some(_) => {
                    let part = self.parse_quantified(modifiers)?;
                    if let Some(branch) = branches.last_mut() {
                        branch.push(part);
                    }
                }
            }
        }
        self.depth -= 1;
        Ok(branches)
    }

    fn parse_quantified(&mut self, modifiers: &mut Modifiers) -> Result<PatternPart<'p>, Untranslatable> {
        let start = self.offset;
        let mut part = self.parse_part(modifiers)?;
        if matches!(part.kind, PartKind::Blank | PartKind::Directive(_)) {
            return Ok(part);
        }
        for _ in 0..8 {
            let end = self.offset;
            self.skip_blanks(*modifiers)?;
            let gap_end = self.offset;
            let Some(quantifier) = self.parse_quantifier(*modifiers)? else {
                self.offset = end;
                return Ok(part);
            };
            let gap = &self.text[end..gap_end];
            let quantified = Quantified { part, gap, quantifier };
            let kind = PartKind::Quantified(Box::new(quantified));
            part = PatternPart { text: &self.text[start..self.offset], modifiers: *modifiers, kind };
            if self.is_perl() {
                return Ok(part);
            }
        }
        Err(Untranslatable)
    }

    /// Skips blanks and comments between a part and its quantifier.
    fn skip_blanks(&mut self, modifiers: Modifiers) -> Result<(), Untranslatable> {
        loop {
            let start = self.offset;
            if self.rest().starts_with("(?#") {
                self.skip_comment_group()?;
            } else if modifiers.has(EXTENDED) {
                self.skip_extended();
            }
            if self.offset == start {
                return Ok(());
            }
        }
    }

    /// Skips `(?#…)`. In Ruby, a backslash escapes the end.
    fn skip_comment_group(&mut self) -> Result<(), Untranslatable> {
        self.offset += 3;
        loop {
            match self.next()? {
                ')' => return Ok(()),
                '\\' if !self.is_perl() => drop(self.next()?),
                _ => {}
            }
        }
    }

    /// Skips blanks and one comment of the modifier `x`.
    fn skip_extended(&mut self) {
        let dialect = self.dialect;
        self.take_while(|next| is_blank(dialect, next), usize::MAX);
        if self.peek() == Some('#') {
            let len = self.rest().find('\n').map_or(self.rest().len(), |len| len + 1);
            self.offset += len;
        }
    }

    fn count_lookup(&mut self) -> Result<(), Untranslatable> {
        self.lookups += 1;
        if self.lookups > MAX_LOOKUPS { Err(Untranslatable) } else { Ok(()) }
    }

    fn parse_part(&mut self, modifiers: &mut Modifiers) -> Result<PatternPart<'p>, Untranslatable> {
        let start = self.offset;
        let before = *modifiers;
        self.skip_blanks(before)?;
        let kind = if self.offset > start {
            PartKind::Blank
        } else {
            match self.next()? {
                '.' => PartKind::Dot,
                '^' => PartKind::LineStart,
                '$' => PartKind::LineEnd,
                '[' => PartKind::Set(self.parse_set(before)?),
                '(' => self.parse_group(modifiers)?,
                '\\' => self.parse_escape()?,
                '*' | '+' | '?' => return Err(Untranslatable),
                next => PartKind::Char(next),
            }
        };
        let is_looked_up = match &kind {
            PartKind::Call(_) | PartKind::Backreference(Target::Name(_)) => true,
            PartKind::Group(group) => matches!(group.kind, GroupKind::Named(..) | GroupKind::GroupCondition(_)),
            _ => false,
        };
        if is_looked_up {
            self.count_lookup()?;
        }
        // The modifiers of a directive only apply to what follows.
        Ok(PatternPart { text: &self.text[start..self.offset], modifiers: before, kind })
    }

    pub(super) fn parse_set(&mut self, modifiers: Modifiers) -> Result<Set<'p>, Untranslatable> {
        self.enter()?;
        let set = self.parse_set_items(modifiers)?;
        self.depth -= 1;
        Ok(set)
    }

    fn parse_quantifier(&mut self, modifiers: Modifiers) -> Result<Option<Quantifier<'p>>, Untranslatable> {
        let start = self.offset;
        let (min, max, is_sign) = match self.peek() {
            Some('*') => (0, None, true),
            Some('+') => (1, None, true),
            Some('?') => (0, Some(1), true),
            Some('{') => match self.parse_repeat_count() {
                Some((min, max)) => (min, max, false),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        if is_sign {
            self.offset += 1;
        }
        let end = self.offset;
        let mut mode = Mode::Greedy;
        if self.is_perl() {
            // Perl reads the mode after blanks.
            self.skip_blanks(modifiers)?;
            mode = self.take_mode();
            if mode == Mode::Greedy {
                self.offset = end;
            }
        } else if is_sign {
            mode = self.take_mode();
        } else if max != Some(min) && self.take("?") {
            mode = Mode::Lazy;
        }
        let text = &self.text[start..self.offset];
        let has_blanks = text.contains(|next: char| !next.is_ascii_digit() && !"*+?{},".contains(next));
        Ok(Some(Quantifier { text, min, max, mode, is_sign, has_blanks }))
    }

    fn take_mode(&mut self) -> Mode {
        if self.take("?") {
            Mode::Lazy
        } else if self.take("+") {
            Mode::Possessive
        } else {
            Mode::Greedy
        }
    }

    /// Parses `{1,2}`; nothing is skipped if it is not one.
    fn parse_repeat_count(&mut self) -> Option<(u32, Option<u32>)> {
        // A longer text is not a count; looking further for each brace would take too long.
        let close = self.rest().bytes().take(MAX_COUNT_LEN).position(|byte| byte == b'}')?;
        let inner = &self.rest()[1..close];
        let is_blank = |next: char| self.is_perl() && matches!(next, ' ' | '\t');
        let trim = |text: &'p str| text.trim_matches(is_blank);
        let number = |text: &str| match text {
            "" => None,
            // More digits than any engine accepts.
            _ if text.len() > 9 => Some(u32::MAX),
            _ => text.parse().ok(),
        };
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (min, max) = match inner.split_once(',') {
            Some((min, max)) => {
                let (min, max) = (trim(min), trim(max));
                if !is_number(min) || !is_number(max) || min.is_empty() && max.is_empty() {
                    return None;
                }
                (number(min).unwrap_or(0), number(max))
            }
            None => {
                let inner = trim(inner);
                if !is_number(inner) {
                    return None;
                }
                let count = number(inner)?;
                (count, Some(count))
            }
        };
        self.offset += close + 1;
        Some((min, max))
    }

    fn parse_group(&mut self, modifiers: &mut Modifiers) -> Result<PartKind<'p>, Untranslatable> {
        if self.is_perl() && self.peek() == Some('*') {
            return self.parse_verb(*modifiers);
        }
        if !self.take("?") {
            let kind = if modifiers.has(NO_CAPTURES) {
                GroupKind::Plain(Flags::default())
            } else {
                self.groups.push(None);
                GroupKind::Capture(self.groups.len() as u32)
            };
            return self.finish_group(kind, *modifiers);
        }
        let is_perl = self.is_perl();
        for (start, kind) in [
            ("=", GroupKind::LookAhead(false)),
            ("!", GroupKind::LookAhead(true)),
            ("<=", GroupKind::LookBehind(false)),
            ("<!", GroupKind::LookBehind(true)),
            (">", GroupKind::Atomic),
        ] {
            if self.take(start) {
                return self.finish_group(kind, *modifiers);
            }
        }
        if is_perl && self.take("|") {
            return self.finish_group(GroupKind::BranchReset, *modifiers);
        }
        if !is_perl && self.take("~") {
            return self.finish_group(GroupKind::Absent, *modifiers);
        }
        if is_perl && (self.take("P>") || self.take("&")) {
            return Ok(PartKind::Call(Target::Name(self.take_until(')')?)));
        }
        if is_perl && self.take("P=") {
            return Ok(PartKind::Backreference(Target::Name(self.take_until(')')?)));
        }
        let end = if self.take("<") || is_perl && self.take("P<") {
            Some('>')
        } else if self.take("'") {
            Some('\'')
        } else {
            None
        };
        if let Some(end) = end {
            let name = self.take_until(end)?;
            self.groups.push(Some(name));
            return self.finish_group(GroupKind::Named(self.groups.len() as u32, name), *modifiers);
        }
        if self.take("(") {
            return self.parse_condition(*modifiers);
        }
        if is_perl && self.rest().starts_with(|next: char| next == 'R' || next.is_ascii_digit()) {
            let number = self.take_until(')')?;
            let number = if number == "R" { "0" } else { number };
            return Ok(PartKind::Call(Target::Number(number.parse().map_err(|_| Untranslatable)?)));
        }
        if is_perl && let Some(number) = self.parse_relative_call()? {
            return Ok(PartKind::Call(Target::Number(number)));
        }
        self.parse_modifiers(modifiers)
    }

    /// Parses `(?-1)` and `(?+1)`.
    fn parse_relative_call(&mut self) -> Result<Option<u32>, Untranslatable> {
        let mut chars = self.rest().chars();
        let sign = chars.next();
        if !matches!(sign, Some('-' | '+')) || !chars.next().is_some_and(|next| next.is_ascii_digit()) {
            return Ok(None);
        }
        let distance: u32 = self.take_until(')')?[1..].parse().map_err(|_| Untranslatable)?;
        self.resolve_relative(sign == Some('+'), distance).map(Some)
    }

    /// Returns the number of the group at this distance.
    pub(super) fn resolve_relative(&self, is_ahead: bool, distance: u32) -> Result<u32, Untranslatable> {
        let count = self.groups.len() as u32;
        match is_ahead {
            true => count.checked_add(distance).ok_or(Untranslatable),
            false => {
                (count + 1).checked_sub(distance).filter(|number| *number > 0 && distance > 0).ok_or(Untranslatable)
            }
        }
    }

    fn finish_group(&mut self, kind: GroupKind<'p>, modifiers: Modifiers) -> Result<PartKind<'p>, Untranslatable> {
        let mut modifiers = modifiers;
        let branches = self.parse_branches(&mut modifiers)?;
        if !self.take(")") {
            return Err(Untranslatable);
        }
        Ok(PartKind::Group(Group { kind, branches }))
    }

    fn parse_condition(&mut self, modifiers: Modifiers) -> Result<PartKind<'p>, Untranslatable> {
        if self.is_perl() && (self.rest().starts_with('?') || self.rest().starts_with('*')) {
            let start = self.offset - 1;
            let mut inner = modifiers;
            let kind = self.parse_group(&mut inner)?;
            let is_look = matches!(&kind, PartKind::Group(group) if matches!(group.kind, GroupKind::LookAhead(_) | GroupKind::LookBehind(_)));
            if !is_look {
                return Err(Untranslatable);
            }
            let condition = PatternPart { text: &self.text[start..self.offset], modifiers, kind };
            return self.finish_group(GroupKind::LookCondition(Box::new(condition)), modifiers);
        }
        let condition = self.take_until(')')?;
        if self.is_perl() && condition == "DEFINE" {
            return self.finish_group(GroupKind::Define, modifiers);
        }
        let quoted = |open: char, close: char| condition.strip_prefix(open).and_then(|name| name.strip_suffix(close));
        let target = match quoted('<', '>').or_else(|| quoted('\'', '\'')) {
            Some(name) if !name.starts_with(|next: char| next.is_ascii_digit() || next == '-') => Target::Name(name),
            Some(_) => return Err(Untranslatable),
            None => Target::Number(condition.parse().map_err(|_| Untranslatable)?),
        };
        self.finish_group(GroupKind::GroupCondition(target), modifiers)
    }

    /// Parses `(*FAIL)`, `(*pla:…)` and the like.
    fn parse_verb(&mut self, modifiers: Modifiers) -> Result<PartKind<'p>, Untranslatable> {
        self.offset += 1;
        for (names, kind) in [
            (["pla:", "positive_lookahead:"], GroupKind::LookAhead(false)),
            (["nla:", "negative_lookahead:"], GroupKind::LookAhead(true)),
            (["plb:", "positive_lookbehind:"], GroupKind::LookBehind(false)),
            (["nlb:", "negative_lookbehind:"], GroupKind::LookBehind(true)),
            (["atomic:", "atomic:"], GroupKind::Atomic),
        ] {
            if self.take(names[0]) || self.take(names[1]) {
                return self.finish_group(kind, modifiers);
            }
        }
        let name = self.take_until(')')?;
        match name.bytes().all(|byte| byte.is_ascii_uppercase()) {
            true => Ok(PartKind::Verb(name)),
            false => Err(Untranslatable),
        }
    }

    /// Parses the modifiers of `(?i:…)` or `(?i)`.
    fn parse_modifiers(&mut self, modifiers: &mut Modifiers) -> Result<PartKind<'p>, Untranslatable> {
        let mut flags = Flags { resets: self.is_perl() && self.take("^"), ..Flags::default() };
        let mut is_off = false;
        loop {
            let letter = self.next()?;
            let bit = match letter {
                ':' => {
                    let inner = apply_flags(*modifiers, flags);
                    return self.finish_group(GroupKind::Plain(flags), inner);
                }
                ')' => {
                    *modifiers = apply_flags(*modifiers, flags);
                    return Ok(PartKind::Directive(flags));
                }
                '-' if !is_off => {
                    is_off = true;
                    0
                }
                'i' => IGNORE_CASE,
                'x' if self.is_perl() && self.take("x") => EXTENDED | EXTENDED_MORE,
                'x' => EXTENDED,
                'm' if !self.is_perl() => DOT_ALL,
                'a' | 'u' | 'd' | 'l' if !is_off && (self.is_perl() || letter != 'l') => {
                    flags.charset = Some(match letter {
                        'a' if self.is_perl() && self.take("a") => CharacterRules::AsciiOnly,
                        'a' => CharacterRules::Ascii,
                        'u' => CharacterRules::Unicode,
                        'd' => CharacterRules::Default,
                        _ => CharacterRules::Locale,
                    });
                    0
                }
                'm' => MULTI_LINE,
                's' if self.is_perl() => DOT_ALL,
                'n' if self.is_perl() => NO_CAPTURES,
                'p' if self.is_perl() => 0,
                _ => return Err(Untranslatable),
            };
            if is_off {
                flags.off |= bit;
            } else {
                flags.on |= bit;
            }
        }
    }
}

/// Returns the modifiers inside of a group with these flags.
fn apply_flags(modifiers: Modifiers, flags: Flags) -> Modifiers {
    let mut inner = modifiers;
    if flags.resets {
        inner = Modifiers::default();
    }
    let mut off = flags.off;
    // `x` and `xx` turn each other off.
    if flags.on & EXTENDED != 0 || off & EXTENDED != 0 {
        off |= EXTENDED_MORE;
    }
    inner.bits = inner.bits & !off | flags.on & !flags.off;
    if let Some(charset) = flags.charset {
        inner.charset = charset;
        inner.is_charset_inline = true;
    }
    inner
}

/// Returns `true` for blanks that the modifier `x` ignores.
pub(super) fn is_blank(dialect: Dialect, next: char) -> bool {
    match next {
        ' ' | '\t' | '\n' | '\r' | '\x0c' => true,
        '\x0b' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' => dialect == Dialect::Perl,
        _ => false,
    }
}
