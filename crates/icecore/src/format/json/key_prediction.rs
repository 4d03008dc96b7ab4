//! Predictions of keys: how a key looks in the text, and which one comes next.

/// How a key looked, and which key came next the last time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyPrediction {
    /// The key with its quotes and its colon, as the bytes of a little-endian number, and
    /// a mask of as many bytes: `window & mask == text` says whether the key stands there.
    pub(crate) text: u128,
    pub(crate) mask: u128,
    /// How many bytes that are; 0 if the key is too long for it.
    pub(crate) len: u32,
    /// One more than the length of a key that stands in the input without escapes; 0
    /// otherwise, as a key may be empty.
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
