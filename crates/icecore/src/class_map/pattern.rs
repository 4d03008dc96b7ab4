//! Names with `*`, and what each stands for in a name.

/// An old name, in which `*` stands for any characters, also for none; or a new one, in which
/// each `*` stands for what one in the old name stood for.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// What stands before, between and behind the wildcards: never empty.
    literals: Vec<Vec<u8>>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Pattern {
        Pattern { literals: text.split('*').map(|literal| literal.as_bytes().to_vec()).collect() }
    }

    /// How many wildcards there are.
    pub(super) fn wildcards(&self) -> usize {
        self.literals.len() - 1
    }

    /// What each wildcard stands for, if the name fits. Of several ways each wildcard but
    /// the last takes as little as it can.
    pub(super) fn captures<'n>(&self, name: &'n [u8]) -> Option<Vec<&'n [u8]>> {
        let (first, others) = self.literals.split_first()?;
        let mut rest = name.strip_prefix(first.as_slice())?;
        let Some((last, middle)) = others.split_last() else {
            return rest.is_empty().then(Vec::new);
        };
        let mut captures = Vec::with_capacity(others.len());
        for literal in middle {
            let at = memchr::memmem::find(rest, literal)?;
            captures.push(&rest[..at]);
            rest = &rest[at + literal.len()..];
        }
        captures.push(rest.strip_suffix(last.as_slice())?);
        Some(captures)
    }

    /// The name with these in the place of the wildcards.
    pub(super) fn fill(&self, captures: &[&[u8]]) -> Vec<u8> {
        let mut captures = captures.iter();
        let mut name = Vec::new();
        for (at, literal) in self.literals.iter().enumerate() {
            if at > 0 {
                name.extend_from_slice(captures.next().copied().unwrap_or_default());
            }
            name.extend_from_slice(literal);
        }
        name
    }
}
