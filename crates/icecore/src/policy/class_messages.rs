//! Messages about classes. Names come from data: they are quoted, in ASCII, so that a suggestion that is pasted into a
//! program allows this class and no other.

use super::name::{ClassName, decode_character};
use std::fmt::Write;

/// A host, with its syntax for a list of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// `classes => ['My::Thing']`
    Perl,
    /// `'allowed_classes' => ['App\\User']`
    Php,
    /// `classes: ['Ns::Thing']`
    Ruby,
}

/// The messages of a host about a class.
///
/// ```
/// use icecore::policy::{ClassMessages, ClassName, Host, NameComparison};
/// let name = ClassName::new(NameComparison::Exact, b"My::Thing", false)?;
/// let messages = ClassMessages::new(Host::Perl, name);
/// assert_eq!(messages.literal(), "'My::Thing'");
/// assert_eq!(messages.remedy(), "allow it with classes => ['My::Thing']");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// ```
/// use icecore::policy::{ClassMessages, ClassName, Host, NameComparison};
/// let messages = ClassMessages::new(Host::Ruby, ClassName::new(NameComparison::Exact, b"Ns::Thing", false)?);
/// assert_eq!(messages.display_name(), "Ns::Thing");
/// assert!(messages.refusal("$[0]").contains("Ns::Thing"));
/// assert!(messages.built().contains("Ns::Thing"));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClassMessages<'n> {
    host: Host,
    name: ClassName<'n>,
}

impl<'n> ClassMessages<'n> {
    /// Messages about the class of this name.
    pub fn new(host: Host, name: ClassName<'n>) -> ClassMessages<'n> {
        ClassMessages { host, name }
    }

    /// Returns a literal of the host that is exactly this name.
    pub fn literal(self) -> String {
        let bytes = self.name.bytes();
        let is_printable = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
        match self.host {
            Host::Perl if is_printable && is_plain_in_perl(bytes) => format!("'{}'", String::from_utf8_lossy(bytes)),
            Host::Perl => self.double_quoted_in_perl(),
            Host::Php | Host::Ruby if is_printable => single_quoted(bytes),
            Host::Php | Host::Ruby => double_quoted(bytes),
        }
    }

    fn double_quoted_in_perl(self) -> String {
        let mut literal = String::from("\"");
        let mut rest = self.name.bytes();
        while let Some(first) = rest.first() {
            let character = (u64::from(*first), 1);
            let (character, len) =
                if self.name.is_text() { decode_character(rest).unwrap_or(character) } else { character };
            rest = &rest[len..];
            match u8::try_from(character) {
                Ok(byte @ (b'"' | b'\\' | b'$' | b'@')) => literal.extend(['\\', char::from(byte)]),
                Ok(byte @ b' '..=b'~') => literal.push(char::from(byte)),
                _ => {
                    let _ = write!(literal, "\\x{{{character:x}}}");
                }
            }
        }
        literal.push('"');
        literal
    }

    /// Returns the name itself if it has only letters, digits, `_`, `:` and `\`; otherwise the literal.
    pub fn display_name(self) -> String {
        let bytes = self.name.bytes();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'\\');
        match bytes {
            [_, ..] if bytes.iter().all(is_plain) => String::from_utf8_lossy(bytes).into_owned(),
            _ => self.literal(),
        }
    }

    /// Returns a suggestion that allows this class and no other in one call. In a list in Perl or Ruby, `*` matches any
    /// characters; PHP's `allowed_classes` contains only names.
    pub fn remedy(self) -> String {
        let literal = self.literal();
        let wildcard = "its name contains a wildcard, which matches any name in a list; a hash has exact names, ";
        match (self.host, self.name.has_wildcard()) {
            (Host::Perl, false) => format!("allow it with classes => [{literal}]"),
            (Host::Perl, true) => format!("{wildcard}classes => {{ {literal} => 1 }}"),
            (Host::Php, _) => format!("allow it with 'allowed_classes' => [{literal}]"),
            (Host::Ruby, false) => format!("allow it with classes: [{literal}]"),
            (Host::Ruby, true) => format!("{wildcard}classes: {{ {literal} => true }}"),
        }
    }

    /// Returns the message that this class is refused, with a suggestion to allow it.
    pub fn refusal(self, path: &str) -> String {
        let (displayed, remedy) = (self.display_name(), self.remedy());
        let mut text = format!("the class {displayed} at {path} is not allowed; {remedy}");
        if !self.name.bytes().is_empty() && !self.name.has_wildcard() {
            let literal = self.literal();
            let _ = match self.host {
                Host::Perl => write!(text, ", in this call or for all with Icecore->allow({literal})"),
                Host::Php => {
                    write!(text, ", in this call or for the rest of the request with Icecore\\allow({literal})")
                }
                Host::Ruby => write!(text, ", in this call or for all with Icecore.allow({literal})"),
            };
        }
        text
    }

    /// Returns the message that this class was built, with a suggestion to allow it without a message.
    pub fn built(self) -> String {
        format!("the class {} was built from data; {}", self.display_name(), self.remedy())
    }
}

/// Returns `true` if the bytes in single quotes mean themselves in Perl: a backslash before another one does not, and
/// one at the end would escape the quote.
fn is_plain_in_perl(bytes: &[u8]) -> bool {
    !bytes.contains(&b'\'') && !bytes.ends_with(b"\\") && !bytes.windows(2).any(|pair| pair == b"\\\\")
}

fn single_quoted(bytes: &[u8]) -> String {
    let mut literal = String::from("'");
    for byte in bytes {
        if matches!(byte, b'\'' | b'\\') {
            literal.push('\\');
        }
        literal.push(char::from(*byte));
    }
    literal.push('\'');
    literal
}

/// For PHP and Ruby, whose names are bytes: writes characters if they are UTF-8.
fn double_quoted(bytes: &[u8]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ":_- ".contains(c);
    let mut literal = String::from("\"");
    let mut push = |c: char, digits: &dyn Fn(u32) -> String| match is_plain(c) {
        true => literal.push(c),
        false => literal.push_str(&digits(u32::from(c))),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().for_each(|c| push(c, &|code| format!("\\u{{{code:x}}}"))),
        Err(_) => bytes.iter().for_each(|byte| push(char::from(*byte), &|code| format!("\\x{code:02x}"))),
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::super::NameComparison;
    use super::*;

    fn messages(host: Host, name: &[u8], is_text: bool) -> ClassMessages<'_> {
        ClassMessages::new(host, ClassName::new(NameComparison::Exact, name, is_text).unwrap())
    }

    #[test]
    fn names_are_quoted_like_each_language() {
        let literal = |name: &'static [u8], host| messages(host, name, std::str::from_utf8(name).is_ok()).literal();
        assert_eq!(literal(b"My::Thing", Host::Perl), "'My::Thing'");
        assert_eq!(literal(b"My\\Thing", Host::Perl), "'My\\Thing'");
        assert_eq!(literal(b"My\\\\Thing", Host::Perl), "\"My\\\\\\\\Thing\"");
        assert_eq!(literal(b"end\\", Host::Perl), "\"end\\\\\"");
        assert_eq!(literal(b"Thing's @$", Host::Perl), "\"Thing's \\@\\$\"");
        assert_eq!(literal(b"My\\Thing's", Host::Php), "'My\\\\Thing\\'s'");
        assert_eq!(literal("Caf\u{e9}".as_bytes(), Host::Perl), "\"Caf\\x{e9}\"");
        assert_eq!(literal("Caf\u{e9}".as_bytes(), Host::Ruby), "\"Caf\\u{e9}\"");
        assert_eq!(literal(b"Caf\xe9", Host::Perl), "\"Caf\\x{e9}\"");
        assert_eq!(literal(b"Caf\xe9", Host::Ruby), "\"Caf\\xe9\"");
        assert_eq!(literal(b"a\n$b", Host::Php), "\"a\\u{a}\\u{24}b\"");
        assert_eq!(messages(Host::Perl, b"Caf\xc3\xa9", false).literal(), "\"Caf\\x{c3}\\x{a9}\"");
        assert_eq!(messages(Host::Perl, b"\xed\xa0\x80", true).literal(), "\"\\x{d800}\"");
    }

    #[test]
    fn unusual_names_are_shown_as_literals() {
        for (name, expected) in
            [(&b"App\\User"[..], "App\\User"), (b"My::A_1", "My::A_1"), (b"a b", "'a b'"), (b"", "''")]
        {
            assert_eq!(messages(Host::Php, name, false).display_name().replace("\\\\", "\\"), expected);
        }
    }

    #[test]
    fn remedies_are_those_of_the_host() {
        let refusal = |host, name: &'static [u8]| messages(host, name, false).refusal("$[0]");
        assert_eq!(
            refusal(Host::Perl, b"My::Thing"),
            "the class My::Thing at $[0] is not allowed; allow it with classes => ['My::Thing'], in this call or for all \
             with Icecore->allow('My::Thing')"
        );
        assert_eq!(
            refusal(Host::Php, b"App\\User"),
            "the class App\\User at $[0] is not allowed; allow it with 'allowed_classes' => ['App\\\\User'], in this call \
             or for the rest of the request with Icecore\\allow('App\\\\User')"
        );
        assert_eq!(
            refusal(Host::Ruby, b"Ns::Thing"),
            "the class Ns::Thing at $[0] is not allowed; allow it with classes: ['Ns::Thing'], in this call or for all \
             with Icecore.allow('Ns::Thing')"
        );
    }

    #[test]
    fn a_wildcard_in_a_name_is_literal_in_the_remedy() {
        let remedy = |host| messages(host, b"My::*", false).remedy();
        assert!(remedy(Host::Perl).ends_with("a hash has exact names, classes => { 'My::*' => 1 }"));
        assert!(remedy(Host::Ruby).ends_with("a hash has exact names, classes: { 'My::*' => true }"));
        assert_eq!(remedy(Host::Php), "allow it with 'allowed_classes' => ['My::*']");
        assert!(!messages(Host::Perl, b"My::*", false).refusal("$").contains("Icecore->allow"));
        assert!(!messages(Host::Perl, b"", false).refusal("$").contains("Icecore->allow"));
    }
}
