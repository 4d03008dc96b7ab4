//! How keys looked in the text that they were read from.

/// How a key looked, and which one came behind it the last time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyPrediction {
    /// The key with what always stands around it, and which bytes of this count.
    pub(crate) text: u128,
    pub(crate) mask: u128,
    /// How long that is; 0 if it can't be predicted.
    pub(crate) len: u32,
    /// One more than the length of a key that stands in the input as it is,
    /// without escapes.
    pub(crate) plain: u32,
    /// The id of the key that follows this one.
    pub(crate) next: u16,
}

impl KeyPrediction {
    /// The entry for this id, which is made if there is none.
    pub(crate) fn of(list: &mut Vec<KeyPrediction>, id: u16) -> &mut KeyPrediction {
        let at = usize::from(id);
        if list.len() <= at {
            list.resize(at + 1, KeyPrediction::default());
        }
        &mut list[at]
    }
}
