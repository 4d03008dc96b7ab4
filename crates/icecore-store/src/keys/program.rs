//! Which program something is of: what names of keys and first bytes tell.
//!
//! A guess: it is shown beside the value, and at most says in which wrapper the value is.

/// What is known of a value.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) key: &'k [u8],
    /// `list`, `hash` and so on, of Redis.
    pub(super) kind: &'static str,
    pub(super) field: Option<&'k [u8]>,
    pub(super) value: &'k [u8],
}

/// A program, and how what it keeps is known.
struct Program {
    name: &'static str,
    /// The stage of what it keeps, where the bytes alone say less: an entry of Rails 6.1 is a value of
    /// Marshal as well, and a session may be of any bytes.
    stage: Option<&'static str>,
    is_of: fn(&Known<'_>) -> bool,
}

/// The first that fits.
const PROGRAMS: &[Program] = &[
    Program { name: "rails-cache", stage: Some("rails-cache/marshal"), is_of: |known| is_rails(known.value) },
    Program {
        name: "php-session",
        stage: Some("php-session"),
        is_of: |known| {
            let is_session = known.starts(b"PHPREDIS_SESSION:") || known.starts(b"memc.sess.");
            // Locks are no sessions.
            is_session && !known.key.ends_with(b"_LOCK") && !known.key_has(b".lock.")
        },
    },
    Program {
        name: "laravel-queue",
        stage: None,
        is_of: |known| known.key_has(b"queues:") && known.is_json_with(&[br#""job":"#, br#""data":"#]),
    },
    Program {
        name: "sidekiq",
        stage: None,
        is_of: |known| matches!(known.kind, "list" | "zset") && known.is_json_with(&[br#""class":"#, br#""jid":"#]),
    },
    Program {
        name: "resque",
        stage: None,
        is_of: |known| known.key_has(b"queue:") && known.is_json_with(&[br#""class":"#, br#""args":"#]),
    },
    Program {
        name: "symfony-messenger",
        stage: None,
        is_of: |known| known.kind == "stream" && known.field.is_some_and(|field| field.ends_with(b"/message")),
    },
    Program {
        name: "symfony-cache",
        stage: None,
        is_of: |known| known.key_has(b"\x01tags\x01") || known.key_has(b"\0tags\0") || is_symfony(known.value),
    },
    Program {
        name: "laravel-cache",
        stage: None,
        is_of: |known| known.key_has(b"_cache:") && is_of_laravel(known.value),
    },
];

/// The name of the program that a value seems to be of.
pub(super) fn of(known: &Known<'_>) -> Option<&'static str> {
    PROGRAMS.iter().find(|program| (program.is_of)(known)).map(|program| program.name)
}

/// The stage of what a program keeps, if that is worth a try before the bytes are looked at.
pub(super) fn stage_of(name: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|program| program.name == name)?.stage
}

impl Known<'_> {
    fn starts(&self, prefix: &[u8]) -> bool {
        self.key.starts_with(prefix)
    }

    fn key_has(&self, part: &[u8]) -> bool {
        has(self.key, part)
    }

    fn is_json_with(&self, names: &[&[u8]]) -> bool {
        // Arguments stand in the middle, and may be long.
        let head = &self.value[..self.value.len().min(HEAD)];
        let tail = &self.value[self.value.len().saturating_sub(HEAD)..];
        self.value.starts_with(b"{") && names.iter().all(|name| has(head, name) || has(tail, name))
    }
}

/// How much of the beginning and of the end of a value is looked at.
const HEAD: usize = 4 << 10;

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Entries of Rails 7.1, 7.0, and 6.1 and before.
fn is_rails(value: &[u8]) -> bool {
    value.starts_with(b"\x04\x08o: ActiveSupport::Cache::Entry")
        || value.starts_with(b"\0\x04\x08[")
        || matches!(value, [0, 0x11, kind, ..] if value.len() > 15 && (1..=4).contains(&(kind & 0x7f)))
}

/// An array of one, whose key has when the item expires and how long it took to make.
fn is_symfony(value: &[u8]) -> bool {
    let is_key = |key: &[u8]| matches!(key, [0x9d, .., 0x5f]);
    let key = value.strip_prefix(b"a:1:{s:10:\"").or_else(|| value.strip_prefix(b"\0\0\0\x02\x14\x01\x11\x0a"));
    key.and_then(|rest| rest.get(..10)).is_some_and(is_key)
}

/// A value of `serialize`, or a number.
fn is_of_laravel(value: &[u8]) -> bool {
    let is_number = !value.is_empty() && value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    is_number || matches!(value, [b'a' | b's' | b'i' | b'd' | b'b' | b'O' | b'C' | b'E', b':', ..] | b"N;")
}
