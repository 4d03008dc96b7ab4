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
    let built = rows.iter().filter(|row| needs_list(row, language));
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

/// Whether a program must list the class. A name that is a mere value makes nothing, but Ruby looks the classes up
/// that its own dumps name.
fn needs_list(row: &Row, language: Language) -> bool {
    let is_name = row.kind.ends_with("-name");
    match language {
        Language::Perl | Language::Php => !is_name,
        Language::Ruby => !is_own_in_ruby(row) && (row.is_marshal || !is_name),
    }
}

/// Whether the class is one of those whose values the Ruby module builds without a list, in the form in which Ruby
/// writes them. In another form no list allows them.
fn is_own_in_ruby(row: &Row) -> bool {
    let own: [&[u8]; 8] = [b"BigDecimal", b"Complex", b"Date", b"DateTime", b"Range", b"Rational", b"Set", b"Time"];
    let is_value = match row.kind {
        "user-dump" | "user-marshal" => true,
        // Other languages have such objects too, which are asked for.
        "object" | "struct" | "data" => row.is_marshal,
        _ => false,
    };
    is_value && own.contains(&&*row.name.bytes)
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
