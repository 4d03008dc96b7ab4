//! Writes patterns of Perl for Ruby.

use super::parse::{Untranslatable, is_blank};
use super::properties::{self, perl_property_in_ruby};
use super::ruby_classes::{HORIZONTAL, VERTICAL, WORD, character_text};
use super::tree::*;
use super::{Dialect, folds, measure};

/// Maximum count of a repetition in Ruby.
const MAX_COUNT: u32 = 100_000;

pub(super) struct RubyWriter<'p> {
    pattern: &'p ParsedPattern<'p>,
    pub(super) out: String,
    /// Whether the meaning changes.
    pub(super) is_changed: bool,
    /// Numbers of the groups around the current part.
    open_groups: Vec<u32>,
    /// The largest number of a group so far.
    last_group: u32,
    has_boundary: bool,
}

impl<'p> RubyWriter<'p> {
    pub(super) fn new(pattern: &'p ParsedPattern<'p>) -> Self {
        RubyWriter {
            pattern,
            out: String::new(),
            is_changed: false,
            open_groups: Vec::new(),
            last_group: 0,
            has_boundary: false,
        }
    }

    pub(super) fn write_pattern(&mut self) -> Result<(), Untranslatable> {
        self.write_branches(&self.pattern.branches)?;
        // Ruby does not count the joiners as parts of words.
        if self.has_boundary && self.out.contains("\\u{200") {
            self.is_changed = true;
        }
        Ok(())
    }

    fn write_branches(&mut self, branches: &Branches<'p>) -> Result<(), Untranslatable> {
        // In Perl a directive applies to each later alternative by itself; in Ruby it would contain them.
        let mut directives: Vec<String> = Vec::new();
        for (number, branch) in branches.iter().enumerate() {
            if number > 0 {
                self.out.push('|');
            }
            let has_later = number + 1 < branches.len();
            let mut open = 0;
            for directive in &directives {
                self.out.push_str(directive);
                open += 1;
            }
            for (index, part) in branch.iter().enumerate() {
                if let PartKind::Directive(flags) = part.kind {
                    let text = self.flags_text(flags, part.modifiers);
                    if text == "(?" {
                        continue;
                    }
                    match has_later || open > 0 {
                        true => {
                            let text = text + ":";
                            self.out.push_str(&text);
                            directives.push(text);
                            open += 1;
                        }
                        false => {
                            self.out.push_str(&text);
                            self.out.push(')');
                        }
                    }
                    continue;
                }
                let is_start = number == 0 && index == 0 && self.open_groups.is_empty();
                self.write_part(part, is_start)?;
            }
            if open > 0 {
                self.end_comment(branch);
            }
            for _ in 0..open {
                self.out.push(')');
            }
        }
        Ok(())
    }

    /// Ends a comment, so that the text after it is read.
    fn end_comment(&mut self, branch: &[PatternPart<'_>]) {
        if let Some(PatternPart { kind: PartKind::Blank, text, modifiers }) = branch.last()
            && modifiers.has(EXTENDED)
            && text.contains('#')
            && !text.ends_with('\n')
        {
            self.out.push('\n');
        }
    }

    /// Returns the start of a group that sets these flags: `(?m-ix`.
    fn flags_text(&self, flags: Flags, outer: Modifiers) -> String {
        let mut text = String::from("(?");
        match flags.charset {
            Some(CharacterRules::Ascii | CharacterRules::AsciiOnly) => text.push('a'),
            _ if outer.is_charset_inline && outer.is_ascii() && (flags.resets || flags.charset.is_some()) => {
                text.push('d');
            }
            _ => {}
        }
        let off = if flags.resets { DOT_ALL | IGNORE_CASE | EXTENDED } else { flags.off } & !flags.on;
        let letters = [(DOT_ALL, 'm'), (IGNORE_CASE, 'i'), (EXTENDED, 'x')];
        text.extend(letters.iter().filter(|(bit, _)| flags.on & !flags.off & bit != 0).map(|(_, letter)| *letter));
        let off = if flags.resets { off } else { flags.off };
        if letters.iter().any(|(bit, _)| off & bit != 0) {
            text.push('-');
            text.extend(letters.iter().filter(|(bit, _)| off & bit != 0).map(|(_, letter)| *letter));
        }
        text
    }

    fn write_part(&mut self, part: &PatternPart<'p>, is_start: bool) -> Result<(), Untranslatable> {
        let modifiers = part.modifiers;
        if modifiers.charset == CharacterRules::Locale {
            self.is_changed = true;
        }
        match &part.kind {
            PartKind::Blank => self.write_blank(part)?,
            PartKind::Char(value) => self.write_char(*value, part.text, modifiers),
            PartKind::Chars(_) | PartKind::Directive(_) => return Err(Untranslatable),
            PartKind::Dot => self.out.push('.'),
            PartKind::LineStart => self.out.push_str(if modifiers.has(MULTI_LINE) { "^" } else { r"\A" }),
            PartKind::LineEnd => self.out.push_str(if modifiers.has(MULTI_LINE) { "$" } else { r"\Z" }),
            PartKind::Anchor(letter) => {
                self.is_changed |= *letter == 'G' && !is_start || *letter == 'K' && !self.open_groups.is_empty();
                let is_boundary = matches!(letter, 'b' | 'B');
                self.has_boundary |= is_boundary;
                match is_boundary && modifiers.is_ascii() && !modifiers.is_charset_inline {
                    true => self.out.push_str(&format!("(?a:{})", part.text)),
                    false => self.out.push_str(part.text),
                }
            }
            PartKind::NamedBoundary => {
                self.is_changed = true;
                self.out.push_str(&part.text[..2]);
            }
            PartKind::Short(letter) => self.write_short(*letter, modifiers),
            PartKind::Property(property) => self.write_property(*property, modifiers)?,
            PartKind::Set(set) => self.write_set(set, modifiers)?,
            PartKind::Backreference(target) => self.write_backreference(*target, part.text)?,
            PartKind::Digits(value) => {
                if *value as usize <= self.pattern.groups.len() {
                    self.write_backreference(Target::Number(*value), part.text)?;
                } else {
                    self.write_octal(part.text)?;
                }
            }
            PartKind::Call(target) => self.write_call(*target)?,
            PartKind::Group(group) => self.write_group(group, part)?,
            PartKind::Quantified(quantified) => self.write_quantified(quantified, is_start)?,
            PartKind::Verb("FAIL" | "F") => self.out.push_str("(?!)"),
            PartKind::Verb(_) => return Err(Untranslatable),
        }
        Ok(())
    }

    /// Writes digits that name no group, up to three of which are octal.
    fn write_octal(&mut self, text: &str) -> Result<(), Untranslatable> {
        let digits = &text[1..];
        if !digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte)) {
            return Err(Untranslatable);
        }
        let value = u32::from_str_radix(digits, 8).ok().and_then(char::from_u32).ok_or(Untranslatable)?;
        if digits.len() > 3 {
            return Err(Untranslatable);
        }
        match value.is_ascii() {
            true => self.out.push_str(text),
            false => self.out.push_str(&format!("\\u{{{:x}}}", value as u32)),
        }
        Ok(())
    }

    fn write_blank(&mut self, part: &PatternPart<'_>) -> Result<(), Untranslatable> {
        let is_same = |next: char| is_blank(Dialect::Ruby, next) || !is_blank(Dialect::Perl, next);
        if part.text.contains("(?#") {
            // The end of such a comment may be escaped in Ruby.
            if !part.text.contains('\\') && part.text.chars().all(is_same) {
                self.out.push_str(part.text);
            }
            return Ok(());
        }
        self.out.extend(part.text.chars().filter(|next| is_same(*next)));
        Ok(())
    }

    fn write_char(&mut self, value: char, text: &str, modifiers: Modifiers) {
        if modifiers.charset == CharacterRules::AsciiOnly
            && modifiers.has(IGNORE_CASE)
            && matches!(value, 'k' | 'K' | 's' | 'S')
        {
            let (lower, upper) = (value.to_ascii_lowercase(), value.to_ascii_uppercase());
            return self.out.push_str(&format!("(?-i:[{lower}{upper}])"));
        }
        self.out.push_str(&character_text(value, text));
    }

    fn write_short(&mut self, letter: char, modifiers: Modifiers) {
        let is_ascii = modifiers.is_ascii();
        let text = match letter {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' if is_ascii => format!("\\{letter}"),
            'd' => r"\p{Nd}".to_owned(),
            'D' => r"\P{Nd}".to_owned(),
            // If case is ignored, a class with a sharp s also matches `ss` in Ruby.
            'w' if modifiers.has(IGNORE_CASE) => format!("(?-i:[{WORD}])"),
            'w' => format!("[{WORD}]"),
            'W' => format!("[^{WORD}]"),
            's' => "[[:space:]]".to_owned(),
            'S' => "[^[:space:]]".to_owned(),
            'h' => format!("[{HORIZONTAL}]"),
            'H' => format!("[^{HORIZONTAL}]"),
            'v' => format!("[{VERTICAL}]"),
            'V' => format!("[^{VERTICAL}]"),
            'N' => r"[^\n]".to_owned(),
            other => {
                // Versions of Unicode divide emoji in other ways.
                self.is_changed |= other == 'X';
                format!("\\{other}")
            }
        };
        self.out.push_str(&text);
    }

    fn write_property(&mut self, property: Property<'_>, modifiers: Modifiers) -> Result<(), Untranslatable> {
        let translated = perl_property_in_ruby(property, modifiers)?;
        self.is_changed |= translated.is_changed;
        if modifiers.has(IGNORE_CASE) && properties::depends_on_case(&translated.items) {
            if !translated.is_single_case_category() {
                self.is_changed = true;
            }
            let negation = if property.is_negated { "^" } else { "" };
            self.out.push_str(&format!(r"(?-i:[{negation}\p{{Lu}}\p{{Ll}}\p{{Lt}}])"));
            return Ok(());
        }
        match modifiers.has(IGNORE_CASE) {
            true => self.out.push_str(&format!("(?-i:{})", translated.as_part())),
            false => self.out.push_str(&translated.as_part()),
        }
        Ok(())
    }

    fn write_backreference(&mut self, target: Target<'p>, text: &str) -> Result<(), Untranslatable> {
        let has_names = self.pattern.has_names();
        match target {
            Target::Number(number) => {
                if number == 0 || number as usize > self.pattern.groups.len() {
                    return Err(Untranslatable);
                }
                // In its own group, Perl matches the text of the last round.
                self.is_changed |= self.open_groups.contains(&number);
                if !has_names {
                    let is_same = text[1..].bytes().all(|byte| byte.is_ascii_digit());
                    match is_same {
                        true => self.out.push_str(text),
                        false => self.out.push_str(&format!("\\k<{number}>")),
                    }
                    return Ok(());
                }
                if number > self.last_group {
                    // Ruby knows a name only after its group.
                    return Err(Untranslatable);
                }
                let name = self.ruby_group_name(number);
                self.is_changed |= self.pattern.is_ambiguous(&name);
                self.out.push_str(&format!("\\k<{name}>"));
            }
            Target::Name(name) => {
                let position = self.pattern.groups.iter().position(|group| *group == Some(name));
                let Some(position) = position.filter(|position| (*position as u32) < self.last_group) else {
                    return Err(Untranslatable);
                };
                self.is_changed |= self.pattern.is_ambiguous(name) || self.open_groups.contains(&(position as u32 + 1));
                let is_same = text.starts_with("\\k<") || text.starts_with("\\k'");
                match is_same && !text.contains(' ') {
                    true => self.out.push_str(text),
                    false => self.out.push_str(&format!("\\k<{name}>")),
                }
            }
        }
        Ok(())
    }

    /// Returns the name of a group. Groups without a name get one if others have names, because Ruby would not capture
    /// them otherwise.
    fn ruby_group_name(&self, number: u32) -> String {
        self.pattern.group_name(number).map_or_else(|| format!("_{number}"), str::to_owned)
    }

    fn write_call(&mut self, target: Target<'p>) -> Result<(), Untranslatable> {
        let number = match target {
            Target::Number(number) => number,
            Target::Name(name) => {
                let position =
                    self.pattern.groups.iter().position(|group| *group == Some(name)).ok_or(Untranslatable)?;
                position as u32 + 1
            }
        };
        // Ruby refuses a call of a name that several groups have.
        let is_ambiguous = self.pattern.group_name(number).is_some_and(|name| self.pattern.is_ambiguous(name));
        if is_ambiguous || number as usize > self.pattern.groups.len() {
            return Err(Untranslatable);
        }
        let is_inside = number == 0 || self.open_groups.contains(&number);
        if is_inside && !measure::is_recursion_bounded(self.pattern, number) {
            return Err(Untranslatable);
        }
        // Called from outside, Ruby keeps what the group captured.
        let others = self.pattern.groups.len() - usize::from(number > 0);
        self.is_changed |= !is_inside || others > 0;
        let name = match self.pattern.has_names() && number > 0 {
            true => self.ruby_group_name(number),
            false => number.to_string(),
        };
        self.out.push_str(&format!("\\g<{name}>"));
        Ok(())
    }

    fn write_group(&mut self, group: &Group<'p>, part: &PatternPart<'p>) -> Result<(), Untranslatable> {
        let mut number = 0;
        match &group.kind {
            GroupKind::Capture(own) => {
                number = *own;
                match self.pattern.has_names() {
                    true => {
                        // The group gets a name, which a program can see.
                        self.is_changed = true;
                        self.out.push_str(&format!("(?<_{own}>"));
                    }
                    false => self.out.push('('),
                }
            }
            GroupKind::Named(own, name) => {
                number = *own;
                let is_same = !part.text.starts_with("(?P");
                match is_same {
                    true => self.out.push_str(&part.text[..name.len() + 4]),
                    false => self.out.push_str(&format!("(?<{name}>")),
                }
            }
            GroupKind::Plain(flags) => {
                let text = self.flags_text(*flags, part.modifiers);
                self.out.push_str(&text);
                self.out.push(':');
            }
            GroupKind::Atomic => self.out.push_str("(?>"),
            GroupKind::LookAhead(is_negated) => self.out.push_str(if *is_negated { "(?!" } else { "(?=" }),
            GroupKind::LookBehind(is_negated) => return self.write_look_behind(group, *is_negated),
            GroupKind::BranchReset => {
                if measure::has_captures(&group.branches) {
                    // Ruby counts the groups of each alternative, so numbers would name other groups.
                    if measure::has_references(self.pattern) {
                        return Err(Untranslatable);
                    }
                    self.is_changed = true;
                }
                self.out.push_str("(?:");
            }
            GroupKind::Define => {
                if group.branches.len() > 1 {
                    return Err(Untranslatable);
                }
                self.is_changed = true;
                self.out.push_str("(?:");
            }
            GroupKind::Absent => return Err(Untranslatable),
            GroupKind::GroupCondition(target) => {
                if group.branches.len() > 2 {
                    return Err(Untranslatable);
                }
                let name = match target {
                    Target::Name(name) if self.pattern.groups.contains(&Some(name)) => format!("<{name}>"),
                    Target::Number(number) if *number > 0 && *number as usize <= self.pattern.groups.len() => {
                        match self.pattern.has_names() {
                            true => format!("<{}>", self.ruby_group_name(*number)),
                            false => number.to_string(),
                        }
                    }
                    _ => return Err(Untranslatable),
                };
                self.out.push_str(&format!("(?({name})"));
            }
            GroupKind::LookCondition(condition) => return self.write_look_condition(group, condition),
        }
        self.last_group = self.last_group.max(number);
        self.open_groups.push(number);
        self.write_branches(&group.branches)?;
        self.open_groups.pop();
        if let Some(branch) = group.branches.last() {
            self.end_comment(branch);
        }
        self.out.push_str(match group.kind {
            GroupKind::Define => "){0}",
            _ => ")",
        });
        Ok(())
    }

    /// Ruby's look-behind needs alternatives of a fixed length.
    fn write_look_behind(&mut self, group: &Group<'p>, is_negated: bool) -> Result<(), Untranslatable> {
        let is_fixed = group.branches.iter().all(|branch| measure::fixed_length(branch).is_some());
        let branches = match is_fixed || measure::has_captures(&group.branches) {
            true => group.branches.clone(),
            false => {
                let expanded: Option<Vec<Branches<'p>>> =
                    group.branches.iter().map(|branch| measure::expand_branch(branch)).collect();
                expanded.ok_or(Untranslatable)?.concat()
            }
        };
        let is_fixed = branches.iter().all(|branch| measure::fixed_length(branch).is_some());
        if !is_fixed || is_negated && measure::has_captures(&group.branches) || folds::has_folded_seam(&branches) {
            return Err(Untranslatable);
        }
        self.out.push_str(if is_negated { "(?<!" } else { "(?<=" });
        self.open_groups.push(0);
        self.write_branches(&branches)?;
        self.open_groups.pop();
        self.out.push(')');
        Ok(())
    }

    /// Writes `(?(?=a)b|c)` as `(?:(?=a)b|(?!a)c)`.
    fn write_look_condition(&mut self, group: &Group<'p>, condition: &PatternPart<'p>) -> Result<(), Untranslatable> {
        let PartKind::Group(Group { kind, branches }) = &condition.kind else { return Err(Untranslatable) };
        if measure::has_captures(branches) || group.branches.len() > 2 {
            return Err(Untranslatable);
        }
        let start = self.out.len();
        self.out.push_str("(?:");
        self.open_groups.push(0);
        self.write_part(condition, false)?;
        if let Some(branch) = group.branches.first() {
            self.write_branches_of(branch)?;
        }
        self.out.push('|');
        let at = self.out.len();
        self.write_part(condition, false)?;
        let (plain, negated, is_negated) = match kind {
            GroupKind::LookAhead(is_negated) => ("(?=", "(?!", *is_negated),
            GroupKind::LookBehind(is_negated) => ("(?<=", "(?<!", *is_negated),
            _ => return Err(Untranslatable),
        };
        let (old, new) = if is_negated { (negated, plain) } else { (plain, negated) };
        if !self.out[at..].starts_with(old) || self.out.len() - start > 10_000 {
            return Err(Untranslatable);
        }
        self.out.replace_range(at..at + old.len(), new);
        if let Some(branch) = group.branches.get(1) {
            self.write_branches_of(branch)?;
        }
        self.open_groups.pop();
        self.out.push(')');
        Ok(())
    }

    /// Writes the parts of one alternative that has no directives.
    fn write_branches_of(&mut self, branch: &[PatternPart<'p>]) -> Result<(), Untranslatable> {
        for part in branch {
            if matches!(part.kind, PartKind::Directive(_) | PartKind::Blank) {
                return Err(Untranslatable);
            }
            self.write_part(part, false)?;
        }
        Ok(())
    }

    fn write_quantified(&mut self, quantified: &Quantified<'p>, is_start: bool) -> Result<(), Untranslatable> {
        let Quantified { part, gap, quantifier } = quantified;
        let Quantifier { min, max, mode, is_sign, .. } = *quantifier;
        if min > MAX_COUNT || max.is_some_and(|max| max > MAX_COUNT) {
            return Err(Untranslatable);
        }
        if max.is_some_and(|max| max < min) {
            // Nothing is repeated less often than that.
            if measure::has_captures(&vec![vec![part.clone()]]) {
                return Err(Untranslatable);
            }
            self.out.push_str("(?!)");
            return Ok(());
        }
        // Perl matches alternatives with `{0}` wrongly, and does not give up rounds that have a condition.
        self.is_changed |= max == Some(0) || max != Some(1) && measure::has_condition(part);
        let needs_group = matches!(part.kind, PartKind::LineStart | PartKind::LineEnd)
            && !part.modifiers.has(MULTI_LINE)
            || matches!(part.kind, PartKind::Verb(_) | PartKind::NamedBoundary | PartKind::Anchor(_));
        let wrapper = match mode {
            Mode::Possessive if !is_sign => Some("(?>"),
            Mode::Lazy if max == Some(min) => Some("(?:"),
            _ => None,
        };
        self.out.push_str(wrapper.unwrap_or(""));
        if needs_group {
            self.out.push_str("(?:");
        }
        self.write_part(part, is_start && min > 0)?;
        if needs_group {
            self.out.push(')');
        }
        let is_same_gap = gap.chars().all(|next| is_blank(Dialect::Ruby, next));
        self.out.push_str(if is_same_gap { gap } else { "" });
        let own = quantifier_text(quantifier);
        self.out.push_str(match wrapper {
            Some(_) => own.trim_end_matches(['?', '+']),
            None => &own,
        });
        if wrapper.is_some() {
            self.out.push(')');
        }
        Ok(())
    }
}

/// Returns the text of a quantifier without blanks.
fn quantifier_text(quantifier: &Quantifier<'_>) -> String {
    match quantifier.has_blanks {
        false => quantifier.text.to_owned(),
        true => {
            let mode = match quantifier.mode {
                Mode::Greedy => "",
                Mode::Lazy => "?",
                Mode::Possessive => "+",
            };
            let count = match (quantifier.min, quantifier.max, quantifier.is_sign) {
                (0, Some(1), true) => "?".to_owned(),
                (0, None, true) => "*".to_owned(),
                (_, None, true) => "+".to_owned(),
                (min, Some(max), _) if min == max => format!("{{{min}}}"),
                (min, max, _) => format!("{{{min},{}}}", max.map_or(String::new(), |max| max.to_string())),
            };
            count + mode
        }
    }
}
