//! Guesses which program wrote a value, from the key and the first bytes.
//!
//! The guess is shown next to the value, and at most determines the wrapper that is tried first.

/// A value and its context.
#[derive(Clone, Copy)]
pub(super) struct ValueContext<'k> {
    pub(super) key: &'k [u8],
    /// Redis type: `list`, `hash` and so on.
    pub(super) kind: &'static str,
    pub(super) field: Option<&'k [u8]>,
    pub(super) value: &'k [u8],
}

/// A program, and how its values are recognized.
struct Program {
    name: &'static str,
    /// Stage of the program's values, if detection could find another format. For example, an entry of Rails 6.1 is
    /// also a valid Marshal value, and a session may contain any bytes.
    stage: Option<&'static str>,
    recognizes: fn(&ValueContext<'_>) -> bool,
}

/// Known programs. The first match counts.
const PROGRAMS: &[Program] = &[
    Program {
        name: "rails-cache",
        stage: Some("rails-cache/marshal"),
        recognizes: |context| is_rails_entry(context.value),
    },
    Program {
        name: "php-session",
        stage: Some("php-session"),
        recognizes: |context| {
            let is_session = context.key_starts_with(b"PHPREDIS_SESSION:") || context.key_starts_with(b"memc.sess.");
            // Locks are not sessions.
            is_session && !context.key.ends_with(b"_LOCK") && !context.key_contains(b".lock.")
        },
    },
    Program {
        name: "laravel-queue",
        stage: None,
        recognizes: |context| {
            context.key_contains(b"queues:") && context.is_json_with_names(&[br#""job":"#, br#""data":"#])
        },
    },
    Program {
        name: "sidekiq",
        stage: None,
        recognizes: |context| {
            matches!(context.kind, "list" | "zset") && context.is_json_with_names(&[br#""class":"#, br#""jid":"#])
        },
    },
    Program {
        name: "resque",
        stage: None,
        recognizes: |context| {
            context.key_contains(b"queue:") && context.is_json_with_names(&[br#""class":"#, br#""args":"#])
        },
    },
    Program {
        name: "symfony-messenger",
        stage: None,
        recognizes: |context| {
            context.kind == "stream" && context.field.is_some_and(|field| field.ends_with(b"/message"))
        },
    },
    Program {
        name: "symfony-cache",
        stage: None,
        recognizes: |context| {
            context.key_contains(b"\x01tags\x01") || context.key_contains(b"\0tags\0") || is_symfony_item(context.value)
        },
    },
    Program {
        name: "laravel-cache",
        stage: None,
        recognizes: |context| context.key_contains(b"_cache:") && is_laravel_value(context.value),
    },
];

/// Returns the name of the program that a value seems to come from.
pub(super) fn guess_program(context: &ValueContext<'_>) -> Option<&'static str> {
    PROGRAMS.iter().find(|program| (program.recognizes)(context)).map(|program| program.name)
}

/// Returns the stage of a program's values, if it should be tried before the format is detected.
pub(super) fn find_program_stage(name: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|program| program.name == name)?.stage
}

impl ValueContext<'_> {
    fn key_starts_with(&self, prefix: &[u8]) -> bool {
        self.key.starts_with(prefix)
    }

    fn key_contains(&self, part: &[u8]) -> bool {
        contains_bytes(self.key, part)
    }

    fn is_json_with_names(&self, names: &[&[u8]]) -> bool {
        // The arguments of a job may be long. They are in the middle of the text, so both ends are searched.
        let head = &self.value[..self.value.len().min(SEARCHED_LEN)];
        let tail = &self.value[self.value.len().saturating_sub(SEARCHED_LEN)..];
        self.value.starts_with(b"{")
            && names.iter().all(|name| contains_bytes(head, name) || contains_bytes(tail, name))
    }
}

/// Number of bytes at the beginning and at the end of a value that are searched.
const SEARCHED_LEN: usize = 4 << 10;

fn contains_bytes(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Recognizes entries of Rails 7.1, 7.0, and 6.1 or earlier.
fn is_rails_entry(value: &[u8]) -> bool {
    value.starts_with(b"\x04\x08o: ActiveSupport::Cache::Entry")
        || value.starts_with(b"\0\x04\x08[")
        || matches!(value, [0, 0x11, kind, ..] if value.len() > 15 && (1..=4).contains(&(kind & 0x7f)))
}

/// Recognizes an array with one entry, whose key encodes the expiry and the computation time of the item.
fn is_symfony_item(value: &[u8]) -> bool {
    let is_key = |key: &[u8]| matches!(key, [0x9d, .., 0x5f]);
    let key = value.strip_prefix(b"a:1:{s:10:\"").or_else(|| value.strip_prefix(b"\0\0\0\x02\x14\x01\x11\x0a"));
    key.and_then(|rest| rest.get(..10)).is_some_and(is_key)
}

/// Recognizes a value of `serialize`, or a number.
fn is_laravel_value(value: &[u8]) -> bool {
    let is_number = !value.is_empty() && value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    is_number || matches!(value, [b'a' | b's' | b'i' | b'd' | b'b' | b'O' | b'C' | b'E', b':', ..] | b"N;")
}
