//! Syntax trees of patterns. Each part keeps its source text, so that a writer copies what is the same in both
//! dialects.

/// Rules for `\w`, `[[:alpha:]]` and the like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CharacterRules {
    /// The dialect's default: Unicode in Perl; in Ruby Unicode for `[[:alpha:]]`, ASCII for `\w`.
    #[default]
    Default,
    Unicode,
    Ascii,
    /// Perl's `aa`: ASCII also when case is ignored.
    AsciiOnly,
    /// Perl's `l`: the rules of the locale.
    Locale,
}

/// Modifiers that apply to a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Modifiers {
    /// Bits such as [`IGNORE_CASE`].
    pub(super) bits: u8,
    pub(super) charset: CharacterRules,
    /// Whether a group inside of the pattern sets the charset, as in `(?a:…)`.
    pub(super) is_charset_inline: bool,
}

/// `i`
pub(super) const IGNORE_CASE: u8 = 1;
/// Perl's `m`: `^` and `$` match at lines. Ruby always does this.
pub(super) const MULTI_LINE: u8 = 2;
/// Perl's `s`, Ruby's `m`: `.` matches line breaks.
pub(super) const DOT_ALL: u8 = 4;
/// `x`
pub(super) const EXTENDED: u8 = 8;
/// Perl's `xx`: blanks in classes are ignored, too.
pub(super) const EXTENDED_MORE: u8 = 16;
/// Perl's `n`: `(…)` does not capture.
pub(super) const NO_CAPTURES: u8 = 32;

impl Modifiers {
    pub(super) fn has(self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    pub(super) fn is_ascii(self) -> bool {
        matches!(self.charset, CharacterRules::Ascii | CharacterRules::AsciiOnly)
    }
}

/// Alternatives: the parts of each, in order.
pub(super) type Branches<'p> = Vec<Vec<PatternPart<'p>>>;

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) struct PatternPart<'p> {
    pub(super) text: &'p str,
    pub(super) modifiers: Modifiers,
    pub(super) kind: PartKind<'p>,
}

/// What a part is.
#[derive(Clone, Debug)]
pub(super) enum PartKind<'p> {
    /// Blanks and comments.
    Blank,
    /// A character, however it is spelled.
    Char(char),
    /// Several characters: Ruby's `\u{61 62}`.
    Chars(Vec<char>),
    Dot,
    /// `^`
    LineStart,
    /// `$`
    LineEnd,
    /// `\A \z \Z \G \K \b \B`, by letter.
    Anchor(char),
    /// Perl's `\b{wb}` and the like.
    NamedBoundary,
    /// `\d \w \s \h \v \N \R \X` and the capitals, by letter.
    Short(char),
    Property(Property<'p>),
    Set(Set<'p>),
    Backreference(Target<'p>),
    /// `\12`: a group if there are that many, otherwise octal.
    Digits(u32),
    /// A call of a group, or of the whole pattern (0).
    Call(Target<'p>),
    Group(Group<'p>),
    /// `(?i)`: applies to the rest of the group.
    Directive(Flags),
    Quantified(Box<Quantified<'p>>),
    /// `(*FAIL)` and the like.
    Verb(&'p str),
}

/// A group that is named by a number or a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target<'p> {
    Number(u32),
    Name(&'p str),
}

/// A Unicode property: `\p{name}`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Property<'p> {
    pub(super) name: &'p str,
    pub(super) is_negated: bool,
}

/// Modifiers that a group sets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// Perl's `^`: all modifiers are reset first.
    pub(super) resets: bool,
    pub(super) on: u8,
    pub(super) off: u8,
    pub(super) charset: Option<CharacterRules>,
}

#[derive(Clone, Debug)]
pub(super) struct Group<'p> {
    pub(super) kind: GroupKind<'p>,
    pub(super) branches: Branches<'p>,
}

#[derive(Clone, Debug)]
pub(super) enum GroupKind<'p> {
    /// `(…)` with its number.
    Capture(u32),
    /// `(?<name>…)` with its number.
    Named(u32, &'p str),
    /// `(?:…)`, and with modifiers.
    Plain(Flags),
    Atomic,
    LookAhead(bool),
    /// The flag is `true` if it is negated.
    LookBehind(bool),
    /// Perl's `(?|…)`.
    BranchReset,
    /// Ruby's `(?~…)`.
    Absent,
    /// `(?(1)…|…)`
    GroupCondition(Target<'p>),
    /// Perl's `(?(DEFINE)…)`, which only calls reach.
    Define,
    /// Perl's `(?(?=…)…|…)`: the first branch is the condition.
    LookCondition(Box<PatternPart<'p>>),
}

#[derive(Clone, Debug)]
pub(super) struct Quantified<'p> {
    pub(super) part: PatternPart<'p>,
    /// Blanks between the part and the quantifier.
    pub(super) gap: &'p str,
    pub(super) quantifier: Quantifier<'p>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Quantifier<'p> {
    /// Source text, with the mode.
    pub(super) text: &'p str,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) mode: Mode,
    /// Whether it is `*`, `+` or `?`.
    pub(super) is_sign: bool,
    /// Whether there are blanks in it.
    pub(super) has_blanks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Greedy,
    Lazy,
    Possessive,
}

/// A class: `[…]`. Its operands are intersected; usually there is one.
#[derive(Clone, Debug)]
pub(super) struct Set<'p> {
    pub(super) is_negated: bool,
    pub(super) operands: Vec<Vec<SetItem<'p>>>,
}

#[derive(Clone, Debug)]
pub(super) struct SetItem<'p> {
    pub(super) text: &'p str,
    pub(super) kind: ItemKind<'p>,
}

#[derive(Clone, Debug)]
pub(super) enum ItemKind<'p> {
    Blank,
    Char(char),
    Chars(Vec<char>),
    Range(char, char),
    Short(char),
    Property(Property<'p>),
    Posix(&'p str, bool),
    Nested(Set<'p>),
}

/// A parsed pattern.
#[derive(Clone, Debug)]
pub(super) struct ParsedPattern<'p> {
    pub(super) branches: Branches<'p>,
    /// The names of its groups; the first element is group 1.
    pub(super) groups: Vec<Option<&'p str>>,
}

impl<'p> ParsedPattern<'p> {
    pub(super) fn has_names(&self) -> bool {
        self.groups.iter().any(Option::is_some)
    }

    /// Returns the name of a group.
    pub(super) fn group_name(&self, number: u32) -> Option<&'p str> {
        self.groups.get((number as usize).checked_sub(1)?).copied().flatten()
    }

    /// Returns `true` if several groups have this name.
    pub(super) fn is_ambiguous(&self, name: &str) -> bool {
        self.groups.iter().filter(|group| **group == Some(name)).count() > 1
    }
}
