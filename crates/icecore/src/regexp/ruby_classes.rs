//! Classes of Perl for Ruby, and characters.

use super::parse::Untranslatable;
use super::properties::{self, perl_property_in_ruby};
use super::to_ruby::RubyWriter;
use super::tree::*;

/// Perl's `\w`, as items of a class. Ruby's `\p{Word}` lacks the two joiners.
pub(super) const WORD: &str = r"\p{Word}\u200C\u200D";
pub(super) const HORIZONTAL: &str = r"\t\p{Zs}";
pub(super) const VERTICAL: &str = r"\n-\r\u0085\u2028\u2029";
pub(super) const HEXADECIMAL: &str = r"\h\uFF10-\uFF19\uFF21-\uFF26\uFF41-\uFF46";

impl RubyWriter<'_> {
    pub(super) fn write_set(&mut self, set: &Set<'_>, modifiers: Modifiers) -> Result<(), Untranslatable> {
        let items = set.operands.first().ok_or(Untranslatable)?;
        let needs_ascii = modifiers.is_ascii()
            && !modifiers.is_charset_inline
            && items.iter().any(|item| matches!(item.kind, ItemKind::Posix(..)));
        // If case is ignored, a class with a sharp s also matches `ss` in Ruby.
        let is_exact = modifiers.has(IGNORE_CASE)
            && items
                .iter()
                .any(|item| matches!(item.kind, ItemKind::Short(_) | ItemKind::Property(_) | ItemKind::Posix(..)));
        let prefix = match (needs_ascii, is_exact) {
            (true, true) => "(?a-i:[",
            (true, false) => "(?a:[",
            (false, true) => "(?-i:[",
            (false, false) => "[",
        };
        self.out.push_str(prefix);
        if set.is_negated {
            self.out.push('^');
        }
        for (index, item) in items.iter().enumerate() {
            let previous = index.checked_sub(1).and_then(|index| items.get(index));
            self.write_item(item, previous, index + 1 == items.len(), modifiers)?;
        }
        if modifiers.has(IGNORE_CASE) {
            self.write_missing_cases(items, modifiers);
        }
        if is_exact {
            self.write_other_cases(items, modifiers);
        }
        self.out.push_str(if needs_ascii || is_exact { "])" } else { "]" });
        Ok(())
    }

    fn write_item(
        &mut self,
        item: &SetItem<'_>,
        previous: Option<&SetItem<'_>>,
        is_last: bool,
        modifiers: Modifiers,
    ) -> Result<(), Untranslatable> {
        let is_ascii = modifiers.is_ascii();
        match &item.kind {
            ItemKind::Blank => {}
            ItemKind::Char('-') if item.text == "-" => {
                let is_plain =
                    previous.is_none() || is_last && matches!(previous.map(|item| &item.kind), Some(ItemKind::Char(_)));
                self.out.push_str(if is_plain { "-" } else { r"\-" });
            }
            ItemKind::Char(value) => self.out.push_str(&item_text(*value, item.text)),
            ItemKind::Range(low, high) => {
                let is_simple = item.text.chars().count() == 3;
                if is_simple && low.is_ascii_alphanumeric() && high.is_ascii_alphanumeric() {
                    self.out.push_str(item.text);
                } else if is_simple {
                    let text = format!("{}-{}", item_text(*low, &low.to_string()), item_text(*high, &high.to_string()));
                    self.out.push_str(&text);
                } else {
                    self.out.push_str(&format!("{}-{}", escaped_character(*low), escaped_character(*high)));
                }
            }
            ItemKind::Short(letter) => {
                let text = match letter {
                    'd' | 'D' | 'w' | 'W' | 's' | 'S' if is_ascii => item.text.to_owned(),
                    'd' => r"\p{Nd}".to_owned(),
                    'D' => r"\P{Nd}".to_owned(),
                    'w' => WORD.to_owned(),
                    'W' => format!("[^{WORD}]"),
                    's' => "[:space:]".to_owned(),
                    'S' => "[:^space:]".to_owned(),
                    'h' => HORIZONTAL.to_owned(),
                    'H' => format!("[^{HORIZONTAL}]"),
                    'v' => VERTICAL.to_owned(),
                    'V' => format!("[^{VERTICAL}]"),
                    _ => return Err(Untranslatable),
                };
                self.out.push_str(&text);
            }
            ItemKind::Property(property) => {
                let translated = perl_property_in_ruby(*property, modifiers)?;
                self.is_changed |= translated.is_changed
                    || modifiers.has(IGNORE_CASE) && properties::depends_on_case(&translated.items);
                self.out.push_str(&translated.as_item());
            }
            ItemKind::Posix("word", is_negated) if !is_ascii => {
                self.out.push_str(&if *is_negated { format!("[^{WORD}]") } else { WORD.to_owned() });
            }
            ItemKind::Posix("xdigit", is_negated) if !is_ascii => {
                self.out.push_str(&if *is_negated { format!("[^{HEXADECIMAL}]") } else { HEXADECIMAL.to_owned() });
            }
            ItemKind::Posix("upper" | "lower", is_negated) if modifiers.has(IGNORE_CASE) => {
                self.is_changed |= *is_negated || is_ascii;
                self.out.push_str(if *is_negated { item.text } else { r"[:lower:][:upper:]\p{Lt}" });
            }
            ItemKind::Posix(..) => self.out.push_str(item.text),
            ItemKind::Chars(_) | ItemKind::Nested(_) => return Err(Untranslatable),
        }
        Ok(())
    }

    /// Writes the other case of each letter.
    fn write_other_cases(&mut self, items: &[SetItem<'_>], modifiers: Modifiers) {
        let has = |value: char| {
            items.iter().any(|item| match item.kind {
                ItemKind::Char(own) => own == value,
                ItemKind::Range(low, high) => (low..=high).contains(&value),
                _ => false,
            })
        };
        let is_foreign = |item: &SetItem<'_>| match item.kind {
            ItemKind::Char(value) | ItemKind::Range(_, value) => !value.is_ascii(),
            _ => false,
        };
        self.is_changed |= items.iter().any(is_foreign);
        let swap = |letter: char| {
            if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
        };
        let letters = ('A'..='Z').chain('a'..='z');
        self.out.extend(letters.filter(|letter| !has(*letter) && has(swap(*letter))));
        if modifiers.charset != CharacterRules::AsciiOnly {
            self.out.push_str(if has('k') || has('K') { r"\u212A" } else { "" });
            self.out.push_str(if has('s') || has('S') { r"\u017F" } else { "" });
        }
    }

    /// Ruby finds no counterpart in U+0080 to U+00FF for a character of a class, so it is written, too.
    fn write_missing_cases(&mut self, items: &[SetItem<'_>], modifiers: Modifiers) {
        let has = |value: char| {
            items.iter().any(|item| match item.kind {
                ItemKind::Char(own) => own == value,
                ItemKind::Range(low, high) => (low..=high).contains(&value),
                _ => false,
            })
        };
        let latin = (0xE0..=0xFE).filter(|code| *code != 0xF7).map(|code| (code, code - 0x20));
        let others = [(0xFF, 0x178), (0xB5, 0x39C), (0xB5, 0x3BC), (0xE5, 0x212B), (0xC5, 0x212B), (0xDF, 0x1E9E)];
        let mut missing = Vec::new();
        for (one, other) in latin.chain(others) {
            let (Some(one), Some(other)) = (char::from_u32(one), char::from_u32(other)) else { continue };
            match (has(one), has(other)) {
                (true, false) => missing.push(other),
                (false, true) => missing.push(one),
                _ => {}
            }
        }
        missing.sort_unstable();
        missing.dedup();
        self.out.extend(missing);
        if modifiers.charset == CharacterRules::AsciiOnly && ['k', 'K', 's', 'S'].into_iter().any(has) {
            self.is_changed = true;
        }
    }
}

/// Returns a character as an escape that Ruby reads.
pub(super) fn escaped_character(value: char) -> String {
    match value {
        _ if value.is_ascii_alphanumeric() => value.to_string(),
        _ if value.is_ascii() => format!("\\x{:02X}", value as u32),
        _ => format!("\\u{{{:x}}}", value as u32),
    }
}

/// Returns the text of a character, outside of a class. The source text is kept if Ruby reads it in the same way.
pub(super) fn character_text(value: char, text: &str) -> String {
    let Some(escape) = text.strip_prefix('\\') else { return text.to_owned() };
    let Some(letter) = escape.chars().next() else { return text.to_owned() };
    let is_same = match letter {
        't' | 'n' | 'r' | 'f' | 'a' | 'e' => true,
        'x' => value.is_ascii() && matches!(escape.len(), 2 | 3) && !escape.contains('{'),
        '0'..='7' => value.is_ascii(),
        'c' => escape[1..].starts_with(|next: char| next.is_ascii_alphabetic()),
        'u' | 'M' | 'C' => return letter.to_string(),
        'o' | 'N' => false,
        _ => true,
    };
    if is_same { text.to_owned() } else { escaped_character(value) }
}

/// Like [`character_text`], in a class.
fn item_text(value: char, text: &str) -> String {
    match text {
        "[" | "]" | "&" => format!("\\{text}"),
        "\\b" => text.to_owned(),
        _ if text.starts_with("\\R") || text.starts_with("\\X") || text.starts_with("\\K") => text[1..].to_owned(),
        _ => character_text(value, text),
    }
}
