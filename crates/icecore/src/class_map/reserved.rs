//! Names of the classes that a language has itself.
//!
//! PHP refuses `O:7:"Closure"` and the whole text with it; Ruby refuses an object of `String`, of a module, or of a
//! constant that is not a class. Objects of other built-in classes are accepted if their members are those of the
//! class. An object of another language that has such a name by chance gets a new name in a namespace of Icecore, and
//! gets its old name back in a language that accepts it.
//!
//! The tables are the output of `fixtures/classes/reserved.php` and `reserved.rb`.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A language with classes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Php,
    Ruby,
}

/// What an object of one of the language's own classes must contain.
#[derive(Debug)]
pub(crate) struct MemberRequirements {
    /// Required members. If there are none, and no member has a type, every object is refused.
    pub(crate) required: Vec<&'static str>,
    /// Optional members, with their types.
    pub(crate) typed: Vec<TypedMember>,
}

/// A member that has a type.
#[derive(Debug)]
pub(crate) struct TypedMember {
    pub(crate) name: &'static str,
    /// PHP's name of the type; `object` means any class.
    pub(crate) type_name: &'static str,
    pub(crate) allows_null: bool,
}

impl MemberRequirements {
    /// Parses the members of a line of the table. `name` is required; `name?type` is optional, and `name!type` is
    /// required with this type. A `+` after the type allows null.
    fn parse(members: &'static str) -> MemberRequirements {
        let mut requirements = MemberRequirements { required: Vec::new(), typed: Vec::new() };
        for member in members.split(' ').filter(|member| !member.is_empty()) {
            let Some((name, kind)) = member.split_once(['?', '!']) else {
                requirements.required.push(member);
                continue;
            };
            if member.as_bytes().get(name.len()) == Some(&b'!') {
                requirements.required.push(name);
            }
            let bare = kind.trim_end_matches('+');
            requirements.typed.push(TypedMember { name, type_name: bare, allows_null: bare != kind });
        }
        requirements
    }

    /// Returns `true` if objects of the class are always refused.
    pub(crate) fn is_closed(&self) -> bool {
        self.required.is_empty() && self.typed.is_empty()
    }
}

type ReservedTable = HashMap<Vec<u8>, MemberRequirements>;

fn reserved_classes(language: Language) -> &'static ReservedTable {
    static PHP: OnceLock<ReservedTable> = OnceLock::new();
    static RUBY: OnceLock<ReservedTable> = OnceLock::new();
    let (table, text) = match language {
        Language::Php => (&PHP, include_str!("php.txt")),
        Language::Ruby => (&RUBY, include_str!("ruby.txt")),
    };
    table.get_or_init(|| {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let rows = lines.map(|line| line.split_once(' ').unwrap_or((line, "")));
        rows.map(|(name, members)| (fold_case(language, name.as_bytes()), MemberRequirements::parse(members))).collect()
    })
}

/// Returns the name for comparison: PHP ignores the case of letters.
fn fold_case(language: Language, name: &[u8]) -> Vec<u8> {
    match language {
        Language::Php => name.to_ascii_lowercase(),
        Language::Ruby => name.to_vec(),
    }
}

/// Returns the name without the leading backslash that PHP allows.
fn strip_root_separator(language: Language, name: &[u8]) -> &[u8] {
    match language {
        Language::Php => name.strip_prefix(b"\\").unwrap_or(name),
        Language::Ruby => name,
    }
}

/// Returns the requirements for an object of this class, if the language has a class with that name.
pub(crate) fn find_reserved(language: Language, name: &[u8]) -> Option<&'static MemberRequirements> {
    let name = strip_root_separator(language, name);
    // No name in the tables is longer, so a long hostile name is not copied.
    if name.len() > 100 {
        return None;
    }
    reserved_classes(language).get(&fold_case(language, name))
}

/// Returns the namespace of classes whose names the language uses for something else.
fn foreign_namespace(language: Language) -> &'static [u8] {
    match language {
        Language::Php => b"Icecore\\Foreign\\",
        Language::Ruby => b"Icecore::Foreign::",
    }
}

/// Returns the new name of a class whose own name is reserved.
pub(crate) fn to_foreign_name(language: Language, name: &[u8]) -> Vec<u8> {
    [foreign_namespace(language), strip_root_separator(language, name)].concat()
}

/// Returns `true` if a name is in one of the namespaces of [`to_foreign_name`].
pub(crate) fn is_foreign_name(name: &[u8]) -> bool {
    from_foreign_name(name).is_some()
}

/// Returns the name that a class had before [`to_foreign_name`].
pub(crate) fn from_foreign_name(name: &[u8]) -> Option<&[u8]> {
    let prefixes = [foreign_namespace(Language::Php), foreign_namespace(Language::Ruby)];
    prefixes.iter().find_map(|prefix| name.strip_prefix(*prefix)).filter(|name| !name.is_empty())
}
