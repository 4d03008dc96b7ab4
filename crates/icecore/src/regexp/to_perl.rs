//! Writes patterns of Ruby for Perl.

use super::parse::{Untranslatable, is_blank};
use super::perl_classes::ClassWriter;
use super::properties::{depends_on_case, may_have_folds, ruby_property_in_perl};
use super::tree::*;
use super::{Dialect, measure};

/// Maximum count of a repetition in Perl.
const MAX_COUNT: u32 = 65_534;
/// Maximum length of a look-behind in Perl.
const MAX_LOOK_BEHIND: u32 = 255;

pub(super) struct PerlPatternWriter<'p> {
    pattern: &'p ParsedPattern<'p>,
    pub(super) out: String,
    /// Whether the meaning changes.
    pub(super) is_changed: bool,
    /// Whether Perl's modifier `m` is needed.
    pub(super) has_lines: bool,
    open_groups: Vec<u32>,
    has_boundary: bool,
}

impl<'p> PerlPatternWriter<'p> {
    pub(super) fn new(pattern: &'p ParsedPattern<'p>) -> Self {
        PerlPatternWriter {
            pattern,
            out: String::new(),
            is_changed: false,
            has_lines: false,
            open_groups: Vec::new(),
            has_boundary: false,
        }
    }

    pub(super) fn write_pattern(&mut self) -> Result<(), Untranslatable> {
        self.write_branches(&self.pattern.branches)?;
        // Perl counts the joiners as parts of words.
        let joiners = ["\\x{200c}", "\\x{200d}", "\u{200c}", "\u{200d}"];
        if self.has_boundary && joiners.iter().any(|joiner| self.out.contains(joiner)) {
            self.is_changed = true;
        }
        Ok(())
    }

    fn write_branches(&mut self, branches: &Branches<'p>) -> Result<(), Untranslatable> {
        // A directive applies up to the end of the group, with its alternatives.
        let mut open = 0;
        for (number, branch) in branches.iter().enumerate() {
            if number > 0 {
                self.out.push('|');
            }
            let has_later = number + 1 < branches.len();
            for (index, part) in branch.iter().enumerate() {
                if let PartKind::Directive(flags) = part.kind {
                    let text = flags_text(flags, part.modifiers);
                    if text == "(?" && !has_later {
                        continue;
                    }
                    self.out.push_str(&text);
                    self.out.push(if has_later { ':' } else { ')' });
                    open += usize::from(has_later);
                    continue;
                }
                let is_start = number == 0 && index == 0 && self.open_groups.is_empty();
                let previous = index.checked_sub(1).and_then(|index| branch.get(index));
                let next = branch.get(index + 1).map_or("", |next| next.text);
                let is_before_count = next.starts_with(|next: char| next.is_ascii_digit() || ", \t".contains(next));
                self.write_part(part, previous, is_before_count, is_start)?;
            }
        }
        if open > 0 {
            self.end_comment(branches.last());
        }
        for _ in 0..open {
            self.out.push(')');
        }
        Ok(())
    }

    /// Ends a comment, so that the text after it is read.
    fn end_comment(&mut self, branch: Option<&Vec<PatternPart<'_>>>) {
        if let Some(PatternPart { kind: PartKind::Blank, text, .. }) = branch.and_then(|branch| branch.last())
            && text.contains('#')
            && !text.starts_with("(?#")
            && !text.ends_with('\n')
        {
            self.out.push('\n');
        }
    }

    fn write_part(
        &mut self,
        part: &PatternPart<'p>,
        previous: Option<&PatternPart<'_>>,
        is_before_count: bool,
        is_start: bool,
    ) -> Result<(), Untranslatable> {
        let modifiers = part.modifiers;
        match &part.kind {
            PartKind::Blank => {
                if !part.text.contains("(?#") || !part.text.contains('\\') {
                    self.out.push_str(part.text);
                }
            }
            PartKind::Char(value) => {
                self.write_char(*value, part.text, modifiers, previous, is_before_count);
            }
            PartKind::Chars(values) => self.out.extend(values.iter().map(|value| escaped_character(*value))),
            PartKind::Dot => self.out.push('.'),
            PartKind::LineStart | PartKind::LineEnd => {
                self.has_lines = true;
                self.out.push_str(part.text);
            }
            PartKind::Anchor(letter) => {
                self.is_changed |= *letter == 'G' && !is_start;
                self.has_boundary |= matches!(letter, 'b' | 'B');
                self.out.push_str(part.text);
            }
            PartKind::Short(letter) => self.write_short(*letter, modifiers),
            PartKind::Property(property) => {
                let translated = ruby_property_in_perl(*property)?;
                // If case is ignored, a property with the sharp s also matches `ss` in Ruby.
                self.is_changed |= modifiers.has(IGNORE_CASE)
                    && (depends_on_case(&translated.items) || may_have_folds(&translated.items));
                self.out.push_str(&translated.as_part());
            }
            PartKind::Set(set) => {
                let mut writer = ClassWriter::new(modifiers);
                let text = writer.write_class(set)?;
                self.is_changed |= writer.is_changed;
                self.out.push_str(&text);
            }
            PartKind::Backreference(target) => self.write_backreference(*target, part.text)?,
            PartKind::Digits(value) => self.write_digits(*value, part.text)?,
            PartKind::Call(target) => self.write_call(*target)?,
            PartKind::Group(group) => self.write_group(group, part)?,
            PartKind::Quantified(quantified) => self.write_quantified(quantified, previous, is_start)?,
            PartKind::Directive(_) | PartKind::NamedBoundary | PartKind::Verb(_) => return Err(Untranslatable),
        }
        Ok(())
    }

    fn write_char(
        &mut self,
        value: char,
        text: &str,
        modifiers: Modifiers,
        previous: Option<&PatternPart<'_>>,
        is_before_count: bool,
    ) {
        if text == "{" {
            // Perl may read blanks in a repetition, and refuses a brace after some escapes.
            let is_after_char = matches!(previous, None | Some(PatternPart { kind: PartKind::Char(_), .. }));
            self.out.push_str(if is_after_char && !is_before_count { "{" } else { "\\{" });
            return;
        }
        if modifiers.has(EXTENDED) && is_blank(Dialect::Perl, value) && !text.starts_with('\\') {
            return self.out.push_str(&escaped_character(value));
        }
        self.out.push_str(&character_text(value, text));
    }

    fn write_short(&mut self, letter: char, modifiers: Modifiers) {
        if modifiers.charset == CharacterRules::Unicode {
            let text = match letter {
                'w' => r"(?:(?!\x{200c}|\x{200d})[\w\x{b2}\x{b3}\x{b9}\x{bc}-\x{be}])",
                'W' => r"(?:[\x{200c}\x{200d}]|(?![\x{b2}\x{b3}\x{b9}\x{bc}-\x{be}])\W)",
                'd' => r"\d",
                'D' => r"\D",
                's' => r"\s",
                'S' => r"\S",
                _ => "",
            };
            if !text.is_empty() {
                return self.out.push_str(text);
            }
        }
        let text = match letter {
            'd' => "[0-9]",
            'D' => "[^0-9]",
            // The Kelvin sign and the long s are the same as letters of ASCII if case is ignored.
            'w' if modifiers.has(IGNORE_CASE) => "(?-i:[0-9A-Za-z_])",
            'W' if modifiers.has(IGNORE_CASE) => "(?-i:[^0-9A-Za-z_])",
            'w' => "[0-9A-Za-z_]",
            'W' => "[^0-9A-Za-z_]",
            's' => r"[\t-\r ]",
            'S' => r"[^\t-\r ]",
            'h' => "[0-9A-Fa-f]",
            'H' => "[^0-9A-Fa-f]",
            'R' => r"\R",
            _ => {
                self.is_changed = true;
                r"\X"
            }
        };
        self.out.push_str(text);
    }

    fn write_digits(&mut self, value: u32, text: &str) -> Result<(), Untranslatable> {
        let digits = &text[1..];
        if value as usize <= self.pattern.groups.len() {
            return self.write_backreference(Target::Number(value), text);
        }
        let is_octal = digits.len() <= 3 && digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
        match u8::from_str_radix(digits, 8).ok().filter(|value| is_octal && value.is_ascii()) {
            Some(value) => self.out.push_str(&format!("\\x{value:02x}")),
            None => return Err(Untranslatable),
        }
        Ok(())
    }

    fn write_backreference(&mut self, target: Target<'p>, text: &str) -> Result<(), Untranslatable> {
        match target {
            Target::Number(number) => {
                if number == 0 || number as usize > self.pattern.groups.len() || self.pattern.has_names() {
                    return Err(Untranslatable);
                }
                self.is_changed |= self.open_groups.contains(&number);
                let is_same = text[1..].bytes().all(|byte| byte.is_ascii_digit());
                match is_same {
                    true => self.out.push_str(text),
                    false => self.out.push_str(&format!("\\g{{{number}}}")),
                }
            }
            Target::Name(name) => {
                let number = self.named_group(name)?;
                let position = self.pattern.groups.iter().position(|group| *group == Some(name));
                let is_inside = position.is_some_and(|position| self.open_groups.contains(&(position as u32 + 1)));
                self.is_changed |= is_inside || self.pattern.is_ambiguous(name);
                match is_perl_name(name) {
                    true => self.out.push_str(text),
                    false => self.out.push_str(&format!("\\g{{{number}}}")),
                }
            }
        }
        Ok(())
    }

    /// Returns the number of the first group with this name, among the groups that capture.
    fn named_group(&self, name: &str) -> Result<u32, Untranslatable> {
        let mut names = self.pattern.groups.iter().flatten();
        names.position(|group| *group == name).map(|position| position as u32 + 1).ok_or(Untranslatable)
    }

    fn write_call(&mut self, target: Target<'p>) -> Result<(), Untranslatable> {
        let (source_number, text) = match target {
            Target::Number(0) => (0, "(?R)".to_owned()),
            Target::Number(number) => {
                if number as usize > self.pattern.groups.len() || self.pattern.has_names() {
                    return Err(Untranslatable);
                }
                (number, format!("(?{number})"))
            }
            Target::Name(name) => {
                if self.pattern.is_ambiguous(name) {
                    return Err(Untranslatable);
                }
                let position =
                    self.pattern.groups.iter().position(|group| *group == Some(name)).ok_or(Untranslatable)?;
                let own = self.named_group(name)?;
                let text = if is_perl_name(name) { format!("(?&{name})") } else { format!("(?{own})") };
                (position as u32 + 1, text)
            }
        };
        let is_inside = source_number == 0 || self.open_groups.contains(&source_number);
        if is_inside && !measure::is_recursion_bounded(self.pattern, source_number) {
            return Err(Untranslatable);
        }
        // Perl restores the captures of a group that was called; Ruby keeps them.
        let others = self.pattern.groups.len() - usize::from(source_number > 0);
        self.is_changed |= !is_inside || others > 0;
        self.out.push_str(&text);
        Ok(())
    }

    fn write_group(&mut self, group: &Group<'p>, part: &PatternPart<'p>) -> Result<(), Untranslatable> {
        let mut number = 0;
        match &group.kind {
            GroupKind::Capture(own) => {
                number = *own;
                // Ruby captures nothing in groups without a name if others have one.
                self.out.push_str(if self.pattern.has_names() { "(?:" } else { "(" });
            }
            GroupKind::Named(own, name) => {
                number = *own;
                match is_perl_name(name) {
                    true => self.out.push_str(&part.text[..name.len() + 4]),
                    false => {
                        self.is_changed = true;
                        self.out.push('(');
                    }
                }
            }
            GroupKind::Plain(flags) => {
                let text = flags_text(*flags, part.modifiers);
                self.out.push_str(&text);
                self.out.push(':');
            }
            GroupKind::Atomic => self.out.push_str("(?>"),
            GroupKind::LookAhead(is_negated) => self.out.push_str(if *is_negated { "(?!" } else { "(?=" }),
            GroupKind::LookBehind(is_negated) => {
                let is_short = |branch: &Vec<PatternPart<'_>>| {
                    measure::fixed_length(branch).is_some_and(|length| length <= MAX_LOOK_BEHIND)
                };
                if !group.branches.iter().all(is_short) {
                    return Err(Untranslatable);
                }
                self.out.push_str(if *is_negated { "(?<!" } else { "(?<=" });
            }
            GroupKind::GroupCondition(target) => {
                let is_known = match target {
                    Target::Number(number) => {
                        *number > 0 && *number as usize <= self.pattern.groups.len() && !self.pattern.has_names()
                    }
                    Target::Name(name) => self.pattern.groups.contains(&Some(name)) && is_perl_name(name),
                };
                if !is_known || group.branches.len() > 2 {
                    return Err(Untranslatable);
                }
                let end = part.text.find(')').map_or(0, |end| end + 1);
                self.out.push_str(&part.text[..end]);
            }
            GroupKind::Absent => return self.write_absent(group),
            GroupKind::BranchReset | GroupKind::LookCondition(_) | GroupKind::Define => return Err(Untranslatable),
        }
        self.open_groups.push(number);
        self.write_branches(&group.branches)?;
        self.open_groups.pop();
        self.end_comment(group.branches.last());
        self.out.push(')');
        Ok(())
    }

    /// Writes `(?~X)`, the longest text without `X`. It is the same only for a single character.
    fn write_absent(&mut self, group: &Group<'p>) -> Result<(), Untranslatable> {
        if let [branch] = &*group.branches
            && let [PatternPart { kind: PartKind::Char(value), modifiers, .. }] = &**branch
            && value.is_ascii_alphanumeric()
            && !modifiers.has(IGNORE_CASE)
        {
            self.out.push_str(&format!("[^{value}]*"));
            return Ok(());
        }
        self.is_changed = true;
        self.out.push_str("(?:(?!");
        self.open_groups.push(0);
        self.write_branches(&group.branches)?;
        self.open_groups.pop();
        self.out.push_str(")(?s:.))*");
        Ok(())
    }

    fn write_quantified(
        &mut self,
        quantified: &Quantified<'p>,
        previous: Option<&PatternPart<'_>>,
        is_start: bool,
    ) -> Result<(), Untranslatable> {
        let Quantified { part, gap, quantifier } = quantified;
        let Quantifier { min, max, mode, is_sign, .. } = *quantifier;
        if min > MAX_COUNT || max.is_some_and(|max| max > MAX_COUNT || max < min) {
            return Err(Untranslatable);
        }
        // Perl matches alternatives with `{0}` wrongly.
        self.is_changed |= max == Some(0);
        let needs_group = match &part.kind {
            PartKind::Set(set) => set.operands.len() > 1 || set.operands.iter().flatten().any(is_complex_item),
            PartKind::Quantified(_) => true,
            PartKind::Group(group) => matches!(group.kind, GroupKind::Absent),
            PartKind::Anchor(_) | PartKind::LineStart | PartKind::LineEnd => true,
            _ => false,
        };
        let needs_group = needs_group && !(is_line(part) && is_sign && mode == Mode::Greedy);
        if needs_group {
            self.out.push_str("(?:");
        }
        self.write_part(part, previous, true, is_start && min > 0)?;
        if needs_group {
            self.out.push(')');
        }
        if gap.contains("(?#") && gap.contains('\\') {
            return Err(Untranslatable);
        }
        self.out.push_str(gap);
        match quantifier.text.strip_prefix("{,") {
            Some(rest) => self.out.push_str(&format!("{{0,{rest}")),
            None => self.out.push_str(quantifier.text),
        }
        Ok(())
    }
}

fn is_line(part: &PatternPart<'_>) -> bool {
    matches!(part.kind, PartKind::LineStart | PartKind::LineEnd)
}

/// Returns `true` if a class with this item may become more than a class.
fn is_complex_item(item: &SetItem<'_>) -> bool {
    !matches!(item.kind, ItemKind::Char('\0'..='\x7f'))
        && !matches!(item.kind, ItemKind::Range('\0'..='\x7f', '\0'..='\x7f'))
        && !matches!(item.kind, ItemKind::Short('d' | 's' | 'h'))
}

/// Returns `true` if perl accepts the name of a group, also in a pattern of bytes.
fn is_perl_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
}

/// Returns the start of a group that sets these flags: `(?s-ix`.
fn flags_text(flags: Flags, outer: Modifiers) -> String {
    let mut text = String::from("(?");
    match flags.charset {
        Some(CharacterRules::Ascii | CharacterRules::AsciiOnly) => text.push('a'),
        Some(_) if outer.is_charset_inline && outer.is_ascii() => text.push('u'),
        _ => {}
    }
    let letters = [(DOT_ALL, 's'), (IGNORE_CASE, 'i'), (EXTENDED, 'x')];
    text.extend(letters.iter().filter(|(bit, _)| flags.on & !flags.off & bit != 0).map(|(_, letter)| *letter));
    if letters.iter().any(|(bit, _)| flags.off & bit != 0) {
        text.push('-');
        text.extend(letters.iter().filter(|(bit, _)| flags.off & bit != 0).map(|(_, letter)| *letter));
    }
    text
}

/// Returns a character as an escape that Perl reads.
pub(super) fn escaped_character(value: char) -> String {
    match value {
        _ if value.is_ascii_alphanumeric() => value.to_string(),
        _ => format!("\\x{{{:x}}}", value as u32),
    }
}

/// Returns the text of a character. The source text is kept if Perl reads it in the same way.
pub(super) fn character_text(value: char, text: &str) -> String {
    let Some(escape) = text.strip_prefix('\\') else { return text.to_owned() };
    let Some(letter) = escape.chars().next() else { return text.to_owned() };
    let is_same = match letter {
        't' | 'n' | 'r' | 'f' | 'a' | 'e' => true,
        'x' | '0'..='7' => value.is_ascii() && escape.len() > 1 || letter == '0',
        'c' => true,
        'v' | 'u' | 'C' | 'M' if letter != value => false,
        'i' | 'j' | 'm' | 'q' | 'y' | 'I' | 'J' | 'O' | 'T' | 'Y' | 'b' => true,
        _ if letter.is_ascii_alphanumeric() || !letter.is_ascii() => return value.to_string(),
        _ => true,
    };
    if is_same { text.to_owned() } else { escaped_character(value) }
}
