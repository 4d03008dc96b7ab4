//! What does not fit its field.

/// Why a value does not fit, and where it stands on the tape.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub(crate) node: u32,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Misfit {
    #[cold]
    pub(crate) fn new(node: u32, expected: impl Into<String>, found: impl Into<String>) -> Misfit {
        Misfit { node, expected: expected.into(), found: found.into() }
    }

    /// Another way of saying what was expected.
    #[cold]
    pub(crate) fn expecting(mut self, expected: impl Into<String>) -> Misfit {
        self.expected = expected.into();
        self
    }

    pub(crate) fn into_error(self, path: String) -> icecore::Error {
        icecore::Error::new(icecore::ErrorKind::Unrepresentable)
            .expecting(self.expected)
            .finding(self.found)
            .on_path(path)
    }
}
