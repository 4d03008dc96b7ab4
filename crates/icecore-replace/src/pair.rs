//! A text and its replacement.

/// A text and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub(crate) old: Vec<u8>,
    pub(crate) new: Vec<u8>,
    pub(crate) spelling: Spelling,
    pub(crate) edges: Edges,
}

impl Pair {
    /// Returns the text or the regular expression that is searched.
    pub fn old(&self) -> &[u8] {
        &self.old
    }

    /// Returns the replacement. `$1` in it is a group, if a regular expression is searched.
    pub fn replacement(&self) -> &[u8] {
        &self.new
    }

    /// Returns the origin of the searched text.
    pub fn spelling(&self) -> Spelling {
        self.spelling
    }
}

/// Origin of a searched text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Spelling {
    /// As given by the user.
    Given,
    /// A regular expression.
    Regex,
    /// A URL with the other one of `http` and `https`. The replacement keeps that scheme.
    OtherScheme,
    /// A URL that begins with `//`.
    NoScheme,
    /// A URL with `\/`, with any scheme.
    Json,
    /// A URL with `%2F`, with any scheme.
    Percent,
}

impl Spelling {
    /// Returns a name for messages.
    ///
    /// ```
    /// assert_eq!(icecore_replace::Spelling::Json.name(), "JSON-escaped");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Spelling::Given => "as given",
            Spelling::Regex => "by a regular expression",
            Spelling::OtherScheme => "with the other scheme",
            Spelling::NoScheme => "without a scheme",
            Spelling::Json => "JSON-escaped",
            Spelling::Percent => "percent-encoded",
        }
    }
}

/// Conditions on the text next to a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    /// Whether a scheme before the match is forbidden.
    pub no_scheme: bool,
    pub end: End,
}

/// Where a URL must end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    #[default]
    Anywhere,
    /// The match ends with a host or a port. If the name continues after it, it is another host.
    Host,
    /// After a folder of a path.
    Path,
}

impl Edges {
    /// Returns `true` if `start..end` of the text is a match.
    pub fn allows_match(self, text: &[u8], start: usize, end: usize) -> bool {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(end..).unwrap_or_default();
        (!self.no_scheme || !ends_with_scheme(before)) && self.end.allows_following(after)
    }
}

/// Returns `true` if a `//` that follows this text belongs to a scheme, or to more slashes.
fn ends_with_scheme(before: &[u8]) -> bool {
    let is_encoded_sign = |end: &[u8]| end.eq_ignore_ascii_case(b"%3a") || end.eq_ignore_ascii_case(b"%2f");
    matches!(before.last(), Some(b':' | b'/'))
        || before.len().checked_sub(3).and_then(|index| before.get(index..)).is_some_and(is_encoded_sign)
}

impl End {
    /// Returns true if a match may end before this text.
    fn allows_following(self, after: &[u8]) -> bool {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let second = after.get(1).copied();
        match (self, after.first().copied()) {
            (End::Anywhere, _) | (_, None) => true,
            (_, Some(byte)) if is_name(byte) => false,
            // A dot before another part continues the name, as in `old.example.org`. A dot at the end of a sentence
            // does not.
            (_, Some(b'.')) => !second.is_some_and(is_name),
            (End::Host, Some(b'@')) => false,
            // A colon and a digit begin a port.
            (End::Host, Some(b':')) => !second.is_some_and(|byte| byte.is_ascii_digit()),
            (End::Host, Some(b'%')) => {
                let is_colon = after.get(1..3).is_some_and(|code| code.eq_ignore_ascii_case(b"3a"));
                !(is_colon && after.get(3).is_some_and(u8::is_ascii_digit))
            }
            (End::Path, Some(b'~')) => false,
            // A letter that is encoded once or twice continues the path. An encoded `/`, `?`, `#`, `&` or quote ends
            // it.
            (End::Path, Some(b'%')) => after.get(1..3).is_some_and(|code| {
                [b"2f", b"3f", b"23", b"26", b"22", b"27"].iter().any(|end| code.eq_ignore_ascii_case(*end))
            }),
            _ => true,
        }
    }
}
