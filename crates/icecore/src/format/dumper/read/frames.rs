//! The stack of the reader: open containers.

/// A container, or another construct around a value, that is still open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Its node.
    pub(super) node: u32,
    /// Number of items or entries so far.
    pub(super) count: u32,
    pub(super) construct: Construct,
    /// The bracket that ends it.
    pub(super) close: u8,
    /// Whether a value was just read, so that a separator or the end of the container must follow.
    pub(super) has_value: bool,
    /// Id of the previous key, used for the prediction.
    pub(super) last_key: u16,
    /// Offset of its start in the input.
    pub(super) start: usize,
}

/// What a frame represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Construct {
    Array,
    Map,
    /// `\` before a value.
    Ref,
    /// `\(my $o = X)`
    Scalar,
    /// `do{\(my $o = X)}`
    Do,
    /// `bless( X, 'C' )`
    Bless,
    /// Like `Bless`, with another name: `name( X, 'C' )`.
    Call,
}

impl Construct {
    /// Returns `true` if Data::Dumper indents its content.
    pub(super) fn is_level(self) -> bool {
        !matches!(self, Construct::Bless | Construct::Call)
    }
}
