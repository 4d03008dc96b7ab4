//! The stack of the reader: what is open.

/// A container, or something around a value, that waits for its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Its node.
    pub(super) at: u32,
    /// How many items or entries there were.
    pub(super) count: u32,
    pub(super) shape: Shape,
    /// The bracket at its end.
    pub(super) close: u8,
    /// A value was read: what ends or separates it comes next.
    pub(super) behind: bool,
    /// The id of the key before, for the guess.
    pub(super) last_key: u16,
    /// Where it starts in the input.
    pub(super) start: usize,
}

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
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
    /// The same with another name: `name( X, 'C' )`.
    Call,
}

impl Shape {
    /// Whether Data::Dumper indents what is in it.
    pub(super) fn is_level(self) -> bool {
        !matches!(self, Shape::Bless | Shape::Call)
    }
}
