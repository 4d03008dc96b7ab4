//! Predictions of keys: the spelling of a key, and the key that follows it.

/// Spelling of a key, and the key that followed it the last time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyPrediction {
    /// The key with its quotes and its colon, as the bytes of a little-endian number, and
    /// a mask of the same size: `window & mask == text` means that the key is here.
    pub(crate) text: u128,
    pub(crate) mask: u128,
    /// Number of bytes of `text` that are used; 0 if the key is too long.
    pub(crate) text_len: u32,
    /// Length of the key plus one, if it is in the input without escapes; otherwise 0,
    /// because a key may be empty.
    pub(crate) unescaped_len_plus_one: u32,
    /// Id of the key that follows this one.
    pub(crate) next: u16,
}

impl KeyPrediction {
    /// Returns the entry for this id; adds it if it is missing.
    pub(crate) fn get_or_insert(list: &mut Vec<KeyPrediction>, id: u16) -> &mut KeyPrediction {
        let index = usize::from(id);
        if list.len() <= index {
            list.resize(index + 1, KeyPrediction::default());
        }
        &mut list[index]
    }
}
