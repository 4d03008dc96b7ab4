//! Allow-lists of classes, as the option of each language.
//!
//! Pasted into a program, a list allows these classes and no others; the names come from the data, so they are quoted.

use super::args::Language;
use super::packages::Packages;
use super::{ClassRow, Name, display_name};
use icecore::policy::{ClassMessages, ClassName, Host, NameComparison};
use icecore_tables::plural::{format_count, join_names};

/// Lists treat this character as a pattern, so a name that contains it would allow other classes as well.
const WILDCARD: u8 = b'*';

/// Ruby, as its formats name their language. Some classes in its dumps need no list.
const RUBY: &str = "Ruby";

/// An allow-list, and the classes that are not in it.
pub struct AllowList<'r> {
    pub text: String,
    /// The classes that can't be part of a list.
    pub refused_classes: Vec<&'r ClassRow>,
    /// The classes that need no list.
    pub omitted_classes: Vec<&'r ClassRow>,
}

/// Returns the list. For Laravel, `packages` names the package of each class.
pub fn build_allow_list<'r>(rows: &'r [ClassRow], language: Language, packages: Option<&Packages>) -> AllowList<'r> {
    let (listed, omitted_classes): (Vec<&ClassRow>, Vec<&ClassRow>) =
        rows.iter().partition(|row| needs_list(row, language));
    let (refused_classes, listed): (Vec<&ClassRow>, Vec<&ClassRow>) =
        listed.into_iter().partition(|row| row.name.bytes.contains(&WILDCARD));
    let mut names: Vec<_> = listed.into_iter().map(|row| (quote_name(&row.name, language), &row.name.bytes)).collect();
    names.dedup();
    if language == Language::Laravel {
        return AllowList { text: format_laravel_list(&names, packages), refused_classes, omitted_classes };
    }
    let list = names.into_iter().map(|(quoted, _)| quoted).collect::<Vec<_>>().join(", ");
    let text = match language {
        Language::Perl => format!("classes => [{list}]\n"),
        // Sereal::Decoder ignores `classes`, and blesses objects of any class unless it refuses all.
        Language::Sereal => {
            let refuse_option = if list.is_empty() { ", refuse_objects => 1" } else { "" };
            format!("{{ classes => [{list}], thaw_allow_classes => [{list}]{refuse_option} }}\n")
        }
        // PHP's own `unserialize` ignores an option that it does not know, and builds everything.
        Language::Php | Language::Laravel => format!("'allowed_classes' => [{list}]\n"),
        Language::Ruby => format!("classes: [{list}]\n"),
        Language::Rails if list.is_empty() => "classes: [:rails]\n".to_owned(),
        Language::Rails => format!("classes: [:rails, {list}]\n"),
    };
    AllowList { text, refused_classes, omitted_classes }
}

/// Explains why classes are left out of the list because they need none: a sentence for each reason.
pub fn explain_omissions(omitted: &[&ClassRow]) -> Vec<String> {
    let (mere_names, ruby_classes): (Vec<&ClassRow>, Vec<&ClassRow>) =
        omitted.iter().partition(|row| is_mere_name(row));
    let reasons = [
        (
            ruby_classes,
            "because the Ruby module builds it without a list",
            "because the Ruby module builds them without a list",
        ),
        (mere_names, "because it is only a name, without an object", "because they are only names, without objects"),
    ];
    let mut sentences = Vec::new();
    for (rows, singular, plural) in reasons {
        let classes: Vec<String> =
            rows.iter().map(|row| format!("{} ({})", display_name(&row.class), row.kind)).collect();
        if !classes.is_empty() {
            let (count, reason) = (classes.len() as u64, if classes.len() == 1 { singular } else { plural });
            let count = format_count(count, "class is left out", "classes are left out");
            sentences.push(format!("{count}, {reason}: {}", join_names(&classes)));
        }
    }
    sentences
}

/// Removes the classes that only data of other languages names, and returns a sentence about them: the language's own
/// reader needs none of them. If all data is of another language, nothing is removed, because Icecore's module reads it.
pub fn remove_foreign_classes(rows: &mut Vec<ClassRow>, language: Language) -> Option<String> {
    let own_language = match language {
        Language::Perl | Language::Sereal => "Perl",
        Language::Php | Language::Laravel => "PHP",
        Language::Ruby | Language::Rails => RUBY,
    };
    let is_foreign = |row: &ClassRow| row.language.is_some_and(|known| known != own_language);
    let names: Vec<String> = rows.iter().filter(|row| is_foreign(row)).map(|row| display_name(&row.class)).collect();
    if names.is_empty() || names.len() == rows.len() {
        return None;
    }
    rows.retain(|row| !is_foreign(row));
    let count = format_count(names.len() as u64, "class is", "classes are");
    let names = join_names(&names);
    Some(format!("{count} left out: {own_language} does not read the data with these names: {names}"))
}

/// Returns true if the data contains only the name of the class, and no object.
fn is_mere_name(row: &ClassRow) -> bool {
    row.kind.ends_with("-name")
}

/// Returns true if a program must list the class. A mere name creates no object and needs no list, except in dumps of
/// Ruby, which looks up the classes that they name.
fn needs_list(row: &ClassRow, language: Language) -> bool {
    match language {
        Language::Perl | Language::Sereal | Language::Php | Language::Laravel => !is_mere_name(row),
        Language::Ruby | Language::Rails => !is_built_by_ruby_module(row) && (is_of_ruby(row) || !is_mere_name(row)),
    }
}

/// Returns true if only data of Ruby names the class.
fn is_of_ruby(row: &ClassRow) -> bool {
    row.language == Some(RUBY)
}

/// Returns true if the Ruby module builds values of this class without a list, because they are in the form in which
/// Ruby writes them. In any other form, no list allows them.
fn is_built_by_ruby_module(row: &ClassRow) -> bool {
    let built_classes: [&[u8]; 8] =
        [b"BigDecimal", b"Complex", b"Date", b"DateTime", b"Range", b"Rational", b"Set", b"Time"];
    let has_own_form = match row.kind {
        "user-dump" | "user-marshal" => true,
        // Objects of other languages with such names need the list.
        "object" | "struct" | "data" => is_of_ruby(row),
        _ => false,
    };
    has_own_form && built_classes.contains(&&*row.name.bytes)
}

/// Returns the list for `config/cache.php`: a line for each class, with its package in a comment.
fn format_laravel_list(names: &[(String, &Vec<u8>)], packages: Option<&Packages>) -> String {
    if names.is_empty() {
        return "'serializable_classes' => [],\n".to_owned();
    }
    let mut text = "'serializable_classes' => [\n".to_owned();
    for (quoted, name) in names {
        let comment = packages.map_or(String::new(), |packages| match packages.find_package(name) {
            Some(package) => format!(" // {package}"),
            None => " // no package declares it".to_owned(),
        });
        text.push_str(&format!("    {quoted},{comment}\n"));
    }
    text.push_str("],\n");
    text
}

/// Returns the name as a string literal of the language, in ASCII.
fn quote_name(name: &Name, language: Language) -> String {
    let host = match language {
        Language::Perl | Language::Sereal => Host::Perl,
        Language::Php | Language::Laravel => Host::Php,
        Language::Ruby | Language::Rails => Host::Ruby,
    };
    ClassMessages::new(host, ClassName::checked(NameComparison::Exact, &name.bytes, name.is_text)).literal()
}

/// Returns why a class is not in the list.
pub fn refusal_message(row: &ClassRow) -> String {
    format!(
        "the class `{}` at {} is not in the list, because a `*` there would allow other classes as well; no program has \
         a class with such a name: check where this data comes from",
        row.class, row.path
    )
}
