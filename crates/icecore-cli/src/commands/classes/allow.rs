//! Classes as the option that allows them, in each language.
//!
//! Pasted into a program it allows these classes and no others: names come from the data.

use super::args::Language;
use super::{Name, Row};
use icecore::policy::{ClassName, Host, Names, Words};

/// What allows others as well, where a name stands in a list.
const WILDCARD: u8 = b'*';

/// The list, and the classes that can't stand in it.
pub fn list(rows: &[Row], language: Language) -> (String, Vec<&Row>) {
    // A name that is a mere value makes nothing.
    let built = rows.iter().filter(|row| !row.kind.ends_with("-name"));
    let (refused, built): (Vec<&Row>, Vec<&Row>) = built.partition(|row| row.name.bytes.contains(&WILDCARD));
    let mut names: Vec<_> = built.into_iter().map(|row| quoted(&row.name, language)).collect();
    names.dedup();
    let list = names.join(", ");
    let text = match language {
        Language::Perl => format!("classes => [{list}]\n"),
        Language::Php => format!("'classes' => [{list}]\n"),
        Language::Ruby => format!("classes: [{list}]\n"),
    };
    (text, refused)
}

/// The name as a string of the language, in ASCII.
fn quoted(name: &Name, language: Language) -> String {
    let host = match language {
        Language::Perl => Host::Perl,
        Language::Php => Host::Php,
        Language::Ruby => Host::Ruby,
    };
    Words::new(host, ClassName::checked(Names::Exact, &name.bytes, name.is_text)).literal()
}

/// Why a class is not in the list.
pub fn refusal(row: &Row) -> String {
    format!(
        "the class `{}` at {} is not in the list: `*` in a list allows every name that fits; no program names a class \
         so, look where this data comes from",
        row.class, row.path
    )
}
