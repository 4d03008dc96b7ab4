//! The memory of the fast loop from one document to the next. It contains the texts of keys and of the heads of
//! objects, and their usual order. The loop compares the input with the predicted text as a whole. If they are equal,
//! it does not parse the input there.

use super::read::Frame;
use super::read_fast::ObjectHead;
use super::text::integer_key;
use crate::document::{Kind, Names, Tape};

/// Maximum length of a text that is kept. A text is compared as two halves. In a shorter text, the halves overlap.
pub(super) const MAX_KEPT_LEN: usize = 64;
const HALF_WORDS: usize = MAX_KEPT_LEN / 16;

/// The text of a key, `s:4:"name";`, or of an object's head, `O:4:"User":2:{`, and the ids that followed it the last
/// time. The id 0 means that nothing followed yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeptText {
    /// The first words of eight bytes. If the text is shorter than a word, the first one is the text, padded with
    /// zeros.
    front: [u64; HALF_WORDS],
    /// The last words, in order. If the text is shorter than a word, the last one is a mask of the bits that it
    /// occupies.
    back: [u64; HALF_WORDS],
    /// Length in bytes. It is 0 if no text is kept: it was not made yet, it is too long, or PHP may read it as another
    /// key.
    pub(super) len: u32,
    /// Stated number of properties of an object.
    pub(super) count: u32,
    /// Whether the text was already made, even if it is too long to be kept.
    is_known: bool,
    /// Id of the key that followed this one the last time.
    pub(super) next: u16,
    /// The first key in a map that is the value of this key, or in an object of this class.
    pub(super) first: u16,
    /// The class of an object that is the value of this key.
    pub(super) class: u16,
}

fn word_at(text: &[u8], offset: usize) -> u64 {
    text.get(offset..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word))
}

/// Returns the first eight bytes, padded with zeros after the end of the input.
#[inline(always)]
pub(super) fn read_word(rest: &[u8]) -> u64 {
    rest.first_chunk().map_or_else(|| read_short_word(rest), |word| u64::from_le_bytes(*word))
}

#[cold]
#[inline(never)]
fn read_short_word(rest: &[u8]) -> u64 {
    rest.iter().take(8).rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl KeptText {
    fn set_text(&mut self, text: &[u8]) {
        self.is_known = true;
        self.len = 0;
        let len = text.len();
        if len > MAX_KEPT_LEN {
            return;
        }
        if len < 8 {
            self.front[0] = read_short_word(text);
            self.back[HALF_WORDS - 1] = (1 << (8 * len)) - 1;
        } else {
            for index in 0..HALF_WORDS {
                self.front[index] = word_at(text, 8 * index);
                self.back[index] =
                    (len + 8 * index).checked_sub(8 * HALF_WORDS).map_or(0, |start| word_at(text, start));
            }
        }
        self.len = len as u32;
    }

    /// Returns what follows this text if the input begins with it.
    #[inline(always)]
    pub(super) fn strip_from<'a>(&self, rest: &'a [u8]) -> Option<&'a [u8]> {
        let text = rest.get(..self.len as usize)?;
        // The first and the last word cover texts of 8 to 16 bytes completely. A shorter text is compared under its
        // mask.
        let is_equal = match (text.first_chunk(), text.last_chunk()) {
            (Some(first), Some(last)) => {
                u64::from_le_bytes(*first) == self.front[0]
                    && u64::from_le_bytes(*last) == self.back[HALF_WORDS - 1]
                    && (self.len <= 16 || self.matches_inside(text))
            }
            _ => self.len != 0 && read_word(rest) & self.back[HALF_WORDS - 1] == self.front[0],
        };
        is_equal.then(|| &rest[text.len()..])
    }

    /// Returns `true` if the words between the first and the last one are equal.
    #[inline(always)]
    fn matches_inside(&self, text: &[u8]) -> bool {
        let (Some(first), Some(last)) = (text.first_chunk::<16>(), text.last_chunk::<16>()) else { return false };
        let (first, last) = (u128::from_le_bytes(*first) >> 64, u128::from_le_bytes(*last));
        if first as u64 != self.front[1] || last as u64 != self.back[HALF_WORDS - 2] {
            return false;
        }
        let (Some(first), Some(last)) = (text.first_chunk::<32>(), text.last_chunk::<32>()) else { return true };
        word_at(first, 16) == self.front[2]
            && word_at(first, 24) == self.front[3]
            && word_at(last, 0) == self.back[0]
            && word_at(last, 8) == self.back[1]
    }
}

/// What is kept for the ids of a tape.
#[derive(Debug, Default)]
pub(super) struct ReadCache {
    /// Generation of the table of keys that the ids belong to.
    key_generation: u64,
    /// Generation of the table of classes that the ids belong to.
    class_generation: u64,
    /// By ids of keys; entry 0 is for values without a key.
    pub(super) keys: Vec<KeptText>,
    /// By ids of classes.
    pub(super) object_heads: Vec<KeptText>,
    pub(super) class_cache: ClassCache,
    /// Reused memory of the machine.
    pub(super) frames: Vec<Frame>,
}

impl ReadCache {
    /// Removes the texts that belong to other tables of names. Inside of a table an outdated prediction does no harm,
    /// because the loop compares it with the input before it uses it.
    #[inline]
    pub(super) fn remove_stale(&mut self, keys: &Names, classes: &Names) {
        let (key_generation, class_generation) = (keys.generation(), classes.generation());
        if self.key_generation != key_generation || key_generation == 0 {
            self.keys.clear();
        }
        if self.class_generation != class_generation || class_generation == 0 {
            self.object_heads.clear();
            self.class_cache = ClassCache::default();
        }
        (self.key_generation, self.class_generation) = (key_generation, class_generation);
    }

    /// Remembers a class whose name is valid.
    pub(super) fn remember_class(&mut self, tape: &Tape, input: &[u8], (start, len): (usize, usize), class: u32) {
        self.remove_stale(&tape.keys, &tape.classes);
        self.class_cache.add(input, start, len, class);
    }

    fn key_mut(&mut self, keys: &Names, id: u16) -> Option<&mut KeptText> {
        if self.keys.len() <= keys.len() {
            self.keys.resize(keys.len() + 1, KeptText::default());
        }
        self.keys.get_mut(usize::from(id))
    }

    fn head_mut(&mut self, classes: &Names, id: u32) -> Option<&mut KeptText> {
        if self.object_heads.len() <= classes.len() {
            self.object_heads.resize(classes.len() + 1, KeptText::default());
        }
        self.object_heads.get_mut(id as usize)
    }

    /// Remembers that the key `id` followed the key `last`. If `last` is 0, `id` was the first key in an object of
    /// this class, or in a map whose own key is `context_key`. Returns the key that is predicted after `id`.
    pub(super) fn learn_key(&mut self, keys: &Names, (last, class, context_key): (u16, u32, u16), id: u16) -> u16 {
        if last != 0 {
            self.key_mut(keys, last).into_iter().for_each(|kept| kept.next = id);
        } else if class != 0 {
            self.object_heads.get_mut(class as usize).into_iter().for_each(|kept| kept.first = id);
        } else {
            self.key_mut(keys, context_key).into_iter().for_each(|kept| kept.first = id);
        }
        let Some(kept) = self.key_mut(keys, id) else { return 0 };
        if !kept.is_known {
            kept.set_text(&spell_key(keys, id));
        }
        kept.next
    }

    /// Remembers the head of an object that is the value of a key. Returns the head, with the first predicted key.
    pub(super) fn learn_head<'a>(
        &mut self,
        keys: &Names,
        classes: &Names,
        context_key: u16,
        head: ObjectHead<'a>,
    ) -> ObjectHead<'a> {
        if let Ok(class) = u16::try_from(head.class)
            && let Some(kept) = self.key_mut(keys, context_key)
        {
            kept.class = class;
        }
        let Some(kept) = self.head_mut(classes, head.class) else { return head };
        kept.set_text(head.text);
        kept.count = head.count;
        ObjectHead { predicted_key: kept.first, ..head }
    }
}

/// Classes whose names were checked, by a small hash.
#[derive(Debug, Default)]
pub(super) struct ClassCache([u16; 8]);

impl ClassCache {
    fn slot_index(input: &[u8], start: usize, len: usize) -> usize {
        let last = input.get((start + len).wrapping_sub(1)).copied().unwrap_or(0);
        (len ^ usize::from(last)) & 7
    }

    pub(super) fn find(&self, classes: &Names, input: &[u8], start: usize, len: usize) -> Option<u32> {
        let id = self.0[ClassCache::slot_index(input, start, len)];
        classes.is_name_at(id, Kind::Bytes, 0, input, start, len).then_some(u32::from(id))
    }

    fn add(&mut self, input: &[u8], start: usize, len: usize, class: u32) {
        self.0[ClassCache::slot_index(input, start, len)] = class as u16;
    }
}

/// Returns the text of a key; empty if PHP may read that text as another key.
fn spell_key(keys: &Names, id: u16) -> Vec<u8> {
    let Some(name) = keys.get(u32::from(id)) else { return Vec::new() };
    match name.node.kind {
        Kind::Int => format!("i:{};", name.node.payload as i64).into_bytes(),
        // In an array "12" is an integer.
        Kind::Bytes if name.node.flags == 0 && name.bytes.len() < MAX_KEPT_LEN && integer_key(name.bytes).is_none() => {
            [format!("s:{}:\"", name.bytes.len()).as_bytes(), name.bytes, b"\";"].concat()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Node;

    #[test]
    fn kept_texts_are_compared_completely() {
        for len in 1..=MAX_KEPT_LEN {
            let text: Vec<u8> = (1..=len as u8).collect();
            let mut kept = KeptText::default();
            kept.set_text(&text);
            for suffix_len in [0, 1, 20] {
                let mut input = [&text[..], &vec![7; suffix_len]].concat();
                assert_eq!(kept.strip_from(&input), Some(&input[len..]), "{len}");
                assert!(kept.strip_from(&input[1..]).is_none() && kept.strip_from(&input[..len - 1]).is_none());
                for index in 0..len {
                    input[index] ^= 0x80;
                    assert!(kept.strip_from(&input).is_none(), "{len} {index}");
                    input[index] ^= 0x80;
                }
            }
        }
        let mut kept = KeptText::default();
        assert!(kept.strip_from(b"12345678").is_none() && kept.strip_from(b"").is_none());
        kept.set_text(&[1; MAX_KEPT_LEN + 1]);
        assert!(kept.strip_from(&[1; MAX_KEPT_LEN + 1]).is_none());
    }

    #[test]
    fn keys_that_may_be_integers_are_not_kept() {
        let mut keys = Names::default();
        let mut id = |node, bytes: &[u8]| keys.intern(node, bytes).unwrap() as u16;
        let (name, number) = (id(Node::leaf(Kind::Bytes, 0), b"name"), id(Node::leaf(Kind::Bytes, 0), b"12"));
        let integer = id(Node::int(-12), b"");
        assert_eq!(spell_key(&keys, name), b"s:4:\"name\";");
        assert_eq!(spell_key(&keys, number), b"");
        assert_eq!(spell_key(&keys, integer), b"i:-12;");
    }
}
