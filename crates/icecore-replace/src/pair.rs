//! A text and what it becomes.

/// A text and what it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub(crate) old: Vec<u8>,
    pub(crate) new: Vec<u8>,
    pub(crate) spelling: Spelling,
    pub(crate) edges: Edges,
}

impl Pair {
    /// What is looked for: a text, or a regular expression.
    pub fn old(&self) -> &[u8] {
        &self.old
    }

    /// What it becomes; `$1` in it is a group, if OLD is a regular expression.
    pub fn becomes(&self) -> &[u8] {
        &self.new
    }

    /// How OLD came to be.
    pub fn spelling(&self) -> Spelling {
        self.spelling
    }
}

/// How a text that is looked for came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Spelling {
    /// As it was given.
    Given,
    /// It is a regular expression.
    Regex,
    /// An address with the other one of `http` and `https`, which it keeps.
    OtherScheme,
    /// An address that begins with `//`.
    NoScheme,
    /// An address with `\/`, in whatever scheme.
    Json,
    /// An address with `%2F`, in whatever scheme.
    Percent,
}

impl Spelling {
    /// As messages call it.
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

/// What must stand beside a match for it to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    /// No scheme may stand before it.
    pub no_scheme: bool,
    pub end: End,
}

/// Where an address ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    #[default]
    Anywhere,
    /// Behind a host or a port: a longer name is another one.
    Host,
    /// Behind a folder of a path.
    Path,
}

impl Edges {
    /// Whether what stands at `start..end` of the text is a match.
    pub fn fit(self, text: &[u8], start: usize, end: usize) -> bool {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(end..).unwrap_or_default();
        (!self.no_scheme || !has_scheme(before)) && self.end.fits(after)
    }
}

/// Whether `//` behind this belongs to a scheme, or to more slashes.
fn has_scheme(before: &[u8]) -> bool {
    let is_encoded = |end: &[u8]| end.eq_ignore_ascii_case(b"%3a") || end.eq_ignore_ascii_case(b"%2f");
    matches!(before.last(), Some(b':' | b'/'))
        || before.len().checked_sub(3).and_then(|at| before.get(at..)).is_some_and(is_encoded)
}

impl End {
    fn fits(self, after: &[u8]) -> bool {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let second = after.get(1).copied();
        match (self, after.first().copied()) {
            (End::Anywhere, _) | (_, None) => true,
            (_, Some(byte)) if is_name(byte) => false,
            // `old.example.org` goes on; the end of a sentence does not.
            (_, Some(b'.')) => !second.is_some_and(is_name),
            (End::Host, Some(b'@')) => false,
            // A port.
            (End::Host, Some(b':')) => !second.is_some_and(|byte| byte.is_ascii_digit()),
            (End::Host, Some(b'%')) => {
                let is_colon = after.get(1..3).is_some_and(|code| code.eq_ignore_ascii_case(b"3a"));
                !(is_colon && after.get(3).is_some_and(u8::is_ascii_digit))
            }
            (End::Path, Some(b'~')) => false,
            // A letter that is encoded, once or twice; `/`, `?`, `#`, `&` and quotes end it.
            (End::Path, Some(b'%')) => after.get(1..3).is_some_and(|code| {
                [b"2f", b"3f", b"23", b"26", b"22", b"27"].iter().any(|end| code.eq_ignore_ascii_case(*end))
            }),
            _ => true,
        }
    }
}
