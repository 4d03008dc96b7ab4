//! Names with `*`, and the text that each `*` matches.

/// An old name, in which `*` matches any characters, including none; or a new one, in which each `*` is replaced by the
/// match of the corresponding one in the old name.
#[derive(Clone, Debug)]
pub(super) struct ClassPattern {
    /// The text before, between and after the wildcards; the list is never empty.
    literals: Vec<Vec<u8>>,
}

impl ClassPattern {
    pub(super) fn new(text: &str) -> ClassPattern {
        ClassPattern { literals: text.split('*').map(|literal| literal.as_bytes().to_vec()).collect() }
    }

    /// Returns the number of wildcards.
    pub(super) fn wildcard_count(&self) -> usize {
        self.literals.len() - 1
    }

    /// Returns the match of each wildcard, if the name matches. If there are several ways, each wildcard except the
    /// last takes as little as possible.
    pub(super) fn match_wildcards<'n>(&self, name: &'n [u8]) -> Option<Vec<&'n [u8]>> {
        let (first, others) = self.literals.split_first()?;
        let mut rest = name.strip_prefix(first.as_slice())?;
        let Some((last, middle)) = others.split_last() else {
            return rest.is_empty().then(Vec::new);
        };
        let mut captures = Vec::with_capacity(others.len());
        for literal in middle {
            let offset = memchr::memmem::find(rest, literal)?;
            captures.push(&rest[..offset]);
            rest = &rest[offset + literal.len()..];
        }
        captures.push(rest.strip_suffix(last.as_slice())?);
        Some(captures)
    }

    /// Returns the name with the wildcards replaced by these texts.
    pub(super) fn fill_wildcards(&self, captures: &[&[u8]]) -> Vec<u8> {
        let mut captures = captures.iter();
        let mut name = Vec::new();
        for (index, literal) in self.literals.iter().enumerate() {
            if index > 0 {
                name.extend_from_slice(captures.next().copied().unwrap_or_default());
            }
            name.extend_from_slice(literal);
        }
        name
    }
}
