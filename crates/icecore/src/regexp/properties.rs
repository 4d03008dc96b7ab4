//! Unicode properties: what `\p{…}` of one dialect is in the other.

use super::parse::Untranslatable;
use super::tree::{IGNORE_CASE, Modifiers, Property};

/// A property in the other dialect.
#[derive(Clone, Debug)]
pub(super) struct Translated {
    /// The items of a class that contains its characters.
    pub(super) items: String,
    pub(super) is_negated: bool,
    /// Whether the characters differ.
    pub(super) is_changed: bool,
}

impl Translated {
    /// Returns `true` if this is one property, which can be negated as `\P`.
    fn is_single(&self) -> bool {
        self.items.starts_with("\\p{") && self.items.find('}') == Some(self.items.len() - 1)
    }

    fn negated_single(&self) -> String {
        if self.is_negated { self.items.replacen("\\p", "\\P", 1) } else { self.items.clone() }
    }

    /// Returns its text outside of classes.
    pub(super) fn as_part(&self) -> String {
        match self.is_single() {
            true => self.negated_single(),
            false => format!("[{}{}]", if self.is_negated { "^" } else { "" }, self.items),
        }
    }

    /// Returns its text in a class of Ruby.
    pub(super) fn as_item(&self) -> String {
        match self.is_single() {
            true => self.negated_single(),
            false if self.is_negated => format!("[^{}]", self.items),
            false => self.items.clone(),
        }
    }

    /// Returns `true` for `Lu`, `Ll` and `Lt`, which are all cased letters if case is ignored.
    pub(super) fn is_single_case_category(&self) -> bool {
        let name = normalize(self.items.trim_start_matches("\\p{").trim_end_matches('}'));
        matches!(&*name, "lu" | "ll" | "lt" | "uppercaseletter" | "lowercaseletter" | "titlecaseletter")
    }
}

/// Categories and binary properties that have the same name and the same characters in Perl and in Ruby.
const SAME: &str = " l lu ll lt lm lo lc m mn mc me n nd nl no p pc pd ps pe pi pf po s sm sc sk so z zs zl zp c cc cf cn co \
    cs letter uppercaseletter lowercaseletter titlecaseletter modifierletter otherletter casedletter mark \
    nonspacingmark spacingmark enclosingmark number decimalnumber letternumber othernumber punctuation \
    connectorpunctuation dashpunctuation openpunctuation closepunctuation initialpunctuation \
    finalpunctuation otherpunctuation symbol mathsymbol currencysymbol modifiersymbol othersymbol \
    separator spaceseparator lineseparator paragraphseparator other control format unassigned privateuse \
    surrogate alpha alnum upper lower punct space blank cntrl digit graph print any assigned ascii \
    alphabetic whitespace uppercase lowercase idstart ids idcontinue idc xidstart xids xidcontinue xidc \
    emoji extendedpictographic math ideographic hexdigit hex asciihexdigit ahex changeswhenlowercased cwl \
    idsbinaryoperator idsb idstrinaryoperator idst logicalorderexception loe noncharactercodepoint nchar \
    patternsyntax patsyn patternwhitespace patws quotationmark qmark radical regionalindicator ri \
    sentenceterminal sterm softdotted sd terminalpunctuation term unifiedideograph uideo \
    variationselector vs cased extender ext bidicontrol bidic joincontrol joinc defaultignorablecodepoint \
    di deprecated dep hyphen ideo wspace emojipresentation emojimodifier emojimodifierbase emojicomponent \
    changeswhenuppercased cwu changeswhentitlecased cwt changeswhencasefolded cwcf changeswhencasemapped \
    cwcm dash thai xposixpunct inhiragana ";

/// General categories among [`SAME`]: these end where `alpha` begins.
fn is_category(name: &str) -> bool {
    let end = SAME.find(" alpha ").unwrap_or(SAME.len());
    is_listed(&SAME[..end + 1], name)
}

/// Scripts that both know under this name.
const SCRIPTS: &str = " latin greek cyrillic armenian hebrew arabic syriac thaana devanagari bengali gurmukhi gujarati oriya \
    tamil telugu kannada malayalam sinhala thai lao tibetan myanmar georgian hangul ethiopic cherokee \
    ogham runic khmer mongolian hiragana katakana bopomofo han yi gothic coptic braille common inherited \
    unknown nko balinese tifinagh javanese ";

/// Scripts that other scripts share no characters with: their extensions are the same.
const OWN_SCRIPTS: &str = " armenian hebrew thai lao tibetan ethiopic cherokee ogham runic khmer gothic braille unknown balinese \
    tifinagh ";

/// Blocks: the name in Perl, and the one in Ruby.
const BLOCKS: [(&str, &str); 8] = [
    ("greek", "InGreek_and_Coptic"),
    ("greekandcoptic", "InGreek_and_Coptic"),
    ("hiragana", "InHiragana"),
    ("katakana", "InKatakana"),
    ("latin1", "InLatin_1_Supplement"),
    ("latin1supplement", "InLatin_1_Supplement"),
    ("basiclatin", "InBasic_Latin"),
    ("cyrillic", "InCyrillic"),
];

fn is_listed(list: &str, name: &str) -> bool {
    !name.is_empty() && !name.contains(' ') && list.contains(&format!(" {name} "))
}

/// Returns a name as both languages compare it.
fn normalize(name: &str) -> String {
    name.chars().filter(|next| !matches!(next, ' ' | '_' | '-' | '\t')).map(|next| next.to_ascii_lowercase()).collect()
}

/// Returns `true` if one of these properties depends on the case of letters.
pub(super) fn depends_on_case(items: &str) -> bool {
    items.split("\\p{").skip(1).any(|rest| {
        let name = normalize(&rest[..rest.find('}').unwrap_or(rest.len())]);
        ["upper", "lower", "title", "lu", "ll", "lt", "cw", "changes", "posixupper", "posixlower"]
            .iter()
            .any(|start| name.starts_with(start))
    })
}

/// Properties without letters that are several if case is folded, as the sharp s is.
const WITHOUT_FOLDS: &str = " n nd nl no number decimalnumber letternumber othernumber p pc pd ps pe pi pf po punctuation \
    s sm sc sk so symbol z zs zl zp separator mc me c cc cf cn co cs control digit space blank cntrl punct \
    ascii whitespace any emoji script=han script=hiragana script=katakana script=cyrillic thai script=hangul \
    script=arabic hebrew script=devanagari dash ideographic hexdigit asciihexdigit ahex ";

/// Returns `true` if a property may contain a character that is several if case is folded.
pub(super) fn may_have_folds(items: &str) -> bool {
    let name = normalize(items.trim_start_matches("\\p{").trim_end_matches('}'));
    !is_listed(WITHOUT_FOLDS, &name)
}

/// Returns a property of Perl for Ruby.
pub(super) fn perl_property_in_ruby(
    property: Property<'_>,
    modifiers: Modifiers,
) -> Result<Translated, Untranslatable> {
    let Property { name, is_negated } = property;
    let result = |items: String, is_changed| Ok(Translated { items, is_negated, is_changed });
    let one = |name: &str| result(format!("\\p{{{name}}}"), false);
    if !name.is_ascii() || name.contains([':', '=']) && name.contains("::") {
        return Err(Untranslatable);
    }
    if let Some((key, value)) = name.split_once(['=', ':']) {
        let (key, value) = (normalize(key), value.trim());
        let plain = normalize(value);
        return match &*key {
            "gc" | "category" | "generalcategory" if is_category(&plain) => one(value),
            "script" | "sc" if is_listed(SCRIPTS, &plain) => one(value),
            "scx" | "scriptextensions" if is_listed(OWN_SCRIPTS, &plain) => one(value),
            "scx" | "scriptextensions" if is_listed(SCRIPTS, &plain) => result(format!("\\p{{{value}}}"), true),
            "block" | "blk" => one(find_block(&plain)?),
            "presentin" | "in" if is_version(value) => one(&format!("Age={value}")),
            "graphemeclusterbreak" | "gcb" if plain == "lv" => one("Grapheme_Cluster_Break=LV"),
            _ if is_listed(SAME, &key) && !is_category(&key) => match &*plain {
                "yes" | "y" | "t" | "true" => one(&key),
                "no" | "n" | "f" | "false" => {
                    Ok(Translated { items: format!("\\p{{{key}}}"), is_negated: !is_negated, is_changed: false })
                }
                _ => Err(Untranslatable),
            },
            _ => Err(Untranslatable),
        };
    }
    let plain = normalize(name);
    if matches!(name, "L_" | "L&") {
        return result(r"\p{Lu}\p{Ll}\p{Lt}".to_owned(), false);
    }
    if is_listed(SAME, &plain) {
        return one(name);
    }
    if let Some(rest) = plain.strip_prefix("is").filter(|rest| is_category(rest)) {
        return one(&title(rest));
    }
    if let Some(block) = plain.strip_prefix("in") {
        return one(find_block(block)?);
    }
    if is_listed(OWN_SCRIPTS, &plain) {
        return one(name);
    }
    if is_listed(SCRIPTS, &plain) {
        // Perl means the extensions of the script.
        return result(format!("\\p{{{name}}}"), true);
    }
    let posix = |name: &str| {
        matches!(
            name,
            "alpha" | "alnum" | "upper" | "lower" | "space" | "blank" | "cntrl" | "digit" | "graph" | "print"
        )
    };
    if let Some(class) = plain.strip_prefix("xposix").filter(|class| posix(class)) {
        return one(&title(class));
    }
    result(
        match &*plain {
            "word" | "xposixword" | "w" => r"\p{Word}\u200C\u200D",
            "xdigit" | "xposixxdigit" => r"\h\uFF10-\uFF19\uFF21-\uFF26\uFF41-\uFF46",
            "all" => r"\p{Any}",
            "horizspace" | "xposixblank" => r"\t\p{Zs}",
            "vertspace" => r"\n-\r\u0085\u2028\u2029",
            "title" | "titlecase" => r"\p{Lt}",
            "perlword" | "posixword" => r"0-9A-Z_a-z",
            "perlspace" | "posixspace" => r"\t-\r ",
            "posixalpha" => "A-Za-z",
            "posixdigit" => "0-9",
            "posixalnum" => "0-9A-Za-z",
            "posixupper" | "posixlower" if modifiers.has(IGNORE_CASE) => "A-Za-z",
            "posixupper" => "A-Z",
            "posixlower" => "a-z",
            "posixpunct" => r"!-/:-@\[-`{-~",
            "posixgraph" => "!-~",
            "posixprint" => r"\x20-~",
            _ => return Err(Untranslatable),
        }
        .to_owned(),
        false,
    )
}

/// Returns a property of Ruby for Perl.
pub(super) fn ruby_property_in_perl(property: Property<'_>) -> Result<Translated, Untranslatable> {
    let Property { name, is_negated } = property;
    let one = |name: &str| Ok(Translated { items: format!("\\p{{{name}}}"), is_negated, is_changed: false });
    let plain = normalize(name);
    if is_listed(SAME, &plain) {
        // Perl's `L_` is another property.
        return one(if name.contains('_') && plain.len() == 1 { &plain } else { name });
    }
    if is_listed(OWN_SCRIPTS, &plain) {
        return one(name);
    }
    if is_listed(SCRIPTS, &plain) {
        return one(&format!("Script={name}"));
    }
    if let Some(version) = name.strip_prefix("Age=").or_else(|| name.strip_prefix("age=")).filter(|age| is_version(age))
    {
        return one(&format!("Present_In={version}"));
    }
    if let Some((own, _)) = BLOCKS.iter().find(|(_, ruby)| normalize(ruby) == plain) {
        return one(&format!("Block={own}"));
    }
    match &*plain {
        "graphemeclusterbreak=lv" | "unknown" => one(name),
        "xdigit" => Ok(Translated { items: "0-9A-Fa-f".to_owned(), is_negated, is_changed: false }),
        "word" => Ok(Translated { items: WORD.to_owned(), is_negated, is_changed: false }),
        _ => Err(Untranslatable),
    }
}

/// Ruby's `\p{Word}` as items of a class of Perl: without the two joiners.
pub(super) const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}";

fn find_block(name: &str) -> Result<&'static str, Untranslatable> {
    BLOCKS.iter().find(|(perl, _)| *perl == name).map(|(_, ruby)| *ruby).ok_or(Untranslatable)
}

fn is_version(value: &str) -> bool {
    matches!(value.split_once('.'), Some((major, minor))
        if (1..=13).contains(&major.parse().unwrap_or(0)) && matches!(minor, "0" | "1" | "2"))
}

/// Returns a name with a capital.
fn title(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}
