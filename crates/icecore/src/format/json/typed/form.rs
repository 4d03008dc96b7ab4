//! The table of `$` keys: the form that each begins, and the keys allowed next to it.

use crate::document::{Form, Kind};

macro_rules! names {
    ($($name:ident = $text:literal,)*) => {
        /// A `$` key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Name { $($name,)* }

        const NAMES: &[(Name, &str)] = &[$((Name::$name, $text),)*];
    };
}

names! {
    Icecore = "$icecore",
    Strings = "$strings",
    Header = "$header",
    Spelling = "$spelling",
    Value = "$value",
    Float = "$float",
    Float128 = "$float128",
    Text = "$text",
    Bytes = "$bytes",
    Latin1 = "$latin1",
    Base64 = "$base64",
    String = "$string",
    Encoding = "$encoding",
    Symbol = "$symbol",
    Hole = "$hole",
    Map = "$map",
    Restricted = "$restricted",
    Locked = "$locked",
    Placeholders = "$placeholders",
    Default = "$default",
    Identity = "$identity",
    Ref = "$ref",
    Weak = "$weak",
    Overload = "$overload",
    Id = "$id",
    Link = "$link",
    Alias = "$alias",
    Copy = "$copy",
    Class = "$class",
    Form = "$form",
    Opaque = "$opaque",
    Payload = "$payload",
    Links = "$links",
    Regexp = "$regexp",
    Flags = "$flags",
    Bare = "$bare",
    Code = "$code",
    VString = "$vstring",
    Tied = "$tied",
    Key = "$key",
    Enum = "$enum",
    Module = "$module",
    Attributes = "$attributes",
    Extended = "$extended",
    Subclass = "$subclass",
}

/// Number of `$` keys.
pub(super) const COUNT: usize = NAMES.len();

impl Name {
    /// Returns the key with this text.
    pub(super) fn from_text(text: &[u8]) -> Option<Name> {
        NAMES.iter().find(|(_, known)| known.as_bytes() == text).map(|(name, _)| *name)
    }

    /// Returns its text.
    pub(super) fn text(self) -> &'static str {
        NAMES.get(self as usize).map_or("", |(_, text)| text)
    }
}

/// A form: the key that begins it, and the required and optional keys next to it.
pub(super) struct FormKeys {
    pub(super) main: Name,
    pub(super) required: &'static [Name],
    pub(super) optional: &'static [Name],
}

const fn define_form(main: Name, required: &'static [Name], optional: &'static [Name]) -> FormKeys {
    FormKeys { main, required, optional }
}

/// The forms. If an object has two main keys, the one that comes first here counts, and
/// the other is next to it.
pub(super) static FORMS: &[FormKeys] = &[
    define_form(Name::Icecore, &[Name::Value], &[Name::Strings, Name::Header, Name::Spelling]),
    define_form(Name::Id, &[Name::Value], &[]),
    define_form(Name::Weak, &[], &[]),
    define_form(Name::Overload, &[], &[]),
    define_form(Name::Text, &[], &[]),
    define_form(Name::Bytes, &[], &[]),
    define_form(Name::Latin1, &[], &[]),
    define_form(Name::Base64, &[], &[]),
    define_form(Name::Ref, &[], &[]),
    define_form(Name::Link, &[], &[]),
    define_form(Name::Alias, &[], &[]),
    define_form(Name::Copy, &[], &[]),
    define_form(Name::Map, &[], &[Name::Restricted, Name::Locked, Name::Placeholders, Name::Default, Name::Identity]),
    define_form(Name::Opaque, &[Name::Class], &[Name::Payload, Name::Links]),
    define_form(Name::Extended, &[Name::Value], &[Name::Attributes]),
    define_form(Name::Subclass, &[Name::Value], &[Name::Attributes]),
    define_form(Name::Attributes, &[Name::Value], &[Name::Class, Name::Form]),
    define_form(Name::Class, &[Name::Value], &[Name::Form]),
    define_form(Name::Float, &[], &[]),
    define_form(Name::Float128, &[], &[]),
    define_form(Name::String, &[Name::Encoding], &[]),
    define_form(Name::Symbol, &[], &[Name::Encoding]),
    define_form(Name::Hole, &[], &[]),
    define_form(Name::Regexp, &[Name::Flags], &[Name::Bare]),
    define_form(Name::Code, &[], &[]),
    define_form(Name::VString, &[Name::Value], &[]),
    define_form(Name::Tied, &[Name::Value], &[Name::Key]),
    define_form(Name::Enum, &[], &[]),
    define_form(Name::Module, &[], &[Name::Form]),
];

/// Returns the word for a form.
pub(super) const fn form_word(form: Form) -> &'static str {
    match form {
        Form::Usual => "usual",
        Form::Struct => "struct",
        Form::Hook => "hook",
        Form::Freeze => "freeze",
        Form::Serializable => "C",
        Form::UserDump => "u",
        Form::UserMarshal => "U",
        Form::Data => "d",
        Form::TiedScalar => "scalar",
        Form::TiedArray => "array",
        Form::TiedHash => "hash",
        Form::TiedElement => "element",
        Form::Module => "module",
        Form::OldModule => "old",
        Form::Subclass => "subclass",
        Form::Variable => "variable",
    }
}

/// Returns the form for a word. A module's usual form is called `class`.
pub(super) fn form_from_word(text: &[u8]) -> Option<Form> {
    if text == b"class" {
        return Some(Form::Usual);
    }
    Form::ALL.iter().copied().find(|form| form_word(*form).as_bytes() == text)
}

/// Returns the form of an object that does not specify it: if the body is not a
/// container, the variable itself is blessed.
pub(super) fn default_object_form(body: Kind) -> Form {
    let is_container = body.is_container() && body != Kind::VString;
    if is_container || body.is_again() { Form::Usual } else { Form::Variable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_and_belongs_to_a_form() {
        for (index, (name, text)) in NAMES.iter().enumerate() {
            assert_eq!(*name as usize, index);
            assert_eq!(Name::from_text(text.as_bytes()), Some(*name));
            assert_eq!(name.text(), *text);
            let belongs = |form_keys: &FormKeys| {
                form_keys.main == *name || form_keys.required.contains(name) || form_keys.optional.contains(name)
            };
            assert!(FORMS.iter().any(belongs), "{text}");
        }
        assert_eq!(Name::from_text(b"$"), None);
    }

    #[test]
    fn every_form_has_a_word() {
        for form in Form::ALL {
            assert_eq!(form_from_word(form_word(form).as_bytes()), Some(form));
        }
    }
}
