//! Classes of Ruby for Perl, which has no nested classes and no `&&`.

use super::parse::Untranslatable;
use super::properties::{WORD, depends_on_case, may_have_folds, ruby_property_in_perl};
use super::to_perl::{character_text, escaped_character};
use super::tree::*;

/// A class in Perl.
enum PerlClass {
    /// The items of one class, and whether it is negated.
    Simple(String, bool),
    /// A pattern that matches one character.
    Pattern(String),
}

impl PerlClass {
    fn into_text(self) -> String {
        match self {
            PerlClass::Simple(items, false) if items.is_empty() => "(?!)".to_owned(),
            PerlClass::Simple(items, true) if items.is_empty() => "(?s:.)".to_owned(),
            PerlClass::Simple(items, is_negated) => format!("[{}{items}]", if is_negated { "^" } else { "" }),
            PerlClass::Pattern(text) => text,
        }
    }

    fn negated(self) -> PerlClass {
        match self {
            PerlClass::Simple(items, is_negated) => PerlClass::Simple(items, !is_negated),
            PerlClass::Pattern(text) => PerlClass::Pattern(format!("(?!{text})(?s:.)")),
        }
    }
}

pub(super) struct ClassWriter {
    modifiers: Modifiers,
    /// Whether the characters differ.
    pub(super) is_changed: bool,
}

impl ClassWriter {
    pub(super) fn new(modifiers: Modifiers) -> Self {
        ClassWriter { modifiers, is_changed: false }
    }

    /// Returns a pattern for a character of the class. It may be more than a class; a caller that repeats it puts it
    /// into a group.
    pub(super) fn write_class(&mut self, set: &Set<'_>) -> Result<String, Untranslatable> {
        let items = || set.operands.iter().flatten();
        let only_shorts = items().all(|item| matches!(item.kind, ItemKind::Short(_)));
        let text = self.build_class(set)?.into_text();
        if !self.modifiers.has(IGNORE_CASE) {
            return Ok(text);
        }
        if only_shorts {
            return Ok(format!("(?-i:{text})"));
        }
        let is_simple = set.operands.len() == 1
            && items().all(|item| {
                matches!(
                    item.kind,
                    ItemKind::Char(_)
                        | ItemKind::Range(..)
                        | ItemKind::Posix(..)
                        | ItemKind::Property(_)
                        | ItemKind::Short('d' | 's' | 'h' | 'w')
                )
            });
        let missing = self.missing_cases(set);
        if missing.is_empty() && is_simple {
            return Ok(text);
        }
        // The Angstrom sign and the capital sharp s are special.
        let has_special = |low: char, high: char| ['Å', 'å', 'ß'].iter().any(|own| (low..=high).contains(own));
        let has_ranges = items().any(|item| matches!(item.kind, ItemKind::Range(low, high) if has_special(low, high)));
        if !is_simple || has_ranges {
            self.is_changed |= !is_simple && has_letters(set) || !missing.is_empty();
            return Ok(text);
        }
        Ok(match set.is_negated {
            true => format!("(?:{text}|(?-i:[{missing}]))"),
            false => format!("(?-i:(?![{missing}])){text}"),
        })
    }

    /// Returns the characters from U+0080 to U+00FF that Perl would match in addition if case is ignored. Ruby does not
    /// find them in a class.
    fn missing_cases(&self, set: &Set<'_>) -> String {
        let has = |value: char| {
            set.operands.iter().flatten().any(|item| match item.kind {
                ItemKind::Char(own) => own == value,
                ItemKind::Range(low, high) => (low..=high).contains(&value),
                _ => false,
            })
        };
        let latin =
            (0xE0..=0xFE).filter(|code| *code != 0xF7).flat_map(|code| [(code, code - 0x20), (code - 0x20, code)]);
        let others = [(0x178, 0xFF), (0x39C, 0xB5), (0x3BC, 0xB5), (0x212B, 0xE5), (0x212B, 0xC5), (0x1E9E, 0xDF)];
        let missing = latin.chain(others).filter_map(|(own, other)| {
            let (own, other) = (char::from_u32(own)?, char::from_u32(other)?);
            (has(own) && !has(other)).then(|| escaped_character(other))
        });
        let mut missing: String = missing.collect();
        // Ruby's `\w` does not contain them, whatever the case.
        let has_words = set.operands.iter().flatten().any(|item| matches!(item.kind, ItemKind::Short('w')));
        if has_words && self.modifiers.charset != CharacterRules::Unicode {
            missing.push_str(if has('k') || has('K') { "" } else { r"\x{212a}" });
            missing.push_str(if has('s') || has('S') { "" } else { r"\x{17f}" });
        }
        missing
    }

    fn build_class(&mut self, set: &Set<'_>) -> Result<PerlClass, Untranslatable> {
        let mut operands = Vec::new();
        for items in &set.operands {
            operands.push(self.build_union(items)?);
        }
        let last = operands.pop().ok_or(Untranslatable)?;
        let class = if operands.is_empty() {
            last
        } else {
            let mut text: String = operands.into_iter().map(|class| format!("(?={})", class.into_text())).collect();
            text.push_str(&last.into_text());
            PerlClass::Pattern(text)
        };
        Ok(if set.is_negated { class.negated() } else { class })
    }

    fn build_union(&mut self, items: &[SetItem<'_>]) -> Result<PerlClass, Untranslatable> {
        let mut plain = String::new();
        let mut others: Vec<PerlClass> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match &item.kind {
                ItemKind::Nested(set) => match self.build_class(set)? {
                    PerlClass::Simple(items, false) => plain.push_str(&items),
                    other => others.push(other),
                },
                ItemKind::Property(property) => {
                    let translated = ruby_property_in_perl(*property)?;
                    // In Ruby, a class with a sharp s also matches `ss`.
                    self.is_changed |= self.modifiers.has(IGNORE_CASE)
                        && (depends_on_case(&translated.items) || may_have_folds(&translated.items));
                    let text = translated.as_item();
                    match text.starts_with("[^") {
                        true => others.push(PerlClass::Simple(translated.items, true)),
                        false => plain.push_str(&text),
                    }
                }
                kind => {
                    let is_edge = index == 0 || index + 1 == items.len();
                    let text = self.item_text(kind, item.text, is_edge)?;
                    plain.push_str(&text);
                }
            }
        }
        if others.is_empty() {
            return Ok(PerlClass::Simple(plain, false));
        }
        let mut texts: Vec<String> = Vec::new();
        if plain.is_empty() && others.len() == 1 {
            return others.pop().ok_or(Untranslatable);
        }
        if !plain.is_empty() {
            texts.push(format!("[{plain}]"));
        }
        texts.extend(others.into_iter().map(PerlClass::into_text));
        Ok(PerlClass::Pattern(format!("(?:{})", texts.join("|"))))
    }

    fn item_text(&mut self, kind: &ItemKind<'_>, text: &str, is_edge: bool) -> Result<String, Untranslatable> {
        let is_unicode = self.modifiers.charset == CharacterRules::Unicode;
        Ok(match kind {
            ItemKind::Char('-') if text == "-" => if is_edge { "-" } else { "\\-" }.to_owned(),
            ItemKind::Char(value) if matches!(text, "]" | "^" | "[") => format!("\\{value}"),
            ItemKind::Char(value) => character_text(*value, text),
            ItemKind::Chars(values) => values.iter().map(|value| escaped_character(*value)).collect(),
            ItemKind::Range(low, high) => {
                let is_raw = text.chars().count() == 3 && !text.contains(['\\', '[', ']', '^']);
                match is_raw {
                    true => text.to_owned(),
                    false => format!("{}-{}", escaped_character(*low), escaped_character(*high)),
                }
            }
            ItemKind::Short(letter @ ('d' | 'D' | 's' | 'S')) if is_unicode => format!("\\{letter}"),
            ItemKind::Short('w') if is_unicode => format!("{WORD}\\x{{b2}}\\x{{b3}}\\x{{b9}}\\x{{bc}}-\\x{{be}}"),
            ItemKind::Short('W') if is_unicode => return Err(Untranslatable),
            ItemKind::Short(letter) => match letter {
                'd' => "0-9",
                'w' => "0-9A-Za-z_",
                's' => r"\t-\r ",
                'h' => "0-9A-Fa-f",
                'D' => r"\x00-/:-\x{10ffff}",
                'W' => r"\x00-/:-@\[-\^`{-\x{10ffff}",
                'S' => r"\x00-\x08\x0e-\x1f!-\x{10ffff}",
                'H' => r"\x00-/:-@G-`g-\x{10ffff}",
                _ => return Err(Untranslatable),
            }
            .to_owned(),
            ItemKind::Posix("word", false) if !self.modifiers.is_ascii() => {
                self.is_changed |= self.modifiers.has(IGNORE_CASE);
                WORD.to_owned()
            }
            ItemKind::Posix("word", true) if !self.modifiers.is_ascii() => r"[:^word:]\x{200c}\x{200d}".to_owned(),
            ItemKind::Posix("xdigit", false) => "0-9A-Fa-f".to_owned(),
            ItemKind::Posix("xdigit", true) => r"\x00-/:-@G-`g-\x{10ffff}".to_owned(),
            ItemKind::Posix(name, is_negated) => {
                // In Ruby, a class with a sharp s also matches `ss`.
                let has_folds = !is_negated && matches!(*name, "alpha" | "alnum" | "graph" | "print");
                self.is_changed |= self.modifiers.has(IGNORE_CASE) && (has_folds || matches!(*name, "upper" | "lower"));
                text.to_owned()
            }
            ItemKind::Blank | ItemKind::Nested(_) | ItemKind::Property(_) => return Err(Untranslatable),
        })
    }
}

/// Returns `true` if the class may have letters.
fn has_letters(set: &Set<'_>) -> bool {
    set.operands.iter().flatten().any(|item| match &item.kind {
        ItemKind::Char(value) => !value.is_ascii() || value.is_ascii_alphabetic(),
        ItemKind::Short(letter) => !matches!(letter, 'd' | 's' | 'h'),
        ItemKind::Nested(set) => has_letters(set),
        _ => true,
    })
}
