//! Hash maps for numbers and short names from untrusted input.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map with a fast hash and its own random seed.
pub(crate) type SeededMap<K, V> = HashMap<K, V, SeededState>;

/// Makes hashers with a random seed, so that an attacker can't prepare colliding keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeededState(u64, u64);

impl Default for SeededState {
    fn default() -> Self {
        let random = RandomState::new();
        SeededState(random.hash_one(1), random.hash_one(2) | 1)
    }
}

impl BuildHasher for SeededState {
    type Hasher = FoldHasher;

    #[inline]
    fn build_hasher(&self) -> FoldHasher {
        FoldHasher { state: self.0, factor: self.1 }
    }
}

/// Multiplies and folds, eight bytes at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldHasher {
    state: u64,
    factor: u64,
}

impl Hasher for FoldHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.write_u64(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        }
        let mut tail = [0; 8];
        tail[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        // Because the length is included, trailing zeros change the hash.
        self.write_u64(u64::from_le_bytes(tail) ^ (bytes.len() as u64) << 56);
    }

    #[inline]
    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_u16(&mut self, word: u16) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        self.state = (product as u64) ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let product = u128::from(self.state) * u128::from(self.factor);
        (product as u64) ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_keys_are_found() {
        let mut map: SeededMap<&[u8], usize> = SeededMap::default();
        let names: Vec<_> = (0..1000).map(|i| vec![b'a' + (i % 7) as u8; i]).collect();
        for (i, name) in names.iter().enumerate() {
            assert_eq!(map.insert(name, i), None);
        }
        for (i, name) in names.iter().enumerate() {
            assert_eq!(map.get(name.as_slice()), Some(&i));
        }
        assert_eq!(map.get(&b"a\0"[..]), None);
    }

    #[test]
    fn each_map_has_its_own_seed() {
        assert_ne!(SeededState::default().hash_one(1u64), SeededState::default().hash_one(1u64));
    }
}
