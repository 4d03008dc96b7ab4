//! Values that do not fit their field.

use icecore::ErrorKind;

/// The reason why a value does not fit, and the node of the value on the tape.
#[derive(Debug)]
pub(crate) struct TypeMismatch {
    pub(crate) kind: ErrorKind,
    pub(crate) node: u32,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl TypeMismatch {
    #[cold]
    pub(crate) fn new(node: u32, expected: impl Into<String>, found: impl Into<String>) -> TypeMismatch {
        let kind = ErrorKind::Unrepresentable;
        TypeMismatch { kind, node, expected: expected.into(), found: found.into() }
    }

    /// Returns the error for links that lead to the same values so often that a blob becomes too large.
    #[cold]
    pub(crate) fn expansion_limit(node: u32) -> TypeMismatch {
        TypeMismatch {
            kind: ErrorKind::Limit,
            ..TypeMismatch::new(node, "fewer repeated values", "more than the limit `expansion`")
        }
    }

    /// Replaces the description of what was expected.
    #[cold]
    pub(crate) fn expecting(mut self, expected: impl Into<String>) -> TypeMismatch {
        self.expected = expected.into();
        self
    }

    pub(crate) fn into_error(self, path: String) -> icecore::Error {
        icecore::Error::new(self.kind).expecting(self.expected).finding(self.found).on_path(path)
    }
}
